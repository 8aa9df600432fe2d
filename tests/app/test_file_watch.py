"""Changes of a file by other programs: all are noticed, whenever they come."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.file_watch import FileWatch


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.json"
    path.write_text("one")
    return path


def test_a_change_between_two_ticks_of_the_clock_is_noticed(path: Path, qtbot: QtBot) -> None:
    watch = FileWatch()
    watch.follow(path)
    before = path.stat()
    with qtbot.waitSignal(watch.changed):
        path.write_text("two")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_mtime_ns, after.st_size, after.st_ino) == (
        before.st_mtime_ns,
        before.st_size,
        before.st_ino,
    )


def test_a_change_while_one_begins_to_watch_is_noticed(
    path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = FileWatch._read

    def read_and_change(watch: FileWatch) -> object:
        monkeypatch.undo()
        found = read(watch)
        path.write_text("another one")
        return found

    monkeypatch.setattr(FileWatch, "_read", read_and_change)
    watch = FileWatch()
    with qtbot.waitSignal(watch.changed):
        watch.follow(path)


def test_a_touch_and_a_replacement_by_the_same_are_no_changes(path: Path, qtbot: QtBot) -> None:
    watch = FileWatch()
    watch.follow(path)
    told: list[int] = []
    watch.changed.connect(lambda: told.append(1))
    os.utime(path, (1_000, 1_000))
    other = path.with_name("other")
    other.write_text("one")
    other.replace(path)
    qtbot.waitUntil(lambda: watch._stamp is not None and watch._stamp.inode == path.stat().st_ino)
    assert told == []
    with qtbot.waitSignal(watch.changed):
        path.unlink()
    with qtbot.waitSignal(watch.changed):
        path.write_text("one")
