"""How all logs of a window are shown, and remembered: wrap, line numbers and the size of their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

if TYPE_CHECKING:
    from app.right_side import RightSide
    from app.run_view.log_host import LogHost
    from app.run_view.run_view import RunView
    from app.settings_store import SettingsStore
    from app.window_actions import WindowActions


class LogDisplay(QObject):
    """What is chosen in one view of a run, by mouse, key or menu, holds in all and at the next start."""

    def __init__(
        self, right: RightSide, actions: WindowActions, store: SettingsStore, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._hosts: list[LogHost] = []
        right.view_adopted.connect(self._connect_view)
        actions.zoom_in.triggered.connect(self._zoom_in)
        actions.zoom_out.triggered.connect(self._zoom_out)
        actions.zoom_normal.triggered.connect(self._zoom_normal)

    @Slot(object)
    def _connect_view(self, view: RunView) -> None:
        host, store = view.tabs.host, self._store
        host.show_as(wrap=store.log_wrap, line_numbers=store.log_line_numbers, zoom=store.log_zoom)
        self._hosts.append(host)
        host.changed.connect(lambda: self._keep(host))

    def _keep(self, changed: LogHost) -> None:
        self._store.log_wrap = changed.wrap
        self._store.log_line_numbers = changed.line_numbers
        self._store.log_zoom = changed.zoom
        for host in self._hosts:
            host.show_as(wrap=changed.wrap, line_numbers=changed.line_numbers, zoom=changed.zoom)

    @Slot()
    def _zoom_in(self) -> None:
        self._zoom(self._store.log_zoom + 1)

    @Slot()
    def _zoom_out(self) -> None:
        self._zoom(self._store.log_zoom - 1)

    @Slot()
    def _zoom_normal(self) -> None:
        self._zoom(0)

    def _zoom(self, zoom: int) -> None:
        if self._hosts:
            self._hosts[0].show_as(zoom=zoom)
        else:
            # No run was shown yet.
            self._store.log_zoom = zoom
