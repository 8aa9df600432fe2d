"""Actions and controls that cannot be used now, and why: said in the palette and to screen readers."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

_WHY_OFF = "openloop_why_off"


def offer(action: QAction, able: bool, why_not: str = "") -> None:
    """Let an action be done, or not: then for this reason."""
    action.setEnabled(able)
    action.setStatusTip("" if able else why_not)


def why_not(action: QAction) -> str:
    """Why an action cannot be done now; empty where it can, or nobody said why."""
    return "" if action.isEnabled() else action.statusTip()


def tell_why_off(widget: QWidget, why: str) -> None:
    """Say beforehand why a control cannot be used whenever it is off, or what stands in this widget is."""
    widget.setProperty(_WHY_OFF, why)


def why_off(widget: QWidget) -> str:
    """Why a control is off that was told of with `tell_why_off`; empty where it is on, or nobody said why."""
    return "" if widget.isEnabled() else str(widget.property(_WHY_OFF) or "")
