"""What is put over the looks of a row for the moment: matches, the selection, the link one is at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtGui import QColor, QTextCharFormat

from app.run_view.log_rows import Row


@dataclass(frozen=True, slots=True)
class Marked:
    """Characters of a row to be highlighted; `current`: the match that one is at."""

    start: int
    end: int
    current: bool = False


@dataclass(frozen=True, slots=True)
class RowMarks:
    """What is special about a row at present. `selected`: characters, with `length + 1` the line break too.
    `link`: characters of the link that the mouse or the keys are at."""

    selected: tuple[int, int] | None = None
    found: Sequence[Marked] = ()
    link: tuple[int, int] | None = None
    link_focused: bool = False
    focused: bool = False


NO_MARKS = RowMarks()
"""Of nearly every row; told from others by being the same object."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Characters in another look for the moment; None: as they are."""

    start: int
    end: int
    ink: QColor | None
    ground: QColor | None
    underline: bool = False

    def format(self) -> QTextCharFormat:
        """The same for a text layout."""
        look = QTextCharFormat()
        if self.ink is not None:
            look.setForeground(self.ink)
        if self.ground is not None:
            look.setBackground(self.ground)
        if self.underline:
            look.setFontUnderline(True)
        return look


def pieces(row: Row, overlays: Sequence[Overlay]) -> Iterator[tuple[int, int, int | QColor, bool]]:
    """The text in pieces of one look: from, to, the number of the span or the ink, whether underlined."""
    if not overlays:
        yield from ((span.start, span.end, number, False) for number, span in enumerate(row.spans))
        return
    edges = sorted({edge for over in overlays for edge in (over.start, over.end)})
    for number, span in enumerate(row.spans):
        cuts = [span.start, *(edge for edge in edges if span.start < edge < span.end), span.end]
        for start, end in pairwise(cuts):
            ink: int | QColor = number
            underline = False
            for over in overlays:
                if over.start <= start < over.end:
                    ink = ink if over.ink is None else over.ink
                    underline = underline or over.underline
            yield start, end, ink, underline
