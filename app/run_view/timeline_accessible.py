"""What a screen reader is told of a timeline: it is a chart, its description is the current bar."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget


def _interface(class_name: str, subject: QObject | None) -> QAccessibleInterface | None:
    if class_name == "TimelineArea" and isinstance(subject, QWidget):
        return QAccessibleWidget(subject, QAccessible.Role.Chart)
    return None


@cache
def install() -> None:
    """Make it known to Qt, once."""
    QAccessible.installFactory(_interface)
