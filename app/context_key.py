"""Shift+F10 opens the menu of what has the focus, where Qt leaves that to the Menu key alone."""

from __future__ import annotations

import sys

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget


def is_context_key(event: QKeyEvent) -> bool:
    """Whether a key asks for a menu and nobody else will open it: Windows tells windows by itself."""
    shift = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
    return sys.platform != "win32" and event.key() == Qt.Key.Key_F10 and shift


def open_context_menu(widget: QWidget) -> None:
    """Have a widget open its menu where its cursor or its current row is, as the Menu key does."""
    cursor = widget.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
    box = cursor if isinstance(cursor, QRect) and cursor.isValid() else widget.rect()
    where = box.center() if widget.rect().contains(box.center()) else widget.rect().center()
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(widget, QContextMenuEvent(reason, where, widget.mapToGlobal(where)))
