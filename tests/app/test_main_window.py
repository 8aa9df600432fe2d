"""The main window: files, questions, runs, closing, and what it remembers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QObject, QPoint, QPointF, Qt, QUrl, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

import resources
from app.buttons import ButtonLook
from app.command_palette import CommandPalette
from app.document import NewStep, WorkflowDocument
from app.file_actions import DISK, FILE, WARNINGS
from app.main_window import MainWindow
from app.run_notices import RUN
from app.settings_store import SettingsStore
from app.side import Side
from app.theme import Appearance, Scheme, theme
from core.agent import AgentLibrary
from core.config import WorkflowFile
from core.engine import Answer
from core.events import (
    Event,
    GroupStarted,
    PhaseStarted,
    QuestionAsked,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    StopKind,
    StopRequested,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.plan import Place
from core.planning import plan_run
from core.problems import Problem
from core.progress_words import duration_words

# The offscreen platform says so about sizes of windows, popups and dialogs.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

AUDIT = {
    "name": "audit",
    "preparation_agents": ["proteus"],
    "loop_agents": ["amala", {"agents": ["vera", "linter"], "mode": "parallel"}],
    "finalization_agents": [],
}
TURN = "preparation/0/0/0"


class ScriptedController(QObject):
    """Has the signals and methods of the real controller; a test says what happens in the run."""

    events = Signal(object)
    running_changed = Signal(bool)
    refused = Signal(object)
    planned = Signal(object, object)
    warned = Signal(object)
    trust_asked = Signal(object)
    trust_answered = Signal(bool)
    settings_taken = Signal(object)
    orphans_asked = Signal(object)
    prepared = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.running = False
        self.run_folder: Path | None = None
        self.trust_workdir: Path | None = None
        self.started: list[tuple[WorkflowFile, AgentLibrary]] = []
        self.stops: list[StopKind] = []
        self.stopped_turns: list[str] = []
        self.retried_turns: list[str] = []
        self.proceeded = 0
        self.allowed: bool | None = None
        self.answers: list[tuple[str, Answer]] = []

    def start(self, file: WorkflowFile, library: AgentLibrary, default_workdir: Path | None = None) -> None:
        self.started.append((file, library))
        self.running = True
        self.running_changed.emit(True)
        plan = plan_run(file, library, known_backends=("demo", "opencode"), default_workdir=default_workdir)
        self.planned.emit(plan, None)

    def stop(self, kind: StopKind) -> None:
        self.stops.append(kind)

    def stop_turn(self, turn: str) -> None:
        self.stopped_turns.append(turn)

    def can_retry(self, turn: str) -> bool:
        return True

    def retry_turn(self, turn: str) -> None:
        self.retried_turns.append(turn)

    def proceed(self) -> None:
        self.proceeded += 1

    def allow(self, allowed: bool) -> None:
        self.allowed = allowed

    def answer(self, turn: str, answer: Answer) -> None:
        self.answers.append((turn, answer))

    def tell(self, *events: Event) -> None:
        self.events.emit(list(events))

    def end(self) -> None:
        self.running = False
        self.running_changed.emit(False)


@dataclass
class Opened:
    """A window on a document with the agents of the tests."""

    qtbot: QtBot
    folder: Path
    controller: ScriptedController
    document: WorkflowDocument
    window: MainWindow
    closed: list[bool] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.folder / "audit.json"

    def notice(self, name: str) -> str:
        bar = self.window.notices.bar(name)
        return "\n".join((bar.notice.text, *bar.notice.lines)) if bar is not None else ""

    def press(self, name: str, button: str) -> None:
        bar = self.window.notices.bar(name)
        assert bar is not None
        bar.buttons[button].click()

    def edit(self) -> None:
        assert self.document.insert_agents(["amala"], NewStep("finalization", 0))

    def run(self, *events: Event) -> None:
        """Click Run, and let the run begin."""
        self.window.top_bar.run_button.click()
        assert self.controller.running
        self.controller.tell(
            RunStarted(time=1.0, run_id=f"r{len(self.controller.started)}", folder=str(self.folder)),
            PhaseStarted(time=1.0, phase="preparation"),
            GroupStarted(
                time=1.0,
                phase="preparation",
                turns=(TurnRef(TURN, Place("preparation", 0, 0), "proteus", "proteus", "001-proteus"),),
            ),
            TurnStarted(time=1.0, turn=TURN),
            *events,
        )

    def finish(self, status: RunStatus = RunStatus.COMPLETED) -> None:
        self.controller.tell(
            TurnFinished(time=22.0, turn=TURN),
            RunFinished(time=22.0, status=status, message="Everything is done."),
        )
        self.controller.end()


def make_window(
    qtbot: QtBot,
    controller: ScriptedController,
    document: WorkflowDocument,
    store: SettingsStore,
    appearance: Appearance | None = None,
) -> MainWindow:
    """A window that takes everything with it. Qt objects in reference cycles would else be destroyed by
    whichever thread happens to collect garbage, and only the window's thread may do that."""
    window = MainWindow(
        controller,  # type: ignore[arg-type]
        document,
        store=store,
        appearance=appearance,
        known_backends=("demo", "opencode"),
    )
    controller.setParent(window)
    document.setParent(window)
    qtbot.addWidget(window)
    return window


def write_workflow(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(AUDIT | changes, indent=2), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    agents = tmp_path / "agents"
    agents.mkdir()
    for name in ("proteus", "amala", "vera", "linter"):
        (agents / f"{name}.md").write_text(
            f"---\nname: {name}\nrole: author\nbackend: demo\n---\nYou are {name}.\n", encoding="utf-8"
        )
    write_workflow(tmp_path / "audit.json")
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "state" / "window.ini")


@pytest.fixture
def open_window(qtbot: QtBot, folder: Path, store: SettingsStore) -> Iterator[Callable[[], Opened]]:
    windows: list[MainWindow] = []

    def make() -> Opened:
        controller, document = ScriptedController(), WorkflowDocument()
        window = make_window(qtbot, controller, document, store)
        windows.append(window)
        opened = Opened(qtbot, folder, controller, document, window)
        window.closed.connect(lambda: opened.closed.append(True))
        window.files.load(opened.path)
        window.show()
        qtbot.waitUntil(lambda: document.library is not None and document.library.get("vera") is not None)
        return opened

    yield make
    for window in windows:
        window.closing.may_close = True
        window.close()
    windows.clear()


@pytest.fixture
def opened(open_window: Callable[[], Opened]) -> Opened:
    return open_window()


def answer(qtbot: QtBot, text: str) -> None:
    """Press a button of the question that is open."""

    def box() -> QMessageBox | None:
        widget = QApplication.activeModalWidget()
        return widget if isinstance(widget, QMessageBox) else None

    qtbot.waitUntil(lambda: box() is not None)
    found = box()
    assert found is not None
    button: QAbstractButton = next(button for button in found.buttons() if button.text() == text)
    button.click()
    qtbot.waitUntil(lambda: box() is not found)


def choose_file(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    """Choose a file in the dialog that is open."""
    dialog = window.files.dialog
    assert isinstance(dialog, QFileDialog)
    dialog.setDirectory(str(path.parent))
    dialog.selectFile(path.name)
    dialog.accept()
    qtbot.waitUntil(lambda: window.files.dialog is None)


# --- files --------------------------------------------------------------------------------------------


def test_the_title_marks_unsaved_changes_and_saving_takes_the_mark_away(opened: Opened) -> None:
    window = opened.window
    assert window.windowTitle().startswith("audit.json")
    assert window.top_bar.file_name.text == "audit.json"
    opened.edit()
    assert window.isWindowModified()
    assert window.top_bar.file_name.text == "audit.json •"
    window.actions_of_window.save.trigger()
    assert not window.isWindowModified()
    assert json.loads(opened.path.read_text())["finalization_agents"] == ["amala"]


def test_undo_says_what_it_undoes_and_waits_while_a_run_goes_on(opened: Opened) -> None:
    actions = opened.window.actions_of_window
    assert not actions.undo.isEnabled()
    opened.edit()
    assert actions.undo.text() == "&Undo Add amala"
    opened.run()
    assert not actions.undo.isEnabled()
    opened.finish()
    actions.undo.trigger()
    assert not opened.document.is_modified


def test_opening_another_file_asks_about_unsaved_changes(opened: Opened) -> None:
    other = opened.folder / "other.json"
    write_workflow(other, name="other")
    opened.edit()
    opened.window.files.open(other)
    answer(opened.qtbot, "Cancel")
    assert opened.document.path == opened.path
    opened.window.files.open(other)
    answer(opened.qtbot, "Save")
    assert opened.document.path == other
    assert json.loads(opened.path.read_text())["finalization_agents"] == ["amala"]


def test_changes_can_be_thrown_away(opened: Opened) -> None:
    opened.edit()
    opened.window.actions_of_window.new.trigger()
    answer(opened.qtbot, "Don’t save")
    assert opened.document.path is None
    assert json.loads(opened.path.read_text())["finalization_agents"] == []


def test_open_and_save_as_use_dialogs_that_block_nothing(opened: Opened) -> None:
    other = opened.folder / "other.json"
    write_workflow(other, name="other")
    opened.window.actions_of_window.open.trigger()
    choose_file(opened.qtbot, opened.window, other)
    assert opened.document.path == other
    copy = opened.folder / "copy.json"
    opened.window.actions_of_window.save_as.trigger()
    choose_file(opened.qtbot, opened.window, copy)
    assert opened.document.path == copy
    assert json.loads(copy.read_text())["name"] == "other"


def test_recent_files_are_offered_and_those_that_are_gone_are_not(
    opened: Opened, store: SettingsStore
) -> None:
    other = opened.folder / "other.json"
    write_workflow(other)
    opened.window.files.open(other)
    recent = opened.window.recent
    assert recent.paths == [other, opened.path]
    opened.path.unlink()
    recent.fill()
    entries = {action.text(): action.isEnabled() for action in recent.actions()}
    assert entries["&1 other.json"]
    assert not entries["&2 audit.json"]
    assert store.write()
    assert SettingsStore(store.path).recent == [other, opened.path]


def test_a_file_that_cannot_be_read_is_explained_and_the_work_stays(opened: Opened) -> None:
    opened.edit()
    broken = opened.folder / "broken.json"
    broken.write_text('{\n  "name": "x",\n  "max_loops": "many"\n}', encoding="utf-8")
    outline = opened.document.outline
    assert not opened.window.files.load(broken)
    words = opened.notice(FILE)
    assert "broken.json cannot be opened." in words
    assert "line 3" in words
    assert "max_loops" in words
    assert opened.document.outline == outline
    assert opened.document.is_modified
    opened.press(FILE, "Copy")
    assert "line 3" in QGuiApplication.clipboard().text()
    opened.press(FILE, "")
    assert opened.notice(FILE) == ""


def test_unknown_keys_are_named_in_a_bar_that_can_be_dismissed(opened: Opened) -> None:
    odd = opened.folder / "odd.json"
    write_workflow(odd, max_loop=5)
    opened.window.files.open(odd)
    assert "max_loops" in opened.notice(WARNINGS)
    opened.press(WARNINGS, "")
    assert opened.window.notices.names == ()


def drop(widget: QWidget, path: Path) -> bool:
    """Drag a file over a window and drop it; whether it was taken."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPoint(50, 50), Qt.DropAction.CopyAction, mime, button, none)
    entered.ignore()
    QApplication.sendEvent(widget, entered)
    if not entered.isAccepted():
        return False
    dropped = QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, mime, button, none)
    QApplication.sendEvent(widget, dropped)
    return dropped.isAccepted()


def test_a_dropped_workflow_opens_and_other_files_are_refused(opened: Opened) -> None:
    other = opened.folder / "dropped.json"
    write_workflow(other, name="dropped")
    assert not drop(opened.window, opened.folder / "agents" / "vera.md")
    assert drop(opened.window, other)
    assert opened.document.path == other
    opened.run()
    assert not drop(opened.window, opened.path), "a run goes on"


@pytest.mark.parametrize("part", ["workflow", "pool", "settings", "log"])
def test_a_file_may_be_dropped_on_any_part_of_the_window(opened: Opened, part: str) -> None:
    other = opened.folder / "dropped.json"
    write_workflow(other, name="dropped")
    window = opened.window
    if part == "log":
        opened.run()
        opened.finish()
    target = {
        "workflow": window.workflow_view.tree.viewport,
        "pool": window.pool.tree.viewport,
        "settings": lambda: window.settings_panel,
        "log": lambda: window.run_view.tabs.overview.viewport(),
    }[part]()
    assert drop(target, other)
    assert opened.document.path == other


def test_an_example_is_never_overwritten(opened: Opened) -> None:
    example = resources.example_workflow()
    before = example.read_bytes()
    opened.window.files.open(example)
    opened.edit()
    opened.window.actions_of_window.save.trigger()
    assert opened.window.files.dialog is not None
    choose_file(opened.qtbot, opened.window, opened.folder / "mine.json")
    assert opened.document.path == opened.folder / "mine.json"
    assert example.read_bytes() == before


def test_a_file_that_changed_on_disk_can_be_reloaded(opened: Opened) -> None:
    write_workflow(opened.path, name="changed")
    opened.qtbot.waitUntil(lambda: bool(opened.notice(DISK)))
    assert opened.notice(DISK) == "audit.json changed on disk."
    opened.press(DISK, "Reload")
    assert opened.document.settings.name == "changed"
    assert opened.notice(DISK) == ""


def test_keeping_ones_own_version_counts_as_unsaved(opened: Opened) -> None:
    opened.edit()
    write_workflow(opened.path, name="changed")
    opened.qtbot.waitUntil(lambda: bool(opened.notice(DISK)))
    assert "loses your changes" in opened.notice(DISK)
    opened.press(DISK, "Keep mine")
    assert opened.notice(DISK) == ""
    assert opened.document.is_modified
    assert opened.document.settings.name == "audit"


@pytest.mark.parametrize("noticed", [True, False])
def test_saving_does_not_replace_what_another_program_wrote_without_a_question(
    opened: Opened, noticed: bool
) -> None:
    """Also where that was so lately that the system has not told of it yet."""
    opened.edit()
    write_workflow(opened.path, name="changed")
    if noticed:
        opened.qtbot.waitUntil(lambda: bool(opened.notice(DISK)))
    others = opened.path.read_bytes()
    opened.window.files.save()
    question = opened.window.files.question
    assert question is not None
    assert opened.path.read_bytes() == others
    next(button for button in question.buttons() if button.text() == "Replace it").click()
    assert b'"audit"' in opened.path.read_bytes()
    assert not opened.document.is_modified


def test_a_workflow_whose_file_was_deleted_is_not_closed_without_a_question(opened: Opened) -> None:
    opened.path.unlink()
    opened.qtbot.waitUntil(lambda: bool(opened.notice(DISK)))
    opened.window.close()
    question = opened.window.files.question
    assert question is not None
    assert not opened.closed
    next(button for button in question.buttons() if button.text() == "Cancel").click()


def test_a_reload_waits_until_the_run_has_ended(opened: Opened) -> None:
    opened.run()
    write_workflow(opened.path, name="changed")
    opened.qtbot.waitUntil(lambda: bool(opened.notice(DISK)))
    opened.press(DISK, "Reload")
    assert opened.document.settings.name == "audit"
    assert "A run goes on" in opened.notice(FILE)
    opened.finish()
    opened.press(DISK, "Reload")
    assert opened.document.settings.name == "changed"


def test_a_deleted_file_can_be_saved_again(opened: Opened) -> None:
    opened.path.unlink()
    opened.qtbot.waitUntil(lambda: "moved or deleted" in opened.notice(DISK))
    opened.press(DISK, "Save it again")
    assert json.loads(opened.path.read_text())["name"] == "audit"


# --- agents -------------------------------------------------------------------------------------------


def test_new_agent_files_appear_by_themselves(opened: Opened) -> None:
    path = opened.folder / "agents" / "fresh.md"
    path.write_text("---\nname: fresh\n---\nYou are fresh.\n", encoding="utf-8")
    library = opened.document.library
    assert library is not None
    opened.qtbot.waitUntil(lambda: library.get("fresh") is not None)
    opened.qtbot.waitUntil(
        lambda: opened.window.pool._find("fresh", opened.window.pool.tree.rootIndex()).isValid()
    )


# --- a run --------------------------------------------------------------------------------------------


def test_run_takes_the_workflow_as_it_is_now_also_unsaved(opened: Opened) -> None:
    opened.edit()
    assert not opened.window.right.has_run_view
    opened.run()
    file, library = opened.controller.started[0]
    assert len(file.workflow.finalization_agents) == 1
    assert library.get("vera") is not None
    assert opened.window.right.currentWidget() is opened.window.run_view


def test_the_status_line_counts_warnings_apart_from_errors(opened: Opened) -> None:
    assert opened.window.status.problems.text() == "1 warning"
    write_workflow(opened.path, max_loop=3)
    opened.window.files.load(opened.path)
    assert opened.window.status.problems.text() == "2 warnings"
    opened.document.insert_agents(["nobody", "nothing"], NewStep("finalization", 0))
    # On a busy machine the check waits for a pause.
    count = opened.window.status.problems
    opened.qtbot.waitUntil(lambda: count.text() == "2 errors, 2 warnings")


def test_run_with_problems_shows_them_and_does_not_start(opened: Opened) -> None:
    opened.document.insert_agents(["verra"], NewStep("loop", 0))
    opened.window.top_bar.run_button.click()
    assert opened.controller.started == []
    words = opened.notice(RUN)
    assert "cannot run yet" in words
    assert "loop_agents[0]" in words
    assert "vera" in words
    opened.press(RUN, "Show")
    selected = opened.window.workflow_view.selected_nodes()
    assert [opened.document.place_of(node) for node in selected] == [Place("loop", 0, 0)]
    opened.document.undo_stack.undo()
    assert opened.notice(RUN) == ""


def test_a_refusal_of_the_controller_is_shown_in_place(opened: Opened) -> None:
    opened.window.top_bar.run_button.click()
    opened.controller.refused.emit([Problem("opencode is not installed.", suggestion="Install it.")])
    opened.controller.end()
    assert "opencode is not installed. Install it." in opened.notice(RUN)
    assert opened.window.actions_of_window.run.isEnabled()
    assert opened.window.status.light.text == "Ready"


def test_a_refusal_for_a_file_with_settings_names_it_and_leads_to_it(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = opened.path.parent / "openloop.json"
    started: list[list[str]] = []

    def start(program: str, arguments: list[str], folder: str) -> bool:
        started.append([program, *arguments, folder])
        return True

    monkeypatch.setattr("app.file_opening.start", start)
    opened.window._store.editor = f'"{sys.executable}" {{file}}'
    settings.write_text('{"max_lops":', encoding="utf-8")
    opened.qtbot.waitUntil(lambda: any(each.file == settings for each in opened.document.problems))
    opened.window.top_bar.run_button.click()
    assert opened.controller.started, "what is on disk now counts, and the run reads that itself"
    wrong = next(each for each in opened.document.problems if each.file == settings)

    opened.controller.refused.emit([wrong])
    opened.controller.end()

    assert f"{settings}, line 1" in opened.notice(RUN)
    opened.press(RUN, "Open openloop.json")
    opened.qtbot.waitUntil(lambda: len(started) == 1)
    assert str(settings) in started[0]


def test_run_that_was_pressed_before_the_agents_are_read_starts_when_they_are(
    qtbot: QtBot, folder: Path, store: SettingsStore
) -> None:
    controller, document = ScriptedController(), WorkflowDocument()
    window = make_window(qtbot, controller, document, store)
    window.files.load(folder / "audit.json")
    window.start_run()
    assert document.library is None
    qtbot.waitUntil(lambda: len(controller.started) == 1)
    controller.end()
    window.closing.may_close = True
    window.close()


def test_while_a_run_goes_on_stop_is_the_important_button_and_editing_waits(opened: Opened) -> None:
    bar, actions = opened.window.top_bar, opened.window.actions_of_window
    assert bar.run_button.look is ButtonLook.FILLED
    assert not bar.stop_button.isEnabled()
    opened.run()
    assert bar.stop_button.look is ButtonLook.FILLED
    assert bar.run_button.look is not ButtonLook.FILLED
    assert not actions.run.isEnabled()
    assert opened.window.workflow_view.model.locked
    opened.window.start_run()
    assert len(opened.controller.started) == 1
    opened.finish()
    assert bar.run_button.look is ButtonLook.FILLED
    assert not opened.window.workflow_view.model.locked


def test_the_workflow_says_why_editing_waits(opened: Opened) -> None:
    """Pain 23: a paused run, and a question that stands, are not called running."""
    said = opened.window.workflow_view.locked_text
    opened.window.top_bar.run_button.click()
    assert said() == "Starting. Editing waits until the run has ended."
    opened.controller.trust_asked.emit(())
    assert said() == "A question waits for your answer before the run begins. Editing waits, too."
    opened.controller.trust_answered.emit(True)
    assert said() == "Starting. Editing waits until the run has ended."
    opened.controller.tell(RunStarted(time=1.0, run_id="r1", folder=str(opened.folder)))
    assert said() == "Running. Editing waits until it ends."
    opened.controller.tell(RunPaused(time=2.0, message="No credit is left."))
    assert said() == "Paused. Editing waits until the run is resumed and ends, or is stopped."
    opened.controller.tell(RunContinued(time=3.0))
    assert said() == "Running. Editing waits until it ends."
    opened.controller.end()
    assert said() == ""


def test_stop_has_two_steps(opened: Opened) -> None:
    actions = opened.window.actions_of_window
    opened.run()
    assert opened.window.top_bar.stop_menu.actions() == [actions.stop_after, actions.stop_now]
    actions.stop_after.trigger()
    opened.controller.tell(StopRequested(time=2.0, kind=StopKind.AFTER_RUNNING))
    opened.qtbot.waitUntil(lambda: not actions.stop_after.isEnabled())
    assert opened.window.status.light.text == "Stopping after the running agents"
    actions.stop_now.trigger()
    assert opened.controller.stops == [StopKind.AFTER_RUNNING, StopKind.NOW]


def test_slots_show_the_run_and_forget_it_with_the_next_edit(opened: Opened) -> None:
    opened.run()
    badges = opened.window.workflow_view.model
    place, waiting = Place("preparation", 0, 0), Place("loop", 1, 1)
    assert badges.badge(badges.index_of(opened.document.node_at(place))).status is TurnStatus.RUNNING
    assert badges.badge(badges.index_of(opened.document.node_at(waiting))).status is TurnStatus.WAITING
    opened.finish()
    assert badges.badge(badges.index_of(opened.document.node_at(place))).time_text == "0:21"
    opened.edit()
    assert badges.badge(badges.index_of(opened.document.node_at(place))) is None


def test_slots_show_nothing_of_an_earlier_run_while_another_is_prepared(opened: Opened) -> None:
    """A question may stand for long before anything of a run happens, and it may be of another workflow."""
    opened.run()
    opened.finish()

    def shown() -> list[object]:
        model = opened.window.workflow_view.model
        places = (place for place, _, _ in opened.document.outline.all_agents())
        return [model.badge(model.index_of(opened.document.node_at(place))) for place in places]

    assert any(shown())
    opened.window.top_bar.run_button.click()
    opened.controller.trust_asked.emit(())
    opened.window.run.ticked.emit()
    assert not any(shown())
    opened.controller.trust_answered.emit(False)
    opened.controller.end()
    opened.window.run.ticked.emit()
    assert not any(shown())


def test_slots_round_times_as_all_other_views_do(opened: Opened) -> None:
    opened.run()
    opened.controller.tell(
        TurnFinished(time=22.6, turn=TURN),
        RunFinished(time=22.6, status=RunStatus.COMPLETED, message="Everything is done."),
    )
    model = opened.window.workflow_view.model
    badge = model.badge(model.index_of(opened.document.node_at(Place("preparation", 0, 0))))
    assert badge is not None
    assert badge.time_text == duration_words(21.6) == "0:22"
    opened.controller.end()


def test_a_run_of_another_workflow_than_the_open_one_says_whose_it_is_and_when_it_began(
    opened: Opened,
) -> None:
    opened.window.top_bar.run_button.click()
    opened.controller.tell(
        RunStarted(
            time=1.0, run_id="r", folder=str(opened.folder), workflow="audit", workflow_path=str(opened.path)
        ),
        RunFinished(time=22.0, status=RunStatus.COMPLETED, message="Everything is done."),
    )
    opened.controller.end()
    view = opened.window.run_view
    assert not view.origin.isVisible()
    assert view.banner.again_button.isVisible()

    other = opened.folder / "other.json"
    other.write_text(json.dumps(AUDIT | {"name": "other"}), encoding="utf-8")
    assert opened.window.files.load(other)
    opened.window.right.turn_to(Side.RUN)
    assert view.origin.text().startswith("A run of audit, begun ")
    assert view.origin.text().endswith(". It is not the workflow that is open on the left.")
    assert view.origin.isVisible()
    assert not view.banner.again_button.isVisible(), "it would run the other workflow"

    assert opened.window.files.load(opened.path)
    assert not view.origin.isVisible()


def test_questions_and_stops_of_agents_reach_the_controller(opened: Opened) -> None:
    opened.run(QuestionAsked(time=2.0, turn=TURN, message="proteus did not answer."))
    view = opened.window.run_view
    view.questions.rows[TURN].buttons[Answer.RETRY].click()
    assert opened.controller.answers == [(TURN, Answer.RETRY)]
    assert opened.window.status.light.text == "Needs your answer"
    QTest.keyClick(view.strip.pills[TURN], Qt.Key.Key_Delete)
    assert opened.controller.stopped_turns == [TURN]


def test_the_settings_stay_in_reach_during_and_after_a_run(opened: Opened) -> None:
    window = opened.window
    assert not window.actions_of_window.show_run.isEnabled()
    opened.run()
    window.top_bar.settings_button.click()
    assert window.right.currentWidget() is window.settings_panel
    opened.controller.tell(TurnFinished(time=3.0, turn=TURN))
    assert window.right.currentWidget() is window.settings_panel, "nobody is pulled back"
    opened.finish()
    window.actions_of_window.show_run.trigger()
    assert window.run_view.isVisible()
    assert window.top_bar.run_side_button.isChecked()


def test_after_the_end_the_run_can_be_started_again(opened: Opened) -> None:
    opened.run()
    opened.finish()
    assert opened.window.run_view.banner.title.text() == "Everything is done."
    assert opened.window.status.light.text == "Completed"
    opened.window.run_view.banner.again_button.click()
    assert len(opened.controller.started) == 2


# --- closing ------------------------------------------------------------------------------------------


def test_a_window_with_nothing_to_lose_just_closes(opened: Opened) -> None:
    opened.window.close()
    assert opened.closed == [True]


def test_closing_asks_about_unsaved_changes(opened: Opened) -> None:
    opened.edit()
    opened.window.close()
    assert opened.window.isVisible()
    opened.window.close()
    answer(opened.qtbot, "Cancel")
    assert opened.closed == []
    opened.window.close()
    answer(opened.qtbot, "Don’t save")
    assert opened.closed == [True]


@pytest.mark.parametrize(
    ("button", "kind"),
    [
        ("Stop now and quit", StopKind.NOW),
        ("Stop after the running agents and quit", StopKind.AFTER_RUNNING),
    ],
)
def test_closing_during_a_run_waits_until_it_has_really_stopped(
    opened: Opened, button: str, kind: StopKind
) -> None:
    opened.run()
    opened.window.close()
    answer(opened.qtbot, button)
    assert opened.controller.stops == [kind]
    assert opened.window.isVisible()
    assert opened.closed == []
    opened.finish(RunStatus.STOPPED)
    assert opened.closed == [True]
    assert not opened.window.isVisible()


def test_cancelled_closing_leaves_the_run_alone(opened: Opened) -> None:
    opened.run()
    opened.window.close()
    answer(opened.qtbot, "Cancel")
    opened.finish()
    assert opened.controller.stops == []
    assert opened.window.isVisible()


def test_a_run_may_go_on_without_its_window(opened: Opened) -> None:
    """Offscreen there is no tray to hide in."""
    opened.edit()
    opened.run()
    opened.window.close()
    answer(opened.qtbot, "Keep running, minimized")
    assert opened.window.isMinimized()
    assert opened.controller.stops == []
    opened.finish()
    assert opened.closed == []
    opened.window.close()
    answer(opened.qtbot, "Don’t save")
    assert opened.closed == [True]


def test_unsaved_changes_are_asked_about_before_a_run_is_stopped_for_the_end(opened: Opened) -> None:
    opened.edit()
    opened.run()
    opened.window.close()
    answer(opened.qtbot, "Stop now and quit")
    assert opened.controller.stops == []
    answer(opened.qtbot, "Cancel")
    assert opened.controller.stops == []
    opened.window.close()
    answer(opened.qtbot, "Stop now and quit")
    answer(opened.qtbot, "Don’t save")
    assert opened.controller.stops == [StopKind.NOW]
    opened.finish(RunStatus.STOPPED)
    assert opened.closed == [True]


def test_whoever_closes_again_while_the_agents_end_may_also_stay(opened: Opened) -> None:
    opened.run()
    opened.window.close()
    answer(opened.qtbot, "Stop after the running agents and quit")
    bar = opened.window.notices.bar("closing")
    assert bar is not None
    assert bar.label.text() == "OpenLoop closes when the running agents are done."
    opened.window.close()
    answer(opened.qtbot, "Wait for them")
    assert opened.window.notices.bar("closing") is not None
    opened.window.close()
    answer(opened.qtbot, "Do not quit")
    assert opened.window.notices.bar("closing") is None
    opened.finish(RunStatus.STOPPED)
    assert opened.closed == []
    assert opened.window.isVisible()


def test_the_bar_about_closing_takes_it_back(opened: Opened) -> None:
    opened.run()
    opened.window.close()
    answer(opened.qtbot, "Stop after the running agents and quit")
    bar = opened.window.notices.bar("closing")
    assert bar is not None
    QTest.mouseClick(bar.buttons["Do not quit"], Qt.MouseButton.LeftButton)
    opened.finish(RunStatus.STOPPED)
    assert opened.closed == []


def test_a_question_is_in_sight_wherever_one_looks_in_the_window(opened: Opened) -> None:
    opened.run()
    window = opened.window
    window.right.turn_to(Side.SETTINGS)
    opened.controller.events.emit([QuestionAsked(time=2.0, turn=TURN, message="proteus gave no update.")])
    bar = window.notices.bar("waiting")
    assert bar is not None
    assert bar.label.text() == "proteus waits for your answer."
    assert window.top_bar.run_side_button.accessibleDescription() == "It waits for you"
    assert window.status.running.text() == ""
    QTest.mouseClick(bar.buttons["Show"], Qt.MouseButton.LeftButton)
    assert window.right.side is Side.RUN
    assert window.notices.bar("waiting") is None
    window.right.turn_to(Side.RUNS)
    assert window.notices.bar("waiting") is not None
    opened.finish()
    assert window.notices.bar("waiting") is None
    assert window.top_bar.run_side_button.accessibleDescription() == ""


def test_a_question_before_the_run_is_not_called_starting(opened: Opened) -> None:
    opened.run()
    opened.controller.trust_asked.emit(())
    assert opened.window.status.light.text == "Needs your answer"
    opened.controller.trust_answered.emit(True)
    assert opened.window.status.light.text == "Starting"


def test_a_run_that_ends_while_the_question_stands_does_not_keep_the_window(opened: Opened) -> None:
    opened.run()
    opened.window.close()
    opened.finish()
    answer(opened.qtbot, "Stop now and quit")
    assert opened.closed == [True]


def test_a_signal_of_the_system_stops_the_run_and_closes_without_a_question(opened: Opened) -> None:
    opened.edit()
    opened.run()
    opened.window.quit_at_once()
    assert opened.controller.stops == [StopKind.NOW]
    opened.finish(RunStatus.STOPPED)
    assert opened.closed == [True]


# --- what is remembered -------------------------------------------------------------------------------


def test_size_and_regions_are_remembered(open_window: Callable[[], Opened], qtbot: QtBot) -> None:
    first = open_window()
    # The offscreen screen is 800 by 800, and a window is never restored larger than its screen.
    first.window.resize(780, 600)
    first.window.splitter.setSizes([170, 250, 360])
    sizes = first.window.splitter.sizes()
    first.window.close()
    second = open_window()
    assert second.window.size() == first.window.size()
    assert second.window.splitter.sizes() == sizes


def test_a_broken_settings_file_is_set_aside_and_said(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "window.ini"
    path.write_bytes(b"\x00\xff\xfe not an ini file")
    store = SettingsStore(path)
    assert store.set_aside is not None
    assert store.set_aside.read_bytes() == b"\x00\xff\xfe not an ini file"
    window = make_window(qtbot, ScriptedController(), WorkflowDocument(), store)
    bar = window.notices.bar("settings")
    assert bar is not None
    assert str(store.set_aside) in bar.notice.text
    store.log_zoom = 3
    assert store.write()
    assert SettingsStore(path).log_zoom == 3
    window.close()


def test_settings_that_make_no_sense_count_as_not_there(tmp_path: Path, qapp: QApplication) -> None:
    path = tmp_path / "window.ini"
    path.write_text("[view]\nscheme=purple\nlog_zoom=999\n[window]\ngeometry=7\n", encoding="utf-8")
    store = SettingsStore(path)
    assert store.set_aside is None
    assert store.scheme is Scheme.SYSTEM
    assert store.log_zoom == 0
    assert store.geometry is None


def test_the_look_is_chosen_in_the_menu_and_remembered(
    qtbot: QtBot, qapp: QApplication, store: SettingsStore
) -> None:
    appearance = Appearance(qapp, Scheme.LIGHT)
    window = make_window(qtbot, ScriptedController(), WorkflowDocument(), store, appearance)
    dark = next(a for a in window.actions_of_window.schemes.actions() if a.data() == Scheme.DARK.value)
    dark.trigger()
    assert theme().dark
    assert store.scheme is Scheme.DARK
    appearance.choose(Scheme.LIGHT)
    window.close()


def test_every_control_of_the_window_has_a_name(opened: Opened) -> None:
    opened.run()
    nameless = [
        button
        for button in opened.window.findChildren(QAbstractButton)
        if button.focusPolicy() is not Qt.FocusPolicy.NoFocus
        and button.isVisible()
        and not (button.text() or button.accessibleName())
    ]
    assert nameless == []


@pytest.mark.parametrize("size", [(1024, 640), (1280, 800), (3840, 2160)])
def test_nothing_is_cut_off_at_usual_sizes(opened: Opened, size: tuple[int, int]) -> None:
    window = opened.window
    window.resize(*size)
    opened.run(QuestionAsked(time=2.0, turn=TURN, message="proteus did not answer with a state update."))
    opened.qtbot.waitUntil(lambda: window.size().toTuple() == size)
    for button in window.findChildren(QAbstractButton):
        # The arrows of tab bars and scroll bars lay themselves out.
        if button.isVisible() and type(button).__module__.startswith("app."):
            corner = button.mapTo(window, button.rect().bottomRight())
            assert window.rect().contains(corner), button.text() or button.accessibleName()
            assert button.width() >= button.sizeHint().width(), button.text()


def test_all_actions_are_found_by_their_names(opened: Opened) -> None:
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(opened.window, Qt.Key.Key_P, keys)
    (palette,) = opened.window.findChildren(CommandPalette)
    assert palette.isVisible()
    QTest.keyClicks(palette.field, "history")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert opened.window.right.side is Side.RUNS
