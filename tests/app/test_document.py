"""The open workflow: undoable edits, files, and what other programs do to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QUndoStack
from pytestqt.qtbot import QtBot

from app import open_workflow
from app.document import InGroup, NewStep, OnAgent, WorkflowDocument
from app.outline import Outline
from core.config import AgentGroup
from core.plan import Place
from core.problems import UserFileError
from core.state import PHASES
from core.workflow_file import WorkflowFile, load_workflow

AUDIT = {
    "name": "audit",
    "preparation_agents": ["proteus"],
    "loop_agents": [
        {"agents": ["amala"], "mode": "sequential"},
        {"agents": ["vera", "linter", "security_auditor"], "mode": "parallel"},
    ],
    "finalization_agents": ["consolidator"],
    "end_state_condition": "payload.get('score', 0) >= 90",
    "max_loops": 10,
    "max_parallel_agents": 4,
}


@pytest.fixture
def audit_file(tmp_path: Path) -> Path:
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(AUDIT, indent=2), encoding="utf-8")
    return path


@pytest.fixture
def document(qapp: object, audit_file: Path) -> WorkflowDocument:
    document = WorkflowDocument()
    document.open(audit_file)
    return document


def shape(document: WorkflowDocument) -> dict[str, list[str]]:
    """Every phase as lists such as `par(vera linter)`, for reading."""
    return {
        phase: [
            f"{group.settings.mode[:3]}({' '.join(node.entry.agent for node in group.agents)})"
            for group in document.outline.groups(phase)
        ]
        for phase in PHASES
    }


def loop(document: WorkflowDocument) -> list[str]:
    return shape(document)["loop"]


def agent(document: WorkflowDocument, name: str) -> int:
    return next(node.id for _, _, node in document.outline.all_agents() if node.entry.agent == name)


def group(document: WorkflowDocument, number: int) -> int:
    return document.outline.loop[number].id


# --- what edits mean -----------------------------------------------------------------------------------


def test_an_agent_dropped_between_agents_of_a_group_stands_there(document: WorkflowDocument) -> None:
    assert document.insert_agents(["proteus"], InGroup(group(document, 1), 1))
    assert loop(document) == ["seq(amala)", "par(vera proteus linter security_auditor)"]


def test_an_agent_dropped_on_one_of_a_sequence_runs_in_parallel_with_it_and_the_rest_keeps_its_order(
    document: WorkflowDocument,
) -> None:
    document.insert_agents(["one", "two"], InGroup(group(document, 0), 1))
    first = group(document, 0)
    assert document.insert_agents(["beside"], OnAgent(agent(document, "one")))
    assert loop(document)[:3] == ["seq(amala)", "par(one beside)", "seq(two)"]
    assert group(document, 0) == first


def test_an_agent_dropped_on_one_of_a_parallel_group_joins_it(document: WorkflowDocument) -> None:
    assert document.move({agent(document, "amala")}, OnAgent(agent(document, "linter")))
    assert loop(document) == ["par(vera linter amala security_auditor)"]


def test_an_agent_dropped_between_groups_is_a_new_step(document: WorkflowDocument) -> None:
    assert document.move({agent(document, "linter")}, NewStep("finalization", 0))
    assert shape(document)["finalization"] == ["seq(linter)", "seq(consolidator)"]
    assert loop(document)[1] == "par(vera security_auditor)"


def test_moving_all_of_a_group_moves_the_group_with_its_name_and_settings(document: WorkflowDocument) -> None:
    document.rename_group(group(document, 0), "Write")
    assert document.move({agent(document, "amala")}, NewStep("loop", 2))
    assert document.outline.loop[1].settings.name == "Write"


def test_moving_within_a_group_counts_places_as_they_were_before(document: WorkflowDocument) -> None:
    assert document.move({agent(document, "vera")}, InGroup(group(document, 1), 3))
    assert loop(document)[1] == "par(linter security_auditor vera)"


def test_agents_of_several_phases_are_grouped_in_each_of_them(
    document: WorkflowDocument,
) -> None:
    chosen = {agent(document, name) for name in ("amala", "linter", "consolidator")}
    assert document.make_group(chosen)
    assert shape(document) == {
        "preparation": ["seq(proteus)"],
        "loop": ["par(amala linter)", "par(vera security_auditor)"],
        "finalization": ["seq(consolidator)"],
    }
    document.insert_agents(["vera"], NewStep("finalization", 1))
    assert document.make_group({node.id for _, _, node in document.outline.all_agents()})
    assert shape(document) == {
        "preparation": ["seq(proteus)"],
        "loop": ["par(amala linter vera security_auditor)"],
        "finalization": ["par(consolidator vera)"],
    }
    assert document.undo_stack.count() == 3


def test_an_agent_in_parallel_with_the_next_joins_the_group_that_follows(document: WorkflowDocument) -> None:
    assert document.join_next(agent(document, "amala"))
    assert loop(document) == ["par(amala vera linter security_auditor)"]


def test_ungrouped_agents_are_steps_of_their_own(document: WorkflowDocument) -> None:
    assert document.ungroup({group(document, 1)})
    assert loop(document) == ["seq(amala)", "seq(vera)", "seq(linter)", "seq(security_auditor)"]


@pytest.mark.parametrize("direction", [-1, 1])
def test_one_key_takes_an_agent_through_every_phase_and_group(
    document: WorkflowDocument, direction: int
) -> None:
    document.insert_agents(
        ["traveller"], NewStep("finalization", 1) if direction < 0 else NewStep("preparation", 0)
    )
    node_id = agent(document, "traveller")
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for _ in range(40):
        found = document.outline.find_agent(node_id)
        assert found is not None
        seen.add((found[0].phase, tuple(sorted(node.entry.agent for node in found[1].agents))))
        if not document.move_step([node_id], direction):
            break
    else:
        pytest.fail("the agent never arrives")
    for phase, others in (
        ("preparation", ("proteus",)),
        ("loop", ("amala",)),
        ("loop", ("linter", "security_auditor", "vera")),
        ("finalization", ("consolidator",)),
    ):
        assert (phase, tuple(sorted((*others, "traveller")))) in seen
    assert {phase for phase, names in seen if names == ("traveller",)} == set(PHASES)


# --- undo ----------------------------------------------------------------------------------------------

EDITS: dict[str, Callable[[WorkflowDocument], object]] = {
    "insert": lambda d: d.insert_agents(["new"], NewStep("loop", 1)),
    "join": lambda d: d.insert_agents(["new"], OnAgent(agent(d, "amala"))),
    "move": lambda d: d.move({agent(d, "vera")}, NewStep("preparation", 0)),
    "move group": lambda d: d.move({group(d, 1)}, NewStep("finalization", 1)),
    "step": lambda d: d.move_step([agent(d, "vera")], -1),
    "remove agents": lambda d: d.remove({agent(d, "vera"), agent(d, "amala")}),
    "remove group": lambda d: d.remove({group(d, 1)}),
    "duplicate": lambda d: d.duplicate({agent(d, "vera")}),
    "group": lambda d: d.make_group({agent(d, "vera"), agent(d, "amala")}),
    "ungroup": lambda d: d.ungroup({group(d, 1)}),
    "mode": lambda d: d.set_mode({group(d, 1)}, "sequential"),
    "rename": lambda d: d.rename_group(group(d, 1), "Review"),
    "disable": lambda d: d.set_enabled({agent(d, "vera"), group(d, 0)}, False),
    "entry": lambda d: d.update_agent(agent(d, "vera"), "model", model="opus"),
    "group setting": lambda d: d.update_group(group(d, 1), "timeout", timeout=60.0),
    "setting": lambda d: d.update_settings("loops", {"max_loops": 3}),
    "part of a setting": lambda d: d.update_settings("budget", {"budget.max_tokens": 9}),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_every_edit_is_one_named_step_that_undo_and_redo_restore_exactly(
    document: WorkflowDocument, edit: Callable[[WorkflowDocument], object]
) -> None:
    before = document.outline
    assert edit(document)
    after = document.outline
    assert after != before
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText()
    document.undo_stack.undo()
    assert document.outline == before
    assert not document.is_modified
    document.undo_stack.redo()
    assert document.outline == after


def test_what_changes_nothing_is_no_step(document: WorkflowDocument) -> None:
    vera = agent(document, "vera")
    assert not document.move({vera}, InGroup(group(document, 1), 0))
    assert not document.move({vera}, InGroup(group(document, 1), 1))
    assert not document.move({vera}, OnAgent(vera))
    assert not document.move({agent(document, "amala")}, NewStep("loop", 1))
    assert not document.set_mode({group(document, 1)}, "parallel")
    assert not document.update_settings("loops", {"max_loops": 10})
    assert document.undo_stack.count() == 0


def test_ids_survive_moves_undo_and_redo(document: WorkflowDocument) -> None:
    vera = agent(document, "vera")
    assert document.place_of(vera) == Place("loop", 1, 0)
    document.move({vera}, NewStep("finalization", 1))
    assert document.place_of(vera) == Place("finalization", 1, 0)
    assert document.node_at(Place("finalization", 1, 0)) == vera
    document.undo_stack.undo()
    assert document.node_at(Place("loop", 1, 0)) == vera


def test_keystrokes_in_one_field_are_one_step_until_the_field_is_left(document: WorkflowDocument) -> None:
    for text in ("a", "au", "aud"):
        document.update_settings("name", {"name": text})
    document.end_merging()
    document.update_settings("name", {"name": "audits"})
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert document.settings.name == "aud"
    document.undo_stack.undo()
    assert document.settings.name == "audit"


def test_typing_and_taking_it_back_is_no_step(document: WorkflowDocument) -> None:
    document.update_settings("name", {"name": "audit!"})
    document.update_settings("name", {"name": "audit"})
    assert document.undo_stack.count() == 0
    assert not document.is_modified


def test_a_fan_out_group_is_kept_through_edits_around_it(document: WorkflowDocument, tmp_path: Path) -> None:
    fan_out = {"mode": "fan_out", "agent": "worker", "tasks_from": "payload.subtasks", "x_note": "mine"}
    path = tmp_path / "fan.json"
    path.write_text(json.dumps({"name": "fan", "loop_agents": ["amala", fan_out, "vera"]}), encoding="utf-8")
    document.open(path)
    middle = document.outline.loop[1]
    assert not document.insert_agents(["vera"], InGroup(middle.id, 0))
    assert document.move({middle.id}, NewStep("loop", 0))
    document.save()
    assert json.loads(path.read_text(encoding="utf-8"))["loop_agents"][0] == fan_out


names = st.sampled_from(["a", "b", "c", "d"])
numbers = st.integers(min_value=0, max_value=5)


def _random_edit(document: WorkflowDocument, what: int, one: int, two: int, name: str) -> None:
    agents = [node.id for _, _, node in document.outline.all_agents()]
    groups = [each.id for _, _, each in document.outline.all_groups()]
    phase = PHASES[one % 3]
    step = NewStep(phase, min(two, len(document.outline.groups(phase))))
    if what == 0 or not agents or not groups:
        document.insert_agents([name], step)
        return
    node, other, around = agents[one % len(agents)], agents[two % len(agents)], groups[two % len(groups)]
    (
        lambda: document.move({node}, OnAgent(other)),
        lambda: document.move({node, other}, step),
        lambda: document.move({node}, InGroup(around, one)),
        lambda: document.move({around}, step),
        lambda: document.make_group({node, other}),
        lambda: document.ungroup({around}),
        lambda: document.set_mode({around}, "parallel" if one % 2 else "sequential"),
        lambda: document.move_step([node], -1 if two % 2 else 1),
        lambda: document.join_next(node),
    )[what - 1]()


@given(st.lists(st.tuples(st.integers(0, 9), numbers, numbers, names), max_size=25))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_edited_no_agent_is_lost_or_doubled_and_undo_leads_back(
    qapp: object, edits: list[tuple[int, int, int, str]]
) -> None:
    document = WorkflowDocument()
    states: list[Outline] = [document.outline]
    for what, one, two, name in edits:
        before = sorted(node.id for _, _, node in document.outline.all_agents())
        count = document.undo_stack.count()
        _random_edit(document, what, one, two, name)
        after = sorted(node.id for _, _, node in document.outline.all_agents())
        inserted = len(after) - len(before)
        assert set(before) <= set(after)
        assert inserted in (0, 1)
        assert len(set(after)) == len(after)
        assert all(each.agents for _, _, each in document.outline.all_groups())
        if document.undo_stack.count() > count:
            states.append(document.outline)
    for state in reversed(states):
        assert document.outline == state
        document.undo_stack.undo()


# --- files ---------------------------------------------------------------------------------------------


def test_a_file_is_the_same_after_open_and_save(document: WorkflowDocument, audit_file: Path) -> None:
    before = audit_file.read_text(encoding="utf-8")
    document.save()
    assert json.loads(audit_file.read_text(encoding="utf-8")) == json.loads(before)


def test_edits_are_in_the_saved_file_and_are_there_again_when_it_is_opened(
    document: WorkflowDocument, tmp_path: Path
) -> None:
    document.move({agent(document, "amala")}, OnAgent(agent(document, "proteus")))
    document.update_agent(agent(document, "linter"), "model", model="opus")
    document.update_group(group(document, 0), "at once", max_parallel=2)
    target = tmp_path / "other.json"
    document.save_as(target)
    assert document.path == target
    assert not document.is_modified
    again = WorkflowDocument()
    again.open(target)
    assert again.workflow == document.workflow
    assert shape(again)["preparation"] == ["par(proteus amala)"]


def test_a_file_of_strings_stays_strings_until_a_group_is_made(qapp: object, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text('{"name": "old", "loop_agents": ["a", "b"]}', encoding="utf-8")
    document = WorkflowDocument()
    document.open(path)
    document.move({agent(document, "b")}, InGroup(group(document, 0), 0))
    document.save()
    assert json.loads(path.read_text(encoding="utf-8"))["loop_agents"] == ["b", "a"]
    document.make_group({agent(document, "a"), agent(document, "b")})
    document.save()
    saved = json.loads(path.read_text(encoding="utf-8"))["loop_agents"]
    assert saved == [{"agents": ["b", "a"], "mode": "parallel"}]


def test_a_file_that_cannot_be_read_leaves_the_work_as_it_is(
    document: WorkflowDocument, audit_file: Path, tmp_path: Path
) -> None:
    document.insert_agents(["mine"], NewStep("loop", 0))
    before = document.outline
    broken = tmp_path / "broken.json"
    broken.write_text('{"loop_agents": [', encoding="utf-8")
    with pytest.raises(UserFileError):
        document.open(broken)
    with pytest.raises(UserFileError):
        document.open(tmp_path / "missing.json")
    assert document.outline == before
    assert document.path == audit_file
    assert document.is_modified


def test_a_folder_that_cannot_be_written_leaves_the_mark_of_unsaved_work(
    document: WorkflowDocument, audit_file: Path, tmp_path: Path
) -> None:
    document.update_settings("name", {"name": "other"})
    with pytest.raises(UserFileError):
        document.save_as(tmp_path / "no such folder" / "x.json")
    assert document.path == audit_file
    assert document.is_modified


def test_a_new_document_says_that_it_has_no_file_yet(document: WorkflowDocument, qtbot: QtBot) -> None:
    document.update_settings("name", {"name": "other"})
    with qtbot.waitSignals([document.path_changed, document.changed]):
        document.new()
    assert document.path is None
    assert not document.is_modified
    with pytest.raises(ValueError, match="save_as"):
        document.save()


def test_the_mark_of_unsaved_work_follows_undo(document: WorkflowDocument) -> None:
    marks: list[bool] = []
    document.modified_changed.connect(marks.append)
    document.update_settings("name", {"name": "other"})
    document.undo_stack.undo()
    document.undo_stack.redo()
    document.save()
    assert marks == [True, False, True, False]


def test_unknown_keys_survive_and_are_named(qapp: object, tmp_path: Path) -> None:
    path = tmp_path / "typo.json"
    path.write_text('{"name": "t", "max_loop": 3, "loop_agents": ["a"]}', encoding="utf-8")
    document = WorkflowDocument()
    document.open(path)
    assert any("max_loop" in warning.text() for warning in document.warnings)
    document.update_settings("name", {"name": "u"})
    document.save()
    assert json.loads(path.read_text(encoding="utf-8"))["max_loop"] == 3


def test_a_run_keeps_the_workflow_as_it_was_when_it_began(document: WorkflowDocument) -> None:
    snapshot = document.snapshot()
    document.remove({agent(document, "vera")})
    document.update_settings("loops", {"max_loops": 99})
    kept = snapshot.workflow.loop_agents[1]
    assert isinstance(kept, AgentGroup)
    assert [entry.agent for entry in kept.agents] == ["vera", "linter", "security_auditor"]
    assert snapshot.workflow.max_loops == 10


# --- other programs ------------------------------------------------------------------------------------


def _write_in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _replace(path: Path, text: str) -> None:
    other = path.with_suffix(".tmp")
    other.write_text(text, encoding="utf-8")
    other.replace(path)


def _delete_and_write(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("write", [_write_in_place, _replace, _delete_and_write])
def test_a_file_that_another_program_changes_is_noticed_each_time(
    document: WorkflowDocument, audit_file: Path, qtbot: QtBot, write: Callable[[Path, str], None]
) -> None:
    for number in range(3):
        with qtbot.waitSignal(document.changed_on_disk):
            write(audit_file, json.dumps({**AUDIT, "name": f"changed {number}"}))
    document.open(audit_file)
    assert document.settings.name == "changed 2"


def test_what_is_written_between_reading_a_file_and_watching_it_is_noticed(
    document: WorkflowDocument, audit_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_and_write(path: Path) -> WorkflowFile:
        loaded = load_workflow(path)
        _replace(path, json.dumps({**AUDIT, "name": "theirs"}))
        return loaded

    with monkeypatch.context() as patched:
        patched.setattr(open_workflow, "load_workflow", load_and_write)
        document.open(audit_file)
    assert document.differs_from_disk
    document.open(audit_file)
    assert not document.differs_from_disk
    assert document.settings.name == "theirs"


def test_a_file_that_is_removed_is_noticed(
    document: WorkflowDocument, audit_file: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(document.changed_on_disk):
        audit_file.unlink()


def test_own_saves_and_a_touch_without_a_change_are_not_told(
    document: WorkflowDocument, audit_file: Path, qtbot: QtBot
) -> None:
    told: list[int] = []
    document.changed_on_disk.connect(lambda: told.append(document.settings.max_loops))
    document.update_settings("loops", {"max_loops": 4})
    document.save()
    audit_file.touch()
    # A change of another program after them is told, and is the only one that is.
    with qtbot.waitSignal(document.changed_on_disk):
        _replace(audit_file, json.dumps({**AUDIT, "name": "theirs"}))
    assert told == [4]


def test_going_on_with_what_is_here_marks_it_as_not_saved(document: WorkflowDocument) -> None:
    assert not document.is_modified
    document.keep_mine()
    assert document.is_modified
    assert isinstance(document.undo_stack, QUndoStack)


def test_a_file_that_was_taken_away_or_changed_counts_as_unsaved(
    document: WorkflowDocument, tmp_path: Path, qtbot: QtBot
) -> None:
    """What is in the window may be the only copy."""
    path = tmp_path / "mine.json"
    path.write_text('{"loop_agents": ["amala"]}', encoding="utf-8")
    document.open(path)
    assert not document.is_modified
    with qtbot.waitSignal(document.changed_on_disk):
        path.unlink()
    assert document.is_modified
    assert not document.has_edits
    document.save()
    assert not document.is_modified
    with qtbot.waitSignal(document.changed_on_disk):
        path.write_text("{", encoding="utf-8")
    assert document.is_modified
    assert document.differs_from_disk
    with pytest.raises(UserFileError):
        document.open(path)
    assert document.is_modified


def test_the_comments_of_a_file_are_not_mourned_after_they_are_gone(
    document: WorkflowDocument, tmp_path: Path
) -> None:
    path = tmp_path / "commented.json"
    path.write_text('{"loop_agents": ["amala"]} // note', encoding="utf-8")
    document.open(path)
    assert document.warnings
    document.save()
    assert not document.warnings
