"""A failure while something is painted: the program goes on, and the user is told once."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6 import QtGui, QtWidgets
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QListWidget, QStyledItemDelegate, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from app.painting import paint_method, saved

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 60
"""It never takes that long."""


# --- the application ---------------------------------------------------------------------------------------

# As a user starts it, but no icon can be painted: not those of buttons, rows, bars, and of the notice itself.
NO_ICONS = """
import json, sys
import app.theme

def fail(name, color):
    raise OSError("no icons")

app.theme._renderer = fail

from app import cli, application
from app.first_paint import after_first_paint
from app.unexpected import NOTICE
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

seen, ticks = {"notices": []}, 0

def begin():
    global timer
    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(10)

def look():
    global ticks
    window = next(each for each in QApplication.topLevelWidgets() if isinstance(each, application.MainWindow))
    window.repaint()
    bar = window.notices.bar(NOTICE)
    if bar is not None and bar not in seen["notices"]:
        seen["notices"].append(bar)
        seen["words"] = bar.notice.text
    ticks += 1
    if seen["notices"] and ticks > 20:
        timer.stop()
        window.grab()
        window.close()

begun = application.FirstPaint.__init__
application.FirstPaint.__init__ = lambda self: (begun(self), after_first_paint(begin))[0]
code = cli.main(["gui", sys.argv[1]])
print(json.dumps({"notices": len(seen["notices"]), "words": seen["words"], "code": code}))
"""


def test_the_window_goes_on_when_nothing_can_be_painted_and_says_so_once(tmp_path: Path) -> None:
    example = PROJECT / "resources" / "workflows" / "audit.json"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", NO_ICONS, str(example)],
        env={
            **os.environ,
            "OPENLOOP_HOME": str(tmp_path),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": str(PROJECT),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["code"] == 0
    assert told["notices"] == 1
    assert "no icons" in told["words"]
    assert done.stderr.count("Traceback") == 1, "the same failure is not told at each frame"
    kept = (tmp_path / "state" / "openloop-errors.log").read_text(encoding="utf-8")
    assert kept.count("OSError: no icons") == 1


# --- painters ----------------------------------------------------------------------------------------------


class _Rows(QStyledItemDelegate):
    """Fails in the midst of the first row, when it has turned much of the painter."""

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        with saved(painter):
            if index.row() == 0:
                painter.setClipRect(0, 0, 1, 1)
                painter.translate(500, 500)
                with saved(painter):
                    raise OSError("no such row")
        painter.fillRect(option.rect, QColor("#00795a"))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What came to the hook of Python, in words."""
    words: list[str] = []

    def hear(kind: type[BaseException], error: BaseException, trace: object) -> None:
        del trace
        words.append(f"{kind.__name__}: {error}")

    monkeypatch.setattr(sys, "excepthook", hear)
    return words


def test_a_row_that_cannot_be_painted_spoils_no_other(qtbot: QtBot, told: list[str]) -> None:
    rows = QListWidget()
    qtbot.addWidget(rows)
    rows.addItems(["first", "second"])
    rows.setItemDelegate(_Rows(rows))
    rows.resize(200, 200)
    second = rows.visualItemRect(rows.item(1)).center()
    picture = rows.viewport().grab().toImage()
    assert picture.pixelColor(second).name() == "#00795a"
    assert set(told) == {"OSError: no such row"}


def test_what_was_set_on_a_painter_is_taken_back_when_painting_fails(qtbot: QtBot) -> None:
    del qtbot
    image = QImage(10, 10, QImage.Format.Format_ARGB32)
    with QPainter(image) as painter:
        with pytest.raises(OSError, match="in the midst"):
            _move_and_fail(painter)
        assert painter.transform().map(QPoint(0, 0)) == QPoint(0, 0)
    assert not painter.isActive()


def _move_and_fail(painter: QPainter) -> None:
    with saved(painter):
        painter.translate(3, 4)
        raise OSError("in the midst")


# --- all of the application --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Written:
    """The modules that paint, by their path, and the bases of all classes by their name."""

    painting: dict[str, ast.Module]
    bases: dict[str, list[str]]

    def roots(self, name: str) -> Iterator[type]:
        """The classes of Qt that a class comes from."""
        found = getattr(QtWidgets, name, None) or getattr(QtGui, name, None)
        if isinstance(found, type):
            yield found
        else:
            for base in self.bases.get(name, ()):
                yield from self.roots(base)


@pytest.fixture(scope="module")
def written() -> _Written:
    """What is there, as it is written: no module is loaded."""
    painting: dict[str, ast.Module] = {}
    bases: dict[str, list[str]] = {}
    for path in sorted((PROJECT / "app").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [ast.unparse(base).partition("[")[0] for base in node.bases]
        if "ainter" in text or "paintEvent" in text:
            painting[path.relative_to(PROJECT).as_posix()] = tree
    return _Written(painting, bases)


def _paints(method: ast.FunctionDef) -> bool:
    takes = [ast.unparse(each.annotation) for each in method.args.args if each.annotation is not None]
    return method.name == "paintEvent" or "QPainter" in takes


def test_each_method_of_qt_that_paints_is_guarded(written: _Written) -> None:
    found, bare = 0, []
    for file, tree in written.painting.items():
        for node in tree.body:
            if not isinstance(node, ast.ClassDef):
                continue
            roots = list(written.roots(node.name))
            for method in node.body:
                if not isinstance(method, ast.FunctionDef) or not _paints(method):
                    continue
                if method.name == "paintEvent" or any(hasattr(root, method.name) for root in roots):
                    found += 1
                    if [ast.unparse(each) for each in method.decorator_list[:1]] != ["paint_method"]:
                        bare.append(f"{file}:{method.lineno} {node.name}.{method.name}")
    assert found > 60, "this test finds what it looks for"
    assert bare == [], "put @paint_method of app/painting.py above them"


def test_each_painter_is_ended_however_its_block_is_left(written: _Written) -> None:
    found, bare = 0, []
    for file, tree in written.painting.items():
        entered: set[int] = set()
        for node in ast.walk(tree):  # outer nodes come before inner ones
            if isinstance(node, ast.With):
                entered |= {id(item.context_expr) for item in node.items}
            elif isinstance(node, ast.Call) and _name(node.func) in ("QPainter", "QStylePainter"):
                found += 1
                if id(node) not in entered:
                    bare.append(f"{file}:{node.lineno}")
    assert found > 50, "this test finds what it looks for"
    assert bare == [], "write: with QPainter(…) as painter"


def test_what_is_set_on_a_painter_is_taken_back_by_a_block(written: _Written) -> None:
    bare = [
        f"{file}:{node.lineno}"
        for file, tree in written.painting.items()
        if file != "app/painting.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("save", "restore")
        and _name(node.value).endswith("painter")
    ]
    assert bare == [], "write: with saved(painter)"


def _name(node: ast.expr) -> str:
    """The last name of `a`, `a.b` …; else nothing."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
