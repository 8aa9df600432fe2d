"""Prompts, merges, updates and end conditions with a state of 10 MB and hostile answers.

python benchmarks/state.py
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.report import Row, alone, milliseconds
from benchmarks.sequential import payload_of
from core.agent import AgentDefinition
from core.condition import compile_condition
from core.json_types import JsonObject
from core.merge import merge_updates
from core.parser import parse_update
from core.prompts import build_prompt, shared_state
from core.state import Contribution, StateUpdate, WorkflowState

AGENTS = 10
TIMES = 7
OPEN, CLOSE = "<state_update>", "</state_update>"
HOSTILE_BYTES = 280_000


def timed(work: Callable[[], object], times: int = TIMES) -> float:
    """Median seconds of a piece of work."""
    measured = []
    for _ in range(times):
        gc.collect()
        begun = time.perf_counter()
        work()
        measured.append(time.perf_counter() - begun)
    return statistics.median(measured)


def rows() -> Iterator[Row]:
    """All rows."""
    large = WorkflowState(payload=payload_of(10))
    yield from _prompts(large)
    yield from _merges(large)
    yield from _parsing()
    yield from _conditions(large)


def _prompts(state: WorkflowState) -> Iterator[Row]:
    agent = AgentDefinition(name="worker", prompt="Do your work.")
    labels = [f"worker {number}" for number in range(AGENTS)]

    def make() -> list[list[bytes]]:
        text = shared_state(state.to_json())
        return [build_prompt(agent, text, may_complete=False, label=label, beside=labels) for label in labels]

    size = len(state.to_json()) / 1e6
    took = timed(make)
    what = f"ten prompts with a state of {size:.0f} MB: making them"
    yield Row(what, milliseconds(took), "", None, "<= 18 ms", took <= 18e-3)
    with tempfile.TemporaryDirectory() as name:

        def write() -> None:
            for number, pieces in enumerate(prompts):
                with Path(name, str(number)).open("wb") as file:
                    for piece in pieces:
                        file.write(piece)

        prompts = make()
        yield Row("  writing them to ten files", milliseconds(timed(write, 3)))


def _merges(large: WorkflowState) -> Iterator[Row]:
    small = WorkflowState(payload=payload_of(0.1))
    updates = [
        Contribution(f"worker {number}", StateUpdate(payload=_update(number))) for number in range(AGENTS)
    ]
    took = timed(lambda: merge_updates(large, updates, {}), 21)
    little = timed(lambda: merge_updates(small, updates, {}), 21)
    yield Row("merging ten updates into 10 MB", milliseconds(took), "", None, "<= 1 ms", took <= 1e-3)
    yield Row(
        "  against the same into 0.1 MB",
        milliseconds(took),
        f"0.1 MB {milliseconds(little)}",
        took / little,
        "<= 5",
        took / little <= 5,
    )


def _update(number: int) -> JsonObject:
    finding: JsonObject = {"text": "new", "line": number}
    return {f"part{number}": {"section0": {"finding0": finding}}, "by": number}


def _hostile() -> dict[str, str]:
    def filled(piece: str) -> str:
        return piece * (HOSTILE_BYTES // len(piece))

    return {
        "opening tags": filled(OPEN),
        "closing tags": filled(CLOSE),
        "empty pairs": filled(OPEN + CLOSE),
        "openings, then closings": filled(OPEN)[: HOSTILE_BYTES // 2] + filled(CLOSE)[: HOSTILE_BYTES // 2],
        "nested objects": OPEN + "{" * HOSTILE_BYTES + CLOSE,
        "nested lists": OPEN + '{"payload":' + "[" * HOSTILE_BYTES + CLOSE,
        "broken updates": filled(OPEN + '{"payload": {' + CLOSE),
        "quotes and tags": filled(OPEN + '{"a": "' + CLOSE),
        "fences": filled("```json\n{"),
        "fenced objects": filled('```json\n{"b": 1}\n```\n'),
        "backticks": "`" * HOSTILE_BYTES,
    }


def _parsing() -> Iterator[Row]:
    times = {name: timed(lambda text=text: parse_update(text), 3) for name, text in _hostile().items()}  # type: ignore[misc]
    worst = max(times, key=lambda name: times[name])
    yield Row(
        f"finding the update in 280 kB of hostile tags ({len(times)} kinds)",
        milliseconds(times[worst]),
        f"worst: {worst}",
        None,
        "<= 5 ms",
        times[worst] <= 5e-3,
    )
    twice = _hostile()[worst] * 2
    doubled = timed(lambda: parse_update(twice), 3)
    growth = doubled / times[worst]
    what = "  the worst of them, twice as long"
    yield Row(what, milliseconds(doubled), "", growth, "linear (<= 3)", growth <= 3)
    text = "an agent says what it does, and says it at great length, line by line\n" * 2_860_000
    answer = f'{text}{OPEN}{{"payload": {{"done": 1}}}}{CLOSE}\n'
    took = timed(lambda: parse_update(answer), 3)
    yield Row("  at the end of 200 MB", milliseconds(took), "", None, "<= 100 ms", took <= 0.1)
    answer = f'{OPEN}{{"payload": {{"done": 1}}}}{CLOSE}\n{text}'
    took = timed(lambda: parse_update(answer), 3)
    yield Row("  at the beginning of 200 MB", milliseconds(took), "", None, "<= 100 ms", took <= 0.1)
    took = timed(lambda: parse_update(text), 3)
    yield Row("  200 MB without any", milliseconds(took))


def _conditions(large: WorkflowState) -> Iterator[Row]:
    small = WorkflowState(payload={"score": 50})
    payload: JsonObject = {**large.payload, "score": 50}
    big = WorkflowState(payload=payload)
    for source in ("is_complete == True", "payload.get('score', 0) >= 90 and iteration > 2"):
        condition = compile_condition(source)

        def check(state: WorkflowState, holds: Callable[[WorkflowState], bool] = condition.holds) -> float:
            return timed(lambda: [holds(state) for _ in range(1000)], 5) / 1000

        took, little = check(big), check(small)
        yield Row(
            f"end condition, cached: {source[:32]}",
            milliseconds(took),
            f"small state {milliseconds(little)}",
            took / little,
            "<= 5 us, same",
            took <= 5e-6 and took / little <= 2,
        )


if __name__ == "__main__":
    alone(__doc__, rows)
