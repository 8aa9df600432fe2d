"""`openloop run` as a person or a script meets it: real processes, exit codes, and what they print."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import resources
from core.events import IterationStarted, RunFinished, RunStarted, TurnFinished
from core.journal import JOURNAL_NAME
from core.progress import RunProgress
from tests.app.cli_support import ROOT, environment, events_of, journal_of, openloop
from tests.core.run_support import Workshop

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
    done = openloop("run", path, *words, "--trust", cwd=shop.folder)
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
    (output,) = re.findall(r" bad: failed after .* Its output: (.+)", done.stdout)
    assert (Path(output) / "stdout.log").exists()
    assert "agent_error:bad" in done.stdout.splitlines()[-1]
    assert "Traceback" not in done.stdout + done.stderr


def test_a_run_that_completed_without_some_of_its_agents_says_so(shop: Workshop) -> None:
    shop.agent("bad", fail=3)
    shop.agent("good")
    group = {"mode": "parallel", "agents": ["bad", "good"], "on_parallel_error": "continue"}
    done = openloop("run", shop.file({"preparation_agents": [group]}), cwd=shop.folder)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith(", 1 turn failed; completed)")


def test_turns_of_one_agent_are_told_apart_in_words(shop: Workshop) -> None:
    """`vera 2` is the second vera of a group, not vera in the second iteration."""
    shop.agent("vera", writes={"x": 1})
    group = {"mode": "parallel", "agents": ["vera", "vera"]}
    path = shop.file({"loop_agents": [group], "end_state_condition": "iteration == 2"})
    done = openloop("run", path, cwd=shop.folder)
    assert done.returncode == 0
    ends = re.findall(r"^\S+ (.+): succeeded", done.stdout, re.MULTILINE)
    assert sorted(ends) == [f"vera{second} (iteration {n})" for second in ("", " 2") for n in (1, 2)]
    assert len(set(re.findall(r"^\S+ (vera.*): started", done.stdout, re.MULTILINE))) == 4


def test_nobody_is_asked_where_nobody_is(shop: Workshop) -> None:
    shop.agent("never", bad_update="missing")
    done = openloop(
        "run", shop.file({"preparation_agents": ["never"], "on_missing_state": "ask"}), cwd=shop.folder
    )
    assert done.returncode == 1
    assert re.search(
        r"never: failed after \d+:\d\d: did not answer with a state update; 2 corrections", done.stdout
    )
    assert done.stdout.splitlines()[-1].endswith("missing_state:never)")


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


def refused(done: subprocess.CompletedProcess[str], folder: Path) -> list[str]:
    """What a run said that did not begin, line by line."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert not (folder / ".openloop").exists()
    lines = done.stderr.splitlines()
    assert lines[-1] == "Nothing was started."
    return lines[:-1]


def test_a_broken_file_is_refused_with_line_and_column(shop: Workshop) -> None:
    (shop.folder / "broken.json").write_text('{\n "loop_agents": ["a"\n "max_loops": 3 }', encoding="utf-8")
    done = openloop("run", "broken.json", cwd=shop.folder)
    assert refused(done, shop.folder) == ["error: broken.json:2:21: A comma is missing after this."]


def test_a_run_is_refused_with_everything_that_is_wrong_at_once(shop: Workshop) -> None:
    shop.agent("vera")
    (shop.folder / "wrong.json").write_text(
        '{\n "loop_agents": ["vrea"],\n "max_loops": 0,\n "end_state_condition": "(",\n "max_loop": 1\n}',
        encoding="utf-8",
    )
    lines = refused(openloop("run", "wrong.json", cwd=shop.folder), shop.folder)
    assert [line for line in lines if line.startswith("error: wrong.json:2:18: ")] == [
        "error: wrong.json:2:18: loop_agents[0].agents[0]: There is no agent called vrea. Did you mean vera?"
    ]
    for start in ("error: wrong.json:3:", "error: wrong.json:4:", "warning: wrong.json:5:"):
        assert any(line.startswith(start) for line in lines), start
    assert len(lines) == 4


def test_a_run_whose_program_is_missing_is_refused(shop: Workshop) -> None:
    shop.command("lost", "no_such_program_anywhere")
    path = shop.file({"loop_agents": ["lost"]})
    (line,) = refused(openloop("run", path, "--trust", cwd=shop.folder), shop.folder)
    assert "agents/lost.md" in Path(line).as_posix()
    assert "there is no such program. Install it, " in line


def test_a_log_or_working_folder_that_cannot_be_used_is_told_in_words(shop: Workshop) -> None:
    shop.agent("a")
    path = shop.file({"preparation_agents": ["a"]})
    (shop.folder / "file").touch()
    for option, folder, words in (
        ("--log-dir", "file", "The log folder cannot be written"),
        ("--log-dir", "file/below", "The log folder cannot be written"),
        ("--workdir", "gone", "does not exist. Create it, or name another one."),
    ):
        (line,) = refused(openloop("run", path, option, folder, cwd=shop.folder), shop.folder)
        assert words in line


def test_a_mistyped_command_is_not_taken_for_a_file(tmp_path: Path) -> None:
    done = openloop("vaildate", "audit.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "openloop: There is no command and no file called vaildate. Did you mean validate?\n"
    )


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


def test_names_that_no_system_takes_and_numbers_beyond_reason_are_refused(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", role="auditor", is_complete=True)
    for keys, says in (
        ({"log_dir": "x\u0000y"}, "NUL"),
        ({"max_loops": 10**23}, "max_loops"),
    ):
        done = openloop("run", shop.file({"loop_agents": ["vera"], **keys}), cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr
        assert "Traceback" not in done.stderr
    if sys.platform != "win32":
        assert openloop("validate", "/dev/zero", cwd=tmp_path).returncode == 2
