"""One agent file: Markdown with YAML front matter, read into an `AgentDefinition`.

YAML has opinions about plain words: `no` is false and `1.10` is 1.1. What is text to us is taken as it
stands in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler
from pydantic import ValidationError

from core.agent_definition import AgentDefinition
from core.findings import MOST_FINDINGS, did_you_mean
from core.jsonc import read_text
from core.problems import Problem, Severity, UserFileError

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

MOST_FRONT_MATTER = 256 * 1024
"""Characters of front matter; a value of two takes a kilobyte while YAML is read."""
_MOST_NODES = 20_000
"""Values in front matter, with those that aliases repeat."""
_MOST_DEPTH = 100
_MOST_DIGITS = 300
"""Characters of a number; YAML reads `1:2:3` as one of base 60, in a time that grows with its square."""
_NUMBER_TAGS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    reader = _Reader(path, text)
    try:
        fields, prompt = reader.parts()
    except _FrontMatterError as error:
        return AgentFile(path, None, (error.problem,))
    agent = reader.agent(fields, prompt, folder)
    return AgentFile(path, agent, tuple(reader.problems))


class _FrontMatterError(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Reader:
    """Reads one text; `problems` grows."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._lines: dict[str, tuple[int, int]] = {}
        self.problems: list[Problem] = []

    def parts(self) -> tuple[dict[str, Any], str]:
        """The front matter and the prompt. Raises _FrontMatterError."""
        handler = YAMLHandler()
        text = self._text.strip()
        if not handler.detect(text):
            return {}, text
        try:
            matter, prompt = handler.split(text)
        except ValueError:
            self._warn(
                "The front matter of the first line is never closed, so all of the file is the prompt.",
                "Close it with a line of three dashes: ---",
                line=1,
            )
            return {}, text
        if len(matter) > MOST_FRONT_MATTER:
            message = (
                f"The front matter has {len(matter):,} characters; at most {MOST_FRONT_MATTER:,} are read."
            )
            advice = "Move long texts below it: they are the prompt."
            raise _FrontMatterError(Problem(message, suggestion=advice, file=self._path, line=1))
        start = self._text.index(matter) if matter else 0
        return self._front_matter(matter, self._text.count("\n", 0, start)), prompt.strip()

    def _front_matter(self, matter: str, first_line: int) -> dict[str, Any]:
        """The keys and values; `first_line` lines stand before the first of `matter`."""
        try:
            loader = _Loader(matter)
            try:
                node = loader.get_single_node()
                self._refuse_bombs(node, first_line)
                values = loader.construct_document(node) if node is not None else {}
            finally:
                loader.dispose()
        except yaml.YAMLError as error:
            raise _FrontMatterError(self._yaml_problem(error, first_line)) from error
        except (ValueError, ArithmeticError, RecursionError) as error:
            message = f"The front matter cannot be read: {error}."
            raise _FrontMatterError(Problem(message, file=self._path, line=first_line + 1)) from error
        if values is None:
            return {}
        if not isinstance(node, yaml.MappingNode) or not isinstance(values, dict):
            raise _FrontMatterError(
                Problem(
                    "The front matter is not a list of keys and values.",
                    suggestion="Write lines such as name: vera, or remove the lines of dashes.",
                    file=self._path,
                    line=first_line + (node.start_mark.line if node is not None else 0) + 1,
                )
            )
        fields = {str(key): value for key, value in values.items()}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in self._lines:
                self._warn(
                    f"The key {key} stands twice; the last one counts.",
                    "Remove one of them.",
                    key,
                    first_line + key_node.start_mark.line + 1,
                )
            self._lines[key] = (first_line + key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            if key in TEXT_KEYS and isinstance(value_node, yaml.ScalarNode):
                is_null = value_node.tag == "tag:yaml.org,2002:null"
                fields[key] = None if is_null else value_node.value
        return fields

    def _refuse_bombs(self, root: yaml.Node | None, first_line: int) -> None:
        """Refuse what would be endless once its aliases are followed. Raises _FrontMatterError."""
        waiting: list[tuple[yaml.Node, int]] = [(root, 0)] if root is not None else []
        nodes = 0
        while waiting:
            node, depth = waiting.pop()
            nodes += 1
            what = ""
            if nodes > _MOST_NODES:
                what = f"has more than {_MOST_NODES:,} values, perhaps because an alias (*) is repeated"
            elif depth > _MOST_DEPTH:
                what = f"is nested more than {_MOST_DEPTH} levels deep, or an alias (*) in it holds itself"
            elif isinstance(node, yaml.ScalarNode):
                if node.tag in _NUMBER_TAGS and len(node.value) > _MOST_DIGITS:
                    what = "has a number with too many digits"
            elif isinstance(node, yaml.MappingNode):
                waiting.extend((part, depth + 1) for pair in node.value for part in pair)
            elif isinstance(node, yaml.SequenceNode):
                waiting.extend((part, depth + 1) for part in node.value)
            if what:
                message = f"The front matter {what}."
                line = first_line + node.start_mark.line + 1
                raise _FrontMatterError(Problem(message, file=self._path, line=line))

    def _yaml_problem(self, error: yaml.YAMLError, first_line: int) -> Problem:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it is not YAML"
        return Problem(
            f"The front matter cannot be read: {what}.",
            suggestion='Put text with a colon or other signs into quotes: description: "a: b".',
            file=self._path,
            line=first_line + (mark.line + 1 if mark is not None else 1),
            column=mark.column + 1 if mark is not None else None,
        )

    def agent(self, fields: dict[str, Any], prompt: str, folder: str) -> AgentDefinition | None:
        for key in fields:
            if len(self.problems) > MOST_FINDINGS:
                break
            if key not in OWN_KEYS and key not in FOREIGN_KEYS and not key.startswith(("x-", "_")):
                self._warn(
                    f"The key {key} is not known; it is kept, but has no effect.",
                    did_you_mean(key, OWN_KEYS),
                    key,
                )
        known = {key: value for key, value in fields.items() if key not in ("path", "folder")}
        name = known.get("name")
        if name is not None and not isinstance(name, str):
            self._bad("name", "text", name)
            name = None
        known["name"] = (name or "").strip() or self._path.stem
        known["prompt"] = prompt or str(known.get("prompt") or "")
        for key in ("role", "description"):
            if known.get(key) is None:
                known.pop(key, None)
        if isinstance(known.get("timeout"), bool):
            self._bad("timeout", "a number of seconds", known.pop("timeout"))
        data = {**known, "path": self._path, "folder": folder}
        try:
            return AgentDefinition.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        for detail in details:
            key = str(detail["loc"][0])
            wanted = {"timeout": "a number of seconds, 0 or more", "can_complete": "true or false"}
            self._bad(key, wanted.get(key, "text"), detail["input"])
            data.pop(key, None)
        return AgentDefinition.model_validate({"name": self._path.stem, **data})

    def _bad(self, key: str, wanted: str, value: object) -> None:
        shown = repr(value) if isinstance(value, (str, int, float, bool)) else "something else"
        line, column = self._lines.get(key, (1, 1))
        self.problems.append(
            Problem(f"{key} must be {wanted}, not {shown}.", key, file=self._path, line=line, column=column)
        )

    def _warn(self, message: str, suggestion: str, place: str = "", line: int | None = None) -> None:
        at, column = self._lines.get(place, (None, None)) if line is None else (line, None)
        if len(self.problems) >= MOST_FINDINGS:
            message, place, suggestion = "There are more problems like these.", "", "Correct these first."
        if len(self.problems) > MOST_FINDINGS:
            return
        self.problems.append(
            Problem(message, place, suggestion, Severity.WARNING, self._path, at, column),
        )
