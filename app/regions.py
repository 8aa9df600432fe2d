"""The parts of the window on one key: F6 goes on, Shift+F6 back, each to where the focus was last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app import accessible
from app.first_paint import after_first_paint
from app.tab_order import first_stop, give_focus, takes_tab

if TYPE_CHECKING:
    from app.main_window import MainWindow

_REMEMBERED = 50
Part = tuple[QWidget, ...]
"""Widgets that belong together, the first to focus first."""


class Regions(QObject):
    """Takes its parts from the window at every step: what is hidden is no part of it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        accessible.install()
        self._window = window
        self._latest: list[QWidget] = []
        """What had the focus, the latest first."""
        window.actions_of_window.next_part.triggered.connect(self.next)
        window.actions_of_window.previous_part.triggered.connect(self.previous)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)
        after_first_paint(self._look_after_dialogs)

    def _look_after_dialogs(self) -> None:
        # Not needed for the first paint of the window.
        from app.focus_return import FocusReturn

        FocusReturn(self._window)

    def parts(self) -> list[Part]:
        """What can be gone to at present, from the top left to the bottom right."""
        window = self._window
        found: list[Part] = [(window.top_bar,), (window.notices,)]
        page = window.pages.currentWidget()
        if page is window.splitter:
            found += [(window.pool,), (window.workflow_view.tree,), (window.workflow_view.problem_list,)]
            found += self._parts_of_right()
        elif page is not None:
            found.append((page,))
        found.append((window.status,))
        return [part for part in found if self._target(part) is not None]

    def _parts_of_right(self) -> list[Part]:
        view = self._window.right.shown_run_view
        if view is None:
            return [(self._window.right,)]
        # A question first: who looks for something to do finds it at once.
        above = (view.questions, view.doubts, view.pause, view.banner, view.notes, view.strip)
        return [above, (view.tabs,), (view.timeline,)]

    @Slot()
    def next(self) -> None:
        """Give the next part the focus; after the last comes the first."""
        self._go(1)

    @Slot()
    def previous(self) -> None:
        """Give the part before the focus."""
        self._go(-1)

    def _go(self, step: int) -> None:
        parts = self.parts()
        focused = QApplication.focusWidget()
        if not parts:
            return
        here = None
        if focused is not None:
            here = next((at for at, part in enumerate(parts) if _has(part, focused)), None)
        at = (here + step) % len(parts) if here is not None else (0 if step > 0 else -1)
        target = self._target(parts[at])
        if target is not None:
            give_focus(target, Qt.FocusReason.TabFocusReason)

    def _target(self, part: Part) -> QWidget | None:
        """Where the focus was last in a part; else the page of its tab, or its first control."""
        self._latest = [widget for widget in self._latest if isValid(widget)]
        for widget in self._latest:
            if _has(part, widget) and takes_tab(widget):
                return widget
        view = self._window.right.shown_run_view
        if view is not None and part == (view.tabs,):
            page = view.tabs.pages.currentWidget()
            if page is not None:
                part = (page, *part)
        return next((first for widget in part if (first := first_stop(widget)) is not None), None)

    @Slot(QWidget, QWidget)
    def _focus_changed(self, old: QWidget | None, now: QWidget | None) -> None:
        if now is None and old is not None:
            # A row that was answered, a button that was switched off: keys must go on working.
            QTimer.singleShot(0, self, self._keep)
        if now is not None and now.window() is self._window and takes_tab(now):
            rest = [widget for widget in self._latest if isValid(widget) and widget is not now]
            self._latest = [now, *rest][:_REMEMBERED]

    @Slot()
    def _keep(self) -> None:
        """Where nothing of the window has the focus any more, give it to what is nearest to where it was."""
        window = self._window
        if QApplication.focusWidget() is not None or QApplication.activePopupWidget() is not None:
            return
        if not window.isActiveWindow():
            return
        lost = next((widget for widget in self._latest if isValid(widget)), None)
        parts = self.parts()
        here = next((part for part in parts if lost is not None and _has(part, lost)), None)
        target = self._target(here) if here is not None else None
        if target is None and window.right.isVisible():
            # The part is gone with what was in it; what stands above the tabs hands on to their page.
            window.right.focus_page()
            if QApplication.focusWidget() is not None:
                return
        if target is None:
            target = next((found for part in parts if (found := self._target(part)) is not None), None)
        if target is not None:
            give_focus(target, Qt.FocusReason.OtherFocusReason)


def _has(part: Sequence[QWidget], widget: QWidget) -> bool:
    return any(widget is one or one.isAncestorOf(widget) for one in part)
