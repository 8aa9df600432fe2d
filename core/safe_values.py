"""What an end condition may do with values, each operation within bounds.

The values are those of JSON, tuples, and the views of an object's keys, values and items. Operations whose
cost depends on the values pay for it from the evaluation's budget first; those that could build something
large are refused. Nothing here changes a value.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TypeAlias

from core.state import WorkflowState

BUDGET = 300_000
"""Steps of one evaluation; a step is about what one node of an expression costs (0.1 µs to 0.3 µs)."""
ITEM_COST = 12
"""Steps for an item of a new list: it takes memory, not only time."""
MAX_BITS = 256
"""Of whole numbers."""
MAX_TEXT = 100_000
"""Characters of texts that are made (`lower`, slices)."""


class ConditionError(Exception):
    """An end condition cannot be used, or cannot be evaluated for this state.

    `message` says why in a sentence; `column` counts characters from 1 (None: no place); `suggestion` says
    what to write instead, or is empty.
    """

    def __init__(self, message: str, column: int | None = None, suggestion: str = "") -> None:
        super().__init__(f"{message} {suggestion}".strip())
        self.message = message
        self.column = column
        self.suggestion = suggestion


class _Nothing:
    """The type of NOTHING: no value was given, which is not the same as None."""


NOTHING = _Nothing()


class Evaluation:
    """One evaluation: the state, the loop variables, and the steps that are left."""

    __slots__ = ("state", "steps", "variables")

    def __init__(self, state: WorkflowState) -> None:
        self.state = state
        self.steps = BUDGET
        self.variables: list[object] = []

    def pay(self, steps: int) -> None:
        """Take steps from the budget. Raises ConditionError when there are none left."""
        self.steps -= steps
        if self.steps < 0:
            raise ConditionError(
                "The end condition takes too long for this state.",
                suggestion="Let an agent count, and compare its result.",
            )

    def assign(self, slots: tuple[int, ...], value: object, *, unpack: bool) -> None:
        """Give a loop's variables their values for the next round."""
        values: Iterable[object] = (value,)
        if unpack:
            if type(value) not in (list, tuple) or len(value) != len(slots):  # type: ignore[arg-type]
                raise ConditionError(f"{describe(value)} cannot be taken apart into {len(slots)} variables.")
            values = value  # type: ignore[assignment]
        while len(self.variables) <= slots[-1]:
            self.variables.append(None)
        for slot, part_value in zip(slots, values, strict=True):
            self.variables[slot] = part_value


_NO_MEMBERS: dict[str, object] = {}
_CONTAINERS = frozenset({list, tuple, dict})
_VIEWS: frozenset[type] = frozenset(
    {type(_NO_MEMBERS.keys()), type(_NO_MEMBERS.values()), type(_NO_MEMBERS.items())}
)
_NUMBERS = frozenset({int, float, bool})


def describe(value: object) -> str:
    """A value for a message: what it is, and what it says if it is short."""
    kind = type(value)
    if value is None:
        return "nothing (null)"
    if kind is bool or kind is float or kind is int:
        return str(value)[:40]
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else "a list of an object's parts"


# --- numbers ------------------------------------------------------------------------------------------


def _number(value: object, sign: str) -> int | float:
    if type(value) in _NUMBERS:
        return value  # type: ignore[return-value]
    advice = "Use payload.get('name', 0) if it may be missing." if value is None else ""
    raise ConditionError(f"`{sign}` needs numbers, but got {describe(value)}.", suggestion=advice)


def _bounded(value: int | float) -> int | float:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ConditionError("A number became too large.")
    return value


def add(left: object, right: object) -> object:
    """left + right, numbers only."""
    return _bounded(_number(left, "+") + _number(right, "+"))


def subtract(left: object, right: object) -> object:
    """left - right, numbers only."""
    return _bounded(_number(left, "-") - _number(right, "-"))


def multiply(left: object, right: object) -> object:
    """left * right, numbers only."""
    return _bounded(_number(left, "*") * _number(right, "*"))


def _divisor(value: object, sign: str) -> int | float:
    number = _number(value, sign)
    if number == 0:
        raise ConditionError("The end condition divides by zero.")
    return number


def divide(left: object, right: object) -> object:
    """left / right, numbers only."""
    return _number(left, "/") / _divisor(right, "/")


def floor_divide(left: object, right: object) -> object:
    """left // right, numbers only."""
    return _number(left, "//") // _divisor(right, "//")


def remainder(left: object, right: object) -> object:
    """left % right, numbers only: never formatting."""
    return _number(left, "%") % _divisor(right, "%")


# --- comparisons --------------------------------------------------------------------------------------


def equal(run: Evaluation, left: object, right: object) -> bool:
    """left == right. Lists and objects of the same length are paid for by their size, to any depth."""
    left_kind, right_kind = type(left), type(right)
    if left_kind is str and right_kind is str:
        run.pay(len(left) >> 6)  # type: ignore[arg-type]
    elif left_kind in _CONTAINERS and right_kind in _CONTAINERS:
        if left_kind is not right_kind or len(left) != len(right):  # type: ignore[arg-type]
            return False
        _pay_for_all(run, left)
    elif left_kind in _VIEWS or right_kind in _VIEWS:
        raise ConditionError("An object's keys, values and items cannot be compared as a whole.")
    return left == right


def _pay_for_all(run: Evaluation, value: object) -> None:
    """Pay for everything inside a value; without recursion, and no longer than the budget lasts."""
    waiting: list[object] = [value]
    while waiting:
        inner = waiting.pop()
        kind = type(inner)
        if kind in _CONTAINERS:
            run.pay(1 + 2 * len(inner))  # type: ignore[arg-type]
            waiting.extend(inner.values() if isinstance(inner, dict) else inner)  # type: ignore[arg-type]
        elif isinstance(inner, str):
            run.pay(len(inner) >> 6)


def _check_order(run: Evaluation, left: object, right: object) -> None:
    if type(left) is str and type(right) is str:
        run.pay(len(left) >> 6)
        return
    for value in (left, right):
        if type(value) not in _NUMBERS:
            advice = "Use payload.get('name', 0) if it may be missing." if None in (left, right) else ""
            raise ConditionError(
                f"{_capital(describe(left))} and {describe(right)} cannot be compared by size.",
                suggestion=advice,
            )


def less(run: Evaluation, left: object, right: object) -> bool:
    """left < right, for two numbers or two texts."""
    if type(left) not in _NUMBERS or type(right) not in _NUMBERS:
        _check_order(run, left, right)
    return left < right  # type: ignore[operator, no-any-return]


def less_or_equal(run: Evaluation, left: object, right: object) -> bool:
    """left <= right, for two numbers or two texts."""
    if type(left) not in _NUMBERS or type(right) not in _NUMBERS:
        _check_order(run, left, right)
    return left <= right  # type: ignore[operator, no-any-return]


def contains(run: Evaluation, item_sought: object, container: object) -> bool:
    """item in container, for lists, objects (their keys) and texts."""
    if isinstance(container, (dict, KeysView)):
        return _as_key(item_sought) in container
    if isinstance(container, str):
        if not isinstance(item_sought, str):
            raise ConditionError(f"Only a text can be in a text, not {describe(item_sought)}.")
        run.pay(len(container) >> 6)
        return item_sought in container
    if isinstance(container, (list, tuple, ValuesView)):
        run.pay(len(container) * _cost_to_compare(run, item_sought) >> 2)
        return item_sought in container
    raise ConditionError(f"Nothing can be in {describe(container)}.", suggestion=_advice_for(container))


def _cost_to_compare(run: Evaluation, value: object) -> int:
    """Steps that one comparison with the value may cost."""
    if isinstance(value, str):
        return 1 + (len(value) >> 6)
    if type(value) in _CONTAINERS:
        before = run.steps
        _pay_for_all(run, value)
        return 1 + before - run.steps
    return 1


def _as_key(key: object) -> str | int | float | bool | None:
    if key is None or isinstance(key, (str, int, float)):
        return key
    raise ConditionError(f"{_capital(describe(key))} cannot be a key of an object.")


def _advice_for(value: object) -> str:
    return "Use payload.get('name', []) if it may be missing." if value is None else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- parts of values ----------------------------------------------------------------------------------


def item(value: object, key: object, name: str) -> object:
    """value[key]; `name` is the expression of the value, for messages."""
    if isinstance(value, dict):
        try:
            return value[_as_key(key)]
        except KeyError:
            raise ConditionError(
                f"{name} has no {str(key)[:40]!r}.",
                suggestion=f"Use {name}.get({str(key)[:40]!r}, 0) instead.",
            ) from None
    if isinstance(value, (list, tuple, str)):
        if type(key) is not int:
            raise ConditionError(f"A place in {name} is a whole number, not {describe(key)}.")
        if not -len(value) <= key < len(value):
            raise ConditionError(f"{name} has {len(value)} entries, so there is no [{key}].")
        return value[key]
    raise ConditionError(f"{name} is {describe(value)} and has no parts.", suggestion=_advice_for(value))


def part(run: Evaluation, value: object, lower: object, upper: object) -> object:
    """value[lower:upper] of a list or a text."""
    if not isinstance(value, (list, tuple, str)):
        raise ConditionError(f"A slice needs a list or a text, not {describe(value)}.")
    for bound in (lower, upper):
        if bound is not None and type(bound) is not int:
            raise ConditionError(f"A slice needs whole numbers, not {describe(bound)}.")
    begin, end, _ = slice(lower, upper).indices(len(value))
    length = max(end - begin, 0)
    if isinstance(value, str):
        _pay_for_text(run, length)
        return value[begin:end]
    run.pay(length * ITEM_COST)
    return value[begin:end]


def _pay_for_text(run: Evaluation, length: int) -> None:
    if length > MAX_TEXT:
        raise ConditionError(f"A text of {length} characters is too long for an end condition.")
    run.pay(1 + (length >> 2))


def iterate(value: object) -> Iterable[object]:
    """What a loop goes over."""
    if isinstance(value, (list, tuple, dict, str, KeysView, ValuesView, ItemsView)):
        return value
    raise ConditionError(
        f"{_capital(describe(value))} has no entries to go through.", suggestion=_advice_for(value)
    )


def collect(run: Evaluation, items: Iterable[object], cost: int) -> list[object]:
    """The items as a list, paid for one by one."""
    collected: list[object] = []
    for value in items:
        run.pay(cost)
        collected.append(value)
    return collected


# --- functions ----------------------------------------------------------------------------------------

_Function: TypeAlias = Callable[[Evaluation, list[object], object], object]


def _entries(run: Evaluation, value: object) -> Iterator[object]:
    """The entries of an argument: a loop pays for itself, everything else by its length."""
    if isinstance(value, Iterator):
        yield from value
        return
    for entry in iterate(value):
        run.pay(1)
        yield entry


def _len(run: Evaluation, values: list[object], default: object) -> object:
    value = values[0]
    if isinstance(value, (list, tuple, dict, str, KeysView, ValuesView, ItemsView)):
        return len(value)
    raise ConditionError(
        f"len() needs a list, an object or a text, not {describe(value)}.", None, _advice_for(value)
    )


def _extreme(name: str, is_better: Callable[[Evaluation, object, object], bool]) -> _Function:
    def extreme(run: Evaluation, values: list[object], default: object) -> object:
        best: object = NOTHING
        for value in _entries(run, values[0] if len(values) == 1 else values):
            if best is NOTHING:
                less(run, value, value)  # Refuses what has no order, also when it is alone.
                best = value
            elif is_better(run, value, best):
                best = value
        if best is not NOTHING:
            return best
        if default is not NOTHING:
            return default
        raise ConditionError(f"{name}() of nothing has no value.", None, f"Write {name}(…, default=0)")

    return extreme


def _sum(run: Evaluation, values: list[object], default: object) -> object:
    total: object = add(0, values[1]) if len(values) == 2 else 0
    for value in _entries(run, values[0]):
        total = add(total, value)
    return total


def _any(run: Evaluation, values: list[object], default: object) -> object:
    return any(_entries(run, values[0]))


def _all(run: Evaluation, values: list[object], default: object) -> object:
    return all(_entries(run, values[0]))


def _abs(run: Evaluation, values: list[object], default: object) -> object:
    return abs(_number(values[0], "abs"))


def _round(run: Evaluation, values: list[object], default: object) -> object:
    number = _number(values[0], "round")
    if len(values) == 1 or values[1] is None:
        return _bounded(round(number))
    digits = values[1]
    if type(digits) is not int or not -30 <= digits <= 30:
        raise ConditionError("round() takes a number of digits from -30 to 30.")
    return round(number, digits)


FUNCTIONS: Mapping[str, _Function] = {
    "len": _len,
    "min": _extreme("min", less),
    "max": _extreme("max", lambda run, value, best: less(run, best, value)),
    "sum": _sum,
    "any": _any,
    "all": _all,
    "abs": _abs,
    "round": _round,
}
"""The functions of an end condition: (evaluation, arguments, default or NOTHING) -> value."""
ARGUMENTS: Mapping[str, tuple[int, int]] = {
    "len": (1, 1),
    "min": (1, 50),
    "max": (1, 50),
    "sum": (1, 2),
    "any": (1, 1),
    "all": (1, 1),
    "abs": (1, 1),
    "round": (1, 2),
}
"""How many arguments each takes: fewest, most."""
ITERATING = frozenset({"min", "max", "sum", "any", "all"})
"""Functions that take `… for … in …`."""


# --- methods ------------------------------------------------------------------------------------------


def get(owner: object, key: object, default: object, name: str) -> object:
    """owner.get(key, default)."""
    if type(owner) is dict:
        return owner.get(key if type(key) is str else _as_key(key), default)
    raise _no_method(owner, "get", name)


def _no_method(owner: object, method: str, name: str) -> ConditionError:
    advice = f"Write {name[:-1]}, {{}}).{method}(…) if it may be missing." if name.endswith("')") else ""
    return ConditionError(
        f"{name} is {describe(owner)} and has no .{method}().", None, advice if owner is None else ""
    )


def _text(value: object, method: str) -> str:
    if isinstance(value, str):
        return value
    raise ConditionError(f".{method}() needs a text, not {describe(value)}.")


def _call_text(run: Evaluation, owner: str, method: str, values: list[object]) -> object:
    if method in ("lower", "upper", "strip", "lstrip", "rstrip"):
        if len(values) > (1 if method.endswith("strip") else 0):
            raise ConditionError(f".{method}() got too many values.")
        characters = _text(values[0], method) if values else None
        _pay_for_text(run, len(owner) + len(characters or ""))
        if method in ("lower", "upper"):
            return owner.lower() if method == "lower" else owner.upper()
        left = owner if method == "rstrip" else owner.lstrip(characters)
        return left if method == "lstrip" else left.rstrip(characters)
    if len(values) != 1:
        raise ConditionError(f".{method}() needs one text.")
    if method in ("startswith", "endswith"):
        sought = values[0] if isinstance(values[0], (tuple, list)) else (values[0],)
        texts = tuple(_text(value, method) for value in sought)
        run.pay(sum(1 + (len(text) >> 6) for text in texts))
        return owner.startswith(texts) if method == "startswith" else owner.endswith(texts)
    sought_text = _text(values[0], method)
    run.pay(1 + (len(owner) >> 6))
    return owner.count(sought_text) if method == "count" else owner.find(sought_text)


def _call_list(run: Evaluation, owner: list[object], method: str, values: list[object]) -> object:
    if len(values) != 1:
        raise ConditionError(f".{method}() needs one value.")
    run.pay(len(owner) * _cost_to_compare(run, values[0]) >> 2)
    if method == "count":
        return owner.count(values[0])
    try:
        return owner.index(values[0])
    except ValueError:
        raise ConditionError(
            f"The list does not have {describe(values[0])}.", None, "Use `in` first."
        ) from None


def _call_dict(owner: dict[str, object], method: str, values: list[object]) -> object:
    if method == "get":
        if len(values) not in (1, 2):
            raise ConditionError(".get() needs a key, and may have a value for when it is missing.")
        return get(owner, values[0], values[1] if len(values) == 2 else None, "")
    if values:
        raise ConditionError(f".{method}() takes no values.")
    if method == "keys":
        return owner.keys()
    return owner.values() if method == "values" else owner.items()


_TEXT_METHODS = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith", "count", "find"}
)
_LIST_METHODS = frozenset({"count", "index"})
_DICT_METHODS = frozenset({"get", "keys", "values", "items"})
METHODS = _TEXT_METHODS | _LIST_METHODS | _DICT_METHODS
"""The methods that may be called, each only on the exact type it belongs to."""


def call_method(run: Evaluation, owner: object, method: str, values: list[object], name: str) -> object:
    """owner.method(values); `name` is the expression of the owner, for messages."""
    if isinstance(owner, dict) and method in _DICT_METHODS:
        return _call_dict(owner, method, values)
    if isinstance(owner, str) and method in _TEXT_METHODS:
        return _call_text(run, owner, method, values)
    if isinstance(owner, list) and method in _LIST_METHODS:
        return _call_list(run, owner, method, values)
    raise _no_method(owner, method, name)
