"""What somebody without a mouse meets in a window: where Tab leads, and which keys mean two things."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
MOST_STEPS = 150


def name_of(widget: QWidget | None) -> str:
    """Words for a failure."""
    if widget is None:
        return "nothing"
    words = widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")
    inside = type(widget.parentWidget()).__name__ if widget.parentWidget() is not None else ""
    return f"{inside}/{type(widget).__name__} {words!r}"


def takes_tab(widget: QWidget) -> bool:
    """Whether a user would expect Tab to come to it."""
    if not widget.focusPolicy() & Qt.FocusPolicy.TabFocus or widget.focusProxy() is not None:
        return False
    return widget.isVisible() and widget.isEnabled() and not widget.size().isEmpty()


def stops(top: QWidget) -> list[QWidget]:
    """All controls of a window that Tab should reach."""
    return [widget for widget in top.findChildren(QWidget) if widget.window() is top and takes_tab(widget)]


@dataclass(frozen=True)
class Step:
    """A control that had the focus, and where it and the one before it were then: the page may scroll."""

    widget: QWidget
    box: QRect
    before: QRect | None


def walk(top: QWidget, *, back: bool = False) -> list[Step]:
    """Press Tab (or Shift+Tab) from the first control until one is reached again, and give the way."""
    stops(top)[0].setFocus(Qt.FocusReason.TabFocusReason)
    way: list[Step] = []
    key, modifier = (Qt.Key.Key_Backtab, SHIFT) if back else (Qt.Key.Key_Tab, NONE)
    for _ in range(MOST_STEPS):
        focused = QApplication.focusWidget()
        if way and focused is way[-1].widget:
            # From link to link of a text.
            QTest.keyClick(focused, key, modifier)
            continue
        if focused is None or focused in [step.widget for step in way]:
            break
        way.append(Step(focused, _box(focused, top), _box(way[-1].widget, top) if way else None))
        QTest.keyClick(focused, key, modifier)
        QCoreApplication.sendPostedEvents()
    return way


def tab_complaints(top: QWidget) -> list[str]:
    """Controls that Tab does not reach, traps, and steps that go back up or to the left."""
    steps = walk(top)
    end = QApplication.focusWidget()
    way = [step.widget for step in steps]
    back = [step.widget for step in walk(top, back=True)]
    wanted = stops(top)
    found = [f"Tab never comes to {name_of(widget)}" for widget in wanted if widget not in way]
    found += [f"Shift+Tab never comes to {name_of(widget)}" for widget in wanted if widget not in back]
    found += [f"Tab comes to {name_of(one)}, which is no control" for one in way if not takes_tab(one)]
    if way and end is not way[0]:
        found.append(f"after {name_of(way[-1])} Tab does not begin again, but goes to {name_of(end)}")
    if not found and way[1:] != back[:0:-1]:
        found.append("Shift+Tab goes another way back than Tab came")
    back_steps = [
        f"Tab goes back from {name_of(first.widget)} to {name_of(second.widget)}"
        for first, second in itertools.pairwise(steps)
        if second.before is not None and _goes_back(second.before, second.box)
    ]
    # Once it begins again at the top.
    return found + (back_steps if len(back_steps) > 1 else [])


def _box(widget: QWidget, top: QWidget) -> QRect:
    return QRect(widget.mapTo(top, QPoint(0, 0)), widget.size())


def _goes_back(first: QRect, second: QRect) -> bool:
    """Whether the second is above the first, or left of it in one row."""
    same_row = second.top() < first.bottom() and first.top() < second.bottom()
    if same_row:
        return second.right() <= first.left()
    # A column further right begins at its top.
    return second.bottom() <= first.top() and second.left() < first.right()


# --- keys that mean two things ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bound:
    """What may have keys, and in which widgets of the window these are heard."""

    to: QAction | QShortcut
    owners: tuple[QWidget, ...]


def _all_bound(top: QWidget) -> list[_Bound]:
    """Every action and shortcut of a window, also those that have no key or are switched off now."""
    actions: dict[QAction, None] = {}
    for widget in [top, *top.findChildren(QWidget)]:
        if widget.window() is top:
            actions.update(dict.fromkeys(widget.actions()))
    found = []
    for action in actions:
        owners = tuple(
            owner
            for owner in action.associatedObjects()
            if isinstance(owner, QWidget) and not isinstance(owner, QMenu) and owner.window() is top
        )
        if owners:
            found.append(_Bound(action, owners))
    for shortcut in top.findChildren(QShortcut):
        owner = shortcut.parent()
        if isinstance(owner, QWidget) and owner.window() is top:
            found.append(_Bound(shortcut, (owner,)))
    return found


def _armed(bound: Iterable[_Bound], focused: QWidget) -> Iterator[tuple[str, QKeySequence]]:
    """Words and key of all that is heard while this has the focus; what is armed changes with the focus."""
    for one in bound:
        to = one.to
        if isinstance(to, QAction):
            sequences = to.shortcuts()
            if not sequences or not to.isEnabled() or not to.isVisible():
                continue
            text, context = to.text(), to.shortcutContext()
        else:
            if not to.isEnabled():
                continue
            sequences, context = to.keys(), to.context()
            text = f"a shortcut of {type(to.parent()).__name__}"
        if _is_active(context, one.owners, focused):
            yield from ((text, sequence) for sequence in sequences if not sequence.isEmpty())


def _is_active(context: Qt.ShortcutContext, owners: tuple[QWidget, ...], focused: QWidget) -> bool:
    if context is Qt.ShortcutContext.WidgetShortcut:
        return focused in owners
    if context is Qt.ShortcutContext.WidgetWithChildrenShortcut:
        return any(owner is focused or owner.isAncestorOf(focused) for owner in owners)
    return any(owner.isVisible() for owner in owners)


def key_complaints(top: QWidget) -> list[str]:
    """Keys that two actions would have at once, wherever the focus is: Qt does neither then."""
    found: set[str] = set()
    known: list[_Bound] = []
    # Where something made an action when it took the focus: once more, with that.
    while (bound := _all_bound(top)) != known:
        known = bound
        for focused in stops(top):
            focused.setFocus(Qt.FocusReason.OtherFocusReason)
            meanings: dict[str, set[str]] = defaultdict(set)
            for text, sequence in _armed(bound, focused):
                meanings[sequence.toString()].add(text)
            for keys, texts in meanings.items():
                if len(texts) > 1:
                    found.add(f"{keys} is {' and '.join(sorted(texts))} in {name_of(focused)}")
    return sorted(found)
