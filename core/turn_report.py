"""What a turn tells: lines of its transcript and of the run's overview, and events."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.backends.base import OutputEvent
from core.events import AttemptKind, Event, Noted
from core.transcript import Kind, TurnTranscript


class TurnReport:
    """Writes for one turn, once `open` has told where to; `close` may be called twice."""

    def __init__(self, turn: str, publish: Callable[[Event], None]) -> None:
        self._turn = turn
        self.publish = publish
        self._transcripts: tuple[TurnTranscript, ...] = ()

    def open(self, *transcripts: TurnTranscript) -> None:
        """Write into these from now on."""
        self._transcripts = transcripts

    def close(self) -> None:
        """Close the transcripts."""
        for transcript in self._transcripts:
            transcript.close()
        self._transcripts = ()

    def note(self, message: str, kind: Kind = Kind.NOTE) -> None:
        """A line of OpenLoop's own in the transcripts."""
        for transcript in self._transcripts:
            transcript.note(message, time.time(), kind)

    def tell(self, message: str, *, warning: bool = False, silence: bool = False) -> None:
        """A line of OpenLoop's own, also for the notes of the run. `silence`: see `Noted`."""
        self.note(message, Kind.WARNING if warning else Kind.NOTE)
        self.publish(
            Noted(time=time.time(), turn=self._turn, message=message, warning=warning, silence=silence)
        )

    def attempt(self, number: int, kind: AttemptKind, reason: str, now: float) -> None:
        """Another attempt begins. `now`: seconds since the epoch, here and below."""
        for transcript in self._transcripts:
            transcript.attempt(number, kind, reason, now)

    def output(self, event: OutputEvent, now: float) -> None:
        """Something the agent did."""
        for transcript in self._transcripts:
            transcript.event(event, now)

    def stderr(self, data: bytes, now: float) -> None:
        """Bytes of the agent's stderr, cut anywhere."""
        for transcript in self._transcripts:
            transcript.stderr(data, now)

    def update(self, summary: str, now: float) -> None:
        """The turn's update was accepted."""
        for transcript in self._transcripts:
            transcript.update(summary, now)
