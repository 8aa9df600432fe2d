"""What can be done in a window now: the actions of its menus, and what is in view does, by its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar, QWidget

from app.why_not import why_not


@dataclass(frozen=True, slots=True)
class Command:
    """Something to be done, as the palette shows it. `action`: does it; what only a button did has an action
    that lives as long as the command. `place`: the menus that lead to it, or what it belongs to.

    `able`: whether it can be done now; where not, `why_not` says why, if that is known.
    """

    action: QAction
    name: str
    place: str
    able: bool
    why_not: str = ""

    @property
    def keys(self) -> str:
        """Its shortcut as this system writes it; empty: none."""
        return self.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def commands_of(window: QMainWindow) -> list[Command]:
    """All actions in the menus of a window, in their order; then others of what it shows; then what its
    buttons, boxes, tabs and sliders in view do that is no action."""
    # It needs Command.
    from app.control_commands import commands_of_controls

    found = list(commands_in(window.menuBar().actions(), (), None))
    known = {command.name for command in found}
    in_view = [
        widget
        for widget in window.findChildren(QWidget)
        if not isinstance(widget, QMenu | QMenuBar) and widget.isVisibleTo(window)
    ]
    for widget in in_view:
        own = [action for action in widget.actions() if plain_name_of(action) not in known]
        place = (widget.accessibleName(),) if widget.accessibleName() else ()
        added = list(commands_in(own, place, None))
        known.update(command.name for command in added)
        found += added
    return [*found, *commands_of_controls(window, in_view, found)]


def commands_in(
    actions: Iterable[QAction], path: tuple[str, ...], outer: QAction | None
) -> Iterator[Command]:
    """What a menu has, also in the menus of it. `path`: the words that lead to it; `outer`: the menu's own
    action, without which none in it can be done."""
    for action in actions:
        name = plain_name_of(action)
        menu = action.menu()
        if isinstance(menu, QMenu):
            # A menu may fill itself only when it opens.
            menu.aboutToShow.emit()
            closed = action if outer is None and not action.isEnabled() else outer
            yield from commands_in(menu.actions(), (*path, name), closed)
        elif name and action.isVisible() and not action.isSeparator():
            able = outer is None and action.isEnabled()
            reason = why_not(action) or (why_not(outer) if outer is not None else "")
            yield Command(action, name, in_words(path), able, reason)


def in_words(path: Iterable[str]) -> str:
    """The way to a command."""
    return " › ".join(path)


def plain_name_of(action: QAction) -> str:
    """An action's text without the marks of mnemonics, and without keys that it only speaks of."""
    return without_mnemonics(action.text().partition("\t")[0])


def without_mnemonics(text: str) -> str:
    """A text as it is seen on a button or in a menu."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
