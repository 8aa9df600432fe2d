"""Files with settings: where they are looked for, and what one of them says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.config import Workflow
from core.findings import Finding, FindingList, did_you_mean, shown_key, to_problems
from core.json_types import JsonObject, JsonValue
from core.jsonc import locate, parse_jsonc, read_text
from core.platform_paths import config_folder
from core.problems import Problem, Severity, UserFileError
from core.settings_keys import (
    FOLDERS,
    MERGE,
    PARTS,
    SETTING_KEYS,
    TOP_KEYS,
    Origin,
    Setting,
    is_content,
    keys_said,
    near_key,
    path_of,
    value_of,
)
from core.words import say
from core.workflow_layout import SINGULAR_KEYS
from core.workflow_reading import NOTE_SIGNS, read_document

FILE_NAME = "openloop.json"
MOST_BYTES = 2**20
"""A larger file is not read: all settings there are fit into a few thousand bytes."""


@dataclass(frozen=True, slots=True)
class LookedFor:
    """A file that may have settings. `exists`: it is there, and then it was read."""

    origin: Origin
    path: Path
    exists: bool


@dataclass(slots=True)
class Said:
    """What one place says: its settings by key, and what is wrong with it."""

    settings: dict[str, Setting] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def files_to_read(start: Path, workflow: Path | None) -> list[LookedFor]:
    """The files of the project and of the user, the strongest first, and those that are not there.

    The project's is the nearest one from `start` upwards, up to a folder with .git or the home folder; where
    neither is above it, only the one in `start`. The workflow itself is none, whatever its name is.
    """
    user = config_folder() / FILE_NAME
    looked = []
    for path in _candidates(start):
        if any(_is_same(path, other) for other in (workflow, user)):
            continue
        looked.append(LookedFor(Origin.PROJECT, path, os.path.lexists(path)))
        if looked[-1].exists:
            break
    return [*looked, LookedFor(Origin.USER, user, os.path.lexists(user))]


def _candidates(start: Path) -> Iterator[Path]:
    try:
        # The folders that are really above it: `start` may lead through symbolic links.
        folder = Path(os.path.realpath(start))
        home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - Path's raises without a home
    except ValueError:
        return  # no folder can have such a name; the run is refused for it
    places = (folder, *folder.parents)
    borders = (n for n, place in enumerate(places, 1) if place == home or os.path.lexists(place / ".git"))
    # Above a folder that belongs to no project anybody may have left a file, such as in /tmp.
    for place in places[: next(borders, 1)]:
        yield place / FILE_NAME


def _is_same(one: Path, other: Path | None) -> bool:
    try:
        return other is not None and one.samefile(other)
    except (OSError, ValueError):
        return False


def read_settings_file(origin: Origin, path: Path) -> Said:
    """What a file says. Nothing is raised for what is wrong with it."""
    try:
        text = _text(path)
        document = parse_jsonc(text, path).value
    except UserFileError as error:
        return Said(problems=error.problems)
    if not isinstance(document, dict):
        problem = Problem(
            say("Settings are a JSON object."), suggestion=say("Begin the file with {."), file=path
        )
        return Said(problems=[problem])
    values, findings = read_settings(document)
    places = locate(text, [path_of(key) for key in values])
    said = Said()
    for key, value in values.items():
        at = places[path_of(key)].value
        if key in FOLDERS and isinstance(value, str):
            try:
                value = absolute_folder(value, path.parent)
            except ValueError as error:
                findings.append(Finding(path_of(key), str(error)))
                continue
        said.settings[key] = Setting(key, value, origin, str(path), at.line, at.column)
    said.problems = sorted(to_problems(findings, text, path), key=lambda p: (p.line or 0, p.column or 0))
    return said


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # read_text says what is wrong
    if size > MOST_BYTES and path.is_file():
        raise UserFileError(
            [
                Problem(
                    say(
                        "The file has {size:,.1f} MiB; one with settings has at most {most} MiB.",
                        size=size / 2**20,
                        most=MOST_BYTES // 2**20,
                    ),
                    suggestion=say("Correct or remove it."),
                    file=path,
                )
            ]
        )
    return read_text(path)


def read_settings(document: Mapping[str, JsonValue]) -> tuple[dict[str, JsonValue], list[Finding]]:
    """The settings of an object, by key, and what is wrong with it; values that cannot be are left out."""
    findings = FindingList()
    known: JsonObject = {}
    for key, value in document.items():
        if key.startswith(NOTE_SIGNS):
            continue
        if key not in TOP_KEYS:
            findings.add(_unknown_key(key, findings))
            continue
        part = PARTS.get(key)
        if part is not None and isinstance(value, dict):
            names = part.model_fields
            for name in value:
                if name not in names and not name.startswith(NOTE_SIGNS):
                    near = "" if findings.full else did_you_mean(name, names)
                    findings.add(
                        _warning(
                            key,
                            name,
                            say("There is no setting {key}.{name}.", key=key, name=shown_key(name)),
                            near,
                        )
                    )
            value = {name: item for name, item in value.items() if name in names}
        known[key] = value
    workflow, wrong = read_document(known)
    workflow = workflow or Workflow()
    return {key: value_of(workflow, key) for key in keys_said(workflow)}, [*wrong, *findings.all()]


def _unknown_key(key: str, found: FindingList) -> Finding:
    if is_content(key) or key in SINGULAR_KEYS.values():
        return _warning(key, "", say("{key} is said in workflows only; here it has no effect.", key=key), "")
    near = "" if found.full else near_key(key, (*SETTING_KEYS, *PARTS, MERGE))
    return _warning(
        key,
        "",
        say("There is no setting {key}; it has no effect.", key=shown_key(key)),
        say("Did you mean {near}?", near=near) if near else say("`openloop config` names all settings."),
    )


def _warning(key: str, name: str, message: str, suggestion: str) -> Finding:
    path = (key, name) if name else (key,)
    return Finding(path, message, suggestion, Severity.WARNING, at_key=True)


def absolute_folder(value: str, beside: Path) -> str:
    """A folder's name as an absolute path: `~` is the home folder, else relative to `beside`.

    Empty: nothing is said. Raises ValueError with the reason, for a user.
    """
    if not value:
        return value
    expanded = os.path.expanduser(value)  # noqa: PTH111 - Path's raises for users that there are not
    if expanded.startswith("~") and expanded == value:
        raise ValueError(say("There is no home folder for {value}.", value=value))
    # Not Path.absolute: `..` shall be gone, for the folder is shown.
    return os.path.abspath(beside / expanded)  # noqa: PTH100
