"""What the workflow shows of a drag: words about its landing, the gap that opens there, edges that scroll."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, QVariantAnimation, Slot
from PySide6.QtWidgets import QStyle, QTreeView

from app.builder import words
from app.builder.workflow_model import WorkflowModel
from app.builder.workflow_rows import Landing, RowAnatomy
from app.document import OnAgent, Target

GAP_MS = 120
DWELL_MS = 90
"""A drag that only passes by moves no rows: they would run away from the one it is aimed at."""
SCROLL_EDGE = 28
"""A drag this near to the upper or lower edge scrolls."""
SCROLL_STEP = 10


class DropGap(QObject):
    """Follows one drag over a tree; `end` when it has left or dropped."""

    def __init__(self, tree: QTreeView, model: WorkflowModel, anatomy: RowAnatomy) -> None:
        super().__init__(tree)
        self._tree = tree
        self._model = model
        self._anatomy = anatomy
        self._y: int | None = None
        """Where the drag is, in pixels of the viewport; None: there is none."""
        self._opening = QVariantAnimation(self)
        self._opening.setStartValue(0.0)
        self._opening.setEndValue(1.0)
        self._opening.valueChanged.connect(self._open)
        self.dwell = QTimer(self)
        self.dwell.setSingleShot(True)
        self.dwell.setInterval(DWELL_MS)
        self.dwell.timeout.connect(self._move)
        self._scroll = QTimer(self)
        self._scroll.setInterval(30)
        self._scroll.timeout.connect(self._scroll_on)

    @property
    def dragging(self) -> bool:
        """Whether a drag is over the tree."""
        return self._y is not None

    @property
    def landing_words(self) -> str:
        """What the present drag would do; empty where nothing."""
        return self._anatomy.landing.words if self._anatomy.landing is not None else ""

    def follow(self, y: int) -> None:
        """The drag is at this height of the viewport."""
        self._y = y
        if not self._scroll.isActive():
            self._scroll.start()

    def land(self, target: Target | None) -> None:
        """A drop would land there; None: it would do nothing."""
        anatomy = self._anatomy
        landing = None if target is None else Landing(target, words.landing(target, self._model.outline))
        if landing == anatomy.landing:
            return
        anatomy.landing = landing
        self.dwell.stop()
        if target is not None and not isinstance(target, OnAgent) and target != anatomy.gap_target:
            self.dwell.start()
        self._tree.viewport().update()

    @Slot()
    def _move(self) -> None:
        """The drag has stayed at one place for a moment: open the gap there."""
        anatomy = self._anatomy
        if anatomy.landing is None or isinstance(anatomy.landing.target, OnAgent):
            return
        opening = anatomy.gap_target is None
        anatomy.gap_target = anatomy.landing.target
        style = self._tree.style()
        duration = style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._tree)
        if opening and duration > 0:
            anatomy.gap_share = 0.0
            self._opening.setDuration(GAP_MS)
            self._opening.start()
        self._tree.scheduleDelayedItemsLayout()
        self._tree.viewport().update()

    @Slot(object)
    def _open(self, share: object) -> None:
        if isinstance(share, float):
            self._anatomy.gap_share = share
            self._tree.scheduleDelayedItemsLayout()

    @Slot()
    def _scroll_on(self) -> None:
        if self._y is None:
            self._scroll.stop()
            return
        bar = self._tree.verticalScrollBar()
        if self._y < SCROLL_EDGE:
            bar.setValue(bar.value() - SCROLL_STEP)
        elif self._y > self._tree.viewport().height() - SCROLL_EDGE:
            bar.setValue(bar.value() + SCROLL_STEP)

    def end(self) -> None:
        """The drag has left, was dropped, or was given up."""
        self._y = None
        self._scroll.stop()
        self.dwell.stop()
        self._opening.stop()
        had_gap = self._anatomy.gap_target is not None
        self._anatomy.landing = None
        self._anatomy.gap_target = None
        self._anatomy.gap_share = 1.0
        if had_gap:
            self._tree.scheduleDelayedItemsLayout()
        self._tree.viewport().update()
