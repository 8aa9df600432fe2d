"""Text that others bring (an agent, a file) for widgets that would take markup in it for markup."""

from __future__ import annotations

from html import escape


def plain_tool_tip(text: str) -> str:
    """A tool tip that shows this text as it stands. Qt guesses whether a tool tip is markup: this leaves no
    doubt."""
    return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>" if text else ""
