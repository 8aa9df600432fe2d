"""The command line as a person or a script meets it: real processes, exit codes, and what they print."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import resources
from core.events import Event, IterationStarted, RunFinished, RunStarted, TurnFinished
from core.journal import JOURNAL_NAME, read_journal
from core.progress import RunProgress
from tests.core.run_support import Workshop, alive_agents

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
GATED = "until [ -e go ]; do sleep 0.02; done; echo '<state_update>{}</state_update>'"
NO_QT = """
import sys

class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6", "qasync"):
            raise ImportError("no Qt here: " + name)

sys.meta_path.insert(0, NoQt())
sys.argv = ["openloop", *sys.argv[1:]]
from app.cli import main
sys.exit(main())
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def environment(**more: str) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
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


# --- run ------------------------------------------------------------------------------------------------


def test_the_audit_example_runs_to_its_end_as_plain_lines_where_output_is_piped(tmp_path: Path) -> None:
    done = openloop("run", resources.example_workflow(), "--workdir", tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert all(re.match(r"\d\d:\d\d:\d\d \S", line) for line in lines)
    assert "\x1b" not in done.stdout
    for agent in ("amala", "vera", "linter", "security_auditor"):
        assert any(f" {agent} (iteration 1): succeeded" in line for line in lines), agent
    for agent in ("proteus", "consolidator"):
        assert any(f" {agent}: succeeded" in line for line in lines), agent
    assert any("In parallel: vera, linter, security_auditor." in line for line in lines)
    assert lines[-1].endswith("completed)")


def test_json_prints_one_event_a_line_that_tells_what_the_journal_tells(shop: Workshop) -> None:
    shop.agent("a", writes={"x": 1})
    shop.agent("b", writes={"x": 2})
    path = shop.file({"loop_agents": [{"mode": "parallel", "agents": ["a", "b"]}], "max_loops": 2})
    done = openloop("run", path, "--json", "--workdir", shop.folder, cwd=shop.folder)
    assert (done.returncode, done.stderr) == (1, "")
    events = events_of(done.stdout, shop.folder)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert [event for event in events if event.journaled] == journal_of(shop.folder)
    progress = RunProgress()
    progress.apply_all(events)
    assert progress.termination_reason == "max_loops_reached"


def test_options_override_the_workflow(shop: Workshop) -> None:
    """--max-loops, --max-parallel, --workdir, --log-dir."""
    meet = "import pathlib; pathlib.Path('was_here').touch(); print('<state_update>{}</state_update>')"
    shop.command("w", sys.executable, "-c", meet)
    path = shop.file(
        {"loop_agents": [{"mode": "parallel", "agents": ["w", "w", "w"]}], "max_loops": 9, "workdir": "other"}
    )
    elsewhere = shop.folder / "else where"
    elsewhere.mkdir()
    words = ["--json", "--max-loops", "2", "--max-parallel", "1", "--workdir", elsewhere, "--log-dir", "logs"]
    done = openloop("run", path, *words, cwd=shop.folder)
    assert done.returncode == 1
    events = events_of(done.stdout, shop.folder)
    assert [event.iteration for event in events if isinstance(event, IterationStarted)] == [1, 2]
    at_work = most = 0
    for event in events:
        at_work += (event.type == "attempt_started") - (event.type == "attempt_finished")
        most = max(most, at_work)
    assert most == 1
    assert (elsewhere / "was_here").exists()
    assert isinstance(events[0], RunStarted)
    assert Path(events[0].folder).parent == shop.folder / "logs"
    assert (shop.folder / "logs" / events[0].run_id / JOURNAL_NAME).exists()


def test_a_run_that_fails_ends_with_1_and_says_who_and_why(shop: Workshop) -> None:
    shop.agent("bad", fail=3)
    done = openloop("run", shop.file({"preparation_agents": ["bad"]}), cwd=shop.folder)
    assert done.returncode == 1
    assert "bad failed: The demo agent failed with exit code 3." in done.stdout
    assert "agent_error:bad" in done.stdout.splitlines()[-1]
    assert "Traceback" not in done.stdout + done.stderr


def test_nobody_is_asked_where_nobody_is(shop: Workshop) -> None:
    shop.agent("never", bad_update="missing")
    done = openloop(
        "run", shop.file({"preparation_agents": ["never"], "on_missing_state": "ask"}), cwd=shop.folder
    )
    assert done.returncode == 1
    assert "missing_state:never" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "gone.json"],
        ["run", "ok.json", "--max-loops", "0"],
        ["run", "ok.json", "--max-parallel", "many"],
        ["run", "ok.json", "--no-such-option"],
        ["validate", "gone.json"],
    ],
    ids=lambda words: " ".join(words),
)
def test_wrong_usage_ends_with_2_and_nothing_is_started(words: list[str], shop: Workshop) -> None:
    shop.agent("a")
    shop.file({"preparation_agents": ["a"]}).rename(shop.folder / "ok.json")
    done = openloop(*words, cwd=shop.folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout + done.stderr
    assert not (shop.folder / ".openloop").exists()


def test_a_file_of_the_older_form_runs(shop: Workshop) -> None:
    for name in ("first", "worker", "last"):
        shop.agent(name)
    path = shop.folder / "old.json"
    path.write_text(
        """// the older form: plain names, singular keys, comments, trailing commas
        {
          "preparation_agent": "first",
          "loop_agents": ["worker",],
          "finalization_agent": "last", /* one */
          "end_state_condition": "iteration >= 2",
        }""",
        encoding="utf-8",
    )
    done = openloop("run", path, "--json", cwd=shop.folder)
    assert done.returncode == 0, done.stderr
    ends = [event.turn for event in events_of(done.stdout, shop.folder) if isinstance(event, TurnFinished)]
    assert ends == ["preparation/0/0/0", "loop/1/0/0", "loop/2/0/0", "finalization/2/0/0"]


def test_names_and_paths_with_signs_in_them_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "folder" with $(signs) & ünïcödé [red]x[/red]'
    shop = Workshop(folder)
    for name in ("we ird; rm -rf $HOME", "[bold]ägent[/bold]", "-rf"):
        shop.agent(re.sub(r"\W", "_", name))
        path = folder / "agents" / (re.sub(r"\W", "_", name) + ".md")
        matter = {"name": name, "backend": "demo", "demo": {"steps": 1, "writes": {"x": name}}}
        path.write_text(f"---\n{json.dumps(matter)}\n---\nx\n", encoding="utf-8")
    path = shop.file(
        {"preparation_agents": ["we ird; rm -rf $HOME", "[bold]ägent[/bold]", "-rf"], "name": "a/b\\c"}
    )
    done = openloop("run", path, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[bold]ägent[/bold]: succeeded" in done.stdout
    (run,) = (path.parent for path in (folder / ".openloop").glob("*/journal.jsonl"))
    assert sorted(path.name for path in (run / "turns").iterdir()) == [
        "001-we_ird_rm_-rf_HOME",
        "002-_bold_gent_bold_",
        "003--rf",
    ]


def test_an_output_that_cannot_show_every_sign_does_not_end_the_run(shop: Workshop) -> None:
    shop.agent("ägent")
    path = shop.file({"preparation_agents": ["ägent"], "name": "→"})
    done = openloop("run", path, cwd=shop.folder, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert openloop("agents", path, cwd=shop.folder, env={"PYTHONIOENCODING": "ascii"}).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_folder_whose_name_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    shop = Workshop(folder)
    shop.agent("a")
    done = openloop("run", shop.file({"preparation_agents": ["a"]}), cwd=folder)
    assert done.returncode == 2
    assert "not valid UTF-8" in done.stderr
    assert "Traceback" not in done.stderr


# --- without Qt, without a display ------------------------------------------------------------------------


def test_everything_but_the_window_works_without_qt_and_without_a_display(shop: Workshop) -> None:
    shop.agent("a")
    path = shop.file({"preparation_agents": ["a"]})
    for words, code in (
        (["run", path], 0),
        (["run", path, "--json"], 0),
        (["validate", path], 0),
        (["schema"], 0),
        (["agents", path], 0),
        (["--version"], 0),
        (["gui", path], 2),
    ):
        done = subprocess.run(
            [sys.executable, "-c", NO_QT, *map(str, words)],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (words, done.stderr)
        assert "Traceback" not in done.stderr
    assert "no Qt here" in done.stderr
    assert "`openloop run` works without" in done.stderr


# --- interrupted ------------------------------------------------------------------------------------------


@pytest.fixture
def hanging(shop: Workshop) -> Path:
    shop.agent("rude", hang=True, ignore_sigterm=True)
    shop.agent("daemon", hang=True, leave_child={"kind": "double_fork", "ignore_sigterm": True})
    return shop.file({"loop_agents": [{"mode": "parallel", "agents": ["rude", "daemon"], "max_parallel": 2}]})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupted_run_ends_with_130_and_leaves_nothing(
    hanging: Path, shop: Workshop, number: signal.Signals
) -> None:
    with running("run", hanging, cwd=shop.folder) as process:
        until(lambda: len(alive_agents(shop.folder)) >= 3, "the agents never came")
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert alive_agents(shop.folder) == []
    assert b"The run was stopped." in out
    assert err == b""
    last = journal_of(shop.folder)[-1]
    assert isinstance(last, RunFinished)
    assert last.termination_reason == "stopped"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_run_that_was_started_to_outlive_its_terminal_does(shop: Workshop) -> None:
    """`nohup` and `&` ignore signals on purpose."""
    shop.command("waits", "sh", "-c", GATED)
    path = shop.file({"preparation_agents": ["waits"]})
    with running("run", path, cwd=shop.folder, prefix=("nohup",)) as process:
        until(lambda: len(alive_agents(shop.folder)) >= 1, "the agent never came")
        process.send_signal(signal.SIGHUP)
        (shop.folder / "go").touch()
        process.communicate(timeout=PATIENCE)
    assert not [event for event in journal_of(shop.folder) if event.type == "stop_requested"]
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_second_interrupt_changes_nothing(hanging: Path, shop: Workshop) -> None:
    with running("run", hanging, cwd=shop.folder) as process:
        until(lambda: len(alive_agents(shop.folder)) >= 3, "the agents never came")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        _, err = process.communicate()
    # The very last one may meet a process that has nothing left to interrupt.
    assert process.returncode in (130, -signal.SIGINT)
    assert alive_agents(shop.folder) == []
    assert b"Traceback" not in err or process.returncode == -signal.SIGINT


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_reader_that_goes_away_ends_the_run_without_a_traceback(hanging: Path, shop: Workshop) -> None:
    """`openloop run … | head -1`."""
    for words in ([], ["--json"]):
        with running("run", hanging, *words, cwd=shop.folder) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(PATIENCE) == 1
            assert process.stderr.read() == b""
        assert alive_agents(shop.folder) == []


# --- on a terminal ----------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
def test_a_terminal_shows_a_live_line_for_every_running_agent(shop: Workshop) -> None:
    import fcntl
    import pty
    import struct
    import termios

    shop.command("[red]one", "sh", "-c", GATED)
    (shop.folder / "agents" / "[red]one.md").rename(shop.folder / "agents" / "one.md")
    shop.agent("two", fail=3)
    group = {
        "mode": "parallel",
        "agents": ["[red]one", "two"],
        "on_parallel_error": "continue",
        "max_parallel": 2,
    }
    path = shop.file({"preparation_agents": [group]})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), "run", str(path)],
        cwd=shop.folder,
        env=environment(TERM="xterm-256color"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    screen = b""
    with process:
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:  # the terminal was hung up: the process is gone
                break
            if not data:
                break
            screen += data
            if b"two: failed" in screen and "▸ [red]one".encode() in screen:
                (shop.folder / "go").touch()
    os.close(ours)
    assert process.returncode == 0
    text = screen.decode()
    assert "\x1b[" in text
    assert "▸ [red]one" in text  # never read as markup
    assert "Preparation" in text
    assert "[red]one: succeeded" in text
    assert "Traceback" not in text
    assert text.rstrip().endswith("\x1b[?25h") or "completed)" in text


# --- validate, schema, agents -----------------------------------------------------------------------------


def test_validate_tells_every_problem_in_one_pass_with_place_and_advice(shop: Workshop) -> None:
    shop.agent("vera")
    path = shop.folder / "wrong.json"
    path.write_text(
        '{\n  "loop_agents": ["vera", "vrea"],\n  "max_loop": 3,\n  "max_loops": 0,\n'
        '  "end_state_condition": "payload.get(",\n'
        '  "finalization_agents": [{"mode": "parallell", "agents": ["vera"]}]\n}\n',
        encoding="utf-8",
    )
    done = openloop("validate", path, cwd=shop.folder)
    assert done.returncode == 2
    found = done.stdout

    def line_with(*words: str) -> str:
        lines = [line for line in found.splitlines() if all(word in line for word in words)]
        assert len(lines) == 1, (words, found)
        return lines[0]

    assert f"{path}:4:" in line_with("error", "max_loops:")
    assert f"{path}:3:" in line_with("warning", "max_loop", "max_loops?")
    assert f"{path}:6:" in line_with("error", "parallell")
    assert f"{path}:5:" in line_with("error", "end_state_condition")
    assert f"{path}:2:" in line_with("error", "vrea", "vera?")
    assert re.search(r"wrong\.json: 4 errors, 1 warning$", found.strip())


def test_validate_says_that_a_fan_out_group_cannot_run_yet(shop: Workshop) -> None:
    shop.agent("vera")
    path = shop.file({"loop_agents": [{"mode": "fan_out", "agent": "vera", "tasks": ["one"]}]})
    done = openloop("validate", path, cwd=shop.folder)
    assert done.returncode == 2
    assert "loop_agents[0]: This version of OpenLoop cannot run fan-out" in done.stdout
    refused = openloop("run", path, cwd=shop.folder)
    assert refused.returncode == 2
    assert "Nothing was started." in refused.stderr


def test_validate_checks_many_files_and_passes_good_ones(shop: Workshop) -> None:
    done = openloop("validate", *resources.example_workflows(), cwd=shop.folder)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("no errors, no warnings") == len(resources.example_workflows())


def test_the_schema_is_printed_as_json(tmp_path: Path) -> None:
    done = openloop("schema", cwd=tmp_path)
    assert done.returncode == 0
    assert "loop_agents" in json.loads(done.stdout)["properties"]


def test_agents_lists_those_beside_the_workflow_and_the_examples(shop: Workshop) -> None:
    shop.agent("mine", role="auditor")
    path = shop.file({"preparation_agents": ["mine"]})
    done = openloop("agents", path, cwd=shop.folder)
    assert done.returncode == 0
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("mine "))
    assert "auditor · demo · may complete" in line
    assert str(shop.folder / "agents" / "mine.md") in line
