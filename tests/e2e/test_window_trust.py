"""Run in the window, with files that bring commands: asked about first, once, and in full."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.trust_question import TrustPage
from core.events import RunStatus
from core.trust_store import TrustStore
from tests.e2e.desk import Desk, texts_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

ANSWER = "print('<state_update>{}</state_update>')"


def bring_command(desk: Desk, code: str = ANSWER, name: str = "tool") -> str:
    """Write an agent that is a program and leaves `was_here` behind; gives its name."""
    program = f"open('was_here', 'w').close(); {code}"
    return desk.project.agent(name, backend="command", command=[sys.executable, "-c", program])


def ask(desk: Desk) -> TrustPage:
    """Click Run, and wait for the question."""
    desk.click(desk.window.top_bar.run_button)
    desk.until(lambda: desk.window.trust.page is not None, "it never asked")
    page = desk.window.trust.page
    assert page is not None
    return page


def nothing_was_started(desk: Desk) -> bool:
    folder = desk.project.folder
    return not (folder / "was_here").exists() and not (folder / ".openloop").exists() and not desk.events


def test_unknown_commands_are_asked_about_before_anything_is_started_and_only_once(desk: Desk) -> None:
    desk.open_new(preparation_agents=[bring_command(desk)], init_script="echo ready")
    page = ask(desk)
    text = page.list.toPlainText()
    assert "init_script of the workflow (work.json):\n    echo ready\n" in text
    assert f"agent tool (agents/tool.md):\n    {sys.executable} -c " in text
    assert nothing_was_started(desk)
    assert desk.alive() == []
    desk.click(page.allow_button)
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert (desk.project.folder / "was_here").exists()

    desk.click(desk.window.top_bar.run_button)
    desk.until(lambda: sum(event.type == "run_finished" for event in desk.events) == 2, "it never ran again")
    assert desk.window.trust.page is None

    bring_command(desk, f"print(1); {ANSWER}")
    desk.until_agents_known()
    desk.until(lambda: not desk.controller.running, "it goes on")
    changed = ask(desk).list.toPlainText()
    assert "print(1)" in changed
    # What was allowed before is not asked about again.
    assert "echo ready" not in changed


def test_escape_starts_nothing_and_the_window_can_be_used_again(desk: Desk) -> None:
    desk.open_new(preparation_agents=[bring_command(desk)])
    page = ask(desk)
    QTest.keyClick(page, Qt.Key.Key_Escape)
    desk.until(lambda: not desk.controller.running, "the run never gave up")
    assert nothing_was_started(desk)
    assert desk.window.top_bar.run_button.isEnabled()
    assert any("you did not allow its commands" in text for text in texts_in(desk.window.status))
    desk.click(ask(desk).allow_button)
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED


def test_the_window_can_be_ended_while_it_asks(desk: Desk) -> None:
    """As by a signal of the system."""
    desk.open_new(preparation_agents=[bring_command(desk)])
    ask(desk)
    desk.window.quit_at_once()
    desk.until(lambda: desk.was_closed, "the window never closed")
    assert nothing_was_started(desk)


def test_warnings_about_what_was_allowed_are_shown(desk: Desk) -> None:
    path = TrustStore().path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{", "utf-8")
    desk.open_new(preparation_agents=[bring_command(desk)])
    ask(desk)
    notices = [text for bar in desk.notices() for text in texts_in(bar)]
    assert any(str(path.with_name(f"{path.name}.broken")) in text for text in notices)
