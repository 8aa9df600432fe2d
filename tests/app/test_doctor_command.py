"""`openloop doctor`, as a person or a script starts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.cli_support import PATIENCE, Terminal, openloop, running, until
from tests.core.doctor_support import CLAUDE_IN, OPENCODE, Machine, is_alive

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pseudo-terminals of POSIX")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_nothing_in_the_way_ends_with_0_and_says_so(machine: Machine) -> None:
    program = machine.cli("opencode", OPENCODE)
    done = openloop("doctor", cwd=machine.work)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"✓ opencode        1.18.33, {program}\n" in done.stdout
    assert "- codex           Codex is not installed" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Nothing is in the way of runs")
    assert list(machine.work.iterdir()) == [], "looking leaves no trace"


def test_something_in_the_way_ends_with_1_and_says_what_to_do(machine: Machine) -> None:
    done = openloop("doctor", machine.workflow("claude"), cwd=machine.work)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("✗ claude"))
    assert "Claude Code is not installed" in lines[row]
    assert lines[row + 1].strip() == "Install it with `npm install -g @anthropic-ai/claude-code`."
    assert lines[-1].startswith("1 thing is in the way of runs")


def test_json_is_one_object_a_line_and_nothing_else(machine: Machine) -> None:
    machine.cli("claude", {"--version": "2.1.197 (Claude Code)\n", "auth status": CLAUDE_IN})
    done = openloop("doctor", machine.workflow("claude"), "--json", cwd=machine.work)
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(set(finding) == {"subject", "status", "message", "advice"} for finding in findings)
    assert {finding["status"] for finding in findings} <= {"ok", "warning", "error"}
    by_subject = {finding["subject"]: finding for finding in findings}
    assert by_subject["claude login"]["status"] == "ok"
    assert by_subject["opencode"]["status"] == "ok", "this workflow does without"
    assert done.returncode == 0


def test_folders_of_the_call_are_the_ones_that_are_looked_at(machine: Machine) -> None:
    work, logs = machine.home / "elsewhere", machine.home / "logs"
    work.mkdir()
    done = openloop("doctor", "--workdir", work, "--log-dir", logs, "--json", cwd=machine.work)
    by_subject = {finding["subject"]: finding for finding in map(json.loads, done.stdout.splitlines())}
    assert str(work) in by_subject["work folder"]["message"]
    assert str(logs) in by_subject["log folder"]["message"]
    assert not logs.exists()


def test_a_workflow_file_that_is_missing_is_a_finding(machine: Machine) -> None:
    done = openloop("doctor", "nothing.json", cwd=machine.work)
    assert done.returncode == 1
    assert "✗ workflow        nothing.json: There is no such file." in done.stdout


def test_a_terminal_that_knows_only_ascii_gets_marks_that_it_can_show(machine: Machine) -> None:
    machine.cli("opencode", {**OPENCODE, "--version": "1.2.3\n"})
    done = openloop("doctor", cwd=machine.work, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert "+ python " in done.stdout
    assert "! opencode " in done.stdout
    assert done.stdout.isascii()


def test_what_a_cli_says_cannot_steer_the_terminal(machine: Machine) -> None:
    machine.program("claude", r"import sys; sys.exit('Error: \x1b]0;mine\x07\x1b[2J\rall fine')")
    done = openloop("doctor", machine.workflow("claude"), cwd=machine.work)
    assert "✗ claude" in done.stdout
    assert not {"\x1b", "\x07", "\r"} & set(done.stdout)


def test_each_line_is_there_while_a_slow_cli_is_still_awaited(machine: Machine) -> None:
    go = machine.work / "go"
    machine.program(
        "opencode",
        f"""import pathlib, time
while not pathlib.Path({str(go)!r}).exists():
    time.sleep(0.01)
print("1.18.33")
""",
    )
    with running("doctor", cwd=machine.work) as process:
        assert process.stdout is not None
        seen = b""
        while b"codex" not in seen or b"python" not in seen:
            line = process.stdout.readline()
            assert line, seen
            seen += line
        assert b"1.18.33" not in seen
        go.touch()
        rest, _ = process.communicate(timeout=PATIENCE)
    assert b"1.18.33" in rest


@posix
def test_a_terminal_shows_what_is_still_awaited_and_wraps_at_its_width(machine: Machine) -> None:
    go = machine.work / "go"
    machine.program(
        "gemini",
        f"""import pathlib, time
while not pathlib.Path({str(go)!r}).exists():
    time.sleep(0.01)
print("0.61.0")
""",
    )
    with Terminal("doctor", cwd=machine.work, columns=70) as terminal:
        terminal.until("Looking at gemini")
        go.touch()
        assert terminal.end() == 0
    assert "\x1b[32m✓\x1b[0m python" in terminal.text
    last = terminal.words.split("\r\n")[-2]
    assert last.startswith("Nothing is in the way of runs")
    words = [line.rsplit("\r", 1)[-1] for line in terminal.words.split("\r\n")]
    assert all(len(line) <= 70 for line in words if " " in line.strip() and "/" not in line), words


@posix
def test_interrupting_leaves_nothing_of_what_hangs(machine: Machine) -> None:
    """Pain 9."""
    told = machine.hanging("claude")
    with running("doctor", cwd=machine.work) as process:
        until(told.exists, "the CLI never hung")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert not is_alive(int(told.read_text()))


@posix
def test_nothing_of_what_hangs_survives_when_the_doctor_is_killed(machine: Machine) -> None:
    """Pain 9."""
    # The files that it waited for an answer in are left to the system.
    machine.monkeypatch.setenv("TMPDIR", str(machine.home))
    told = machine.hanging("gemini")
    with running("doctor", cwd=machine.work) as process:
        until(told.exists, "the CLI never hung")
        process.kill()
    until(lambda: not is_alive(int(told.read_text())), "what the CLI had started is alive")


def test_a_reader_that_goes_ends_it_and_what_hangs(machine: Machine) -> None:
    """As in `openloop doctor | head -1`."""
    told = machine.hanging("codex")
    with running("doctor", cwd=machine.work) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 1
    # It may not have come to hang.
    assert not told.exists() or not is_alive(int(told.read_text()))


def test_the_doctor_needs_no_qt(project_root: Path, machine: Machine) -> None:
    program = (
        "import sys; sys.modules['PySide6'] = None\n"
        f"sys.path.insert(0, {str(project_root)!r})\n"
        "from app.cli import main\n"
        "sys.exit(main(['doctor']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=machine.work, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
