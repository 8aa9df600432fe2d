"""The last state of a run for its report, and the workflow as it was run."""

from __future__ import annotations

from pathlib import Path

import orjson

from core.json_types import JsonValue
from core.recorded_run import RecordedRun
from core.report_model import StateReport
from core.run_files import STATE_NAME, WORKFLOW_NAME
from core.state_history import StateHistory, StateUnknown


def last_state(run: RecordedRun) -> StateReport | None:
    """The state after the last merge. None: it cannot be told."""
    if run.status is not None:
        # One of an earlier life of the run may still lie there.
        state = _read(run.folder / STATE_NAME)
        if isinstance(state, dict) and state.get("termination_reason") == run.reason:
            return StateReport("file", state)
    history = StateHistory(past=run)
    try:
        look = history.look(history.count - 1)
    except (StateUnknown, OSError):
        return None
    made = look.state
    return StateReport(
        "merged",
        {
            "current_phase": made.current_phase,
            "iteration": made.iteration,
            "is_complete": made.is_complete,
            "termination_reason": run.reason or made.termination_reason,
            "payload": made.payload,
            "meta": made.meta,
        },
    )


def workflow_as_run(folder: Path) -> JsonValue:
    """What stands in the run folder's workflow file; None: it is gone or broken."""
    return _read(folder / WORKFLOW_NAME)


def _read(path: Path) -> JsonValue:
    try:
        value: JsonValue = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value
