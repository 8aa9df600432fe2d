"""One agent after another, against a plain loop that runs, parses, merges and goes on.

    python benchmarks/sequential.py

Two kinds of agents: a C program that costs nothing, which shows what OpenLoop itself adds, and a Python
program that does nothing, the least that a real agent CLI costs. The target is meant for the second.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import floor
from benchmarks.report import Row, alone, milliseconds
from benchmarks.runs import RunFigures, measured_run, write_workflow
from core.agent import AgentDefinition
from core.json_types import JsonObject
from core.merge import merge_updates
from core.parser import parse_update
from core.prompts import build_prompt, shared_state
from core.state import Contribution, WorkflowState
from core.update_block import ParsedUpdate

AGENTS = 50
TIMES = 3


def rows() -> Iterator[Row]:
    """All rows."""
    for name, command, target in (
        ("Python agents", floor.python_agent(), 1.3),
        ("empty agents", floor.agent(), None),
    ):
        for agent_files in (1, 500):
            what = f"sequential, {name}, {agent_files} agent files"
            yield _against_loop(what, command, agent_files, {}, target)
    yield from _large_state(floor.python_agent(), 1.5)
    yield from _large_state(floor.agent(), None)


def payload_of(megabytes: float) -> JsonObject:
    """A payload whose JSON has about this size, as agents write them: objects of up to a hundred keys."""
    text = "what an agent found, in a sentence of about eighty characters, no more than that"
    sections = max(1, round(megabytes * 1e6 / 165 / 10 / 80))
    return {
        f"part{part}": {
            f"section{section}": {f"finding{number}": {"text": text, "line": number} for number in range(80)}
            for section in range(sections)
        }
        for part in range(10)
    }


def _ours(command: Sequence[str], agent_files: int, payload: JsonObject) -> RunFigures:
    with tempfile.TemporaryDirectory() as name:
        return measured_run(
            write_workflow(Path(name) / "work", command, AGENTS, agent_files=agent_files, payload=payload)
        )


def _plain_loop(command: Sequence[str], payload: JsonObject) -> float:
    """Seconds for the same agents and prompts without journal, folders, supervisor or limits."""
    state = WorkflowState(payload=payload)
    agent = AgentDefinition(name="worker", prompt="Do your work.")
    begun = time.perf_counter()
    for _ in range(AGENTS):
        pieces = build_prompt(agent, shared_state(state.to_json()), may_complete=False, label="worker")
        answer = subprocess.run(command, input=b"".join(pieces), capture_output=True, check=True).stdout
        parsed = parse_update(answer.decode())
        assert isinstance(parsed, ParsedUpdate), parsed
        state = merge_updates(state, [Contribution("worker", parsed.update)], {}).state
    return time.perf_counter() - begun


def _against_loop(
    what: str, command: Sequence[str], agent_files: int, payload: JsonObject, target: float | None
) -> Row:
    pairs = [(_ours(command, agent_files, payload), _plain_loop(command, payload)) for _ in range(TIMES)]
    ours = statistics.median(run.groups for run, _ in pairs) / AGENTS
    plain = statistics.median(loop for _, loop in pairs) / AGENTS
    ratio = statistics.median(run.groups / loop for run, loop in pairs)
    return Row(
        what,
        f"{milliseconds(ours)}/agent",
        f"plain loop {milliseconds(plain)}",
        ratio,
        f"<= {target}" if target else "",
        ratio <= target if target else None,
    )


def _large_state(command: Sequence[str], target: float | None) -> Iterator[Row]:
    name = "Python agents" if command[0] == sys.executable else "empty agents"
    payload = payload_of(1)
    yield _against_loop(f"sequential, {name}, 1 MB of state", command, 1, payload, target)
    if target is not None:
        small, large = _ours(command, 1, {}), _ours(command, 1, payload)
        growth = (large.journal - small.journal) / AGENTS
        yield Row(
            "  journal: growth per agent by the 1 MB of state",
            f"{growth:,.0f} B",
            f"without {small.journal / AGENTS:,.0f} B",
            None,
            "by the update only",
            growth < 1000,
        )


if __name__ == "__main__":
    alone(__doc__, rows)
