"""The doctor and the real opencode."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.health import FindingStatus
from tests.core.doctor_support import Machine
from tests.opencode_support import scratch_opencode

OK = FindingStatus.OK


@pytest.mark.opencode
def test_the_real_opencode_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = scratch_opencode(tmp_path / "opencode", "http://127.0.0.1:9")
    machine = Machine(tmp_path / "machine", monkeypatch)
    monkeypatch.setenv("PATH", os.pathsep.join((str(machine.bin), os.defpath)))
    real.apply(monkeypatch)
    path = machine.workflow("opencode", opencode_defaults={"agent": "plan", "model": "stub/x"})
    report = machine.examine(path, seconds=60.0)
    assert report.of("opencode").status is OK
    assert real.program in report.of("opencode").message
    assert report.of("opencode login").message == (
        "No login is stored; models of stub can be used as configured."
    )
    assert report.of("opencode agents").status is OK
    assert not report.errors
