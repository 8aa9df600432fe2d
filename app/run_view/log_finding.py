"""Find and filter in a log: the bar above it, what a thread finds, highlights, marks in the scroll bar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.reading_text import harmless
from app.run_view.log_find import FindBar
from app.run_view.log_finder import LogFinder, LogSieve
from app.run_view.log_overlays import Marked, RowMarks
from app.run_view.log_page import Place, PlacedRow
from app.run_view.log_places import PlacedLog
from core.courtesy import COURTESY
from core.line_kinds import EVERY_KIND
from core.line_needle import NeedleError

_LONGEST = 200
"""Characters of what is looked for that are repeated where nothing is found."""


class FindingLog(PlacedLog):
    """A log in which one can find text, and which can show only the lines that match."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._finder: LogFinder | None = None
        self._sieve: LogSieve | None = None
        self._given_up: list[LogFinder | LogSieve] = []
        """Searches whose threads are about to end."""
        self._found: tuple[int, int] | None = None
        self._home: int | None = None
        """The line that was at the top before lines were left out, until it is known where it is now."""
        self._marks_of: tuple[object, ...] = ()
        self._problem = ""
        """What is wrong with the expression that is asked for; empty: nothing."""
        self._bar = FindBar(self)
        self._bar.changed.connect(self._search)
        self._bar.step_requested.connect(self.find_next)
        self._bar.closed.connect(self.close_find)

    def set_source(self, path: Path | None, raw: bool = False) -> None:
        """Show a file, which may not exist yet and may grow. `raw`: as it is, else it is a transcript."""
        self._drop_search()
        super().set_source(path, raw)
        self._bar.set_has_kinds(not raw)
        if self._bar.isVisible():
            self._search()

    def _forget_places(self) -> None:
        super()._forget_places()
        self._found = None

    def _stop_threads(self) -> None:
        for search in (self._finder, self._sieve, *self._given_up):
            if search is not None:
                search.pause()
        self._given_up.clear()
        super()._stop_threads()

    @Slot()
    def refresh(self) -> None:
        """Look at file and search once; the timer does it while the view is visible."""
        with COURTESY:
            super().refresh()
            self._poll_sieve()
            self._poll_find()

    def _go(self, place: Place) -> None:
        # Whoever scrolls is where he wants to be.
        self._home = None
        super()._go(place)

    # --- the bar ----------------------------------------------------------------------------------------

    @Slot()
    def open_find(self) -> None:
        """Show the find bar, with the selected word."""
        selected = self._selection.text() if self._selection.lines() == 1 else ""
        self._bar.open_with(selected[:200])
        self._dock()
        if self._finder is None:
            self._search()

    @Slot()
    def open_filter(self) -> None:
        """Show only lines that match; where that is so already, all again."""
        on = not (self._bar.isVisible() and self._bar.only)
        self._bar.set_only(on)
        self.open_find()

    @Slot()
    def close_find(self) -> None:
        """Hide the bar and its highlights, and show all lines again."""
        self._bar.hide()
        self._bar.set_only(False)
        self._drop_search()
        self._dock()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._repaint()

    def _dock(self) -> None:
        """The bar stands above the log and covers none of it."""
        if self._bar.isHidden():
            self.setViewportMargins(0, 0, 0, 0)
            return
        width = self.width() - (self.verticalScrollBar().width() if self._shows_bar() else 0)
        layout = self._bar.layout()
        if layout is not None:
            # What was shown or hidden just now counts.
            layout.invalidate()
            layout.activate()
        height = self._bar.heightForWidth(width) if self._bar.hasHeightForWidth() else -1
        self._bar.setGeometry(0, 0, width, max(height, self._bar.sizeHint().height()))
        self.setViewportMargins(0, self._bar.height(), 0, 0)

    def _shows_bar(self) -> bool:
        return self.verticalScrollBar().isVisible()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._dock()

    # --- searching --------------------------------------------------------------------------------------

    def _give_up(self, search: LogFinder | LogSieve | None) -> None:
        if search is not None:
            search.give_up()
            self._given_up = [old for old in self._given_up if old.searching]
            self._given_up.append(search)

    def _drop_search(self) -> None:
        self._give_up(self._finder)
        self._finder, self._found = None, None
        self._drop_sieve()
        self._show_marks()

    def _drop_sieve(self) -> None:
        if self._sieve is None:
            return
        self._give_up(self._sieve)
        line = self._page.place.line
        if self._selection.caret is not None and self._page.nearest(self._selection.caret.line) in (
            placed.laid.row.line for placed in self._rows()
        ):
            line = self._selection.caret.line
        self._sieve, self._home = None, None
        self._painter.sifted = False
        self._page.sift(None)
        if not self._follow:
            self._page.place = Place(self._page.nearest(line))
        self._sync()

    @Slot()
    def _search(self) -> None:
        """Something else is looked for, or in another way."""
        start = self._offset_of(self._found[0] if self._found else self._page.place.line)
        source, needle = self._page.source, self._bar.needle
        self._give_up(self._finder)
        self._finder, self._found = None, None
        self._problem = ""
        if source is None:
            return
        kinds = self._bar.kinds
        try:
            if needle is not None:
                self._finder = LogFinder(source, needle, kinds)
            wanted = self._bar.only and (needle is not None or kinds != EVERY_KIND)
            sieve = LogSieve(source, needle, kinds) if wanted else None
        except NeedleError as error:
            # Half an expression is typed on the way to a whole one: the lines stay as they are.
            self._problem, sieve = str(error), self._sieve
        if sieve is not self._sieve:
            self._change_sieve(sieve)
        # Where only matches are shown, there is nothing to go to: the view stays where it is.
        if self._finder is not None and self._sieve is None and self._finder.step(start, 1):
            self._show_found()
        self._dock()
        self._show_count()
        self._show_marks()
        self._repaint()

    def _change_sieve(self, sieve: LogSieve | None) -> None:
        if sieve is None:
            self._drop_sieve()
            return
        home = self._home if self._home is not None else self._page.place.line
        self._give_up(self._sieve)
        self._sieve, self._home = sieve, home
        self._painter.sifted = True
        self._page.sift(sieve)
        self._current_header = None
        self._poll_sieve()
        self._sync()

    def _poll_sieve(self) -> None:
        sieve, snapshot = self._sieve, self._page.snapshot
        if sieve is None:
            return
        if sieve.poll(snapshot.size, snapshot.lines):
            if self._home is not None and not self._follow:
                self._page.place = Place(self._page.nearest(self._home))
            self._sync()
            self._repaint_news()
        if self._home is not None and sieve.has_passed(self._home, snapshot.size):
            self._home = None
        self._show_line_count()

    def _show_line_count(self) -> None:
        """How many lines are shown, as long as they are those that are asked for."""
        sieve = self._sieve
        if sieve is None or self._problem or sieve.too_slow:
            self._bar.show_lines(None, 0, searching=False)
        else:
            self._bar.show_lines(sieve.shown, self._page.snapshot.lines, searching=self._still_sifting(sieve))

    def _still_sifting(self, sieve: LogSieve) -> bool:
        return not sieve.is_whole(self._page.snapshot.size)

    def words_for_nothing(self) -> str:
        """What stands where no line is: why none is shown, or that there is none."""
        sieve = self._sieve
        if sieve is None or not self._page.snapshot.lines:
            return super().words_for_nothing()
        if self._problem:
            return self._problem
        if sieve.too_slow:
            return self._slow_words()
        if self._still_sifting(sieve):
            return self.tr("Searching…")
        needle = self._bar.needle
        if needle is None:
            return self.tr("No line is of this kind.")
        return self.tr("No line matches “{0}”.").format(harmless(needle.text[:_LONGEST]))

    def _slow_words(self) -> str:
        return self.tr(
            "This expression takes too long on the lines of this log, so the search was given up. "
            "Fewer “*” and “+” inside of one another make it faster."
        )

    @Slot(int)
    def find_next(self, step: int) -> None:
        """Go to the next match (1) or the previous (-1)."""
        if self._finder is None:
            self.open_find()
            return
        current = self._finder.current
        if current is None:
            offset = self._offset_of(self._page.place.line)
        else:
            offset = current.offset + 1 if step > 0 else current.offset
        if self._finder.step(offset, step):
            self._show_found()
        self._show_count()

    @Slot()
    def _find_down(self) -> None:
        self.find_next(1)

    @Slot()
    def _find_up(self) -> None:
        self.find_next(-1)

    def _poll_find(self) -> None:
        if self._finder is not None:
            if self._finder.poll(self._page.snapshot.size):
                self._show_found()
            self._show_count()
            self._show_marks()

    def _show_count(self) -> None:
        finder, sieve = self._finder, self._sieve
        self._show_line_count()
        if self._problem:
            self._bar.show_problem(self.tr("not understood"), self._problem)
        elif any(search is not None and search.too_slow for search in (finder, sieve)):
            self._bar.show_problem(self.tr("too slow"), self._slow_words())
        elif finder is not None:
            ordinal = finder.current.ordinal if finder.current else None
            # First: a count that the thread goes beyond meanwhile is not the last.
            searching = finder.searching
            self._bar.show_count(ordinal, finder.count, searching=searching)
        else:
            self._bar.show_count(None, 0, searching=False)

    def _show_found(self) -> None:
        """Bring the current match into view."""
        finder, source = self._finder, self._page.source
        if finder is None or source is None or finder.current is None:
            return
        line = source.line_at(finder.current.offset)
        number = finder.place_in_line(self._offset_of(line))
        self._found = (line, number)
        owner = self._page.folds.owner(line)
        if self._sieve is None and owner is not None and self._page.folds.is_folded(owner):
            self._page.folds.toggle(owner)
            self._page.forget_layout()
            self._sync()
        laid = self._page.laid(line)
        part = 0
        if laid is not None:
            spans = finder.in_row(laid.row)
            if number < len(spans):
                part = self._painter.screen_row_of(laid, spans[number][0])
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, laid.row.text[:500]))
        if self._sieve is None or self._page.nearest(line) == line:
            self._home = None
            self._reveal(line, part)
        self._repaint()

    # --- what is painted --------------------------------------------------------------------------------

    def _has_marks(self) -> bool:
        return self._finder is not None or super()._has_marks()

    def _marks_in(self, placed: PlacedRow) -> RowMarks:
        marks = super()._marks_in(placed)
        if self._finder is None:
            return marks
        row = placed.laid.row
        found = [
            Marked(start, end, current=self._found == (row.line, number))
            for number, (start, end) in enumerate(self._finder.in_row(row))
        ]
        return replace(marks, found=found)

    def _show_marks(self) -> None:
        """Marks beside the scroll bar; where every line matches, they would say nothing."""
        finder, shown = self._finder, self._page.map.shown
        lines = finder.marked_lines if finder is not None and self._sieve is None else ()
        state = (finder, len(lines), lines[-1] if lines else 0, shown, self._found)
        if state == self._marks_of:
            return
        self._marks_of = state
        places = [self._page.map.shown_of(line) / max(1, shown) for line in lines]
        current = None
        if self._found is not None and self._sieve is None:
            current = self._page.map.shown_of(self._found[0]) / max(1, shown)
        self._scroll_marks.show_marks(places, current)
