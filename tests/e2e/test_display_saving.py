"""Saving under another name by real keys, on a display without a window manager."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.screen import until, x_server
from tests.e2e.test_display import Application, started

pytestmark = [
    pytest.mark.needs_display,
    pytest.mark.skipif(sys.platform != "linux", reason="it starts an X server of its own"),
]


def save_as(application: Application, path: Path) -> None:
    """Type a path into the dialog that Ctrl+Shift+S opens, wherever the keys go then."""
    screen = application.screen
    application.screen.press("ctrl+shift+s")

    def dialog_has_the_keys() -> bool:
        found = screen.xdotool("search", "--onlyvisible", "--name", "^Save workflow$").split()
        return bool(found) and screen.xdotool("getwindowfocus").strip() in found

    until(dialog_has_the_keys, "the dialog never came, or never got the keys")
    screen.xdotool("type", "--delay", "1", str(path))
    screen.press("Return")
    until(path.is_file, f"{path.name} was never saved")


def test_the_keys_come_back_to_the_window_when_a_dialog_closes(tmp_path: Path) -> None:
    workflow = tmp_path / "work.json"
    workflow.write_text(json.dumps({"name": "work"}), encoding="utf-8")
    (tmp_path / "my dir").mkdir()
    (tmp_path / "screen").mkdir()
    with (
        x_server(tmp_path / "screen", 1) as screen,
        started(screen, workflow, "light", tmp_path / "home") as application,
    ):
        mine = screen.xdotool("getwindowfocus").strip()
        for path in (tmp_path / "one.json", tmp_path / "my dir" / "two.json"):
            save_as(application, path)
            until(
                lambda: screen.xdotool("getwindowfocus").strip() == mine,
                "the window never got the keys back",
            )
        screen.press("ctrl+q")
        assert application.exit_code() == 0
