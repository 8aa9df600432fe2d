"""Runs told event by event, as an engine would, for what only looks at them."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    RetryScheduled,
    RunFinished,
    RunStarted,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.plan import Place
from core.progress import RunProgress
from core.run_times import Savings, savings_of
from core.state import Phase

START = 1000.0


@dataclass
class Story:
    """Tells a run event by event; times in seconds from its begin."""

    events: list[Event] = field(default_factory=lambda: [RunStarted(time=START, run_id="r", max_loops=9)])

    def group(
        self,
        at: float,
        *labels: str,
        parallel: bool = True,
        phase: Phase = "loop",
        iteration: int = 1,
        index: int = 0,
    ) -> list[str]:
        turns = tuple(
            TurnRef(f"{phase}/{iteration}/{index}/{n}", Place(phase, index, n), label, label, f"{n}-{label}")
            for n, label in enumerate(labels)
        )
        self.events.append(
            GroupStarted(
                time=START + at,
                phase=phase,
                iteration=iteration,
                group=index,
                name="g",
                mode="parallel" if parallel else "sequential",
                turns=turns,
            )
        )
        return [ref.turn for ref in turns]

    def begin(self, turn: str, at: float) -> None:
        self.events.append(TurnStarted(time=START + at, turn=turn))
        self.attempt(turn, at)

    def attempt(self, turn: str, at: float, number: int = 1, kind: AttemptKind = AttemptKind.FIRST) -> None:
        self.events.append(AttemptStarted(time=START + at, turn=turn, number=number, kind=kind))

    def attempt_ends(self, turn: str, at: float, problem: str = "", retry_in: float | None = None) -> None:
        self.events.append(AttemptFinished(time=START + at, turn=turn, problem=problem))
        if retry_in is not None:
            self.events.append(RetryScheduled(time=START + at, turn=turn, seconds=retry_in))

    def end(self, turn: str, at: float, status: TurnStatus = TurnStatus.SUCCEEDED) -> None:
        # As the engine says it of a process that it ended.
        self.attempt_ends(turn, at, "It was ended." if status is TurnStatus.STOPPED else "")
        self.events.append(TurnFinished(time=START + at, turn=turn, status=status))

    def turn(self, turn: str, began: float, ended: float) -> None:
        self.begin(turn, began)
        self.end(turn, ended)

    def add(self, *events: Event) -> None:
        self.events.extend(events)

    def finish(self, at: float) -> None:
        self.add(RunFinished(time=START + at))

    @property
    def progress(self) -> RunProgress:
        progress = RunProgress()
        progress.apply_all(self.events)
        return progress

    def savings(self, now: float) -> Savings:
        return savings_of(self.progress, START + now)
