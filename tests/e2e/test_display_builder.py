"""The builder with a real mouse: drags that are given up, and the clipboard between two processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint

from tests.e2e.desk import Desk, parallel
from tests.e2e.screen import Screen, until, x_server
from tests.e2e.test_display import Application, Plan, shape, started

pytestmark = [
    pytest.mark.needs_display,
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]


def drag_and_give_up(screen: Screen, start: QPoint, end: QPoint) -> None:
    """Press, move, press Escape over the end, and let go there."""
    # Not `press`: to clear the modifiers it would let the mouse go, too.
    screen.drag(start, end, lambda: screen.xdotool("key", "Escape") and None)


def come_to_front(screen: Screen, application: Application) -> None:
    """Put the window of this process over that of another one, and give it the focus."""

    def windows() -> list[str]:
        words = ("--all", "--onlyvisible", "--pid", application.process.pid, "--name", "OpenLoop")
        return screen.xdotool("search", *words).split()

    until(windows, "the window of the other process never came")
    window = windows()[0]
    screen.xdotool("windowmove", window, 0, 0)
    screen.xdotool("windowsize", window, 1280, 800)
    screen.xdotool("windowraise", window)
    screen.xdotool("windowfocus", "--sync", window)


def test_a_drag_is_given_up_by_escape_and_outside_and_pieces_go_to_another_process(
    desk: Desk, tmp_path: Path
) -> None:
    project = desk.project
    for name in ("amala", "linter", "scribe"):
        project.gated(name)
    group = parallel("amala", "linter")
    first = project.workflow("first", loop_agents=[group, "scribe"])
    second = project.workflow("second", loop_agents=["scribe"])
    whole = ("parallel", ["amala", "linter"])
    with x_server(tmp_path, 1) as screen:
        plan = Plan.of(desk, first)
        with started(screen, first, "light", tmp_path / "home"):
            pool, amala, header = plan.pool_row("scribe"), plan.agent_row("amala"), plan.group_row("amala")
            until(lambda: screen.colours(amala) > 2, "the window was never painted")
            below = QPoint(amala.center().x(), amala.bottom() - 2)
            drag_and_give_up(screen, pool.center(), below)
            drag_and_give_up(screen, amala.center(), plan.agent_row("scribe").center())
            screen.drag(amala.center(), QPoint(1000, 400), lambda: None)
            screen.click(plan.agent_row("linter").center())
            screen.press("alt+Up")
            edited = [("parallel", ["linter", "amala"]), ("sequential", ["scribe"])]

            def saved() -> bool:
                screen.press("ctrl+s")
                return shape(first) != [whole, ("sequential", ["scribe"])]

            until(saved, "the edit was never saved")
            assert shape(first) == edited, "a drag that was given up changed something"

            screen.click(header.center())
            screen.press("ctrl+c")
            plan = Plan.of(desk, second)
            with started(screen, second, "light", tmp_path / "other home") as other:
                come_to_front(screen, other)
                scribe = plan.agent_row("scribe")
                until(lambda: screen.colours(scribe) > 2, "the second window was never painted")
                screen.click(scribe.center())
                screen.press("ctrl+v")

                def pasted() -> bool:
                    screen.press("ctrl+s")
                    return len(shape(second)) == 2

                until(pasted, "the group never came to the other process")
                assert shape(second) == [("sequential", ["scribe"]), ("parallel", ["linter", "amala"])]
