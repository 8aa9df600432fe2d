"""What a payload is known to have, for completion: from the workflow, its agents, and earlier runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from app.completion import Suggestions
from core.condition import NAMES

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from core.json_types import JsonValue
    from core.known_payload import ValueKind

_METHODS = frozenset({"get", "keys", "values", "items", "setdefault", "update", "pop", "append"})
_MENTION = re.compile(
    r"\bpayload((?:\.get\([\"'][\w -]{1,40}[\"'](?:, *\{\})?\)?|\.[A-Za-z_]\w*|\[[\"'][\w -]{1,40}[\"']\])+)"
)
_STEP = re.compile(r"\.get\([\"']([\w -]+)[\"']|\[[\"']([\w -]+)[\"']\]|\.([A-Za-z_]\w*)")
_LONGEST_PROMPT = 100_000
_DEEPEST = 6
_MOST_KEYS = 50
_MOST_PLACES = 1000
"""Of an initial payload: nobody reads a longer list, and it is made with every letter."""
_WORD = re.compile(r"[\w.]*\Z")
_REST = re.compile(r"\w*")
_KEY = re.compile(r"[\w-]*\Z")


Keys = tuple[str, ...]
"""The keys of a path below `payload`."""


def known_words(document: WorkflowDocument) -> dict[Keys, str]:
    """Places of the payload, sorted, each with what stands for a value that is not there (empty: unknown)."""
    words: dict[Keys, str] = {}
    for prompt in _prompts(document):
        words.update(dict.fromkeys(_mentioned(prompt), ""))
    for path in (*document.settings.merge, *document.rules_elsewhere()):
        words.setdefault(_keys(path), "")
    words.update(itertools.islice(_places(document.settings.initial_payload, ()), _MOST_PLACES))
    for known in document.known.paths():
        words[_keys(known.path)] = _bare_of_kinds(known.kinds)
    words.pop((), None)
    return dict(sorted(words.items()))


def _bare_of_kinds(kinds: frozenset[ValueKind]) -> str:
    # Here and below: what earlier runs and merges are is not needed for the first paint of the window.
    from core.known_payload import ValueKind

    bares = {
        ValueKind.NUMBER: "0",
        ValueKind.TEXT: "''",
        ValueKind.TRUTH: "False",
        ValueKind.TEXTS: "[]",
        ValueKind.LIST: "[]",
        ValueKind.OBJECT: "{}",
    }
    found = {bares.get(kind, "") for kind in kinds - {ValueKind.NOTHING}}
    return found.pop() if len(found) == 1 else ""


def _keys(path: str) -> Keys:
    from core.state_path import parse_path

    try:
        head, *rest = parse_path(path)
    except ValueError:
        return ()
    return tuple(rest) if head == "payload" else ()


def _prompts(document: WorkflowDocument) -> Iterator[str]:
    library = document.library
    if library is None:
        return
    for name in {node.entry.agent for _, _, node in document.outline.all_agents()}:
        definition = library.get(name)
        if definition is not None:
            yield definition.prompt[:_LONGEST_PROMPT]


@lru_cache(maxsize=256)
def _mentioned(prompt: str) -> tuple[Keys, ...]:
    """Places that an agent is told of, such as `payload.findings` and `payload["score"]`."""
    found: list[Keys] = []
    for mention in _MENTION.finditer(prompt):
        keys: list[str] = []
        for step in _STEP.finditer(mention[1]):
            key = next(part for part in step.groups() if part)
            if step[3] and key in _METHODS:
                break
            keys.append(key)
        if keys:
            found.append(tuple(keys[:_DEEPEST]))
    return tuple(found)


def _places(value: Mapping[str, JsonValue], above: Keys) -> Iterator[tuple[Keys, str]]:
    for key, inner in itertools.islice(value.items(), _MOST_KEYS):
        here = (*above, key)
        yield here, _bare(inner)
        if isinstance(inner, dict) and len(here) < _DEEPEST:
            yield from _places(inner, here)


def _bare(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "False"
    if isinstance(value, int | float):
        return "0"
    if isinstance(value, str):
        return "''"
    if isinstance(value, list):
        return "[]"
    return "{}" if isinstance(value, dict) else ""


# --- what may stand at the caret -----------------------------------------------------------------------


def of_condition(words: Mapping[Keys, str], text: str, caret: int, asked: bool) -> Suggestions:
    """What the word at the caret of an end condition may become: a name, or a place of the payload.

    A place is written as the condition wants it, with a value for the time before an agent has written it.
    """
    before = text[:caret]
    end = caret + len(_match(_REST, text[caret:]))
    if before.count("'") % 2 or before.count('"') % 2:
        typed = _match(_KEY, before)
        keys = sorted({key for path in words for key in path})
        return Suggestions(caret - len(typed), end, _beginning(keys, typed) if typed or asked else ())
    typed = _match(_WORD, before)
    start = caret - len(typed)
    if not typed and not asked:
        return Suggestions(start, end, ())
    dotted = typed.removeprefix("payload.")
    names = [name for name in NAMES if name.startswith(typed)]
    places = [
        expression(path, bare)
        for path, bare in words.items()
        if dotted.casefold() in ".".join(path).casefold() or (typed and "payload".startswith(typed))
    ]
    return Suggestions(start, end, (*names, *places))


def expression(path: Sequence[str], bare: str) -> str:
    """A place of the payload as an end condition has it: `payload.get('review', {}).get('score', 0)`."""
    text = "payload"
    for key in path[:-1]:
        text += f".get({key!r}, {{}})"
    return f"{text}.get({path[-1]!r}, {bare})" if bare else f"{text}.get({path[-1]!r})"


def of_path(words: Mapping[Keys, str], taken: Iterable[str], text: str, asked: bool) -> Suggestions:
    """What a path of the state may become, but for those that are taken already."""
    from core.state_path import format_path

    paths = ["is_complete", "termination_reason", *(format_path(("payload", *path)) for path in words)]
    free = [path for path in paths if path not in set(taken)]
    return Suggestions(0, len(text), of_list(free, text, asked))


def of_list(choices: Sequence[str], text: str, asked: bool) -> tuple[str, ...]:
    """Those of the choices that have what was typed in them."""
    typed = text.strip().casefold()
    if not typed and not asked:
        return ()
    return tuple(each for each in choices if typed in each.casefold() and each != text.strip())


def _beginning(choices: Sequence[str], typed: str) -> tuple[str, ...]:
    return tuple(each for each in choices if each.casefold().startswith(typed.casefold()))


def _match(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0] if found else ""
