"""A run as somebody sees it who sits in front of a terminal; on pseudo-terminals."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from core.events import RunFinished
from tests.app.cli_support import GATED, Terminal, journal_of, openloop, until
from tests.core.run_support import Workshop, alive_agents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
WIPE = "\x1b[2J\x1b]0;mine\x07"
"""Clears the screen and renames the window, where a terminal gets to see it."""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def gated(shop: Workshop, name: str) -> str:
    """Make an agent that is at work until the file `go` is there."""
    file = re.sub(r"\W", "_", name)
    matter = {"name": name, "backend": "command", "command": ["sh", "-c", GATED]}
    path = shop.folder / "agents" / f"{file}.md"
    path.write_text(f"---\n{json.dumps(matter)}\n---\nx\n", encoding="utf-8")
    return name


def test_a_terminal_shows_who_is_at_work_and_how_it_ended(shop: Workshop) -> None:
    gated(shop, "[red]one")
    shop.agent("two", fail=3)
    group = {
        "mode": "parallel",
        "agents": ["[red]one", "two"],
        "on_parallel_error": "continue",
        "max_parallel": 2,
    }
    path = shop.file({"loop_agents": [group], "end_state_condition": "iteration >= 2", "max_loops": 5})
    with Terminal("run", path, "--trust", cwd=shop.folder, columns=400) as terminal:
        # Names are never read as markup.
        terminal.until("two (iteration 1): failed after", "▸ [red]one", "Loop · iteration 1 of 5")
        (shop.folder / "go").touch()
        assert terminal.end() == 0
    text = terminal.text
    assert "[red]one (iteration 1): succeeded" in text
    assert "Iteration 2 of 5 begins." in text
    assert ", 2 turns failed; completed)" in text
    assert "Traceback" not in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is back


def test_what_agents_say_cannot_steer_the_terminal_nor_break_lines(shop: Workshop) -> None:
    error = f"[bold]boom[/bold] {WIPE}\nsecond line"
    shop.agent("loud", text=WIPE, fail={"exit_code": 0, "error": error})
    path = shop.file({"preparation_agents": ["loud"], "name": f"evil {WIPE}"})
    with Terminal("run", path, cwd=shop.folder, columns=400) as terminal:
        assert terminal.end() == 1
    piped = openloop("run", path, cwd=shop.folder)
    assert piped.returncode == 1
    for text in (terminal.text, piped.stdout):
        assert "[bold]boom[/bold] ␛[2J␛]0;mine␇ second line" in text
        assert "\x1b[2J" not in text
        assert "\x1b]0;" not in text
    assert all(re.match(r"\d\d:\d\d:\d\d \S", line) for line in piped.stdout.splitlines())


def test_a_low_terminal_keeps_the_line_about_the_whole_run(shop: Workshop) -> None:
    gated(shop, "one")
    path = shop.file(
        {
            "preparation_agents": [{"mode": "parallel", "agents": ["one"] * 9, "max_parallel": 9}],
            "max_parallel_agents": 9,
        }
    )
    with Terminal("run", path, "--trust", cwd=shop.folder, rows=8) as terminal:
        terminal.until("▸ one 4", "▸ and 5 more", "Preparation   0:")
        (shop.folder / "go").touch()
        assert terminal.end() == 0
    assert "▸ one 9" not in terminal.words.partition(": succeeded")[0]


def test_ctrl_c_twice_ends_the_run_in_order(shop: Workshop) -> None:
    shop.agent("rude", hang=True, ignore_sigterm=True)
    path = shop.file({"preparation_agents": ["rude"]})
    with Terminal("run", path, cwd=shop.folder) as terminal:
        until(lambda: bool(alive_agents(shop.folder)), "the agent never came")
        terminal.until("▸ rude")
        terminal.press(b"\x03")
        terminal.until("Stopping now.")
        terminal.press(b"\x03")
        assert terminal.end() == 130
    assert alive_agents(shop.folder) == []
    assert "rude: stopped after" in terminal.text
    assert "The run was stopped." in terminal.text
    assert "Traceback" not in terminal.text
    assert terminal.text.count("Stopping now.") == 1


def test_closing_the_terminal_ends_the_run_and_leaves_nothing(shop: Workshop) -> None:
    shop.agent("rude", hang=True, ignore_sigterm=True)
    path = shop.file({"preparation_agents": ["rude"]})
    with Terminal("run", path, cwd=shop.folder) as terminal:
        until(lambda: bool(alive_agents(shop.folder)), "the agent never came")
        terminal.hang_up()
        until(lambda: terminal.process.poll() is not None, "the run outlived its terminal")
    assert alive_agents(shop.folder) == []
    last = journal_of(shop.folder)[-1]
    assert isinstance(last, RunFinished)
    assert last.termination_reason == "stopped"
