"""Agents and groups on the system's clipboard: workflow JSON, for other windows and for text editors."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QMimeData

from core.workflow_pieces import MOST_CHARACTERS, PieceError, Pieces, read_pieces, write_pieces

PIECES_MIME = "application/x-openloop-workflow+json"
JSON_MIME = "application/json"
_MOST_BYTES = 4 * MOST_CHARACTERS
"""No character of UTF-8 has more bytes."""


def pieces_payload(pieces: Pieces) -> QMimeData:
    """Pieces for the clipboard: under a name of their own, as JSON, and as plain text."""
    text = write_pieces(pieces)
    data = QMimeData()
    raw = QByteArray(text.encode("utf-8", "replace"))
    data.setData(PIECES_MIME, raw)
    data.setData(JSON_MIME, raw)
    data.setText(text)
    return data


def pieces_in(data: QMimeData | None) -> Pieces:
    """The pieces on a clipboard. Raises PieceError with a sentence about its text."""
    for mime in (PIECES_MIME, JSON_MIME):
        if data is not None and data.hasFormat(mime):
            raw = bytes(data.data(mime).data())
            try:
                # Of what is too large only so much that it is seen to be.
                return read_pieces(raw[:_MOST_BYTES].decode("utf-8-sig"))
            except UnicodeDecodeError:
                continue
    if data is None or not data.hasText():
        raise PieceError("There is no text.")
    return read_pieces(data.text().removeprefix("\ufeff"))
