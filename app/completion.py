"""Completion in a line of text: a list of what the word at the caret may become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.first_paint import after_first_paint
from app.scroll_bar import use_thin_scroll_bars

MOST_SHOWN = 12
_GAP = 4
"""Pixels below what stands under the field."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What may stand instead of the characters from `start` to `end`."""

    start: int
    end: int
    texts: tuple[str, ...]


Suggest = Callable[[str, int, bool], Suggestions]
"""Gives suggestions for a text, the position of the caret in it, and whether the user asked for them: then
also where nothing was typed yet."""


class FieldCompletion(QObject):
    """Offers suggestions while a field is typed into, and at Ctrl+Space.

    Return takes the chosen one; Tab, too, and where none is chosen the first.

    A suggestion that is taken counts as typed: the field emits `textEdited`. `free`: what is typed may be
    something new, so none is chosen until an arrow chooses it, and Return is the field's. `below`: what
    stands under the field and is not to be covered, while it is visible.
    """

    def __init__(
        self, field: QLineEdit, suggest: Suggest, *, free: bool = False, below: QWidget | None = None
    ) -> None:
        super().__init__(field)
        self._below = below
        self._field = field
        self._free = free
        self._suggest = suggest
        self._now = Suggestions(0, 0, ())
        self._taking = False
        # Nobody types before it.
        after_first_paint(self._make_list)

    def _make_list(self) -> None:
        from PySide6.QtCore import QStringListModel
        from PySide6.QtWidgets import QCompleter, QListView

        field = self._field
        self._model = QStringListModel(self)
        self._completer = QCompleter(self._model, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setMaxVisibleItems(MOST_SHOWN)
        self._completer.setWidget(field)
        self.popup = QListView()
        use_thin_scroll_bars(self.popup)
        self._completer.setPopup(self.popup)
        self.popup.setFont(field.font())
        self.popup.setAccessibleName(self.tr("Suggestions"))
        self.popup.clicked.connect(self._take)
        # After the completer's own filter, so that this one is asked first.
        self.popup.installEventFilter(self)
        field.installEventFilter(self)
        field.textEdited.connect(self._typed)

    @Slot(str)
    def _typed(self) -> None:
        if not self._taking:
            self.offer()

    def offer(self, *, asked: bool = False) -> None:
        """Show what the word at the caret may become; nothing where there is nothing to choose."""
        self._now = self._suggest(self._field.text(), self._field.cursorPosition(), asked)
        typed = self._field.text()[self._now.start : self._now.end]
        if not self._now.texts or self._now.texts == (typed,):
            self.popup.hide()
            return
        self._model.setStringList(list(self._now.texts))
        self.popup.setFont(self._field.font())
        self._completer.complete(self._beside())
        self.popup.setCurrentIndex(QModelIndex() if self._free else self._model.index(0))

    def _beside(self) -> QRect:
        """What the list stands below (or above, at the end of the screen), as the field counts."""
        field, below = self._field, self._below
        if below is None or not below.isVisible():
            return QRect(0, 0, field.width(), field.height() - 1)
        parent = below.parentWidget()
        around = parent.layout() if parent is not None else None
        if around is not None:
            # What is said there changed with this letter.
            around.activate()
        bottom = field.mapFromGlobal(below.mapToGlobal(below.rect().bottomLeft())).y()
        return QRect(0, 0, field.width(), max(field.height() - 1, bottom + _GAP))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        key = Qt.Key(event.key())
        if watched is self._field:
            if key == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
                self.offer(asked=True)
                return True
            return False
        index = self.popup.currentIndex()
        if key == Qt.Key.Key_Tab and not index.isValid():
            index = self._model.index(0)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab) and index.isValid():
            self._take(index)
            return True
        return False

    @Slot(QModelIndex)
    def _take(self, index: QModelIndex) -> None:
        now, text = self._now, str(index.data())
        self.popup.hide()
        self._taking = True
        self._field.setSelection(now.start, now.end - now.start)
        if now.end == now.start:
            self._field.setCursorPosition(now.start)
        self._field.insert(text)
        # `insert` is no typing to Qt.
        self._field.textEdited.emit(self._field.text())
        self._taking = False
