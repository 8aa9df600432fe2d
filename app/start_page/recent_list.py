"""The workflows that were open lately: name, folder, and when the file was changed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.painting import paint_method, saved
from app.plain_text import plain_tool_tip
from app.platform_keys import delete_keys
from app.reading_text import harmless
from app.row_list import RowList
from app.theme import RADIUS, TextSize, font, is_appearance_event, paint_icon, theme

FILE_ROLE = Qt.ItemDataRole.UserRole + 1
_MARGIN, _ICON, _GAP = 12, 16, 12
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class RecentFile:
    """One file of the list. `changed`: seconds since the epoch; None: not known yet. `missing`: it is not
    there any more."""

    path: Path
    changed: float | None = None
    missing: bool = False


def look_at(path: Path) -> RecentFile:
    """What the disk says about a file. For a worker: a network drive may take its time."""
    try:
        return RecentFile(path, path.stat().st_mtime)
    except OSError:
        return RecentFile(path, missing=True)


def _tr(text: str) -> str:
    return QCoreApplication.translate("start_page", text)


def age_in_words(seconds: float) -> str:
    """How long ago something was, roughly: `just now`, `12 minutes ago`, `yesterday`, `3 weeks ago`."""
    if seconds < _MINUTE:
        return _tr("just now")
    if seconds < 2 * _MINUTE:
        return _tr("a minute ago")
    if seconds < _HOUR:
        return _tr("{0} minutes ago").format(int(seconds // _MINUTE))
    if seconds < 2 * _HOUR:
        return _tr("an hour ago")
    if seconds < _DAY:
        return _tr("{0} hours ago").format(int(seconds // _HOUR))
    days = int(seconds // _DAY)
    if days == 1:
        return _tr("yesterday")
    if days < 14:
        return _tr("{0} days ago").format(days)
    if days < 60:
        return _tr("{0} weeks ago").format(days // 7)
    if days < 730:
        return _tr("{0} months ago").format(days // 30)
    return _tr("{0} years ago").format(days // 365)


def folder_in_words(path: Path) -> str:
    """The folder of a file, short where it is below the user's own."""
    try:
        home = Path.home()
    except RuntimeError:
        # Nobody knows where the user's home is.
        return str(path.parent)
    if not path.parent.is_relative_to(home):
        return str(path.parent)
    inside = path.parent.relative_to(home)
    return f"~{os.sep}{inside}" if inside.parts else "~"


class _RecentDelegate(QStyledItemDelegate):
    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        del index
        widget = option.widget
        width = widget.viewport().width() if isinstance(widget, QAbstractItemView) else 300
        return QSize(width, QFontMetrics(font()).height() + QFontMetrics(font(TextSize.SMALL)).height() + 14)

    def remove_box(self, row: QRect) -> QRect:
        """Where the link of a missing file stands that takes it out of the list."""
        width = QFontMetrics(font(TextSize.SMALL)).horizontalAdvance(_tr("Remove")) + 2
        return QRect(row.right() - _MARGIN - width, row.top(), width, row.height())

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        file = index.data(FILE_ROLE)
        if not isinstance(file, RecentFile):
            return
        colors = theme()
        row: QRect = option.rect
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            over = bool(option.state & QStyle.StateFlag.State_MouseOver)
            focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
            if over or focused:
                painter.setPen(QPen(colors.color("accent"), 1.5) if focused else Qt.PenStyle.NoPen)
                painter.setBrush(colors.color("raised"))
                painter.drawRoundedRect(QRectF(row).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
            icon_box = QRectF(row.left() + _MARGIN, row.center().y() - _ICON / 2, _ICON, _ICON)
            tone = colors.color("disabled" if file.missing else "quiet")
            paint_icon(painter, "file-text", icon_box, tone)
            left = row.left() + _MARGIN + _ICON + _GAP
            right = row.right() - _MARGIN
            if file.missing:
                box = self.remove_box(row)
                painter.setFont(font(TextSize.SMALL))
                painter.setPen(colors.color("accent"))
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, _tr("Remove")
                )
                right = box.left() - _GAP
            age = _age(file)
            painter.setFont(font(TextSize.SMALL))
            width = QFontMetrics(painter.font()).horizontalAdvance(age) + 2
            painter.setPen(colors.color("quiet"))
            flags = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(
                QRect(right - width, row.top(), width, row.height()), flags | Qt.AlignmentFlag.AlignRight, age
            )
            room = max(20, right - width - _GAP - left)
            name_height = QFontMetrics(font()).height()
            top = row.top() + 6
            _line(
                painter, QRect(left, top, room, name_height), harmless(file.path.name), missing=file.missing
            )
            painter.setFont(font(TextSize.SMALL))
            painter.setPen(colors.color("quiet"))
            height = QFontMetrics(painter.font()).height()
            folder = QFontMetrics(painter.font()).elidedText(
                harmless(folder_in_words(file.path)), Qt.TextElideMode.ElideMiddle, room
            )
            painter.drawText(QRect(left, top + name_height + 2, room, height), flags, folder)


def _line(painter: QPainter, box: QRect, text: str, *, missing: bool) -> None:
    painter.setFont(font())
    painter.setPen(theme().color("quiet" if missing else "text"))
    shown = QFontMetrics(painter.font()).elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)


def _age(file: RecentFile) -> str:
    if file.missing:
        return _tr("not there any more")
    if file.changed is None:
        return ""
    return _tr("changed {0}").format(age_in_words(time.time() - file.changed))


class RecentList(RowList):
    """As high as its rows: the page around it scrolls. Enter or a click opens, Delete takes out of the list.

    Signals: `chosen(Path)`; `forget_requested(Path)`: take it out of the list.
    """

    chosen = Signal(object)
    forget_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items = QStandardItemModel(self)
        self._delegate = _RecentDelegate(self)
        self.setModel(self._items)
        self.setItemDelegate(self._delegate)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Recent workflows"))
        self.viewport().setAutoFillBackground(False)
        self.clicked.connect(self._click)
        self.row_entered.connect(self._open_current)
        self._pressed = QPoint(-1, -1)
        self.open_action = QAction(self.tr("Open"), self)
        self.open_action.triggered.connect(self._open_current)
        self.remove_action = QAction(self.tr("Remove from this list"), self)
        self.remove_action.setShortcuts(delete_keys())
        self.remove_action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.remove_action.triggered.connect(self._remove_current)
        self.addActions([self.open_action, self.remove_action])

    def show_files(self, files: Sequence[RecentFile]) -> None:
        """Show these files, in this order; who was at one of them stays near it."""
        row = self.currentIndex().row()
        self._items.clear()
        for file in files:
            item = QStandardItem(harmless(file.path.name))
            item.setData(file, FILE_ROLE)
            item.setEditable(False)
            item.setToolTip(plain_tool_tip(harmless(str(file.path))))
            said = ", ".join(filter(None, (file.path.name, folder_in_words(file.path), _age(file))))
            item.setData(harmless(said), Qt.ItemDataRole.AccessibleTextRole)
            self._items.appendRow(item)
        if files and row >= 0:
            self.setCurrentIndex(self._items.index(min(row, len(files) - 1), 0))
        height = sum(self.sizeHintForRow(number) for number in range(self._items.rowCount()))
        self.setFixedHeight(height + 2 if files else 0)

    def files(self) -> list[RecentFile]:
        """What is shown."""
        return [self._items.item(row).data(FILE_ROLE) for row in range(self._items.rowCount())]

    def _file(self, index: QModelIndex) -> RecentFile | None:
        file = index.data(FILE_ROLE)
        return file if isinstance(file, RecentFile) else None

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    @Slot(QModelIndex)
    def _click(self, index: QModelIndex) -> None:
        file = self._file(index)
        if file is None:
            return
        if file.missing and self._delegate.remove_box(self.visualRect(index)).contains(self._pressed):
            self.forget_requested.emit(file.path)
        elif not file.missing:
            self.chosen.emit(file.path)

    @Slot()
    def _open_current(self) -> None:
        file = self._file(self.currentIndex())
        if file is not None:
            self.chosen.emit(file.path)

    @Slot()
    def _remove_current(self) -> None:
        file = self._file(self.currentIndex())
        if file is not None:
            self.forget_requested.emit(file.path)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        row, last = self.currentIndex().row(), self._items.rowCount() - 1
        if (event.key() == Qt.Key.Key_Up and row <= 0) or (event.key() == Qt.Key.Key_Down and row >= last):
            # Beyond its ends the page goes on.
            event.ignore()
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        file = self._file(self.currentIndex())
        if file is None:
            return
        self.open_action.setEnabled(not file.missing)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.open_action, self.remove_action])
        menu.popup(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event):
            self.viewport().update()
