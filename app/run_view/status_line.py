"""The status line: the run in one line while it goes on, what is ready while it does not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.accessible import announce
from app.buttons import Button, ButtonLook
from app.labels import NumberLabel, QuietLabel
from app.painting import paint_method
from app.severity import counted
from app.theme import font, paint_icon, theme
from core.progress_words import cost_words, dollar_words, duration_words, phase_words, span_words
from core.statuses import RunStatus, StopKind

if TYPE_CHECKING:
    from core.problems import Problem
    from core.progress import RunProgress
    from core.usage import Spent

_HEIGHT = 28
_SIGN = 14
_SAY_MS = 6000


class BudgetBar(QWidget):
    """How much of the budget is used up: from WARN_AT on in vermillion, and with a sign beside the bar."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share = 0.0
        self.setFixedSize(QSize(_SIGN + 4 + 96, _SIGN))
        self.hide()

    @property
    def warns(self) -> bool:
        """Whether it is nearly used up, or is."""
        # Nothing is used up before the first run.
        from core.spending import WARN_AT

        return self.share >= WARN_AT

    def show_share(self, share: float, words: str) -> None:
        """Show this part, 0 to 1 (more is full). `words`: of which cap, for who hears it or hovers."""
        self.share = min(1.0, max(0.0, share))
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.setVisible(True)
        self.update()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            tone = colors.color("failed" if self.warns else "succeeded")
            left = 0
            if self.warns:
                paint_icon(painter, "triangle-alert", QRectF(0, 0, _SIGN, _SIGN), tone)
                left = _SIGN + 4
            box = QRectF(left + 0.5, (self.height() - 6) / 2 + 0.5, 95, 5)
            painter.setPen(colors.color("line"))
            painter.setBrush(colors.color("line"))
            painter.drawRoundedRect(box, 2.5, 2.5)
            painter.setPen(tone)
            painter.setBrush(tone)
            if self.share > 0:
                width = max(box.height(), box.width() * self.share)
                painter.drawRoundedRect(QRectF(box.left(), box.top(), width, box.height()), 2.5, 2.5)


class _Light(QWidget):
    """A dot and a word: whether something is going on."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._token = "quiet"
        self._dot = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def show_word(self, text: str, token: str, *, dot: bool) -> None:
        """Show a word in a colour of the theme."""
        if (text, token, dot) != (self.text, self._token, self._dot):
            self.text, self._token, self._dot = text, token, dot
            self.setAccessibleName(text)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.fontMetrics().horizontalAdvance(self.text) + (16 if self._dot else 2), _HEIGHT - 4)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            tone = theme().color(self._token)
            left = 0
            middle = self.height() / 2
            if self._dot:
                painter.setPen(tone)
                painter.setBrush(tone)
                painter.drawEllipse(QRectF(1, middle - 4, 8, 8))
                left = 15
            painter.setPen(tone)
            metrics = self.fontMetrics()
            painter.drawText(left, int(middle + (metrics.ascent() - metrics.descent()) / 2), self.text)


class StatusLine(QWidget):
    """One line at the bottom of the window.

    Signals: `problems_requested()` when the number of problems is clicked.
    """

    accessible_role = QAccessible.Role.StatusBar

    problems_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._busy = False
        self.light = _Light(self)
        self.light.setFont(font())
        self.place = QuietLabel("", self)
        self.running = NumberLabel(self)
        self.elapsed = NumberLabel(self)
        self.tokens = NumberLabel(self)
        self.cost = NumberLabel(self)
        self.budget = BudgetBar(self)
        self.backend = QuietLabel("", self)
        self.problems = Button("", ButtonLook.LINK, "", self)
        self.problems.clicked.connect(self.problems_requested)
        self.said = QuietLabel("", self)
        for label in (self.running, self.elapsed, self.tokens, self.cost):
            label.setForegroundRole(self.place.foregroundRole())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 1, 12, 0)
        layout.setSpacing(18)
        for widget in (self.light, self.place, self.running, self.elapsed, self.tokens):
            layout.addWidget(widget)
        money = QHBoxLayout()
        money.setSpacing(6)
        money.addWidget(self.cost)
        money.addWidget(self.budget)
        layout.addLayout(money)
        layout.addWidget(self.backend)
        layout.addWidget(self.problems)
        layout.addWidget(self.said, 1)
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        layout.addStretch(0)
        self.setFixedHeight(max(_HEIGHT, self.fontMetrics().height() + 10))
        self._forget = QTimer(self)
        self._forget.setSingleShot(True)
        self._forget.setInterval(_SAY_MS)
        self._forget.timeout.connect(self.said.clear)
        self.show_idle(None, 0)
        self.show_problems(())

    # --- what is shown ---------------------------------------------------------------------------------

    def show_progress(self, progress: RunProgress, now: float) -> None:
        """The run as it is; at most four times a second."""
        if progress.stopping is None:
            word = self.tr("Running")
        elif progress.stopping is StopKind.NOW:
            word = self.tr("Stopping")
        else:
            word = self.tr("Stopping after the running agents")
        self._show_standing(False)
        if progress.questions:
            self.light.show_word(self.tr("Needs your answer"), "failed", dot=True)
        elif progress.paused and progress.stopping is None:
            self.light.show_word(self.tr("Paused"), "failed", dot=True)
        else:
            self.light.show_word(word, "accent", dot=True)
        self._show_place(self.tr("Preparing the folder") if progress.preparing else phase_words(progress))
        self.running.show_text(self._at_work_words(progress, now))
        self._show_numbers(progress, now)

    def _at_work_words(self, progress: RunProgress, now: float) -> str:
        """How many agents work, and how long it is until one that failed is tried again."""
        turns = progress.turns_at_work
        again = [turn.retry_at for turn in turns if turn.retry_at is not None]
        parts = [self.tr("{0} running").format(len(turns) - len(again))] if len(turns) > len(again) else []
        if again:
            wait = span_words(max(0.0, min(again) - now) + 0.999)
            parts.append(self.tr("{0} again in {1}").format(len(again), wait))
        return " · ".join(parts)

    def show_idle(self, progress: RunProgress | None, now: float) -> None:
        """No run goes on; `progress`: the last one, whose numbers stay."""
        self.running.show_text("")
        self._show_standing(True)
        status = progress.status if progress is not None else None
        if progress is None or status is None:
            self.light.show_word(self.tr("Ready"), "quiet", dot=False)
            self._show_place("")
            for label in (self.elapsed, self.tokens, self.cost):
                label.show_text("")
            self.budget.hide()
            return
        word, token = {
            RunStatus.COMPLETED: (self.tr("Completed"), "succeeded"),
            RunStatus.ENDED: (self.tr("Ended"), "other"),
            RunStatus.STOPPED: (self.tr("Stopped"), "quiet"),
            RunStatus.FAILED: (self.tr("Failed"), "failed"),
        }[status]
        self.light.show_word(word, token, dot=True)
        iterations = progress.iteration
        words = self.tr("{0} iteration") if iterations == 1 else self.tr("{0} iterations")
        self._show_place(words.format(iterations) if iterations else "")
        self._show_numbers(progress, now)

    @Slot()
    def show_starting(self) -> None:
        """Run was pressed; the plan is being made."""
        self.show_idle(None, 0)
        self.light.show_word(self.tr("Starting"), "accent", dot=True)

    @Slot()
    def show_asking(self) -> None:
        """A question has to be answered before the run begins."""
        self.light.show_word(self.tr("Needs your answer"), "failed", dot=True)

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """How much is wrong with the workflow."""
        self.problems.setText(counted(problems))
        self._show_standing(not self._busy)

    def show_backend(self, text: str) -> None:
        """Which agent CLI there is, such as `opencode 1.18.33`."""
        self.backend.setText(text)
        self._show_standing(not self._busy)

    def _show_standing(self, resting: bool) -> None:
        """What is only of interest while no run goes on."""
        self._busy = not resting
        self.backend.setVisible(resting and bool(self.backend.text()))
        self.problems.setVisible(resting and bool(self.problems.text()))

    @Slot(str)
    def say(self, text: str) -> None:
        """A sentence that goes by itself."""
        self.said.setText(text)
        announce(self, text)
        self._forget.start()

    def _show_place(self, text: str) -> None:
        self.place.setText(text)
        self.place.setVisible(bool(text))

    def _show_numbers(self, progress: RunProgress, now: float) -> None:
        self.elapsed.show_text(duration_words(progress.seconds(now)))
        spent = progress.spent
        tokens = spent.usage.total_tokens
        limit, cap = progress.budget.max_tokens, progress.budget.max_cost_usd
        if limit is not None:
            text = self.tr("{0} of {1} tokens").format(f"{tokens:,}", f"{limit:,}")
        else:
            text = self.tr("{0} tokens").format(f"{tokens:,}")
        self.tokens.show_text(text if tokens or limit is not None else "")
        cost = cost_words(spent)
        if cap is not None:
            # Nothing used is known to cost nothing; what has no known price is not.
            words = self.tr("{0}, budget {1}") if spent.unpriced else self.tr("{0} of {1}")
            cost = words.format(cost or dollar_words(0.0), dollar_words(cap))
        self.cost.show_text(cost)
        self._show_budget(progress)

    def _show_budget(self, progress: RunProgress) -> None:
        """The cap that is nearest to its end."""
        used = budget_used(progress)
        if not used:
            self.budget.hide()
            return
        share, name = max(used)
        caps = {
            "max_cost_usd": self.tr("{0} % of the budget is used"),
            "max_cost_usd_per_group": self.tr("{0} % of the budget of this group is used"),
            "max_tokens": self.tr("{0} % of the tokens that the run may use are used"),
        }
        words = caps[name].format(int(share * 100))
        if progress.spent.unpriced and name != "max_tokens":
            words = self.tr("{0}, and some of the tokens have no known price").format(words)
        self.budget.show_share(share, words)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))
            painter.fillRect(0, 0, self.width(), 1, theme().color("line"))


def budget_used(progress: RunProgress) -> list[tuple[float, str]]:
    """How much of every cap is used up (1: all), and which it is.

    A cap in dollars is left out while nothing that was used has a known price: nobody can tell.
    """
    budget = progress.budget
    used: list[tuple[float, str]] = []

    def add(name: str, cap: float | None, amount: float) -> None:
        if cap is not None:
            used.append((amount / cap if cap else 1.0, name))

    def add_cost(name: str, cap: float | None, spent: Spent) -> None:
        if spent.usage.cost_usd is not None or not spent.unpriced:
            add(name, cap, spent.usage.cost_usd or 0.0)

    add_cost("max_cost_usd", budget.max_cost_usd, progress.spent)
    group = next(reversed(progress.groups.values()), None)
    if group is not None and progress.running:
        add_cost("max_cost_usd_per_group", budget.max_cost_usd_per_group, progress.spent_by(group))
    add("max_tokens", budget.max_tokens, progress.spent.usage.total_tokens)
    return used
