"""What the core shows to users comes through `core.words`, as whole literals, which can be translated."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import core

CORE = Path(core.__path__[0])
TREES = {
    path.relative_to(CORE).with_suffix("").as_posix(): ast.parse(path.read_text("utf-8"))
    for path in sorted(CORE.rglob("*.py"))
}
"""By module, such as `backends/demo`."""
TEXTS = {"say": slice(0, 1), "say_both": slice(0, 1), "say_number": slice(1, 3)}
"""Functions of `core.words`, and which of their arguments are texts."""


def calls(tree: ast.AST, *, inside: bool = False) -> Iterator[tuple[ast.Call, bool]]:
    """Every call of these functions, and whether it happens inside of a function."""
    for node in ast.iter_child_nodes(tree):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TEXTS:
            yield node, inside
        # What stands in the head of a function is made at import.
        heads = (
            (*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ()))
            if is_function
            else ()
        )
        for head in heads:
            if head is not None:
                yield from calls(ast.Expression(head), inside=inside)
        yield from calls(node, inside=inside or is_function)


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """The texts that translators get."""
    path = CORE.parent / "docs" / "update_translation.py"
    spec = importlib.util.spec_from_file_location("update_translation", path)
    assert spec is not None
    assert spec.loader is not None
    script: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return set(script.texts_without_qt())


def test_what_is_said_is_a_literal_that_is_collected_and_said_when_it_is_needed(collected: set[str]) -> None:
    for name, tree in TREES.items():
        if name == "words":
            continue
        for call, inside in calls(tree):
            where = f"{name}:{call.lineno}"
            assert inside, f"{where}: at import there is no translation yet"
            texts = call.args[TEXTS[call.func.id]]  # type: ignore[attr-defined]  # only names are given
            assert texts, where
            counts = {"count"} if len(texts) == 2 else set()
            values = {keyword.arg for keyword in call.keywords} | counts
            for text in texts:
                assert isinstance(text, ast.Constant), (
                    f"{where}: {ast.unparse(text)} is another text each time"
                )
                assert text.value in collected, where
                assert text.value == text.value.strip(), f"{where}: a translator would lose the space"
                if values:
                    named = set(
                        re.findall(r"\{(\w*)[^{}]*\}", text.value.replace("{{", "").replace("}}", ""))
                    )
                    assert named <= values, f"{where}: {named - values} is not filled in"
                    assert values - named <= counts, f"{where}: {values - named} is told to nobody"


# --- what does not come through it ----------------------------------------------------------------------

WORDS = re.compile(r"(?<![\w.`/_-])[A-Za-z]{2,}(?![\w(=/_-])")
NO_SENTENCE = re.compile(r"\(\?|\\[bdswS]|\]\?|\w\|\w|<\w+[ >]|^npm install|\n.*;|import ")
"""Expressions, HTML, commands and programs."""
NOT_SAID = {
    "prompts": "what agents are told is English",
    "schema": "a schema is read by editors and programs, in English",
    "report_schema": "a schema is read by editors and programs, in English",
    "parser": "advice is for the agent; its test finds the messages",
    "update_block": "advice is for the agent; its test finds the messages",
}
"""Whole modules, and why."""
ALSO_NOT_SAID = {
    ("agent_writing", "the file was changed by another"): "an exception that is always caught",
    ("backends/claude", "Claude Code"): "a name",
    ("backends/codex", "failed to initialize state"): "looked for in its output",
    ("backends/codex", "database is locked"): "looked for in its output",
    ("backends/gemini", "Gemini CLI"): "a name",
    ("backends/logins", "claude auth status"): "a command",
    ("backends/ndjson", "JsonObject | NoiseSeen"): "a type",
    ("backends/opencode_reader", "Failed query"): "looked for in its output",
    ("backends/opencode_reader", "database is locked"): "looked for in its output",
    ("backends/opencode_session", "with recursive"): "SQL",
    ("doctor", "own folders"): "a key; topic_words has the words",
    ("doctor", "log folder"): "a key; topic_words has the words",
    ("doctor", "work folder"): "a key; topic_words has the words",
    ("group_failures", "{} was not started."): "part of the payload, which agents read",
    ("known_payload", "true or false"): "a key",
    ("known_payload", "list of texts or numbers"): "a key",
    ("merge", "[a list of"): "stands for a value in the journal, where values are compared",
    ("merge", "[an object of"): "stands for a value in the journal, where values are compared",
    ("plain_pydantic", "module {} has no attribute"): "a programmer's mistake",
    (
        "process_tree_linux",
        "this system has no child subreaper",
    ): "said by the supervisor, which has no catalogue",
    ("settings_keys", "command line"): "a key",
    ("transcript", "the transcript is closed"): "a programmer's mistake",
    ("trust_scripts", "{} bytes of {}"): "part of a digest",
    ("trust_scripts", "no file"): "part of a digest",
    ("trust_store", "Commands of workflows and agents that you allowed"): "stands in a file",
    ("visible_text", "{}{} empty lines{}"): "stands for characters inside of a text of others",
    ("workflow_writing", "{} has no form in a workflow file"): "a programmer's mistake",
}
"""Beginnings of texts, and why."""


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts with two words at least that come through no function of `core.words`."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in TEXTS or called == "AssertionError" or called.startswith(("re.", "regex.")):
                parts = list(node.args)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts = [node]  # a description
        elif isinstance(node, ast.Assert | ast.Compare | ast.MatchValue):
            parts = [node]  # what no user ever sees, and what is looked for in the words of others
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            parts = [node.annotation]
        for part in parts:
            left_out.update(id(each) for each in ast.walk(part))
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            left_out.update(id(each) for each in node.values)
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        text = text.strip()
        if " " in text and len(WORDS.findall(text)) >= 2 and not NO_SENTENCE.search(text):
            yield node.lineno, text


def test_no_sentence_for_users_is_left_out() -> None:
    found = {}
    used = set()
    for name, tree in TREES.items():
        for line, text in sentences(tree) if name not in NOT_SAID else ():
            reasons = {key for key in ALSO_NOT_SAID if key[0] == name and text.startswith(key[1])}
            used |= reasons
            if not reasons:
                found[f"core/{name}.py:{line}"] = text
    assert found == {}
    assert ALSO_NOT_SAID.keys() - used == set(), "no exception is out of date"
