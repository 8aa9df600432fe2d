"""The timeline of a run: when each agent worked, and what it brought that they worked at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QElapsedTimer, QEvent, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QFontMetrics,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QSizePolicy,
    QSplitter,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from app.buttons import Button, ButtonLook
from app.labels import Line
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.run_view.timeline_area import TimelineArea
from app.run_view.timeline_words import savings_lines
from app.theme import GRID, font, icon, is_appearance_event, paint_icon, theme
from app.why_not import offer
from core.events import Event, GroupStarted, RunFinished, RunStarted
from core.progress import RunProgress
from core.run_times import RunChart, chain_words, most_at_once, savings_words

_ICON = 14
_UNLIMITED = (1 << 24) - 1
"""The height of a widget that has no limit, as Qt has it."""
_REFRESH_MS = 250
"""Live numbers and bars change at most four times a second."""
_ZOOM = 1.5
"""How much more of detail, or less, one action shows."""


class SavingsLabel(QWidget):
    """The savings in one line at the right, in fewer words where there is little room."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._texts: tuple[str, ...] = ("",)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def text(self) -> str:
        """All of it."""
        return self._texts[0]

    def show_texts(self, *texts: str) -> None:
        """Show the first of these, longest first, for which there is room."""
        if texts != self._texts:
            self._texts = texts
            self.setAccessibleName(self.text)
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(font(tabular=True))
        return QSize(metrics.horizontalAdvance(self.text) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, self.sizeHint().height())

    def shown_text(self) -> str:
        """What there is room for."""
        metrics = QFontMetrics(font(tabular=True))
        for text in self._texts:
            if metrics.horizontalAdvance(text) <= self.width():
                return text
        return metrics.elidedText(self._texts[-1], Qt.TextElideMode.ElideRight, self.width())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setFont(font(tabular=True))
            painter.setPen(theme().color("quiet"))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(self.rect(), flags, self.shown_text())


class FoldButton(QAbstractButton):
    """The title of a panel, which hides the panel's body and shows it again."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(title)
        self._open = True
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_open(self, shown: bool, words: str) -> None:
        """Say whether the body is shown, and what a click does."""
        self._open = shown
        self.setToolTip(words)
        self.setAccessibleDescription(words)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(font(bold=True))
        return QSize(metrics.horizontalAdvance(self.text()) + _ICON + 4 * GRID, metrics.height() + 12)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            middle = self.height() / 2
            lit = self.underMouse() or self.hasFocus()
            sign = QRectF(GRID, middle - _ICON / 2, _ICON, _ICON)
            name = "chevron-down" if self._open else "chevron-right"
            paint_icon(painter, name, sign, colors.color("text" if lit else "quiet"))
            painter.setFont(font(bold=True))
            painter.setPen(colors.color("text"))
            box = QRectF(sign.right() + GRID, 0, self.width(), self.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
            if self.hasFocus():
                painter.setPen(QPen(colors.color("accent"), 2))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 4, -1, -4), GRID, GRID)


class Timeline(QWidget):
    """A panel with a run's timeline.

    Signals: `turn_requested(str)`: the user wants to see this turn; `collapsed_changed(bool)`: its body was
    hidden, or is shown again.
    """

    turn_requested = Signal(str)
    collapsed_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress = RunProgress()
        self._now = 0.0
        self._changed: set[str] | None = set()
        """Turns that changed since the last refresh; None: all may have."""
        self._stale = False
        self._open_height = 0
        self.fold_button = FoldButton(self.tr("Timeline"), self)
        self.savings = SavingsLabel(self)
        self.fit_button = Button(self.tr("Fit"), ButtonLook.LINK, parent=self)
        self.fit_button.setToolTip(self.tr("Show the whole run (0)"))
        self.fit_button.setAccessibleDescription(self.tr("Show the whole run"))
        self.fit_button.hide()
        self.area = TimelineArea(self)
        self._add_actions()
        self.header = QWidget(self)
        head = QHBoxLayout(self.header)
        head.setContentsMargins(GRID, 0, 3 * GRID, 0)
        head.setSpacing(2 * GRID)
        head.addWidget(self.fold_button)
        head.addWidget(self.savings, 1)
        head.addWidget(self.fit_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(Line(self))
        layout.addWidget(self.header)
        layout.addWidget(self.area, 1)
        self._since = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._refresh)
        self.fold_button.clicked.connect(self._fold_clicked)
        self.fit_button.clicked.connect(self.area.fit)
        self.area.fitted.connect(self.fit_button.setHidden)
        self.area.turn_requested.connect(self.turn_requested)
        self._say_fold()

    def _add_actions(self) -> None:
        """What wheel and keys do, for who looks for it by name."""
        zoom_in = QAction(icon("search", "quiet"), self.tr("Zoom in"), self.area)
        zoom_out = QAction(icon("search", "quiet"), self.tr("Zoom out"), self.area)
        show_all = QAction(self.tr("Fit: show the whole run"), self.area)
        zoom_in.triggered.connect(lambda: self.area.zoom(_ZOOM))
        zoom_out.triggered.connect(lambda: self.area.zoom(1 / _ZOOM))
        show_all.triggered.connect(self.area.fit)
        self.area.addActions([zoom_in, zoom_out, show_all])
        for action in (zoom_out, show_all):
            offer(action, False, self.tr("The whole run is shown."))
            self.area.fitted.connect(
                lambda fits, action=action: offer(action, not fits, self.tr("The whole run is shown."))
            )
        # It is there only while it does something; the action always is.
        self.fit_button.followed = show_all

    # --- the run ---------------------------------------------------------------------------------------

    def begin(self, progress: RunProgress, chart: RunChart | None = None) -> None:
        """Show another run, with the past that it may have. `chart`: of a run that is over, where it is
        known."""
        self._progress = progress
        self._now = progress.last_event or 0.0
        self._changed = set()
        self.area.begin(progress, chart)
        self._show_savings()

    def take(self, events: Sequence[Event], now: float) -> None:
        """These events were just applied to the progress; `now` in seconds since the epoch."""
        for event in events:
            if isinstance(event, RunStarted | RunFinished):
                self._changed = None
            if self._changed is None:
                break
            if isinstance(event, GroupStarted):
                # Some may have been begun before, and wait again.
                self._changed.update(ref.turn for ref in event.turns)
            turn = getattr(event, "turn", None)
            if isinstance(turn, str):
                self._changed.add(turn)
        self._now = now
        self._want_refresh(at_once=any(isinstance(event, RunFinished) for event in events))

    def tick(self, now: float) -> None:
        """Time went on."""
        self._now = now
        self._want_refresh()

    @Slot(str)
    def show_turn(self, turn: str) -> None:
        """Mark the turn whose tab is shown; what is no turn marks none."""
        self.area.show_turn(turn if turn in self._progress.turns else "")

    def _want_refresh(self, *, at_once: bool = False) -> None:
        self._stale = True
        if not self.isVisible() or (self._timer.isActive() and not at_once):
            return
        since = self._since.elapsed() if self._since.isValid() else _REFRESH_MS
        if at_once or since >= _REFRESH_MS:
            self._refresh()
        else:
            self._timer.start(int(_REFRESH_MS - since))

    @Slot()
    def _refresh(self) -> None:
        if not self._stale or not self.isVisible():
            return
        self._timer.stop()
        self._since.start()
        self._stale = False
        changed, self._changed = self._changed, set()
        self.area.refresh(changed, self._now)
        self._show_savings()

    def _show_savings(self) -> None:
        savings = self.area.plot.savings
        words = savings_words(savings)
        short = savings_words(savings, short=True)
        chain = chain_words(savings)
        told = [words, short]
        if chain:
            told[:0] = [self.tr("{0} · {1}").format(each, chain) for each in (words, short)]
        self.savings.show_texts(*told)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()

    # --- folding ---------------------------------------------------------------------------------------

    @property
    def collapsed(self) -> bool:
        """Whether only the header is shown."""
        return self.area.isHidden()

    def set_collapsed(self, collapsed: bool) -> None:
        """Show only the header, or all."""
        if collapsed == self.collapsed:
            return
        if collapsed:
            self._open_height = self.height()
        self.area.setHidden(collapsed)
        height = self.header.sizeHint().height() + 1
        self.setMaximumHeight(height if collapsed else _UNLIMITED)
        self._ask_for(height if collapsed else max(self._open_height, self.sizeHint().height()))
        self._say_fold()
        self.collapsed_changed.emit(collapsed)

    def _ask_for(self, height: int) -> None:
        """Take so much room of the splitter; the panel before this one gives or gets it."""
        splitter = self.parentWidget()
        if not isinstance(splitter, QSplitter):
            return
        place, sizes = splitter.indexOf(self), splitter.sizes()
        if place > 0:
            sizes[place - 1] += sizes[place] - height
            sizes[place] = height
            splitter.setSizes(sizes)

    @Slot()
    def _fold_clicked(self) -> None:
        self.set_collapsed(not self.collapsed)

    def _say_fold(self) -> None:
        words = self.tr("Show the timeline") if self.collapsed else self.tr("Hide the timeline")
        self.fold_button.show_open(not self.collapsed, words)

    # --- looks -----------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:  # noqa: N802
        head = self.header.sizeHint().height() + 1
        return QSize(400, head if self.collapsed else head + self.area.sizeHint().height())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event):
            self.update()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            lines = self.savings_tip()
            if lines and self.savings.geometry().contains(self.header.mapFrom(self, event.pos())):
                QToolTip.showText(event.globalPos(), plain_tool_tip("\n".join(lines)), self.savings)
                return True
        return super().event(event)

    def savings_tip(self) -> list[str]:
        """How the savings are meant, a sentence a line."""
        plot = self.area.plot
        return savings_lines(plot.savings, most_at_once(plot.chart, plot.now), self.tr)
