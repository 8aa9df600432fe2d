"""What is in a run folder, by name (docs/run-semantics.md)."""

from __future__ import annotations

WORKFLOW_NAME = "workflow.json"
"""The workflow as it was run."""
STATE_NAME = "state.json"
"""The last state."""
OVERVIEW_NAME = "overview.log"
"""All agents' output in one log."""
TURNS_NAME = "turns"
"""A folder for each turn."""
AGENTS_NAME = "agents"
"""The agents' files as they were when the run began."""
INIT_NAME = "init"
"""What the `init_script` printed."""
LOCK_NAME = "run.lock"
"""Held by the process that runs it."""
UPDATE_NAME = "update.json"
"""A turn's update, in its folder."""
PROMPT_NAME = "prompt.md"
"""What a turn was sent first, in its folder."""


def correction_name(attempt: int) -> str:
    """What a turn was sent after this attempt, because its answer could not be used, in its folder."""
    return f"correction-{attempt}.md"


def earlier_prompt_name(attempt: int) -> str:
    """What a turn that began again was sent before, up to this attempt, where that was not the same."""
    return f"prompt-{attempt}.md"
