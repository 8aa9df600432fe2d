"""What a workflow may ask of a merge: rules for paths that agents can write to, and places in the payload."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from core.state import MergeRule
from core.state_path import MAX_PATH, Path, format_path, parse_path
from core.words import say

RULES_BY_FIELD: Mapping[str, frozenset[MergeRule]] = {
    "is_complete": frozenset(
        {MergeRule.LAST, MergeRule.FIRST, MergeRule.ALL, MergeRule.ANY, MergeRule.ERROR},
    ),
    "termination_reason": frozenset({MergeRule.LAST, MergeRule.FIRST, MergeRule.ERROR}),
    "payload": frozenset({MergeRule.LAST, MergeRule.FIRST, MergeRule.ERROR}),
}
"""What an update may write, and the rules that leave its type alone. Below `payload` every rule holds."""


def merge_rule_problem(path: str, rule: MergeRule) -> str | None:
    """What is wrong with a merge rule of a workflow, in a sentence, or None. For checking before a run."""
    keys = _keys_or_problem(path)
    if isinstance(keys, str):
        return keys
    allowed = RULES_BY_FIELD.get(keys[0])
    if allowed is None:
        close = difflib.get_close_matches(keys[0], RULES_BY_FIELD, 1)
        better = close[0] if close else format_path(("payload", *keys))
        return say(
            "Agents cannot write to “{path}”, so a merge rule for it has no effect. Did you mean “{better}”?",
            path=path,
            better=better,
        )
    if len(keys) > 1 and keys[0] != "payload":
        return say(
            "“{key}” is a single value and has nothing below it, so “{path}” has no effect.",
            key=keys[0],
            path=path,
        )
    if len(keys) == 1 and rule not in allowed:
        names = ", ".join(sorted(allowed))
        return say(
            "The rule “{rule}” does not fit “{path}”. Use one of: {names}.", rule=rule, path=path, names=names
        )
    return None


def payload_path_problem(key: str, path: str) -> str | None:
    """What is wrong with a path of a workflow that names a place in the payload, in a sentence, or None.

    `key`: the workflow's key that holds it.
    """
    keys = _keys_or_problem(path)
    if isinstance(keys, str):
        return f"{key}: {keys}"
    if keys[0] != "payload" or len(keys) == 1:
        better = format_path(("payload", *(keys if keys[0] != "payload" else ("results",))))
        return say(
            "{key} must name a place in the payload, such as “{better}”, not “{path}”.",
            key=key,
            better=better,
            path=path,
        )
    return None


def _keys_or_problem(path: str) -> Path | str:
    if len(path) > MAX_PATH:
        return say(
            "The path {beginning!r}… has {count:,} characters; at most {most:,} are allowed.",
            beginning=path[:40],
            count=len(path),
            most=MAX_PATH,
        )
    try:
        return parse_path(path)
    except ValueError as error:
        return str(error)
