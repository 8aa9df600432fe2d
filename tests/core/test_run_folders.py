"""Where agents work of whom nobody said where: never in the root of a disk, or where nothing can be kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.config import Workflow, WorkflowFile
from core.platform_paths import data_folder
from core.run_folders import start_folder, unfit_current_folder, unsaved_workdir, workdir_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(home))
    return home


def test_work_is_done_in_the_current_folder_where_that_is_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert unfit_current_folder() is None
    assert unsaved_workdir() == tmp_path
    assert start_folder() == tmp_path


def test_the_root_of_a_disk_is_no_folder_to_work_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(home.anchor)
    monkeypatch.chdir(root)
    assert unfit_current_folder() == root
    assert unsaved_workdir() == home / "OpenLoop"
    assert not unsaved_workdir().exists(), "it is made when it is needed"
    assert start_folder() == home
    unsaved_workdir().mkdir()
    assert start_folder() == home / "OpenLoop"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o500)
    monkeypatch.chdir(closed)
    assert unfit_current_folder() == closed
    assert unsaved_workdir() == home / "OpenLoop"
    home.chmod(0o500)
    assert unsaved_workdir() == data_folder() / "work"
    home.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is used cannot be taken away there")
def test_a_current_folder_that_was_taken_away_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert unfit_current_folder() is not None
    assert unsaved_workdir() == home / "OpenLoop"


def test_a_home_that_is_the_root_is_no_folder_to_work_in_either(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = home.anchor
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", root)
    monkeypatch.chdir(root)
    assert unsaved_workdir() == data_folder() / "work"


def test_a_relative_folder_of_a_workflow_without_a_file_is_below_the_one_it_would_work_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(tmp_path.anchor))
    file = WorkflowFile(workflow=Workflow(workdir="sub"))
    assert workdir_of(file, tmp_path) == tmp_path / "sub"
    assert workdir_of(WorkflowFile(workflow=Workflow())) == Path(tmp_path.anchor)
