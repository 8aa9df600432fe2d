"""Commands that files bring along: which they are, and what makes one of them another one.

What counts is what a workflow, an agent or a project's settings make OpenLoop start, and the arguments by
which they loosen what an agent CLI may do. What the user says himself, on the command line, in the
environment or in his own settings, is brought by nobody.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from core.backends.command import command_words
from core.backends.installed_cli import EXTRA_ARGUMENTS, extra_arguments
from core.plan import PlannedTurn, RunPlan
from core.settings import Origin, Setting
from core.trust_scripts import named_scripts, script_state
from core.visible_text import visible, visible_words
from core.words import say

_OWN_WORDS = frozenset({Origin.COMMAND_LINE, Origin.ENVIRONMENT, Origin.USER, Origin.DEFAULT})
_SHELL_SIGNS = frozenset('"%&|<>^!`\r\n\0')
"""A shim of Windows hands its arguments to a shell, to which these mean something."""


@dataclass(frozen=True, slots=True)
class BroughtCommand:
    """A command that a file makes OpenLoop run.

    `source`: who brings it, such as `agent lint (agents/lint.md)`. `command`: all of it as a person reads it,
    with nothing hidden (core.visible_text); only an init_script has more than one line. `meaning`: what is
    equal where the effect is. `scripts`: the files whose content belongs to it.
    """

    source: str
    command: str
    meaning: str = ""
    scripts: tuple[Path, ...] = ()
    shown_hash: str = field(default="", compare=False)
    """Its hash when the user was shown it: that is allowed, whatever changes meanwhile. Empty: not shown."""


def brought_commands(plan: RunPlan, settings: Sequence[Setting] = ()) -> tuple[BroughtCommand, ...]:
    """Every command that the plan would run because a file says so, in the order of the files, each once.

    `settings`: where the settings in force come from; what is not among them comes from the workflow.
    Looks at the disk for scripts that commands name.
    """
    found: dict[str, BroughtCommand] = {}
    for command in _all_commands(plan, {setting.key: setting for setting in settings}):
        known = found.get(command.meaning)
        if known is None:
            found[command.meaning] = command
        elif command.source not in known.source.split("; "):
            found[command.meaning] = replace(known, source=f"{known.source}; {command.source}")
    return tuple(found.values())


def command_hash(command: BroughtCommand) -> str:
    """SHA-256 of what the command means at this moment: itself, its folder, and its scripts' content.

    Reads the scripts. Not in it: names of workflows, the order of agents, and who brings it, where that
    changes nothing.
    """
    scripts = [script_state(path) for path in command.scripts]
    return hashlib.sha256(orjson.dumps([command.meaning, command.command, scripts])).hexdigest()


def _all_commands(plan: RunPlan, settings: Mapping[str, Setting]) -> Iterator[BroughtCommand]:
    # The folder belongs to all of them: `make` is another command where another Makefile is, and what one
    # project's agents may do says nothing about the next one's.
    folder = os.path.normcase(os.path.realpath(plan.workdir))
    if plan.init_script and _is_brought(settings.get("init_script")):
        yield BroughtCommand(
            _of_file("init_script", settings, plan),
            visible(plan.init_script, keeps_lines=True),
            _meaning("init_script", folder, text=plan.init_script),
            named_scripts([plan.init_script], plan.workdir, _folders(plan)),
        )
    if any(turn.backend == "opencode" for turn in plan.turns):
        yield from _opencode_defaults(plan, settings, folder)
    # A workflow may name the same agent a thousand times; its scripts are looked for once.
    turns: dict[tuple[int, str, str | None], PlannedTurn] = {}
    for turn in plan.turns:
        turns.setdefault((id(turn.agent), turn.backend, turn.model), turn)
    for turn in turns.values():
        yield from _of_turn(turn, plan, folder)


def _opencode_defaults(
    plan: RunPlan, settings: Mapping[str, Setting], folder: str
) -> Iterator[BroughtCommand]:
    defaults = plan.opencode_defaults
    key = "opencode_defaults.extra_args"
    if defaults.extra_args and _is_brought(settings.get(key)):
        yield BroughtCommand(
            say(
                "{source}, more arguments for {backend}",
                source=_of_file(key, settings, plan),
                backend="opencode",
            ),
            visible_words(defaults.extra_args),
            _meaning("arguments", folder, backend="opencode", words=defaults.extra_args),
        )
    for name, value in (("model", defaults.model), ("agent", defaults.agent), ("variant", defaults.variant)):
        key = f"opencode_defaults.{name}"
        if value and _SHELL_SIGNS & set(value) and _is_brought(settings.get(key)):
            yield BroughtCommand(
                _of_file(key, settings, plan),
                visible_words([value]),
                _meaning("value", folder, backend="opencode", words=[value]),
            )


def _of_turn(turn: PlannedTurn, plan: RunPlan, folder: str) -> Iterator[BroughtCommand]:
    if turn.backend == "demo":
        return
    agent = turn.agent
    source = say("agent {name}", name=visible(agent.name)) + (
        f" ({_shown_path(agent.path, plan.workdir)})" if agent.path else ""
    )
    if turn.backend == "command":
        try:
            words = command_words(agent)
        except ValueError:
            return  # nothing can be started: the backend refuses it, in words for a user
        beside = (agent.path.parent,) if agent.path else ()
        yield BroughtCommand(
            source,
            visible_words(words),
            _meaning("command", folder, words=words),
            named_scripts(words, plan.workdir, (*_folders(plan), *beside), program_first=True),
        )
        return
    # Any other backend, also one that is not known here, may take more arguments.
    extra = extra_arguments(agent)
    if extra:
        yield BroughtCommand(
            say("{source}, more arguments for {backend}", source=source, backend=visible(turn.backend)),
            visible_words(extra),
            # With the agent: what one may do says nothing about the next one.
            _meaning(EXTRA_ARGUMENTS, folder, backend=turn.backend, agent=agent.name, words=extra),
        )
    for name, value in (("model", turn.model), ("variant", agent.variant)):
        if value and _SHELL_SIGNS & set(value):
            yield BroughtCommand(
                say("{source}, {key} for {backend}", source=source, key=name, backend=visible(turn.backend)),
                visible_words([value]),
                _meaning("value", folder, backend=turn.backend, words=[value]),
            )


def _is_brought(setting: Setting | None) -> bool:
    return setting is None or setting.origin not in _OWN_WORDS


def _of_file(key: str, settings: Mapping[str, Setting], plan: RunPlan) -> str:
    setting = settings.get(key)
    if setting is not None and setting.source:
        return say("{key} of {source}", key=key, source=visible(setting.source))
    if plan.workflow_path is None:
        return say("{key} of the workflow", key=key)
    return say(
        "{key} of the workflow ({file})",
        key=key,
        file=_shown_path(plan.workflow_path, plan.workdir),
    )


def _shown_path(path: Path, workdir: Path) -> str:
    return visible(str(path.relative_to(workdir) if path.is_relative_to(workdir) else path))


def _folders(plan: RunPlan) -> tuple[Path, ...]:
    return (plan.workdir, plan.workflow_path.parent) if plan.workflow_path else (plan.workdir,)


def _meaning(kind: str, folder: str, **facts: str | Sequence[str]) -> str:
    meaning: dict[str, str | list[str]] = {"kind": kind, "folder": _text(folder)}
    for key, value in facts.items():
        meaning[key] = _text(value) if isinstance(value, str) else [_text(word) for word in value]
    return orjson.dumps(meaning, option=orjson.OPT_SORT_KEYS).decode()


def _text(text: str) -> str:
    """The text as JSON can hold it: half of a character, as in a file's name that is no text, in words."""
    return text.encode("utf-8", "backslashreplace").decode()


def commands_text(commands: Iterable[BroughtCommand]) -> str:
    """All of them as plain text: who brings it, and below, indented, the command.

    A line of a command always begins with spaces, so none can pass for a name.
    """
    parts = []
    for command in commands:
        lines = "\n".join(f"    {line}".rstrip(" ") for line in command.command.split("\n"))
        parts.append(f"{command.source}:\n{lines}\n")
    return "\n".join(parts)
