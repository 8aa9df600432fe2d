"""Text on its way to a terminal or a log: what agents and files say cannot steer it or break its lines."""

from __future__ import annotations

_LONGEST = 2_000
"""Characters of one line; the run folder has the rest."""

# Escape sequences could wipe the screen or fake our own lines; turning text around could, too.
_SIGNS = {number: 0x2400 + number for number in range(0x20)}
_SIGNS |= {0x7F: 0x2421}
_SIGNS |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_SIGNS |= dict.fromkeys([0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], 0x20)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text as one line without control characters: breaks become spaces, others become visible."""
    shown = text if len(text) <= longest else text[:longest] + "…"
    return shown.replace("\r\n", "\n").strip().translate(_SIGNS)
