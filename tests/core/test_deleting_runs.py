"""Deleting recorded runs: nothing but runs, none that goes on, and what could not be deleted is said."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.deleting_runs import NotDeleted, RunSize, delete_run, deletion_obstacle, size_of_run
from core.open_runs import RunLock
from core.recorded_run import run_folders
from tests.core.run_support import Workshop

needs_ordinary_user = pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="permissions hold nobody back here"
)


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "log"
    folder.mkdir()
    return folder


def make_run(log_dir: Path, name: str = "20250101-000001-aaaaaa") -> Path:
    folder = log_dir / name
    (folder / "turns" / "001-vera").mkdir(parents=True)
    for file in ("journal.jsonl", "workflow.json", "turns/001-vera/stdout.log"):
        (folder / file).write_bytes(b"x" * 10)
    return folder


def test_a_real_run_is_deleted_for_good(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera")
    run = shop.run({"preparation_agents": ["vera"]})
    other = shop.run({"preparation_agents": ["vera"]})
    assert size_of_run(run.folder).bytes > 500
    delete_run(run.folder, tmp_path / ".openloop")
    assert run_folders(tmp_path / ".openloop") == [other.folder]
    assert sorted(path.name for path in (tmp_path / ".openloop").iterdir()) == [
        ".gitignore",
        other.folder.name,
    ]


def test_sizes_count_links_as_links(log_dir: Path, tmp_path: Path) -> None:
    folder = make_run(log_dir)
    assert size_of_run(folder) == RunSize(3, 30)
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    (folder / "link").symlink_to(tmp_path / "large")
    (folder / "loop").symlink_to(folder)
    size = size_of_run(folder)
    assert (size.files, size.whole) == (5, True)
    assert size.bytes < 10_000
    assert not size_of_run(folder, lambda: True).whole, "looking can be given up"
    assert size_of_run(tmp_path / "nowhere") == RunSize(whole=False)


def test_what_links_lead_to_stays(log_dir: Path, tmp_path: Path) -> None:
    folder = make_run(log_dir)
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "file").touch()
    (folder / "turns" / "out").symlink_to(treasure)
    delete_run(folder, log_dir)
    assert not folder.exists()
    assert (treasure / "file").exists()


def test_only_runs_of_this_log_folder_may_be_deleted(log_dir: Path, tmp_path: Path) -> None:
    elsewhere = make_run(tmp_path / "other")
    notes = log_dir / "notes"
    notes.mkdir()
    link = log_dir / "20250101-000002-bbbbbb"
    link.symlink_to(elsewhere)
    file = log_dir / "20250101-000003-cccccc"
    file.touch()
    for path, words in (
        (elsewhere, "does not lie in"),
        (log_dir / "..", "does not lie in"),
        (log_dir, "does not lie in"),
        (notes, "not the folder of a run"),
        (link, "only a link"),
        (file, "not the folder of a run"),
        (log_dir / "20250101-000009-dddddd", "gone already"),
    ):
        assert words in deletion_obstacle(path, log_dir)
        with pytest.raises(NotDeleted, match=words):
            delete_run(path, log_dir)
    assert link.is_symlink()
    assert (elsewhere / "journal.jsonl").exists()
    assert notes.is_dir()


HOLDER = """
import sys
from pathlib import Path
from core.open_runs import RunLock
lock = RunLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held_elsewhere(log_dir: Path) -> Iterator[Path]:
    folder = make_run(log_dir)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield folder
        holder.communicate(b"")


def test_a_run_that_goes_on_is_never_deleted(held_elsewhere: Path, log_dir: Path) -> None:
    with pytest.raises(NotDeleted, match="going on already"):
        delete_run(held_elsewhere, log_dir)
    with pytest.raises(NotDeleted, match="going on already"):
        delete_run(held_elsewhere, log_dir, lambda folder: pytest.fail(f"{folder} was thrown away"))
    assert (held_elsewhere / "journal.jsonl").exists()


def test_the_trash_gets_the_run_whole_and_nobody_can_resume_it_meanwhile(
    log_dir: Path, tmp_path: Path
) -> None:
    folder = make_run(log_dir)
    trash = tmp_path / "trash"

    def throw_away(path: Path) -> bool:
        if os.name != "nt":
            with pytest.raises(Exception, match="going on already"):
                RunLock(path).acquire()
        path.rename(trash)
        return True

    delete_run(folder, log_dir, throw_away)
    assert not folder.exists()
    assert (trash / "turns" / "001-vera" / "stdout.log").exists()


def test_what_the_trash_refuses_is_as_it_was(log_dir: Path) -> None:
    folder = make_run(log_dir)
    before = sorted(folder.rglob("*"))
    with pytest.raises(NotDeleted, match="trash"):
        delete_run(folder, log_dir, lambda _folder: False)
    assert sorted(folder.rglob("*")) == before
    RunLock(folder).acquire()


@needs_ordinary_user
def test_folders_that_an_agent_left_without_rights_are_deleted_too(log_dir: Path) -> None:
    folder = make_run(log_dir)
    (folder / "turns" / "001-vera").chmod(stat.S_IRUSR | stat.S_IXUSR)
    (folder / "turns").chmod(0)
    delete_run(folder, log_dir)
    assert list(log_dir.iterdir()) == []


@needs_ordinary_user
def test_a_log_folder_that_may_only_be_read_keeps_its_runs_and_it_is_said(log_dir: Path) -> None:
    folder = make_run(log_dir)
    log_dir.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(NotDeleted, match="may not change it"):
            delete_run(folder, log_dir)
    finally:
        log_dir.chmod(stat.S_IRWXU)
    assert (folder / "journal.jsonl").exists()


def test_what_is_left_is_named_and_is_no_run(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run(log_dir)

    def refuse(path: object, **_: object) -> None:
        raise_error = _["onerror"]
        assert callable(raise_error)
        error = PermissionError(13, "Permission denied")
        raise_error(os.unlink, str(path), (PermissionError, error, None))

    monkeypatch.setattr("core.deleting_runs.shutil.rmtree", refuse)
    with pytest.raises(NotDeleted, match=r"Part of it is left in .*deleted-"):
        delete_run(folder, log_dir)
    assert run_folders(log_dir) == []
    (left,) = log_dir.iterdir()
    assert deletion_obstacle(left, log_dir) == "It is not the folder of a run."
