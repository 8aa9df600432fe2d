"""The user's folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import platform_paths

FOLDERS = [
    platform_paths.config_folder,
    platform_paths.data_folder,
    platform_paths.cache_folder,
    platform_paths.state_folder,
]


def test_one_variable_moves_every_folder_and_keeps_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path))
    folders = [folder() for folder in FOLDERS]
    assert {folder.parent for folder in folders} == {tmp_path}
    assert len(set(folders)) == len(FOLDERS)
    assert not any(folder.exists() for folder in folders)


def test_without_it_they_are_where_the_system_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENLOOP_HOME", raising=False)
    for folder in FOLDERS:
        assert folder().is_absolute()
        assert "openloop" in folder().parts
