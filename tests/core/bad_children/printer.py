"""Prints the bytes of a file in pieces, once it was told everything.

Arguments: the file, how many bytes a piece has, `echo`: what it was told comes first.
"""

import os
import sys
from pathlib import Path


def put(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


told = sys.stdin.buffer.read()
if "echo" in sys.argv[3:]:
    put(told)
with Path(sys.argv[1]).open("rb") as file:
    while piece := file.read(int(sys.argv[2])):
        put(piece)
