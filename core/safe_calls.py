"""The functions and methods that an end condition may call, bounded like all of `core.safe_values`."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TypeAlias

from core.safe_values import (
    NOTHING,
    ConditionError,
    Evaluation,
    add,
    advice_for,
    as_key,
    as_number,
    bounded,
    cost_to_compare,
    describe,
    iterate,
    less,
    pay_for_text,
    pay_to_search,
)
from core.words import say

_MOST_STRIPPED = 40
"""Characters that `strip` may be given: each place of the text is compared with all of them."""

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
        say("len() needs a list, an object or a text, not {value}.", value=describe(value)),
        None,
        advice_for(value),
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
        raise ConditionError(
            say("{name}() of nothing has no value.", name=name),
            None,
            say("Write {name}(…, default=0)", name=name),
        )

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
    return abs(as_number(values[0], "abs"))


def _round(run: Evaluation, values: list[object], default: object) -> object:
    number = as_number(values[0], "round")
    if len(values) == 1 or values[1] is None:
        return bounded(round(number))
    digits = values[1]
    if type(digits) is not int or not -30 <= digits <= 30:
        raise ConditionError(say("round() takes a number of digits from -30 to 30."))
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
        return owner.get(key if type(key) is str else as_key(key), default)
    raise _no_method(owner, "get", name)


def _no_method(owner: object, method: str, name: str) -> ConditionError:
    advice = (
        say("Write {name}, {{}}).{method}(…) if it may be missing.", name=name[:-1], method=method)
        if name.endswith("')")
        else ""
    )
    return ConditionError(
        say("{name} is {value} and has no .{method}().", name=name, value=describe(owner), method=method),
        None,
        advice if owner is None else "",
    )


def _text(value: object, method: str) -> str:
    if isinstance(value, str):
        return value
    raise ConditionError(say(".{method}() needs a text, not {value}.", method=method, value=describe(value)))


def _call_text(run: Evaluation, owner: str, method: str, values: list[object]) -> object:
    if method in ("lower", "upper", "strip", "lstrip", "rstrip"):
        if len(values) > (1 if method.endswith("strip") else 0):
            raise ConditionError(say(".{method}() got too many values.", method=method))
        characters = _text(values[0], method) if values else None
        if characters is not None and len(characters) > _MOST_STRIPPED:
            raise ConditionError(
                say(
                    ".{method}() takes at most {count} characters.",
                    method=method,
                    count=_MOST_STRIPPED,
                )
            )
        pay_for_text(run, len(owner))
        if method in ("lower", "upper"):
            return owner.lower() if method == "lower" else owner.upper()
        left = owner if method == "rstrip" else owner.lstrip(characters)
        return left if method == "lstrip" else left.rstrip(characters)
    if len(values) != 1:
        raise ConditionError(say(".{method}() needs one text.", method=method))
    if method in ("startswith", "endswith"):
        sought = values[0] if isinstance(values[0], (tuple, list)) else (values[0],)
        texts = tuple(_text(value, method) for value in sought)
        run.pay(sum(1 + (len(text) >> 6) for text in texts))
        return owner.startswith(texts) if method == "startswith" else owner.endswith(texts)
    sought_text = _text(values[0], method)
    pay_to_search(run, owner, sought_text)
    return owner.count(sought_text) if method == "count" else owner.find(sought_text)


def _call_list(run: Evaluation, owner: list[object], method: str, values: list[object]) -> object:
    if len(values) != 1:
        raise ConditionError(say(".{method}() needs one value.", method=method))
    run.pay(len(owner) * cost_to_compare(run, values[0]) >> 2)
    if method == "count":
        return owner.count(values[0])
    try:
        return owner.index(values[0])
    except ValueError:
        raise ConditionError(
            say("The list does not have {value}.", value=describe(values[0])), None, say("Use “in” first.")
        ) from None


def _call_dict(owner: dict[str, object], method: str, values: list[object]) -> object:
    if method == "get":
        if len(values) not in (1, 2):
            raise ConditionError(say(".get() needs a key, and may have a value for when it is missing."))
        return get(owner, values[0], values[1] if len(values) == 2 else None, "")
    if values:
        raise ConditionError(say(".{method}() takes no values.", method=method))
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
