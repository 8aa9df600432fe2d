"""The problems of the workflow: a sentence each, what to do about it as a link, and the way to its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
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
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.builder.words import tr
from app.focus_line import FocusLine
from app.labels import SectionLabel
from app.plain_text import plain_tool_tip
from app.problem_fixes import fix_words
from app.problem_text import problem_line
from app.reading_text import harmless
from app.scroll_bar import use_thin_scroll_bars
from app.theme import RADIUS, font, is_appearance_event, paint_icon, theme
from core.problems import Problem, Severity

PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 1
MARGIN = 12
ICON = 14
_ABOVE, _BELOW = 4, 4
_LEAST_HEIGHT = 160
_SHARE = 0.35
"""Of the view around it that the list may take; what is more scrolls."""
_SIGNS = {
    Severity.ERROR: ("circle-x", "failed"),
    Severity.WARNING: ("triangle-alert", "failed"),
    Severity.HINT: ("info", "quiet"),
}
"""Icon and colour; no two share their shape."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What a row says: a sentence, and the link behind it (empty: there is none)."""

    sentence: str
    link: str = ""

    @property
    def text(self) -> str:
        return f"{self.sentence} {self.link}" if self.link else self.sentence


def _words_of(problem: Problem, editable: bool, settings_files: Collection[Path]) -> _Words:
    message = harmless(problem.message).replace("\n", " ")
    if problem.file is not None and problem.file in settings_files:
        # Nothing else in the window shows that file.
        message = harmless(problem_line(problem, Path())).replace("\n", " ")
        return _Words(message, harmless(tr("Open {0}").format(problem.file.name)))
    if problem.fix is None or not editable:
        return _Words(f"{message} {harmless(problem.suggestion)}".strip().replace("\n", " "))
    return _Words(message, harmless(fix_words(problem.fix)))


class _Text:
    """The words of a row, set in lines of a width."""

    def __init__(self, words: _Words, width: int, *, underlined: bool = False) -> None:
        self._words = words
        option = QTextOption()
        # Names of agents and paths have no spaces.
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.layout = QTextLayout(words.text, font())
        self.layout.setTextOption(option)
        if words.link:
            link = QTextLayout.FormatRange()
            link.start, link.length = len(words.sentence) + 1, len(words.link)
            form = QTextCharFormat()
            form.setForeground(theme().color("accent"))
            form.setFontUnderline(underlined)
            link.format = form
            self.layout.setFormats([link])
        self.layout.beginLayout()
        height = 0.0
        while (line := self.layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
        self.layout.endLayout()
        self.height = round(height + 0.5)

    def is_link(self, point: QPointF) -> bool:
        """Whether the link stands at a point."""
        if not self._words.link:
            return False
        for number in range(self.layout.lineCount()):
            line = self.layout.lineAt(number)
            if line.rect().top() <= point.y() < line.rect().bottom():
                inside = line.naturalTextRect().contains(point)
                at = line.xToCursor(point.x(), line.CursorPosition.CursorOnCharacter)
                return inside and at > len(self._words.sentence)
        return False


def _text_room(row: QRect) -> QRect:
    """Where the words of a row stand."""
    left = row.left() + MARGIN + ICON + 8
    return QRect(left, row.top() + _ABOVE, max(40, row.right() - MARGIN - left), row.height())


class _ProblemDelegate(QStyledItemDelegate):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.editable = True
        self.settings_files: Collection[Path] = ()
        """Files whose problems are opened elsewhere."""
        self.lit: QPersistentModelIndex | None = None
        """The row whose link the mouse is over."""

    def words(self, index: QModelIndex | QPersistentModelIndex) -> _Words:
        """What a row says at present."""
        problem = index.data(PROBLEM_ROLE)
        return (
            _words_of(problem, self.editable, self.settings_files)
            if isinstance(problem, Problem)
            else _Words("")
        )

    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        widget = option.widget
        width = widget.viewport().width() if isinstance(widget, QAbstractItemView) else 300
        room = _text_room(QRect(0, 0, width, 0))
        height = max(ICON, _Text(self.words(index), room.width()).height)
        return QSize(width, height + _ABOVE + _BELOW)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        problem = index.data(PROBLEM_ROLE)
        if not isinstance(problem, Problem):
            return
        colors = theme()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            painter.fillRect(option.rect, colors.color("raised"))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(colors.color("accent"), 1.5))
            painter.drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), RADIUS, RADIUS)
        name, tone = _SIGNS[problem.severity]
        room = _text_room(option.rect)
        lit = self.lit is not None and self.lit == index
        text = _Text(self.words(index), room.width(), underlined=lit)
        top = room.top() + (text.layout.lineAt(0).height() - ICON) / 2 if text.layout.lineCount() else 0
        icon_box = QRectF(option.rect.left() + MARGIN, top, ICON, ICON)
        paint_icon(painter, name, icon_box, colors.color(tone))
        painter.setPen(colors.color("text"))
        text.layout.draw(painter, QPointF(room.topLeft()))
        painter.restore()


class _ProblemView(QListView):
    """Signals: `fix_requested(QModelIndex)` for a link that was clicked; `place_requested(QModelIndex)`."""

    fix_requested = Signal(QModelIndex)
    place_requested = Signal(QModelIndex)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.delegate = _ProblemDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self._pressed_link = QPersistentModelIndex()
        self._on_link = False
        self.clicked.connect(self._click)

    def link_at(self, point: QPoint) -> QModelIndex:
        """The row whose link stands at a point of the viewport; an invalid index: none does."""
        index = self.indexAt(point)
        if not index.isValid():
            return QModelIndex()
        room = _text_room(self.visualRect(index))
        text = _Text(self.delegate.words(index), room.width())
        return index if text.is_link(QPointF(point - room.topLeft())) else QModelIndex()

    @Slot(QModelIndex)
    def _click(self, index: QModelIndex) -> None:
        if not self._on_link:
            self.place_requested.emit(index)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._pressed_link = QPersistentModelIndex(self.link_at(event.position().toPoint()))
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        link = self.link_at(event.position().toPoint())
        is_same = link.isValid() and self._pressed_link == link
        self._on_link = event.button() is Qt.MouseButton.LeftButton and is_same
        super().mouseReleaseEvent(event)
        if self._on_link:
            self._on_link = False
            self.fix_requested.emit(link)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._light(self.link_at(event.position().toPoint()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self._light(QModelIndex())
        super().leaveEvent(event)

    def _light(self, index: QModelIndex) -> None:
        lit = QPersistentModelIndex(index) if index.isValid() else None
        if lit != self.delegate.lit:
            self.delegate.lit = lit
            shape = Qt.CursorShape.PointingHandCursor if lit is not None else Qt.CursorShape.ArrowCursor
            self.viewport().setCursor(shape)
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        index = self.currentIndex()
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain and index.isValid():
            self.place_requested.emit(index)
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and event.reason() is not Qt.FocusReason.MouseFocusReason:
            self.setCurrentIndex(self.model().index(0, 0))


class ProblemList(QWidget):
    """What is wrong with the workflow, one sentence each, with a link where one edit would solve it. Hidden
    while nothing is wrong.

    Enter or a click goes to the place, Ctrl+. or the link makes the edit, and a menu has both.

    Signals: `opened(Problem)` when the user asks for its place; `fix_wanted(Problem)` for one with a fix.
    """

    opened = Signal(object)
    fix_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items = QStandardItemModel(self)
        self.list = _ProblemView(self)
        self.list.setModel(self._items)
        use_thin_scroll_bars(self.list, self.backgroundRole())
        FocusLine(self.list)
        self.list.setAccessibleName(self.tr("Problems"))
        self.list.viewport().setBackgroundRole(self.backgroundRole())
        self.list.place_requested.connect(self._open)
        self.list.fix_requested.connect(self._fix)
        self.list.selectionModel().currentChanged.connect(self._show_actions)
        self.go_action = self._action(self.tr("Go to its place"), None, self._open_current)
        self.fix_action = self._action("", QKeySequence("Ctrl+."), self._fix_current)
        self.copy_action = self._action(
            self.tr("Copy"), QKeySequence(QKeySequence.StandardKey.Copy), self._copy_current
        )
        label = SectionLabel(self.tr("Problems"), self)
        label.setContentsMargins(MARGIN, 8, 0, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 8)
        layout.setSpacing(0)
        layout.addWidget(label)
        layout.addWidget(self.list)
        self.setFocusProxy(self.list)
        self.hide()
        self._show_actions()
        if parent is not None:
            parent.installEventFilter(self)

    def _action(self, text: str, key: QKeySequence | None, do: Callable[[], None]) -> QAction:
        action = QAction(text, self.list)
        if key is not None:
            action.setShortcut(key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(do)
        self.list.addAction(action)
        return action

    # --- what is shown ---------------------------------------------------------------------------------

    def show_problems(self, problems: Sequence[Problem], settings_files: Collection[Path] = ()) -> None:
        """Show these problems; who was at one of them stays there, or near it.

        `settings_files`: files that are no part of the workflow; a problem of one names it and links to it.
        """
        self.list.delegate.settings_files = settings_files
        row, at = self.list.currentIndex().row(), self._current()
        bar = self.list.verticalScrollBar()
        scrolled = bar.value()
        self.list.delegate.lit = None
        self._items.clear()
        for problem in problems:
            item = QStandardItem()
            item.setData(problem, PROBLEM_ROLE)
            item.setEditable(False)
            self._items.appendRow(item)
        self._say()
        had_focus = self.list.hasFocus()
        self.setVisible(bool(problems))
        self._fit()
        bar.setValue(scrolled)
        if problems and row >= 0:
            same = next((number for number, each in enumerate(problems) if each == at), None)
            row = min(row, len(problems) - 1) if same is None else same
            self.list.setCurrentIndex(self._items.index(row, 0))
        elif had_focus and not problems:
            self.focusNextChild()
        self._show_actions()

    def set_editable(self, editable: bool) -> None:
        """Whether fixes can be made at present."""
        if editable != self.list.delegate.editable:
            self.list.delegate.editable = editable
            self._say()
            self._fit()
            self.list.doItemsLayout()
            self._show_actions()

    def _say(self) -> None:
        """What is read out, and what tool tips say."""
        names = {
            Severity.ERROR: self.tr("Error"),
            Severity.WARNING: self.tr("Warning"),
            Severity.HINT: self.tr("Hint"),
        }
        key = self.fix_action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        for row in range(self._items.rowCount()):
            item = self._items.item(row)
            problem = item.data(PROBLEM_ROLE)
            words = self.list.delegate.words(item.index())
            said = f"{names[problem.severity]}: {words.sentence}"
            if words.link and problem.fix is not None:
                said += " " + self.tr("Offered: {0} ({1}).").format(words.link, key)
            item.setText(words.text)
            item.setData(said, Qt.ItemDataRole.AccessibleTextRole)
            item.setToolTip(plain_tool_tip(harmless(problem.text())))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Resize and watched is self.parent():
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "list"):
            self.list.viewport().update()

    def _fit(self) -> None:
        """As high as the problems need, up to a share of the view; more scroll."""
        around = self.parentWidget()
        most = max(_LEAST_HEIGHT, round((around.height() if around is not None else 0) * _SHARE))
        height = 2
        for row in range(self._items.rowCount()):
            height += self.list.sizeHintForRow(row)
            if height >= most:
                break
        self.list.setFixedHeight(max(24, min(height, most)))

    # --- what the user does ----------------------------------------------------------------------------

    def _problem(self, index: QModelIndex) -> Problem | None:
        problem = index.data(PROBLEM_ROLE)
        return problem if isinstance(problem, Problem) else None

    def _current(self) -> Problem | None:
        return self._problem(self.list.currentIndex())

    @Slot()
    def _show_actions(self) -> None:
        problem = self._current()
        can_fix = problem is not None and problem.fix is not None and self.list.delegate.editable
        self.go_action.setEnabled(problem is not None)
        self.copy_action.setEnabled(problem is not None)
        self.fix_action.setEnabled(can_fix)
        self.fix_action.setVisible(can_fix)
        if problem is not None and problem.fix is not None:
            self.fix_action.setText(harmless(fix_words(problem.fix)).replace("&", "&&"))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        if self._current() is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.fix_action, self.go_action, self.copy_action])
        where = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            row = self.list.visualRect(self.list.currentIndex())
            where = self.list.viewport().mapToGlobal(row.center())
        # Not exec: a nested loop would hold up every coroutine of a run.
        menu.popup(where)

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        problem = self._problem(index)
        if problem is not None:
            self.opened.emit(problem)

    @Slot(QModelIndex)
    def _fix(self, index: QModelIndex) -> None:
        problem = self._problem(index)
        if problem is not None and problem.fix is None:
            self.opened.emit(problem)
        elif problem is not None and self.list.delegate.editable:
            self.fix_wanted.emit(problem)

    @Slot()
    def _open_current(self) -> None:
        self._open(self.list.currentIndex())

    @Slot()
    def _fix_current(self) -> None:
        self._fix(self.list.currentIndex())

    @Slot()
    def _copy_current(self) -> None:
        problem = self._current()
        if problem is not None:
            QGuiApplication.clipboard().setText(problem.text())
