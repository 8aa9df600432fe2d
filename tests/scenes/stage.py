"""The real window over a project folder of its own, without pytest: scenes are played on it.

`stage(folder)` opens it with the real controller; whatever runs is ended when it closes. It runs Qt and
asyncio on one loop, as the application does; `until` lets both go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget
from qasync import QEventLoop

from app.application import run_application  # noqa: F401  what the application needs before Qt is there
from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.run_controller import RunController
from app.run_view.run_view import RunView
from app.settings_store import SettingsStore
from app.theme import Appearance, Scheme, theme
from core.backends.registry import backend_names
from core.events import Event, StopKind
from core.json_types import JsonValue
from core.plan import RunPlan
from tests.scenes.recording import RecordedEvents, Retimed, retimed

NOW = time.mktime((2026, 3, 2, 14, 20, 0, 0, 0, -1))
"""What the window takes for the present, where it asks its clock: a picture of today is one of tomorrow."""
PATIENCE = 60.0
"""Seconds after which a condition counts as never coming; a busy machine is slow."""
USUAL = (1280, 800)
SMALL = (1024, 640)


class StageController(RunController):
    """The real controller, which can also tell once more of a run that it did not start."""

    def __init__(self) -> None:
        super().__init__()
        self._told_again = False

    def tell_again(self, plan: RunPlan, events: Sequence[Event]) -> None:
        """Have the window believe that a run goes on, and that this has happened in it so far."""
        self._running = self._told_again = True
        self.running_changed.emit(True)
        self.planned.emit(plan, None)
        self.events.emit(list(events))

    def stop(self, kind: StopKind) -> None:
        """End what runs, or what is only told of."""
        if self._told_again:
            self._running = self._told_again = False
            self.running_changed.emit(False)
        super().stop(kind)


@dataclass
class Stage:
    """The window, what it stands on, and short words for what a scene does."""

    folder: Path
    """The project; the current folder while the stage is open."""
    window: MainWindow
    controller: StageController
    document: WorkflowDocument
    appearance: Appearance
    runs: Mapping[str, RecordedEvents] = field(default_factory=dict)
    """Runs of examples that were made before, by the workflow's file name without .json."""
    failures: list[str] = field(default_factory=list)
    """What went wrong in the loop."""

    # --- waiting ---------------------------------------------------------------------------------------

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Let Qt and asyncio go on until the condition holds. Raises TimeoutError, saying what never came."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(what)
            QTest.qWait(5)

    def settle(self) -> None:
        """Let layouts, late signals and what workers told arrive."""
        for _ in range(3):
            QTest.qWait(1)
            QCoreApplication.sendPostedEvents()

    # --- files -----------------------------------------------------------------------------------------

    def agent(self, name: str, role: str = "author", prompt: str = "", **front_matter: JsonValue) -> str:
        """Write an agent of the demo backend, unless it says otherwise; gives its name."""
        keys: dict[str, JsonValue] = {"name": name, "role": role, "backend": "demo", **front_matter}
        lines = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items())
        path = self.folder / "agents" / f"{name}.md"
        path.write_text(f"---\n{lines}\n---\n{prompt or 'You work.'}\n", encoding="utf-8")
        return name

    def workflow(self, name: str = "work", **keys: JsonValue) -> Path:
        """Write a workflow file."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"name": name, **keys}, indent=2), encoding="utf-8")
        return path

    def open(self, path: Path) -> None:
        """Open a workflow, and wait until its agents are known and its problems settled."""
        before = self.document.library
        folders = self.window.agents.source.folders
        assert self.window.files.load(path), path
        self.until(lambda: self.document.library is not None, "the agents were never read")
        if self.window.agents.source.folders != folders:
            self.until(lambda: self.document.library is not before, "the agents were never read")
        self.window.agents.source.refresh()
        self.settle()

    def open_new(self, name: str = "work", **keys: JsonValue) -> None:
        """Write a workflow and open it."""
        self.open(self.workflow(name, **keys))

    # --- the window ------------------------------------------------------------------------------------

    @property
    def run_view(self) -> RunView:
        """What shows the live run."""
        return self.window.run_view

    def node(self, agent: str) -> int:
        """Id of the first place of an agent."""
        return next(node.id for _, _, node in self.document.outline.all_agents() if node.entry.agent == agent)

    def select(self, *agents: str) -> None:
        """Select these agents in the workflow."""
        self.window.workflow_view.tree.select_nodes([self.node(agent) for agent in agents])
        self.settle()

    def select_group(self, agent: str) -> None:
        """Select the group that this agent stands in."""
        group = next(
            group for _, group, node in self.document.outline.all_agents() if node.entry.agent == agent
        )
        self.window.workflow_view.tree.select_nodes([group.id])
        self.settle()

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)

    def click(self, widget: QWidget) -> None:
        """Click a widget that a user could click."""
        assert widget.isVisible(), widget
        assert widget.isEnabled(), widget
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())

    # --- a run -----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Click Run, and wait until the run has begun."""
        self.click(self.window.top_bar.run_button)
        self.until(
            lambda: self.window.progress is not None and self.window.progress.folder, "the run never began"
        )

    def run_to_end(self) -> None:
        """Click Run, and wait until the window says how it ended."""
        self.run()
        self.until(lambda: not self.controller.running, "the run never ended")
        self.until(self.run_view.banner.isVisible, "the banner never came")

    def past_run(self, name: str, hours_ago: float, *, until: float | None = None) -> Retimed:
        """Put one of the runs that were made before into the project's log folder."""
        self.window.run.clock = lambda: NOW
        began = NOW - 3600 * hours_ago
        day = time.strftime("%Y%m%d-%H%M%S", time.localtime(began))
        return retimed(self.runs[name], self.folder / ".openloop", began, f"{day}-5ce7e5", until=until)

    def replay(self, name: str, seconds: float) -> Retimed:
        """Show one of the runs that were made before as if it went on, so many seconds after its start."""
        run = self.past_run(name, seconds / 3600, until=seconds)
        self.controller.tell_again(run.plan, run.events)
        self.window.run.ticked.emit()
        self.settle()
        return run

    def turn(self, label: str) -> str:
        """Id of an agent's latest turn; waits until there is one."""

        def found() -> list[str]:
            progress = self.window.progress
            return [turn.id for turn in progress.turns.values() if turn.label == label] if progress else []

        self.until(found, f"{label} has no turn")
        return found()[-1]

    def stop_run(self) -> None:
        """End what runs."""
        if self.controller.running:
            self.window.run.stop_now()
            self.until(lambda: not self.controller.running, "the run never ended")

    # --- looking ---------------------------------------------------------------------------------------

    def show(self, scheme: Scheme, size: tuple[int, int]) -> None:
        """Show the scene in this look and size."""
        if self.appearance.scheme is not scheme:
            self.appearance.choose(scheme)
        self.window.resize(*size)
        self.settle()
        # What wraps tells its new height only when it has its new width.
        self.settle()

    def tops(self) -> list[QWidget]:
        """The windows that are seen, from the back to the front: the main window, dialogs, menus."""
        others = [
            widget
            for widget in QApplication.topLevelWidgets()
            if widget.isVisible() and widget is not self.window
        ]
        return [self.window, *sorted(others, key=lambda widget: widget.windowType().value)]

    def picture(self, scale: int = 1) -> QImage:
        """What a user sees: the window, and over it its dialogs, centred, and menus where they are."""
        size = self.window.size()
        image = QImage(size * scale, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        image.fill(theme().color("ground"))
        painter = QPainter(image)
        for top in self.tops():
            where = QPoint()
            if top is not self.window:
                is_popup = isinstance(top, QMenu | QAbstractItemView) or bool(
                    top.windowFlags() & Qt.WindowType.Popup == Qt.WindowType.Popup
                )
                middle = QPoint((size.width() - top.width()) // 2, (size.height() - top.height()) // 3)
                where = top.pos() - self.window.pos() if is_popup else middle
                painter.setPen(theme().color("line"))
                painter.drawRect(where.x() - 1, where.y() - 1, top.width() + 1, top.height() + 1)
            top.render(painter, where)
        painter.end()
        return image


@contextlib.contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Changes what the process inherited; whatever a scene changes as well is as before afterwards."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def _loop(application: QApplication, failures: list[str]) -> Iterator[None]:
    """One loop for Qt and asyncio; whoever is in here counts as running in it, and lets Qt go on."""
    loop = QEventLoop(application)
    loop.set_exception_handler(lambda _, context: failures.append(str(context)))
    asyncio.set_event_loop(loop)
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)
        loop.close()
        asyncio.set_event_loop(None)


@contextlib.contextmanager
def stage(
    root: Path, runs: Mapping[str, RecordedEvents] | None = None, *, project: str = "shop"
) -> Iterator[Stage]:
    """Open the window over the empty project `root/project`, with a home of its own in `root`.

    The application must be there. Raises RuntimeError where something failed that nobody waited for.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.setQuitOnLastWindowClosed(False)
    folder = root / project
    (folder / "agents").mkdir(parents=True)
    changes = {"OPENLOOP_HOME": str(root / "home"), "OPENLOOP_DEMO_SPEED": "0"}
    failures: list[str] = []
    with contextlib.chdir(folder), _environment(changes), _loop(application, failures):
        controller, document = StageController(), WorkflowDocument()
        appearance = Appearance(application, Scheme.LIGHT)
        window = MainWindow(
            controller,
            document,
            store=SettingsStore(),
            appearance=appearance,
            known_backends=backend_names(),
        )
        closed: list[bool] = []
        window.closed.connect(lambda: closed.append(True))
        window.resize(*USUAL)
        window.show()
        open_stage = Stage(folder, window, controller, document, appearance, runs or {}, failures)
        open_stage.settle()
        try:
            yield open_stage
        finally:
            window.quit_at_once()
            open_stage.until(lambda: closed, "the window never closed")
            controller.wait_for_workers()
            for thing in (window, controller, document, appearance):
                thing.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            application.processEvents()
    if failures:
        raise RuntimeError("; ".join(failures))


def is_plain(image: QImage) -> bool:
    """Whether a picture has (nearly) one colour only."""
    return len(_colours(image)) < 4


def commonest_colour(image: QImage) -> QColor:
    """The colour of most of a picture."""
    return QColor.fromRgb(_colours(image).most_common(1)[0][0] & 0xFFFFFF)


_SOME = 37
"""Of so many pixels one is looked at; it divides no width, so that all columns have their turn."""


def _colours(image: QImage) -> Counter[int]:
    return Counter(memoryview(image.constBits()).cast("B").cast("I")[::_SOME].tolist())
