"""Agent files and the library of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import resources
from core import agent_library
from core.agent import AgentFile, AgentLibrary, agent_folders, read_agent
from core.agent_folders import user_agents_folder
from core.problems import Severity


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# --- one file -----------------------------------------------------------------------------------------


def test_front_matter_says_who_the_agent_is_and_the_body_is_its_prompt(tmp_path: Path) -> None:
    text = "---\nname: vera\nrole: auditor\nbackend: demo\ntimeout: 30\n---\n\nJudge.\n\n---\n\nBe fair.\n"
    read = read_agent(write(tmp_path, "a.md", text), "audit")
    assert read.problems == ()
    assert read.agent is not None
    assert (read.agent.name, read.agent.role, read.agent.backend) == ("vera", "auditor", "demo")
    assert (read.agent.timeout, read.agent.folder, read.agent.may_complete) == (30, "audit", True)
    assert read.agent.prompt == "Judge.\n\n---\n\nBe fair."


def test_a_file_without_front_matter_is_an_agent_named_after_its_file(tmp_path: Path) -> None:
    agent = read_agent(write(tmp_path, "plain words.md", "Do it.\n\n---\n\nWell.")).agent
    assert agent is not None
    assert (agent.name, agent.prompt) == ("plain words", "Do it.\n\n---\n\nWell.")


def test_words_that_yaml_reads_as_something_else_are_taken_as_they_stand(tmp_path: Path) -> None:
    agent = read_agent(write(tmp_path, "a.md", "---\nname: no\nrole: 007\nmodel: 1.10\n---\n")).agent
    assert agent is not None
    assert (agent.name, agent.role, agent.model) == ("no", "007", "1.10")


def test_an_agent_file_of_opencode_loads_without_a_word(tmp_path: Path) -> None:
    text = """---
description: Reviews code
mode: subagent
model: anthropic/claude-sonnet-4
temperature: 0.1
tools:
  write: false
permission:
  edit: deny
  bash:
    "git diff": allow
    "*": ask
---
You review code.
"""
    read = read_agent(write(tmp_path, "review.md", text))
    assert read.problems == ()
    assert read.agent is not None
    assert read.agent.model == "anthropic/claude-sonnet-4"
    assert read.agent.model_extra is not None
    assert read.agent.model_extra["tools"] == {"write": False}


def test_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbf---\r\nname: vera\r\n---\r\nJudge.\r\n")
    agent = read_agent(path).agent
    assert agent is not None
    assert (agent.name, agent.prompt) == ("vera", "Judge.")


def test_how_the_demo_behaves_is_a_free_mapping(tmp_path: Path) -> None:
    text = "---\ndemo:\n  seconds: 2\n  writes: {score: [1, 2]}\n---\n"
    read = read_agent(write(tmp_path, "a.md", text))
    assert read.agent is not None
    assert read.agent.model_extra == {"demo": {"seconds": 2, "writes": {"score": [1, 2]}}}
    assert read.problems == ()


@pytest.mark.parametrize(
    ("matter", "line", "place", "words"),
    [
        ("name: x\ntimeout: soon", 3, "timeout", "number of seconds"),
        ("name: x\n\ncan_complete: perhaps", 4, "can_complete", "true or false"),
        ("timeout: true", 2, "timeout", "number of seconds"),
        ("timeout: -1", 2, "timeout", "0 or more"),
        ("name: [a, b]", 2, "name", "text"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_its_line_and_the_rest_is_used(
    tmp_path: Path, matter: str, line: int, place: str, words: str
) -> None:
    read = read_agent(write(tmp_path, "a.md", f"---\n{matter}\n---\nPrompt."))
    (problem,) = read.problems
    assert (problem.line, problem.place, problem.severity) == (line, place, Severity.ERROR)
    assert words in problem.message
    assert read.agent is not None
    assert (read.agent.prompt, read.agent.timeout) == ("Prompt.", None)


def test_an_unknown_key_is_a_warning_with_its_line(tmp_path: Path) -> None:
    (problem,) = read_agent(write(tmp_path, "a.md", "---\nname: x\ntimeot: 3\n---\n")).problems
    assert (problem.line, problem.column, problem.suggestion) == (3, 1, "Did you mean timeout?")
    assert problem.severity is Severity.WARNING


def test_front_matter_that_is_never_closed_is_told(tmp_path: Path) -> None:
    read = read_agent(write(tmp_path, "a.md", "---\nname: x\nDo it."))
    assert read.agent is not None
    assert "never closed" in read.problems[0].message


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"---\nname: x\ndescription: a: b\n---\n", 3, "cannot be read"),
        (b"---\n- a\n- b\n---\n", 2, "keys and values"),
        (b"---\nname: [\n---\n", 3, "cannot be read"),
        (
            b"---\nname: !!python/object:os.system x\nother: !!python/name:os.system\n---\n",
            2,
            "cannot be read",
        ),
        (b"name\xff", 1, "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_with_its_line(
    tmp_path: Path, data: bytes, line: int, words: str
) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(data)
    read = read_agent(path)
    assert read.agent is None
    (problem,) = read.problems
    assert (problem.file, problem.line) == (path, line)
    assert words in problem.message


# --- the library --------------------------------------------------------------------------------------


def test_agents_are_found_in_sub_folders_and_hidden_ones_and_readmes_are_not(tmp_path: Path) -> None:
    for name in ("b.md", "sub/deep/a.MD", "sub/c.md", ".hidden/x.md", ".y.md", "README.md", "notes.txt"):
        write(tmp_path, name, "prompt")
    library = AgentLibrary(tmp_path)
    assert [(agent.folder, agent.name) for agent in library.agents] == [
        ("", "b"),
        ("sub", "c"),
        ("sub/deep", "a"),
    ]
    assert library.problems == ()


def test_a_folder_that_does_not_exist_has_no_agents(tmp_path: Path) -> None:
    assert AgentLibrary(tmp_path / "nothing").agents == ()


def test_two_agents_of_one_name_are_a_problem_that_names_both_files(tmp_path: Path) -> None:
    write(tmp_path, "a/one.md", "---\nname: vera\n---\nfirst")
    second = write(tmp_path, "b/two.md", "---\nname: vera\n---\nsecond")
    library = AgentLibrary(tmp_path)
    (problem,) = library.problems
    assert problem.file == second
    assert "a/one.md" in problem.message
    agent = library.get("vera")
    assert agent is not None
    assert agent.prompt == "first"


def test_an_earlier_folder_hides_agents_of_a_later_one_without_a_word(tmp_path: Path) -> None:
    write(tmp_path, "own/vera.md", "mine")
    write(tmp_path, "shipped/audit/vera.md", "theirs")
    write(tmp_path, "shipped/audit/amala.md", "theirs")
    library = AgentLibrary([tmp_path / "own", tmp_path / "shipped"])
    assert [(agent.name, agent.prompt) for agent in library.agents] == [("vera", "mine"), ("amala", "theirs")]
    assert library.problems == ()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_links_that_lead_in_circles_or_nowhere_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "sub/a.md", "prompt")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nothing.md")
    library = AgentLibrary(tmp_path)
    assert [agent.name for agent in library.agents] == ["a"]
    assert [problem.file for problem in library.problems] == [tmp_path / "gone.md"]


def test_a_refresh_sees_new_changed_and_removed_files_and_reads_only_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        # Not so new that another change could have the same stamp.
        os.utime(write(tmp_path, f"agent{number}.md", f"prompt {number}"), (1_000, 1_000))
    read: list[str] = []

    def recording(path: Path, folder: str = "") -> AgentFile:
        read.append(path.name)
        return read_agent(path, folder)

    monkeypatch.setattr(agent_library, "read_agent", recording)
    library = AgentLibrary(tmp_path)
    assert len(read) == 30
    read.clear()
    assert not library.refresh()
    assert read == []
    write(tmp_path, "agent3.md", "another prompt")
    write(tmp_path, "new.md", "new")
    (tmp_path / "agent4.md").unlink()
    assert library.refresh()
    assert sorted(read) == ["agent3.md", "new.md"]
    assert library.get("agent4") is None
    changed = library.get("agent3")
    assert changed is not None
    assert changed.prompt == "another prompt"


def test_a_refresh_sees_a_change_between_two_ticks_of_the_clock(tmp_path: Path) -> None:
    path = write(tmp_path, "vera.md", "Judge.")
    library = AgentLibrary(tmp_path)
    before = path.stat()
    write(tmp_path, "vera.md", "Write.")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.refresh()
    changed = library.get("vera")
    assert changed is not None
    assert changed.prompt == "Write."


def test_an_unknown_name_gets_a_suggestion_and_a_broken_file_its_problem(tmp_path: Path) -> None:
    write(tmp_path, "security_auditor.md", "x")
    broken = write(tmp_path, "vera.md", "---\na: b: c\n---\n")
    library = AgentLibrary(tmp_path)
    assert library.suggestion("security-auditer") == "Did you mean security_auditor?"
    assert library.suggestion("qqq") == ""
    assert [problem.file for problem in library.problems_of("vera")] == [broken]


# --- which folders ------------------------------------------------------------------------------------


def test_agents_come_from_the_folder_the_workflow_names_then_the_users_then_the_shipped_ones(
    tmp_path: Path,
) -> None:
    beside, work = tmp_path / "flows", tmp_path / "work"
    mine, shipped = user_agents_folder(), resources.agents_folder()
    assert agent_folders("mine", beside, work) == (beside / "mine", mine, shipped)
    assert agent_folders(str(tmp_path / "abs"), beside, work) == (tmp_path / "abs", mine, shipped)
    (work / "agents").mkdir(parents=True)
    assert agent_folders(None, beside, work) == (work / "agents", mine, shipped)
    (beside / "agents").mkdir(parents=True)
    assert agent_folders(None, beside, work) == (beside / "agents", mine, shipped)
    assert agent_folders(None, None, work) == (work / "agents", mine, shipped)
