"""Notices of the desktop: short texts that show above other programs, by the system's own means.

Qt shows them through the icon in the system's tray. A Linux desktop without a tray (GNOME as it comes) has
the program `notify-send` instead. Where there is neither, the marked task of the window has to do.
"""

from __future__ import annotations

import shutil
import sys
from html import escape

from PySide6.QtWidgets import QSystemTrayIcon

from app.tray_icon import TrayIcon, TrayUse

_PROGRAM = "notify-send"
_SHOWN_MS = 10_000
_LONGEST = 300
"""Characters of a text; desktops cut longer ones anywhere."""


class DesktopNotices:
    """Shows notices. A new one takes the place of the one before where the desktop can do that."""

    def __init__(self, tray: TrayIcon) -> None:
        self._tray = tray

    def show(self, title: str, text: str) -> bool:
        """Show a notice; False where this desktop has no means for it."""
        text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        if self._tray.available and QSystemTrayIcon.supportsMessages():
            self._tray.show(TrayUse.NOTICE)
            self._tray.say(title, text, _SHOWN_MS)
            return True
        program = shutil.which(_PROGRAM) if sys.platform not in ("win32", "darwin") else None
        if program is None:
            return False
        # Not needed for the first paint of the window.
        from PySide6.QtCore import QProcess

        # The service takes a little markup in the text; what agents wrote is none.
        words = ["--app-name=OpenLoop", f"--expire-time={_SHOWN_MS}", "--", title, escape(text, quote=False)]
        return bool(QProcess.startDetached(program, words))

    def clear(self) -> None:
        """The user is here: what still shows goes, where it can be taken back."""
        self._tray.hide(TrayUse.NOTICE)
