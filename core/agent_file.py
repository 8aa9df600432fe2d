"""One agent file: Markdown with YAML front matter, read into an `AgentDefinition`.

YAML has opinions about plain words: `no` is false and `1.10` is 1.1. What is text to us is taken as it
stands in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from core.agent_definition import AgentDefinition
from core.findings import MOST_FINDINGS, did_you_mean
from core.front_matter import NULL_TAG, FrontMatterError, construct, split_text
from core.jsonc import read_text
from core.problems import Problem, Severity, UserFileError
from core.words import say

TEXT_KEYS = frozenset({"name", "role", "description", "backend", "model", "variant"})
OWN_KEYS = frozenset({*TEXT_KEYS, "timeout", "can_complete", "command", "extra_args", "demo", "prompt"})
FOREIGN_KEYS = frozenset(
    {
        # opencode's and Claude Code's own agent files
        *("mode", "tools", "permission", "permissions", "temperature", "top_p", "steps", "maxSteps"),
        *("disable", "hidden", "color", "options", "reasoningEffort", "textVerbosity", "disallowedTools"),
        *("permissionMode", "skills", "hooks", "memory", "effort", "maxTurns", "mcpServers", "background"),
        # what people write about their files
        *("author", "authors", "version", "tags", "license", "title", "date", "metadata", "emoji", "icon"),
    }
)
"""Keys that other programs know; they are kept and not warned about."""


@dataclass(frozen=True, slots=True)
class AgentFile:
    """What was read from one file. `agent` None: it could not be read at all, and `problems` says why."""

    path: Path
    agent: AgentDefinition | None
    problems: tuple[Problem, ...] = ()


def read_agent(path: Path, folder: str = "") -> AgentFile:
    """Read one agent file. Never raises: what is wrong is in the problems.

    `folder`: the sub-folder that it stands in, with `/`. A value that cannot be is reported and left out.
    """
    try:
        text = read_text(path)
    except UserFileError as error:
        return AgentFile(path, None, tuple(error.problems))
    return inspect_agent(text, path, folder)


def inspect_agent(text: str, path: Path, folder: str = "") -> AgentFile:
    """Read the text of an agent file, as it is or would be on disk. Never raises, as `read_agent`."""
    reader = _Reader(path, text)
    try:
        fields, prompt = reader.parts()
    except FrontMatterError as error:
        problem = Problem(
            error.message,
            suggestion=error.suggestion,
            file=path,
            line=reader.first_line + error.line + 1,
            column=error.column + 1 if error.column is not None else None,
        )
        return AgentFile(path, None, (*reader.problems, problem))
    agent = reader.agent(fields, prompt, folder)
    return AgentFile(path, agent, tuple(reader.problems))


class _Reader:
    """Reads one text; `problems` grows. `first_line`: lines before the first of the front matter."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._lines: dict[str, tuple[int, int]] = {}
        self.first_line = 0
        self.problems: list[Problem] = []

    def parts(self) -> tuple[dict[str, Any], str]:
        """The front matter and the prompt. Raises FrontMatterError."""
        parts = split_text(self._text)
        if parts.unclosed:
            self._warn(
                say("The front matter of the first line is never closed, so all of the file is the prompt."),
                say("Close it with a line of three dashes: ---"),
                line=1,
            )
        if parts.matter is None:
            return {}, parts.body.strip()
        self.first_line = parts.opening.count("\n")
        return self._front_matter(parts.matter), parts.body.strip()

    def _front_matter(self, matter: str) -> dict[str, Any]:
        node, fields = construct(matter)
        for key_node, value_node in node.value if node is not None else ():
            key = str(key_node.value)
            line = self.first_line + key_node.start_mark.line + 1
            if key in self._lines:
                self._warn(
                    say("The key {key} stands twice; the last one counts.", key=key),
                    say("Remove one of them."),
                    key,
                    line,
                )
            self._lines[key] = (line, key_node.start_mark.column + 1)
            if key in TEXT_KEYS and isinstance(value_node, yaml.ScalarNode):
                fields[key] = None if value_node.tag == NULL_TAG else value_node.value
        return fields

    def agent(self, fields: dict[str, Any], prompt: str, folder: str) -> AgentDefinition | None:
        for key in fields:
            if len(self.problems) > MOST_FINDINGS:
                break
            if key not in OWN_KEYS and key not in FOREIGN_KEYS and not key.startswith(("x-", "_")):
                self._warn(
                    say("The key {key} is not known; it is kept, but has no effect.", key=key),
                    did_you_mean(key, OWN_KEYS),
                    key,
                )
        known = {key: value for key, value in fields.items() if key not in ("path", "folder")}
        name = known.get("name")
        if name is not None and not isinstance(name, str):
            self._bad("name", say("text"), name)
            name = None
        known["name"] = (name or "").strip() or self._path.stem
        known["prompt"] = prompt or str(known.get("prompt") or "")
        for key in ("role", "description"):
            if known.get(key) is None:
                known.pop(key, None)
        if isinstance(known.get("timeout"), bool):
            self._bad("timeout", say("a number of seconds"), known.pop("timeout"))
        data = {**known, "path": self._path, "folder": folder}
        try:
            return AgentDefinition.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        for detail in details:
            key = str(detail["loc"][0])
            wanted = {"timeout": say("a number of seconds, 0 or more"), "can_complete": say("true or false")}
            self._bad(key, wanted.get(key, say("text")), detail["input"])
            data.pop(key, None)
        return AgentDefinition.model_validate({"name": self._path.stem, **data})

    def _bad(self, key: str, wanted: str, value: object) -> None:
        shown = repr(value) if isinstance(value, (str, int, float, bool)) else say("something else")
        line, column = self._lines.get(key, (1, 1))
        self.problems.append(
            Problem(
                say("{key} must be {kind}, not {value}.", key=key, kind=wanted, value=shown),
                key,
                file=self._path,
                line=line,
                column=column,
            )
        )

    def _warn(self, message: str, suggestion: str, place: str = "", line: int | None = None) -> None:
        at, column = self._lines.get(place, (None, None)) if line is None else (line, None)
        if len(self.problems) >= MOST_FINDINGS:
            message, suggestion = say("There are more problems like these."), say("Correct these first.")
            place = ""
        if len(self.problems) > MOST_FINDINGS:
            return
        self.problems.append(
            Problem(message, place, suggestion, Severity.WARNING, self._path, at, column),
        )
