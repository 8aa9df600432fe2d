"""What assistive technology is told of a window: the whole tree, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QLineEdit, QWidget

Role = QAccessible.Role
Text = QAccessible.Text

MOST_CHILDREN = 80
"""Rows of one list that are looked at; a list of a thousand says nothing new."""
CONTROLS = {
    Role.Button,
    Role.ButtonMenu,
    Role.CheckBox,
    Role.RadioButton,
    Role.ComboBox,
    Role.EditableText,
    Role.SpinBox,
    Role.Slider,
    Role.List,
    Role.Tree,
    Role.Table,
    Role.PageTabList,
    Role.PageTab,
    Role.Link,
}
FOCUSABLE = CONTROLS | {
    Role.ListItem,
    Role.TreeItem,
    Role.Cell,
    Role.Document,
    Role.WebDocument,
    Role.Chart,
    Role.StaticText,
    Role.PopupMenu,
    Role.MenuItem,
    Role.Terminal,
    Role.Grouping,
    Role.ScrollBar,
    Role.Dialog,
}
"""What may take the focus; a pane without a meaning (`Client`) may not."""
ITEMS = {Role.ListItem, Role.TreeItem, Role.Cell, Role.Row, Role.MenuItem, Role.PageTab}


@dataclass(frozen=True)
class Told:
    """One object as it is told of."""

    role: QAccessible.Role
    name: str
    description: str
    value: str
    state: QAccessible.State
    object: QObject | None
    labels: tuple[str, ...]
    """Names of what labels it."""
    path: str
    beside: bool
    """Whether it is a cell beside the first of its row."""

    @property
    def where(self) -> str:
        """Words for a failure."""
        kind = type(self.object).__name__ if self.object is not None else "-"
        return f"{self.path}: {self.role.name} {kind} {self.name!r}"

    @property
    def takes_tab(self) -> bool:
        """Whether it is a widget that Tab reaches."""
        widget = self.object
        return isinstance(widget, QWidget) and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def tree(top: QWidget) -> list[Told]:
    """Everything visible of a window, parents before children."""
    interface = QAccessible.queryAccessibleInterface(top)
    assert interface is not None, top
    return list(_walk(interface, type(top).__name__))


def _walk(interface: QAccessibleInterface, path: str) -> Iterator[Told]:
    assert interface.isValid(), path
    state = interface.state()
    if state.invisible:
        return
    name = interface.text(Text.Name)
    labels = tuple(
        other.text(Text.Name)
        for other, relation in interface.relations(QAccessible.RelationFlag.Label)
        if relation & QAccessible.RelationFlag.Label
    )
    cell = interface.tableCellInterface()
    yield Told(
        interface.role(),
        name,
        interface.text(Text.Description),
        interface.text(Text.Value),
        state,
        interface.object(),
        labels,
        path,
        cell is not None and cell.columnIndex() > 0,
    )
    for number in range(min(MOST_CHILDREN, interface.childCount())):
        child = interface.child(number)
        assert child is not None, f"child {number} of {path} is missing"
        kind = type(child.object()).__name__ if child.object() is not None else child.role().name
        yield from _walk(child, f"{path}/{kind}")


def complaints(told: Iterable[Told]) -> list[str]:
    """What somebody who cannot see the window would miss, a line each."""
    everything = list(told)
    found = [f"{problem}: {one.where}" for one in everything for problem in _problems_of(one)]
    found.extend(_twins(everything))
    return found


def _problems_of(one: Told) -> Iterator[str]:
    state = one.state
    if one.takes_tab and one.role not in FOCUSABLE:
        yield "takes the focus, and nobody knows as what"
    named = one.name.strip() or (one.role is Role.ComboBox and any(one.labels))
    # Cells beside the first may be empty.
    wants_name = one.takes_tab or one.role in CONTROLS or (one.role in ITEMS and not one.beside)
    if wants_name and not named:
        yield "has no name"
    if one.role is Role.ComboBox and not any(one.labels):
        # Its name is its value on some systems.
        yield "has no label that says what is chosen"
    for text in (one.name, one.description):
        if text.startswith("<") or "<br>" in text or "&lt;" in text:
            yield f"reads markup aloud ({text!r})"
        if "\x1e" in text or "QVariant" in text:
            yield f"reads what nobody wrote ({text!r})"
    if one.role is Role.Client and one.name and one.object is not None and one.object.isWidgetType():
        yield "has a name, and nobody knows what it is"
    if isinstance(one.object, QLineEdit) and one.takes_tab and one.role is not Role.EditableText:
        yield "is a field, but is not told as one"
    if one.role is Role.CheckBox and not state.checkable:
        yield "cannot be checked"


def _twins(everything: list[Told]) -> Iterator[str]:
    """Buttons that are told alike: nobody could know which is which."""
    seen: dict[tuple[str, str, str], Told] = {}
    for one in everything:
        if one.role not in {Role.Button, Role.ButtonMenu, Role.CheckBox, Role.EditableText, Role.Link}:
            continue
        if not one.takes_tab:
            continue
        key = (one.role.name, one.name, one.description)
        if key in seen:
            yield f"cannot be told from {seen[key].path}: {one.where}"
        seen[key] = one
