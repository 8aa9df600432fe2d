"""What an end condition can come to, before any run: true, false or both.

What is not certain counts as possible, so that nobody is warned of a loop that does end.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

MOST_LOOPS = 1_000_000
"""As many as a workflow may have."""

Truths: TypeAlias = frozenset[bool]
"""What an expression can come to, taken as true or false."""
_EITHER: Truths = frozenset({True, False})


class _Unknown:
    """The type of `_UNKNOWN`: a value that only a run can tell."""


_UNKNOWN = _Unknown()
Constant: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class World:
    """What can happen in a loop. `missing`: keys of the payload that nobody writes."""

    somebody_completes: bool = True
    most_loops: int = MOST_LOOPS
    missing: frozenset[str] = frozenset()


def parsed(source: str) -> ast.expr | None:
    """The tree of a condition; None where it is no expression. Conditions that compile are small."""
    # Here, because compiling conditions is not needed to read files.
    from core.condition import ConditionError, compile_condition

    try:
        compile_condition(source)
    except ConditionError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source.strip(), mode="eval").body


def names_in(tree: ast.expr) -> set[str]:
    """The names that a condition uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def payload_keys(tree: ast.expr) -> list[str]:
    """The outermost keys of the payload that a condition asks for, each once."""
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        place = _payload_key(node)
        if place is not None:
            found[place[0]] = None
    return list(found)


def _payload_key(node: ast.AST) -> tuple[str, Constant | _Unknown] | None:
    """The key that `payload.get('key', default)` or `payload['key']` asks for, and what there is without it.

    `_UNKNOWN`: that a missing key is an error, or a default that is no constant.
    """
    match node:
        case ast.Subscript(value=ast.Name(id="payload"), slice=ast.Constant(value=str(key))):
            return key, _UNKNOWN
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="payload"), attr="get"), args=[ast.Constant(value=str(key))]
        ):
            return key, None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="payload"), attr="get"),
            args=[ast.Constant(value=str(key)), default],
        ):
            return key, _constant(default)
    return None


def _constant(node: ast.expr) -> Constant | _Unknown:
    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None):
            return node.value  # type: ignore[return-value]  # as the pattern says
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return _UNKNOWN


def truths(node: ast.expr, world: World) -> Truths:
    """Whether an expression can be true, false, or both. The depth of a condition is bounded."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return frozenset(not truth for truth in truths(operand, world))
        case ast.BoolOp(op=ast.And(), values=values):
            return _all_of([truths(value, world) for value in values])
        case ast.BoolOp(op=ast.Or(), values=values):
            negated = [frozenset(not truth for truth in truths(value, world)) for value in values]
            return frozenset(not truth for truth in _all_of(negated))
        case ast.Compare(left=left, ops=operators, comparators=rights):
            sides = [left, *rights]
            return _all_of(
                [
                    _comparison(one, sign, other, world)
                    for one, sign, other in zip(sides, operators, rights, strict=False)
                ]
            )
        case ast.Name(id="is_complete"):
            return _EITHER if world.somebody_completes else frozenset({False})
        case ast.Name(id="iteration" | "phase"):
            return frozenset({True})
    value = _value(node, world)
    return _EITHER if isinstance(value, _Unknown) else frozenset({bool(value)})


def _all_of(parts: list[Truths]) -> Truths:
    can_hold = all(True in part for part in parts)
    can_fail = any(False in part for part in parts)
    return frozenset(truth for truth, can in ((True, can_hold), (False, can_fail)) if can)


def _value(node: ast.expr, world: World) -> Constant | _Unknown:
    """What an expression is, where that is certain."""
    asked = _payload_key(node)
    if asked is not None and asked[0] in world.missing:
        return asked[1]
    if isinstance(node, ast.Name) and node.id == "phase":
        return "loop"
    if isinstance(node, ast.Name) and node.id == "is_complete" and not world.somebody_completes:
        return False
    return _constant(node)


_COMPARE: Mapping[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_ORDER: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_MIRRORED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def _comparison(left: ast.expr, sign: ast.cmpop, right: ast.expr, world: World) -> Truths:
    kind = type(sign)
    for one, other, compared in ((left, right, kind), (right, left, _MIRRORED.get(kind, kind))):
        number = _value(other, world)
        if isinstance(one, ast.Name) and one.id == "iteration" and type(number) in (int, float):
            assert isinstance(number, int | float)
            return _of_iteration(compared, number, world.most_loops)
    first, second = _value(left, world), _value(right, world)
    if _asks_in_vain(left, world) or _asks_in_vain(right, world):
        # payload['key'] where there is none: such a condition counts as not fulfilled.
        return frozenset({False})
    if isinstance(first, _Unknown) or isinstance(second, _Unknown):
        return _EITHER
    if kind in _COMPARE:
        same_kind = isinstance(first, bool) is isinstance(second, bool)
        if kind in (ast.Eq, ast.NotEq) and not same_kind:
            # 1 is not True here, unlike in Python.
            return frozenset({kind is ast.NotEq})
        return frozenset({_COMPARE[kind](first, second)})
    if kind in _ORDER:
        if type(first) in (int, float) and type(second) in (int, float):
            assert isinstance(first, int | float)
            assert isinstance(second, int | float)
            return frozenset({_ORDER[kind](first, second)})
        if first is None or second is None:
            # A comparison that cannot be made counts as not fulfilled.
            return frozenset({False})
    return _EITHER


def _asks_in_vain(node: ast.expr, world: World) -> bool:
    asked = _payload_key(node)
    return isinstance(node, ast.Subscript) and asked is not None and asked[0] in world.missing


def _of_iteration(kind: type[ast.cmpop], number: float, most: int) -> Truths:
    """`iteration` compared with a number; it is every whole number from 1 to `most`."""
    if kind in (ast.Eq, ast.Is):
        inside = 1 <= number <= most and number == int(number)
        return _possible(inside, not inside or most > 1)
    if kind in (ast.NotEq, ast.IsNot):
        return frozenset(not truth for truth in _of_iteration(ast.Eq, number, most))
    if kind not in _ORDER:
        return _EITHER
    ends = (_ORDER[kind](1, number), _ORDER[kind](most, number))
    return frozenset(ends)


def _possible(can_hold: bool, can_fail: bool) -> Truths:
    return frozenset(truth for truth, can in ((True, can_hold), (False, can_fail)) if can)
