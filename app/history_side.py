"""The pages of the history, one of which is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

if TYPE_CHECKING:
    from app.opened_run import OpenedRun
    from app.run_view.run_view import RunView
    from app.runs.compare_page import ComparePage
    from app.runs.runs_page import RunsPage


class HistorySide(QStackedWidget):
    """The pages of the history: the list, an opened run, a comparison. The last two are built when wanted.

    Signals: `left()`: the user is done with the page on top, and is back at the list.
    """

    left = Signal()

    def __init__(self, page: RunsPage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list_page = page
        self.opened: OpenedRun | None = None
        self.compared: ComparePage | None = None
        self.addWidget(page)
        self.setFocusProxy(page)
        back = QShortcut(QKeySequence(QKeySequence.StandardKey.Back), self)
        back.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        back.activated.connect(self.back)

    @property
    def shows_list(self) -> bool:
        """Whether the list is shown."""
        return self.currentWidget() is self.list_page

    @property
    def shown_run_view(self) -> RunView | None:
        """The view of the run that is opened here; None: another page is shown."""
        if self.opened is not None and self.currentWidget() is self.opened:
            return self.opened.view
        return None

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages, and give it the focus where the history has it."""
        had_focus = self.isVisible() and self.isAncestorOf(self.window().focusWidget())
        self.setCurrentWidget(page)
        view = self.shown_run_view
        target = (view.tabs.pages.currentWidget() if view is not None else None) or page
        self.setFocusProxy(target)
        if had_focus:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_find(self) -> None:
        """To the search of the page that is shown."""
        if self.shows_list:
            self.list_page.focus_search()
        elif self.compared is not None and self.currentWidget() is self.compared:
            self.compared.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def back(self) -> None:
        """Back to the list."""
        if not self.shows_list:
            self.show_page(self.list_page)
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and not self.shows_list:
            self.back()
        else:
            super().keyPressEvent(event)
