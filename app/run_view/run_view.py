"""The right of the window while a run goes on and after it: strip, questions, banner, tabs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app.accessible import announce
from app.labels import QuietLabel
from app.run_view.agent_orders import AgentOrders
from app.run_view.banner import RunBanner
from app.run_view.notes_bar import NotesBar
from app.run_view.pause_bar import PauseBar
from app.run_view.question_bar import QuestionBar
from app.run_view.retry_bar import RetryBar
from app.run_view.strip import AgentStrip
from app.run_view.tabs import RunTabs
from app.run_view.timeline import Timeline
from core.events import AttemptFinished, Event, RunFinished, RunStarted
from core.progress import RunProgress
from core.recorded_run import RecordedRun

_LOW = 560
"""Logical pixels; below, a banner in full would leave little of log and tabs."""


class RunView(QWidget):
    """Shows a run through its `RunProgress`, which the window keeps.

    A run that is over is shown from its folder alone by `set_recorded(True)` and `begin(run.progress, run)`.

    Signals: `run_again_requested()`; `proceed_requested()` and `stop_requested()` of a paused run;
    `stop_turn_requested(str)`, `retry_turn_requested(str)`, `answered(str, Answer)` with a turn's id;
    `message(str)`: a sentence for the status line.
    """

    run_again_requested = Signal()
    proceed_requested = Signal()
    stop_requested = Signal()
    stop_turn_requested = Signal(str)
    retry_turn_requested = Signal(str)
    answered = Signal(str, object)
    message = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress = RunProgress()
        self._recorded = False
        self.orders = AgentOrders(self)
        self.origin = QuietLabel("", self)
        self.origin.setWordWrap(True)
        self.origin.setContentsMargins(12, 6, 12, 6)
        self.origin.hide()
        self.banner = RunBanner(self)
        self.pause = PauseBar(self)
        self.strip = AgentStrip(self.orders, self)
        self.notes = NotesBar(self)
        self.questions = QuestionBar(self)
        self.doubts = RetryBar(self)
        self.tabs = RunTabs(self.orders, self)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setObjectName("run")
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.tabs)
        self.timeline = Timeline(self)
        self.add_bottom_panel(self.timeline)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (
            self.origin,
            self.banner,
            self.pause,
            self.strip,
            self.notes,
            self.questions,
            self.doubts,
        ):
            layout.addWidget(widget)
        layout.addWidget(self.splitter, 1)
        self.setMinimumWidth(280)
        self.banner.run_again_requested.connect(self.run_again_requested)
        self.banner.failed_turn_requested.connect(self.tabs.show_turn)
        self.banner.conflicts_requested.connect(self.tabs.show_conflicts)
        self.banner.folder_requested.connect(self.open_folder)
        self.strip.opened.connect(self.tabs.show_turn)
        self.strip.stop_requested.connect(self.orders.stop)
        self.orders.stop_requested.connect(self.stop_turn_requested)
        self.orders.retry_requested.connect(self.retry_turn_requested)
        self.orders.refused.connect(self.message)
        self.orders.doubted.connect(self.doubts.ask)
        self.doubts.confirmed.connect(self.orders.confirm_retry)
        self.pause.resume_requested.connect(self.proceed_requested)
        self.pause.stop_requested.connect(self.stop_requested)
        self.notes.opened.connect(self._open_note)
        self.notes.stop_requested.connect(self.orders.stop)
        self.notes.retry_requested.connect(self.orders.retry)
        self.strip.more_requested.connect(self.tabs.open_list)
        self.questions.answered.connect(self.answered)
        self.tabs.message.connect(self.message)
        self.tabs.page_changed.connect(self.timeline.show_turn)
        self.timeline.turn_requested.connect(self.tabs.show_turn)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.banner.set_low(self.height() < _LOW)

    def add_bottom_panel(self, panel: QWidget) -> None:
        """A panel below the tabs, such as a timeline."""
        self.splitter.addWidget(panel)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(self.splitter.count() - 1, 0)

    def set_recorded(self, recorded: bool) -> None:
        """Whether it shows runs that are not this window's any more: nothing of them can be ordered.

        For the runs that begin from now on.
        """
        self._recorded = recorded
        self.tabs.set_recorded(recorded)
        self.banner.offer_again(not recorded)

    def set_read_only(self, why: str, where: str = "") -> None:
        """Why nothing can be ordered of a run that is watched here, as the end of a sentence; empty: it can.
        `where`: where its questions are answered, as a sentence.

        Such a run goes on in another process and is told by its journal alone. For the runs that begin from
        now on.
        """
        self.orders.why_none = why
        self.pause.set_read_only(why, where)
        self.questions.set_read_only(where)
        self.notes.set_read_only(why)
        self.tabs.state_tab.states_are_told = not why

    def begin(self, progress: RunProgress, past: RecordedRun | None = None) -> None:
        """Show another run, from its beginning. `past`: the recorded run that this one is or goes on with."""
        self._progress = progress
        if self._recorded and past is not None:
            past.read_limits()
        self.orders.begin(progress)
        self.notes.begin(progress)
        self.doubts.dismiss()
        self.pause.show_run(progress)
        self.questions.show_questions(())
        self.strip.show_turns((), 0.0, None)
        self.timeline.begin(progress, past.chart if self._recorded and past is not None else None)
        self.tabs.begin(progress, past)
        if self._recorded and past is not None:
            # Nothing will happen any more that would show it.
            self.banner.show_end(progress, past.message, past.duration, is_past=True)
            self.tabs.refresh(past.ended)
        else:
            self.banner.show_end(progress)

    def show_origin(self, text: str) -> None:
        """Say of which workflow the run is, where that is not plain; empty: it is."""
        self.origin.setText(text)
        self.origin.setVisible(bool(text))

    def take(self, events: Sequence[Event], now: float) -> None:
        """These events were just applied to the progress."""
        if any(isinstance(event, RunStarted) for event in events):
            self.banner.show_end(self._progress)
        for event in events:
            if isinstance(event, AttemptFinished) and event.late_bytes:
                self.tabs.note_late_output(event.turn, event.late_bytes)
        self.timeline.take(events, now)
        self.tabs.take(events)
        self.tabs.refresh(now)
        self.notes.show_notes(self._progress)
        self.doubts.show_run(self._progress)
        self.questions.show_questions(self._progress.questions)
        self.tick(now)
        if any(isinstance(event, RunFinished) for event in events):
            self.banner.show_end(self._progress)
            announce(self.banner, self.banner.title.text(), urgent=True)
            self.tabs.follow_to_the_end()

    def tick(self, now: float) -> None:
        """Time went on; at most four times a second."""
        progress = self._progress
        self.strip.show_turns(progress.running_turns, now, progress.max_retries)
        self.pause.show_run(progress)
        self.timeline.tick(now)

    @property
    def ordered_turn(self) -> str | None:
        """The turn that a key is about: that of the pill with the focus, else of the tab."""
        return self.strip.focused_turn or self.tabs.current_turn

    @Slot(str)
    def _open_note(self, turn: str) -> None:
        if turn:
            self.tabs.show_turn(turn)
        else:
            self.tabs.show_overview()

    @Slot()
    def open_folder(self) -> None:
        """Open the run folder in the desktop's file manager."""
        if self._progress.folder:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(self._progress.folder))))
