"""A glance at a run's folder tells whether it can go on, as `prepare_resume` would say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.planning import NO_CAP, RunOverrides
from core.problems import UserFileError
from core.recorded_run import RecordedRun, read_run
from core.resume_check import check_resume
from core.resuming import prepare_resume
from tests.core.run_support import Workshop, resume


@pytest.fixture
def stopped(tmp_path: Path) -> RecordedRun:
    """A run that ended at its cap, in a folder of its own."""
    shop = Workshop(tmp_path)
    shop.agent("vera", cost_usd=0.5)
    shop.agent("linter")
    (tmp_path / "work").mkdir()
    run = shop.run(
        {
            "preparation_agents": ["vera", "linter"],
            "budget": {"max_cost_usd": 0.3},
            "workdir": str(tmp_path / "work"),
            "log_dir": str(tmp_path / "log"),
        }
    )
    return read_run(run.folder)


def test_a_run_that_can_go_on_has_no_obstacle(stopped: RecordedRun) -> None:
    check = check_resume(stopped)
    assert check.obstacle == ""
    assert check.workflow is not None
    assert check.workflow.budget.max_cost_usd == 0.3


def test_a_broken_workflow_is_an_obstacle(stopped: RecordedRun) -> None:
    (stopped.folder / "workflow.json").write_text('{"loop_agents": 7}')
    check = check_resume(stopped)
    assert check.obstacle.startswith("Its workflow.json cannot be used: ")
    assert check.workflow is None
    with pytest.raises(UserFileError):
        prepare_resume(stopped)
    (stopped.folder / "workflow.json").unlink()
    assert "is missing" in check_resume(stopped).obstacle


def test_a_work_folder_that_is_gone_is_an_obstacle_until_another_is_named(
    stopped: RecordedRun, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "work")
    assert f"is gone: {tmp_path / 'work'}." in check_resume(stopped).obstacle
    with pytest.raises(UserFileError):
        prepare_resume(stopped)
    (tmp_path / "elsewhere").mkdir()
    overrides = RunOverrides(workdir=tmp_path / "elsewhere", max_cost_usd=2.0)
    assert prepare_resume(stopped, overrides).plan.workdir == tmp_path / "elsewhere"


def test_a_run_goes_on_without_its_cap(stopped: RecordedRun) -> None:
    finished = resume(stopped.folder, overrides=RunOverrides(max_cost_usd=NO_CAP))
    assert finished.reason == "completed"
    kept = check_resume(read_run(stopped.folder)).workflow
    assert kept is not None
    assert kept.budget.max_cost_usd is None
