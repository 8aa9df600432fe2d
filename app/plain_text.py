"""Text that others bring (an agent, a file) for widgets that would take markup in it for markup."""

from __future__ import annotations

import textwrap
from html import escape

from PySide6.QtGui import Qt as Guess

_WIDTH = 90
"""Characters of a line: tool tips that are no markup do not wrap by themselves."""


def plain_tool_tip(text: str) -> str:
    """A tool tip that shows this text as it stands. Qt guesses whether a tool tip is markup: where it would,
    this leaves no doubt. Everything else stays free of markup, which screen readers would read aloud."""
    if Guess.mightBeRichText(text):
        return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>"
    return "\n".join(textwrap.fill(line, _WIDTH, break_on_hyphens=False) for line in text.split("\n"))
