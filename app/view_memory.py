"""What the right of the window remembers of its shape between starts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QSplitter, QWidget

if TYPE_CHECKING:
    from app.right_side import RightSide
    from app.run_view.run_view import RunView
    from app.settings_store import SettingsStore


class ViewMemory(QObject):
    """Gives every splitter with an object name the shape it had, and whatever else a view remembers."""

    def __init__(self, right: RightSide, store: SettingsStore, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        right.view_adopted.connect(self._remember_run_view)
        right.page_built.connect(self.remember)

    @Slot(object)
    def _remember_run_view(self, view: RunView) -> None:
        view.timeline.set_collapsed(self._store.timeline_collapsed)
        view.timeline.collapsed_changed.connect(self._keep_timeline)
        self.remember(view)

    @Slot(bool)
    def _keep_timeline(self, collapsed: bool) -> None:
        self._store.timeline_collapsed = collapsed

    @Slot(object)
    def remember(self, view: QWidget) -> None:
        """Restore the splitters in a view that was just built, and keep every later change."""
        found = view.findChildren(QSplitter)
        if isinstance(view, QSplitter):
            found.append(view)
        for splitter in found:
            # Qt's own parts have names that begin so.
            if splitter.objectName() and not splitter.objectName().startswith("qt_"):
                self._follow(splitter)

    def _follow(self, splitter: QSplitter) -> None:
        handle, collapsible = splitter.handleWidth(), splitter.childrenCollapsible()
        orientation = splitter.orientation()
        shape = self._store.shape(splitter.objectName())
        if shape is not None and splitter.restoreState(shape):
            # The saved state may be of a view that was built otherwise.
            splitter.setHandleWidth(handle)
            splitter.setChildrenCollapsible(collapsible)
            splitter.setOrientation(orientation)
        splitter.splitterMoved.connect(partial(self._keep, splitter))

    def _keep(self, splitter: QSplitter, *_: int) -> None:
        self._store.keep_shape(splitter.objectName(), splitter.saveState())
