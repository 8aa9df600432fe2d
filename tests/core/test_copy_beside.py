"""A copy beside a file that is about to lose something."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.copy_beside import keep_copy
from core.problems import UserFileError


def test_a_copy_overwrites_nothing_and_the_same_is_not_kept_twice(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_bytes(b"{} // one\r\n")
    (tmp_path / "w.json.bak").mkdir()
    first = keep_copy(path)
    assert first == tmp_path / "w.json.bak2"
    assert first.read_bytes() == b"{} // one\r\n"
    assert keep_copy(path) == first
    path.write_bytes(b"{} // two\n")
    assert keep_copy(path) == tmp_path / "w.json.bak3"
    assert first.read_bytes() == b"{} // one\r\n"


def test_where_no_copy_can_be_made_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / f"{'w' * 252}.js"
    path.write_bytes(b"{} // one\n")
    with pytest.raises(UserFileError, match="no copy of it can be made"):
        keep_copy(path)
    assert list(tmp_path.iterdir()) == [path]
