"""The problems of the workflow: a sentence each, what to do about it as a link, and the way to its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QElapsedTimer,
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
    QApplication,
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
from app.severity import SIGNS, severity_name
from app.theme import RADIUS, font, is_appearance_event, paint_icon, theme
from core.problems import Problem

PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 1
MARGIN = 12
ICON = 14
_ABOVE, _BELOW = 4, 4
_LEAST_HEIGHT = 96
_SHARE = 1 / 3
"""Of the view around it that the list may take; what is more scrolls."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What a row says: a sentence, and the links behind it."""

    sentence: str
    links: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join((self.sentence, *([_BETWEEN.join(self.links)] if self.links else ())))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where the links stand in the text, each with its first character and the one after its last."""
        spans, at = [], len(self.sentence) + 1
        for link in self.links:
            spans.append((at, at + len(link)))
            at += len(link) + len(_BETWEEN)
        return spans


_BETWEEN = " · "


def _words_of(problem: Problem, editable: bool, settings_files: Collection[Path]) -> _Words:
    message = harmless(problem.message).replace("\n", " ")
    if problem.file is not None and problem.file in settings_files:
        # Nothing else in the window shows that file.
        message = harmless(problem_line(problem, Path())).replace("\n", " ")
        return _Words(message, (harmless(tr("Open {0}").format(problem.file.name)),))
    if problem.fix is None or not editable:
        return _Words(f"{message} {harmless(problem.suggestion)}".strip().replace("\n", " "))
    return _Words(message, tuple(harmless(fix_words(fix)) for fix in (problem.fix, *problem.other_fixes)))


class _Text:
    """The words of a row, set in lines of a width."""

    def __init__(self, words: _Words, width: int, *, underlined: int | None = None) -> None:
        self._words = words
        option = QTextOption()
        # Names of agents and paths have no spaces.
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.layout = QTextLayout(words.text, font())
        self.layout.setTextOption(option)
        formats = []
        for number, (start, end) in enumerate(words.spans):
            link = QTextLayout.FormatRange()
            link.start, link.length = start, end - start
            form = QTextCharFormat()
            form.setForeground(theme().color("accent"))
            form.setFontUnderline(number == underlined)
            link.format = form
            formats.append(link)
        self.layout.setFormats(formats)
        self.layout.beginLayout()
        height = 0.0
        while (line := self.layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
        self.layout.endLayout()
        self.height = round(height + 0.5)

    def link_at(self, point: QPointF) -> int | None:
        """The number of the link that stands at a point."""
        for number in range(self.layout.lineCount()):
            line = self.layout.lineAt(number)
            if line.rect().top() <= point.y() < line.rect().bottom():
                if not line.naturalTextRect().contains(point):
                    return None
                at = line.xToCursor(point.x(), line.CursorPosition.CursorOnCharacter)
                spans = enumerate(self._words.spans)
                return next((each for each, (start, end) in spans if start <= at < end), None)
        return None


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
        self.lit: tuple[QPersistentModelIndex, int] | None = None
        """The row and the number of the link that the mouse is over."""

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
        name, tone = SIGNS[problem.severity]
        room = _text_room(option.rect)
        lit = self.lit[1] if self.lit is not None and self.lit[0] == index else None
        text = _Text(self.words(index), room.width(), underlined=lit)
        top = room.top() + (text.layout.lineAt(0).height() - ICON) / 2 if text.layout.lineCount() else 0
        icon_box = QRectF(option.rect.left() + MARGIN, top, ICON, ICON)
        paint_icon(painter, name, icon_box, colors.color(tone))
        painter.setPen(colors.color("text"))
        text.layout.draw(painter, QPointF(room.topLeft()))
        painter.restore()


class _ProblemView(QListView):
    """Signals: `fix_requested(QModelIndex, int)` for a link that was clicked, with its number in the row;
    `place_requested(QModelIndex)`.
    """

    fix_requested = Signal(QModelIndex, int)
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
        self._pressed_link: tuple[QPersistentModelIndex, int] | None = None
        self._on_link = self._ignores = False
        self._since_fix = QElapsedTimer()
        self.clicked.connect(self._click)

    def link_at(self, point: QPoint) -> QModelIndex:
        """The row of which a link stands at a point of the viewport; an invalid index: none does."""
        found = self._link_at(point)
        return self.model().index(found[0].row(), 0) if found is not None else QModelIndex()

    def link_number_at(self, point: QPoint) -> int | None:
        """Which of its row's links stands at a point of the viewport, from 0; None: none does."""
        found = self._link_at(point)
        return found[1] if found is not None else None

    def _link_at(self, point: QPoint) -> tuple[QPersistentModelIndex, int] | None:
        index = self.indexAt(point)
        if not index.isValid():
            return None
        room = _text_room(self.visualRect(index))
        text = _Text(self.delegate.words(index), room.width())
        number = text.link_at(QPointF(point - room.topLeft()))
        return (QPersistentModelIndex(index), number) if number is not None else None

    @Slot(QModelIndex)
    def _click(self, index: QModelIndex) -> None:
        if not self._on_link:
            self.place_requested.emit(index)

    def _is_too_soon(self) -> bool:
        """Whether a click was aimed at what stood here before a fix moved the rows."""
        since, wait = self._since_fix, QApplication.doubleClickInterval()
        self._ignores = since.isValid() and since.elapsed() < wait
        return self._ignores

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._is_too_soon():
            return
        self._pressed_link = self._link_at(event.position().toPoint())
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not self._is_too_soon():
            super().mouseDoubleClickEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._ignores:
            self._ignores = False
            return
        link = self._link_at(event.position().toPoint())
        self._on_link = (
            event.button() is Qt.MouseButton.LeftButton and link is not None and self._pressed_link == link
        )
        super().mouseReleaseEvent(event)
        if self._on_link and link is not None:
            self._on_link = False
            self.fix_requested.emit(self.model().index(link[0].row(), 0), link[1])
            self._since_fix.start()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._light(self._link_at(event.position().toPoint()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self._light(None)
        super().leaveEvent(event)

    def _light(self, lit: tuple[QPersistentModelIndex, int] | None) -> None:
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
        self._label = SectionLabel(self.tr("Problems"), self)
        self._label.setContentsMargins(MARGIN, 8, 0, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 8)
        layout.setSpacing(0)
        layout.addWidget(self._label)
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
        key = self.fix_action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        for row in range(self._items.rowCount()):
            item = self._items.item(row)
            problem = item.data(PROBLEM_ROLE)
            words = self.list.delegate.words(item.index())
            said = f"{severity_name(problem.severity)}: {words.sentence}"
            if words.links and problem.fix is not None:
                said += " " + self.tr("Offered: {0} ({1}).").format(words.links[0], key)
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
        room = round((around.height() if around is not None else 0) * _SHARE)
        most = max(_LEAST_HEIGHT, room - self._label.sizeHint().height() - 8)
        height = 2
        for row in range(self._items.rowCount()):
            height += self.list.sizeHintForRow(row)
            if height >= most:
                break
        self.list.setFixedHeight(max(24, min(height, most)))

    # --- what the user does ----------------------------------------------------------------------------

    def _problem(self, index: QModelIndex | QPersistentModelIndex) -> Problem | None:
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
        menu.addAction(self.fix_action)
        self._add_other_fixes(menu)
        menu.addActions([self.go_action, self.copy_action])
        where = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            row = self.list.visualRect(self.list.currentIndex())
            where = self.list.viewport().mapToGlobal(row.center())
        # Not exec: a nested loop would hold up every coroutine of a run.
        menu.popup(where)

    def _add_other_fixes(self, menu: QMenu) -> None:
        problem, index = self._current(), QPersistentModelIndex(self.list.currentIndex())
        if problem is None or not self.fix_action.isEnabled():
            return
        for number, fix in enumerate(problem.other_fixes, 1):
            action = menu.addAction(harmless(fix_words(fix)).replace("&", "&&"))
            action.triggered.connect(partial(self._fix, index, number))

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        problem = self._problem(index)
        if problem is not None:
            self.opened.emit(problem)

    @Slot(QModelIndex, int)
    def _fix(self, index: QModelIndex | QPersistentModelIndex, number: int = 0, *_: object) -> None:
        problem = self._problem(index)
        if problem is not None and problem.fix is None:
            self.opened.emit(problem)
        elif problem is not None and self.list.delegate.editable:
            self.fix_wanted.emit(replace(problem, fix=(problem.fix, *problem.other_fixes)[number]))

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
