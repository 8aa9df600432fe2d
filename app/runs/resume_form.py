"""What a run may have otherwise when it goes on: a few fields, and the button that resumes it."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app import field_text
from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT
from app.form_rows import Choice, ChoiceRow, Row, TextRow
from app.plain_text import plain_tool_tip
from app.reading_text import harmless
from app.runs.entry import RunEntry, RunLimits
from app.runs.wishes import CAPS, Limit, Wishes, conflicting_path, ended_by, objection
from app.runs.words import rule_words
from app.theme import font
from core.progress_words import cost_words, dollar_words
from core.state import MergeRule

LABEL_WIDTH, FIELD_WIDTH, NARROW = 130, 150, 460
_ROLES = {False: QPalette.ColorRole.PlaceholderText, True: QPalette.ColorRole.BrightText}
"""Quiet, or vermillion: what needs the user."""


class _ResumeButton(Button):
    """Enter presses it as well as Space: it has the focus because somebody means to resume."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class ResumeForm(QWidget):
    """Fields for one run. `compact`: only those that matter to how it ended, which `set_compact` changes.

    `bottom` has the button and says why it is off. It stands below the fields, or where it is put.

    Signals: `resume_requested(Path, RunOverrides)`.
    """

    resume_requested = Signal(object, object)

    def __init__(self, parent: QWidget | None = None, *, compact: bool = False) -> None:
        super().__init__(parent)
        self._compact = compact
        self._entry: RunEntry | None = None
        self._wishes = Wishes(RunLimits())
        self._blocked = ""
        self._narrow = False
        self._shown: list[Limit] = []
        """The fields that are offered, from top to bottom."""
        self.rows: dict[Limit, Row] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(2, 1)
        self._make_rows()
        self.bottom = QWidget(self)
        # Beside other things there is a more important button, which is the filled one.
        look = ButtonLook.OUTLINED if compact else ButtonLook.FILLED
        self.resume_button = _ResumeButton(self.tr("Resume"), look, "play", self.bottom)
        self.resume_button.clicked.connect(self.resume)
        self.why_not = QLabel(self.bottom)
        self.why_not.setTextFormat(Qt.TextFormat.PlainText)
        self.why_not.setWordWrap(True)
        row = QHBoxLayout(self.bottom)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.resume_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.why_not, 1, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4 if compact else 0)
        layout.setSpacing(4)
        layout.addLayout(self._grid)
        layout.addWidget(self.bottom)

    # --- rows ------------------------------------------------------------------------------------------

    def _make_rows(self) -> None:
        duration = (field_text.parse_duration, field_text.write_duration)
        self._text(Limit.MAX_LOOPS, self.tr("Loops, at most"), field_text.parse_required_count, steps=True)
        self._text(Limit.MAX_COST, self.tr("Budget"), field_text.parse_cap, field_text.write_cap)
        self._text(
            Limit.MAX_COST_OF_GROUP,
            self.tr("Budget of a group"),
            field_text.parse_cap,
            field_text.write_cap,
        )
        self._text(
            Limit.MAX_TOKENS,
            self.tr("Tokens, at most"),
            field_text.parse_count_cap,
            field_text.write_count_cap,
        )
        rules = [Choice(self.tr("Choose…"), None)]
        rules += [Choice(rule_words(rule), rule) for rule in MergeRule if rule is not MergeRule.ERROR]
        self._add(Limit.MERGE_RULE, ChoiceRow(self.tr("What counts"), self, rules))
        self._text(Limit.AGENT_TIMEOUT, self.tr("Time for an agent"), *duration)
        self._text(Limit.GROUP_TIMEOUT, self.tr("Time for a group"), *duration)
        self._text(Limit.RETRIES, self.tr("Try again"), field_text.parse_optional_number, steps=True)

    def _text(
        self,
        limit: Limit,
        label: str,
        parse: Callable[[str], object],
        write: Callable[[object], str] = field_text.write_plain,
        *,
        steps: bool = False,
    ) -> None:
        row = TextRow(label, self, parse, write, steps=steps)
        row.placeholder(lambda: self._placeholder(limit))
        row.field.returnPressed.connect(self.resume)
        # What is typed here is no edit of the workflow, whose undo the row would leave it to.
        row.field.removeEventFilter(row)
        self._add(limit, row)

    def _add(self, limit: Limit, row: Row) -> None:
        for label in (row.label, row.note, row.error):
            # Paths of a state come from agents.
            label.setTextFormat(Qt.TextFormat.PlainText)
        row.label.setMinimumHeight(FIELD_HEIGHT)
        row.label.setWordWrap(True)
        words = (QFontMetrics(font(bold=True)).horizontalAdvance(word) for word in row.label.text().split())
        row.label.setFixedWidth(max(LABEL_WIDTH, *words))
        if isinstance(row, ChoiceRow):
            row.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            row.control.setMinimumWidth(FIELD_WIDTH)
        else:
            row.control.setFixedWidth(FIELD_WIDTH)
        row.edited.connect(lambda value: self._wish(limit, value))
        # An error that the field itself shows keeps the button off too.
        if isinstance(row, TextRow):
            row.field.textEdited.connect(self._judge)
        row.explain(lambda: self._note(limit))
        self.rows[limit] = row
        for widget in (row.label, row.control, row.note):
            widget.hide()

    def _place_rows(self) -> None:
        """Lay out the fields that are offered; where there is little room the notes go below them."""
        top = Qt.AlignmentFlag.AlignTop
        for row in self.rows.values():
            for widget in (row.label, row.control, row.error, row.note):
                self._grid.removeWidget(widget)
        for at in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(at, 0)
        before: QWidget | None = None
        for number, limit in enumerate(self._shown):
            row, at = self.rows[limit], 4 * number
            self._grid.addWidget(row.label, at, 0, top)
            self._grid.addWidget(row.control, at, 1, top)
            self._grid.addWidget(row.error, at + 1, 1, 1, 2)
            row.place_note(self._grid, at, below=self._narrow, gap=2)
            self._grid.setRowMinimumHeight(at + 3, 8)
            if before is not None:
                QWidget.setTabOrder(before, row.control)
            before = row.control
        if before is not None:
            QWidget.setTabOrder(before, self.resume_button)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        narrow = self.width() < NARROW
        if narrow != self._narrow:
            self._narrow = narrow
            self._place_rows()

    # --- the run ---------------------------------------------------------------------------------------

    @property
    def wishes(self) -> Wishes:
        """With what the run would go on."""
        return self._wishes

    def show_run(self, entry: RunEntry | None) -> None:
        """Offer another run, or this one as it is now; what was typed for the same run stays."""
        same = (
            entry is not None
            and self._entry is not None
            and (entry.folder, entry.reason, entry.limits)
            == (self._entry.folder, self._entry.reason, self._entry.limits)
        )
        self._entry = entry
        if entry is not None and not same:
            self._wishes = Wishes.proposed(entry)
        self._refresh(keep=same)

    def set_compact(self, compact: bool) -> None:
        """Offer only what has to be changed, or everything that may be."""
        if compact != self._compact:
            self._compact = compact
            self._refresh(keep=True)

    def set_blocked(self, reason: str) -> None:
        """Why nothing can be resumed at present; empty: it can."""
        self._blocked = reason
        self._judge()

    def _refresh(self, *, keep: bool) -> None:
        entry = self._entry
        by = ended_by(entry) if entry is not None else None
        offered = [limit for limit in Limit if self._is_offered(limit, by)]
        # What has to be changed comes first.
        offered.sort(key=lambda limit: limit is not by)
        shown = offered if entry is not None and entry.resumable else []
        for limit, row in self.rows.items():
            if not keep:
                row.show_error("")
                row.show_value(self._wishes.value(limit))
            row.refresh_note()
            for widget in (row.label, row.control, row.note):
                widget.setVisible(limit in shown)
            row.label.setFont(font(bold=limit is by))
        if shown != self._shown:
            self._shown = shown
            self._place_rows()
        self._judge()

    def _is_offered(self, limit: Limit, by: Limit | None) -> bool:
        return limit is by if limit is Limit.MERGE_RULE or self._compact else True

    def shown_fields(self) -> tuple[QWidget, ...]:
        """The fields that are offered, from top to bottom."""
        return tuple(self.rows[limit].control for limit in self._shown)

    @property
    def first_field(self) -> QWidget:
        """Where one would begin: the first field that is offered; one that has to be changed stands first."""
        fields = self.shown_fields()
        return fields[0] if fields else self.resume_button

    def _wish(self, limit: Limit, value: object) -> None:
        before = getattr(self._entry.limits, limit.value, None) if self._entry is not None else None
        if value == math.inf and before is None:
            # There was no cap.
            value = None
        elif value is None and limit in (Limit.AGENT_TIMEOUT, Limit.RETRIES, *CAPS):
            # An empty field: as it was.
            value = before
        self._wishes = self._wishes.wish(limit, value)
        self._judge()

    @Slot()
    def _judge(self) -> None:
        """Say whether it can go on like this."""
        entry = self._entry
        if entry is None:
            self.resume_button.setEnabled(False)
            self._say(self._blocked, wrong=False)
            return
        wrong = any(row.error.text() for row in self.rows.values())
        why = self._blocked or objection(entry, self._wishes)
        self.resume_button.setEnabled(not (why or wrong))
        by = ended_by(entry)
        for limit, row in self.rows.items():
            needed = limit is by and bool(why) and entry.resumable
            row.label.setForegroundRole(_ROLES[needed])
        if why or wrong:
            self._say(why, wrong=bool(why) and not self._blocked and entry.resumable)
        else:
            self._say(
                self.tr("Goes on at {0}. What is done does not run again.").format(entry.next_place),
                wrong=False,
            )

    def _say(self, text: str, *, wrong: bool) -> None:
        text = harmless(text)
        self.why_not.setText(text)
        self.why_not.setForegroundRole(_ROLES[wrong])
        self.resume_button.setAccessibleDescription(text)
        self.resume_button.setToolTip("" if self.resume_button.isEnabled() else plain_tool_tip(text))

    @Slot()
    def resume(self) -> None:
        """Resume the run, if it can go on like this."""
        entry = self._entry
        if entry is not None and self.resume_button.isEnabled():
            self.resume_requested.emit(entry.folder, self._wishes.overrides(entry))

    # --- words -----------------------------------------------------------------------------------------

    def _placeholder(self, limit: Limit) -> str:
        entry = self._entry
        if entry is None:
            return ""
        before = getattr(entry.limits, limit.value, None)
        if limit is Limit.GROUP_TIMEOUT and before is None:
            return self.tr("as in the workflow")
        if before is None:
            return self.tr("none")
        if limit in (Limit.AGENT_TIMEOUT, Limit.GROUP_TIMEOUT):
            return field_text.write_duration(before)
        return field_text.write_money(before)

    def _note(self, limit: Limit) -> str:
        entry = self._entry
        if entry is None:
            return ""
        before = entry.limits
        match limit:
            case Limit.MAX_LOOPS:
                return self.tr("{0} of {1} are used").format(entry.iteration, before.max_loops)
            case Limit.MAX_COST:
                return self._spent_of(cost_words(entry.spent), before.max_cost_usd)
            case Limit.MAX_COST_OF_GROUP:
                return self._spent_of(cost_words(entry.group_spent), before.max_cost_usd_per_group)
            case Limit.MAX_TOKENS:
                used = f"{entry.spent.usage.total_tokens:,}"
                if before.max_tokens is None:
                    return self.tr("{0} are used").format(used)
                return self.tr("{0} of {1} are used").format(used, f"{before.max_tokens:,}")
            case Limit.MERGE_RULE:
                return self.tr("where two agents write different values to {0}").format(
                    conflicting_path(entry)
                )
            case Limit.AGENT_TIMEOUT:
                return self.tr("for every agent, when it is changed")
            case Limit.GROUP_TIMEOUT:
                return self.tr("for every group, when it is changed")
            case Limit.RETRIES:
                return self.tr("times, after an overload or a broken connection")

    def _spent_of(self, spent: str, cap: float | None) -> str:
        words = spent or dollar_words(0.0)
        if cap is None:
            return self.tr("US dollars; {0} so far").format(words)
        return self.tr("US dollars, or “none”; {0} of {1} so far").format(words, dollar_words(cap))
