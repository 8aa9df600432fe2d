"""Expressions that a generator makes up: what is accepted stays within bounds and changes nothing."""

from __future__ import annotations

import contextlib
import re
import time
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from core.condition import ConditionError, compile_condition, condition_in_words
from core.merge_rules import merge_rule_problem, payload_path_problem
from core.safe_values import BUDGET, Evaluation
from core.state import MergeRule, WorkflowState
from core.state_path import parse_path
from tests.fuzz.fuzzing import fuzzed

MOST_MEMORY = 8_000_000
"""Bytes that an evaluation may take at once, whatever the state."""
A_HANG = 20.0
"""Seconds of computing; an evaluation takes a tenth of one, and ten times as much while memory is traced."""

BIG = WorkflowState(
    current_phase="loop",
    iteration=3,
    termination_reason="because",
    payload={
        "rows": [{"id": number, "tags": ["a", "b"]} for number in range(3_000)],
        "numbers": list(range(-2_000, 20_000)),
        "floats": [1e308, -1e308, 0.1, 5e-324],
        "texts": ["a" * 500 + str(number) for number in range(2_000)],
        "text": "a" * 29_999,
        "long": "ab" * 500_000,
        "wide": {str(number): {"n": number} for number in range(5_000)},
        "deep": [[[[[[[[[[1]]]]]]]]]],
        "n": 2**63 - 1,
        "nothing": None,
        "yes": True,
    },
    meta={"run": "r1"},
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
)
STATES = st.just(BIG) | st.builds(
    WorkflowState,
    is_complete=st.booleans(),
    iteration=st.integers(0, 10),
    payload=st.dictionaries(
        st.sampled_from(["rows", "numbers", "text", "n", "wide", "score"]),
        st.recursive(
            SCALARS,
            lambda inner: st.lists(inner, max_size=4)
            | st.dictionaries(st.text(max_size=2), inner, max_size=4),
            max_leaves=10,
        ),
        max_size=5,
    ),
)  # fmt: skip

NAMES = st.sampled_from(
    ["payload", "meta", "is_complete", "iteration", "termination_reason", "phase", "x", "y", "len"]
)
ATOMS = (
    NAMES
    | st.sampled_from([f"payload['{key}']" for key in BIG.payload])
    | st.sampled_from(["0", "1", "-1", "7", "1e308", "1e999", "10**9", "9" * 70, "0xff", "1j", "'a'", "''"])
    | st.sampled_from(["None", "True", "...", "[]", "()", "{}", "'%s'", "'{0.__class__}'", "f'{payload}'"])
    | st.sampled_from(["'a' * 9", "b'a'"])
    | st.sampled_from([f"payload.get('{key}', 0)" for key in ("numbers", "missing", "n")])
    | st.text(max_size=3).map(repr)
)  # fmt: skip
BINARY = st.sampled_from(
    [
        *("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@", "==", "!=", "<", "<="),
        *(">", ">="),
        *("in", "not in", "is", "is not", "and", "or", ",", ":=", "if 1 else", "for x in"),
    ]
)  # fmt: skip
METHODS = st.sampled_from(
    [
        *("get", "keys", "values", "items", "lower", "upper", "strip", "lstrip", "count", "find", "index"),
        *("startswith", "endswith", "format", "join", "replace", "pop", "update", "append", "sort", "clear"),
        *("setdefault", "__class__", "__len__", "copy", "zfill", "encode"),
    ]
)  # fmt: skip
FUNCTIONS = st.sampled_from(
    [
        *("len", "min", "max", "sum", "any", "all", "abs", "round", "list", "sorted", "range", "eval"),
        *("getattr",),
        *("payload", "type", "str", "int"),
    ]
)  # fmt: skip


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    loop = st.builds("{} for x in {}".format, inner, inner)
    loops = st.one_of(
        loop,
        st.builds("{} for y in {}".format, loop, inner).map(lambda text: text),
        st.builds("{} if {}".format, loop, inner),
        st.builds("{} for x, y in {}".format, inner, inner),
    )
    return st.one_of(
        st.builds("({} {} {})".format, inner, BINARY, inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
        st.builds("{}.{}({})".format, inner, METHODS, inner),
        st.builds("{}.{}()".format, inner, METHODS),
        st.builds("{}.{}".format, inner, METHODS),
        st.builds("{}({})".format, FUNCTIONS, inner | loops),
        st.builds("{}({}, {})".format, FUNCTIONS, inner, inner),
        st.builds("{}({}, default={})".format, FUNCTIONS, inner, inner),
        st.builds("[{}]".format, loops),
        st.builds("({})".format, loops),
        st.builds("{{{}}}".format, loops),
        st.builds("{{{}: {} for x in {}}}".format, inner, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[{}:{}]".format, inner, inner, inner),
        st.builds("{}[::{}]".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("-{}".format, inner),
        st.builds("(lambda x: {})({})".format, inner, inner),
        st.builds("max(*{})".format, inner),
    )


EXPRESSIONS = st.recursive(ATOMS, larger, max_leaves=12)
FRAGMENTS = st.lists(
    ATOMS | BINARY | METHODS | FUNCTIONS | st.sampled_from(list("()[]{}.,:'\"\\ \n\t#!=~`$?;\x00é😀")),
    max_size=25,
).map("".join)


# Most of those above are refused at once. These make sense, so that they get far.
PARTS = {
    "number": [
        *("{iteration}", "{n}", "0", "3", "-2.5", "len({list})", "len({text})", "len({object})"),
        *("sum({numbers})",),
        *("max({numbers}, default={number})", "min({number}, {number})", "abs({number})"),
        *("round({number}, 3)",),
        *("({number} + {number})", "({number} * {number})", "({number} - {number})"),
        *("({number} // {number})",),
        *("({number} % {number})", "({number} / {number})", "-{number}", "{text}.count({text})"),
        *("{text}.find({text})", "{numbers}[{number}]", "{list}.index({number})"),
        *("{numbers}.count({number})",),
        *("({number} if {truth} else {number})", "sum({number} for {var} in {list} if {truth})"),
        "max(({number} for {var} in {list}), default=0)",
    ],
    "text": [
        *("'a'", "'aab'", "{phase}", "payload['text']", "payload['long']", "{texts}[{number}]"),
        *("{text}.upper()",),
        *("{text}.strip('ab')", "{text}[{number}:]", "{text}[:{number}]", "{text}[1:5000]", "{text}.lower()"),
        *("max({texts}, default='')", "({text} if {truth} else {text})"),
    ],
    "numbers": [
        *("payload['numbers']", "payload['floats']", "[{number}, {number}]", "{numbers}[{number}:{number}]"),
        *("[{number} for {var} in {list}]", "[{number} for {var} in {list} if {truth}]", "[]"),
    ],
    "texts": ["payload['texts']", "[{text} for {var} in {list}]", "[{text}, {text}]", "{texts}[:{number}]"],
    "list": [
        *("{numbers}", "{texts}", "payload['rows']", "payload['deep']", "[{list}, {list}]"),
        *("{object}.values()",),
        *("{object}.items()", "{object}.keys()", "[{list} for {var} in {list}]"),
        *("({number}, {text}, {list})",),
        *("payload['rows'][:{number}]", "{text}"),
    ],
    "object": ["payload", "payload['wide']", "meta", "payload['rows'][{number}]", "meta.get('none', {{}})"],
    "truth": [
        *("True", "{number} < {number}", "{number} <= {number} < {number}", "{text} == {text}"),
        *("{text} in {text}",),
        *("{number} in {list}", "{text} in {object}", "{list} == {list}", "{list} in {list}", "not {truth}"),
        *("({truth} and {truth})", "({truth} or {truth})", "any({truth} for {var} in {list})"),
        *("{object} == {object}",),
        *("all({truth} for {var} in {list} for {var} in {list})", "{text}.startswith({text})"),
        *("{text} < {text}",),
        *("{text}.endswith(({text}, {text}))", "any({list})", "{object}.get({text}) is None"),
        *("{var} == {number}",),
    ],
    "iteration": ["iteration"],
    "n": ["payload['n']"],
    "phase": ["phase"],
    "var": ["x", "y"],
}  # fmt: skip
LEAVES = {
    "number": "iteration",
    "text": "'ab'",
    "numbers": "payload['numbers']",
    "texts": "payload['texts']",
    "list": "payload['rows']",
    "object": "payload['wide']",
    "truth": "True",
}


@st.composite
def sensible(draw: st.DrawFn) -> str:
    """An expression of the right types, but for loop variables that may be anything."""

    def make(kind: str, depth: int) -> str:
        if depth == 0 and kind in LEAVES:
            return LEAVES[kind]
        template = draw(st.sampled_from(PARTS[kind]))
        if "{var}" in template and " for " in template:
            name = make("var", 0)
            template = template.replace("{var}", name)
        return re.sub(
            r"\{(\w+)\}|\{\{\}\}",
            lambda match: make(match[1], max(0, depth - 1)) if match[1] else "{}",
            template,
        )

    return make(draw(st.sampled_from(["truth", "number", "list", "texts"])), draw(st.integers(1, 5)))


def check(source: str, state: WorkflowState) -> None:
    before = state.to_json()
    tracemalloc.start()
    begun = time.process_time()
    try:
        with contextlib.suppress(ConditionError):
            assert compile_condition(source).holds(state) in (True, False)
        spent = time.process_time() - begun
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spent < A_HANG
    assert peak < MOST_MEMORY
    assert state.to_json() == before


@fuzzed(3)
@given(EXPRESSIONS, STATES)
def test_any_expression_is_refused_or_bounded_and_changes_nothing(source: str, state: WorkflowState) -> None:
    check(source, state)
    assert condition_in_words(source)


@fuzzed(1.5)
@given(sensible())
def test_an_expression_that_makes_sense_is_bounded_and_changes_nothing(source: str) -> None:
    check(source, BIG)


@fuzzed(0.3)
@given(EXPRESSIONS | sensible())
def test_any_loop_over_a_large_state_is_refused_or_bounded(source: str) -> None:
    check(f"[{source} for x in payload['numbers'] for y in payload['rows']]", BIG)
    check(f"any({source} for x in payload['texts'])", BIG)


@fuzzed(2)
@given(FRAGMENTS, STATES)
def test_any_text_is_refused_or_bounded_and_changes_nothing(source: str, state: WorkflowState) -> None:
    check(source, state)
    condition_in_words(source)


@fuzzed(2)
@given(EXPRESSIONS | sensible())
def test_no_value_of_an_expression_is_larger_than_its_steps_allow(source: str) -> None:
    """What an evaluation makes is paid for: at most so many items as it has steps."""
    with contextlib.suppress(ConditionError):
        condition = compile_condition(source)
        run = Evaluation(BIG)
        with contextlib.suppress(
            ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
        ):
            value = condition._closure(run)
            assert 0 <= run.steps <= BUDGET
            if type(value) in (list, tuple) and not any(value is part for part in BIG.payload.values()):
                assert len(value) <= BUDGET  # type: ignore[arg-type]
            if type(value) is int:
                assert value.bit_length() <= 257


PATHS = st.lists(
    st.sampled_from(
        [
            *("payload", "is_complete", "meta", ".", "[", "]", '"', "\\", '["a.b"]', "a", "__class__"),
            *("(", ")", "*"),
            *("{0}", "%s", "\x00", " ", "é", "[0]", "['a']", "..", "\\ud800", '["\\u0061"]'),
        ]
    )
    | st.text(max_size=3),
    max_size=15,
).map("".join)  # fmt: skip


@fuzzed(4)
@given(PATHS, st.sampled_from(MergeRule))
def test_any_path_names_a_place_or_is_refused_in_words(path: str, rule: MergeRule) -> None:
    for problem in (
        merge_rule_problem(path, rule),
        payload_path_problem("tasks_from", path),
        payload_path_problem("collect_into", path),
    ):
        if problem is None:
            assert all(isinstance(key, str) for key in parse_path(path))
        else:
            assert problem.endswith((".", "?", "`"))
