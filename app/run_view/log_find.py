"""The bar over a log: what is looked for, how many matches there are, and whether only they are shown."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT, OutlinedField
from app.flow_layout import FlowLayout
from app.painting import paint_method
from app.platform_keys import option_keys
from app.theme import GRID, TextSize, font, theme
from core.line_kinds import EVERY_KIND, LineKind
from core.line_needle import Needle

_BUTTON = 7 * GRID
_NARROW = 380
"""Below so many logical pixels the count has a row of its own."""


class _NeedleField(OutlinedField):
    """The field of the bar; Enter and Shift+Enter step, Escape closes."""

    stepped = Signal(int)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.stepped.emit(-1 if back else 1)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class _IconButton(Button):
    """A small square button with an icon."""

    def __init__(self, icon_name: str, name: str, key: str, parent: QWidget, *, checkable: bool) -> None:
        super().__init__("", ButtonLook.FLAT, icon_name, parent)
        self.setCheckable(checkable)
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({key})" if key else name)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(_BUTTON, _BUTTON)


class FindBar(QWidget):
    """The bar above a log.

    Signals: `changed()`: something else is looked for or shown; `step_requested(int)` with 1 or -1;
    `closed()`.
    """

    accessible_role = QAccessible.Role.Grouping

    changed = Signal()
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Find in the log"))
        self._has_kinds = True
        self._field = _NeedleField(self)
        self._field.setPlaceholderText(self.tr("Find"))
        self._field.setAccessibleName(self.tr("Text to find"))
        self._field.setClearButtonEnabled(False)
        self._field.setMinimumSize(16 * GRID, FIELD_HEIGHT)
        self._case = self._toggle("case-sensitive", self.tr("Match upper and lower case"), option_keys("C"))
        self._word = self._toggle("whole-word", self.tr("Whole words only"), option_keys("W"))
        self._expression = self._toggle("regex", self.tr("Regular expression"), option_keys("X"))
        self._only = self._toggle("funnel", self.tr("Only lines that match"), QKeySequence("Ctrl+Shift+F"))
        self._previous = _IconButton("arrow-up", self.tr("Previous match"), "Shift+F3", self, checkable=False)
        self._next = _IconButton("arrow-down", self.tr("Next match"), "F3", self, checkable=False)
        self._close = _IconButton("x", self.tr("Close"), "Esc", self, checkable=False)
        self._count = self._label()
        self._lines = self._label()
        self._chips = {
            LineKind.TEXT: self._chip(self.tr("Text"), self.tr("What the agent says and prints")),
            LineKind.TOOLS: self._chip(self.tr("Tools"), self.tr("Calls of tools with their results")),
            LineKind.ERRORS: self._chip(
                self.tr("Errors"), self.tr("stderr, errors, warnings and tools that failed")
            ),
            LineKind.OWN: self._chip(self.tr("Steps"), self.tr("Steps, state updates, notes and retries")),
        }
        self._arrange()
        self._field.textChanged.connect(self.changed)
        self._field.stepped.connect(self.step_requested)
        self._field.left.connect(self.closed)
        self._previous.clicked.connect(self._step_back)
        self._next.clicked.connect(self._step_on)
        self._close.clicked.connect(self.closed)
        self._only.toggled.connect(self._show_rows)
        for button in (self._case, self._word, self._expression, self._only, *self._chips.values()):
            button.toggled.connect(self.changed)
        self._show_rows()
        self.hide()

    def _toggle(self, icon_name: str, name: str, keys: QKeySequence) -> _IconButton:
        shown = keys.toString(QKeySequence.SequenceFormat.NativeText)
        return _IconButton(icon_name, name, shown, self, checkable=True)

    def _label(self) -> QLabel:
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setFont(font(TextSize.SMALL, tabular=True))
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return label

    def _chip(self, text: str, about: str) -> Button:
        chip = Button(text, ButtonLook.OUTLINED, "", self)
        chip.setCheckable(True)
        chip.setToolTip(about)
        chip.setAccessibleDescription(about)
        return chip

    def _arrange(self) -> None:
        self._first = QHBoxLayout()
        self._first.setSpacing(GRID // 2)
        self._first.addWidget(self._field, 1)
        for button in (self._case, self._word, self._expression):
            self._first.addWidget(button)
        self._first.addSpacing(GRID)
        self._first.addWidget(self._count)
        self._first.addSpacing(GRID)
        for button in (self._previous, self._next, self._only, self._close):
            self._first.addWidget(button)
        self._chip_row = QWidget(self)
        self._chip_row.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        flow = FlowLayout(self._chip_row, GRID)
        for chip in self._chips.values():
            flow.addWidget(chip)
        self._second = QHBoxLayout()
        self._second.setSpacing(2 * GRID)
        self._second.addWidget(self._chip_row, 1)
        self._second.addWidget(self._lines)
        self._third = QHBoxLayout()
        self._third.setSpacing(2 * GRID)
        for row in (self._second, self._third):
            row.setContentsMargins(0, 0, 2 * GRID, 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID + 1)
        layout.setSpacing(GRID)
        for row in (self._first, self._second, self._third):
            layout.addLayout(row)

    # --- what is asked for ------------------------------------------------------------------------------

    @property
    def needle(self) -> Needle | None:
        """What is looked for; None: nothing."""
        text = self._field.text()
        if not text:
            return None
        return Needle(
            text,
            case=self._case.isChecked(),
            word=self._word.isChecked(),
            expression=self._expression.isChecked(),
        )

    @property
    def only(self) -> bool:
        """Whether only lines that match are to be shown."""
        return self._only.isChecked()

    @property
    def kinds(self) -> LineKind:
        """Which lines count; every kind where none is chosen."""
        chosen = LineKind(0)
        if self.only and self._has_kinds:
            for kind, chip in self._chips.items():
                if chip.isChecked():
                    chosen |= kind
        return chosen or EVERY_KIND

    def set_only(self, only: bool) -> None:
        """Show only lines that match, or all."""
        self._only.setChecked(only)

    def toggle(self, what: str) -> None:
        """Switch `case`, `word` or `expression`."""
        {"case": self._case, "word": self._word, "expression": self._expression}[what].toggle()

    def set_has_kinds(self, has_kinds: bool) -> None:
        """Whether the lines of this log are of several kinds."""
        self._has_kinds = has_kinds
        self._show_rows()

    def open_with(self, text: str) -> None:
        """Show the bar, with `text` when it is not empty, ready to type."""
        if text:
            self._field.setText(text)
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()

    @Slot()
    def _step_back(self) -> None:
        self.step_requested.emit(-1)

    @Slot()
    def _step_on(self) -> None:
        self.step_requested.emit(1)

    # --- what is said -----------------------------------------------------------------------------------

    def show_count(self, ordinal: int | None, count: int, *, searching: bool) -> None:
        """Say where one is: "2 of 14", "no match", "14 so far"."""
        if not self._field.text():
            text = ""
        elif searching and ordinal is None:
            text = self.tr("{count} so far").format(count=f"{count:,}")
        elif count == 0:
            text = self.tr("no match")
        elif ordinal is None:
            text = self.tr("{count} found").format(count=f"{count:,}")
        else:
            text = self.tr("{ordinal} of {count}").format(
                ordinal=f"{ordinal:,}", count=f"{count:,}" + ("…" if searching else "")
            )
        self._say(text, "")

    def show_problem(self, short: str, text: str) -> None:
        """Say in a few words, and in a sentence, why nothing can be found."""
        self._say(short, text)

    def _say(self, text: str, problem: str) -> None:
        if text != self._count.text():
            self._count.setText(text)
            # It grows while one looks, and does not jump back.
            width = self._count.fontMetrics().horizontalAdvance(text) + GRID
            self._count.setMinimumWidth(max(width, self._count.minimumWidth()) if text else 0)
        if problem != self._count.toolTip():
            self._count.setToolTip(problem)
            self._field.setAccessibleDescription(problem)
            role = self.palette().ColorRole.BrightText if problem else QPalette.ColorRole.PlaceholderText
            self._count.setForegroundRole(role)

    def show_lines(self, shown: int | None, lines: int, *, searching: bool) -> None:
        """Say how many lines are shown of how many; None: all of them."""
        text = ""
        if shown is not None:
            more = "…" if searching else ""
            text = self.tr("{shown} of {lines} lines").format(shown=f"{shown:,}{more}", lines=f"{lines:,}")
        if text != self._lines.text():
            self._lines.setText(text)

    @property
    def count_text(self) -> str:
        """What the bar says about the matches."""
        return self._count.text()

    @property
    def lines_text(self) -> str:
        """What the bar says about the lines that are shown."""
        return self._lines.text()

    # --- geometry and looks -----------------------------------------------------------------------------

    @Slot()
    def _show_rows(self) -> None:
        self._chip_row.setVisible(self.only and self._has_kinds)
        self._lines.setVisible(self.only)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place_labels(narrow=self.width() < _NARROW)

    def _place_labels(self, *, narrow: bool) -> None:
        """Where there is no room beside field and chips, what is said has a row of its own."""
        if narrow == (self._third.indexOf(self._count) >= 0):
            return
        for label, row in ((self._count, self._first), (self._lines, self._second)):
            (row if narrow else self._third).removeWidget(label)
        if narrow:
            self._third.addWidget(self._count)
            self._third.addStretch(1)
            self._third.addWidget(self._lines)
        else:
            while self._third.count():
                self._third.takeAt(0)
            self._first.insertWidget(5, self._count)
            self._second.addWidget(self._lines)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() is QEvent.Type.PaletteChange:
            self.update()
        super().changeEvent(event)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
