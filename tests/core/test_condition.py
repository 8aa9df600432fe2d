"""End conditions: what they can say, and that they can do nothing else."""

from __future__ import annotations

import contextlib
import copy
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.condition import NAMES, ConditionError, compile_condition, condition_in_words
from core.json_types import JsonObject
from core.state import WorkflowState

_PIECES = (
    "iteration", "payload.get('a', 0)", " and ", " or ", "not ", " in ", " if ", " else ", " for ", " ", "(",
    ")", "[", "]", "{", "}", "'", '"', "=", "==", ">", "=>", "<>", "&&", "!", ".", ",", ":", ":=", "*", "**",
    "-", "%", "0", "07", "1_", "5x", "0x1", "2j", "1.5", "$", "?", "\\", "#", ";", "\u2019", "\u2265",
    "lambda", "f'{'", "r'a'", "\n", "é",
)  # fmt: skip

PAYLOAD: JsonObject = {
    "score": 92,
    "scores": [3, 9, 12.5],
    "reviews": {"vera": {"ok": True, "issues": []}, "linter": {"ok": False, "issues": ["a", "b"]}},
    "title": "Ready to Ship",
    "nothing": None,
}
STATE = WorkflowState("loop", 3, False, "approved by vera", PAYLOAD, {"run": "r1"})


def holds(source: str, state: WorkflowState = STATE) -> bool:
    return compile_condition(source).holds(state)


# --- what a condition can say -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "payload.get('score', 0) >= 90",
        "  payload['score'] >= 90 ",
        "is_complete == False",
        "is_complete is False and not is_complete",
        "iteration >= 3 or is_complete",
        "phase == 'loop'",
        "phase in ('loop', 'finalization')",
        "phase not in {'preparation'}",
        "termination_reason is not None and termination_reason.startswith('approved')",
        "meta['run'] == \"r1\"",
        "90 <= payload['score'] <= 100",
        "len(payload['scores']) == 3",
        "max(payload['scores']) == 12.5 and min(payload['scores']) == 3 and sum(payload['scores']) == 24.5",
        "max(1, payload['score'], iteration) == 92",
        "max((s for s in payload['scores'] if s > 100), default=-1) == -1",
        "all(score > 2 for score in payload['scores'])",
        "any(not review['ok'] for review in payload['reviews'].values())",
        "sum(len(review['issues']) for name, review in payload['reviews'].items()) == 2",
        "sum(s > 5 for s in payload['scores']) == 2",
        "[s for s in payload['scores'] if s > 5] == [9, 12.5]",
        "[(a, b) for a in [1, 2] for b in [3, 4] if a + b == 5] == [(1, 4), (2, 3)]",
        "any(a for a in [[b for b in [0, 1] if b], []])",
        "'vera' in payload['reviews'] and 'tester' not in payload['reviews'].keys()",
        "'Ship' in payload['title'] and payload['title'].lower().endswith(('ship', 'sail'))",
        "payload['title'].strip('R').count('e') == 1 and payload['title'].find('x') == -1",
        "payload['scores'].index(9) == 1 and payload['scores'].count(3) == 1",
        "payload['scores'][-1] == 12.5 and payload['scores'][:2] == [3, 9]",
        "payload['title'][0:5] == 'Ready' and payload['title'][-4:] == 'Ship'",
        "(7 + 3 * 2 - 1) / 4 == 3 and 7 // 2 == 3 and 7 % 4 == 3 and -iteration == -3 and +iteration == 3",
        "abs(-3.7) == 3.7 and round(3.14159, 2) == 3.14 and round(2.6) == 3",
        "(payload['score'] if phase == 'loop' else 0) > 1",
        "payload.get('missing') is None and payload.get('a', {}).get('b', 1) == 1 and payload != {}",
        "payload['nothing'] is None",
        "payload == payload",
        "(1 if payload.get('missing') else 2) == 2",
        "not payload.get('failures')",
        "True",
    ],
)
def test_a_condition_can_say(source: str) -> None:
    assert holds(source) is True


def test_completion_is_the_default_condition() -> None:
    assert holds("is_complete == True", WorkflowState(is_complete=True)) is True
    assert holds("is_complete == True", WorkflowState()) is False


def test_and_and_or_stop_early() -> None:
    assert holds("'x' in payload and payload['x'] > 1") is False
    assert holds("is_complete or True or payload['x'] > 1") is True


def test_a_condition_is_compiled_once_and_used_for_every_state() -> None:
    condition = compile_condition("payload.get('score', 0) >= 90 and all(s for s in [iteration])")
    assert condition.source.startswith("payload")
    assert [condition.holds(WorkflowState(iteration=1, payload={"score": n})) for n in (89, 90)] == [
        False,
        True,
    ]


def test_the_names_are_those_of_the_file_format() -> None:
    state_names = {"is_complete", "iteration", "termination_reason", "phase", "payload", "meta"}
    assert set(NAMES) == state_names | {"len", "min", "max", "sum", "any", "all", "abs", "round"}


# --- what is told -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "column", "words"),
    [
        ("", None, "is empty"),
        ("is_compleet", 1, "Did you mean “is_complete”?"),
        ("  payload.get('é') and itertion", 24, "Did you mean “iteration”?"),
        ("is_complete == true", 16, "Did you mean “True”?"),
        ("score >= 90", 1, "payload.get('score')"),
        ("payload.score >= 90", 1, "payload.get('score')"),
        ("payload.get", 1, "payload.get(…)"),
        ("payload.gett('x')", 1, "“.get()”"),
        ("iteration() > 3", 1, "without ( )"),
        ("len > 3", 1, "len(…)"),
        ("is_complete = True", None, "use “==”"),
        ("is_complete && iteration", None, "“and”"),
        ("!is_complete", None, "“not”"),
        ("payload.get('score', 0) >= 90 and ", 34, "missing after “and”"),
        ("is_complete and", 16, "missing after “and”"),
        ("not", 4, "missing after “not”"),
        ("  iteration >  ", 14, "missing after “>”"),
        ("payload.get(", 13, "missing after “(”"),
        ("iteration >= 3 and)", 19, "missing after “and”"),
        ("iteration in and is_complete", 14, "missing between “in” and “and”"),
        ("or is_complete", 1, "missing before “or”"),
        ("iteration > 3 4", 15, "missing between “3” and “4”"),
        ("payload.get('score' 0) > 1", 21, "missing between “'score'” and “0”"),
        ("iteration not (3, 4)", None, "cannot be read"),
        ("len(payload.get('x') > 2", 4, "this ( is not closed"),
        ("[1, 2) == 2", 6, "a ] is needed, not a )"),
        ("iteration > 3)", 14, "nothing is open that this ) closes"),
        ("payload.get('score, 0) > 1", 13, "no ' at its end"),
        ("5x > 3", 1, "“5x” is neither a number nor a name"),
        ("iteration > 0777", 13, "does not begin with 0"),
        ("payload.get(‘score’)", 13, "Write ' instead of ‘"),
        ("iteration ≥ 3", 11, "Write >= instead of ≥"),
        ("iteration > $x", 13, "The sign $ cannot stand"),
        ("is_complete AND iteration", 13, "Write “and” in small letters"),
        ("iteration => 3", 11, "“=>” cannot stand here"),
        ("is_complete:", 12, "“:” cannot stand here"),
        ("return is_complete", 1, "“return” cannot stand"),
        ("3 if is_complete", 3, "“if” needs an “else”"),
        ("iteration is 3", 14, "use “==”"),
        ("[x for payload in [1]]", 8, "cannot be a loop variable"),
        ("len(x for x in [1])", 1, "[ ]"),
        ("x for x in [1]", None, "cannot be read"),
        ("(x for x in [1])", 1, "any()"),
        ("round()", 1, "cannot take 0"),
        ("sorted([1])", 1, "no name “sorted”"),
    ],
)
def test_a_broken_condition_is_explained_when_it_is_checked(
    source: str, column: int | None, words: str
) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(source)
    assert words.lower() in str(caught.value).lower()
    if column is not None:
        assert caught.value.column == column


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("payload['x'] > 1", "payload has no 'x'. Use payload.get('x', 0) instead."),
        ("payload.get('x') > 1", "Use payload.get('name', 0) if it may be missing."),
        ("payload['title'] > 1", "cannot be compared by size"),
        ("payload['nothing'].get('x')", "is nothing (null) and has no .get()"),
        ("payload['nothing']['x']", "has no parts"),
        ("payload['scores']['x']", "whole number"),
        ("payload['scores'][9]", "3 entries"),
        ("any(x for x in payload['nothing'])", "no entries"),
        ("max([])", "default=0"),
        ("payload['scores'].index(4)", "does not have 4"),
        ("1 / (iteration - 3)", "divides by zero"),
        ("len(iteration)", "needs a list"),
        ("[a for a, b in [1]]", "taken apart"),
        ("payload['title'] + 'x'", "needs numbers"),
        ("payload.keys() == payload.keys()", "as a whole"),
        ("payload['title'].get('x')", "has no .get()"),
        ("{} in {}", "cannot be a key"),
    ],
)
def test_a_state_that_cannot_be_judged_is_explained(source: str, words: str) -> None:
    with pytest.raises(ConditionError) as caught:
        holds(source)
    assert words in str(caught.value)


# --- what it cannot do --------------------------------------------------------------------------------

BIG = WorkflowState(
    payload={
        "rows": [{"id": number, "text": "x" * 50} for number in range(20_000)],
        "texts": ["a" * 2_000 + str(number) for number in range(2_000)],
        "text": "a" * 2_000_000,
        "long": "a" * 90_000,
        "n": 2**62,
    },
    meta={"deep": {}},
)

ATTACKS = [
    # out of the expression
    "__import__('os').system('true')",
    "open('/etc/passwd').read()",
    "eval('1')",
    "exec('x = 1')",
    "globals()",
    "getattr(payload, 'clear')()",
    "().__class__.__bases__[0].__subclasses__()",
    "payload.__class__",
    "payload.get.__self__",
    "payload.get.__func__.__globals__['os']",
    "len.__self__",
    "'{0.__class__}'.format(payload)",
    "f'{payload.__class__}'",
    "'%s' % payload",
    "'%1000000000d' % 1",
    "(lambda: 1)()",
    "(lambda f: f(f))(lambda f: f(f))",
    "[x := 1]",
    "(payload := {})",
    "type(payload)",
    "[c for c in ().__class__.__mro__]",
    "payload.get('x').__init__",
    "print(1)",
    "input()",
    "vars()",
    "breakpoint()",
    "(yield 1)",
    "await payload",
    "[x async for x in payload]",
    "max(payload, key=len)",
    "max(*payload)",
    "dict(**payload)",
    # changing the state
    "payload.clear()",
    "payload.pop('n')",
    "payload.update({})",
    "payload.setdefault('x', 1)",
    "payload['rows'].append(1)",
    "payload['rows'].sort()",
    "payload['rows'].extend(payload['rows'])",
    "[0 for payload['n'] in [1]]",
    "[0 for payload in [1]]",
    "[0 for meta.x in [1]]",
    # time
    "9 ** 9 ** 9",
    "2 << 10 ** 9",
    "1 >> 1",
    "all(1 for a in payload['text'] for b in payload['text'])",
    "sum(1 for a in payload['rows'] for b in payload['rows'] if a == b)",
    "all(payload == meta or payload['rows'] == payload['rows'] for a in payload['rows'])",
    "all(payload['rows'] == payload['rows'][:] for a in payload['rows'])",
    "all('b' not in payload['text'] for a in payload['rows'])",
    "all(r not in payload['rows'] or 1 for r in payload['rows'])",
    "sum(payload['texts'].count(t) for t in payload['texts'])",
    "sum(payload['text'].count('aab') for t in payload['texts'])",
    "all(payload['text'] == payload['text'] for a in payload['text'])",
    "all(max(payload['texts']) for a in payload['text'])",
    "[[a for a in payload['rows']] for b in payload['rows']]",
    "any(any(any(0 for a in payload['text']) for b in payload['text']) for c in payload['text'])",
    "round(7, -10 ** 9)",
    "round(7, -1000000000)",
    "-" * 900 + "1",
    "(" * 450 + "1" + ")" * 450,
    "not " * 240 + "1",
    "[" * 300 + "]" * 300,
    "1" + " + 1" * 240,
    "x" * 2_000,
    "9" * 900 + " > 1",
    "9" * 5_000 + " > 1",
    # memory
    "'a' * 10 ** 9",
    "'a' * 1000000000",
    "[0] * 1000000000",
    "payload['rows'] * 1000",
    "payload['text'] + payload['text']",
    "payload['rows'] + payload['rows']",
    "payload['text'].upper()",
    "[payload['long'].upper() for a in payload['text']]",
    "[payload['long'][1:] for a in payload['text']]",
    "[payload['rows'][:] for a in payload['text']]",
    "[[] for a in payload['text']]",
    "[(1, 2, 3, 4) for a in payload['text']]",
    "'a'.ljust(1000000000)",
    "'a'.join(payload['texts'])",
    "payload['text'].replace('a', payload['text'])",
    "payload['text'].zfill(10000000000)",
    "payload['n'] * payload['n'] * payload['n'] * payload['n'] * payload['n'] > 1",
    "{x: 1 for x in payload['text']}",
    "{x for x in payload['text']}",
    "b'a' * 10",
    "1j * 3",
    "...",
    "\x00",
    "payload.items() in payload.items()",
    "payload.items() | payload.items()",
    "~iteration",
    "iteration @ iteration",
]


@pytest.mark.parametrize("source", ATTACKS, ids=range(len(ATTACKS)))
def test_an_attack_is_refused_and_changes_nothing(source: str) -> None:
    """Refused when compiled or by the budget of steps, with at most a few megabytes."""
    names, rows = list(BIG.payload), copy.copy(BIG.payload["rows"])
    tracemalloc.start()
    try:
        with pytest.raises(ConditionError):
            compile_condition(source).holds(BIG)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
    assert list(BIG.payload) == names
    assert BIG.payload["rows"] == rows


def test_a_value_of_any_depth_cannot_crash_a_comparison() -> None:
    def deep() -> JsonObject:
        value: JsonObject = {}
        for _ in range(20_000):
            value = {"d": value}
        return value

    with pytest.raises(ConditionError):
        holds("payload == meta", WorkflowState(payload=deep(), meta=deep()))


def test_an_evaluation_does_not_copy_the_state() -> None:
    condition = compile_condition(
        "payload.get('n', 0) >= 90 and len(payload['rows']) > 3 and 'x' not in payload"
    )
    tracemalloc.start()
    try:
        assert condition.holds(BIG)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000


# --- any expression -----------------------------------------------------------------------------------

atoms = st.sampled_from(
    [
        *("is_complete", "iteration", "termination_reason", "phase", "payload", "meta", "x", "y"),
        *("0", "1", "-1", "2.5", "'a'", "''", "True", "None", "[]", "{}", "10**9", "9" * 50),
        *("payload['score']", "payload['scores']", "payload['reviews']", "payload['title']"),
    ]
)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    sign = st.sampled_from(
        ["+", "-", "*", "/", "//", "%", "**", "<<", "==", "<", "in", "is", "and", "or", "&"]
    )
    method = st.sampled_from(
        [*("get", "keys", "values", "items", "lower", "count", "index", "find", "format")]
    )
    function = st.sampled_from(["len", "min", "max", "sum", "any", "all", "abs", "round", "list", "x"])
    return st.one_of(
        st.builds("({} {} {})".format, inner, sign, inner),
        st.builds("{}.{}({})".format, inner, method, inner),
        st.builds("{}.{}()".format, inner, method),
        st.builds("{}({})".format, function, inner),
        st.builds("{}({} for x in {})".format, function, inner, inner),
        st.builds("[{} for x in {} for y in {} if {}]".format, inner, inner, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[{}:]".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("(not {})".format, inner),
    )


@given(st.recursive(atoms, larger, max_leaves=10))
@settings(max_examples=500)
def test_any_expression_holds_or_not_or_is_refused_and_changes_nothing(source: str) -> None:
    before = copy.deepcopy(STATE)
    with contextlib.suppress(ConditionError):
        assert compile_condition(source).holds(STATE) in (True, False)
    assert before == STATE
    assert condition_in_words(source)


@given(st.text(max_size=60))
@settings(max_examples=200)
def test_any_text_is_refused_in_words_or_compiled(text: str) -> None:
    condition_in_words(text)
    with contextlib.suppress(ConditionError):
        compile_condition(text)


# --- in words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("payload.get('score', 0) >= 90", "score >= 90"),
        ("payload['review'].get('score', 0) > 1.5", "review.score > 1.5"),
        ("is_complete == True", "an agent says it is complete"),
        ("is_complete", "an agent says it is complete"),
        ("not is_complete", "no agent says it is complete"),
        ("is_complete or iteration >= 3", "an agent says it is complete or iteration >= 3"),
        (
            "is_complete and (iteration > 2 or payload['ok'])",
            "an agent says it is complete and (iteration > 2 or ok)",
        ),
        ("len(payload.get('issues', [])) == 0", "number of issues = 0"),
        ("payload.get('tests') == 'green'", "tests = “green”"),
        ("not payload.get('failures')", "not failures"),
        ("phase in ('loop', 'finalization')", "phase in “loop”, “finalization”"),
        ("payload['x'] is not None", "x is not empty"),
        ("all(x > 3 for x in payload['scores'])", "all(x > 3 for x in payload['scores'])"),
        ("broken (", "broken ("),
    ],
)
def test_a_condition_is_put_into_words(source: str, words: str) -> None:
    assert condition_in_words(source) == words


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_PIECES), max_size=8))
def test_what_cannot_be_read_is_said_in_words_of_a_person_with_a_place_in_the_text(pieces: list[str]) -> None:
    source = "".join(pieces)
    found: ConditionError | None = None
    try:
        compile_condition(source)
    except ConditionError as error:
        found = error
    if found is not None:
        assert found.column is None or 1 <= found.column <= len(source) + 1
        assert not any(words in str(found) for words in ("syntax", "literal", "token", "EOF", "Perhaps"))
