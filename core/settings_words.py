"""Settings that are given as text: environment variables, and the command line's KEY=VALUE."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import NoneType

from core.json_types import JsonObject, JsonValue
from core.jsonc import JsonPath, parse_jsonc
from core.problems import Problem, Severity, UserFileError
from core.settings_files import Said, absolute_folder, read_settings
from core.settings_keys import (
    FOLDERS,
    MERGE,
    PARTS,
    PREFIX,
    SETTING_KEYS,
    Origin,
    Setting,
    kinds_of,
    near_key,
    path_of,
    variable_of,
)
from core.words import say

_OBJECTS = (*PARTS, MERGE)
_VARIABLES = {variable_of(key): key for key in (*_OBJECTS, *SETTING_KEYS)}
"""Objects first: what is said about one of their keys alone wins over the whole."""
_OPTIONS = {
    "workdir": "--workdir",
    "log_dir": "--log-dir",
    "backend": "--backend",
    "opencode_defaults.model": "--model",
    "opencode_defaults.agent": "--agent",
    "opencode_defaults.variant": "--variant",
}
"""Settings with an option of their own."""
_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_NEAR_VARIABLE = 0.75
"""How near a variable's name must be to be called a slip: other programs may have variables like ours."""


def setting_variables() -> tuple[str, ...]:
    """The names of all environment variables that are settings."""
    return tuple(_VARIABLES)


def said_by_environment(environ: Mapping[str, str]) -> Said:
    """What the environment says. A variable without text says nothing, nor does one that is no setting."""
    said = Said()
    for variable, key in _VARIABLES.items():
        text = environ.get(variable, "")
        if text.strip():
            _take(said, key, text, Origin.ENVIRONMENT, variable)
    for variable in environ:
        if not variable.upper().startswith(PREFIX) or variable in _VARIABLES:
            continue
        near = near_key(variable[len(PREFIX) :], (*SETTING_KEYS, *_OBJECTS), _NEAR_VARIABLE)
        if near:
            said.problems.append(
                Problem(
                    say("This environment variable is no setting of OpenLoop; it has no effect."),
                    variable,
                    say("Did you mean {near}?", near=variable_of(near)),
                    Severity.WARNING,
                )
            )
    return said


def said_on_command_line(given: Mapping[str, str]) -> Said:
    """What the command line says, by key; a key that is no setting is an error."""
    said = Said()
    # Objects first, as in the environment.
    for key, text in sorted(given.items(), key=lambda item: item[0] not in _OBJECTS):
        source = _OPTIONS.get(key, f"--set {key}")
        if key in SETTING_KEYS or key in _OBJECTS or key.startswith(f"{MERGE}."):
            _take(said, key, text, Origin.COMMAND_LINE, source)
            continue
        near = near_key(key)
        advice = (
            say("Did you mean {near}?", near=near) if near else say("`openloop config` names all settings.")
        )
        said.problems.append(Problem(say("There is no setting {key}.", key=key), source, advice))
    return said


def _take(said: Said, key: str, text: str, origin: Origin, source: str) -> None:
    """Add what one text says about one setting, or about all of an object."""
    try:
        _refuse_unspeakable(key, text)
        document = _object(key, text) if key in _OBJECTS else _nested(path_of(key), _value(key, text))
    except ValueError as error:
        said.problems.append(Problem(str(error), source))
        return
    values, findings = read_settings(document)
    strict = origin is Origin.COMMAND_LINE
    said.problems += [
        Problem(
            finding.message,
            source,
            finding.suggestion,
            Severity.ERROR if strict else finding.severity,
        )
        for finding in findings
    ]
    for name, value in values.items():
        if name in FOLDERS and isinstance(value, str):
            try:
                value = absolute_folder(value, Path.cwd())
            except ValueError as error:
                said.problems.append(Problem(str(error), source))
                continue
        said.settings[name] = Setting(name, value, origin, source)


def _refuse_unspeakable(key: str, text: str) -> None:
    """Raise ValueError for what is no text: neither a prompt nor the journal could have it."""
    if "\0" in text:
        raise ValueError(say("The value of {key} has a NUL character.", key=key))
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode("utf-8", "replace").decode()
        raise ValueError(
            say("The value of {key} is not valid UTF-8: {shown}", key=key, shown=shown)
        ) from None


def _object(key: str, text: str) -> JsonObject:
    """All of an object at once, as JSON. Raises ValueError."""
    try:
        value = parse_jsonc(text).value
    except UserFileError as error:
        problem = error.problems[0]
        words = say(
            "{key} must be a JSON object: {message} {suggestion}",
            key=key,
            message=problem.message,
            suggestion=problem.suggestion,
        )
        raise ValueError(words.strip()) from None
    return {key: value}


def _nested(path: JsonPath, value: JsonValue) -> JsonObject:
    first, *rest = path
    return {str(first): {str(rest[0]): value} if rest else value}


def _value(key: str, text: str) -> JsonValue:
    """A text as the JSON that a file would have; one that fits nothing stays as it is. Raises ValueError."""
    if key.startswith(f"{MERGE}."):
        return text.strip()
    kinds = kinds_of(key)
    word = text.strip().lower()
    if NoneType in kinds and (not word or (word in ("null", "none") and str not in kinds)):
        return None
    if list[str] in kinds:
        return _arguments(key, text)
    if bool in kinds:
        return _WORDS.get(word, text)
    if int in kinds or float in kinds:
        for number in (int, float):
            with contextlib.suppress(ValueError):
                return number(word)
    return text


def _arguments(key: str, text: str) -> JsonValue:
    """Arguments as a JSON list, or with spaces between them and quotes around those that have some."""
    if text.lstrip().startswith("["):
        try:
            return parse_jsonc(text).value
        except UserFileError as error:
            raise ValueError(
                say("{key} is not a JSON list: {message}", key=key, message=error.problems[0].message)
            ) from None
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    # A backslash is a part of folders' names on Windows.
    lexer.escape = ""
    try:
        return list(lexer)
    except ValueError:
        raise ValueError(say("{key} has a quote that is not closed.", key=key)) from None
