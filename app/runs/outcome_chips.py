"""Quick filters over the list of runs: one for every outcome that there is, with its number of runs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.flow_layout import FlowLayout
from app.painting import paint_method
from app.ring_button import RingButton
from app.runs.entry import Outcome
from app.runs.run_delegate import OUTCOME_ICONS
from app.runs.words import outcome_words
from app.theme import GRID, TextSize, font, paint_icon, theme

_ICON = 13
_PADDING = 8


class Chip(RingButton):
    """A filter that is on or off: an icon, a word, and a number."""

    def __init__(self, text: str, icon: tuple[str, str] | None, parent: QWidget) -> None:
        super().__init__(text, font(TextSize.SMALL, tabular=True), parent)
        self._icon_of = icon
        self._count = 0
        self._wordless = False
        self.toggled.connect(self.updateGeometry)

    def show_count(self, count: int) -> None:
        """How many runs it stands for."""
        self._count = count
        self.setAccessibleName(f"{self.text()}: {count:,}")
        self.updateGeometry()
        self.update()

    def set_wordless(self, wordless: bool) -> None:
        """Whether its icon has to say it, where there is no room for the word; the tool tip has it then."""
        self._wordless = wordless and self._icon_of is not None
        self.setToolTip(self.text() if self._wordless else "")
        self.updateGeometry()
        self.update()

    @property
    def shown_text(self) -> str:
        """The word, if there is room for it."""
        return "" if self._wordless and not self.isChecked() else self.text()

    @property
    def _number(self) -> str:
        return f"{self._count:,}"

    def width_of(self, text: str) -> int:
        """How wide it is with this word."""
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self._number) + (metrics.horizontalAdvance(text) + 6 if text else 0)
        return width + 2 * _PADDING + (_ICON + 5 if self._icon_of else 0)

    def sizeHint(self) -> QSize:  # noqa: N802
        height = max(24, QFontMetrics(self.font()).height() + 8)
        return QSize(self.width_of(self.shown_text), height)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            on = self.isChecked()
            ring = self.has_ring
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
            painter.drawText(line, side | Qt.AlignmentFlag.AlignLeft, self.shown_text)
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
        self._low = False
        """Its page is low: one row has to do."""
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
        self._fit()

    def set_low(self, low: bool) -> None:
        """Whether the page is low. Then chips leave out their words rather than take a second row."""
        if low != self._low:
            self._low = low
            self._fit()

    def _fit(self) -> None:
        chips = [self.all, *(chip for chip in self.chips.values() if not chip.isHidden())]
        wanted = sum(chip.width_of(chip.text()) + GRID + 2 for chip in chips)
        for chip in self.chips.values():
            chip.set_wordless(self._low and wanted > self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

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
