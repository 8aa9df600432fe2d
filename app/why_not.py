"""Actions that cannot be done now, and why: said in the palette and to screen readers."""

from __future__ import annotations

from PySide6.QtGui import QAction


def offer(action: QAction, able: bool, why_not: str = "") -> None:
    """Let an action be done, or not: then for this reason."""
    action.setEnabled(able)
    action.setStatusTip("" if able else why_not)


def why_not(action: QAction) -> str:
    """Why an action cannot be done now; empty where it can, or nobody said why."""
    return "" if action.isEnabled() else action.statusTip()
