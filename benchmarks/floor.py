"""The floor program: compiled from floor.c at run time, where there is a C compiler.

Agents of the benchmarks are modes of the same program, so that they cost next to nothing; without a compiler
they are Python programs, and the rows that need a floor are left out.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Skipped

UPDATE = '<state_update>{"payload": {"done": 1}}</state_update>\n'
_SOURCE = Path(__file__).with_name("floor.c")
_PYTHON_AGENT = """
import sys, time
sys.stdin.buffer.read()
time.sleep(float(sys.argv[1]))
sys.stdout.write(sys.argv[2])
"""
_PYTHON_FLOOD = """
import os, sys
line = b"an agent prints what it does, as fast as it can, and this is one line of it\\n"
block = (line * (1 + (1 << 20) // len(line)))[: (1 << 20) - 1] + b"\\n"
for _ in range(int(sys.argv[1])):
    view = memoryview(block)
    while view:
        view = view[os.write(1, view) :]
os.write(1, sys.argv[2].encode())
"""


@dataclass(frozen=True, slots=True)
class FloorTime:
    """What the floor needed, in seconds; `cpu` is its own, without its children's."""

    wall: float
    cpu: float


@functools.cache
def program() -> Path | None:
    """The compiled program; None where there is no compiler or no POSIX."""
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None or os.name != "posix":
        return None
    folder = tempfile.TemporaryDirectory(prefix="openloop-floor-")
    _kept.append(folder)
    target = Path(folder.name) / "floor"
    subprocess.run([compiler, "-O2", "-o", target, _SOURCE], check=True)
    return target


_kept: list[tempfile.TemporaryDirectory[str]] = []
"""Folders that are removed when the benchmarks end."""


def needed() -> Path:
    """The compiled program. Raises Skipped where there is none."""
    path = program()
    if path is None:
        raise Skipped("There is no C compiler here, so there is no floor to compare with.")
    return path


def agent(seconds: float = 0.0, text: str = UPDATE) -> list[str]:
    """The command of an agent that reads its prompt, sleeps and answers."""
    path = program()
    if path is None:
        return python_agent(seconds, text)
    return [str(path), "agent", f"{seconds:g}", text]


def python_agent(seconds: float = 0.0, text: str = UPDATE) -> list[str]:
    """The same as a Python program: the least that an agent written in a scripting language costs."""
    return [sys.executable, "-I", "-S", "-c", _PYTHON_AGENT, f"{seconds:g}", text]


def flood(megabytes: int) -> list[str]:
    """The command of an agent that prints so many megabytes and answers."""
    path = program()
    if path is None:
        return [sys.executable, "-I", "-S", "-c", _PYTHON_FLOOD, str(megabytes), UPDATE]
    return [str(path), "flood", str(megabytes), UPDATE]


def run(total: int, at_once: int, command: Sequence[str]) -> FloorTime:
    """Run a command so many times with the floor program. Raises Skipped where there is none."""
    argv = [str(needed()), "run", str(total), str(at_once), *command]
    wall, cpu = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()
    return FloorTime(float(wall), float(cpu))
