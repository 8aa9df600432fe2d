"""The right of the window: the settings, or the run. The run's view is built when there is a run to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.settings_store import SettingsStore

if TYPE_CHECKING:
    from app.run_view.run_view import RunView

_ZOOMS = (-4, 24)


class RightSide(QStackedWidget):
    """Signals: `run_view_built(RunView)` once, before it shows a run; `side_changed(bool)`: True: the run."""

    run_view_built = Signal(object)
    side_changed = Signal(bool)

    def __init__(self, settings: QWidget, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._store = store
        self._view: RunView | None = None
        self._zoom = store.log_zoom
        self.addWidget(settings)

    @property
    def run_view(self) -> RunView:
        """What shows runs; built when it is first wanted."""
        if self._view is None:
            # Not needed for the first paint of the window.
            from app.run_view.run_view import RunView

            self._view = RunView(self)
            self._view.tabs.set_zoom(self._zoom)
            self.addWidget(self._view)
            self.run_view_built.emit(self._view)
        return self._view

    @property
    def has_run_view(self) -> bool:
        """Whether there was a run to show."""
        return self._view is not None

    @property
    def shows_run(self) -> bool:
        """Whether the run is shown, not the settings."""
        return self.currentWidget() is self._view

    @Slot(bool)
    def show_side(self, run: bool) -> None:
        """Show the run if there is one, or the settings."""
        shown = self._view if run and self._view is not None else self._settings
        self.setCurrentWidget(shown)
        self.side_changed.emit(shown is self._view)

    @Slot()
    def show_settings(self) -> None:
        """Show the settings."""
        self.show_side(False)

    @Slot()
    def show_run(self) -> None:
        """Show the run, if there is one."""
        self.show_side(True)

    # --- the tabs of the run ---------------------------------------------------------------------------

    @Slot()
    def list_turns(self) -> None:
        """Let the user search all turns."""
        self.show_side(True)
        self.run_view.tabs.open_list()

    @Slot()
    def next_tab(self) -> None:
        """The next tab of the run."""
        self.show_side(True)
        self.run_view.tabs.step(1)

    @Slot()
    def previous_tab(self) -> None:
        """The tab before this one."""
        self.show_side(True)
        self.run_view.tabs.step(-1)

    @Slot()
    def close_tab(self) -> None:
        """Close the tab that is shown, if it may be closed."""
        if self.shows_run:
            self.run_view.tabs.close_current()

    @Slot()
    def open_run_folder(self) -> None:
        """Open the run folder in the desktop's file manager."""
        self.run_view.open_folder()

    # --- zoom of logs ----------------------------------------------------------------------------------

    @Slot()
    def zoom_in(self) -> None:
        """Larger text in all logs."""
        self._set_zoom(self._zoom + 1)

    @Slot()
    def zoom_out(self) -> None:
        """Smaller text in all logs."""
        self._set_zoom(self._zoom - 1)

    @Slot()
    def zoom_normal(self) -> None:
        """The usual size of text in all logs."""
        self._set_zoom(0)

    def _set_zoom(self, zoom: int) -> None:
        self._zoom = min(_ZOOMS[1], max(_ZOOMS[0], zoom))
        self._store.log_zoom = self._zoom
        if self._view is not None:
            self._view.tabs.set_zoom(self._zoom)
