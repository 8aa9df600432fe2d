"""A desk with OpenLoop on it: a project folder, the real window, and short words for what a user does.

Everything goes through real events to real widgets. `Desk.until` waits for a condition while Qt and asyncio
go on, and says what it waited for when that never comes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialogButtonBox,
    QLabel,
    QMenu,
    QMessageBox,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.builder.agent_pool_model import AgentFilter, agent_at
from app.builder.mime import AGENTS_MIME
from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.notice_bar import NoticeBar
from app.reading_text import ReadingText
from app.run_controller import RunController
from app.run_view.log_view import LogView
from app.run_view.run_view import RunView
from core.agent import AgentLibrary
from core.events import Event, RunFinished, TurnStatus
from core.journal import read_journal
from core.json_types import JsonValue
from core.progress import RunProgress
from core.state import PHASES, Phase

PATIENCE = 60.0
"""Seconds after which a condition counts as never coming."""
NO_INDEX = QModelIndex()
MARK = "OPENLOOP_TEST_MARK"
"""Environment variable that everything which a test starts inherits."""


# --- processes ----------------------------------------------------------------------------------------


def marked_processes(mark: str) -> list[psutil.Process]:
    """Every living process whose environment carries this mark, but for this one."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            if (
                process.environ().get(MARK) == mark
                and process.is_running()
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def command_lines(processes: Sequence[psutil.Process]) -> list[str]:
    """What is still alive, for the words of an assertion."""
    lines = []
    for process in processes:
        try:
            lines.append(f"{process.pid}: {' '.join(process.cmdline())[:200]}")
        except psutil.Error:
            continue
    return lines


# --- files --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Project:
    """A folder with agents and workflows in it; agents are of the demo backend unless they say otherwise."""

    folder: Path

    def agent(self, name: str, role: str = "author", **front_matter: JsonValue) -> str:
        """Write an agent; gives its name."""
        keys: dict[str, JsonValue] = {"name": name, "role": role, "backend": "demo", **front_matter}
        path = self.folder / "agents" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in keys.items())
        path.write_text(f"---\n{lines}\n---\nYou work.\n", encoding="utf-8")
        return name

    def demo(self, name: str, role: str = "author", **orders: JsonValue) -> str:
        """Write a demo agent with orders; gives its name."""
        return self.agent(name, role, demo={"text": f"{name} is at work.", "steps": 1, **orders})

    def gated(self, name: str) -> str:
        """Write an agent that works until its gate is opened; gives its name."""
        gate = self.folder / f"{name}.gate"
        program = (
            "import os, sys, time\n"
            "sys.stdin.read()\n"
            f"print('{name} waits at its gate.', flush=True)\n"
            f"while not os.path.exists({str(gate)!r}):\n"
            "    time.sleep(0.01)\n"
            f"""print('<state_update>{{"payload": {{"{name}": "through"}}}}</state_update>')\n"""
        )
        return self.agent(name, backend="command", command=[sys.executable, "-c", program])

    def open_gate(self, name: str) -> None:
        """Let a gated agent finish."""
        (self.folder / f"{name}.gate").touch()

    def workflow(self, name: str = "work", **keys: JsonValue) -> Path:
        """Write a workflow file."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"name": name, **keys}, indent=2), encoding="utf-8")
        return path


def parallel(*names: str, **keys: JsonValue) -> dict[str, JsonValue]:
    """A parallel group for a workflow file."""
    return {"agents": list(names), "mode": "parallel", **keys}


# --- the desk -----------------------------------------------------------------------------------------


@dataclass
class Desk:
    """The window, and a user before it. `events`: everything that happened in its runs, in order."""

    window: MainWindow
    controller: RunController
    document: WorkflowDocument
    project: Project
    mark: str
    qtbot: QtBot
    events: list[Event] = field(default_factory=list)
    was_closed: list[list[str]] = field(default_factory=list)
    """What was alive when the window went; empty while it is there."""

    # --- waiting ---------------------------------------------------------------------------------------

    def until(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
        """Wait, with Qt and asyncio going on, until the condition holds."""

        def holds() -> None:
            assert condition(), f"{what}; notices: {[texts_in(bar) for bar in self.notices()]}"

        self.qtbot.waitUntil(holds, timeout=round(seconds * 1000))

    def notices(self) -> list[NoticeBar]:
        """The notices that are shown."""
        return [bar for bar in self.window.notices.findChildren(NoticeBar) if bar.isVisible()]

    def until_ended(self) -> None:
        """Wait until the run is over and the window says so."""
        self.until(
            lambda: not self.controller.running and self.run_view.banner.isVisible(), "the run never ended"
        )

    def until_nothing_alive(self) -> None:
        """Wait until no process that was started here is alive."""
        self.until(lambda: not self.alive(), "processes were left behind")

    def alive(self) -> list[str]:
        """Command lines of everything that runs because of this desk."""
        return command_lines(marked_processes(self.mark))

    # --- files -----------------------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        """Open a workflow, and wait until its agents are known."""
        assert self.window.files.load(path)
        self.until_agents_known()

    def until_agents_known(self) -> None:
        """Wait until the window shows every agent of the project, as its file is now."""
        folder = self.project.folder / "agents"
        written = {agent.name: agent for agent in AgentLibrary((folder,)).agents}

        def known() -> bool:
            shown = {name: agent_at(_find(self.window.pool.filtered, name)) for name in written}
            return shown == written

        self.until(known, "the agents were never read")

    def open_new(self, **keys: JsonValue) -> Path:
        """Write a workflow and open it."""
        path = self.project.workflow(**keys)
        self.open(path)
        return path

    # --- mouse and keys --------------------------------------------------------------------------------

    def click(self, widget: QWidget, point: QPoint | None = None) -> None:
        """Click a widget that a user could click."""
        assert widget.isVisible(), f"{widget} is not to be seen"
        assert widget.isEnabled(), f"{widget} is switched off"
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=point or widget.rect().center())

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key in the window."""
        self.window.activateWindow()
        self.until(self.window.isActiveWindow, "the window never became active")
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)

    def choose(self, words: str) -> None:
        """Click an entry of the menu that is open."""
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu), "no menu is open"
        entries = {action.text().replace("&", ""): action for action in menu.actions()}
        assert words in entries, f"no {words!r} in {list(entries)}"
        action = entries[words]
        assert action.isEnabled(), f"{words} is switched off"
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())

    def question(self) -> QMessageBox:
        """The question that is open."""
        boxes = [box for box in self.window.findChildren(QMessageBox) if box.isVisible()]
        assert len(boxes) == 1, f"{len(boxes)} questions are open"
        return boxes[0]

    def answer(self, words: str) -> None:
        """Click a button of the question that is open."""
        buttons = {button.text().replace("&", ""): button for button in self.question().buttons()}
        assert words in buttons, f"no {words!r} in {list(buttons)}"
        self.click(buttons[words])

    def save_as(self, path: Path) -> None:
        """Press the keys for Save as, and fill in the dialog."""
        self.press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        dialog = self.window.files.dialog
        assert dialog is not None
        assert dialog.isVisible()

        def filled_in() -> bool:
            # It reads the folder in the background and then fills in the name of the present file again.
            dialog.selectFile(str(path))
            return dialog.selectedFiles() == [str(path)]

        self.until(filled_in, "the name could not be filled in")
        box = dialog.findChild(QDialogButtonBox, "buttonBox")
        assert isinstance(box, QDialogButtonBox)
        self.click(box.button(QDialogButtonBox.StandardButton.Save))
        self.until(path.exists, "the file was never written")

    # --- building --------------------------------------------------------------------------------------

    def shape(self, phase: Phase = "loop") -> list[str]:
        """The groups of a phase, such as `par(vera linter)`."""
        return [
            f"{group.settings.mode[:3]}({' '.join(node.entry.agent for node in group.agents)})"
            for group in self.document.outline.groups(phase)
        ]

    def node(self, agent: str) -> int:
        """Id of the first place of an agent."""
        nodes = [node.id for _, _, node in self.document.outline.all_agents() if node.entry.agent == agent]
        assert nodes, f"{agent} stands nowhere"
        return nodes[0]

    def row(self, agent: str, share: float = 0.5) -> QPoint:
        """A point in the row of an agent, `share` of its height from the top."""
        tree = self.window.workflow_view.tree
        index = self.window.workflow_view.model.index_of(self.node(agent))
        body = tree.anatomy.boxes(index, tree.visualRect(index)).body
        return QPoint(body.center().x(), body.top() + round((body.height() - 1) * share))

    def phase_row(self, phase: Phase) -> QPoint:
        """A point in the heading of a phase."""
        tree = self.window.workflow_view.tree
        return tree.visualRect(self.window.workflow_view.model.phase_index(phase)).center()

    def drag_from_pool(self, agent: str, point: QPoint) -> None:
        """Drag an agent of the pool to a point of the workflow, as Qt would send it, and drop it."""
        pool = self.window.pool
        index = _find(pool.filtered, agent)
        assert index.isValid(), f"{agent} is not in the pool"
        data = pool.filtered.mimeData([index])
        assert data.hasFormat(AGENTS_MIME)
        viewport = self.window.workflow_view.tree.viewport()
        arguments = (
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        enter = QDragEnterEvent(point, *arguments)
        enter.ignore()
        QApplication.sendEvent(viewport, enter)
        assert enter.isAccepted(), "the workflow does not take the drag"
        QApplication.sendEvent(viewport, QDragMoveEvent(point, *arguments))
        drop = QDropEvent(QPointF(point), *arguments)
        drop.ignore()
        QApplication.sendEvent(viewport, drop)
        assert drop.isAccepted(), "the workflow does not take the drop"

    def context_menu(self, agent: str) -> None:
        """Open the context menu of an agent's row."""
        viewport = self.window.workflow_view.tree.viewport()
        point = self.row(agent)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, viewport.mapToGlobal(point))
        QApplication.sendEvent(viewport, event)

    # --- running ---------------------------------------------------------------------------------------

    @property
    def run_view(self) -> RunView:
        return self.window.run_view

    @property
    def progress(self) -> RunProgress:
        assert self.window.progress is not None, "no run was begun"
        return self.window.progress

    def run(self) -> None:
        """Click Run, allow the commands that the files bring, and wait until the run has begun."""
        runs = len([event for event in self.events if event.type == "run_started"])
        self.click(self.window.top_bar.run_button)

        def began() -> bool:
            asked = self.window.trust.page
            if asked is not None and asked.isVisible():
                self.click(asked.allow_button)
            return len([event for event in self.events if event.type == "run_started"]) > runs

        self.until(began, "the run never began")

    def run_to_end(self) -> RunFinished:
        """Click Run, wait for the end, and give it."""
        self.run()
        self.until_ended()
        return self.finished

    @property
    def finished(self) -> RunFinished:
        """How the last run ended."""
        event = self.events[-1]
        assert isinstance(event, RunFinished), event
        return event

    def stop(self, words: str) -> None:
        """Click Stop and an entry of its menu."""
        self.click(self.window.top_bar.stop_button)
        self.choose(words)

    def turn(self, label: str, iteration: int | None = None) -> str:
        """Id of an agent's latest turn, or of its turn in an iteration; waits until there is one."""

        def found() -> list[str]:
            return [
                turn.id
                for turn in self.progress.turns.values()
                if turn.label == label and (iteration is None or turn.iteration == iteration)
            ]

        self.until(found, f"{label} has no turn")
        return found()[-1]

    def statuses(self) -> dict[str, TurnStatus]:
        """Every turn by title."""
        return {turn.title: turn.status for turn in self.progress.turns.values()}

    def badges(self) -> dict[str, TurnStatus | None]:
        """What the slots of the builder show, by agent."""
        model = self.window.workflow_view.model
        shown = {}
        for _, _, node in self.document.outline.all_agents():
            badge = model.badge(model.index_of(node.id))
            shown[node.entry.agent] = badge.status if badge is not None else None
        return shown

    def tabs(self) -> list[str]:
        """The turns' tabs as a screen reader tells them."""
        bar = self.run_view.tabs.bar
        return [bar.accessibleTabName(index) for index in range(bar.count())]

    def open_tab(self, label: str, iteration: int | None = None) -> LogView:
        """Click a turn's tab; gives its log."""
        tabs = self.run_view.tabs
        turn = self.turn(label, iteration)
        self.until(lambda: turn in tabs.open_turns, f"{label} has no tab")
        index = tabs.open_turns.index(turn)
        # Made visible first, as a user would by scrolling the bar.
        tabs.bar.setCurrentIndex(index)
        self.click_tab(tabs.bar, index)
        assert tabs.current_turn == turn
        view = tabs.pages.currentWidget()
        assert isinstance(view, LogView)
        return view

    def click_tab(self, bar: QTabBar, index: int) -> None:
        """Click a tab."""
        self.click(bar, bar.tabRect(index).center())

    def until_log_says(self, view: LogView, words: str) -> None:
        """Wait until one can read these words in a log."""
        self.until(
            lambda: any(words in line for line in view.visible_text()),
            f"{words!r} never came: {view.visible_text()}",
        )

    def journal(self) -> list[Event]:
        """The journal of the present or last run."""
        return read_journal(Path(self.progress.folder) / "journal.jsonl")

    def turn_folder(self, label: str, iteration: int | None = None) -> Path:
        """The folder of a turn."""
        return Path(self.progress.folder) / "turns" / self.progress.turns[self.turn(label, iteration)].folder


def texts_in(widget: QWidget) -> list[str]:
    """Everything that labels, texts and buttons of a widget say."""
    found = [label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]
    found += [text.text() for text in widget.findChildren(ReadingText) if text.isVisibleTo(widget)]
    found += [button.text() for button in widget.findChildren(QAbstractButton) if button.isVisibleTo(widget)]
    return found


def payload_rows(desk: Desk) -> Mapping[str, str]:
    """What the state tab shows below `payload`."""
    model = desk.run_view.tabs.state_tab.model
    payload = model.index_of(("payload",))
    assert payload.isValid()
    while model.canFetchMore(payload):
        model.fetchMore(payload)
    return {
        str(model.index(row, 0, payload).data()): str(model.index(row, 1, payload).data())
        for row in range(model.rowCount(payload))
    }


def _find(model: AgentFilter, agent: str, parent: QModelIndex = NO_INDEX) -> QModelIndex:
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        found = agent_at(index)
        if found is not None and found.name == agent:
            return index
        inner = _find(model, agent, index)
        if inner.isValid():
            return inner
    return QModelIndex()


__all__ = ["MARK", "PHASES", "Desk", "Project", "marked_processes", "parallel", "payload_rows", "texts_in"]
