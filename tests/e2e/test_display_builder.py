"""The builder with a real mouse: drags that are given up, and the clipboard between two processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize

from tests.e2e.desk import Desk, parallel
from tests.e2e.screen import Screen, until, x_server
from tests.e2e.test_display import Application, Plan, shape, started

pytestmark = [
    pytest.mark.needs_display,
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]


@dataclass(frozen=True)
class Row:
    """What can be seen of a row of the workflow in the light theme; `box`: where it is."""

    screen: Screen
    box: QRect

    def says_what_a_drop_would_do(self) -> bool:
        """Words in the accent's blue, within its right part."""
        inner = self.box.adjusted(self.box.width() // 2, 4, -4, -4)
        return any(pixel.blue() - pixel.red() > 120 for pixel in self.screen.pixels(inner))

    def is_lifted(self) -> bool:
        """Its name, right of the mark at the left, is pale."""
        name = self.box.adjusted(26, 4, -self.box.width() // 2, -4)
        return min(pixel.lightness() for pixel in self.screen.pixels(name)) > 110

    def select(self) -> None:
        """Click it, and wait until it is seen to be selected: the ground of its empty middle changes."""
        ground = QRect(self.box.center(), QSize(4, 4)).translated(self.box.width() // 4, 0)
        before = self.screen.pixels(ground)
        self.screen.click(self.box.center())
        until(lambda: self.screen.pixels(ground) != before, "the row was never selected")


def drag_in_vain(
    screen: Screen, start: QPoint, end: QPoint, seen: Callable[[], bool], *, escape: bool = False
) -> None:
    """Drag until that is seen, give it up with Escape or let go, and wait until nothing is seen of it."""

    def over() -> None:
        # Not before: what a busy window is sent meanwhile would not be a drag to it.
        until(seen, "the drag was never shown")
        if escape:
            # Not `press`: to clear the modifiers it would let the mouse go, too.
            screen.xdotool("key", "Escape")
            until(lambda: not seen(), "Escape did not end the drag")

    screen.drag(start, end, over)
    until(lambda: not seen(), "the drag never ended")


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
            until(lambda: screen.colours(pool) > 2, "the agents were never listed")
            dragged, other = Row(screen, amala), Row(screen, plan.agent_row("linter"))
            below, far = QPoint(amala.center().x(), amala.bottom() - 2), QPoint(1000, 400)
            scribe = plan.agent_row("scribe").center()
            drag_in_vain(screen, pool.center(), below, other.says_what_a_drop_would_do, escape=True)
            drag_in_vain(screen, amala.center(), scribe, dragged.is_lifted, escape=True)
            drag_in_vain(screen, amala.center(), far, dragged.is_lifted)
            other.select()
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
