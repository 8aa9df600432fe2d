"""Everything that can be done in the window by name: type a part of it, Enter does it.

The actions of its menus, and what is on view does: a log, the list of runs, buttons, choices, tabs.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QFontMetrics, QIcon, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QListView,
    QMainWindow,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from app.commands import Command, commands_of
from app.fields import FIELD_HEIGHT, OutlinedField
from app.painting import paint_method, saved
from app.plain_text import plain_tool_tip
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font, theme

Index = QModelIndex | QPersistentModelIndex
COMMAND_ROLE = Qt.ItemDataRole.UserRole + 1
_NO_INDEX = QModelIndex()
_WIDTH, _ROWS = 560, 12
_MARGIN, _ICON = 12, 16
_LONGEST = 60
"""Average characters that a row has room for, at least."""


def rank(command: Command, words: Iterable[str]) -> int | None:
    """How well a command fits (0: best); None: a word of the search is neither in its name nor begins one of
    its place. A place that is a whole sentence, as a notice's is, says too much to be looked in."""
    worst = 0
    name, place = command.name.casefold(), command.place.casefold()
    place = f" {place}" if len(place) <= _LONGEST else ""
    for word in words:
        if name.startswith(word):
            fit = 0
        elif f" {word}" in name:
            fit = 1
        elif word in name:
            fit = 2
        elif f" {word}" in place:
            fit = 3
        else:
            return None
        worst = max(worst, fit)
    return worst


class CommandList(QAbstractListModel):
    """The commands that fit a search: what can be done first, then by fit; what was done lately leads."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[Command] = []
        self._shown: list[Command] = []
        self._latest: list[str] = []

    def fill(self, commands: list[Command]) -> None:
        """Offer these."""
        self._all = commands
        self.search("")

    def remember(self, command: Command) -> None:
        """It was just done."""
        known = [name for name in self._latest if name != command.name]
        self._latest = [command.name, *known][:_ROWS]

    def search(self, text: str) -> None:
        """Show what fits."""
        words = text.casefold().split()
        found: list[tuple[tuple[bool, int, int, int], Command]] = []
        for number, command in enumerate(self._all):
            fit = rank(command, words)
            if fit is not None:
                lately = (
                    self._latest.index(command.name) if command.name in self._latest else len(self._latest)
                )
                found.append(((not command.able, fit, lately, number), command))
        self.beginResetModel()
        self._shown = [command for _, command in sorted(found, key=lambda pair: pair[0])]
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        command = self._shown[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return command.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(command)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tool_tip(command.why_not or command.action.toolTip())
            case _ if role == COMMAND_ROLE:
                return command
        return None

    def _spoken(self, command: Command) -> str:
        state = "" if command.able else command.why_not or self.tr("not possible now")
        checked = self.tr("on") if command.action.isChecked() else ""
        return ", ".join(part for part in (command.name, command.place, command.keys, checked, state) if part)


class _CommandDelegate(QStyledItemDelegate):
    """Icon, name, where its menu is, and its keys at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        del option, index
        return QSize(100, QFontMetrics(font()).height() + 12)

    @paint_method
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        command = index.data(COMMAND_ROLE)
        if not isinstance(command, Command):
            return
        colors = theme()
        with saved(painter):
            box: QRect = option.rect
            enabled = command.able
            if option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(box, colors.color("accent_soft"))
                painter.fillRect(box.left(), box.top(), 3, box.height(), colors.color("accent"))
            elif option.state & QStyle.StateFlag.State_MouseOver and enabled:
                painter.fillRect(box, colors.color("raised"))
            self._paint_icon(painter, box, command.action, able=enabled)
            painter.setFont(font())
            metrics = QFontMetrics(font())
            right = box.right() - _MARGIN
            keys_width = metrics.horizontalAdvance(command.keys)
            middle = Qt.AlignmentFlag.AlignVCenter
            painter.setPen(colors.color("quiet"))
            painter.drawText(
                box.adjusted(0, 0, -_MARGIN, 0), middle | Qt.AlignmentFlag.AlignRight, command.keys
            )
            left = box.left() + _MARGIN + _ICON + 8
            room = right - left - (keys_width + 16 if keys_width else 0)
            # What cannot be done now is read, too: below stands why.
            painter.setPen(colors.color("text" if enabled else "quiet"))
            name = metrics.elidedText(command.name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRect(left, box.top(), room, box.height()), middle, name)
            used = metrics.horizontalAdvance(name) + 12
            if room - used > 40:
                painter.setFont(font(TextSize.SMALL))
                painter.setPen(colors.color("quiet"))
                words = [command.place, "" if enabled else self.tr("not now")]
                place = QFontMetrics(font(TextSize.SMALL)).elidedText(
                    " · ".join(filter(None, words)), Qt.TextElideMode.ElideRight, room - used
                )
                painter.drawText(QRect(left + used, box.top(), room - used, box.height()), middle, place)

    def _paint_icon(self, painter: QPainter, box: QRect, action: QAction, *, able: bool) -> None:
        place = QRectF(box.left() + _MARGIN, box.center().y() - _ICON / 2 + 1, _ICON, _ICON).toRect()
        if action.isCheckable() and action.isChecked():
            painter.setPen(theme().color("accent"))
            painter.setFont(font(bold=True))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, "✓")
            return
        mode = QIcon.Mode.Normal if able else QIcon.Mode.Disabled
        action.icon().paint(painter, place, mode=mode)


class CommandPalette(QFrame):
    """A popup over the top of the window."""

    done = Signal(str)
    """An action was done; its name."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window, Qt.WindowType.Popup)
        self._window = window
        self.setFrameShape(QFrame.Shape.Box)
        self.setForegroundRole(QPalette.ColorRole.Mid)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(self.tr("All actions"))
        self.commands = CommandList(self)
        self.field = OutlinedField(self)
        self.field.setPlaceholderText(self.tr("Search actions, such as “parallel” or “dark”"))
        self.field.setAccessibleName(self.tr("Search actions"))
        self.field.setMinimumHeight(FIELD_HEIGHT)
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.list = QListView(self)
        use_thin_scroll_bars(self.list)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setModel(self.commands)
        self.list.setItemDelegate(_CommandDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setAccessibleName(self.tr("Actions"))
        self.list.clicked.connect(self._do)
        self.nothing = QLabel(self.tr("No action has these words in its name."), self)
        self.nothing.setFont(font())
        self.nothing.setWordWrap(True)
        self.nothing.setMargin(_MARGIN)
        self.reason = QLabel(self)
        """Why what is selected cannot be done now."""
        self.reason.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setFont(font(TextSize.SMALL))
        self.reason.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.reason.setWordWrap(True)
        self.reason.setContentsMargins(_MARGIN, 0, _MARGIN, 4)
        self.list.selectionModel().currentChanged.connect(self._explain)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self.field)
        layout.addWidget(self.nothing)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.reason)
        self.nothing.hide()
        self.reason.hide()

    @Slot()
    def open(self) -> None:
        """Show what can be done now, and take what is typed."""
        self.commands.fill(commands_of(self._window))
        self.field.clear()
        wanted = max(_WIDTH, QFontMetrics(font()).averageCharWidth() * _LONGEST)
        width = min(wanted, self._window.width() - 32)
        self.setFixedWidth(width)
        corner = QPoint((self._window.width() - self.width()) // 2, 56)
        self.move(self._window.mapToGlobal(corner))
        self._search("")
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    @Slot(str)
    def _search(self, text: str) -> None:
        self.commands.search(text)
        self.list.setCurrentIndex(self.commands.index(0, 0))
        self.list.scrollToTop()
        count = self.commands.rowCount()
        self.nothing.setVisible(not count)
        self.list.setVisible(bool(count))
        height = self.list.sizeHintForRow(0) * min(count, _ROWS)
        self.list.setFixedHeight(max(0, min(height, self._window.height() - 160)))
        self._explain(self.list.currentIndex())
        self.adjustSize()

    @Slot(QModelIndex)
    def _explain(self, index: QModelIndex) -> None:
        command = index.data(COMMAND_ROLE) if index.isValid() else None
        shown = isinstance(command, Command) and not command.able
        if isinstance(command, Command) and shown:
            self.reason.setText(command.why_not or self.tr("This is not possible now."))
        if self.reason.isHidden() == shown:
            self.reason.setHidden(not shown)
            self.adjustSize()

    @Slot(QModelIndex)
    def _do(self, index: QModelIndex) -> None:
        command = index.data(COMMAND_ROLE) if index.isValid() else None
        if not isinstance(command, Command) or not command.able:
            return
        self.hide()
        self.commands.remember(command)
        command.action.trigger()
        self.done.emit(command.name)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Arrows and Enter of the field work on the list."""
        if watched is not self.field or not isinstance(event, QKeyEvent):
            return False
        if event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._do(self.list.currentIndex())
            return True
        page = max(1, self.list.viewport().height() // max(1, self.list.sizeHintForRow(0)) - 1)
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self.commands.rowCount():
            return False
        row = self.list.currentIndex().row() + step
        if abs(step) == 1:
            row %= self.commands.rowCount()
        row = min(self.commands.rowCount() - 1, max(0, row))
        self.list.setCurrentIndex(self.commands.index(row, 0))
        return True
