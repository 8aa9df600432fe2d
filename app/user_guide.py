"""The user guide, which is a file beside the program or inside it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

import resources
from app.notice_bar import Notice, NoticeArea, Tone


def user_guide() -> Path | None:
    """The user guide; None where somebody took it away."""
    # A checkout has its documents beside the code; the package has them among its resources, as what is
    # beside it belongs to others.
    inside = resources.folder()
    paths = (folder / "docs" / "user-guide.md" for folder in (inside, inside.parent))
    return next((path for path in paths if path.is_file()), None)


class GuideOpening(QObject):
    """Opens the guide in whatever the desktop shows such files with; a notice says where it cannot."""

    def __init__(self, notices: NoticeArea, parent: QObject) -> None:
        super().__init__(parent)
        self._notices = notices

    @Slot()
    def open(self) -> None:
        """Open it, or say where it is."""
        guide = user_guide()
        if guide is None:
            self._tell(self.tr("The user guide is not installed here."))
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(guide))):
            self._tell(self.tr("Your desktop could not open the user guide: {0}").format(guide))

    def _tell(self, text: str) -> None:
        self._notices.tell("guide", Notice(text, Tone.WARNING))
