"""End conditions in words, for cards and banners."""

from __future__ import annotations

import ast
import warnings
from functools import reduce

from core.words import say

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_LONGEST = 1_000
_DEEPEST = 20


def condition_in_words(source: str) -> str:
    """A short phrase: `payload.get('score', 0) >= 90` is `score >= 90`. Else the source. Never raises."""
    text = source.strip()
    if len(text) > _LONGEST:
        return source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return source
    return _phrase(tree.body, _DEEPEST) or text


def _phrase(node: ast.expr, depth: int) -> str | None:
    """The phrase of something that holds or does not."""
    if depth == 0:
        return None
    complete = _completion(node, depth)
    if complete is not None:
        return say("an agent says it is complete") if complete else say("no agent says it is complete")
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _phrase(operand, depth - 1)
            if inner is None or not isinstance(operand, _PLACES):
                return None
            return say("not {phrase}", phrase=inner)
        case ast.BoolOp(op=operator, values=values):
            parts = [_joined(value, operator, depth) for value in values]
            known = [part for part in parts if part is not None]
            if len(known) != len(parts):
                return None
            both = isinstance(operator, ast.And)
            return reduce(
                lambda first, second: (
                    say("{first} and {second}", first=first, second=second)
                    if both
                    else say("{first} or {second}", first=first, second=second)
                ),
                known,
            )
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _comparison(left, operator, right)
        case _:
            return _place(node)


def _completion(node: ast.expr, depth: int) -> bool | None:
    """Whether it asks for completion, or for none; None: it asks for something else."""
    match node:
        case ast.Name(id="is_complete"):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand) if depth:
            inner = _completion(operand, depth - 1)
            return None if inner is None else not inner
        case ast.Compare(
            left=ast.Name(id="is_complete"),
            ops=[ast.Eq() | ast.Is() | ast.NotEq() | ast.IsNot() as operator],
            comparators=[ast.Constant(value=bool(truth))],
        ):
            return truth is isinstance(operator, ast.Eq | ast.Is)
        case _:
            return None


def _joined(node: ast.expr, around: ast.boolop, depth: int) -> str | None:
    phrase = _phrase(node, depth - 1)
    if phrase is not None and isinstance(node, ast.BoolOp) and type(node.op) is not type(around):
        return f"({phrase})"
    return phrase


def _comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str | None:
    truth = right.value if isinstance(right, ast.Constant) and isinstance(right.value, bool) else None
    if truth is not None and isinstance(operator, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
        wanted = truth if isinstance(operator, (ast.Eq, ast.Is)) else not truth
        place = _place(left)
        return place and (place if wanted else say("not {phrase}", phrase=place))
    if isinstance(right, ast.Constant) and right.value is None and isinstance(operator, (ast.Is, ast.IsNot)):
        place = _place(left)
        if not place:
            return None
        is_empty = isinstance(operator, ast.Is)
        return say("{place} is empty", place=place) if is_empty else say("{place} is not empty", place=place)
    first, second = _value(left), _value(right)
    if not first or not second:
        return None
    if isinstance(operator, ast.In):
        return say("{first} in {second}", first=first, second=second)
    if isinstance(operator, ast.NotIn):
        return say("{first} not in {second}", first=first, second=second)
    sign = _SIGNS.get(type(operator))
    return f"{first} {sign} {second}" if sign else None


def _value(node: ast.expr) -> str | None:
    """The words of one side of a comparison."""
    match node:
        case ast.Constant(value=value):
            return f"“{value}”" if isinstance(value, str) else repr(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return f"-{value!r}"
        case ast.Name(id="phase"):
            return say("phase")
        case ast.Name(id="iteration"):
            return say("iteration")
        case ast.Name(id="termination_reason"):
            return say("reason")
        case ast.List() | ast.Tuple():
            parts = [_value(element) for element in node.elts]
            known = [part for part in parts if part]
            return ", ".join(known) if known and len(known) == len(parts) else None
        case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
            place = _place(inner)
            return place and say("number of {place}", place=place)
        case _:
            return _place(node)


_PLACES = (ast.Call, ast.Subscript)


def _place(node: ast.expr) -> str | None:
    """A place of the payload with dots: `payload['review'].get('score', 0)` is `review.score`."""
    keys: list[str] = []
    while True:
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                keys.append(key)
            case ast.Call(
                func=ast.Attribute(value=inner, attr="get"),
                args=[ast.Constant(value=str(key))] | [ast.Constant(value=str(key)), _],
                keywords=[],
            ):
                keys.append(key)
            case ast.Name(id="payload"):
                return ".".join(reversed(keys)) or None
            case _:
                return None
        node = inner
