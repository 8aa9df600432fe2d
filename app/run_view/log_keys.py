"""Where the end of a selection goes with Shift and the keys that move."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.run_view.log_page import LogPage
from app.run_view.log_selection import Caret

_CONTROL = Qt.KeyboardModifier.ControlModifier


def keys_move(page: LogPage, caret: Caret, event: QKeyEvent, page_rows: int) -> Caret | None:
    """The place after a key; None: the key does not move. `page_rows`: rows of a page."""
    key = Qt.Key(event.key())
    control = bool(event.modifiers() & _CONTROL)
    if page.map.shown == 0:
        return None
    if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not control:
        return _aside(page, caret, 1 if key is Qt.Key.Key_Right else -1)
    if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not control:
        return _lines(page, caret, 1 if key is Qt.Key.Key_Down else -1)
    if key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
        return _lines(page, caret, (page_rows - 1) * (1 if key is Qt.Key.Key_PageDown else -1))
    if key is Qt.Key.Key_Home:
        return Caret(page.map.line_of(0), 0) if control else Caret(caret.line, 0)
    if key is Qt.Key.Key_End:
        line = page.map.line_of(page.map.shown - 1) if control else caret.line
        return Caret(line, _length(page, line))
    return None


def _length(page: LogPage, line: int) -> int:
    laid = page.laid(line)
    return len(laid.row.text) if laid is not None else 0


def _lines(page: LogPage, caret: Caret, by: int) -> Caret:
    """So many lines down, in the same column; at the first and the last line, to its end."""
    shown = page.map.shown_of(caret.line)
    target = max(0, min(page.map.shown - 1, shown + by))
    line = page.map.line_of(target)
    if target == shown:
        return Caret(line, 0 if by < 0 else _length(page, line))
    return Caret(line, min(caret.character, _length(page, line)))


def _aside(page: LogPage, caret: Caret, by: int) -> Caret:
    """A character to the side, from the end of a line to the beginning of the next."""
    length = _length(page, caret.line)
    character = min(caret.character, length) + by
    if 0 <= character <= length:
        return Caret(caret.line, character)
    shown = page.map.shown_of(caret.line) + by
    if not 0 <= shown < page.map.shown:
        return Caret(caret.line, max(0, min(character, length)))
    line = page.map.line_of(shown)
    return Caret(line, 0 if by > 0 else _length(page, line))
