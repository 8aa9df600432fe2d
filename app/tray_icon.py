"""The one icon in the system's tray: there while somebody needs it."""

from __future__ import annotations

from enum import Enum, auto

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon


class TrayUse(Enum):
    """What the icon is there for."""

    NOTICE = auto()
    HIDDEN_WINDOW = auto()


class TrayIcon(QObject):
    """Signals: `opened()`: the icon or one of its messages was clicked."""

    opened = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._uses: set[TrayUse] = set()
        self._icon: QSystemTrayIcon | None = None

    @property
    def available(self) -> bool:
        """Whether this desktop has a tray."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def visible(self) -> bool:
        """Whether it is there at present."""
        return bool(self._uses)

    def show(self, use: TrayUse, menu: QMenu | None = None) -> None:
        """Be there for this. `menu`: what a click with the other button offers."""
        if self._icon is None:
            self._icon = QSystemTrayIcon(QGuiApplication.windowIcon(), self)
            self._icon.messageClicked.connect(self.opened)
            self._icon.activated.connect(self._activate)
        if menu is not None:
            self._icon.setContextMenu(menu)
        self._uses.add(use)
        self._icon.show()

    def hide(self, use: TrayUse) -> None:
        """It is not needed for this any more."""
        self._uses.discard(use)
        if self._icon is not None and not self._uses:
            self._icon.hide()

    def say(self, title: str, text: str, milliseconds: int) -> None:
        """Show a message at the icon."""
        if self._icon is not None:
            self._icon.showMessage(title, text, QGuiApplication.windowIcon(), milliseconds)

    def set_tool_tip(self, text: str) -> None:
        """What it says under the mouse."""
        if self._icon is not None:
            self._icon.setToolTip(text)

    @Slot(QSystemTrayIcon.ActivationReason)
    def _activate(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is not QSystemTrayIcon.ActivationReason.Context:
            self.opened.emit()
