"""Starts four descendants that nobody gets rid of easily, all deaf to SIGTERM.

A child, a child in a session of its own, a double-forked daemon, and a double-forked daemon without any
environment or open output. Arguments: census folder of this family, and `leave` (end with code 3 once they
live) or `stay` (deaf as well).
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import go_deaf, sign, stay, wait_for

MEMBERS = 4


def descend(census: Path, *, session: bool, twice: bool, bare: bool) -> None:
    child = os.fork()
    if child:
        if twice:
            os.waitpid(child, 0)
        return
    go_deaf()
    if session:
        os.setsid()
    if twice and os.fork():
        os._exit(0)
    if bare:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        deaf = str(Path(__file__).with_name("deaf.py"))
        os.execve(sys.executable, [sys.executable, "-I", "-S", deaf, str(census)], {})
    sign(census)
    stay()


def main() -> None:
    census = Path(sys.argv[1])
    census.mkdir(parents=True, exist_ok=True)
    descend(census, session=False, twice=False, bare=False)
    descend(census, session=True, twice=False, bare=False)
    descend(census, session=True, twice=True, bare=False)
    descend(census, session=True, twice=True, bare=True)
    wait_for(census, MEMBERS)
    if sys.argv[2] == "leave":
        sys.exit(3)
    go_deaf()
    sign(census)
    stay()


main()
