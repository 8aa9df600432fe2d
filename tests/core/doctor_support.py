"""A machine for the doctor's tests: programs made on the spot that answer like the CLIs of agents.

They are real files that are really found and started.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from core.doctor import Checkup
from core.health import Finding, FindingStatus
from tests.core.fake_clis import (  # noqa: F401  some are there for tests only
    CLAUDE_IN,
    CLAUDE_OUT,
    OF_THE_USER,
    OPENCODE,
    OPENCODE_LOGINS,
    OPENCODE_NO_LOGIN,
    write_cli,
    write_program,
)

_REAL_PATH = os.environ.get("PATH", os.defpath)

# It starts something in a session of its own, tells its pid, and hangs; neither minds a polite end.
_HANGS = """import pathlib, signal, subprocess, sys, time
deaf = (
    "import signal, time\\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n"
    "print(1, flush=True)\\n"
    "time.sleep(600)"
)
child = subprocess.Popen([sys.executable, "-S", "-c", deaf], stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
new = pathlib.Path({told!r} + ".new")
new.write_text(str(child.pid))
new.replace({told!r})
time.sleep(600)
"""


class Machine:
    """Programs, a home and a working folder that nobody else uses."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.work = folder / "work"
        for made in (self.bin, self.home, self.work):
            made.mkdir(parents=True)
        self.monkeypatch = monkeypatch
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("USERPROFILE", str(self.home))
        for name in OF_THE_USER:
            monkeypatch.delenv(name, raising=False)

    def program(self, name: str, source: str) -> Path:
        """A program of this name that is this Python source."""
        return write_program(self.bin, name, source)

    def cli(self, name: str, answers: Mapping[str, str], codes: Mapping[str, int] | None = None) -> Path:
        """A program that prints a text for its arguments, and ends with the exit code for them (else 0)."""
        return write_cli(self.bin, name, answers, codes)

    def hanging(self, name: str) -> Path:
        """A program of this name that never answers; the file has the pid of what it started."""
        told = self.work / f"{name}.pid"
        self.program(name, _HANGS.format(told=str(told)))
        return told

    def workflow(self, backend: str, **more: object) -> Path:
        """A workflow with one agent of this backend."""
        agents = self.work / "agents"
        agents.mkdir(exist_ok=True)
        (agents / "vera.md").write_text(
            f"---\nname: vera\nrole: auditor\nbackend: {backend}\n---\nLook.\n", encoding="utf-8"
        )
        path = self.work / "workflow.json"
        told = {"name": "review", "loop_agents": ["vera"], "workdir": ".", **more}
        path.write_text(json.dumps(told), encoding="utf-8")
        return path

    def real(self, name: str) -> str:
        """Have a real program of this computer in PATH; skips the test where there is none."""
        found = shutil.which(name, path=_REAL_PATH)
        if found is None:
            pytest.skip(f"there is no {name} here")
        self.monkeypatch.setenv("PATH", f"{self.bin}{os.pathsep}{Path(found).parent}")
        return found

    def checkup(self, workflow: Path | None = None, *, seconds: float = 60.0) -> Checkup:
        """A look at this machine."""
        return Checkup(workflow, default_workdir=self.work, answer_seconds=seconds)

    def examine(self, workflow: Path | None = None, *, seconds: float = 60.0) -> Report:
        """Everything that is found here."""
        told = self.checkup(workflow, seconds=seconds).run()
        return Report([news.finding for news in told if news.finding is not None])


class Report:
    """What was found."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings

    def of(self, subject: str) -> Finding:
        """The one finding about this."""
        found = self.all_of(subject)
        assert len(found) == 1, (subject, self.findings)
        return found[0]

    def all_of(self, subject: str) -> list[Finding]:
        return [finding for finding in self.findings if finding.subject == subject]

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.status is FindingStatus.ERROR]


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
