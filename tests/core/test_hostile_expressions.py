"""Expressions of a workflow that mean harm: refused in words, soon, and without any effect on the state.

`tests/fuzz/test_expressions.py` does the same with expressions that a generator makes up.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest

from core.agent import AgentLibrary
from core.check import check_workflow
from core.condition import ConditionError, compile_condition
from core.merge_rules import merge_rule_problem
from core.state import MergeRule, WorkflowState
from core.workflow_file import parse_workflow

STATE = WorkflowState(
    current_phase="loop",
    iteration=3,
    payload={
        "rows": [{"id": number, "tags": ["a", "b"], "text": "x" * 30} for number in range(10_000)],
        "numbers": list(range(20_000)),
        "texts": ["a" * 2_000 + str(number) for number in range(1_000)],
        "text": "a" * 1_000_000,
        "long": "a" * 90_000,
        "middle": "a" * 29_999,
        "wide": {str(number): number for number in range(10_000)},
        "nested": {"a": {"b": [1, {"c": 2}]}},
        "digits": "9" * 100_000,
        "n": 2**62,
        "score": 50,
    },
    meta={"run": "r1"},
)
BEFORE = STATE.to_json()

ATTACKS = {
    # --- out of the expression, through attributes
    "class": "().__class__",
    "class of the state": "payload.__class__.__mro__[1].__subclasses__()",
    "class through a text": "''.__class__.__base__",
    "class through a number": "(1).__class__",
    "dict of a method": "payload.get.__self__",
    "globals of a method": "payload.get.__globals__",
    "reduce": "payload.__reduce_ex__(2)",
    "private attribute": "payload._x",
    "plain attribute": "payload.score",
    "attribute of a call": "payload.get('nested').a",
    "attribute of a loop variable": "[row.__class__ for row in payload['rows']]",
    "attribute in a test": "[1 for row in payload['rows'] if row.__init__]",
    "method that is not called": "payload.get",
    "getitem by name": "payload.__getitem__('n')",
    "getattribute by name": "payload.__getattribute__('clear')()",
    "method out of a list": "[payload.get][0]('n')",
    "method by a subscript": "payload['get']('n')",
    "call of a call": "payload.get('n')('x')",
    "full-width name": "ｅｖａｌ('1')",
    "full-width dunder": "payload.＿＿class＿＿",
    "italic builtin": "𝘨𝘦𝘵𝘢𝘵𝘵𝘳(payload, 'clear')",
    # --- out of it, through names
    "import": "__import__('os').system('true')",
    "eval": "eval('payload.clear()')",
    "exec": "exec('import os')",
    "compile": "compile('1', '', 'eval')",
    "open": "open('/etc/passwd').read()",
    "getattr": "getattr(payload, 'clear')()",
    "setattr": "setattr(payload, 'x', 1)",
    "globals": "globals()['__builtins__']",
    "type": "type(payload)('x', (), {})",
    "builtins": "__builtins__['open']",
    "sorted": "sorted(payload['texts'] * 9)",
    "range": "sum(1 for i in range(10 ** 12))",
    "map": "map(len, payload['texts'])",
    "int of a long text": "int(payload['digits'])",
    "float of a long text": "float(payload['digits'])",
    "str of a large number": "len(str(9 ** 999999))",
    "bytes": "bytes(10 ** 10)",
    "bytes literal": "b'x' * 10 ** 10",
    "pow": "pow(9, 9 ** 9)",
    "debugger": "breakpoint()",
    # --- formatting
    "format": "'{0.__class__}'.format(payload)",
    "format of a width": "'{:>1000000000}'.format(1)",
    "format_map": "'{n}'.format_map(payload)",
    "percent": "'%s' % payload",
    "percent of a width": "'%1000000000d' % 1",
    "f-string": "f'{payload.clear()}'",
    "f-string of a width": "f'{1:1000000000}'",
    # --- syntax that does something
    "lambda": "(lambda: payload)()",
    "recursion through lambdas": "(lambda f: f(f))(lambda f: f(f))",
    "walrus": "(x := payload)",
    "walrus in a loop": "[x := 1 for y in payload['numbers']]",
    "assignment": "payload = {}",
    "statement": "payload.clear(); 1",
    "del": "del payload['n']",
    "import statement": "import os",
    "loop over a part of the state": "[0 for payload['n'] in [1]]",
    "loop over an attribute": "[0 for payload.x in [1]]",
    "loop over a name of the state": "any(1 for meta in [1])",
    "loop over many names": "[0 for (a, (b, c)) in [(1, (2, 3))]]",
    "loop over a star": "[a for a, *b in [payload['numbers']]]",
    "star arguments": "max(*payload['numbers'])",
    "double-star arguments": "max(**payload)",
    "star in a list": "[*payload['numbers'], *payload['numbers']]",
    "double star in an object": "{**payload, **payload}",
    "named argument": "max(payload['numbers'], key=len)",
    "named argument twice": "max([], default=1, key=len)",
    "await": "await payload",
    "asynchronous loop": "[x async for x in payload]",
    "yield": "(yield payload)",
    "generator alone": "(x for x in payload)",
    "generator kept": "[(x for x in payload['numbers'])]",
    "generator as a default": "max([], default=(x for x in payload['numbers']))",
    "slice with a step": "payload['numbers'][::-1]",
    "ellipsis": "...",
    "complex number": "1j * 10 ** 99",
    "object with content": "{'a': payload}",
    "set of made values": "{x + 1 for x in payload['numbers']}",
    "object comprehension": "{x: payload for x in payload['numbers']}",
    # --- changing the state
    "clear": "payload.clear()",
    "pop": "payload.pop('n')",
    "popitem": "payload.popitem()",
    "update": "payload.update({})",
    "setdefault": "payload.setdefault('x', [])",
    "append": "payload['numbers'].append(1)",
    "extend": "payload['numbers'].extend(payload['numbers'])",
    "insert": "payload['numbers'].insert(0, 1)",
    "remove": "payload['numbers'].remove(1)",
    "reverse": "payload['numbers'].reverse()",
    "sort": "payload['numbers'].sort()",
    "append of a got list": "payload.get('numbers').append(1)",
    "append in a loop": "[row['tags'].append(1) for row in payload['rows']]",
    "update of meta": "meta.update({})",
    "copy": "payload.copy()",
    "items as a set": "payload.items() | payload.items()",
    # --- numbers
    "power": "9 ** 9 ** 9",
    "power of the state": "payload['n'] ** payload['n']",
    "shift": "1 << 10 ** 9",
    "shift back": "payload['n'] >> 1",
    "product": "payload['n'] * payload['n'] * payload['n'] * payload['n'] * payload['n'] > 0",
    "sum of a growing number": "sum(n * n * n * n * 200 for n in [payload['n']] for a in payload['rows'])",
    "long literal": "9" * 900 + " > 1",
    "longer literal": "9" * 5_000 + " > 1",
    "hexadecimal literal": "0x" + "f" * 900 + " > 1",
    "round to a power": "round(7, -1000000000)",
    "infinite": "round(1e999)",
    "division by zero": "1 // 0",
    # --- long texts and lists
    "text times number": "'a' * 1000000000",
    "list times number": "[0] * 1000000000",
    "list times list": "payload['numbers'] * payload['n']",
    "text plus text": "payload['text'] + payload['text']",
    "list plus list": "payload['numbers'] + payload['numbers']",
    "upper of a long text": "payload['text'].upper()",
    "many long texts": "[payload['long'].upper() for x in payload['numbers']]",
    "many slices of a text": "[payload['long'][1:] for x in payload['numbers']]",
    "many slices of a list": "[payload['numbers'][1:] for x in payload['numbers']]",
    "many lists": "[[] for x in payload['text']]",
    "many lists in lists": "[[[[[x]]]] for x in payload['numbers']]",
    "padding": "'a'.ljust(1000000000)",
    "zeros": "'a'.zfill(1000000000)",
    "center": "'a'.center(1000000000)",
    "join": "payload['text'].join(payload['texts'])",
    "replace": "payload['text'].replace('a', payload['text'])",
    "replace of nothing": "payload['text'].replace('', payload['long'])",
    "tabs": "'\\t\\t'.expandtabs(1000000000)",
    "translate": "payload['text'].translate(payload)",
    "encode": "payload['text'].encode()",
    "split": "payload['text'].split('a')",
    # --- time
    "two loops": "all(1 for a in payload['text'] for b in payload['text'])",
    "six loops": "[0 for a in payload['numbers'] for b in payload['numbers'] for c in payload['numbers']"
    " for d in payload['numbers'] for e in payload['numbers'] for f in payload['numbers']]",
    "loops in loops": "any(any(any(0 for a in payload['text']) for b in payload['text']) for c in 'abc')",
    "list in a list": "[[a for a in payload['rows']] for b in payload['rows']]",
    "loop that finds nothing": "[1 for a in payload['numbers'] for b in payload['numbers'] if a < 0]",
    "comparing all": "sum(1 for a in payload['rows'] for b in payload['rows'] if a == b)",
    "comparing large lists": "all(payload['rows'] == payload['rows'][:] for a in payload['numbers'])",
    "comparing keys in lists": "all([w.keys()] == [w.keys()] for w in [payload['wide']] for a in w)",
    "comparing items in tuples": "all((w.items(),) == (w.items(),) for w in [payload['wide']] for a in w)",
    "finding keys": "payload['wide'].keys() in [payload['wide'].keys()]",
    "finding items": "[payload['wide'].items()].index(payload['wide'].items())",
    "counting a list": "[payload['rows'].count(row) for row in payload['rows']]",
    "finding in a list": "all(row in payload['rows'] for row in payload['rows'])",
    "finding in values": "all(n in payload['wide'].values() for n in payload['numbers'])",
    "finding in a text": "all('b' not in payload['text'] for a in payload['numbers'])",
    "finding what nearly fits": f"all('{'a' * 97}ba' not in payload['middle'] for a in payload['numbers'])",
    "counting what nearly fits": f"sum(payload['middle'].count('{'a' * 97}ba') for a in payload['numbers'])",
    "stripping by many": "all(payload['middle'].strip(payload['middle']) == '' for a in payload['numbers'])",
    "many beginnings": "all(payload['text'].startswith(payload['texts']) or 1 for a in payload['texts'])",
    "largest of all": "all(max(payload['texts']) for a in payload['numbers'])",
    "sums of sums": "sum(sum(payload['numbers']) for a in payload['numbers'])",
    # --- long and deep sources
    "parentheses": "(" * 450 + "1" + ")" * 450,
    "brackets": "[" * 300 + "]" * 300,
    "calls": "abs(" * 60 + "1" + ")" * 60,
    "subscripts": "payload" + "['a']" * 150,
    "minus": "-" * 900 + "1",
    "not": "not " * 240 + "1",
    "choices": "1 if 1 else " * 80 + "1",
    "comparisons": "1 < " * 200 + "1",
    "long sum": "1" + "+1" * 400,
    "long text": "'" + "x" * 2_000 + "'",
    "long name": "x" * 990,
    "million characters": "1 or " * 200_000 + "1",
    "NUL": "payload\x00.clear()",
    "half a character": "'\ud800' in payload['text'] or \ud800",
    "line continued": "payload\\\n.clear()",
    "comment": "payload # .clear()\n.clear()",
    "nothing": "   ",
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_expression_is_refused_in_words_and_changes_nothing(name: str) -> None:
    """When it is checked, or by the steps that an evaluation may take; it never takes much memory."""
    tracemalloc.start()
    begun = time.process_time()
    try:
        with pytest.raises(ConditionError) as caught:
            compile_condition(ATTACKS[name]).holds(STATE)
        spent = time.process_time() - begun
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000
    # A tenth of a second is usual, ten times as much while memory is traced: more than this is a hang.
    assert spent < 20
    assert STATE.to_json() == BEFORE
    message = str(caught.value)
    assert message.split("\n")[0].strip()
    assert len(message) < 400
    assert "object at 0x" not in message


def test_the_attacks_are_many_and_different() -> None:
    assert len(set(ATTACKS.values())) >= 150


@pytest.mark.parametrize(
    "name", ["comparing keys in lists", "two loops", "stripping by many", "power", "eval"]
)
def test_a_workflow_with_a_hostile_condition_ends_no_loop_and_hurts_nobody(name: str) -> None:
    """What the check lets pass is refused when it is evaluated, each time anew."""
    source = ATTACKS[name]
    try:
        condition = compile_condition(source)
    except ConditionError:
        return
    for _ in range(3):
        with pytest.raises(ConditionError):
            condition.holds(STATE)
    assert STATE.to_json() == BEFORE


# --- paths --------------------------------------------------------------------------------------------

HOSTILE_PATHS = [
    "__import__('os').system('true')",
    "payload.__class__[0]",
    "payload['x']",
    "payload[0]",
    "payload[x for x in y]",
    "payload.a[",
    "payload.a]",
    "payload..a",
    ".payload",
    "payload.",
    'payload["a',
    'payload["\\ud800"]',
    'payload["\\x41"]',
    'payload["a"]b',
    "meta.x",
    "is_complete.__class__",
    "iteration",
    "../../etc/passwd",
    "{payload}",
    "%s" * 50,
    "payload." + "[" * 100_000,
    'payload["' + "\\" * 100_001,
    "a" * 100_000,
    "." * 100_000,
    "",
    " ",
    "\x00",
]


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=range(len(HOSTILE_PATHS)))
def test_a_hostile_path_of_a_merge_rule_is_refused_in_words_when_the_workflow_is_checked(path: str) -> None:
    problem = merge_rule_problem(path, MergeRule.APPEND)
    assert problem is not None
    assert problem.endswith((".", "?"))
    assert len(problem) < 600


@pytest.mark.parametrize("key", ["tasks_from", "collect_into"])
@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=range(len(HOSTILE_PATHS)))
def test_a_hostile_path_of_a_fan_out_group_is_refused_in_words_too(
    path: str, key: str, tmp_path: Path
) -> None:
    group = {"mode": "fan_out", "agent": "a", "tasks_from": "payload.tasks", key: path}
    file = parse_workflow(json.dumps({"loop_agents": [group]}))
    problems = [
        problem
        for problem in check_workflow(file, AgentLibrary(tmp_path))
        if problem.place == f"loop_agents[0].{key}"
    ]
    assert len(problems) == 1
    assert len(problems[0].text()) < 700
    assert problems[0].line == 1


def test_paths_that_name_a_place_are_accepted(tmp_path: Path) -> None:
    group = {"mode": "fan_out", "agent": "a", "tasks_from": "payload.a.b", "collect_into": 'payload["a.b"].c'}
    file = parse_workflow(json.dumps({"loop_agents": [group]}))
    places = [problem.place for problem in check_workflow(file, AgentLibrary(tmp_path))]
    assert not [place for place in places if place.endswith(("tasks_from", "collect_into"))]
