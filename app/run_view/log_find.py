"""Find in a log: the bar, and the search that a thread carries out for it."""

from __future__ import annotations

from array import array

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.run_view.log_rows import Row
from app.run_view.log_source import BackgroundJob, LogSource
from app.theme import GRID, RADIUS, font, icon, theme
from core.line_kinds import EVERY_KIND, LineKind
from core.line_needle import Needle
from core.line_search import LineSearch, Match


class LogFinder:
    """One search in one log. The thread runs again by `poll` when the file grew."""

    def __init__(self, source: LogSource, needle: Needle, kinds: LineKind = EVERY_KIND) -> None:
        self.current: Match | None = None
        self._finder = needle.finder()
        self._source = source
        self._search = LineSearch(source.path, needle, structured=source.structured, kinds=kinds)
        self._job = BackgroundJob("log-find")
        self._wanted: tuple[int, int] | None = None
        self._job.start(self._search.run)

    def in_row(self, row: Row) -> list[tuple[int, int]]:
        """Where matches are in what a row shows of the file."""
        start, end = row.searchable
        found = self._finder.in_text(row.text[start:end])
        return [(start + first, start + last) for first, last in found]

    @property
    def too_slow(self) -> bool:
        """Whether the expression took so long that it was given up."""
        return self._search.too_slow

    @property
    def marked_lines(self) -> array[int]:
        """Lines with matches, for the scroll bar."""
        return self._search.marked_lines()

    @property
    def share(self) -> float:
        """How much of the file was looked through, 0 to 1."""
        return self._search.share

    @property
    def count(self) -> int:
        """Matches so far."""
        return self._search.count

    @property
    def searching(self) -> bool:
        """Whether the thread is still looking."""
        return self._job.running

    def poll(self, size: int) -> bool:
        """Look at what the thread found; `size`: bytes of the file. Whether `current` changed."""
        if not self._job.running and size != self._search.scanned:
            self._job.start(self._search.run)
        if self._wanted is None:
            return False
        offset, step = self._wanted
        return self.step(offset, step)

    def step(self, offset: int, step: int) -> bool:
        """Go to the next match at or behind `offset` (`step` 1) or the last before it (-1), round the end.

        Whether there is one. What the thread has not reached yet is gone to by a later `poll`.
        """
        self._wanted = None
        match = self._search.after(offset) if step > 0 else self._search.before(offset)
        if match is None and self._job.running:
            self._wanted = (offset, step)
            return False
        if match is None:
            match = self._search.after(0) if step > 0 else self._search.before(1 << 62)
        self.current = match
        return match is not None

    def place_in_line(self, line_start: int) -> int:
        """How many matches stand before the current one in its line."""
        return self._search.place_in_line(self.current, line_start) if self.current else 0

    def pause(self) -> None:
        """End the thread; `poll` starts it again where it was."""
        self._search.cancel()
        self._job.stop()

    close = pause


class _Needle(QLineEdit):
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


class FindBar(QWidget):
    """The bar at the top right of a log.

    Signals: `needle_changed(str)`, `step_requested(int)` with 1 or -1, `closed()`.
    """

    needle_changed = Signal(str)
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Find in the log"))
        self._needle = _Needle(self)
        self._needle.setFrame(False)
        self._needle.setPlaceholderText(self.tr("Find"))
        self._needle.setAccessibleName(self.tr("Text to find"))
        self._needle.setFixedWidth(120)
        self._needle.setFont(font())
        self._count = QLabel(self)
        self._count.setFont(font(tabular=True))
        self._count.setMinimumWidth(self._count.fontMetrics().horizontalAdvance("0,000 of 0,000"))
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID // 2)
        layout.addWidget(self._needle)
        layout.addWidget(self._count)
        layout.addSpacing(GRID)
        self._previous = self._button("arrow-up", self.tr("Previous match (Shift+F3)"))
        self._next = self._button("arrow-down", self.tr("Next match (F3)"))
        self._close = self._button("x", self.tr("Close (Esc)"))
        for button in (self._previous, self._next, self._close):
            layout.addWidget(button)
        self._needle.textChanged.connect(self.needle_changed)
        self._needle.stepped.connect(self.step_requested)
        self._needle.left.connect(self.closed)
        self._previous.clicked.connect(self._step_back)
        self._next.clicked.connect(self._step_on)
        self._close.clicked.connect(self.closed)
        self.show_count(None, 0, searching=False)
        self._restyle()
        self.hide()

    def _button(self, name: str, hint: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(name, "quiet"))
        button.setIconSize(QSize(14, 14))
        button.setAutoRaise(True)
        button.setToolTip(hint)
        button.setAccessibleName(hint)
        return button

    @Slot()
    def _step_back(self) -> None:
        self.step_requested.emit(-1)

    @Slot()
    def _step_on(self) -> None:
        self.step_requested.emit(1)

    @property
    def needle(self) -> str:
        """What is looked for."""
        return self._needle.text()

    def open_with(self, needle: str) -> None:
        """Show the bar, with `needle` when it is not empty, ready to type."""
        if needle:
            self._needle.setText(needle)
        self.show()
        self.raise_()
        self._needle.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._needle.selectAll()

    def show_count(self, ordinal: int | None, count: int, *, searching: bool) -> None:
        """Say where one is: "2 of 14", "no match", "14 so far"."""
        if not self.needle:
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
        if text != self._count.text():
            self._count.setText(text)

    @property
    def count_text(self) -> str:
        """What the bar says about the matches."""
        return self._count.text()

    def _restyle(self) -> None:
        palette = self.palette()
        palette.setColor(palette.ColorRole.WindowText, theme().color("quiet"))
        palette.setColor(palette.ColorRole.Base, theme().color("surface"))
        if palette != self._count.palette():
            self._count.setPalette(palette)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() is QEvent.Type.PaletteChange:
            self._restyle()
            self.update()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(theme().color("surface"))
        painter.setPen(QPen(theme().color("line"), 1))
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        painter.end()


class FollowPill(QToolButton):
    """The button that brings one back to the end of a log."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(font())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def say(self, lines: int) -> None:
        """Show how many lines came since one scrolled up."""
        text = self.tr("↓ Follow")
        if lines == 1:
            text += self.tr(" · 1 new line")
        elif lines:
            text += self.tr(" · {lines} new lines").format(lines=f"{lines:,}")
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text.removeprefix("↓ "))
            self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 7 * GRID, metrics.height() + 3 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme()
        painter.setBrush(colors.color("accent_soft" if self.underMouse() or self.isDown() else "surface"))
        painter.setPen(QPen(colors.color("accent"), 2 if self.hasFocus() else 1))
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        painter.setFont(self.font())
        painter.setPen(colors.color("accent"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()
