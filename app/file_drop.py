"""A window on which a workflow file may be dropped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from app.file_actions import SUFFIXES
from app.tab_order import ReadingOrderWindow


class FileDropWindow(ReadingOrderWindow):
    """Signals: `file_dropped(Path)`. `takes_files` False: nothing may be dropped at present."""

    file_dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.takes_files = True
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self._consider(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        self._consider(event)

    def _consider(self, event: QDropEvent) -> None:
        if self.takes_files and _dropped_file(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        path = _dropped_file(event)
        if path is not None:
            event.acceptProposedAction()
            self.file_dropped.emit(path)


def _dropped_file(event: QDropEvent) -> Path | None:
    """The one workflow file that is dragged, if it is one."""
    urls = event.mimeData().urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    path = Path(urls[0].toLocalFile())
    return path if path.suffix.lower() in SUFFIXES else None
