"""Runs for tests of the report, written as a journal: hostile, huge, cut off, as no agent does on order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    RunFinished,
    RunStarted,
    RunStatus,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.journal import JOURNAL_NAME
from core.json_types import JsonObject
from core.plan import Place
from core.recorded_run import RecordedRun, read_run
from core.run_files import STATE_NAME, WORKFLOW_NAME
from core.state import Conflict, Phase, StateUpdate, WorkflowState
from core.usage import Usage

BEGAN = 1_700_000_000.0
HOSTILE = (
    "</script><script>document.title='taken'</script>",
    "</title></style><img src=http://evil.invalid/a.png onerror=alert(1)>",
    "<svg onload=alert(1)><use href='http://evil.invalid/b.svg#x'/></svg>",
    '<a href="javascript:alert(1)">click</a> javascript:alert(2)',
    "{{ page }} {% raw %} ${alert(3)} &lt;b&gt; &#60;i&#62;",
    '" onmouseover="alert(4)" x=\'',
    "\u202etxt.exe\u202c \u2066x\u2069 \u200b\ufeff",
    "nul\0 esc\x1b[2J bell\x07 c1\x9b31m return\rline",
    "<!-- --> ]]> <![CDATA[ <textarea> <plaintext> </details></ul></table>",
    "@import url(http://evil.invalid/c.css); url(//evil.invalid/d)",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e algo",
)
"""Texts that must come out as text."""


@dataclass
class JournalOf:
    """Writes the journal of a run step by step. Every turn takes a second."""

    folder: Path
    name: str = "audit"
    now: float = BEGAN
    events: list[Event] = field(default_factory=list)
    workflow: JsonObject = field(default_factory=dict)

    def start(self, resumed: bool = False) -> None:
        self.events.append(
            RunStarted(
                time=self.now,
                run_id=self.folder.name,
                workflow=self.name,
                folder=str(self.folder),
                workdir="/home/someone/project",
                version="1.2.3",
                max_loops=5,
                resumed=resumed,
            )
        )

    def group(
        self,
        labels: Sequence[str],
        updates: Iterable[JsonObject | None],
        *,
        phase: Phase = "loop",
        iteration: int = 1,
        index: int = 0,
        name: str = "",
        conflicts: tuple[Conflict, ...] = (),
        message: str = "It failed.",
        detail: str = "",
    ) -> None:
        """A parallel group: its turns begin together and end one after the other. Update None: it failed."""
        ids = [f"{phase}/{iteration}/{index}/{entry}" for entry in range(len(labels))]
        refs = tuple(
            TurnRef(turn, Place(phase, index, entry), label, label, f"{entry:03}-{label}")
            for entry, (turn, label) in enumerate(zip(ids, labels, strict=True))
        )
        self.events += [PhaseStarted(time=self.now, phase=phase)]
        if phase == "loop":
            self.events.append(IterationStarted(time=self.now, iteration=iteration))
        self.events.append(
            GroupStarted(
                time=self.now,
                phase=phase,
                iteration=iteration,
                group=index,
                name=name or f"{phase} {index + 1}",
                mode="parallel",
                turns=refs,
            )
        )
        began = self.now
        for turn in ids:
            self.events += [
                TurnStarted(time=began, turn=turn, backend="demo", prompt_bytes=1_000),
                AttemptStarted(time=began, turn=turn, number=1, kind=AttemptKind.FIRST),
            ]
        writers = []
        for turn, label, payload in zip(ids, labels, updates, strict=True):
            self.now += 1.0
            usage = Usage(input_tokens=1_000, output_tokens=100, cost_usd=0.01)
            self.events += [
                UsageReported(time=self.now, turn=turn, usage=usage),
                AttemptFinished(
                    time=self.now,
                    turn=turn,
                    number=1,
                    exit_code=0,
                    problem="" if payload is not None else message,
                ),
            ]
            if payload is None:
                self.events.append(
                    TurnFinished(
                        time=self.now,
                        turn=turn,
                        status=TurnStatus.FAILED,
                        message=message,
                        detail=detail,
                        usage=usage,
                    )
                )
                continue
            writers.append(label)
            self.events.append(
                TurnFinished(time=self.now, turn=turn, update=StateUpdate(payload=payload), usage=usage)
            )
        self.events.append(
            Merged(
                time=self.now,
                phase=phase,
                iteration=iteration,
                group=index,
                writers=tuple(writers),
                conflicts=conflicts,
            )
        )

    def note(self, message: str, turn: str | None = None, *, warning: bool = False) -> None:
        self.events.append(Noted(time=self.now, turn=turn, message=message, warning=warning))

    def finish(
        self, payload: JsonObject | None = None, *, reason: str = "completed", message: str = "It is done."
    ) -> None:
        """The end; with a payload the run folder gets a state file."""
        status = RunStatus.COMPLETED if reason == "completed" else RunStatus.FAILED
        self.events.append(
            RunFinished(time=self.now, status=status, termination_reason=reason, message=message)
        )
        if payload is not None:
            state = WorkflowState("loop", 1, True, reason, payload)
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / STATE_NAME).write_bytes(state.to_json())

    def read(self) -> RecordedRun:
        """The run as its folder tells it now."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in self.events]
        (self.folder / JOURNAL_NAME).write_bytes(b"".join(lines))
        workflow = {"name": self.name, "loop_agents": [{"agents": [], "mode": "parallel"}], **self.workflow}
        (self.folder / WORKFLOW_NAME).write_bytes(orjson.dumps(workflow))
        return read_run(self.folder)


def hostile_run(folder: Path) -> RecordedRun:
    """A run in which every text that others write is one of HOSTILE."""
    text = " ".join(HOSTILE)
    journal = JournalOf(folder, name=text)
    journal.workflow = {"init_script": text}
    journal.start()
    conflict = Conflict.__new__(Conflict)
    object.__setattr__(conflict, "path", f"payload.{text}")
    for key, value in {
        "rule": "last",
        "first_writer": text,
        "first_value": text,
        "second_writer": text,
        "second_value": [text],
        "outcome": {text: text},
    }.items():
        object.__setattr__(conflict, key, value)
    journal.group(
        [*HOSTILE, "broken"],
        [*({text: text, "list": [text, {text: None}]} for _ in HOSTILE), None],
        name=text,
        conflicts=(conflict,),
        message=text,
        detail=text,
    )
    journal.note(text, "loop/1/0/0", warning=True)
    journal.note(text)
    journal.finish({text: text, "deep": {text: [text]}}, reason=f"agent_error:{text}", message=text)
    return journal.read()


def large_run(folder: Path, *, iterations: int = 100, agents: int = 10, answer: int = 10_000) -> RecordedRun:
    """A run of `iterations` times `agents` turns with answers of `answer` bytes, and a state of 10 MB."""
    journal = JournalOf(folder)
    journal.start()
    labels = [f"agent_{number}" for number in range(agents)]
    for iteration in range(1, iterations + 1):
        updates: list[JsonObject] = [
            {"iteration": iteration, label: {"text": "word " * (answer // 5)}} for label in labels
        ]
        journal.group(labels, updates, iteration=iteration)
    state: JsonObject = {
        "files": [{"name": f"file_{number}", "text": "x" * 1_000} for number in range(9_000)],
        "one": "line " * 200_000,
    }
    journal.finish(state)
    return journal.read()
