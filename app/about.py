"""What OpenLoop is, and which version."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.buttons import Button, ButtonLook
from core.version import own_version


def show_about(window: QWidget) -> None:
    """Tell it in a box over the window."""
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(_tr("About OpenLoop"))
    box.setText(_tr("OpenLoop {0}").format(own_version()).strip())
    box.setInformativeText(
        _tr("Build workflows of coding agents by drag and drop, run them, and watch every agent live.")
    )
    box.addButton(Button(_tr("Close"), ButtonLook.FILLED, "", box), QMessageBox.ButtonRole.AcceptRole)
    box.open()


def _tr(text: str) -> str:
    return QCoreApplication.translate("about", text)
