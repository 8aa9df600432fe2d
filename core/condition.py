"""Safe end conditions: Python expressions over the state, compiled to closures.

`payload.get('score', 0) >= 90` is parsed with Python's own grammar, but nothing of Python is executed: every
node of the syntax tree must be on a list, and becomes a closure over the operations of `core.safe_values`.
There are no attributes except a few methods of texts, lists and objects, no power, shift, formatting or
arithmetic with texts and lists, and no names but those listed here. What an evaluation does is paid from a
budget of steps, so it ends within about a tenth of a second and a few megabytes, whatever the state.

An evaluation never copies the state: its cost is that of the expression.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

from core.condition_compiler import NAMES, Compiler
from core.condition_mistakes import find_mistake
from core.condition_words import condition_in_words
from core.safe_values import ConditionError, Evaluation, Replacement
from core.state import WorkflowState
from core.words import say

__all__ = ["NAMES", "Condition", "ConditionError", "compile_condition", "condition_in_words"]

MAX_SOURCE = 1_000
"""Characters of an expression."""
MAX_NODES = 250
MAX_DEPTH = 40

_FOREIGN_SIGNS = {"&&": "and", "||": "or", "===": "==", "!==": "!=", "<>": "!=", "=>": ">="}

_SIGN = re.compile(r"[=!<>]+|&&|\|\|")


class Condition:
    """A compiled expression. Immutable, and may be evaluated on any thread."""

    __slots__ = ("_closure", "source")

    source: str

    def __init__(self, source: str, closure: Callable[[Evaluation], object]) -> None:
        self.source = source
        self._closure = closure

    def holds(self, state: WorkflowState) -> bool:
        """Whether the state fulfils the condition. Changes nothing.

        Raises ConditionError when this state cannot be judged: a missing key, a text compared with a number,
        too much work. The run then goes on as if the condition did not hold, and shows the error as a
        warning: an agent that has not written its score yet is the usual reason.
        """
        try:
            return bool(self._closure(Evaluation(state)))
        except ConditionError:
            raise
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ConditionError(say("The condition cannot be evaluated: {error}.", error=error)) from error


def compile_condition(source: str) -> Condition:
    """Check and compile an expression. Raises ConditionError, with the column and often a suggestion."""
    text = source.strip()
    if not text:
        raise ConditionError(
            say("The end condition is empty."), suggestion=say("For example: payload.get('score', 0) >= 90")
        )
    if len(text) > MAX_SOURCE:
        raise ConditionError(
            say(
                "The end condition has {count} characters; at most {most} are allowed.",
                count=len(text),
                most=MAX_SOURCE,
            ),
            suggestion=say("Let an agent decide and set is_complete."),
        )
    lead = len(source) - len(source.lstrip())
    tree = _parse(text, lead)
    _check_size(tree)
    return Condition(source, Compiler(text, lead).compile(tree.body))


def _parse(text: str, lead: int) -> ast.Expression:
    try:
        return _read(text)
    except SyntaxError as error:
        mistake = find_mistake(text, error.offset if (error.lineno or 1) == 1 else None)
        column = mistake.at + 1 + lead if "\n" not in text[: mistake.at] else None
        message = say("The end condition cannot be read. {mistake}", mistake=mistake.words)
        raise ConditionError(message, column, _syntax_suggestion(text), _correction(text, lead)) from None
    except (ValueError, MemoryError, RecursionError):
        raise ConditionError(
            say("The end condition cannot be read. It is nested too deeply or garbled.")
        ) from None


def _read(text: str) -> ast.Expression:
    with warnings.catch_warnings():
        # Python warns about odd escapes and the like; as warnings they would go to a terminal.
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval")


def _syntax_suggestion(text: str) -> str:
    for sign, better in _FOREIGN_SIGNS.items():
        if sign in text:
            return say("Did you mean “{better}” instead of “{sign}”?", better=better, sign=sign)
    if "=" in text.replace("==", "").replace(">=", "").replace("<=", "").replace("!=", ""):
        return say("To compare, use “==” instead of “=”.")
    if "!" in text.replace("!=", ""):
        return say("Did you mean “not” instead of “!”?")
    return ""


def _correction(text: str, lead: int) -> Replacement | None:
    """What to write instead of a sign of another language, where that alone makes the text an expression.

    `lead`: spaces before the text, which count.
    """
    better = {**_FOREIGN_SIGNS, "=": "=="}
    found = [sign for sign in _SIGN.finditer(text) if sign[0] in better]
    if len(found) != 1:
        return None
    start, end = found[0].span()
    word = better[found[0][0]]
    if word.isalpha():
        before = "" if text[:start].endswith(" ") else " "
        word = f"{before}{word}" + ("" if text[end:].startswith(" ") else " ")
    try:
        _read(text[:start] + word + text[end:])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return Replacement(lead + start, lead + end, word)


def _check_size(tree: ast.Expression) -> None:
    """Refuse large and deep trees before anything recurses into them."""
    level: list[ast.AST] = [tree.body]
    nodes = 0
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        if nodes > MAX_NODES:
            raise ConditionError(
                say("The end condition is too long."), suggestion=say("Let an agent decide instead.")
            )
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise ConditionError(
        say("The end condition is nested too deeply."), suggestion=say("Let an agent decide instead.")
    )
