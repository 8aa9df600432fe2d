"""Selecting agents by drawing a rectangle over them, from a place where nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QRubberBand

if TYPE_CHECKING:
    from app.builder.workflow_tree import WorkflowTree


class SelectionBand:
    """One rectangle over a tree, from the press of the mouse to its release."""

    def __init__(self, tree: WorkflowTree) -> None:
        self._tree = tree
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, tree.viewport())
        self._from: QPoint | None = None
        """In the contents, which may be scrolled meanwhile."""
        self._kept: list[int] = []

    def begin(self, point: QPoint, kept: Sequence[int]) -> None:
        """The mouse was pressed at a point of the viewport; what is `kept` stays selected."""
        self._from = point + QPoint(0, self._tree.verticalScrollBar().value())
        self._kept = list(kept)

    def stretched_to(self, point: QPoint) -> bool:
        """Whether a rectangle is being drawn; then it goes to this point, and what it touches is selected."""
        if self._from is None:
            return False
        start = self._from - QPoint(0, self._tree.verticalScrollBar().value())
        if self._band.isHidden():
            if (point - start).manhattanLength() < QApplication.startDragDistance():
                return True
            self._band.show()
        area = QRect(start, point).normalized()
        self._band.setGeometry(area.intersected(self._tree.viewport().rect()))
        touched = self._tree.agents_in(area)
        self._tree.select_nodes([*self._kept, *(node for node in touched if node not in self._kept)])
        return True

    def end(self) -> None:
        """The mouse was released."""
        self._from = None
        self._band.hide()
