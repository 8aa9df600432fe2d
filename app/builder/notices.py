"""Small painted notices around the workflow: that it is locked, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.labels import SectionLabel
from app.plain_text import plain_tool_tip
from app.scroll_bar import use_thin_scroll_bars
from app.theme import font, is_appearance_event, paint_icon, theme
from core.problems import Problem, Severity

PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 1
MARGIN = 12
ICON = 14


class LockedNotice(QWidget):
    """One sentence: the workflow cannot be changed at present, and why."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""

    def say(self, text: str) -> None:
        """Show another sentence."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(200, self.heightForWidth(self.width()))

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._text_box(width).height() + 16

    def _text_box(self, width: int) -> QRect:
        room = QRect(MARGIN + ICON + 8, 8, max(40, width - 2 * MARGIN - ICON - 8), 1000)
        return QFontMetrics(font()).boundingRect(room, Qt.TextFlag.TextWordWrap, self.text)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        painter = QPainter(self)
        painter.fillRect(self.rect(), colors.color("accent_soft"))
        paint_icon(painter, "info", QRectF(MARGIN, 9, ICON, ICON), colors.color("accent"))
        painter.setFont(font())
        painter.setPen(colors.color("text"))
        painter.drawText(
            self._text_box(self.width()).adjusted(0, 0, 4, 0), Qt.TextFlag.TextWordWrap, self.text
        )


class _ProblemDelegate(QStyledItemDelegate):
    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        widget = option.widget
        width = widget.viewport().width() if isinstance(widget, QAbstractItemView) else 300
        return QSize(width, _problem_box(index, QRect(0, 0, width, 0)).height() + 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        problem = index.data(PROBLEM_ROLE)
        if not isinstance(problem, Problem):
            return
        colors = theme()
        painter.save()
        if option.state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            painter.fillRect(option.rect, colors.color("accent_soft"))
        error = problem.severity is Severity.ERROR
        tone: QColor = colors.color("failed" if error else "quiet")
        icon_box = QRectF(option.rect.left() + MARGIN, option.rect.top() + 5, ICON, ICON)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_icon(painter, "triangle-alert" if error else "info", icon_box, tone)
        painter.setFont(font())
        painter.setPen(colors.color("text"))
        painter.drawText(
            _problem_box(index, option.rect).adjusted(0, 0, 4, 4),
            Qt.TextFlag.TextWordWrap,
            str(index.data(Qt.ItemDataRole.DisplayRole)),
        )
        painter.restore()


def _problem_box(index: QModelIndex | QPersistentModelIndex, row: QRect) -> QRect:
    left = row.left() + MARGIN + ICON + 8
    room = QRect(left, row.top() + 4, max(40, row.right() - MARGIN - left), 10_000)
    text = str(index.data(Qt.ItemDataRole.DisplayRole))
    return QFontMetrics(font()).boundingRect(room, Qt.TextFlag.TextWordWrap, text)


class ProblemList(QWidget):
    """What is wrong with the workflow, one sentence each. Hidden while nothing is.

    Signals: `opened(Problem)` when the user asks for its place.
    """

    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items = QStandardItemModel(self)
        self.list = QListView(self)
        self.list.setModel(self._items)
        self.list.setItemDelegate(_ProblemDelegate(self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_scroll_bars(self.list, self.backgroundRole())
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.setAccessibleName(self.tr("Problems"))
        self.list.viewport().setBackgroundRole(self.backgroundRole())
        self.list.clicked.connect(self._open)
        self.list.activated.connect(self._open)
        label = SectionLabel(self.tr("Problems"), self)
        label.setContentsMargins(MARGIN, 8, 0, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 8)
        layout.setSpacing(0)
        layout.addWidget(label)
        layout.addWidget(self.list)
        self.hide()

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show these problems."""
        self._items.clear()
        for problem in problems:
            item = QStandardItem(f"{problem.message} {problem.suggestion}".strip())
            # A place to break long names of agents and keys.
            item.setText(item.text().replace("_", "_\u200b").replace("/", "/\u200b"))
            item.setData(problem, PROBLEM_ROLE)
            item.setToolTip(plain_tool_tip(problem.text()))
            item.setEditable(False)
            self._items.appendRow(item)
        self.setVisible(bool(problems))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "list"):
            self.list.viewport().update()

    def _fit(self) -> None:
        """As high as the problems need, up to 160 pixels; more scroll."""
        rows = sum(self.list.sizeHintForRow(row) for row in range(self._items.rowCount()))
        self.list.setFixedHeight(max(24, min(rows + 2, 160)))

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        problem = index.data(PROBLEM_ROLE)
        if isinstance(problem, Problem):
            self.opened.emit(problem)
