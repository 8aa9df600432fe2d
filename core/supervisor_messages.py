"""What OpenLoop and its supervisor tell each other, over a pipe.

Messages are tuples (the aliases below), written with `marshal` behind a length: both ends run the same
interpreter, and importing `json` alone would double the supervisor's time to start.
"""

from __future__ import annotations

import marshal

TYPE_CHECKING = False  # `typing` costs milliseconds at every start of the supervisor
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    StartCommand: TypeAlias = tuple[
        Literal["start"], int, str, tuple[str, ...], str, dict[str, str], tuple[str, str, str], str, int
    ]
    """("start", turn, program, argv, cwd, environment, (stdin, stdout, stderr), mark, nice)"""
    StopCommand: TypeAlias = tuple[Literal["stop"], int, float]
    """("stop", turn, grace)"""
    StopAllCommand: TypeAlias = tuple[Literal["stop_all"], int, float]
    """("stop_all", request, grace)"""
    Command: TypeAlias = StartCommand | StopCommand | StopAllCommand
    StartedReply: TypeAlias = tuple[Literal["started"], int, int, float]
    """("started", turn, pid, start time in epoch seconds)"""
    StartFailedReply: TypeAlias = tuple[Literal["start_failed"], int, str, int, str]
    """("start_failed", turn, stage, errno, path)"""
    ExitedReply: TypeAlias = tuple[
        Literal["exited"], int, int | None, int | None, int, bool, float, int, tuple[int, ...]
    ]
    """("exited", turn, exit code, signal, left behind, killed by us, seconds, peak rss, survivors)"""
    AllStoppedReply: TypeAlias = tuple[Literal["all_stopped"], int]
    """("all_stopped", request)"""
    BrokenReply: TypeAlias = tuple[Literal["broken"], str]
    """("broken", traceback)"""
    Reply: TypeAlias = StartedReply | StartFailedReply | ExitedReply | AllStoppedReply | BrokenReply


def pack(message: Command | Reply) -> bytes:
    """One message as it crosses the pipe."""
    body = marshal.dumps(message)
    return len(body).to_bytes(4, "little") + body


class Unpacker:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """The messages that are complete now: at the supervisor's end commands, at the other end replies."""
        rest = self._rest
        rest += data
        messages = []
        start = 0
        while len(rest) - start >= 4:
            end = start + 4 + int.from_bytes(rest[start : start + 4], "little")
            if len(rest) < end:
                break
            messages.append(marshal.loads(rest[start + 4 : end]))
            start = end
        del rest[:start]
        return messages
