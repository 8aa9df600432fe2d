"""Reads OpenLoop, and then makes a copy of itself for each line of its input, which is told what to do.

It answers with three lines: the number of the copy's process, its exit code when it has ended, and, when the
next line has come, that nothing is left of it.
"""

import json
import os
import sys
from typing import Any, NoReturn

import app.cli
import app.headless
import app.headless_display
import core.backends.command
import core.backends.demo  # noqa: F401  what a run reads late


def become(order: dict[str, Any]) -> NoReturn:
    """As if it had been started so."""
    os.environ.clear()
    os.environ.update(order["environment"])
    said = os.open(order["said"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(source, target)
    os.close(said)
    os.close(nothing)
    sys.argv[:] = ["main.py", *order["words"]]
    sys.exit(app.cli.main())


# Not sys.stdin, whose buffer a copy would have, too.
with os.fdopen(os.dup(0), "rb", buffering=0) as orders:
    while line := orders.readline():
        pid = os.fork()
        if pid == 0:
            orders.close()
            become(json.loads(line))
        os.write(1, b"%d\n" % pid)
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        killed = ended.si_code in (os.CLD_KILLED, os.CLD_DUMPED)
        os.write(1, b"%d\n" % (-ended.si_status if killed else ended.si_status))
        orders.readline()
        os.waitpid(pid, 0)
        os.write(1, b"0\n")
