"""`openloop runs` and `openloop resume`, as a person or a script would use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import orjson
import psutil
import pytest

from core.events import AttemptStarted, RunFinished, RunStarted, TurnStarted
from core.journal import JOURNAL_NAME, read_journal
from core.open_runs import mark_open
from tests.app.cli_support import events_of, openloop, running, until
from tests.core.run_support import Workshop, alive_agents

GATED = """
import pathlib, time
while not pathlib.Path("gate").exists():
    time.sleep(0.02)
print('<state_update>{"payload": {"gated": true}}</state_update>')
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def cut_off(shop: Workshop) -> Path:
    """A run that was killed while its second agent was at work; gives its folder."""
    shop.agent("quick", writes={"quick": 1})
    shop.command("slow", sys.executable, "-c", GATED)
    path = shop.file({"name": "audit", "preparation_agents": ["quick", "slow"]})
    with running("run", path, "--trust", cwd=shop.folder) as process:

        def at_work() -> bool:
            journals = list((shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}"))
            started = [e for each in journals for e in read_journal(each) if isinstance(e, AttemptStarted)]
            return len(started) == 2

        until(at_work, "the second agent never came")
        process.kill()
    until(lambda: alive_agents(shop.folder) == [], "an agent outlived OpenLoop")
    (journal,) = (shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}")
    return journal.parent


def failed(shop: Workshop) -> Path:
    shop.agent("bad", writes={"x": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    done = openloop("run", shop.file({"preparation_agents": ["bad"]}), cwd=shop.folder)
    assert done.returncode == 1
    (journal,) = (shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}")
    return journal.parent


def test_a_killed_run_is_listed_and_goes_on_by_its_id(shop: Workshop) -> None:
    """Pain 23."""
    folder = cut_off(shop)
    listed = openloop("runs", cwd=shop.folder).stdout
    assert folder.name in listed
    assert "audit  cut off  (" in listed
    assert "1 turn done" in listed
    assert "Goes on at: Preparation: slow" in listed
    (shop.folder / "gate").touch()
    done = openloop("resume", folder.name, cwd=shop.folder)
    assert done.returncode == 0, done.stderr
    assert "resumed" in done.stdout
    assert "quick: started" not in done.stdout
    assert json.loads((folder / "state.json").read_text(encoding="utf-8"))["payload"] == {
        "quick": 1,
        "gated": True,
    }
    assert "completed" in openloop("runs", cwd=shop.folder).stdout


def test_a_run_that_was_cut_off_is_found_from_anywhere(
    shop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = cut_off(shop)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert str(folder) in openloop("runs", cwd=elsewhere).stdout
    (shop.folder / "gate").touch()
    assert openloop("resume", folder.name, cwd=elsewhere).returncode == 0


def test_runs_are_looked_for_where_the_settings_put_them(shop: Workshop) -> None:
    (shop.folder / "openloop.json").write_text('{"log_dir": "elsewhere"}', encoding="utf-8")
    shop.agent("bad", fail={"exit_code": 1, "error": "No.", "first": 1})
    openloop("run", shop.file({"preparation_agents": ["bad"]}), cwd=shop.folder)
    (folder,) = (shop.folder / "elsewhere").glob("*-*")
    assert folder.name in openloop("runs", cwd=shop.folder).stdout
    assert openloop("resume", folder.name, cwd=shop.folder).returncode == 0


def test_runs_as_json_are_one_object_a_line(shop: Workshop) -> None:
    folder = failed(shop)
    (line,) = openloop("runs", "--json", cwd=shop.folder).stdout.splitlines()
    facts = orjson.loads(line)
    assert facts["run_id"] == folder.name
    assert facts["termination_reason"] == "agent_error:bad"
    assert facts["resumable"] is True
    assert facts["next_place"] == "Preparation: bad"


def test_how_to_go_on_is_said_at_the_end_of_a_run_and_works_as_written(shop: Workshop) -> None:
    shop.agent("dear", writes={"n": 1}, cost_usd=1)
    path = shop.file({"preparation_agents": ["dear", "dear"], "budget": {"max_cost_usd": 0.5}})
    done = openloop("run", path, cwd=shop.folder)
    assert done.returncode == 1
    said = done.stderr.strip().rpartition("openloop ")[2].replace("USD", "9").split()
    assert said[:2] == ["resume", "--max-cost"]
    # As the file calls it, not as the field of the window.
    assert "a higher max_cost_usd to go further" in done.stdout
    refused = openloop("resume", said[-1], cwd=shop.folder).stderr
    assert "Resume it with a higher max_cost_usd (--max-cost)." in refused
    assert openloop(*said, cwd=shop.folder).returncode == 0


def test_limits_can_be_changed_and_an_option_that_makes_no_sense_is_named(shop: Workshop) -> None:
    shop.agent("a", writes={"n": 1})
    path = shop.file({"loop_agents": ["a"], "max_loops": 1, "end_state_condition": "iteration == 2"})
    assert openloop("run", path, cwd=shop.folder).returncode == 1
    (folder,) = (shop.folder / ".openloop").glob("*-*")
    refused = openloop("resume", folder, cwd=shop.folder)
    assert refused.returncode == 2
    assert "--max-loops" in refused.stderr
    assert refused.stderr.endswith("Nothing was started.\n")
    assert "PATH=RULE" in openloop("resume", folder, "--merge", "payload.n", cwd=shop.folder).stderr
    assert "append" in openloop("resume", folder, "--merge", "payload.n=mean", cwd=shop.folder).stderr
    done = openloop("resume", folder, "--max-loops", "3", "--json", cwd=shop.folder)
    assert (done.returncode, done.stderr) == (0, "")
    events = events_of(done.stdout, shop.folder)
    assert any(isinstance(event, RunStarted) and event.resumed for event in events)
    assert len([event for event in events if isinstance(event, TurnStarted)]) == 1
    assert isinstance(events[-1], RunFinished)


@pytest.mark.parametrize("run", ["20200101-000000-abcdef", "no/such/folder", ".", ""])
def test_what_is_no_run_is_said_to_be_none(shop: Workshop, run: str) -> None:
    done = openloop("resume", run, cwd=shop.folder)
    assert done.returncode == 2
    assert "is not a run folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_commands_that_changed_are_asked_about_again(shop: Workshop) -> None:
    folder = cut_off(shop)
    shop.command("slow", sys.executable, "-c", "print('<state_update>{}</state_update>')")
    refused = openloop("resume", folder, cwd=shop.folder)
    assert refused.returncode == 2
    assert "--trust" in refused.stderr
    assert openloop("resume", folder, "--trust", cwd=shop.folder).returncode == 0


def test_what_the_user_said_when_the_run_began_is_not_asked_about_when_it_goes_on(shop: Workshop) -> None:
    shop.agent("bad", fail={"exit_code": 1, "error": "No.", "first": 1})
    path = shop.file({"preparation_agents": ["bad"]})
    assert openloop("run", path, "--set", "init_script=echo mine", cwd=shop.folder).returncode == 1
    (folder,) = (shop.folder / ".openloop").glob("*-*")
    done = openloop("resume", folder, cwd=shop.folder)
    assert done.returncode == 0, done.stderr


def test_what_outlived_openloop_is_told_and_ended_only_when_allowed(shop: Workshop) -> None:
    """Pain 9."""
    folder = failed(shop)
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    try:
        event = AttemptStarted(
            turn="preparation/0/0/0",
            number=2,
            pid=left.pid,
            pid_started=psutil.Process(left.pid).create_time(),
        )
        with (folder / JOURNAL_NAME).open("ab") as journal:
            journal.write(orjson.dumps(event) + b"\n")
        mark_open(folder.name, folder)
        shop.agent("other")
        told = openloop("run", shop.file({"preparation_agents": ["other"]}), cwd=shop.folder)
        assert f"process {left.pid}" in told.stderr
        refused = openloop("resume", folder, cwd=shop.folder)
        assert refused.returncode == 2
        assert f"process {left.pid}" in refused.stderr
        assert "--end-orphans" in refused.stderr
        assert left.poll() is None
        assert openloop("resume", folder, "--end-orphans", cwd=shop.folder).returncode == 0
        assert left.wait(10) != 0
    finally:
        left.kill()
        left.wait()
