"""The right of the window: settings, a run, all runs, or an agent. What is not needed yet is built later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app.side import Side

if TYPE_CHECKING:
    from app.run_view.log_view import LogView
    from app.run_view.run_view import RunView


class RightSide(QStackedWidget):
    """Signals: `run_view_built(RunView)` once, before it shows anything; `view_adopted(RunView)` for each
    view of a run, also those of the history; `page_built(QWidget)` for every other page;
    `side_changed(Side)`; `log_focused(bool)`: a log has the focus, and with it keys of its own.

    A click on room without a field gives the page the focus: left in the workflow, letters would edit it.
    """

    run_view_built = Signal(object)
    view_adopted = Signal(object)
    page_built = Signal(object)
    side_changed = Signal(object)
    log_focused = Signal(bool)

    def __init__(self, settings: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._view: RunView | None = None
        self._views: list[RunView] = []
        """All views of runs, wherever they are."""
        self._builders: dict[Side, Callable[[], QWidget]] = {}
        self._finders: dict[Side, Callable[[], object]] = {}
        self._provided: dict[Side, QWidget] = {}
        self._log_focused = False
        self.addWidget(settings)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)

    @property
    def run_view(self) -> RunView:
        """What shows runs; built when it is first wanted."""
        if self._view is None:
            # Not needed for the first paint of the window.
            from app.run_view.run_view import RunView

            self._view = RunView(self)
            self.adopt(self._view)
            self.addWidget(self._view)
            self.run_view_built.emit(self._view)
        return self._view

    def adopt(self, view: RunView) -> None:
        """Have the keys of tabs and logs work in a view of a run."""
        self._views.append(view)
        # After the tabs have turned to the page that was clicked.
        view.tabs.fixed.tabBarClicked.connect(self.focus_page)
        view.tabs.bar.tabBarClicked.connect(self.focus_page)
        self.view_adopted.emit(view)

    @property
    def shown_run_view(self) -> RunView | None:
        """The view of a run that is on view: the live one, or one of the history."""
        if self.shows_run:
            return self._view
        return next((view for view in self._views if view.isVisibleTo(self)), None)

    @property
    def has_run_view(self) -> bool:
        """Whether there was a run to show."""
        return self._view is not None

    def provide(
        self, side: Side, build: Callable[[], QWidget], find: Callable[[], object] | None = None
    ) -> None:
        """Say what makes the page of a side; it is made when the side is first wanted. `find`: goes to its
        search.
        """
        self._builders[side] = build
        if find is not None:
            self._finders[side] = find

    def page(self, side: Side) -> QWidget:
        """The page of a side that was provided; it is made now where it is not there yet.

        Raises KeyError for a side that nobody provided.
        """
        if side not in self._provided:
            page = self._builders[side]()
            self._provided[side] = page
            self.addWidget(page)
            self.page_built.emit(page)
        return self._provided[side]

    @property
    def side(self) -> Side:
        """What is shown."""
        shown = self.currentWidget()
        if shown is self._settings:
            return Side.SETTINGS
        known = next((side for side, page in self._provided.items() if page is shown), None)
        if known is not None:
            return known
        return Side.RUN

    @property
    def shows_run(self) -> bool:
        """Whether the run is shown."""
        return self.side is Side.RUN

    @Slot(object)
    def show_side(self, side: Side) -> None:
        """Show a side; the settings where there is no run to show."""
        shown: QWidget = self._settings
        if side is Side.RUN and self._view is not None:
            shown = self._view
        elif side in self._builders:
            shown = self.page(side)
        self.setCurrentWidget(shown)
        self.side_changed.emit(self.side)

    @Slot(object)
    def turn_to(self, side: Side) -> None:
        """The user turns to a side: it is shown and has the focus."""
        self.show_side(side)
        self.focus_page()

    @Slot()
    def show_settings(self) -> None:
        """Turn to the settings."""
        self.turn_to(Side.SETTINGS)

    @Slot()
    def show_run(self) -> None:
        """Turn to the run, if there is one."""
        self.turn_to(Side.RUN)

    @Slot()
    def show_runs(self) -> None:
        """Turn to all runs."""
        self.turn_to(Side.RUNS)

    # --- the focus -------------------------------------------------------------------------------------

    @Slot()
    def focus_page(self) -> None:
        """Give the focus to what is shown: the page of the run's tab, the list of runs; else to no field."""
        target = self._focus_target()
        (self if target is None else target).setFocus(Qt.FocusReason.OtherFocusReason)

    def _focus_target(self) -> QWidget | None:
        view = self.shown_run_view
        page = view.tabs.pages.currentWidget() if view is not None else self.currentWidget()
        if page is None or page is self._settings:
            return None
        if page.focusProxy() is not None or page.focusPolicy() & Qt.FocusPolicy.TabFocus:
            return page
        for child in page.findChildren(QWidget):
            if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.isVisibleTo(page):
                return child
        return None

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        target = self._focus_target() if event.reason() is Qt.FocusReason.MouseFocusReason else None
        if target is not None:
            target.setFocus(event.reason())

    @Slot(QWidget, QWidget)
    def _focus_changed(self, old: QWidget | None, now: QWidget | None) -> None:
        del old
        log = self._log_on_view()
        focused = log is not None and now is not None and (now is log or log.isAncestorOf(now))
        if focused != self._log_focused:
            self._log_focused = focused
            self.log_focused.emit(focused)

    def _log_on_view(self) -> LogView | None:
        view = self.shown_run_view
        if view is None:
            return None
        from app.run_view.log_view import LogView

        page = view.tabs.pages.currentWidget()
        return page if isinstance(page, LogView) else None

    @Slot()
    def find_in_log(self) -> None:
        """Find in what is on view: a log, the state; else in the overview. Among all runs: in their list."""
        view = self._view_for_tabs()
        find = self._finders.get(self.side)
        if view is None and find is not None:
            find()
        if view is not None:
            view.tabs.find_text()

    def _view_for_tabs(self) -> RunView | None:
        """The view of a run on view; else the live one, which is turned to, unless the history is shown."""
        if self.shown_run_view is None and self.side is not Side.RUNS:
            self.show_side(Side.RUN)
        return self.shown_run_view

    # --- one agent of the run --------------------------------------------------------------------------

    @Slot()
    def stop_agent(self) -> None:
        """Stop the agent whose pill has the focus or whose tab is shown."""
        turn = self._ordered_turn()
        if turn is not None:
            self.run_view.orders.stop(turn)

    @Slot()
    def retry_agent(self) -> None:
        """Try that agent again."""
        turn = self._ordered_turn()
        if turn is not None:
            self.run_view.orders.retry(turn)

    def _ordered_turn(self) -> str | None:
        if not self.shows_run:
            return None
        turn = self.run_view.ordered_turn
        if turn is None:
            self.run_view.message.emit(self.tr("Choose an agent first: its tab, or its pill above the tabs."))
        return turn

    # --- the tabs of the run ---------------------------------------------------------------------------

    @Slot()
    def list_turns(self) -> None:
        """Let the user search all turns."""
        view = self._view_for_tabs()
        if view is not None:
            view.tabs.open_list()

    @Slot()
    def next_tab(self) -> None:
        """The next tab of the run."""
        self._step(1)

    @Slot()
    def previous_tab(self) -> None:
        """The tab before this one."""
        self._step(-1)

    def _step(self, by: int) -> None:
        view = self._view_for_tabs()
        if view is not None:
            view.tabs.step(by)
            self.focus_page()

    @Slot()
    def close_tab(self) -> None:
        """Close the tab that is shown, if it may be closed."""
        view = self.shown_run_view
        if view is not None:
            view.tabs.close_current()

    @Slot()
    def open_run_folder(self) -> None:
        """Open the run folder in the desktop's file manager."""
        (self.shown_run_view or self.run_view).open_folder()
