"""Bytes of UTF-8 that come in pieces."""

from __future__ import annotations

_LONGEST_CHARACTER = 4
"""Bytes."""


def cut_at_character(data: bytes) -> tuple[bytes, bytes]:
    """UTF-8 bytes without the beginning of a character that is not complete at their end, and that.

    What is not UTF-8 is left as it is.
    """
    for back in range(1, min(_LONGEST_CHARACTER, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 2 if byte >> 5 == 0b110 else 3 if byte >> 4 == 0b1110 else 4 if byte >> 3 == 0b11110 else 1
        return (data[:-back], data[-back:]) if back < length else (data, b"")
    return data, b""
