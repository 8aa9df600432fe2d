"""Any bytes as a file of the user's: a model or a problem with its place, never another end, and soon."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.agent_file import read_agent
from core.agent_library import AgentLibrary
from core.backends.registry import backend_names
from core.check import check_path, check_workflow
from core.findings import MOST_FINDINGS
from core.front_matter import MOST_FRONT_MATTER
from core.json_types import JsonObject, JsonValue
from core.jsonc import MOST_VALUES, parse_jsonc
from core.planning import plan_run
from core.problems import Problem, UserFileError
from core.settings_files import read_settings_file
from core.settings_keys import Origin
from core.workflow_file import dump_workflow, inspect_workflow, load_workflow, parse_workflow, save_workflow
from tests.fuzz.fuzzing import fuzzed

EXAMPLES = sorted(Path(__file__).parent.parent.parent.joinpath("resources").rglob("*.json"))
WORDS = st.sampled_from(
    [
        *("{", "}", "[", "]", ",", ":", '"', "//", "/*", "*/", "\n", "\t", " ", "\\", "\\u0000", "\\ud83d"),
        *('"loop_agents"', '"preparation_agent"', '"agents"', '"agent"', '"mode"', '"parallel"', '"fan_out"'),
        *('"tasks"', '"merge"', '"payload.x"', '"append"', '"budget"', '"max_loops"', '"opencode_defaults"'),
        *('"initial_payload"', '"end_state_condition"', '"timeout"', '"enabled"', '"name"', '"zzz"', '"a"'),
        *("0", "1", "-1", "1.5", "1e999", "NaN", "Infinity", "9" * 30, "true", "false", "null", "'a'"),
        *("\ufeff", "\x00", "é", "\u2028", "😀"),
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=4), max_size=40).map("".join)
BYTES = st.binary(max_size=300) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))

KEYS = st.sampled_from(
    [
        *("name", "preparation_agents", "preparation_agent", "loop_agents", "finalization_agents", "agents"),
        *("agent", "mode", "tasks", "tasks_from", "collect_into", "depends_on", "id", "prompt", "files"),
        *("max_loops", "timeout", "retries", "merge", "budget", "max_cost_usd", "initial_payload", "enabled"),
        *("end_state_condition", "opencode_defaults", "extra_args", "workdir", "log_dir", "agents_dir"),
        *("payload.x", "is_complete", "zzz", "$schema", "_note", "", "max_loop"),
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["a", "", "sequential", "parallel", "fan_out", "abort", "sum", "payload.x", "iteration > 2", "\x00"]
    )
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)  # fmt: skip
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=7)
"""Objects that are nearly workflows."""


def assert_in_place(problems: list[Problem]) -> None:
    """Every problem has words, and a line where the text has one."""
    assert problems
    for problem in problems:
        assert problem.message.strip()
        assert problem.line is None or problem.line >= 1
        assert problem.column is None or problem.column >= 1
        assert problem.text()


def problems_of(read: Callable[[], object]) -> list[Problem]:
    """What is wrong with a file, when that keeps it from being read."""
    try:
        read()
    except UserFileError as error:
        problems = error.problems
    else:
        return []
    assert_in_place(problems)
    return problems


# --- workflow files -----------------------------------------------------------------------------------


@fuzzed(2)
@given(BYTES)
@example(b"")
@example(b"\xff\xfe{\x00}\x00")
@example(b"[" * 100_000)
@example(b'{"initial_payload":' + b'{"a":' * 5_000)
def test_any_bytes_as_a_workflow_file(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    for problem in check_path(path, backend_names()):
        assert problem.text()
    problems = problems_of(lambda: load_workflow(path))
    assert all(problem.file == path for problem in problems)


@fuzzed(2)
@given(DOCUMENTS, st.sampled_from([None, 2, "\t"]))
def test_what_is_nearly_a_workflow_is_read_checked_and_planned_or_refused(
    tmp_path_factory: pytest.TempPathFactory, document: JsonObject, indent: int | str | None
) -> None:
    folder = tmp_path_factory.getbasetemp() / "agents-for-any"
    folder.mkdir(exist_ok=True)
    (folder / "a.md").write_text("---\nbackend: demo\n---\nhi\n")
    text = json.dumps(document, indent=indent)
    inspection = inspect_workflow(text, folder / "w.json")
    if inspection.file is None or inspection.errors:
        assert_in_place(inspection.errors)
    with contextlib.suppress(UserFileError):
        file = parse_workflow(text, folder / "w.json")
        library = AgentLibrary(folder)
        for problem in check_workflow(file, library, backend_names()):
            assert problem.text()
        plan_run(file, library, known_backends=backend_names(), default_workdir=folder)


def with_unknown(**known: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonObject]:
    """Objects with some of these keys, and with keys that nobody knows, in any order."""
    odd = dict.fromkeys(("zzz", "$schema", "_note", "max_loop", "é", "a.b", ""), JSON)
    return st.fixed_dictionaries({}, optional={**known, **odd}).flatmap(
        lambda made: st.permutations(list(made.items())).map(dict)
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text("ab.é", max_size=2), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
NAME = st.sampled_from(["a", "vera", "é", "x y"])
ENTRIES = st.lists(
    NAME
    | with_unknown(model=NAME, timeout=st.none() | st.integers(0, 9)).map(
        lambda made: {**made, "agent": "a"}
    ),
    max_size=3,
)
GROUPS = with_unknown(
    agents=ENTRIES,
    mode=st.sampled_from(["sequential", "parallel"]),
    name=st.none() | NAME,
    timeout=st.none() | st.floats(0, 10**6),
    merge=st.none()
    | st.dictionaries(st.sampled_from(["payload.x", "is_complete"]), st.just("last"), max_size=2),
    enabled=st.booleans(),
).map(lambda made: made if "agents" in made else {**made, "agents": []})
FAN_OUTS = with_unknown(
    tasks=st.lists(NAME | with_unknown(id=NAME).map(lambda made: {**made, "prompt": "p"}), max_size=3),
    collect_into=st.just("payload.r"),
).map(lambda made: {**made, "mode": "fan_out", "agent": "a"})
PHASE = st.lists(NAME | GROUPS | FAN_OUTS, max_size=4)
WORKFLOWS = with_unknown(
    name=NAME,
    preparation_agent=NAME,
    loop_agents=PHASE,
    finalization_agents=PHASE,
    max_loops=st.integers(1, 99),
    retries=st.integers(0, 5),
    merge=st.dictionaries(st.just("payload.x"), st.just("sum"), max_size=1),
    budget=with_unknown(max_tokens=st.none() | st.integers(0, 10**9)),
    opencode_defaults=with_unknown(extra_args=st.lists(NAME, max_size=2)),
    initial_payload=st.dictionaries(st.text("ab", max_size=2), JSON, max_size=3),
    end_state_condition=st.just("iteration > 2"),
)
"""Objects that are workflows."""


@fuzzed(1)
@given(WORKFLOWS, st.sampled_from([None, 2, "\t"]))
def test_loading_saving_and_loading_keeps_everything(
    tmp_path_factory: pytest.TempPathFactory, document: JsonObject, indent: int | str | None
) -> None:
    """What was not changed is written as it was read, and a change changes nothing else: every key that
    nobody knows stays where it is, in its order."""
    path = tmp_path_factory.getbasetemp() / "round.json"
    text = json.dumps(document, indent=indent)
    file = parse_workflow(text, path)
    assert json.loads(dump_workflow(file)) == document
    assert list(json.loads(dump_workflow(file))) == list(document)
    file.workflow.max_loops = 1_000
    save_workflow(file, path)
    again = load_workflow(path)
    assert again.workflow == file.workflow
    assert json.loads(path.read_text(encoding="utf-8")) == {**document, "max_loops": 1_000}
    assert json.loads(dump_workflow(again)) == {**document, "max_loops": 1_000}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@fuzzed(0.3)
@given(st.data())
def test_an_example_with_damage_is_read_or_refused(path: Path, data: st.DataObject) -> None:
    """Cut off, bytes changed, parts repeated: as files get broken."""
    text = path.read_text(encoding="utf-8")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    damaged = (
        text[:start] + data.draw(TEXTS) + text[end : data.draw(st.just(None) | st.integers(0, len(text)))]
    )
    inspection = inspect_workflow(damaged, path)
    if inspection.file is None:
        assert_in_place(inspection.errors)


@fuzzed(2)
@given(BYTES)
def test_any_text_as_json_with_comments(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if not problems_of(lambda: parse_jsonc(text)):
        value = parse_jsonc(text).value
        assert parse_jsonc(json.dumps(value)).value == value


# --- agent files --------------------------------------------------------------------------------------

YAML = st.sampled_from(
    [
        *("---\n", "name: a\n", "model: ", "demo:\n", "  steps: 1\n", "- ", "? ", ": ", "[", "]", "{"),
        *("}", "*a"),
        *("&a ", "<<: ", "!!binary ", "!!set ", "!!python/name:os ", "|\n", ">\n", "'", '"', "#"),
        *("%YAML 1.2\n",),
        *("timeout: ", ".inf", ".nan", "1:2:3.5", "0x1f", "1_000", "2024-99-99", "yes", "~", "\t", "\n", " "),
        *("role: auditor\n", "can_complete: ", "extra_args: ", "command: ", "\x00", "\ufeff", "é", "\u2028"),
    ]
)  # fmt: skip


@fuzzed(3)
@given(
    st.binary(max_size=200) | st.lists(YAML | st.text(max_size=3), max_size=30).map("".join).map(str.encode)
)
@example(b"---\nx: 1" + b":1" * 6_000 + b".5\n---\n")
@example(b"---\na: &a [*a]\ndemo: *a\n---\n")
def test_any_bytes_as_an_agent_file(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_bytes(data if data.startswith(b"---") else b"---\n" + data + b"\n---\nWork.\n")
    read = read_agent(path)
    assert read.agent is not None or read.problems
    if read.problems:
        assert_in_place(list(read.problems))
    if read.agent is not None:
        assert read.agent.name
        repr(read.agent)


# --- openloop.json ------------------------------------------------------------------------------------


@fuzzed(2)
@given(BYTES | DOCUMENTS.map(lambda document: json.dumps(document).encode()))
def test_any_bytes_as_a_file_with_settings(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "settings.json"
    path.write_bytes(data)
    said = read_settings_file(Origin.PROJECT, path)
    if said.problems:
        assert_in_place(said.problems)


SETTINGS_BOMBS = {
    "unknown keys": "{" + ",".join(f'"k{n}":1' for n in range(30_000)) + "}",
    "unknown keys of a part": '{"budget":{' + ",".join(f'"k{n}":1' for n in range(30_000)) + "}}",
    "rules": '{"merge":{' + ",".join(f'"payload.x{n}":"zzz"' for n in range(10_000)) + "}}",
    "lists inside each other": '{"max_loops":' + "[" * 100_000,
    "a number of many digits": '{"max_loops":' + "9" * 500_000 + "}",
    "a long key": '{"' + "k" * 500_000 + '":1}',
    "too many values": '{"budget":[' + "1," * MOST_VALUES + "1]}",
}


@pytest.mark.parametrize("name", SETTINGS_BOMBS)
def test_a_bomb_in_a_file_with_settings_is_told_in_few_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "openloop.json"
    path.write_text(SETTINGS_BOMBS[name])
    with bounded(96_000_000):
        said = read_settings_file(Origin.PROJECT, path)
    assert_in_place(said.problems)
    assert len(said.problems) <= 2 * MOST_FINDINGS + 2
    assert all(len(problem.text()) < 2_000 for problem in said.problems)


# --- bombs --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def bounded(most: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{own}: &{own} [{','.join([f'*{other}'] * 9)}]\n"
    for other, own in zip("abcdefgh", "bcdefghi", strict=True)
)
AGENT_BOMBS = {
    "aliases of aliases": LAUGHS,
    "aliases of aliases for the demo": LAUGHS + "demo:\n  writes: {x: *i}\n",
    "merged aliases": "a: &a {x: 1}\n"
    + "".join(f"b{n}: &b{n}\n  <<: [{','.join(['*a', *(f'*b{m}' for m in range(n))])}]\n" for n in range(20)),
    "an alias of itself": "a: &a [*a]",
    "a map of itself": "a: &a {b: *a}\ndemo: *a",
    "a number of base 60": "x: 1" + ":1" * 60_000,
    "a broken number of base 60": "x: 1" + ":1" * 6_000 + ".5",
    "a number of many digits": "x: " + "9" * 100_000,
    "a hexadecimal number": "x: 0x" + "f" * 200_000,
    "many values": "x: [" + "[]," * 80_000 + "]",
    "lists inside each other": "x: " + "[" * 100_000,
    "dashes inside each other": "- " * 100_000,
    "questions inside each other": "? " * 100_000,
    "braces inside each other": "x: " + "{a: " * 900 + "1" + "}" * 900,
    "long front matter": "x: '" + "y" * MOST_FRONT_MATTER + "'",
    "many keys": "".join(f"k{n}: 1\n" for n in range(9_000)),
    "one key many times": "k: 1\n" * 9_000,
}


@pytest.mark.parametrize("name", AGENT_BOMBS)
def test_a_bomb_in_front_matter_is_refused_in_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.md"
    path.write_text(f"---\n{AGENT_BOMBS[name]}\n---\nWork.\n")
    with bounded(64_000_000):
        read = read_agent(path)
    assert read.agent is None or name in ("many keys", "one key many times")
    assert_in_place(list(read.problems))
    assert all(problem.line for problem in read.problems)
    assert len(read.problems) <= MOST_FINDINGS + 1
    assert all(len(problem.text()) < 1_000 for problem in read.problems)


WORKFLOW_BOMBS = {
    "unknown keys": "{" + ",".join(f'"k{n}":1' for n in range(30_000)) + "}",
    "long keys": '{"' + "k" * 2_000_000 + '":1}',
    "a key many times": "{" + ",".join(['"a":1'] * 30_000) + "}",
    "wrong entries": '{"loop_agents":[' + ",".join("1" * 30_000) + "]}",
    "wrong groups": '{"loop_agents":[' + ",".join(['{"agents":["a"],"mode":"x"}'] * 5_000) + "]}",
    "empty groups": '{"loop_agents":[' + ",".join(["{}"] * 15_000) + "]}",
    "tasks of one id": '{"loop_agents":[{"mode":"fan_out","agent":"a","tasks":['
    + ",".join(['{"id":"1","prompt":"x"}'] * 10_000)
    + "]}]}",
    "too many values": '{"initial_payload":{"x":[' + "[]," * MOST_VALUES + "1]}}",
    "lists inside each other": '{"initial_payload":{"x":' + "[" * 100_000,
    "objects inside each other": '{"initial_payload":' + '{"a":' * 100_000,
    "unknown objects inside each other": '{"zzz":' + '{"a":' * 900 + "1" + "}" * 900 + "}",
    "a number of many digits": '{"max_loops":' + "9" * 1_000_000 + "}",
    "comments that never end": "/*" * 500_000,
    "a text that never ends": '{"name":"' + "\\" * 1_000_001,
    "a condition as long as a book": json.dumps({"end_state_condition": "1+" * 500_000 + "1"}),
    "paths of rules": json.dumps({"merge": {"payload." + "[" * n: "append" for n in range(1, 300)}}),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKFLOW_BOMBS)
def test_a_bomb_in_a_workflow_file_is_told_in_few_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.json"
    path.write_text(WORKFLOW_BOMBS[name])
    with bounded(160_000_000):
        problems = check_path(path, backend_names())
    assert_in_place(problems)
    assert len(problems) <= 3 * MOST_FINDINGS
    assert all(len(problem.text()) < 2_000 for problem in problems)
