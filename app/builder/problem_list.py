"""The problems of the workflow: a sentence each, what to do about it as a link, and the way to its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
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
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from app.builder.problem_rows import MARGIN, PROBLEM_ROLE, ProblemDelegate, RowText, text_room
from app.focus_line import FocusLine
from app.labels import SectionLabel
from app.plain_text import plain_tool_tip
from app.problem_fixes import fix_words
from app.reading_text import harmless
from app.row_list import RowList
from app.scroll_bar import use_thin_scroll_bars
from app.severity import severity_name
from app.theme import is_appearance_event
from core.problems import Problem

_LEAST_HEIGHT = 96
_SHARE = 1 / 3
"""Of the view around it that the list may take; what is more scrolls."""


class _ProblemView(RowList):
    """Signals: `fix_requested(QModelIndex, int)` for a link that was clicked, with its number in the row;
    `place_requested(QModelIndex)`.
    """

    fix_requested = Signal(QModelIndex, int)
    place_requested = Signal(QModelIndex)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.delegate = ProblemDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._pressed_link: tuple[QPersistentModelIndex, int] | None = None
        self._on_link = self._ignores = False
        self._since_fix = QElapsedTimer()
        self.clicked.connect(self._click)
        self.row_entered.connect(self.place_requested)

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
        room = text_room(self.visualRect(index))
        text = RowText(self.delegate.words(index), room.width())
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
