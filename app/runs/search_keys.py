"""Keys that search and list share: one types in the one and chooses in the other without leaving it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.fields import OutlinedField
from app.runs.run_actions import RunActions
from app.runs.run_table import RunTable

_MARGINS = 24
"""Of a field, left and right of its words."""


class SearchField(OutlinedField):
    """Says what can be looked for where there is room to say it, else only what it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._say()
        super().resizeEvent(event)

    def _say(self) -> None:
        words = self.tr("Search: a workflow, an agent, “failed”, a date")
        if QFontMetrics(self.font()).horizontalAdvance(words) > self.width() - _MARGINS:
            words = self.tr("Search runs")
        if words != self.placeholderText():
            self.setPlaceholderText(words)


class SearchKeys(QObject):
    """Arrows and Enter of the search field work on the list, and so do the keys of all actions but those that
    edit text; Escape clears the search.

    Signals: `chose()`: the user chose a run with keys.
    """

    chose = Signal()

    def __init__(self, field: QLineEdit, table: RunTable, actions: RunActions, parent: QWidget) -> None:
        super().__init__(parent)
        self._field = field
        self._table = table
        self._actions = actions
        for widget in (field, table):
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self._field and event.type() == QEvent.Type.ShortcutOverride:
            if isinstance(event, QKeyEvent) and self._actions.has_key(event.keyCombination()):
                # The field would take some of them for its own: Ctrl+E for "to the end of the line".
                event.ignore()
                return True
            return False
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if watched is self._table:
            # Arrows choose, as a click does.
            self.chose.emit()
            return False
        return self._pressed(event)

    def _pressed(self, event: QKeyEvent) -> bool:
        """In the search. Whether it is done with that."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._actions.open.trigger()
            return True
        if event.key() == Qt.Key.Key_Escape and self._field.text():
            self._field.clear()
            return True
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        count = self._table.model().rowCount()
        if step is None or not count:
            return False
        row = min(count - 1, max(0, self._table.currentIndex().row() + step))
        self.chose.emit()
        self._table.choose(self._table.model().index(row, 0))
        return True
