"""Tab goes the way one reads: left to right and top to bottom, however controls were made or moved.

Qt's own order is that in which widgets were made, and a panel that hands its focus on to a child can send Tab
round in a circle. Here what is seen decides, at every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QScrollArea, QWidget

from app.context_key import is_context_key, open_context_menu

_SEEN_AROUND = 24
"""Pixels around a control that are scrolled into view with it."""


class ReadingOrder:
    """For windows and dialogs, before their base class: Tab and Shift+Tab reach every control in reading
    order, each once, and round again."""

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: N802
        assert isinstance(self, QWidget)
        focused = self.focusWidget()
        target = stop_after(self, focused) if next else stop_before(self, focused)
        if target is None:
            return False
        give_focus(target, Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        assert isinstance(self, QWidget)
        focused = self.focusWidget()
        if is_context_key(event) and focused is not None:
            open_context_menu(focused)
        else:
            super().keyPressEvent(event)  # type: ignore[misc]  # of the base class that comes after this one


class ReadingOrderWindow(ReadingOrder, QMainWindow):
    """The main window."""


def give_focus(widget: QWidget, reason: Qt.FocusReason) -> None:
    """Focus a control, and scroll to it where it is out of sight."""
    widget.setFocus(reason)
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea) and parent.widget() is not None:
            parent.ensureWidgetVisible(widget, _SEEN_AROUND, _SEEN_AROUND)
        parent = parent.parentWidget()


def stop_after(top: QWidget, focused: QWidget | None) -> QWidget | None:
    """Where Tab leads from a widget of a window, which need not be a stop itself; None: nowhere."""
    return _first_stop(_after(top, _seen(top, focused)))


def stop_before(top: QWidget, focused: QWidget | None) -> QWidget | None:
    """Where Shift+Tab leads."""
    return _first_stop(_before(top, _seen(top, focused)))


def first_stop(region: QWidget) -> QWidget | None:
    """The first control of a part of a window; None: it has none, or is hidden."""
    return _first_stop(_down(region)) if region.isVisible() else None


def takes_tab(widget: QWidget) -> bool:
    """Whether Tab stops at a widget at present."""
    wanted = Qt.FocusPolicy.StrongFocus
    if QGuiApplication.styleHints().tabFocusBehavior() is Qt.TabFocusBehavior.TabFocusAllControls:
        wanted = Qt.FocusPolicy.TabFocus
    if widget.focusPolicy() & wanted != wanted or widget.focusProxy() is not None:
        return False
    return widget.isEnabled() and widget.isVisible() and not widget.size().isEmpty()


def _seen(top: QWidget, focused: QWidget | None) -> QWidget:
    """Where to go on from: the focused widget or, where it was hidden, what it was in."""
    at, hidden = focused, focused
    while at is not None and at is not top:
        if not at.isVisible() or at.isWindow():
            hidden = at.parentWidget()
        at = at.parentWidget()
    return hidden if at is top and hidden is not None else top


def _after(top: QWidget, at: QWidget) -> Iterator[QWidget]:
    """All widgets in reading order from the one after `at` on, and round again to the one before it.

    One by one, since the next stop is mostly near, and a window has many hundred widgets.
    """
    yield from itertools.islice(_down(at), 1, None)
    begin = at
    while at is not top and (parent := at.parentWidget()) is not None:
        siblings = _children(parent)
        for sibling in siblings[siblings.index(at) + 1 :]:
            yield from _down(sibling)
        at = parent
    yield from itertools.takewhile(lambda widget: widget is not begin, _down(top))


def _before(top: QWidget, at: QWidget) -> Iterator[QWidget]:
    """All widgets from the one before `at` back, and round again to the one after it."""
    begin = at
    while at is not top and (parent := at.parentWidget()) is not None:
        siblings = _children(parent)
        for sibling in reversed(siblings[: siblings.index(at)]):
            yield from _up(sibling)
        yield parent
        at = parent
    yield from itertools.takewhile(lambda widget: widget is not begin, _up(top))


def _down(top: QWidget) -> Iterator[QWidget]:
    """A widget and everything visible in it, as one reads."""
    yield top
    for child in _children(top):
        yield from _down(child)


def _up(top: QWidget) -> Iterator[QWidget]:
    """The same from its end."""
    for child in reversed(_children(top)):
        yield from _up(child)
    yield top


def _children(top: QWidget) -> list[QWidget]:
    children = [
        child
        for child in top.children()
        if isinstance(child, QWidget) and child.isVisible() and not child.isWindow()
    ]
    if len(children) > 1:
        right_to_left = top.layoutDirection() is Qt.LayoutDirection.RightToLeft
        return list(_as_read(children, right_to_left))
    return children


def _as_read(widgets: list[QWidget], right_to_left: bool) -> Iterator[QWidget]:
    """Row by row: what begins above the middle of the first of a row belongs to it."""
    # Each place is asked for once: Tab is pressed fast, and a form has many rows.
    rest = sorted(((widget.geometry(), widget) for widget in widgets), key=lambda pair: pair[0].top())
    while rest:
        first = rest[0][0]
        middle, bottom = first.center().y(), first.bottom()
        row, later = [rest[0]], []
        for number, (box, widget) in enumerate(rest[1:], start=1):
            if box.top() > max(middle, bottom) + 1:
                # So does all that comes after it.
                later += rest[number:]
                break
            beside = box == first or box.top() <= middle or box.center().y() <= bottom
            (row if beside else later).append((box, widget))
        rest = later
        for _, widget in sorted(row, key=lambda pair: _place_in_row(pair[0], right_to_left)):
            yield widget


def _place_in_row(box: QRect, right_to_left: bool) -> tuple[int, int]:
    return (-box.right() if right_to_left else box.left()), box.top()


def _first_stop(widgets: Iterable[QWidget]) -> QWidget | None:
    return next((widget for widget in widgets if takes_tab(widget)), None)
