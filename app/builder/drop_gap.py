"""What the workflow shows of a drag: words about its landing, the gap that opens there, edges that scroll."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QModelIndex, QObject, QRect, QTimer, QVariantAnimation, Signal, Slot
from PySide6.QtWidgets import QStyle, QTreeView

from app.builder import words
from app.builder.workflow_model import ROOT, WorkflowModel
from app.builder.workflow_rows import Index, Landing, RowAnatomy
from app.document import OnAgent, Target

GAP_MS = 120
DWELL_MS = 60
"""A drag that only passes by opens no gaps."""
SCROLL_EDGE = 28
"""A drag this near to the upper or lower edge scrolls."""
SCROLL_STEP = 10


class DropGap(QObject):
    """Follows one drag over a tree; `end` when it has left or dropped.

    What is under the pointer is always told from the rows as they stand without a drag (`row_at`): a gap
    moves what is painted, never what is aimed at, and closes as soon as the drag is aimed at something else.

    Signals: `scrolled()`: the rows moved under a pointer that rests at an edge.
    """

    scrolled = Signal()

    def __init__(self, tree: QTreeView, model: WorkflowModel, anatomy: RowAnatomy) -> None:
        super().__init__(tree)
        self._tree = tree
        self._model = model
        self._anatomy = anatomy
        self._y: int | None = None
        """Where the drag is, in pixels of the viewport; None: there is none."""
        self._rows: list[tuple[QModelIndex, int, int]] = []
        """Rows with their tops and heights in the contents, without gaps; empty: not measured."""
        self._measured_width = 0
        self._from: dict[Target, float] = {}
        self._moving = QVariantAnimation(self)
        self._moving.setStartValue(0.0)
        self._moving.setEndValue(1.0)
        self._moving.valueChanged.connect(self._move)
        self.dwell = QTimer(self)
        self.dwell.setSingleShot(True)
        self.dwell.setInterval(DWELL_MS)
        self.dwell.timeout.connect(self._animate)
        self._scroll = QTimer(self)
        self._scroll.setInterval(30)
        self._scroll.timeout.connect(self._scroll_on)
        model.modelAboutToBeReset.connect(self._rows.clear)

    @property
    def dragging(self) -> bool:
        """Whether a drag is over the tree."""
        return self._y is not None

    @property
    def landing_words(self) -> str:
        """What the present drag would do; empty where nothing."""
        return self._anatomy.landing.words if self._anatomy.landing is not None else ""

    # --- where things are without a drag ---------------------------------------------------------------

    def row_at(self, y: int) -> tuple[QModelIndex, QRect] | None:
        """The row at a height of the viewport, and where it would stand there; None: below all rows."""
        width, scroll = self._tree.viewport().width(), self._tree.verticalScrollBar().value()
        if not self._rows or width != self._measured_width:
            self._measure(width)
        for index, top, height in self._rows:
            if top <= y + scroll < top + height:
                return index, QRect(0, top - scroll, width, height)
        return None

    def _measure(self, width: int) -> None:
        self._measured_width = width
        self._rows.clear()
        top = 0
        for index in self._below(ROOT):
            height = self._anatomy.height(index, width, resting=True)
            self._rows.append((index, top, height))
            top += height

    def _below(self, parent: Index) -> list[QModelIndex]:
        found: list[QModelIndex] = []
        for row in range(self._model.rowCount(parent)):
            index = self._model.index(row, 0, parent)
            found.extend((index, *self._below(index)))
        return found

    # --- what is shown ---------------------------------------------------------------------------------

    def follow(self, y: int) -> None:
        """The drag is at this height of the viewport."""
        self._y = y
        if not self._scroll.isActive():
            self._scroll.start()

    def land(self, target: Target | None, dragged: Collection[int] = ()) -> None:
        """A drop would land there; None: it would do nothing. `dragged`: the nodes that it would move."""
        anatomy, outline = self._anatomy, self._model.outline
        landing = None
        if target is not None:
            text = words.landing(target, outline, dragged)
            landing = Landing(target, text, tuple(name for name in words.names_of(outline) if name in text))
        if landing == anatomy.landing:
            return
        anatomy.landing = landing
        self.dwell.stop()
        if self._wanted is not None and not anatomy.gaps:
            self.dwell.start()
        else:
            self._animate()
        self._tree.viewport().update()

    @property
    def _wanted(self) -> Target | None:
        """The gap that is to be open."""
        landing = self._anatomy.landing
        return None if landing is None or isinstance(landing.target, OnAgent) else landing.target

    @Slot()
    def _animate(self) -> None:
        """Move the gaps from how they are to how they are to be."""
        self._moving.stop()
        wanted = self._wanted
        self._from = dict(self._anatomy.gaps)
        if wanted is not None:
            self._from.setdefault(wanted, 0.0)
        if not self._from:
            return
        style = self._tree.style()
        if style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._tree) > 0:
            self._moving.setDuration(GAP_MS)
            self._moving.start()
        else:
            self._move(1.0)

    @Slot(object)
    def _move(self, share: object) -> None:
        if not isinstance(share, float):
            return
        wanted, gaps = self._wanted, self._anatomy.gaps
        gaps.clear()
        for target, before in self._from.items():
            after = before + ((1.0 if target == wanted else 0.0) - before) * share
            if after > 0:
                gaps[target] = after
        self._tree.scheduleDelayedItemsLayout()
        self._tree.viewport().update()

    @Slot()
    def _scroll_on(self) -> None:
        if self._y is None:
            self._scroll.stop()
            return
        bar = self._tree.verticalScrollBar()
        before = bar.value()
        if self._y < SCROLL_EDGE:
            bar.setValue(before - SCROLL_STEP)
        elif self._y > self._tree.viewport().height() - SCROLL_EDGE:
            bar.setValue(before + SCROLL_STEP)
        if bar.value() != before:
            self.scrolled.emit()

    def end(self) -> None:
        """The drag has left, was dropped, or was given up."""
        self._y = None
        self._scroll.stop()
        self.dwell.stop()
        self._moving.stop()
        self._rows.clear()
        had_gap = bool(self._anatomy.gaps)
        self._anatomy.landing = None
        self._anatomy.gaps.clear()
        if had_gap:
            self._tree.scheduleDelayedItemsLayout()
        self._tree.viewport().update()
