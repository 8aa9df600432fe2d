"""Quick filters over the list of runs: one for every outcome that there is, with its number of runs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QFocusEvent, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QWidget

from app.flow_layout import FlowLayout
from app.runs.entry import Outcome
from app.runs.run_delegate import OUTCOME_ICONS
from app.runs.words import outcome_words
from app.theme import GRID, TextSize, font, paint_icon, theme

_ICON = 13
_PADDING = 8


class Chip(QPushButton):
    """A filter that is on or off: an icon, a word, and a number."""

    def __init__(self, text: str, icon: tuple[str, str] | None, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._icon_of = icon
        self._count = 0
        self._ring = False
        self.setCheckable(True)
        self.setFont(font(TextSize.SMALL, tabular=True))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)

    def show_count(self, count: int) -> None:
        """How many runs it stands for."""
        self._count = count
        self.setAccessibleName(f"{self.text()}: {count:,}")
        self.updateGeometry()
        self.update()

    @property
    def _number(self) -> str:
        return f"{self._count:,}"

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text()) + metrics.horizontalAdvance(self._number) + 6
        width += 2 * _PADDING + (_ICON + 5 if self._icon_of else 0)
        return QSize(width, max(24, metrics.height() + 8))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self._ring = event.reason() is not Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        on = self.isChecked()
        ring = self.hasFocus() and self._ring
        ground = "accent_soft" if on else "raised" if self.underMouse() else "surface"
        painter.setBrush(colors.color(ground))
        width = 3 if ring else 1
        painter.setPen(QPen(colors.color("accent" if on or ring else "line"), width))
        box.adjust(width / 2 - 0.5, width / 2 - 0.5, 0.5 - width / 2, 0.5 - width / 2)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        left = float(_PADDING)
        if self._icon_of:
            name, token = self._icon_of
            icon = QRectF(left, (self.height() - _ICON) / 2, _ICON, _ICON)
            paint_icon(painter, name, icon, colors.color(token))
            left += _ICON + 5
        painter.setFont(self.font())
        painter.setPen(colors.color("text"))
        line = QRectF(left, 0, self.width() - left - _PADDING, self.height())
        side = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line, side | Qt.AlignmentFlag.AlignLeft, self.text())
        painter.setPen(colors.color("quiet"))
        painter.drawText(line, side | Qt.AlignmentFlag.AlignRight, self._number)


class OutcomeChips(QWidget):
    """“All”, and a chip for every outcome that occurs; several may be on.

    Signals: `chosen(frozenset[Outcome])`; empty: all.
    """

    accessible_role = QAccessible.Role.Grouping

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Show runs that"))
        layout = FlowLayout(self, gap=GRID + 2)
        self.all = Chip(self.tr("All"), None, self)
        self.all.setChecked(True)
        self.all.clicked.connect(self._show_all)
        layout.addWidget(self.all)
        self.chips: dict[Outcome, Chip] = {}
        for outcome in Outcome:
            chip = Chip(outcome_words(outcome), OUTCOME_ICONS[outcome], self)
            chip.clicked.connect(self._choose)
            chip.hide()
            layout.addWidget(chip)
            self.chips[outcome] = chip
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_counts(self, counts: Mapping[Outcome, int]) -> None:
        """How many runs of each there are; what does not occur is not offered, unless it is on."""
        self.all.show_count(sum(counts.values()))
        for outcome, chip in self.chips.items():
            chip.show_count(counts.get(outcome, 0))
            chip.setVisible(bool(counts.get(outcome)) or chip.isChecked())

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """Which are on; empty: all."""
        return frozenset(outcome for outcome, chip in self.chips.items() if chip.isChecked())

    @Slot()
    def _show_all(self) -> None:
        for chip in self.chips.values():
            chip.setChecked(False)
        self._choose()

    @Slot()
    def _choose(self) -> None:
        outcomes = self.outcomes
        self.all.setChecked(not outcomes)
        self.chosen.emit(outcomes)
