"""What an end condition may do with values, each operation within bounds.

The values are those of JSON, tuples, and the views of an object's keys, values and items. Operations whose
cost depends on the values pay for it from the evaluation's budget first; those that could build something
large are refused. Nothing here changes a value.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, KeysView, ValuesView
from dataclasses import dataclass

from core.state import WorkflowState
from core.words import say

BUDGET = 300_000
"""Steps of one evaluation; a step is about what one node of an expression costs (0.1 µs to 0.3 µs)."""
ITEM_COST = 12
"""Steps for an item of a new list: it takes memory, not only time."""
MAX_BITS = 256
"""Of whole numbers."""
MAX_TEXT = 100_000
"""Characters of texts that are made (`lower`, slices)."""
_SLOWEST_TEXT, _SLOWEST_SOUGHT = 30_000, 100
"""Characters; with longer texts Python searches in a way whose time does not depend on what is sought."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Put `text` where the characters from `start` up to `end` stand, counted from 0."""

    start: int
    end: int
    text: str


class ConditionError(Exception):
    """An end condition cannot be used, or cannot be evaluated for this state.

    `message` says why in a sentence; `column` counts characters from 1 (None: no place); `suggestion` says
    what to write instead, or is empty. `instead`: what to put where, in the text of the condition, where
    that is certain.
    """

    def __init__(
        self,
        message: str,
        column: int | None = None,
        suggestion: str = "",
        instead: Replacement | None = None,
    ) -> None:
        super().__init__(f"{message} {suggestion}".strip())
        self.instead = instead
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
                say("The end condition takes too long for this state."),
                suggestion=say("Let an agent count, and compare its result."),
            )

    def assign(self, slots: tuple[int, ...], value: object, *, unpack: bool) -> None:
        """Give a loop's variables their values for the next round."""
        values: Iterable[object] = (value,)
        if unpack:
            if type(value) not in (list, tuple) or len(value) != len(slots):  # type: ignore[arg-type]
                raise ConditionError(
                    say(
                        "{value} cannot be taken apart into {count} variables.",
                        value=describe(value),
                        count=len(slots),
                    )
                )
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
        return say("nothing (null)")
    if kind is bool or kind is float or kind is int:
        return str(value)[:40]
    if isinstance(value, str):
        return say("the text {text!r}", text=value[:40])
    if isinstance(value, dict):
        return say("an object")
    return say("a list") if isinstance(value, (list, tuple)) else say("a list of an object's parts")


# --- numbers ------------------------------------------------------------------------------------------


def as_number(value: object, sign: str) -> int | float:
    """The value, if it is a number. `sign` is the operator or function, for the message."""
    if type(value) in _NUMBERS:
        return value  # type: ignore[return-value]
    advice = say("Use payload.get('name', 0) if it may be missing.") if value is None else ""
    raise ConditionError(
        say("“{sign}” needs numbers, but got {value}.", sign=sign, value=describe(value)), suggestion=advice
    )


def bounded(value: int | float) -> int | float:
    """The number, if it is not larger than whole numbers may be."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ConditionError(say("A number became too large."))
    return value


def add(left: object, right: object) -> object:
    """left + right, numbers only."""
    return bounded(as_number(left, "+") + as_number(right, "+"))


def subtract(left: object, right: object) -> object:
    """left - right, numbers only."""
    return bounded(as_number(left, "-") - as_number(right, "-"))


def multiply(left: object, right: object) -> object:
    """left * right, numbers only."""
    return bounded(as_number(left, "*") * as_number(right, "*"))


def _divisor(value: object, sign: str) -> int | float:
    number = as_number(value, sign)
    if number == 0:
        raise ConditionError(say("The end condition divides by zero."))
    return number


def divide(left: object, right: object) -> object:
    """left / right, numbers only."""
    return as_number(left, "/") / _divisor(right, "/")


def floor_divide(left: object, right: object) -> object:
    """left // right, numbers only."""
    return as_number(left, "//") // _divisor(right, "//")


def remainder(left: object, right: object) -> object:
    """left % right, numbers only: never formatting."""
    return as_number(left, "%") % _divisor(right, "%")


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
        raise _views_compared()
    return left == right


def _views_compared() -> ConditionError:
    # What such a comparison costs shows nowhere before it is made.
    return ConditionError(say("An object's keys, values and items cannot be compared as a whole."))


def _pay_for_all(run: Evaluation, value: object) -> None:
    """Pay for everything inside a value; without recursion, and no longer than the budget lasts.

    Raises ConditionError for what cannot be compared.
    """
    waiting: list[object] = [value]
    while waiting:
        inner = waiting.pop()
        kind = type(inner)
        if kind in _CONTAINERS:
            run.pay(1 + 2 * len(inner))  # type: ignore[arg-type]
            waiting.extend(inner.values() if isinstance(inner, dict) else inner)  # type: ignore[arg-type]
        elif isinstance(inner, str):
            run.pay(len(inner) >> 6)
        elif kind in _VIEWS:
            raise _views_compared()


def _check_order(run: Evaluation, left: object, right: object) -> None:
    if type(left) is str and type(right) is str:
        run.pay(len(left) >> 6)
        return
    for value in (left, right):
        if type(value) not in _NUMBERS:
            advice = say("Use payload.get('name', 0) if it may be missing.") if None in (left, right) else ""
            raise ConditionError(
                say(
                    "{left} and {right} cannot be compared by size.",
                    left=_capital(describe(left)),
                    right=describe(right),
                ),
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
        return as_key(item_sought) in container
    if isinstance(container, str):
        if not isinstance(item_sought, str):
            raise ConditionError(
                say("Only a text can be in a text, not {value}.", value=describe(item_sought))
            )
        pay_to_search(run, container, item_sought)
        return item_sought in container
    if isinstance(container, (list, tuple, ValuesView)):
        run.pay(len(container) * cost_to_compare(run, item_sought) >> 2)
        return item_sought in container
    raise ConditionError(
        say("Nothing can be in {value}.", value=describe(container)), suggestion=advice_for(container)
    )


def cost_to_compare(run: Evaluation, value: object) -> int:
    """Steps that one comparison with the value may cost; measuring it is paid for.

    Raises ConditionError for what cannot be compared.
    """
    if isinstance(value, str):
        return 1 + (len(value) >> 6)
    if type(value) in _CONTAINERS:
        before = run.steps
        _pay_for_all(run, value)
        return 1 + before - run.steps
    if type(value) in _VIEWS:
        raise _views_compared()
    return 1


def as_key(key: object) -> str | int | float | bool | None:
    """The value, if it can be a key."""
    if key is None or isinstance(key, (str, int, float)):
        return key
    raise ConditionError(say("{value} cannot be a key of an object.", value=_capital(describe(key))))


def advice_for(value: object) -> str:
    """What to write instead if the value was missing."""
    return say("Use payload.get('name', []) if it may be missing.") if value is None else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- parts of values ----------------------------------------------------------------------------------


def item(value: object, key: object, name: str) -> object:
    """value[key]; `name` is the expression of the value, for messages."""
    if isinstance(value, dict):
        try:
            return value[as_key(key)]
        except KeyError:
            raise ConditionError(
                say("{name} has no {key!r}.", name=name, key=str(key)[:40]),
                suggestion=say("Use {name}.get({key!r}, 0) instead.", name=name, key=str(key)[:40]),
            ) from None
    if isinstance(value, (list, tuple, str)):
        if type(key) is not int:
            raise ConditionError(
                say("A place in {name} is a whole number, not {key}.", name=name, key=describe(key))
            )
        if not -len(value) <= key < len(value):
            raise ConditionError(
                say(
                    "{name} has {count} entries, so there is no [{key}].",
                    name=name,
                    count=len(value),
                    key=key,
                )
            )
        return value[key]
    raise ConditionError(
        say("{name} is {value} and has no parts.", name=name, value=describe(value)),
        suggestion=advice_for(value),
    )


def part(run: Evaluation, value: object, lower: object, upper: object) -> object:
    """value[lower:upper] of a list or a text."""
    if not isinstance(value, (list, tuple, str)):
        raise ConditionError(say("A slice needs a list or a text, not {value}.", value=describe(value)))
    for bound in (lower, upper):
        if bound is not None and type(bound) is not int:
            raise ConditionError(say("A slice needs whole numbers, not {value}.", value=describe(bound)))
    begin, end, _ = slice(lower, upper).indices(len(value))
    length = max(end - begin, 0)
    if isinstance(value, str):
        pay_for_text(run, length)
        return value[begin:end]
    run.pay(length * ITEM_COST)
    return value[begin:end]


def pay_to_search(run: Evaluation, text: str, sought: str) -> None:
    """Pay for finding one text in another: in the worst case each place is compared with all that is sought,
    unless both are so long that Python does it in another way."""
    compared = min(len(sought), _SLOWEST_SOUGHT if len(text) < _SLOWEST_TEXT else 8)
    run.pay(1 + (len(text) * (8 + compared) >> 9))


def pay_for_text(run: Evaluation, length: int) -> None:
    """Pay for making a text of this length, if it may be made at all."""
    if length > MAX_TEXT:
        raise ConditionError(
            say("A text of {count} characters is too long for an end condition.", count=length)
        )
    run.pay(1 + (length >> 2))


def iterate(value: object) -> Iterable[object]:
    """What a loop goes over."""
    if isinstance(value, (list, tuple, dict, str, KeysView, ValuesView, ItemsView)):
        return value
    raise ConditionError(
        say("{value} has no entries to go through.", value=_capital(describe(value))),
        suggestion=advice_for(value),
    )


def collect(run: Evaluation, items: Iterable[object], cost: int) -> list[object]:
    """The items as a list, paid for one by one."""
    collected: list[object] = []
    for value in items:
        run.pay(cost)
        collected.append(value)
    return collected
