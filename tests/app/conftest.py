"""What holds for the tests of the application."""

from __future__ import annotations

import sys

import pytest

A_DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def _checks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A workflow whose check took long is checked again only when the edits pause; a machine that is busy for
    a moment makes none such."""
    module = sys.modules.get("app.open_workflow")
    if module is not None:
        monkeypatch.setattr(module, "QUICK_CHECK_SECONDS", A_DAY)
