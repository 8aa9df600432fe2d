"""The command line for tests: real processes, started as a person or a script would start them."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from core.events import Event
from core.journal import JOURNAL_NAME, read_journal

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
GATED = "until [ -e go ]; do sleep 0.02; done; echo '<state_update>{}</state_update>'"


_NOT_FOR_IT = ("DISPLAY", "WAYLAND_DISPLAY", "COLUMNS", "LINES")
"""A display is for who asks for one, and a terminal has the size that it says."""


def environment(**more: str) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if key not in _NOT_FOR_IT}
    return {**env, "OPENLOOP_DEMO_SPEED": "0", **more}


def openloop(
    *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *map(str, words)],
        cwd=cwd,
        env=environment(**(env or {})),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=60,
        check=False,
    )


@contextlib.contextmanager
def running(*words: str | Path, cwd: Path, prefix: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*prefix, sys.executable, str(ROOT / "main.py"), *map(str, words)],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def events_of(output: str, folder: Path) -> list[Event]:
    """The events of `--json`, read as a journal is read; no line may be anything else."""
    path = folder / "printed.jsonl"
    path.write_text(output, encoding="utf-8")
    events = read_journal(path)
    assert len(events) == output.count("\n")
    return events


def journal_of(folder: Path) -> list[Event]:
    (path,) = (folder / ".openloop").glob(f"*/{JOURNAL_NAME}")
    return read_journal(path)


class Terminal:
    """`openloop` as the foreground process of a pseudo-terminal, and what it printed there. POSIX only."""

    def __init__(self, *words: str | Path, cwd: Path, rows: int = 30, columns: int = 120) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.bytes = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_A_TERMINAL, str(ROOT), *map(str, words)],
            cwd=cwd,
            env=environment(TERM="xterm-256color"),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    @property
    def text(self) -> str:
        """All that was printed, with what moves and colours."""
        return self.bytes.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """All that was printed, without what moves and colours."""
        return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", self.text)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()

    def until(self, *words: str) -> None:
        """Read until all of these were printed."""
        deadline = time.monotonic() + PATIENCE
        while not all(word in self.words for word in words):
            assert time.monotonic() < deadline, self.words[-2000:]
            assert self._read(), self.words[-2000:]

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def hang_up(self) -> None:
        """Close the terminal's window. May be called twice."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _read(self) -> bool:
        if not select.select([self._master], [], [], PATIENCE)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # nobody holds the other side any more
            return False
        self.bytes += data
        return bool(data)


# What a login shell does: take the terminal as the controlling one, so that Ctrl+C and a hang-up arrive.
_ON_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, os.path.join(sys.argv[1], "main.py"), *sys.argv[2:]])
"""
