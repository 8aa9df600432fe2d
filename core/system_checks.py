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
    message = f"OpenLoop {own_version()} on Python {number}, {platform.system()} {platform.machine()}."
    if sys.version_info < PYTHON:  # type: ignore[unreachable,unused-ignore]  # whoever started it otherwise
        wanted = ".".join(map(str, PYTHON))
        return [Finding("python", FindingStatus.ERROR, message, f"Install Python {wanted} or newer.")]
    return [Finding("python", FindingStatus.OK, message)]


# --- cores and memory ---------------------------------------------------------------------------------


def check_machine(most_at_once: int) -> list[Finding]:
    """Cores and memory against `most_at_once` agent CLIs that work at the same time (0: none does)."""
    return [machine_finding(most_at_once, core_count(), free_memory(), total_memory())]


def machine_finding(most_at_once: int, cores: int, free: int, total: int) -> Finding:
    """What so many agents at once mean for so many cores and bytes of memory."""
    subject = "machine"
    facts = f"{_amount(cores, 'core')}, {size_words(total)} of memory, {size_words(free)} of it free"
    if most_at_once == 0:
        return Finding(subject, FindingStatus.OK, f"{facts}.")
    need = most_at_once * MEMORY_OF_AN_AGENT
    agents = f"{most_at_once} agents at once" if most_at_once > 1 else "one agent at a time"
    if need > free:
        fit = max(1, free // MEMORY_OF_AN_AGENT)
        return Finding(
            subject,
            FindingStatus.WARNING,
            f"{facts}, but {agents} may need {size_words(need)}: the system may end some of them.",
            f"Set max_parallel_agents to {fit}, or close other programs.",
        )
    wait = most_at_once * CPU_SECONDS_OF_A_START / cores
    if wait >= SLOW_START:
        return Finding(
            subject,
            FindingStatus.WARNING,
            f"{facts}. Of {agents} the last starts only after about {wait:.0f} s: each start takes up to "
            f"{CPU_SECONDS_OF_A_START:.0f} s of a core.",
            "Set a smaller max_parallel_agents, such as twice the number of cores.",
        )
    return Finding(subject, FindingStatus.OK, f"{facts}; {agents} may need {size_words(need)}.")


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
_MEANS = {
    "linux": "Whatever agents start is ended with them, also when OpenLoop is killed.",
    "win32": "Whatever agents start is ended with them, also when OpenLoop is killed (by a Job object).",
}
_MEANS_ELSEWHERE = (
    "What agents start is ended with them, also when OpenLoop is killed, as far as this system can find it: "
    "a process that leaves its session and hides its origin is looked for by its mark."
)


def check_supervisor() -> list[Finding]:
    """Really start a process that leaves one behind, and see that it is ended."""
    subject = "processes"
    again = "Start OpenLoop again. If this stays, repair the Python installation."
    try:
        answer = probe((sys.executable, "-I", "-c", _LEAVER), Path(tempfile.gettempdir()))
    except NoAnswer as error:
        message = f"Processes cannot be looked after here. {error}"
        return [Finding(subject, FindingStatus.ERROR, message, again)]
    words = answer.stdout.split()
    if answer.exit_code != 0 or not words or not words[0].isdigit():
        message = "A process that was started to try it failed."
        return [Finding(subject, FindingStatus.ERROR, message, again)]
    if start_time(int(words[0])) is not None:
        message = "A process that an agent leaves behind is not ended here."
        advice = "Look for leftovers after runs, and end them by hand."
        return [Finding(subject, FindingStatus.WARNING, message, advice)]
    return [Finding(subject, FindingStatus.OK, _MEANS.get(sys.platform, _MEANS_ELSEWHERE))]


def _amount(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
