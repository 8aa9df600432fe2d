"""Names that others choose (of agents, of tasks, in journals) never lead out of a run folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from core.events import GroupStarted, TurnRef, TurnStarted
from core.journal import JOURNAL_NAME
from core.plain_name import LONGEST, plain_name
from core.plan import Place
from core.recorded_run import read_run
from core.resuming import prepare_resume
from tests.core.run_support import Workshop, run_plan

HOSTILE = [
    "../../x",
    "..",
    ".",
    "...",
    ".hidden",
    "/etc/passwd",
    "a/b/../../../../c",
    "..\\..\\x",
    "C:\\x",
    "C:x",
    "\\\\host\\share\\x",
    "CON",
    "nul",
    "COM1",
    "x.app",
    "x:stream",
    "x.",
    "x ",
    "-rf",
    "~",
    "$HOME",
    "%TEMP%",
    "*?<>|",
    "a\nb",
    "a\x1b[2J",
    "n" * 300,
    "é" * 300,
    "．．／x",  # full-width look-alikes, which normalise to ../x
    "․․∕x",
    "\u202e/..",
    "🙂",
    "a\x00b",
]


def tree(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


# --- runs ---------------------------------------------------------------------------------------------


def test_agents_with_hostile_names_write_nothing_outside_their_run_folder(tmp_path: Path) -> None:
    """One run with all of them; the label of a turn is the agent's name, as a task's id would be."""
    shop = Workshop(tmp_path / "deep" / "er" / "project")
    names = [name for name in HOSTILE if "\0" not in name]
    for number, name in enumerate(names):
        matter = {"name": name, "backend": "demo", "demo": {"steps": 1}}
        text = f"---\n{json.dumps(matter, ensure_ascii=False)}\n---\nx\n"
        (shop.folder / "agents" / f"{number}.md").write_text(text, "utf-8")
    # What an agent file says is trimmed.
    listed = [name.strip() for name in names]
    plan = shop.plan({"name": "../../w", "preparation_agents": listed, "agent_timeout": 50})
    outside = tree(tmp_path)
    run = run_plan(plan)
    assert run.finished.message, run.finished
    assert run.reason == "completed"
    made = tree(tmp_path) - outside
    log_dir = shop.folder / ".openloop"
    assert {path for path in made if not path.is_relative_to(run.folder)} <= {
        log_dir,
        log_dir / ".gitignore",
        run.folder,
    }
    turns = run.folder / "turns"
    folders = sorted(path.name for path in turns.iterdir())
    assert len(folders) == len(names)
    for folder in folders:
        assert plain_name(folder) == folder
        assert (turns / folder / "stdout.log").is_file()
    # Each turn is where the journal says.
    assert sorted(turn.folder for turn in run.progress.turns.values()) == folders


# --- names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_a_turn_has_a_folder_of_one_plain_name(name: str, tmp_path: Path) -> None:
    for given_name in (name, f"001-{name}"):
        folder = TurnRef("loop/1/0/0", Place("loop", 0, 0), name, name, given_name).folder
        assert (tmp_path / folder).resolve().parent == tmp_path.resolve()
        assert not set(folder) & set("./\\:\0*?<>|\"' \n")
        assert len(folder) <= LONGEST + 1
        assert folder.isascii()
        (tmp_path / folder).mkdir(exist_ok=True)


@given(st.text(max_size=200))
def test_any_text_gives_one_plain_name_that_stays_as_it_is(text: str) -> None:
    name = plain_name(text)
    assert Path(name).name == name
    assert name not in (".", "..")
    assert plain_name(name) == name
    assert bool(name) == bool(text)


# --- journals of others -------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["../../../out", "/tmp/out", "..", "C:\\out", "out.app"])
def test_a_journal_of_another_machine_cannot_lead_out_either(tmp_path: Path, folder: str) -> None:
    """Pain 23: a resumed run writes where its journal says that its turns are."""
    ref = TurnRef("preparation/0/0/0", Place("preparation", 0, 0), "vera", "vera", "001-vera")
    event = json.loads(TypeAdapter(GroupStarted).dump_json(GroupStarted(turns=(ref,))))
    event["turns"][0]["folder"] = folder
    read = TypeAdapter(GroupStarted).validate_python(event)
    assert read.turns[0].folder == plain_name(folder)


def test_a_run_with_a_forged_journal_is_resumed_inside_its_folder(tmp_path: Path) -> None:
    """Pain 23."""
    shop = Workshop(tmp_path / "project")
    shop.agent("vera")
    first = shop.run({"preparation_agents": ["vera"]})
    journal = first.folder / JOURNAL_NAME
    lines = journal.read_text("utf-8").splitlines()
    kept = [line for line in lines if "turn_finished" not in line and "run_finished" not in line]
    kept = [line for line in kept if "merged" not in line and "state_changed" not in line]
    forged = "\n".join(kept).replace('"folder":"001-vera"', '"folder":"../../../../out"') + "\n"
    assert "out" in forged
    journal.write_text(forged, "utf-8")
    shutil.rmtree(first.folder / "turns")
    recorded = read_run(first.folder)
    assert list(recorded.folders.values()) == ["_out"]
    before = tree(tmp_path)
    prepared = prepare_resume(recorded)
    again = run_plan(prepared.plan, recorded=recorded)
    assert again.of(TurnStarted)
    made = tree(tmp_path) - before
    assert made
    assert all(path.is_relative_to(first.folder) for path in made)
