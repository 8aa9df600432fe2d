"""What OpenLoop is, and which version."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget

import resources
from app.buttons import Button, ButtonLook
from app.theme import font
from core.version import own_version

_LOGO, _WIDTH = 48, 320
"""Logical pixels."""


def show_about(window: QWidget) -> None:
    """Tell it in a box over the window."""
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(_tr("About OpenLoop"))
    box.setIconPixmap(QIcon(str(resources.folder() / "icons" / "openloop.svg")).pixmap(_LOGO, _LOGO))
    box.setText(_tr("OpenLoop {0}").format(own_version()).strip())
    box.setInformativeText(
        _tr("Build workflows of coding agents by drag and drop, run them, and watch every agent live.")
    )
    for label in box.findChildren(QLabel):
        if label.objectName() in ("qt_msgbox_label", "qt_msgbox_informativelabel"):
            label.setFont(font(bold=label.objectName() == "qt_msgbox_label"))
            label.setWordWrap(True)
            label.setMinimumWidth(_WIDTH)
    box.addButton(Button(_tr("Close"), ButtonLook.FILLED, "", box), QMessageBox.ButtonRole.AcceptRole)
    box.open()


def _tr(text: str) -> str:
    return QCoreApplication.translate("about", text)
