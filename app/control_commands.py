"""What buttons, check boxes, choices, tabs and sliders in view do, as commands of the palette."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from html import unescape

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QComboBox,
    QLineEdit,
    QMainWindow,
    QMenu,
    QMenuBar,
    QPushButton,
    QSlider,
    QTabBar,
    QToolBar,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from app.buttons import Button
from app.commands import Command, commands_in, in_words, without_mnemonics
from app.theme import icon
from app.why_not import why_off

_MOST_CHOICES = 40
"""A box with more of them is a list to search in, not a few commands."""
_MARKUP = re.compile(r"<[^<>]*>")


def commands_of_controls(
    window: QMainWindow, in_view: Sequence[QWidget], actions: Sequence[Command]
) -> Iterator[Command]:
    """One for each thing that a control in view does, but for those that only trigger one of `actions`, or do
    what one of that name does: so it is where a control stands in nothing that has a name of its own."""
    known = {id(command.action) for command in actions}
    names = {_bare(command.name) for command in actions}
    # A menu that drops down repeats others, with the same keys.
    keys = {(_bare(command.name), command.keys) for command in actions}
    for widget in in_view:
        if widget.window().windowType() is Qt.WindowType.Popup or _is_part_of_another(widget):
            continue
        followed = _followed(widget)
        if followed is None or id(followed) not in known:
            place = _place_of(widget, window)
            for command in _commands(widget, place):
                name = _bare(command.name)
                repeats = id(command.action) in known or ((name, command.keys) in keys and bool(command.keys))
                if not repeats and (command.place or name not in names):
                    yield command


def _is_part_of_another(widget: QWidget) -> bool:
    """Whether it belongs to a control: arrows of tabs, what empties a field."""
    return isinstance(widget.parentWidget(), QLineEdit | QTabBar | QMenuBar | QToolBar)


def _followed(widget: QWidget) -> QAction | None:
    """The action that a button is there for."""
    if isinstance(widget, QToolButton):
        return widget.defaultAction()
    return widget.followed if isinstance(widget, Button) else None


def _place_of(widget: QWidget, window: QWidget) -> tuple[str, ...]:
    around = widget.parentWidget()
    while around is not None and around is not window:
        if around.accessibleName():
            return (around.accessibleName(),)
        around = around.parentWidget()
    return ()


# --- what each kind does -------------------------------------------------------------------------------


@singledispatch
def _commands(widget: QWidget, place: tuple[str, ...]) -> Iterator[Command]:
    """What a control does; nothing for other widgets."""
    del widget, place
    yield from ()


@_commands.register
def _of_button(button: QAbstractButton, place: tuple[str, ...]) -> Iterator[Command]:
    name = _name_of(button) or without_mnemonics(button.text())
    menu = _menu_of(button)
    if menu is not None:
        menu.aboutToShow.emit()
        for command in commands_in(menu.actions(), (*place, *([name] if name else [])), None):
            # What repeats an action is not off as its button is.
            off = not button.isEnabled() and command.able
            yield replace(command, able=False, why_not=_why_off(button)) if off else command
    elif name:
        action = QAction(name)
        action.triggered.connect(button.click)
        action.setCheckable(button.isCheckable())
        action.setChecked(button.isChecked())
        if isinstance(button, Button) and button.icon_name:
            action.setIcon(icon(button.icon_name, "quiet"))
        else:
            action.setIcon(button.icon())
        yield _command(action, place, button)


@_commands.register
def _of_slider(slider: QSlider, place: tuple[str, ...]) -> Iterator[Command]:
    steps = QAbstractSlider.SliderAction
    at, first, last = slider.sliderPosition(), slider.minimum(), slider.maximum()
    for step, words, possible in (
        (steps.SliderSingleStepSub, _tr("{0}: one back"), at > first),
        (steps.SliderSingleStepAdd, _tr("{0}: one on"), at < last),
        (steps.SliderToMinimum, _tr("{0}: to the beginning"), at > first),
        (steps.SliderToMaximum, _tr("{0}: to the end"), at < last),
    ):
        name = _name_of(slider)
        if name:
            action = _action(words.format(name), slider, lambda step=step: slider.triggerAction(step))  # type: ignore[misc]
            there = _tr("It is there already.") if not possible else ""
            yield _command(action, place, slider, able=possible, why_not=there)


@_commands.register
def _of_box(box: QComboBox, place: tuple[str, ...]) -> Iterator[Command]:
    name = _name_of(box)
    if not name or box.count() > _MOST_CHOICES:
        return
    for at in range(box.count()):
        action = _action(f"{name}: {box.itemText(at)}", box, lambda at=at: _choose(box, at))  # type: ignore[misc]
        action.setCheckable(True)
        action.setChecked(at == box.currentIndex())
        able = bool(box.model().flags(box.model().index(at, box.modelColumn())) & Qt.ItemFlag.ItemIsEnabled)
        why_not = "" if able else _plain(str(box.itemData(at, Qt.ItemDataRole.ToolTipRole) or ""))
        yield _command(action, place, box, able=able, why_not=why_not)


def _choose(box: QComboBox, at: int) -> None:
    """As a person does: also the choice that is there already is told as chosen."""
    box.setCurrentIndex(at)
    box.activated.emit(at)


@_commands.register
def _of_tabs(bar: QTabBar, place: tuple[str, ...]) -> Iterator[Command]:
    around = (_name_of(bar),) if _name_of(bar) else place
    for at in range(bar.count()):
        name = bar.accessibleTabName(at) or without_mnemonics(bar.tabText(at))
        if not name or not bar.isTabVisible(at):
            continue
        action = _action(name, bar, lambda at=at: _turn_to(bar, at))  # type: ignore[misc]
        action.setIcon(bar.tabIcon(at))
        able = bar.isTabEnabled(at)
        yield _command(action, around, bar, able=able, why_not="" if able else _plain(bar.tabToolTip(at)))


def _turn_to(bar: QTabBar, at: int) -> None:
    # Beside another bar a click also tells which of both is meant.
    bar.tabBarClicked.emit(at)
    bar.setCurrentIndex(at)


# --- parts ---------------------------------------------------------------------------------------------


def _action(name: str, widget: QWidget, do: Callable[[], object]) -> QAction:
    """An action that does something to a widget, while that is there."""
    action = QAction(name)
    action.triggered.connect(lambda: do() if isValid(widget) and widget.isEnabled() else None)
    return action


def _command(
    action: QAction, place: tuple[str, ...], widget: QWidget, *, able: bool = True, why_not: str = ""
) -> Command:
    if not widget.isEnabled():
        able, why_not = False, _why_off(widget)
    # Texts of actions have marks of mnemonics, and these names are as they are read.
    name = action.text()
    action.setText(name.replace("&", "&&"))
    return Command(action, name, in_words(place), able, why_not)


def _name_of(widget: QWidget) -> str:
    return " ".join(widget.accessibleName().split())


def _menu_of(button: QAbstractButton) -> QMenu | None:
    if isinstance(button, Button) and button.drop_down is not None:
        return button.drop_down
    menu = button.menu() if isinstance(button, QPushButton | QToolButton) else None
    return menu if isinstance(menu, QMenu) else None


def _why_off(widget: QWidget) -> str:
    """What is said of a control that is off, or of what it stands in; many say it in their tool tips."""
    around: QWidget | None = widget
    while around is not None and not around.isEnabled():
        if why_off(around):
            return why_off(around)
        around = around.parentWidget()
    return widget.accessibleDescription() or _plain(widget.toolTip())


def _bare(name: str) -> str:
    """A name without the sign that something is asked first."""
    return name.removesuffix("…").casefold()


def _plain(tool_tip: str) -> str:
    """The words of a tool tip in one line, whether it was markup or not."""
    text = unescape(_MARKUP.sub(" ", tool_tip)) if tool_tip.startswith("<qt>") else tool_tip
    return " ".join(text.split())


def _tr(text: str) -> str:
    return QCoreApplication.translate("ControlCommands", text)
