"""Colours and weight that are on at a place of a log: a terminal keeps them from one line to the next.

They are told as the codes between `ESC [` and `m`, reduced to what is still in force, so that they stay short
however long the log is: `b"1;31"` is bold and red, `b""` is plain. In a transcript every block of OpenLoop's
own making begins plain; what programs print goes on as they left it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

OVERLAP = 96
"""Bytes before a place in which a sequence may begin that goes beyond it; taken twice they change nothing."""

_CHANGE = re.compile(rb"\x1b\[([0-9;:]{0,64})m")
_CHANGE_OR_BLOCK = re.compile(rb"\x1b\[([0-9;:]{0,64})m|\x1e(?:[a-df-oq-z][0-9]|[ep][0-9]{1,20}\x1f)")
"""Output and stderr of one agent (`p`, `e`) go on with what was on; what has a name is of several agents."""

_ON = {
    **dict.fromkeys((*range(30, 38), *range(90, 98)), "ink"),
    **dict.fromkeys((*range(40, 48), *range(100, 108)), "ground"),
    **{1: "bold", 2: "faint", 3: "italic", 4: "underline", 21: "underline", 7: "reverse", 9: "struck"},
}
_OFF = {
    **{39: ("ink",), 49: ("ground",), 59: (), 22: ("bold", "faint"), 23: ("italic",), 24: ("underline",)},
    **{27: ("reverse",), 29: ("struck",)},
}
_LONG = {38: "ink", 48: "ground", 58: ""}
_LONG_FIELDS = {b"5": 2, b"2": 4}
"""Fields of a colour behind 38 or 48: one of the 256, or red, green and blue."""


def begins_plain(line: bytes) -> bool:
    """Whether a line of a transcript begins a block that what was on before does not colour."""
    found = _CHANGE_OR_BLOCK.match(line)
    return found is not None and found[1] is None


def carried_looks(before: bytes, data: bytes, *, structured: bool) -> bytes:
    """What is on behind `data` where `before` is on at its beginning. `structured`: it is of a transcript."""
    pattern = _CHANGE_OR_BLOCK if structured else _CHANGE
    found = pattern.findall(data)
    if not found:
        return before
    # Of equal changes the last one is enough, and few of them differ.
    changes = list(dict.fromkeys(reversed(found)))
    if b"" in changes:
        del changes[changes.index(b"") :]
        before = b""
    if not changes:
        return b""
    on: dict[str, bytes] = {}
    for codes in (before, *reversed(changes)):
        _change(on, codes)
    return b";".join(on.values())


def _change(on: dict[str, bytes], codes: bytes) -> None:
    fields = codes.split(b";") if codes else []
    at = 0
    while at < len(fields):
        field = fields[at]
        head, colon, details = field.partition(b":")
        code = int(head or b"0")
        at += 1
        if code in _LONG:
            if not colon:
                more = _LONG_FIELDS.get(fields[at] if at < len(fields) else b"", 1)
                field = b";".join((field, *fields[at : at + more]))
                at += more
            if _LONG[code]:
                on.pop(_LONG[code], None)
                on[_LONG[code]] = field
        elif code == 0:
            on.clear()
        elif code == 4 and details.split(b":")[0] == b"0":
            on.pop("underline", None)
        elif code in _ON:
            on.pop(_ON[code], None)
            on[_ON[code]] = field
        else:
            for name in _OFF.get(code, ()):
                on.pop(name, None)


class LooksTable:
    """What is on where each stride of a file begins, as far as it differs from the stride before it.

    Nothing is known of a file without colours, and that is most of them.
    """

    def __init__(self, *, structured: bool) -> None:
        self._structured = structured
        self._strides = array("Q")
        self._values: list[bytes] = []
        self.now = b""
        """What is on at the end of what was taken."""
        self.any = False
        """Whether there are colours at all."""

    def take(self, piece: bytes) -> None:
        """The next bytes, with the last of those before them."""
        self.now = carried_looks(self.now, piece, structured=self._structured)

    def keep(self, stride: int) -> None:
        """A stride begins here."""
        if self.now != (self._values[-1] if self._values else b""):
            # A reader looks at the strides, and then finds a value for each.
            self._values.append(self.now)
            self._strides.append(stride)

    def at(self, stride: int) -> bytes:
        """What is on where a stride begins."""
        found = bisect_right(self._strides, stride) - 1
        return self._values[found] if found >= 0 else b""
