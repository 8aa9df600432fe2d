"""Sentences about agents in little room: their names give way, the words around them stay."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

_LEAST_LETTERS = 7
"""Of a name that gives way."""


def fitted(text: str, names: Iterable[str], metrics: QFontMetrics, room: int) -> str:
    """`text` in `room` pixels: the longest of the names in it are elided in their middle as far as needed."""
    least = metrics.averageCharWidth() * _LEAST_LETTERS
    for name in sorted(names, key=len, reverse=True):
        over = metrics.horizontalAdvance(text) - room
        if over <= 0:
            return text
        width = max(least, metrics.horizontalAdvance(name) - over)
        text = text.replace(name, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width), 1)
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
