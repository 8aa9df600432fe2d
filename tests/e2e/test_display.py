"""OpenLoop as its own process on a real display, under a real mouse and real keys.

Where things are is measured on a window of the same size that the test builds itself, off the screen.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QWidget

from core.events import Event, RunFinished, RunStatus, TurnStarted
from core.journal import read_journal
from core.preparing import prepare_run
from core.trust_store import FILE_NAME, TrustStore
from core.workflow_file import load_workflow
from tests.e2e.desk import Desk, Project, marked_processes, parallel
from tests.e2e.screen import Screen, until, x_server
from tests.opencode_support import PROJECT

pytestmark = [
    pytest.mark.needs_display,
    pytest.mark.skipif(sys.platform != "linux", reason="it starts an X server of its own"),
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]


FIRST_LOG_LINE = QRect(610, 145, 400, 30)
"""Where the log of a turn begins in a window of 1280×800 with three running agents."""


@dataclass
class Application:
    """The running application. `window` is its id on the screen."""

    process: subprocess.Popen[bytes]
    screen: Screen
    window: str
    log: Path

    def focus(self) -> None:
        """Give its window the keys: there is no window manager that does."""
        self.screen.xdotool("windowfocus", "--sync", self.window)

    def exit_code(self) -> int:
        """Wait for its end; nothing may have gone wrong in it."""
        code = self.process.wait(30)
        assert "Traceback" not in self.log.read_text("utf-8", "replace")
        return code


def command() -> list[str]:
    """The installed command, else the program of this checkout."""
    installed = Path(sys.executable).with_name("openloop")
    return [str(installed)] if installed.exists() else [sys.executable, str(PROJECT / "main.py")]


@contextlib.contextmanager
def started(screen: Screen, workflow: Path, theme: str, home: Path) -> Iterator[Application]:
    """The application on a screen, at its top left corner; ended at last if it still is there."""
    environment = {
        **os.environ,
        "DISPLAY": screen.display,
        "QT_QPA_PLATFORM": "xcb",
        "QT_SCALE_FACTOR": str(screen.scale),
        "OPENLOOP_HOME": str(home),
    }
    environment.pop("WAYLAND_DISPLAY", None)
    log = workflow.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command(), "gui", str(workflow), "--theme", theme],
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:

        def windows() -> list[str]:
            assert process.poll() is None, log.read_text("utf-8", "replace")
            words = ("search", "--onlyvisible", "--pid", process.pid, "--name", "OpenLoop")
            return screen.xdotool(*words).split()

        until(windows, "the window never came")
        window = windows()[0]
        screen.xdotool("windowmove", window, 0, 0)
        screen.xdotool("windowsize", window, 1280 * screen.scale, 800 * screen.scale)
        application = Application(process, screen, window, log)
        application.focus()
        yield application
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


# --- where things are ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Points and areas of the window with a workflow in it, in the window's pixels."""

    desk: Desk

    @classmethod
    def of(cls, desk: Desk, workflow: Path) -> Plan:
        """Measure a window with this workflow."""
        desk.window.resize(1280, 800)
        desk.open(workflow)
        QApplication.processEvents()
        return cls(desk)

    def _in_window(self, widget: QWidget, box: QRect) -> QRect:
        return QRect(widget.mapTo(self.desk.window, box.topLeft()), box.size())

    def button(self, widget: QWidget) -> QPoint:
        return self._in_window(widget, widget.rect()).center()

    def inside(self, widget: QWidget) -> QPoint:
        """A point of a button's ground, left of its icon."""
        return self._in_window(widget, widget.rect()).topLeft() + QPoint(8, widget.height() // 2)

    def pool_row(self, agent: str) -> QRect:
        pool = self.desk.window.pool
        pool.select_agent(agent)
        index = pool.tree.currentIndex()
        box = self._in_window(pool.tree.viewport(), pool.tree.visualRect(index))
        # The name stands at the left.
        return QRect(box.topLeft(), box.bottomLeft() + QPoint(100, 0))

    def row(self, node: int) -> QRect:
        view = self.desk.window.workflow_view
        index = view.model.index_of(node)
        body = view.tree.anatomy.boxes(index, view.tree.visualRect(index)).body
        return self._in_window(view.tree.viewport(), body)

    def agent_row(self, agent: str) -> QRect:
        return self.row(self.desk.node(agent))

    def group_row(self, agent: str) -> QRect:
        found = self.desk.document.outline.find_agent(self.desk.node(agent))
        assert found is not None
        return self.row(found[1].id)


def shape(workflow: Path) -> list[tuple[str, list[str]]]:
    """The loop's groups as they are in the file."""
    return [
        (group.mode, [entry.agent for entry in group.agents])
        for group in load_workflow(workflow).workflow.loop_agents
    ]


def journals(project: Project) -> list[Path]:
    return sorted((project.folder / ".openloop").glob("*/journal.jsonl"))


def journal(project: Project) -> Sequence[Event]:
    found = journals(project)
    return read_journal(found[-1]) if found else []


def allow_commands(project: Project, home: Path, *agents: str) -> None:
    """What the user of this home allowed at an earlier run of these agents."""
    file = load_workflow(project.workflow("earlier", loop_agents=list(agents)))
    prepared = prepare_run(file, environ={}, default_workdir=project.folder)
    assert TrustStore(home / "state" / FILE_NAME).remember(prepared.commands, file.path) == ()


# --- the tests ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theme", "scale"), [("light", 1), ("dark", 1), ("light", 2)])
def test_a_workflow_is_edited_run_saved_and_closed_by_mouse_and_keys(
    desk: Desk, tmp_path: Path, theme: str, scale: int
) -> None:
    project = desk.project
    for name in ("amala", "linter", "scribe"):
        project.gated(name)
    allow_commands(project, tmp_path / "other home", "amala", "linter", "scribe")
    workflow = project.workflow(
        loop_agents=[parallel("amala", "linter")], end_state_condition="True", max_parallel_agents=3
    )
    plan = Plan.of(desk, workflow)
    name = f"{theme}-{scale}x"
    with (
        x_server(tmp_path, scale) as screen,
        started(screen, workflow, theme, tmp_path / "other home") as application,
    ):
        scribe, linter = plan.pool_row("scribe"), plan.agent_row("linter")
        for area in (scribe, linter):
            until(lambda area=area: screen.colours(area) > 2, "the window was never painted")
        screen.take(f"{name}-idle")

        # Into the parallel group, behind its last agent.
        end = QPoint(linter.center().x(), linter.bottom() - 2)
        screen.drag(scribe.center(), end, lambda: screen.take(f"{name}-dragging") and None)

        def saved(expected: list[tuple[str, list[str]]]) -> bool:
            screen.press("ctrl+s")
            return shape(workflow) == expected

        both = [("parallel", ["amala", "linter", "scribe"])]
        until(lambda: saved(both), "the drop was never saved")
        screen.click(plan.group_row("amala").center())
        screen.press("p")
        until(lambda: saved([("sequential", both[0][1])]), "P never made it sequential")
        screen.press("ctrl+z")
        until(lambda: saved(both), "Ctrl+Z never took it back")

        screen.click(plan.button(desk.window.top_bar.run_button))
        stop = plan.inside(desk.window.top_bar.stop_button)

        def running() -> int:
            return sum(isinstance(event, TurnStarted) for event in journal(project))

        until(lambda: running() == 3, "the three never ran")
        waits = list(project.folder.glob(".openloop/*/turns/*/stdout.log"))
        until(lambda: all(b"waits at its gate" in path.read_bytes() for path in waits), "they said nothing")
        until(lambda: screen.colours(FIRST_LOG_LINE) > 2, "the log never showed it")
        before = screen.take(f"{name}-running")
        for agent in ("amala", "linter", "scribe"):
            project.open_gate(agent)
        until(lambda: any(isinstance(event, RunFinished) for event in journal(project)), "it never ended")
        finished = journal(project)[-1]
        assert isinstance(finished, RunFinished)
        assert finished.status is RunStatus.COMPLETED
        # Stop is filled only while a run goes on; closing before that would ask what to do with it.
        until(lambda: screen.pixel(screen.image(), stop) != screen.pixel(before, stop), "it goes on")
        screen.take(f"{name}-ended")

        if theme == "dark":
            screen.close(application.window)
        else:
            screen.press("ctrl+q")
        assert application.exit_code() == 0
        assert desk.alive() == []
    ground = screen_ground(tmp_path / "pictures" / f"{name}-idle.png")
    assert (ground < 128) == (theme == "dark")


def screen_ground(picture: Path) -> int:
    """How light a picture is in the middle of its right half, from 0 to 255."""
    from PySide6.QtGui import QImage

    image = QImage(str(picture))
    return image.pixelColor(image.width() * 3 // 4, image.height() * 9 // 10).lightness()


def test_a_kill_of_the_application_in_the_middle_of_a_run_leaves_no_process(
    desk: Desk, tmp_path: Path, mark: str
) -> None:
    project = desk.project
    project.demo("mother", hang=True, ignore_sigterm=True, leave_child={"kind": "double_fork"})
    project.demo("hanger", hang_silent=True, ignore_sigterm=True)
    workflow = project.workflow(loop_agents=[parallel("mother", "hanger")])
    plan = Plan.of(desk, workflow)
    with (
        x_server(tmp_path, 1) as screen,
        started(screen, workflow, "light", tmp_path / "other home") as application,
    ):
        amala = plan.agent_row("mother")
        until(lambda: screen.colours(amala) > 2, "the window was never painted")
        application.focus()

        def run_began() -> bool:
            if not journals(project):
                # Until its agents are read, the click is kept for later; a second one does no harm.
                screen.click(plan.button(desk.window.top_bar.run_button))
            return bool(list(project.folder.glob(".openloop/*/turns/*/demo_child.pid")))

        until(run_began, "the agents never ran")
        until(lambda: len(marked_processes(mark)) >= 5, "not everything ran")
        application.process.kill()
        application.process.wait()
        until(lambda: not marked_processes(mark), "something outlived the application")
        assert not any(isinstance(event, RunFinished) for event in journal(project))
        assert json.loads((journals(project)[-1].parent / "workflow.json").read_text("utf-8"))
