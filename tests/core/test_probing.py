"""Questions to programs: an answer in time, or a sentence why there is none; nothing of it lives on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from core.probing import CannotStart, NoAnswer, Probes, ProbesCancelled, probe
from tests.core.doctor_support import Machine, is_alive


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_question_outside_of_a_look_has_a_limit_too(machine: Machine) -> None:
    program = machine.program("claude", "import time; time.sleep(600)")
    with pytest.raises(NoAnswer, match=r"No answer came in 0\.5 s"):
        probe((str(program),), machine.work, seconds=0.5)


def test_a_question_is_asked_in_its_folder_without_input_and_with_more_variables(machine: Machine) -> None:
    program = machine.program(
        "claude", "import os, sys; print(os.getcwd(), os.environ['MORE'], repr(sys.stdin.read()))"
    )
    with Probes() as probes, probes.in_force():
        answer = probe((str(program),), machine.work, env={"MORE": "yes"})
    assert answer.stdout == f"{machine.work} yes ''\n"


def test_a_program_that_is_not_there_cannot_be_asked(machine: Machine) -> None:
    with pytest.raises(CannotStart):
        probe((str(machine.bin / "nothing"),), machine.work)


def test_an_answer_that_is_no_text_is_given_as_far_as_it_can_be_read(machine: Machine) -> None:
    program = machine.program(
        "claude", "import os; os.write(1, b'1.0 \\xff\\r\\n'); os.write(2, b'oh'); os._exit(7)"
    )
    answer = probe((str(program),), machine.work)
    assert (answer.stdout, answer.stderr, answer.exit_code) == ("1.0 \ufffd\n", "oh", 7)


def test_questions_of_other_threads_end_when_they_are_cancelled(machine: Machine) -> None:
    """Pain 9: whoever does not want the answer any more leaves nobody behind."""
    told = [machine.hanging(name) for name in ("claude", "codex", "gemini")]
    ends: list[str] = []
    with Probes() as probes:

        def ask(name: str) -> None:
            try:
                probes.ask((str(machine.bin / name),), machine.work, {}, 600)
            except ProbesCancelled:
                ends.append(name)

        threads = [threading.Thread(target=ask, args=(file.stem,)) for file in told]
        for thread in threads:
            thread.start()
        while not all(file.exists() for file in told):
            threading.Event().wait(0.01)
        probes.cancel()
        for thread in threads:
            thread.join()
        assert sorted(ends) == ["claude", "codex", "gemini"]
        assert not any(is_alive(int(file.read_text())) for file in told)
        with pytest.raises(ProbesCancelled):
            probes.ask((str(machine.bin / "claude"),), machine.work, {})
