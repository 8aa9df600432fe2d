"""How a life of OpenLoop begins: with Python, or as a copy of a process that has read OpenLoop already.

Most of a short life goes to Python's start. Who wants to kill it in its work, not in its start, takes a copy,
which is a process of its own. Where processes cannot be copied, every life begins with Python.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Protocol

ROOT = Path(__file__).parents[2]
CAN_COPY = hasattr(os, "fork")


class Life(Protocol):
    """A running OpenLoop."""

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it lives."""

    def kill(self) -> None:
        """End it at once; does nothing to one that has ended."""

    def wait(self) -> int:
        """Its exit code, once it has ended and nothing is left of it."""


@dataclass(frozen=True)
class Order:
    """What a life is to do: words of the command line, its whole environment, and where it writes to."""

    words: Sequence[str]
    environment: Mapping[str, str]
    said: Path


def born(order: Order) -> Life:
    """A life that begins with Python."""
    with order.said.open("ab") as said:
        return subprocess.Popen(
            [sys.executable, "main.py", *order.words],
            cwd=ROOT,
            env=dict(order.environment),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )


class Copies:
    """Processes that have read OpenLoop and become it when asked, each once at a time."""

    def __init__(self, count: int) -> None:
        self._all = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.copied"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
            for _ in range(count if CAN_COPY else 0)
        ]
        self._free: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for process in self._all:
            self._free.put(process)

    def live(self, order: Order) -> Life:
        """A life that begins in OpenLoop's own code."""
        if not CAN_COPY:
            return born(order)
        return _Copy(self._free.get(), self._free, order)

    def close(self) -> None:
        """End all that are left; no life may go on."""
        for process in self._all:
            assert process.stdin is not None
            process.stdin.close()
        for process in self._all:
            process.wait(30)
            assert process.stdout is not None
            process.stdout.close()


class _Copy:
    def __init__(
        self,
        source: subprocess.Popen[bytes],
        free: SimpleQueue[subprocess.Popen[bytes]],
        order: Order,
    ) -> None:
        self._source, self._free = source, free
        self._code: int | None = None
        self._is_gone = False
        self._ask({"words": [*order.words], "environment": dict(order.environment), "said": str(order.said)})
        self._pid = self._answer()
        os.set_blocking(self._stdout.fileno(), False)

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._source.stdout is not None
        return self._source.stdout

    def _ask(self, order: object) -> None:
        assert self._source.stdin is not None
        self._source.stdin.write(json.dumps(order).encode() + b"\n")

    def _answer(self) -> int:
        return int(self._stdout.readline())

    def poll(self) -> int | None:
        if self._code is None and (line := self._stdout.read(32)):
            self._code = int(line)
        return self._code

    def kill(self) -> None:
        # Ended, it keeps its number until `wait` lets it go: nobody else is hit.
        if not self._is_gone:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        if not self._is_gone:
            os.set_blocking(self._stdout.fileno(), True)
            if self._code is None:
                self._code = self._answer()
            self._ask("gone")
            self._answer()
            self._is_gone = True
            self._free.put(self._source)
        assert self._code is not None
        return self._code
