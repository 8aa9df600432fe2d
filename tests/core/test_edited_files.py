"""Which files the CLIs' own output says were edited."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from core.backends.base import OutputReader, ToolUsed
from core.backends.claude import ClaudeReader
from core.backends.codex import CodexReader
from core.backends.demo import DemoReader
from core.backends.gemini import GeminiReader
from core.backends.opencode_reader import OpencodeReader


def edited(reader: OutputReader, *lines: object) -> list[tuple[str, ...]]:
    """By tool call, in order."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    events = [*reader.feed(data), *reader.finish()]
    return [event.edited for event in events if isinstance(event, ToolUsed)]


def opencode(tool: str, given: dict[str, object], status: str = "completed") -> object:
    state = {"status": status, "input": given, "output": "", "error": "no"}
    return {"type": "tool_use", "part": {"id": f"prt_{tool}", "tool": tool, "state": state}}


def claude(tool: str, given: dict[str, object], *, is_error: bool = False) -> tuple[object, object]:
    use = {"type": "tool_use", "id": "t", "name": tool, "input": given}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok", "is_error": is_error}
    return (
        {"type": "assistant", "message": {"id": "m", "content": [use]}},
        {"type": "user", "message": {"content": [result]}},
    )


def gemini(tool: str, given: dict[str, object], status: str = "success") -> tuple[object, object]:
    return (
        {"type": "tool_use", "tool_name": tool, "tool_id": "t", "parameters": given},
        {"type": "tool_result", "tool_id": "t", "status": status, "output": ""},
    )


@pytest.mark.parametrize(
    ("reader", "lines", "files"),
    [
        (OpencodeReader, [opencode("edit", {"filePath": "/p/a.py", "oldString": "x"})], ("/p/a.py",)),
        (OpencodeReader, [opencode("write", {"filePath": "/p/a.py"})], ("/p/a.py",)),
        (
            OpencodeReader,
            [opencode("apply_patch", {"patchText": "*** Begin Patch\n*** Add File: a.py\n+x\n"})],
            ("a.py",),
        ),
        (OpencodeReader, [opencode("read", {"filePath": "/p/a.py"})], ()),
        (OpencodeReader, [opencode("edit", {"filePath": "/p/a.py"}, "error")], ()),
        (ClaudeReader, claude("Edit", {"file_path": "/p/a.py"}), ("/p/a.py",)),
        (ClaudeReader, claude("NotebookEdit", {"notebook_path": "/p/a.ipynb"}), ("/p/a.ipynb",)),
        (ClaudeReader, claude("Read", {"file_path": "/p/a.py"}), ()),
        (ClaudeReader, claude("Write", {"file_path": "/p/a.py"}, is_error=True), ()),
        (GeminiReader, gemini("replace", {"file_path": "a.py"}), ("a.py",)),
        (GeminiReader, gemini("read_file", {"file_path": "a.py"}), ()),
        (GeminiReader, gemini("write_file", {"file_path": "a.py"}, "error"), ()),
        (
            CodexReader,
            [
                {
                    "type": "item.completed",
                    "item": {"type": "file_change", "changes": [{"path": "a.py"}], "status": "failed"},
                }
            ],
            (),
        ),
        (DemoReader, [{"type": "tool_use", "tool": "write", "title": "a.py"}], ("a.py",)),
        (DemoReader, [{"type": "tool_use", "tool": "bash", "title": "a.py"}], ()),
        (DemoReader, [{"type": "tool_use", "tool": "edit", "title": "a.py", "failed": True}], ()),
    ],
)
def test_a_reader_tells_files_that_a_call_changed(
    reader: Callable[[], OutputReader], lines: list[object], files: tuple[str, ...]
) -> None:
    assert edited(reader(), *lines) == [files]
