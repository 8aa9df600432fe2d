"""Prints far more than anybody needs, then an update. Arguments: what, and how many mebibytes.

`line`: one line; `lines`: lines of 20 bytes; `payload`: all of it in the update; `json`: all of it in one
line of JSON, as agent CLIs print them; `objects`: an update of small objects; `indents`: an update of values
so deep that they would be a hundred times as large with indents.
"""

import os
import sys

UPDATE = b'<state_update>{"payload": {"done": true}}</state_update>\n'
KINDS = {
    "line": (b"", b"x" * 2**20, b"\n" + UPDATE),
    "lines": (b"", b"one line of 20 bytes\n"[1:] * 52_428 + b"16 bytes at last", b"\n" + UPDATE),
    "payload": (b'<state_update>{"payload": {"x": "', b"x" * 2**20, b'"}}</state_update>\n'),
    "objects": (b'<state_update>{"payload": {"x": [0', b',{"":{}}' * 131_072, b"]}}</state_update>\n"),
    "indents": (
        b'<state_update>{"payload": {"x": ' + b"[" * 190 + b"0",
        b",[]" * 349_526,
        b"]" * 190 + b"}}</state_update>\n",
    ),
    "json": (b'{"type": "text", "text": "', b"x" * 2**20, b'"}\n'),
}
before, block, after = KINDS[sys.argv[1]]
sys.stdin.buffer.read()
for data in (before, *(block,) * int(sys.argv[2]), after):
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
