"""Pages on top of each other that give way: a low window cuts a page off rather than growing."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget

_LOWEST, _NARROWEST = 80, 200


class Pages(QStackedWidget):
    """A stack that asks for no more room than it needs to be of any use."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(_NARROWEST, _LOWEST)
