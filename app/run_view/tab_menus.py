"""The context menus of turns' tabs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu, QWidget

from app.run_view.agent_orders import AgentOrders
from app.theme import icon
from core.turn_progress import TurnProgress

OUTPUT_NAME = "stdout.log"


class TabMenus(QObject):
    """Makes menus, for the widget that it belongs to.

    Signals: `copy_requested(str)` and `close_requested(str)` with a turn's id; `close_succeeded_requested()`.
    """

    copy_requested = Signal(str)
    close_requested = Signal(str)
    close_succeeded_requested = Signal()

    def __init__(self, orders: AgentOrders, parent: QWidget) -> None:
        super().__init__(parent)
        self._orders = orders
        self._owner = parent

    def of_turn(self, turn: TurnProgress, folder: Path, *, live: bool, any_succeeded: bool) -> QMenu:
        """The menu of a turn whose files are in this folder; it deletes itself when it closes.

        `live`: it takes orders. The caller shows it, with `popup`: a nested loop would hold up a run.
        """
        menu = QMenu(self._owner)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        output = folder / OUTPUT_NAME
        menu.addAction(icon("file-text", "quiet"), self.tr("Open raw file"), lambda: open_path(output))
        menu.addAction(icon("folder-open", "quiet"), self.tr("Open folder"), lambda: open_path(folder))
        copy = menu.addAction(icon("copy", "quiet"), self.tr("Copy all"))
        copy.triggered.connect(lambda: self.copy_requested.emit(turn.id))
        menu.addSeparator()
        if live:
            self._orders.add_to(menu, turn.id)
            menu.addSeparator()
        close = menu.addAction(icon("x", "quiet"), self.tr("Close"))
        close.triggered.connect(lambda: self.close_requested.emit(turn.id))
        close.setEnabled(turn.is_over)
        others = menu.addAction(self.tr("Close all that succeeded"), self.close_succeeded_requested.emit)
        others.setEnabled(any_succeeded)
        return menu


def open_path(path: Path) -> None:
    """Open a file or a folder with what the desktop has for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
