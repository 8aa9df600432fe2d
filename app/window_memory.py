"""What the window remembers of its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMainWindow, QSplitter

if TYPE_CHECKING:
    from app.settings_store import SettingsStore

_SIZE = (1280, 800)
_SIZES = (224, 372, 684)
"""Of agents, workflow, and what is looked at."""


def restore_shape(window: QMainWindow, splitter: QSplitter, store: SettingsStore) -> None:
    """Give the window the shape it had, or the usual one."""
    if store.geometry is None or not window.restoreGeometry(store.geometry):
        window.resize(*_SIZE)
    if store.splitter is None or not splitter.restoreState(store.splitter):
        splitter.setSizes(list(_SIZES))
    # The saved state may be of a window that was built otherwise.
    splitter.setHandleWidth(1)
    splitter.setChildrenCollapsible(False)


def keep_shape(window: QMainWindow, splitter: QSplitter, store: SettingsStore) -> None:
    """Remember the shape for the next start."""
    store.geometry = window.saveGeometry()
    store.splitter = splitter.saveState()
