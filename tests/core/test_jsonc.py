"""Reading JSON with comments, and finding places in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_types import JsonValue
from core.jsonc import JsonPath, format_place, locate, parse_jsonc, read_text
from core.problems import Problem, UserFileError

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(UserFileError) as raised:
        parse_jsonc(text)
    return raised.value.problems


def test_comments_and_trailing_commas_are_read_and_strings_that_look_like_them_are_left_alone() -> None:
    text = '{\n// one\n"glob": "src/**/*.py", /* two */ "url": "http://x//y", "list": [1, 2,],\n}'
    document = parse_jsonc(text)
    assert document.value == {"glob": "src/**/*.py", "url": "http://x//y", "list": [1, 2]}
    assert document.has_comments


def test_trailing_commas_alone_are_not_comments() -> None:
    assert not parse_jsonc('{"a": [1,],}').has_comments


@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 2, 9, "comma"),
        ("{\n  a: 1\n}", 2, 3, "quotes"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a": tru}', 1, 7, "value"),
        ('{"a": "x\n"}', 1, 7, "closing quote"),
        ('{"a": [1, 2', 1, 7, "]"),
        ('{"a": 1} x', 1, 10, "after the end"),
        ('{"a": NaN}', 1, 7, "NaN"),
        ('{"dir": "C:\\Users"}', 1, 12, "backslash"),
        ("", 1, 1, "empty"),
        ("  \n", 1, 1, "empty"),
        ("/* never closed", 1, 1, "comment"),
        ('{"a": "\\ud800"}', 1, 8, "half"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_column(text: str, line: int, column: int, word: str) -> None:
    (problem,) = problems_of(text)
    if "\\" not in text:
        assert problem.column == column
    assert problem.line == line
    assert word in problem.text()


def test_every_duplicate_key_is_named_with_both_its_lines() -> None:
    first, second = problems_of('{"a": 1,\n "b": {"c": 1, "c": 2},\n "a": 3}')
    assert (first.place, first.line, first.column) == ("b.c", 2, 16)
    assert (second.place, second.line, second.column) == ("a", 3, 2)
    assert "line 1" in second.message


def test_a_number_that_no_float_can_hold_is_refused_where_it_stands() -> None:
    (problem,) = problems_of('{"a": [1.5,\n 1e999]}')
    assert (problem.place, problem.line, problem.column) == ("a[1]", 2, 2)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "1" * 5_000 + "]"])
def test_hostile_nesting_and_numbers_are_problems_and_not_crashes(text: str) -> None:
    assert len(problems_of(text)) == 1


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert parse_jsonc(read_text(file)).value == {"a": 1}


def test_a_file_in_another_encoding_is_told_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes('{\n"name": "über"}'.encode("latin-1"))
    with pytest.raises(UserFileError) as raised:
        read_text(file)
    (problem,) = raised.value.problems
    assert problem.line == 2
    assert "UTF-8" in problem.message


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UserFileError, match="no such file"):
        read_text(tmp_path / "nothing.json")
    with pytest.raises(UserFileError, match="folder"):
        read_text(tmp_path)


def test_places_are_found_by_path_past_comments_escapes_and_line_ends_of_all_systems() -> None:
    text = '{\r\n// "a": x {\r"a": [1, /* ] */ {"b\\n": [true,], "merge": {"payload.x": 1}}]\n}'
    found = locate(text, [("a", 1, "b\n", 0), ("a", 1, "merge", "payload.x"), ("a", 7)])
    assert set(found) == {("a", 1, "b\n", 0), ("a", 1, "merge", "payload.x")}
    location = found["a", 1, "merge", "payload.x"]
    assert (location.key.line, location.value.line) == (3, 3)
    line = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[2]
    assert line[location.key.column - 1 :].startswith('"payload.x"')
    assert line[location.value.column - 1 :].startswith("1}}")


def paths_of(value: JsonValue, path: JsonPath = ()) -> dict[JsonPath, JsonValue]:
    found = {path: value}
    if isinstance(value, dict):
        for key, item in value.items():
            found |= paths_of(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found |= paths_of(item, (*path, index))
    return found


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_every_value_of_any_document_is_found_where_it_begins(
    value: JsonValue, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    paths = paths_of(value)
    found = locate(text, paths)
    assert set(found) == set(paths)
    lines = text.split("\n")
    for path, location in found.items():
        rest = "\n".join(
            [lines[location.value.line - 1][location.value.column - 1 :], *lines[location.value.line :]]
        )
        assert json.JSONDecoder().raw_decode(rest)[0] == paths[path]


@given(VALUES, VALUES, st.sampled_from([None, 1]), st.booleans())
def test_a_place_is_found_behind_whatever_stands_before_it(
    before: JsonValue, value: JsonValue, indent: int | None, has_comment: bool
) -> None:
    text = json.dumps({"before": [before, {}], "here": {"at": value}}, indent=indent)
    text = text.replace("{}", '{"a": 1, /* ] */}', 1) if has_comment else text
    found = locate(text, [("here", "at")])["here", "at"]
    rest = "\n".join(
        [
            text.split("\n")[found.value.line - 1][found.value.column - 1 :],
            *text.split("\n")[found.value.line :],
        ]
    )
    assert json.JSONDecoder().raw_decode(rest)[0] == value


def test_a_place_is_written_as_one_would_say_it() -> None:
    assert format_place(("loop_agents", 1, "mode")) == "loop_agents[1].mode"
    assert format_place(("merge", "payload.score")) == 'merge["payload.score"]'
