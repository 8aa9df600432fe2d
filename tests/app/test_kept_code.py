"""Compiled texts are kept from one start to the next, and a start without them is only slower."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import pytest

import app.kept_code
from app.kept_code import KeptCode, kept_code


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python keeps what it compiles."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def _make_point() -> type:
    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2

    return Point


def _compile_nothing(*_: object, **__: object) -> None:
    raise AssertionError("This was kept.")


def _texts(cache: Path) -> list[Path]:
    return list(cache.rglob("*.texts*"))


def test_the_second_start_compiles_no_methods_and_makes_the_same_classes(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept_code():
        _make_point()
    assert len(_texts(cache)) == 1
    monkeypatch.setattr(app.kept_code, "_compile", _compile_nothing)
    with kept_code():
        point = _make_point()
    assert repr(point(1)).endswith("Point(x=1, y=2)")
    assert point(1) == point(1, 2)
    assert hash(point(3)) == hash(point(3))
    with pytest.raises(FrozenInstanceError):
        point(1).x = 4
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        point()


def test_dataclasses_are_as_they_were_afterwards(cache: Path) -> None:
    before = dict(vars(dataclasses))
    with pytest.raises(ZeroDivisionError), kept_code():
        _ = 1 / 0
    assert vars(dataclasses) == before
    assert app.kept_code.code_of("1", "here").co_filename == "here"
    assert _texts(cache) == []


def test_the_same_text_of_another_file_is_told_apart(cache: Path) -> None:
    kept = KeptCode(cache / "kept.texts")
    names = [kept.code("def f(): pass", file).co_filename for file in ("one.py", "two.py", "one.py")]
    assert names == ["one.py", "two.py", "one.py"]


@pytest.mark.parametrize(
    "content",
    [b"", b"of another Python", importlib.util.MAGIC_NUMBER, importlib.util.MAGIC_NUMBER + b"\xe9\x01"],
    ids=["empty", "another Python", "nothing in it", "cut off"],
)
def test_a_file_that_cannot_be_read_is_written_anew(cache: Path, content: bytes) -> None:
    file = cache / "kept.texts"
    file.write_bytes(content)
    kept = KeptCode(file)
    assert kept.code("x = 1") is not None
    kept.save()
    assert file.read_bytes().startswith(importlib.util.MAGIC_NUMBER)
    assert len(file.read_bytes()) > len(content)


def test_a_folder_that_cannot_be_written_does_not_stop_a_start(cache: Path) -> None:
    (cache / "no folder").touch()
    kept = KeptCode(cache / "no folder" / "kept.texts")
    kept.code("x = 1")
    kept.save()
    assert _texts(cache) == []


def test_nothing_is_written_where_python_shall_write_nothing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with kept_code():
        _make_point()
    assert _texts(cache) == []
