"""Changing an agent file and leaving alone what is not changed: comments, order, quotes, line endings.

Values are put into their places in the text; nothing is written anew from what was read. What an edit
gives is read again and compared, so that no other key is lost or changed on the way.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import yaml
from yaml.constructor import SafeConstructor

from core.agent_file import TEXT_KEYS
from core.durable_files import replace_file
from core.front_matter import (
    BYTE_ORDER_MARK,
    NULL_TAG,
    FrontMatterError,
    Span,
    children,
    compose,
    spans,
    split_text,
)
from core.jsonc import read_bytes
from core.problems import Problem, UserFileError
from core.words import say

FieldValue: TypeAlias = str | int | float | bool | Sequence[str] | None
"""A value of front matter that can be set; None: the key goes."""

ORDER = (
    *("name", "role", "description", "backend", "model", "variant"),
    *("timeout", "can_complete", "command", "extra_args", "demo", "prompt"),
)
"""Where a new key goes: behind those of the file that come before it here."""

MOST_BY_FIELD = 32 * 1024
"""Characters of front matter that is read anew with every key that is pressed in a field."""

_STRING_TAG = "tag:yaml.org,2002:str"
_LINE_END = re.compile("\r\n|[\n\r\u2029\ufdd0\ufdd1]")
"""What Qt's text documents take for the end of a line."""
_NOT_PRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def _braces() -> str:
    return say("The front matter is written between braces.")


class CannotEditError(UserFileError):
    """This front matter can only be changed as text."""

    def __init__(self, message: str) -> None:
        super().__init__([Problem(message, suggestion=say("Change it in the whole file instead."))])


class ChangedOnDiskError(Exception):
    """The file is not what it was when it was read. `found`: its bytes now."""

    def __init__(self, found: bytes) -> None:
        super().__init__("the file was changed by another program")
        self.found = found


# --- the text ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentText:
    """An agent file's text as three parts: `head` (front matter and blank lines), `prompt`, `tail` (blank).

    All of them are as they stand in the file, with its line endings.
    """

    head: str
    prompt: str
    tail: str

    @classmethod
    def parse(cls, text: str) -> AgentText:
        """Cut a text; put together, the parts are the text."""
        body = split_text(text).body
        prompt = body.strip()
        if not prompt:
            return cls(text, "", "")
        start = len(text) - len(body.lstrip())
        return cls(text[:start], prompt, text[start + len(prompt) :])

    @property
    def text(self) -> str:
        """The whole text."""
        return f"{self.head}{self.prompt}{self.tail}"

    @property
    def shown_prompt(self) -> str:
        """The prompt with plain line feeds, as an editor has it."""
        return plain_lines(self.prompt)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the front matter. Raises FrontMatterError where it cannot be read."""
        node = compose(split_text(self.head).matter or "")
        return frozenset(str(key.value) for key, _ in node.value) if node is not None else frozenset()

    def with_prompt(self, shown: str) -> AgentText:
        """With another prompt, given with plain line feeds; lines that stay keep their own endings."""
        if shown == self.shown_prompt:
            return self
        newline = _newline(self.text)
        prompt = with_endings(self.prompt, shown, newline)
        if self.prompt or not prompt.strip():
            return replace(self, prompt=prompt)
        head = self.head
        if head.strip(BYTE_ORDER_MARK):
            # The first text of a file that had none.
            breaks = len(_LINE_END.findall(head[len(head.rstrip()) :]))
            head += newline * max(0, 2 - breaks)
        return AgentText(head, prompt, newline)

    def with_fields(self, changes: Mapping[str, FieldValue]) -> AgentText:
        """With other values in the front matter; None takes a key away. What is so already stays as it is
        written. Raises CannotEditError, and FrontMatterError where it cannot be read."""
        head = self.head
        for key, value in changes.items():
            head = _with_field(head, _newline(self.text), key, value)
        return replace(self, head=head)


def why_not_by_field(head: str) -> str:
    """Why this front matter can only be changed as text, as a sentence; empty: its fields can be changed."""
    matter = split_text(head).matter
    if matter is None:
        return ""
    if len(matter) > MOST_BY_FIELD:
        return say(
            "The front matter has {count:,} characters, which is too much for a form.", count=len(matter)
        )
    try:
        node = compose(matter)
    except FrontMatterError as error:
        return error.message
    return _braces() if node is not None and node.flow_style else ""


def plain_lines(text: str) -> str:
    """A text with every end of a line as one line feed."""
    return _LINE_END.sub("\n", text)


def with_endings(old: str, shown: str, newline: str | None = None) -> str:
    """`shown`, which has plain line feeds, with the line endings of `old` for the lines at its beginning and
    end that are the same; the others get `newline`, or the ending that most lines of `old` have."""
    newline = newline or _newline(old)
    kept = _kept_lines(old)
    before = [plain_lines(line) for line in kept]
    after = _feed_lines(shown)
    first = 0
    most = min(len(before), len(after))
    while first < most and before[first] == after[first]:
        first += 1
    last = 0
    while last < most - first and before[-1 - last] == after[-1 - last]:
        last += 1
    middle = "".join(after[first : len(after) - last]).replace("\n", newline)
    before_it, behind = "".join(kept[:first]), middle + "".join(kept[len(kept) - last :])
    if before_it.endswith("\r") and behind.startswith("\n"):
        # Together they would be one end of a line.
        plain = before_it.rstrip("\r")
        before_it = plain + newline * (len(before_it) - len(plain))
    return before_it + behind


def _kept_lines(text: str) -> list[str]:
    """Lines with their ends; the last one may have none."""
    lines: list[str] = []
    start = 0
    for end in _LINE_END.finditer(text):
        lines.append(text[start : end.end()])
        start = end.end()
    return [*lines, text[start:]]


def _feed_lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [*(f"{part}\n" for part in parts[:-1]), parts[-1]]


def _newline(text: str) -> str:
    """The line ending that most lines of a text have."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


# --- one field -----------------------------------------------------------------------------------------


def _with_field(head: str, newline: str, key: str, value: FieldValue) -> str:
    parts = split_text(head)
    if parts.matter is None:
        if value is None:
            return head
        mark = BYTE_ORDER_MARK if head.startswith(BYTE_ORDER_MARK) else ""
        line = f"{key}: {_encoded(value)}"
        return f"{mark}---{newline}{line}{newline}---{newline}{newline}{head[len(mark) :]}"
    before = compose(parts.matter)
    if before is not None and before.flow_style:
        raise CannotEditError(_braces())
    matter = _changed(parts.matter, before, newline, key, value)
    after = replace(parts, matter=matter).text
    if matter != parts.matter:
        _verify(parts.matter, after, key, value)
    return after


def _changed(matter: str, node: yaml.MappingNode | None, newline: str, key: str, value: FieldValue) -> str:
    entries = spans(matter) if node is not None else []
    mine = [at for at, entry in enumerate(entries) if entry.key == key]
    if node is not None and mine and reads_as(node.value[mine[-1]][1], key, value):
        return matter
    if value is None:
        for at in reversed(mine):
            start, end = _line_start(matter, entries[at].start), _next_line(matter, entries[at].end)
            matter = matter[:start] + matter[end:]
        return matter
    if not mine:
        return _inserted(matter, entries, newline, key, value)
    return _replaced(matter, entries[mine[-1]], newline, value)


def _inserted(matter: str, entries: Sequence[Span], newline: str, key: str, value: FieldValue) -> str:
    earlier: Sequence[str] = ORDER[: ORDER.index(key)] if key in ORDER else ()
    before = [entry for entry in entries if entry.key in earlier]
    if before:
        at = _next_line(matter, before[-1].end)
    elif entries and key in ORDER:
        at = _line_start(matter, entries[0].start)
    else:
        at = len(matter)
    indent = " " * entries[0].column if entries else ""
    return f"{matter[:at]}{indent}{key}: {_encoded(value)}{newline}{matter[at:]}"


def _replaced(matter: str, entry: Span, newline: str, value: FieldValue) -> str:
    if entry.has_anchor:
        raise CannotEditError(
            say("The value of {key} has an anchor (&) that others refer to.", key=entry.key)
        )
    start, end = entry.value_start, entry.end
    if entry.is_block_list and not isinstance(value, str) and isinstance(value, Sequence) and value:
        indent = " " * (start - _line_start(matter, start))
        return matter[:start] + f"{newline}{indent}".join(f"- {_text(item)}" for item in value) + matter[end:]
    if entry.is_block_list or start < entry.colon:
        start = entry.colon
    old = matter[start:end]
    space = " " if matter[start - 1 : start] == ":" else ""
    return matter[:start] + space + _encoded(value, old[:1]) + matter[end:]


def _line_start(matter: str, at: int) -> int:
    return max(matter.rfind(end, 0, at) for end in "\n\r\x85\u2028\u2029") + 1


def _next_line(matter: str, at: int) -> int:
    """Behind the end of the line that `at` stands in, or that it ends."""
    if at > 0 and matter[at - 1] == "\n":
        return at
    return matter.index("\n", at) + 1


def _verify(matter: str, after: str, key: str, value: FieldValue) -> None:
    """Refuse an edit that would change anything else. Raises CannotEditError."""
    try:
        changed = split_text(after).matter
        old, new = compose(matter), compose(changed or "")
    except FrontMatterError as error:
        raise CannotEditError(
            say("{key} cannot be changed here: {message}", key=key, message=error.message)
        ) from error
    others = [_others(node, key) for node in (old, new)]
    mine = [node for name, node in new.value if name.value == key] if new is not None else []
    right = reads_as(mine[-1], key, value) if mine else value is None
    if others[0] != others[1] or not right:
        raise CannotEditError(say("{key} cannot be changed here without changing something else.", key=key))


def _others(node: yaml.MappingNode | None, key: str) -> list[object]:
    pairs = node.value if node is not None else []
    return [(_shape(name), _shape(value)) for name, value in pairs if name.value != key]


def _shape(node: yaml.Node) -> object:
    """What a node says, for comparison."""
    if isinstance(node, yaml.ScalarNode):
        return node.tag, node.value
    return node.tag, [_shape(part) for part in children(node)]


def reads_as(node: yaml.Node, key: str, value: FieldValue) -> bool:
    """Whether a node of the key means this value to OpenLoop."""
    if key in TEXT_KEYS and isinstance(node, yaml.ScalarNode):
        return value == (None if node.tag == NULL_TAG else node.value)
    try:
        found = SafeConstructor().construct_document(node)
    except (yaml.YAMLError, ValueError, ArithmeticError):
        return False
    wanted = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
    return bool(found == wanted) and isinstance(found, bool) is isinstance(wanted, bool)


# --- values --------------------------------------------------------------------------------------------


def _encoded(value: FieldValue, quote: str = "") -> str:
    """A value as YAML in one line. `quote`: the sign that the old one began with."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(int(value)) if value == int(value) else repr(float(value))
    if isinstance(value, str):
        return _text(value, quote)
    return f"[{', '.join(_text(item, in_list=True) for item in value or ())}]"


def _text(text: str, quote: str = "", *, in_list: bool = False) -> str:
    """Text without quotes where YAML takes it for the same text, else as it was quoted or with double
    ones."""
    single = "\n" not in text and "\r" not in text and not _NOT_PRINTABLE.search(text)
    if quote == "'" and single:
        return "'" + text.replace("'", "''") + "'"
    if quote != '"' and single and _is_plain(text, in_list=in_list):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda found: _escape(found[0]), quoted)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_plain(text: str, *, in_list: bool) -> bool:
    written = f"k: [{text}, x]" if in_list else f"k: {text}"
    try:
        node = compose(written)
    except FrontMatterError:
        return False
    found = node.value[0][1] if node is not None and len(node.value) == 1 else None
    if in_list and isinstance(found, yaml.SequenceNode) and len(found.value) == 2:
        found = found.value[0]
    return (
        isinstance(found, yaml.ScalarNode)
        and found.tag == _STRING_TAG
        and found.value == text
        and found.style in (None, "")
    )


# --- the file ------------------------------------------------------------------------------------------


def save_agent(path: Path, text: str, known: bytes | None) -> bytes:
    """Write an agent file, whole at any moment; gives the bytes that it then has. Links are followed.

    `known`: what the file may have now; None: there may be none. A file that is gone is made again.
    Raises ChangedOnDiskError for a file that has something else, and UserFileError with words for why it
    cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        what = say("The text has half of a character in it, which no file can hold.")
        raise UserFileError([Problem(what, suggestion=say("Take it out."), file=path, line=line)]) from error
    found = read_bytes(target) if target.exists() else None
    if found is not None and found != known:
        raise ChangedOnDiskError(found)
    if found == data:
        return data
    try:
        if found is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, data)
    except OSError as error:
        raise UserFileError([_unwritable(path, target, error)]) from error
    return data


def create_agent_file(path: Path, text: str) -> None:
    """Write a new agent file, and its folder where that is missing. Raises UserFileError, also where there
    is a file already: nothing is overwritten, and nothing half is left behind."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as stream:
            try:
                stream.write(text.encode("utf-8"))
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    # It tries once more to write what is left.
                    stream.close()
                path.unlink(missing_ok=True)
                raise
    except FileExistsError as error:
        raise UserFileError(
            [
                Problem(
                    say("There is already a file {name} in this folder.", name=path.name),
                    "",
                    say("Choose another name."),
                )
            ]
        ) from error
    except OSError as error:
        raise UserFileError([_unwritable(path, path, error)]) from error


def can_be_written(path: Path) -> bool:
    """Whether saving to this file would be allowed, as far as permissions tell."""
    target = Path(os.path.realpath(path))
    return os.access(target if target.exists() else target.parent, os.W_OK)


def _unwritable(path: Path, target: Path, error: OSError) -> Problem:
    if target.exists() and not os.access(target, os.W_OK):
        return Problem(
            say("{name} is read-only.", name=path.name),
            "",
            say("Make it writable, or save a duplicate."),
            file=path,
        )
    if isinstance(error, PermissionError):
        return Problem(
            say("The folder {folder} is read-only.", folder=target.parent),
            "",
            say("Make it writable, or save a duplicate."),
            file=path,
        )
    return Problem(
        say("{name} cannot be written: {error}.", name=path.name, error=error.strerror or error), file=path
    )
