"""Examples run anywhere, at once and alone: in whatever folder, with whatever agents there are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import resources
from core.agent_folders import user_agents_folder
from core.events import RunFinished, TurnStarted
from core.run_folders import example_workdir
from tests.e2e.desk import Desk


def test_an_example_runs_where_the_current_folder_cannot_be_written(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir("/")
    example = resources.example_workflow("author_and_auditor")
    user_agents_folder().mkdir(parents=True)
    (user_agents_folder() / "author.md").write_text("---\nbackend: opencode\n---\nSpend.\n", encoding="utf-8")
    desk.open(example)
    desk.until(
        lambda: (
            desk.document.library is not None
            and desk.document.library.folders == desk.window.agents.source.folders
        ),
        "the agents were never read",
    )
    assert example_workdir(example).is_dir()
    shutil.rmtree(example_workdir(example))
    desk.window.start_run()
    desk.until_ended()
    assert [event.termination_reason for event in desk.events if isinstance(event, RunFinished)] == [
        "completed"
    ]
    assert {event.backend for event in desk.events if isinstance(event, TurnStarted)} == {"demo"}
    assert list((example_workdir(example) / ".openloop").glob("*/journal.jsonl"))
