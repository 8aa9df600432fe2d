"""How far each cap of the run's budget is used up: a bar and words for each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.run_view.cost_rows import paint_share
from app.theme import font, paint_icon, theme
from core.costs import BudgetUse
from core.progress import GroupProgress
from core.progress_words import dollar_words, phase_title
from core.spending import WARN_AT
from core.visible_text import visible

_SIGN = 14
_BAR = 120
_GAP = 8


class BudgetRow(QWidget):
    """One cap: what it is about, a bar, and what is used of it in words."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = self.words = ""
        self.share: float | None = None
        """None: nobody knows."""
        self.words_width = 0
        """Pixels that the words of all rows have, so that their bars stand below each other."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def warns(self) -> bool:
        """Whether it is nearly used up, or is."""
        return self.share is not None and self.share >= WARN_AT

    def show_use(self, use: BudgetUse) -> None:
        """Show this cap."""
        cap = use.cap
        if cap.name == "max_tokens":
            self.title = self.tr("Tokens")
            used = self.tr("{0} of {1} tokens").format(f"{int(cap.spent):,}", f"{int(cap.limit):,}")
        else:
            self.title = self.tr("Cost")
            if use.group is not None:
                self.title = self.tr("Cost of {0}").format(self._group_words(use.group))
            used = self.tr("{0} of {1}").format(dollar_words(cap.spent), dollar_words(cap.limit))
        self.share = use.share if use.is_known else None
        if not use.is_known:
            self.words = self.tr("price unknown, budget {0}").format(dollar_words(cap.limit))
        elif use.unpriced:
            self.words = self.tr("{0} · more than {1} %, some prices are unknown").format(
                used, int(use.share * 100)
            )
        else:
            self.words = self.tr("{0} · {1} %").format(used, int(use.share * 100))
        name = self.tr("{0}: {1}").format(self.title, self.words)
        self.setAccessibleName(name)
        self.setToolTip(plain_tool_tip(name))
        self.updateGeometry()
        self.update()

    def _group_words(self, group: GroupProgress) -> str:
        words = visible(group.name) or phase_title(group.phase)
        if group.phase == "loop":
            return self.tr("{0}, iteration {1}").format(words, group.iteration)
        return words

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(font(tabular=True))
        text = metrics.horizontalAdvance(self.title) + metrics.horizontalAdvance(self.words)
        return QSize(text + _BAR + _SIGN + 3 * _GAP, max(24, metrics.height() + 6))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, self.sizeHint().height())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            metrics = QFontMetrics(font(tabular=True))
            painter.setFont(font(tabular=True))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            width, height = self.width(), self.height()
            sign = _SIGN + 4 if self.warns else 0
            words = metrics.elidedText(self.words, Qt.TextElideMode.ElideRight, max(60, width * 2 // 3))
            right = width - min(
                max(60, width * 2 // 3), max(self.words_width, metrics.horizontalAdvance(words))
            )
            painter.setPen(colors.color("failed" if self.warns else "text"))
            wide = metrics.horizontalAdvance(words)
            painter.drawText(QRectF(width - wide, 0, wide + 1, height), flags, words)
            if self.warns:
                box = QRectF(width - wide - sign, (height - _SIGN) / 2, _SIGN, _SIGN)
                paint_icon(painter, "triangle-alert", box, colors.color("failed"))
            # With room for the sign, whether there is one or not.
            room = right - _SIGN - 4 - _GAP
            bar = min(_BAR, max(0, room - min(metrics.horizontalAdvance(self.title), room // 2) - _GAP))
            if bar > 24 and self.share is not None:
                box = QRectF(room - bar, height / 2 - 3, bar, 6)
                paint_share(painter, box, self.share, "failed" if self.warns else "succeeded")
            else:
                bar = 0
            painter.setPen(colors.color("quiet"))
            left = max(0, room - bar - _GAP)
            title = metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, left)
            painter.drawText(QRectF(0, 0, left, height), flags, title)


class BudgetRows(QWidget):
    """A row for each cap; hidden where there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[BudgetRow] = []
        self._uses: Sequence[BudgetUse] = ()
        self._only_nearest = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.hide()

    def show_uses(self, uses: Sequence[BudgetUse]) -> None:
        """Show these caps."""
        self._uses = uses
        if self._only_nearest:
            uses = sorted(uses, key=lambda use: use.share)[-1:]
        while len(self.rows) < len(uses):
            row = BudgetRow(self)
            self.rows.append(row)
            self._column.addWidget(row)
        for row, use in zip(self.rows, uses, strict=False):
            row.show_use(use)
            row.show()
        for row in self.rows[len(uses) :]:
            row.hide()
        metrics = QFontMetrics(font(tabular=True))
        width = max((metrics.horizontalAdvance(row.words) for row in self.rows[: len(uses)]), default=0)
        for row in self.rows:
            row.words_width = width
            row.update()
        self.setVisible(bool(uses))

    def show_only_nearest(self, only: bool) -> None:
        """Where there is little room: only the cap that is nearest to its end."""
        if only != self._only_nearest:
            self._only_nearest = only
            self.show_uses(self._uses)
