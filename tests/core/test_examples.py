"""What ships: examples that run as they stand, and a schema that says what the reader accepts."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import resources
from core.agent import AgentDefinition, AgentLibrary, read_agent
from core.check import check_workflow
from core.config import (
    AgentEntry,
    AgentGroup,
    Budget,
    FanOutGroup,
    FanOutTask,
    OpencodeDefaults,
    Workflow,
)
from core.json_types import JsonObject
from core.planning import plan_run
from core.problems import Severity
from core.run_folders import library_of
from core.schema import workflow_schema, workflow_schema_text
from core.workflow_file import dump_workflow, inspect_workflow, load_workflow, parse_workflow

EXAMPLES = resources.example_workflows()
SCHEMA = jsonschema.Draft202012Validator(workflow_schema())


def by_name(path: Path) -> str:
    return path.stem


def test_there_are_examples_and_audit_is_one() -> None:
    assert resources.example_workflow() in EXAMPLES
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=by_name)
def test_an_example_runs_as_it_stands_without_an_account(path: Path, tmp_path: Path) -> None:
    file = load_workflow(path)
    library = library_of(file, tmp_path)
    assert check_workflow(file, library, ("demo", "opencode")) == []
    plan = plan_run(file, library, default_workdir=tmp_path)
    assert {turn.backend for turn in plan.turns} == {"demo"}


@pytest.mark.parametrize("path", EXAMPLES, ids=by_name)
def test_an_example_is_written_as_saving_would_write_it(path: Path) -> None:
    assert dump_workflow(load_workflow(path)) == path.read_text(encoding="utf-8")


def test_every_shipped_agent_is_sound_and_needs_one_line_changed_for_a_real_cli() -> None:
    library = AgentLibrary(resources.agents_folder())
    assert library.problems == ()
    assert {"proteus", "amala", "vera", "linter", "security_auditor", "consolidator"} <= {
        agent.name for agent in library.agents
    }
    for agent in library.agents:
        assert agent.path is not None
        assert agent.folder
        assert agent.description
        assert "payload" in agent.prompt
        assert agent.path.read_text(encoding="utf-8").count("\nbackend: demo\n") == 1


# --- the schema ---------------------------------------------------------------------------------------


def test_the_published_schema_is_the_one_that_the_models_make() -> None:
    assert resources.schema_file().read_text(encoding="utf-8") == workflow_schema_text(), (
        "write core.schema.workflow_schema_text() to resources/workflow.schema.json"
    )


def test_the_schema_is_valid_and_describes_every_key() -> None:
    schema = workflow_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for holder in (schema, *schema["$defs"].values()):
        for key, prop in holder.get("properties", {}).items():
            assert prop.get("title"), key
            assert prop.get("description") or key == "$schema", key


@pytest.mark.parametrize("path", EXAMPLES, ids=by_name)
def test_every_example_validates(path: Path) -> None:
    SCHEMA.validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"preparation_agent": "a", "loop_agents": ["a", {"agents": ["b", {"agent": "c"}]}, "d"]},
        {"loop_agents": [{"mode": "fan_out", "agent": "w", "tasks": ["x", {"prompt": "p", "files": ["*"]}]}]},
        {"loop_agents": [{"mode": "fan_out", "agent": "w", "tasks_from": "payload.x", "max_parallel": None}]},
        {"$schema": "x", "own": 1, "budget": {"max_cost_usd": 1.5}, "merge": {"payload.x": "sum"}},
    ],
)
def test_what_the_reader_accepts_the_schema_accepts(document: JsonObject) -> None:
    assert inspect_workflow(json.dumps(document)).errors == []
    SCHEMA.validate(document)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"loop_agents": "a"},
        {"loop_agents": [3]},
        {"loop_agents": [{"mode": "parallel"}]},
        {"loop_agents": [{"agents": ["a"], "mode": "paralel"}]},
        {"loop_agents": [{"agents": [{"timeout": 3}]}]},
        {"loop_agents": [{"mode": "fan_out", "tasks": []}]},
        {"preparation_agent": ["a"]},
        {"preparation_agent": "a", "preparation_agents": ["a"]},
        {"max_loops": 0},
        {"retries": True},
        {"merge": {"payload.x": "lst"}},
        {"budget": []},
        {"opencode_defaults": {"log_level": "debug"}},
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(document: Any) -> None:
    assert inspect_workflow(json.dumps(document)).errors
    assert not SCHEMA.is_valid(document)


def spoilt(document: Any, path: list[str | int], value: Any) -> Any:
    """A copy of an example with one value replaced."""
    result = copy.deepcopy(document)
    target = result
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return result


PATHS: list[list[str | int]] = [
    ["name"],
    ["loop_agents"],
    ["loop_agents", 0],
    ["loop_agents", 1, "agents"],
    ["loop_agents", 1, "agents", 0],
    ["loop_agents", 1, "mode"],
    ["loop_agents", 1, "timeout"],
    ["loop_agents", 1, "merge"],
    ["end_state_condition"],
    ["max_loops"],
    ["finalize_on_abort"],
    ["budget"],
    ["initial_payload"],
]
ODD = st.none() | st.integers(-1, 2) | st.just(0.5) | st.lists(st.integers(), max_size=1) | st.just({"a": []})


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PATHS), ODD)
def test_schema_and_reader_agree_about_a_spoilt_example(path: list[str | int], value: Any) -> None:
    document = spoilt(json.loads(resources.example_workflow().read_text(encoding="utf-8")), path, value)
    accepted = inspect_workflow(json.dumps(document)).errors == []
    if path == ["loop_agents"] and value is None:
        # The reader takes null for an empty phase, which older programs wrote; nobody should write it anew.
        assert accepted
    elif path == ["finalize_on_abort"] and value in (0, 1):
        assert accepted
    else:
        assert accepted == SCHEMA.is_valid(document)


# --- the documentation --------------------------------------------------------------------------------

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = re.findall(r"```json\n(.*?)```", (DOCS / "file-format.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", BLOCKS, ids=range(len(BLOCKS)))
def test_every_workflow_in_the_documentation_is_one(text: str, tmp_path: Path) -> None:
    file = parse_workflow(text)
    assert file.warnings == []
    SCHEMA.validate(json.loads(text))
    problems = check_workflow(file, AgentLibrary(resources.agents_folder()), ("demo", "opencode"))
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    assert all("fan-out" in problem.message for problem in errors)


@pytest.mark.parametrize(
    ("page", "model"),
    [
        ("file-format.md", Workflow),
        ("file-format.md", AgentGroup),
        ("file-format.md", FanOutGroup),
        ("file-format.md", FanOutTask),
        ("file-format.md", AgentEntry),
        ("file-format.md", Budget),
        ("file-format.md", OpencodeDefaults),
        ("writing-agents.md", AgentDefinition),
    ],
)
def test_the_documentation_names_every_key(page: str, model: type[BaseModel]) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    keys = set(model.model_fields) - {"path", "folder"}
    assert {key for key in keys if f"`{key}`" not in text} == set()


def test_the_agent_in_the_documentation_is_sound(tmp_path: Path) -> None:
    page = (DOCS / "writing-agents.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```markdown\n(.*?)```", page, re.DOTALL)
    (tmp_path / "vera.md").write_text(text, encoding="utf-8")
    read = read_agent(tmp_path / "vera.md")
    assert read.problems == ()
    assert read.agent is not None
    assert read.agent.may_complete
