"""Reading an agent's answer: what counts, what is told, and that nothing it writes can hurt."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.json_types import JsonObject
from core.parser import apply_authority, parse_update
from core.state import StateUpdate
from core.update_block import MAX_DEPTH, ParsedUpdate, UpdateProblem, UpdateProblemKind

Kind = UpdateProblemKind


def tagged(content: str) -> str:
    return f"<state_update>{content}</state_update>"


def update_of(text: str) -> StateUpdate:
    parsed = parse_update(text)
    assert isinstance(parsed, ParsedUpdate), parsed
    return parsed.update


def payload_of(text: str) -> JsonObject | None:
    return update_of(text).payload


def notes_of(text: str) -> str:
    parsed = parse_update(text)
    assert isinstance(parsed, ParsedUpdate), parsed
    return " ".join(parsed.notes)


def problem_of(text: str) -> UpdateProblem:
    problem = parse_update(text)
    assert isinstance(problem, UpdateProblem), problem
    assert problem.message.endswith(".")
    assert problem.advice
    return problem


# --- what counts --------------------------------------------------------------------------------------


def test_a_tagged_update_is_read() -> None:
    text = "I looked at it.\n" + tagged(
        '\n{"is_complete": false, "termination_reason": null, "payload": {"score": 3}}\n'
    )
    parsed = parse_update(text)
    assert parsed == ParsedUpdate(StateUpdate(False, None, {"score": 3}))


def test_the_last_valid_update_counts() -> None:
    """Pain 25: an example in the answer does not end the loop."""
    text = (
        "As asked, " + tagged('{"is_complete": true}') + " would end it. " + tagged('{"is_complete": false}')
    )
    assert update_of(text).is_complete is False
    assert parse_update(text) == ParsedUpdate(StateUpdate(False))


def test_an_unusable_later_update_is_told() -> None:
    text = tagged('{"payload": {"a": 1}}') + tagged("{broken}")
    assert payload_of(text) == {"a": 1}
    assert "later state update could not be used" in notes_of(text)


def test_an_update_may_carry_tags_in_its_texts() -> None:
    assert payload_of(tagged('{"payload": {"x": "</state_update>"}}')) == {"x": "</state_update>"}
    assert payload_of(tagged('{"payload": {"x": "<state_update>"}}')) == {"x": "<state_update>"}
    inner = tagged("{}")
    assert payload_of(tagged('{"payload": {"x": "' + inner + '"}}')) == {"x": inner}
    quoted = r"<state_update>{\"is_complete\": true}</state_update>"
    assert update_of(tagged('{"payload": {"x": "' + quoted + '"}}')).is_complete is None


def test_talk_about_the_tags_does_not_hide_the_update() -> None:
    text = tagged('{"payload": {"a": 1}}') + "\nI closed it with </state_update> as <state_update> needs."
    assert parse_update(text) == ParsedUpdate(StateUpdate(payload={"a": 1}))


@pytest.mark.parametrize(
    "fence", ["```json\n{}\n```", "```\n{}\n```", "```json {} ```", "``` JSON\r\n{}\r\n```"]
)
def test_a_fenced_update_counts_when_there_is_no_tag(fence: str) -> None:
    text = "Done:\n" + fence.replace("{}", '{"is_complete": true}') + "\nThat is all."
    assert update_of(text).is_complete is True
    assert "code fence" in notes_of(text)


def test_the_last_fenced_object_with_a_known_key_counts() -> None:
    text = '```json\n{"payload": {"n": 1}}\n```\n```json\n{"payload": {"n": 2}}\n```\n```\n{"b": 1}\n```\n'
    assert payload_of(text) == {"n": 2}


def test_a_fenced_update_may_carry_a_fence_in_its_texts() -> None:
    text = '```json\n{"payload": {"doc": "```py\\nx = 1\\n```"}}\n```'
    assert payload_of(text) == {"doc": "```py\nx = 1\n```"}


def test_a_tagged_update_beats_a_later_fenced_one() -> None:
    text = tagged('{"payload": {"a": 1}}') + '\n```json\n{"payload": {"a": 2}}\n```'
    assert payload_of(text) == {"a": 1}


def test_a_fence_inside_the_tags_is_accepted() -> None:
    text = tagged('\n```json\n{"payload": {"a": 1}}\n```\n')
    assert payload_of(text) == {"a": 1}
    assert "code fence" in notes_of(text)


def test_comments_and_trailing_commas_are_accepted_and_told() -> None:
    text = tagged('{\n// the score, don\'t ask\n"payload": {"url": "http://x/*y*/", "n": [1, 2,],},}')
    assert payload_of(text) == {"url": "http://x/*y*/", "n": [1, 2]}
    assert "trailing commas" in notes_of(text)


def test_unknown_keys_move_into_the_payload() -> None:
    text = tagged('{"score": 9, "a": 1, "payload": {"a": 2}}')
    assert payload_of(text) == {"score": 9, "a": 2}
    assert "moved into payload: `score`" in notes_of(text)
    assert "payload has the same key: `a`" in notes_of(text)


def test_protected_keys_are_ignored() -> None:
    text = tagged('{"iteration": 99, "meta": {"x": 1}, "current_phase": "finalization", "payload": {}}')
    assert update_of(text) == StateUpdate(payload={})
    assert "`current_phase`, `iteration`, `meta`" in notes_of(text)


def test_large_whole_numbers_stay_numbers_that_a_state_can_hold() -> None:
    assert payload_of(tagged('{"payload": {"a": 9223372036854775807, "b": 92233720368547758070}}')) == {
        "a": 9223372036854775807,
        "b": 92233720368547758070.0,
    }


def test_broken_characters_are_replaced() -> None:
    assert payload_of(tagged('{"payload": {"a": "x\udc80y"}}')) == {"a": "x\ufffdy"}
    assert payload_of("\x00\udcff" + tagged('{"payload": {"a": "\\u0000"}}')) == {"a": "\x00"}


# --- what is wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("", Kind.MISSING, "empty"),
        ("All done, the code is fine.", Kind.MISSING, "no state update"),
        ('{"is_complete": true}', Kind.MISSING, "not between"),
        ("Use <state_update> tags.", Kind.MISSING, "no state update"),
        ('<state_update>{"payload": {"a": 1', Kind.TRUNCATED, "cut off"),
        ('<state_update>{"is_complete": true}', Kind.TRUNCATED, "closing tag"),
        ("so here it is: <state_update>", Kind.TRUNCATED, "cut off"),
        ("I wrote the new state to state_update.json for you.", Kind.WRITTEN_TO_FILE, "file"),
        ('```json\n{"score": 1}\n```', Kind.FENCED, "none of the keys"),
        ('```json\n{"payload": {"a": }\n```', Kind.FENCED, "not valid JSON"),
        ('```json\n{"payload": {"a"', Kind.FENCED, "cut off"),
        (tagged(""), Kind.BAD_JSON, "empty"),
        (tagged("{...}"), Kind.BAD_JSON, "Line 1, column 2"),
        (tagged('{\n  "payload": {"a": 1 "b": 2}\n}'), Kind.BAD_JSON, "Line 2, column"),
        (tagged("{'payload': {}}"), Kind.BAD_JSON, "key"),
        (tagged('{"payload": {"a": NaN}}'), Kind.BAD_JSON, "NaN"),
        (tagged('{"payload": {"a": -Infinity}}'), Kind.BAD_JSON, "Infinity"),
        (tagged('{"payload": {"a": 1e999}}'), Kind.BAD_JSON, "too large"),
        (tagged('{"payload": {"a": ' + "9" * 5000 + "}}"), Kind.BAD_JSON, "too large"),
        (tagged('{"payload": {"a": 1, "a": 2}}'), Kind.BAD_JSON, "'a' stands twice"),
        (tagged('{"payload": {"a": "\\ud800"}}'), Kind.BAD_JSON, "Surrogates"),
        (tagged('{"payload": {"a": "x\x00"}}'), Kind.BAD_JSON, "control character"),
        (tagged("[1, 2]"), Kind.NOT_AN_OBJECT, "a list"),
        (tagged('"done"'), Kind.NOT_AN_OBJECT, "the text 'done'"),
        (tagged("null"), Kind.NOT_AN_OBJECT, "null"),
        (tagged('{"is_complete": "true"}'), Kind.BAD_FIELD, "without quotes"),
        (tagged('{"is_complete": 1}'), Kind.BAD_FIELD, "a number"),
        (tagged('{"termination_reason": ["x"]}'), Kind.BAD_FIELD, "a list"),
        (tagged('{"payload": [1]}'), Kind.BAD_FIELD, "payload must be a JSON object"),
    ],
)
def test_what_is_wrong_is_named(text: str, kind: Kind, words: str) -> None:
    problem = problem_of(text)
    assert problem.kind is kind
    assert words in problem.message


def nested(depth: int) -> str:
    return '{"payload":' + '{"a":' * (depth - 2) + "[]" + "}" * (depth - 2) + "}"


def test_nesting_is_accepted_up_to_the_limit_and_refused_beyond() -> None:
    assert update_of(tagged(nested(MAX_DEPTH)))
    assert problem_of(tagged(nested(MAX_DEPTH + 1))).kind is Kind.TOO_DEEP


@pytest.mark.parametrize("bomb", ["[" * 300_000, '{"a":' * 100_000, nested(50_000), "[{" * 400 + "}]" * 400])
def test_a_depth_bomb_is_refused(bomb: str) -> None:
    kind = problem_of(tagged('{"payload": {"x": ' + bomb + "}}")).kind
    assert kind in (Kind.TOO_DEEP, Kind.TOO_LARGE, Kind.BAD_JSON)


@pytest.mark.parametrize(
    "hostile",
    [
        "<state_update>" * 20_000,
        "<state_update>{" * 20_000,
        "<state_update>{" * 20_000 + "</state_update>",
        '<state_update>{"' * 20_000 + "</state_update>",
        "<state_update></state_update>" * 10_000,
        '<state_update>{"a": "' + "</state_update>" * 20_000,
        "<state_update>" * 40 + "{" + '"' * 280_000 + "</state_update>",
        "```{" * 80_000,
        '```json\n{"payload":' * 20_000,
        "```" * 100_000,
    ],
    ids=range(10),
)
def test_hostile_tags_end_in_a_problem(hostile: str) -> None:
    """Each of these took minutes with a regular expression over the whole text."""
    problem_of(hostile)


def test_an_update_after_hostile_tags_is_found() -> None:
    assert payload_of("<state_update>{" * 20_000 + tagged('{"payload": {"a": 1}}')) == {"a": 1}


def test_an_update_at_the_end_of_a_huge_text_is_found() -> None:
    assert payload_of("x " * 20_000_000 + tagged('{"payload": {"a": 1}}') + "bye") == {"a": 1}


def test_a_large_payload_is_read() -> None:
    rows = ",".join(f'{{"id": {number}, "text": "</state_update>"}}' for number in range(3_000))
    payload = payload_of(tagged(f'{{"payload": {{"rows": [{rows}]}}}}'))
    assert payload is not None
    rows_read = payload["rows"]
    assert isinstance(rows_read, list)
    assert len(rows_read) == 3_000


# --- who may complete ---------------------------------------------------------------------------------


def test_completion_counts_only_from_who_may_complete() -> None:
    """Pain 25."""
    parsed = ParsedUpdate(StateUpdate(True, "done", {"a": 1}), ("before",))
    assert apply_authority(parsed, True, "vera") is parsed
    blocked = apply_authority(parsed, False, "vera")
    assert blocked.update == StateUpdate(None, "done", {"a": 1})
    assert blocked.notes[0] == "before"
    assert blocked.notes[1].startswith("vera said that the work is complete. This was ignored")


def test_saying_that_it_is_not_complete_needs_no_authority() -> None:
    parsed = ParsedUpdate(StateUpdate(False))
    assert apply_authority(parsed, False, "vera") is parsed


# --- any text -----------------------------------------------------------------------------------------

pieces = st.sampled_from(
    [
        *("<state_update>", "</state_update>", "```", "```json\n", "{", "}", "[", "]", '"', "\\", ",", ":"),
        *('"payload":', '"is_complete":', "true", "null", "1e999", "//", "/*", "*/", "\n", "\x00", "\ud800"),
        *('{"payload": {"a": 1}}', '{"is_complete": true}', "NaN", "\ufeff", "é", " "),
    ]
)


@given(st.lists(pieces | st.text(max_size=5), max_size=40).map("".join))
@example("<state_update>```{</state_update>")
@example('<state_update>{"\\</state_update>')
@settings(max_examples=400)
def test_any_text_gives_an_update_or_a_problem(text: str) -> None:
    parsed = parse_update(text)
    if isinstance(parsed, UpdateProblem):
        assert parsed.message
        assert parsed.advice
    else:
        assert parsed.update.is_complete in (None, True, False)


@given(
    st.text(max_size=200),
    st.text(max_size=40),
    st.dictionaries(st.text(max_size=5), st.text(max_size=30) | st.integers() | st.none(), max_size=4),
)
@settings(max_examples=200)
def test_what_an_agent_sends_is_what_is_read(before: str, after: str, payload: JsonObject) -> None:
    if "state_update>" in after:
        return
    sent = {key: value for key, value in payload.items() if not isinstance(value, int) or abs(value) < 2**63}
    assert payload_of(before + tagged(json.dumps({"payload": sent})) + after) == sent
