"""Renaming an agent on disk: its name and its file, whole at any moment, and nothing replaced."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.agent_library import AgentLibrary
from core.agent_renaming import file_name, rename_agent, renamed_path, workflows_that_use
from core.problems import UserFileError

VERA = "---\n# who judges\nname: vera   # the name\nrole: 'auditor'\n---\n\nYou judge.\n"


def written(folder: Path, name: str, text: str = VERA) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_name_and_file_change_and_nothing_else_does(tmp_path: Path) -> None:
    path = written(tmp_path, "vera.md")
    there = rename_agent(path, "vera", "head judge")
    assert there == tmp_path / "head_judge.md"
    assert there.read_bytes().decode() == VERA.replace("vera   #", "head judge   #")
    assert names(tmp_path) == ["head_judge.md"]
    assert AgentLibrary(tmp_path).get("head judge") is not None


def test_a_file_without_a_name_in_it_gets_none_where_the_files_name_says_it(tmp_path: Path) -> None:
    path = written(tmp_path, "vera.md", "You judge.\n")
    there = rename_agent(path, "vera", "judge")
    assert there.read_text(encoding="utf-8") == "You judge.\n"
    again = rename_agent(there, "judge", "head judge")
    assert AgentLibrary(tmp_path).get("head judge") is not None
    assert again.name == "head_judge.md"


def test_a_file_with_a_name_of_its_own_keeps_it(tmp_path: Path) -> None:
    path = written(tmp_path, "first-auditor.md")
    assert rename_agent(path, "vera", "judge") == path
    assert "name: judge" in path.read_text(encoding="utf-8")


def test_no_file_is_ever_replaced(tmp_path: Path) -> None:
    path, other = written(tmp_path, "vera.md"), written(tmp_path, "judge.md", "Another.\n")
    with pytest.raises(UserFileError, match=r"already a file judge\.md"):
        rename_agent(path, "vera", "judge")
    assert path.read_bytes().decode() == VERA
    assert other.read_text(encoding="utf-8") == "Another.\n"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_also_a_link_to_nothing_has_a_name(tmp_path: Path) -> None:
    path = written(tmp_path, "vera.md")
    (tmp_path / "judge.md").symlink_to(tmp_path / "gone.md")
    with pytest.raises(UserFileError, match="already a file"):
        rename_agent(path, "vera", "judge")
    assert (tmp_path / "judge.md").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_stays_and_what_it_leads_to_is_renamed_inside(tmp_path: Path) -> None:
    target = written(tmp_path, "shared.txt")
    link = tmp_path / "vera.md"
    link.symlink_to(target)
    assert rename_agent(link, "vera", "judge") == link
    assert link.is_symlink()
    assert "name: judge" in target.read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="that system names it otherwise")
def test_where_the_file_cannot_be_renamed_its_text_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "vera.md")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UserFileError, match="cannot be renamed: Permission denied"):
        rename_agent(path, "vera", "judge")
    assert path.read_bytes().decode() == VERA
    assert names(tmp_path) == ["vera.md"]


def test_a_file_that_another_program_makes_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = written(tmp_path, "vera.md"), tmp_path / "judge.md"
    monkeypatch.setattr("core.agent_renaming._is_taken", lambda *_: target.write_text("Theirs.") == 0)
    if os.name != "nt":
        # The check saw nothing, the link does.
        monkeypatch.setattr("core.agent_renaming.os.path.lexists", lambda _: False)
    with pytest.raises(UserFileError, match=r"already a file judge\.md"):
        rename_agent(path, "vera", "judge")
    assert target.read_text(encoding="utf-8") == "Theirs."
    assert path.read_bytes().decode() == VERA


def test_a_read_only_file_is_said(tmp_path: Path) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        pytest.skip("nothing is read-only for root")
    path = written(tmp_path, "vera.md")
    path.chmod(0o444)
    with pytest.raises(UserFileError, match="read-only"):
        rename_agent(path, "vera", "judge")


def test_the_same_letters_in_another_case_are_another_name(tmp_path: Path) -> None:
    path = written(tmp_path, "vera.md")
    there = rename_agent(path, "vera", "Vera")
    assert names(tmp_path) == ["Vera.md"]
    assert "name: Vera" in there.read_text(encoding="utf-8")


def test_where_a_file_would_go(tmp_path: Path) -> None:
    assert renamed_path(tmp_path / "head_judge.md", "head judge", "judge") == tmp_path / "judge.md"
    assert renamed_path(tmp_path / "vera.MD", "vera", "judge").name == "judge.MD"
    assert file_name("con") == "con_agent.md"


def test_other_workflows_that_name_an_agent_are_found_in_every_form(tmp_path: Path) -> None:
    forms = {
        "strings": {"loop_agents": ["amala", "vera"]},
        "old": {"preparation_agent": "vera"},
        "group": {"finalization_agents": [{"agents": [{"agent": "vera", "timeout": 5}], "mode": "parallel"}]},
        "fan": {"loop_agents": [{"mode": "fan_out", "agent": "vera", "tasks": ["x"]}]},
        "not": {"name": "vera", "loop_agents": ["amala"]},
        "own": {"loop_agents": ["vera"]},
    }
    for name, form in forms.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(form), encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"loop_agents": ["vera"', encoding="utf-8")
    (tmp_path / "notes.jsonc").write_text('// who\n{"loop_agents": ["vera"],}', encoding="utf-8")
    found = workflows_that_use("vera", tmp_path, tmp_path / "own.json")
    assert [path.name for path in found] == [
        "fan.json",
        "group.json",
        "notes.jsonc",
        "old.json",
        "strings.json",
    ]
    assert workflows_that_use("vera", tmp_path / "gone") == []
