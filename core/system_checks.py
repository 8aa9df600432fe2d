"""Whether the system has what runs need: Python, cores and memory, a supervisor that leaves nobody."""

from __future__ import annotations

import platform
import sys
import tempfile
from pathlib import Path

from core.folder_checks import size_words
from core.health import Finding, FindingStatus
from core.machine import core_count, free_memory, total_memory
from core.probing import NoAnswer, probe
from core.processes import start_time
from core.version import own_version
from core.words import say, say_number

PYTHON = (3, 11)
MEMORY_OF_AN_AGENT = 600_000_000
"""Bytes that an agent CLI takes while it works; measured for opencode 1.18."""
CPU_SECONDS_OF_A_START = 5.0
"""Seconds of one core until an agent CLI has started; measured likewise."""
SLOW_START = 60.0
"""Seconds from which it is worth knowing how long the last of many agents waits for its start."""


def check_python() -> list[Finding]:
    """Which OpenLoop, on which Python and system."""
    number = platform.python_version()
    message = say(
        "OpenLoop {version} on Python {python}, {system} {machine}.",
        version=own_version(),
        python=number,
        system=platform.system(),
        machine=platform.machine(),
    )
    if sys.version_info < PYTHON:  # type: ignore[unreachable,unused-ignore]  # whoever started it otherwise
        wanted = ".".join(map(str, PYTHON))
        return [
            Finding(
                "python",
                FindingStatus.ERROR,
                message,
                say("Install Python {wanted} or newer.", wanted=wanted),
            )
        ]
    return [Finding("python", FindingStatus.OK, message)]


# --- cores and memory ---------------------------------------------------------------------------------


def check_machine(most_at_once: int) -> list[Finding]:
    """Cores and memory against `most_at_once` agent CLIs that work at the same time (0: none does)."""
    return [machine_finding(most_at_once, core_count(), free_memory(), total_memory())]


def machine_finding(most_at_once: int, cores: int, free: int, total: int) -> Finding:
    """What so many agents at once mean for so many cores and bytes of memory."""
    subject = say("machine")
    facts = say(
        "{cores}, {total} of memory, {free} of it free",
        cores=say_number(cores, "1 core", "{count} cores"),
        total=size_words(total),
        free=size_words(free),
    )
    if most_at_once == 0:
        return Finding(subject, FindingStatus.OK, f"{facts}.")
    need = most_at_once * MEMORY_OF_AN_AGENT
    agents = say_number(most_at_once, "one agent at a time", "{count} agents at once")
    if need > free:
        fit = max(1, free // MEMORY_OF_AN_AGENT)
        return Finding(
            subject,
            FindingStatus.WARNING,
            say(
                "{facts}, but {agents} may need {need}: the system may end some of them.",
                facts=facts,
                agents=agents,
                need=size_words(need),
            ),
            say("Set max_parallel_agents to {number}, or close other programs.", number=fit),
        )
    wait = most_at_once * CPU_SECONDS_OF_A_START / cores
    if wait >= SLOW_START:
        return Finding(
            subject,
            FindingStatus.WARNING,
            say(
                "{facts}. Of {agents} the last starts only after about {seconds:.0f} s: each start takes up "
                "to {cpu_seconds:.0f} s of a core.",
                facts=facts,
                agents=agents,
                seconds=wait,
                cpu_seconds=CPU_SECONDS_OF_A_START,
            ),
            say("Set a smaller max_parallel_agents, such as twice the number of cores."),
        )
    return Finding(
        subject,
        FindingStatus.OK,
        say("{facts}; {agents} may need {need}.", facts=facts, agents=agents, need=size_words(need)),
    )


# --- the supervisor -----------------------------------------------------------------------------------

# A parent that ends and leaves a child of its own session, which must be gone when the answer is there.
_LEAVER = """
import subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
print(child.pid, flush=True)
import os
os._exit(0)
"""


def _means() -> str:
    """What this system has to end everything that an agent started."""
    match sys.platform:
        case "linux":
            return say("Whatever agents start is ended with them, also when OpenLoop is killed.")
        case "win32":
            return say(
                "Whatever agents start is ended with them, also when OpenLoop is killed (by a Job object)."
            )
        case _:
            return say(
                "What agents start is ended with them, also when OpenLoop is killed, as far as this system "
                "can find it: a process that leaves its session and hides its origin is looked for by its "
                "mark."
            )


def check_supervisor() -> list[Finding]:
    """Really start a process that leaves one behind, and see that it is ended."""
    subject = say("processes")
    again = say("Start OpenLoop again. If this stays, repair the Python installation.")
    try:
        answer = probe((sys.executable, "-I", "-c", _LEAVER), Path(tempfile.gettempdir()))
    except NoAnswer as error:
        message = say("Processes cannot be looked after here. {error}", error=error)
        return [Finding(subject, FindingStatus.ERROR, message, again)]
    words = answer.stdout.split()
    if answer.exit_code != 0 or not words or not words[0].isdigit():
        message = say("A process that was started to try it failed.")
        return [Finding(subject, FindingStatus.ERROR, message, again)]
    if start_time(int(words[0])) is not None:
        message = say("A process that an agent leaves behind is not ended here.")
        advice = say("Look for leftovers after runs, and end them by hand.")
        return [Finding(subject, FindingStatus.WARNING, message, advice)]
    return [Finding(subject, FindingStatus.OK, _means())]
