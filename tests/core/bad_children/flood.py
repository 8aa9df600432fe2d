"""Prints as fast as it can. Arguments: how many mebibytes; then a last line says that it is the last."""

import os
import sys

block = (b"x" * 1023 + b"\n") * 1024
for _ in range(int(sys.argv[1])):
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(1, rest) :]
os.write(1, b"the last line\n")
