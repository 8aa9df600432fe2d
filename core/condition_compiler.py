"""Turns the syntax tree of an end condition into closures.

What has no method here is refused. The tree is small (see `core.condition`), so recursion into it is safe.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from core import safe_calls, safe_values
from core.safe_values import ConditionError, Evaluation, Replacement
from core.words import say

Closure: TypeAlias = Callable[[Evaluation], object]

_STATE_NAMES: dict[str, Closure] = {
    "is_complete": lambda run: run.state.is_complete,
    "iteration": lambda run: run.state.iteration,
    "termination_reason": lambda run: run.state.termination_reason,
    "phase": lambda run: run.state.current_phase,
    "payload": lambda run: run.state.payload,
    "meta": lambda run: run.state.meta,
}
NAMES: tuple[str, ...] = (*_STATE_NAMES, *safe_calls.FUNCTIONS)
"""The names an expression may use, for completion and help."""

_FOREIGN_NAMES = {
    "true": "True",
    "false": "False",
    "null": "None",
    "none": "None",
    "nil": "None",
    "current_phase": "phase",
    "state": "payload",
    "loop": "iteration",
    "loops": "iteration",
    "complete": "is_complete",
}
_BINARY: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: safe_values.add,
    ast.Sub: safe_values.subtract,
    ast.Mult: safe_values.multiply,
    ast.Div: safe_values.divide,
    ast.FloorDiv: safe_values.floor_divide,
    ast.Mod: safe_values.remainder,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Evaluation, object, object], bool]] = {
    ast.Eq: safe_values.equal,
    ast.NotEq: lambda run, left, right: not safe_values.equal(run, left, right),
    ast.Lt: safe_values.less,
    ast.LtE: safe_values.less_or_equal,
    ast.Gt: lambda run, left, right: safe_values.less(run, right, left),
    ast.GtE: lambda run, left, right: safe_values.less_or_equal(run, right, left),
    ast.In: safe_values.contains,
    ast.NotIn: lambda run, item, container: not safe_values.contains(run, item, container),
    ast.Is: lambda run, left, right: left is right,
    ast.IsNot: lambda run, left, right: left is not right,
}


def _refused(kind: ast.AST) -> str:
    """What a condition may not have, in words."""
    match kind:
        case ast.Pow():
            return say("Powers (**)")
        case ast.LShift():
            return say("Shifts (<<)")
        case ast.RShift():
            return say("Shifts (>>)")
        case ast.BitAnd():
            return say("The sign & (use “and”)")
        case ast.BitOr():
            return say("The sign | (use “or”)")
        case ast.BitXor():
            return say("The sign ^")
        case ast.MatMult():
            return say("The sign @")
        case ast.Invert():
            return say("The sign ~")
        case ast.Lambda():
            return "lambda"
        case ast.JoinedStr():
            return say("Formatted texts (f'…')")
        case ast.NamedExpr():
            return say("Assignments (:=)")
        case ast.Starred():
            return say("The star (*)")
        case ast.Await():
            return "await"
        case ast.Yield() | ast.YieldFrom():
            return "yield"
        case ast.DictComp():
            return say("Object comprehensions")
        case ast.SetComp():
            return say("Set comprehensions")
        case _:
            return say("This kind of expression ({name})", name=type(kind).__name__)


class Compiler:
    """Turns a syntax tree into closures. One for each expression: it knows the loop variables in sight."""

    def __init__(self, text: str, lead: int) -> None:
        self._lines = text.splitlines()
        self._lead = lead
        self._variables: list[str] = []

    def compile(self, node: ast.expr) -> Closure:
        """The closure of one node. A kind of node that has no method here is refused."""
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.BoolOp():
                return self._bool_op(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.List() | ast.Tuple():
                return self._sequence(node)
            case ast.Set():
                return self._set(node)
            case ast.Dict():
                return self._dict(node)
            case ast.ListComp():
                items = self._loop(node)
                return lambda run: safe_values.collect(run, items(run), safe_values.ITEM_COST)
            case ast.GeneratorExp():
                raise self._refusal(
                    node, say("“… for … in …” stands alone."), say("Put it into any(), all(), sum() or [ ].")
                )
            case ast.Attribute():
                raise self._attribute(node)
            case _:
                raise self._kind_refusal(node)

    # --- leaves ---

    def _constant(self, node: ast.Constant) -> Closure:
        value = self._constant_value(node)
        return lambda run: value

    def _constant_value(self, node: ast.Constant) -> object:
        value = node.value
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise self._refusal(
                node, say("A value such as {value} is not allowed here.", value=ast.unparse(node))
            )
        if isinstance(value, int) and value.bit_length() > safe_values.MAX_BITS:
            raise self._refusal(node, say("The number is too large."))
        return value

    def _name(self, node: ast.Name) -> Closure:
        name = node.id
        if name in self._variables:
            slot = len(self._variables) - 1 - self._variables[::-1].index(name)
            return lambda run: run.variables[slot]
        if name in _STATE_NAMES:
            return _STATE_NAMES[name]
        if name in safe_calls.FUNCTIONS:
            raise self._refusal(
                node, say("“{name}” is a function.", name=name), say("Call it: {name}(…)", name=name)
            )
        raise self._unknown_name(node, name, (*NAMES, *self._variables))

    def _unknown_name(self, node: ast.AST, name: str, known: tuple[str, ...]) -> ConditionError:
        better = _FOREIGN_NAMES.get(name)
        if better is None:
            close = difflib.get_close_matches(name, known, 1)
            better = close[0] if close else None
        suggestion = (
            say("Did you mean “{better}”?", better=better)
            if better
            else say("What agents wrote is in payload.get('{name}').", name=name)
        )
        instead = better or f"payload.get({name!r})"
        if name.startswith("_") or len(name) > 40:
            suggestion = instead = ""
        message = say("There is no name “{name}” in an end condition.", name=name[:40])
        # Of a call, only the name is another one, and only where there is one like it.
        place = node.func if isinstance(node, ast.Call) else node
        return self._refusal(node, message, suggestion, place, instead if better or place is node else "")

    # --- operators ---

    def _bool_op(self, node: ast.BoolOp) -> Closure:
        parts = [self.compile(value) for value in node.values]
        if isinstance(node.op, ast.And):

            def every(run: Evaluation) -> object:
                value: object = True
                for part in parts:
                    value = part(run)
                    if not value:
                        break
                return value

            return every

        def either(run: Evaluation) -> object:
            value: object = False
            for part in parts:
                value = part(run)
                if value:
                    break
            return value

        return either

    def _unary(self, node: ast.UnaryOp) -> Closure:
        operand = self.compile(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda run: not operand(run)
        if isinstance(node.op, ast.USub):
            return lambda run: safe_values.subtract(0, operand(run))
        if isinstance(node.op, ast.UAdd):
            return lambda run: safe_values.add(0, operand(run))
        raise self._kind_refusal(node.op, node)

    def _binary(self, node: ast.BinOp) -> Closure:
        operation = _BINARY.get(type(node.op))
        if operation is None:
            raise self._kind_refusal(node.op, node)
        left, right = self.compile(node.left), self.compile(node.right)
        return lambda run: operation(left(run), right(run))

    def _compare(self, node: ast.Compare) -> Closure:
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, (ast.Is, ast.IsNot)) and not self._is_singleton(right):
                raise self._refusal(
                    right, say("“is” only works with None, True and False."), say("Use “==” to compare.")
                )
        first = self.compile(node.left)
        operations = [_COMPARISONS[type(operator)] for operator in node.ops]
        others = [self.compile(comparator) for comparator in node.comparators]
        if len(operations) == 1:
            operation, second = operations[0], others[0]
            return lambda run: operation(run, first(run), second(run))
        links = list(zip(operations, others, strict=True))

        def chain(run: Evaluation) -> object:
            left = first(run)
            for link, other in links:
                right = other(run)
                if not link(run, left, right):
                    return False
                left = right
            return True

        return chain

    @staticmethod
    def _is_singleton(node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))

    def _choice(self, node: ast.IfExp) -> Closure:
        test, then, otherwise = self.compile(node.test), self.compile(node.body), self.compile(node.orelse)
        return lambda run: then(run) if test(run) else otherwise(run)

    # --- parts of values ---

    def _subscript(self, node: ast.Subscript) -> Closure:
        value = self.compile(node.value)
        name = ast.unparse(node.value)[:60]
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                raise self._refusal(
                    node.slice, say("A slice with a step is not allowed."), say("Use [from:to].")
                )
            lower = self.compile(node.slice.lower) if node.slice.lower else None
            upper = self.compile(node.slice.upper) if node.slice.upper else None
            return lambda run: safe_values.part(
                run, value(run), lower(run) if lower else None, upper(run) if upper else None
            )
        key = self.compile(node.slice)
        return lambda run: safe_values.item(value(run), key(run), name)

    def _attribute(self, node: ast.Attribute) -> ConditionError:
        if node.attr.startswith("_"):
            return self._refusal(node, say("“.{attr}” is not allowed.", attr=node.attr[:40]))
        whole = ast.unparse(node.value)[:60]
        if node.attr in safe_calls.METHODS:
            return self._refusal(
                node,
                say("“.{attr}” must be called.", attr=node.attr),
                say("Write {whole}.{attr}(…)", whole=whole, attr=node.attr),
            )
        message = say("“.{attr}” is not allowed.", attr=node.attr[:40])
        suggestion = say("Write {whole}.get('{attr}')", whole=whole, attr=node.attr[:40])
        is_short = len(node.attr) <= 40 and isinstance(node.value, (ast.Name, ast.Attribute))
        instead = f"{ast.unparse(node.value)}.get({node.attr!r})" if is_short else ""
        return self._refusal(node, message, suggestion, node, instead)

    # --- calls ---

    def _call(self, node: ast.Call) -> Closure:
        if isinstance(node.func, ast.Attribute):
            return self._method_call(node, node.func)
        if not isinstance(node.func, ast.Name):
            raise self._refusal(node, say("Only functions and methods with a name can be called."))
        name = node.func.id
        function = safe_calls.FUNCTIONS.get(name)
        if function is None or name in self._variables:
            if name in _STATE_NAMES or name in self._variables:
                raise self._refusal(
                    node,
                    say("“{name}” is a value and cannot be called.", name=name),
                    say("Write {name} without ( ).", name=name),
                )
            raise self._unknown_name(node, name, tuple(safe_calls.FUNCTIONS))
        default = self._default(node, name)
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            if name not in safe_calls.ITERATING:
                raise self._refusal(
                    node,
                    say("“{name}” needs a value, not “… for … in …”.", name=name),
                    say("Put it into [ ]."),
                )
            items = self._loop(node.args[0])
            return lambda run: function(run, [items(run)], default(run) if default else safe_values.NOTHING)
        arguments = [self.compile(argument) for argument in node.args]
        fewest, most = safe_calls.ARGUMENTS[name]
        if not fewest <= len(arguments) <= most:
            raise self._refusal(
                node,
                say("“{name}” cannot take {count} values in ( ).", name=name, count=len(arguments)),
            )
        if default is None:
            return lambda run: function(run, [argument(run) for argument in arguments], safe_values.NOTHING)
        return lambda run: function(run, [argument(run) for argument in arguments], default(run))

    def _default(self, node: ast.Call, name: str) -> Closure | None:
        """The value of `default=`, which max and min may have."""
        if not node.keywords:
            return None
        keyword = node.keywords[0]
        if name not in ("max", "min") or keyword.arg != "default" or len(node.keywords) > 1:
            raise self._refusal(node, say("“{name}” takes no named values here.", name=name))
        return self.compile(keyword.value)

    def _method_call(self, node: ast.Call, func: ast.Attribute) -> Closure:
        name = func.attr
        if name not in safe_calls.METHODS:
            close = difflib.get_close_matches(name, safe_calls.METHODS, 1)
            suggestion = (
                say("Did you mean “.{method}()”?", method=close[0])
                if close and not name.startswith("_")
                else ""
            )
            raise self._refusal(
                node, say("The method “.{name}()” is not allowed.", name=name[:40]), suggestion
            )
        if node.keywords:
            raise self._refusal(node, say("“.{name}()” takes no named values here.", name=name))
        owner = self.compile(func.value)
        arguments = [self.compile(argument) for argument in node.args]
        whole = ast.unparse(func.value)[:60]
        if name == "get" and len(arguments) == 2:
            # By far the most used expression: worth a way of its own.
            key, fallback = arguments
            return lambda run: safe_calls.get(owner(run), key(run), fallback(run), whole)
        return lambda run: safe_calls.call_method(
            run, owner(run), name, [argument(run) for argument in arguments], whole
        )

    # --- collections ---

    def _sequence(self, node: ast.List | ast.Tuple) -> Closure:
        parts = [self.compile(element) for element in node.elts]
        if isinstance(node, ast.Tuple):
            return lambda run: tuple(safe_values.collect(run, (p(run) for p in parts), safe_values.ITEM_COST))
        return lambda run: safe_values.collect(run, (p(run) for p in parts), safe_values.ITEM_COST)

    def _set(self, node: ast.Set) -> Closure:
        values: list[object] = []
        for element in node.elts:
            if not isinstance(element, ast.Constant):
                raise self._refusal(
                    element, say("A set may only hold fixed values."), say("Use a list: [ ].")
                )
            values.append(self._constant_value(element))
        members = tuple(values)
        return lambda run: members

    def _dict(self, node: ast.Dict) -> Closure:
        if node.keys:
            raise self._refusal(node, say("Only an empty object { } is allowed here."))

        def empty(run: Evaluation) -> object:
            run.pay(safe_values.ITEM_COST)
            return {}

        return empty

    def _loop(self, node: ast.ListComp | ast.GeneratorExp) -> Callable[[Evaluation], Iterator[object]]:
        """The items of `element for target in iterable if test …`, as they are asked for."""
        before = len(self._variables)
        levels: list[tuple[Closure, tuple[int, ...], bool, list[Closure]]] = []
        for generator in node.generators:
            if generator.is_async:
                raise self._refusal(node, say("async is not allowed."))
            iterable = self.compile(generator.iter)
            names = self._targets(generator.target)
            slots = tuple(range(len(self._variables), len(self._variables) + len(names)))
            self._variables.extend(names)
            unpack = isinstance(generator.target, ast.Tuple)
            levels.append((iterable, slots, unpack, [self.compile(test) for test in generator.ifs]))
        element = self.compile(node.elt)
        # What one round costs: its nodes; paid before it is done.
        cost = sum(1 for _ in ast.walk(node))
        del self._variables[before:]

        def rounds(run: Evaluation, number: int) -> Iterator[object]:
            iterable, slots, unpack, tests = levels[number]
            for value in safe_values.iterate(iterable(run)):
                run.pay(cost)
                run.assign(slots, value, unpack=unpack)
                if all(test(run) for test in tests):
                    if number + 1 < len(levels):
                        yield from rounds(run, number + 1)
                    else:
                        yield element(run)

        return lambda run: rounds(run, 0)

    def _targets(self, target: ast.expr) -> list[str]:
        nodes = target.elts if isinstance(target, ast.Tuple) else [target]
        names: list[str] = []
        for node in nodes:
            if not isinstance(node, ast.Name):
                raise self._refusal(node, say("A loop variable must be a name."))
            if node.id in NAMES or node.id.startswith("__"):
                raise self._refusal(
                    node,
                    say("“{name}” cannot be a loop variable.", name=node.id[:40]),
                    say("Use another name."),
                )
            names.append(node.id)
        return names

    # --- refusing ---

    def _kind_refusal(self, kind: ast.AST, place: ast.AST | None = None) -> ConditionError:
        words = _refused(kind)
        return self._refusal(place or kind, say("{words} cannot be used in an end condition.", words=words))

    def _refusal(
        self,
        node: ast.AST,
        message: str,
        suggestion: str = "",
        place: ast.AST | None = None,
        instead: str = "",
    ) -> ConditionError:
        """The error at a node. `instead`: what to write where `place` stands; empty: that is not certain."""
        line, offset = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        column: int | None = None
        if line == 1 and self._lines:
            # Python counts bytes, people count characters.
            column = len(self._lines[0].encode()[:offset].decode(errors="ignore")) + 1 + self._lead
        return ConditionError(message, column, suggestion, self._replacement(place, instead))

    def _replacement(self, place: ast.AST | None, text: str) -> Replacement | None:
        start, end = getattr(place, "col_offset", None), getattr(place, "end_col_offset", None)
        if not text or start is None or end is None or len(self._lines) != 1:
            return None
        line = self._lines[0].encode()
        begin, stop = (len(line[:at].decode(errors="ignore")) + self._lead for at in (start, end))
        return Replacement(begin, stop, text)
