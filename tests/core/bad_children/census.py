"""Every process of a badly behaved program signs in a folder, so that a test knows whom to look for."""

import os
import signal
import sys
import time
from pathlib import Path


def sign(census: Path) -> None:
    """Leave a file named after this process; it appears complete or not at all."""
    draft = census / f".{os.getpid()}"
    draft.touch()
    draft.rename(census / str(os.getpid()))


def wait_for(census: Path, count: int) -> None:
    """Until `count` processes have signed, at most 30 seconds."""
    until = time.monotonic() + 30
    while len([path for path in census.iterdir() if path.name.isdigit()]) < count:
        if time.monotonic() > until:
            sys.exit("the others never signed")
        time.sleep(0.002)


def go_deaf() -> None:
    """Ignore every polite request to end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def stay() -> None:
    """Never end by oneself."""
    while True:
        signal.pause()
