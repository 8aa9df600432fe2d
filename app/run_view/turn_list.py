"""All turns of a run as a list that one searches: tabs stop being a way to find things at twenty."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSortFilterProxyModel, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QListView, QVBoxLayout, QWidget

from app.fields import FIELD_HEIGHT, OutlinedField
from app.scroll_bar import use_thin_scroll_bars
from app.theme import STATUS_ICONS, font, icon, is_appearance_event, theme
from core.events import TurnStatus
from core.progress_words import duration_words
from core.turn_progress import TurnProgress

_LEAST_WIDTH, _LEAST_HEIGHT = 300, 120
_MOST_ROWS = 14
TURN_ROLE = Qt.ItemDataRole.UserRole + 1
STATUS_TOKENS = {
    TurnStatus.WAITING: "quiet",
    TurnStatus.RUNNING: "accent",
    TurnStatus.SUCCEEDED: "succeeded",
    TurnStatus.FAILED: "failed",
    TurnStatus.STOPPED: "quiet",
}


def status_words(status: TurnStatus, parent: QObject) -> str:
    """A status in a word."""
    return {
        TurnStatus.WAITING: parent.tr("waiting"),
        TurnStatus.RUNNING: parent.tr("running"),
        TurnStatus.SUCCEEDED: parent.tr("succeeded"),
        TurnStatus.FAILED: parent.tr("failed"),
        TurnStatus.STOPPED: parent.tr("stopped"),
    }[status]


class TurnList(QFrame):
    """A popup: type a part of a name or a status, Enter opens it.

    Signals: `chosen(str)` with a turn's id.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._items = QStandardItemModel(self)
        self.filtered = QSortFilterProxyModel(self)
        self.filtered.setSourceModel(self._items)
        self.filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.field = OutlinedField(self)
        self.field.setMinimumHeight(FIELD_HEIGHT)
        self.field.setPlaceholderText(self.tr("Search turns, such as “vera 3” or “failed”"))
        self.field.setAccessibleName(self.tr("Search turns"))
        self.field.setFont(font())
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self.list = QListView(self)
        use_thin_scroll_bars(self.list)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFont(font(tabular=True))
        self.list.setModel(self.filtered)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setAccessibleName(self.tr("Turns"))
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self.field)
        layout.addWidget(self.list, 1)

    def open_at(self, corner: QPoint, turns: Iterable[TurnProgress], current: str, now: float) -> None:
        """Show these turns, with the top right corner there (in global coordinates)."""
        self._items.clear()
        for turn in turns:
            seconds = turn.seconds(now)
            facts = status_words(turn.status, self)
            if seconds is not None:
                facts = f"{facts} · {duration_words(seconds)}"
            item = QStandardItem(icon(STATUS_ICONS[turn.status], STATUS_TOKENS[turn.status]), "")
            item.setText(f"{turn.title}   {facts}")
            item.setData(turn.id, TURN_ROLE)
            self._items.appendRow(item)
            if turn.id == current:
                self.list.setCurrentIndex(self.filtered.mapFromSource(item.index()))
        self.field.clear()
        self._fit()
        self.move(corner.x() - self.width(), corner.y())
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self.list.scrollTo(self.list.currentIndex())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and self.isVisible():
            self._shade()

    def _shade(self) -> None:
        """Selected rows look as in other lists: the icons keep their colours."""
        colors, shades = theme(), QApplication.palette(self.list)
        shades.setColor(QPalette.ColorRole.Highlight, colors.color("accent_soft"))
        shades.setColor(QPalette.ColorRole.HighlightedText, colors.color("text"))
        self.list.setPalette(shades)

    def _fit(self) -> None:
        """As wide as the words, and as high as whole rows."""
        self._shade()
        words = QFontMetrics(self.field.font()).horizontalAdvance(self.field.placeholderText())
        width = max(_LEAST_WIDTH, words + 40, self.list.sizeHintForColumn(0) + 32)
        rows = min(_MOST_ROWS, max(1, self.filtered.rowCount()))
        height = self.field.sizeHint().height() + rows * self.list.sizeHintForRow(0) + 36
        self.resize(width, max(_LEAST_HEIGHT, height))

    @Slot(str)
    def _filter(self, text: str) -> None:
        self.filtered.setFilterFixedString(text.strip())
        self.list.setCurrentIndex(self.filtered.index(0, 0))

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.hide()
            self.chosen.emit(str(index.data(TURN_ROLE)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Arrows and Enter of the field work on the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self.field:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self.list.currentIndex())
                return True
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 10, Qt.Key.Key_PageUp: -10}
            step = steps.get(Qt.Key(event.key()))
            if step is not None and self.filtered.rowCount():
                row = min(self.filtered.rowCount() - 1, max(0, self.list.currentIndex().row() + step))
                self.list.setCurrentIndex(self.filtered.index(row, 0))
                return True
        return False
