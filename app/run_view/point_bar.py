"""Which point of the run's state is looked at: a slider over all of them, in words, and back to now."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.labels import QuietLabel
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.run_view.point_slider import PointSlider
from app.theme import font, theme
from app.why_not import tell_why_off
from core.progress_words import phase_title
from core.state_history import StatePoint
from core.visible_text import visible

_MOST_NAMED = 6
"""Writers of a point that are named."""


class _OneLine(QuietLabel):
    """A line that is cut where there is no room, with the whole as tool tip."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setFont(font(tabular=True))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), max(28, self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, self.sizeHint().height())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setPen(theme().color("quiet"))
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class PointBar(QWidget):
    """Follows the end until the user moves it, and again when he is back there.

    Signals: `chosen(int)` when another point is wanted, also because it follows.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: Sequence[StatePoint] = ()
        self._chosen: int | None = None
        self._said = ""
        self.slider = PointSlider(self)
        self.slider.setAccessibleName(self.tr("Point of the run"))
        self.slider.setAccessibleDescription(
            self.tr("The state at an earlier point of the run; the last is the present one.")
        )
        self.earlier = Button("", ButtonLook.FLAT, "chevron-left", self)
        self.earlier.setAccessibleName(self.tr("Point before this one"))
        self.earlier.setToolTip(self.tr("Point before this one (Alt+Left)"))
        self.later = Button("", ButtonLook.FLAT, "chevron-right", self)
        self.later.setAccessibleName(self.tr("Point after this one"))
        self.later.setToolTip(self.tr("Point after this one (Alt+Right)"))
        self.latest = Button(self.tr("Latest"), ButtonLook.FLAT, "chevrons-right", self)
        self.latest.setToolTip(self.tr("The present state, and follow it (Alt+End)"))
        tell_why_off(self.earlier, self.tr("This is the first point of the run."))
        tell_why_off(self.later, self.tr("This is the last point of the run."))
        tell_why_off(self.latest, self.tr("The present state is shown already."))
        self.words = _OneLine("", self)
        self.row = QWidget(self)
        row = QHBoxLayout(self.row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.earlier)
        row.addWidget(self.slider, 1)
        row.addWidget(self.later)
        row.addWidget(self.latest)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.row)
        self._line = QHBoxLayout()
        self._line.setSpacing(8)
        self._line.addWidget(self.words, 1)
        column.addLayout(self._line)
        self.slider.moved_by_user.connect(self.choose)
        self.earlier.clicked.connect(self.step_back)
        self.later.clicked.connect(self.step_on)
        self.latest.clicked.connect(self.choose_latest)

    def add_beside_words(self, widget: QWidget) -> None:
        """Something that stands at the end of the line of words."""
        self._line.addWidget(widget)

    @property
    def number(self) -> int:
        """The point that is looked at; -1: there is none."""
        last = len(self._points) - 1
        return last if self._chosen is None else min(self._chosen, last)

    @property
    def follows(self) -> bool:
        """Whether the end is looked at, wherever it will be."""
        return self._chosen is None

    def begin(self) -> None:
        """Another run: nothing is chosen."""
        self._points = ()
        self._chosen = None
        self._show()

    def show_points(self, points: Sequence[StatePoint]) -> None:
        """These are the points now."""
        if self._chosen is not None and self._chosen >= len(points):
            self._chosen = None
        self._points = points
        self.slider.show_points(points)
        self._show()

    @Slot(int)
    def choose(self, number: int) -> None:
        """Look at this point."""
        last = len(self._points) - 1
        number = min(max(0, number), last)
        self._chosen = None if number == last else number
        self._said = ""
        self._show()
        self.chosen.emit(self.number)

    @Slot()
    def choose_latest(self) -> None:
        """Look at the present state, and follow it."""
        self.choose(len(self._points) - 1)

    @Slot()
    def step_back(self) -> None:
        """The point before this one."""
        self.choose(self.number - 1)

    @Slot()
    def step_on(self) -> None:
        """The point after this one."""
        self.choose(self.number + 1)

    def say(self, text: str) -> None:
        """Something to be said about the point that is looked at, after its words."""
        self._said = text
        self._show_words()

    def _show_words(self) -> None:
        number = self.number
        words = self.point_words(self._points[number]) if number >= 0 else ""
        text = self.tr("{0} · {1}").format(words, self._said) if words and self._said else words
        self.words.setText(text)
        self.words.setAccessibleName(text)
        self.words.setToolTip(plain_tool_tip(text))

    def _show(self) -> None:
        number, last = self.number, len(self._points) - 1
        self.slider.blockSignals(True)
        self.slider.setValue(max(0, number))
        self.slider.blockSignals(False)
        self.slider.update()
        self.row.setVisible(last > 0)
        self.earlier.setEnabled(number > 0)
        self.later.setEnabled(number < last)
        self.latest.setEnabled(not self.follows)
        self._show_words()

    def point_words(self, point: StatePoint) -> str:
        """Which point it is: `Loop · iteration 3 · after vera, linter · 12:04:41`."""
        clock = time.strftime("%H:%M:%S", time.localtime(point.time))
        if point.is_start:
            return self.tr("{0} · {1}").format(self.tr("Start of the run"), clock)
        parts = [phase_title(point.phase)]
        if point.phase == "loop":
            parts.append(self.tr("iteration {0}").format(point.iteration))
        names = [visible(name) for name in point.writers[:_MOST_NAMED]]
        more = len(point.writers) - len(names)
        after = ", ".join(names)
        if more > 0:
            after = self.tr("{0} and {1} more").format(after, more)
        parts.append(self.tr("after {0}").format(after) if after else self.tr("after a group"))
        return " · ".join((*parts, clock))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.slider.update()
