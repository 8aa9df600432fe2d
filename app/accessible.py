"""What assistive technology is told of painted widgets, and what it is told at once.

A widget that paints itself is a nameless pane to a screen reader. It says what it is with a class attribute,
`accessible_role = QAccessible.Role.StaticText`; Qt's own controls know it without.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QTextDocumentFragment,
)
from PySide6.QtWidgets import QAccessibleWidget, QWidget


class _Painted(QAccessibleWidget):
    """As the widget says; its tool tip is read only where it says more than the name, and never as markup."""

    def __init__(self, widget: QWidget, role: QAccessible.Role) -> None:
        super().__init__(widget, role)
        self._widget = widget

    def text(self, kind: QAccessible.Text) -> str:
        if kind is not QAccessible.Text.Description:
            return super().text(kind)
        described = self._widget.accessibleDescription()
        if described:
            return described
        tip = QTextDocumentFragment.fromHtml(self._widget.toolTip()).toPlainText()
        return "" if tip == self._widget.accessibleName() else tip


def _interface(class_name: str, subject: QObject | None) -> QAccessibleInterface | None:
    del class_name
    role = getattr(type(subject), "accessible_role", None)
    if isinstance(role, QAccessible.Role) and isinstance(subject, QWidget):
        return _Painted(subject, role)
    return None


@cache
def install() -> None:
    """Have Qt ask the widgets, once."""
    QAccessible.installFactory(_interface)


def announce(subject: QObject, text: str, *, urgent: bool = False) -> None:
    """Have a screen reader say this now, wherever the user is; `urgent`: in the middle of its sentence.

    Costs nothing while nobody listens.
    """
    if not text or not QAccessible.isActive():
        return
    event = QAccessibleAnnouncementEvent(subject, text)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)
