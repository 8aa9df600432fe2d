"""What the first paint of the window waits for, and what waits for the first paint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.first_paint import FirstPaint, after_first_paint

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 60
"""It never takes that long: a limit, so that a window that does not come is named."""
MOST_MODULES = 157
"""Of ours, by the first paint: each costs a millisecond or two. There were 154 when this was written."""
NOT_YET = {
    "asyncio": "only a run needs its loop",
    "qasync": "the same",
    "ssl": "asyncio brings it",
    "psutil": "processes of runs",
    "yaml": "agents are read on a worker",
    "frontmatter": "the same",
    "rich": "the command line's",
    "jinja2": "reports",
    "regex": "logs",
    "importlib.metadata": "plug-ins of pydantic are not looked for",
    "email": "importlib.metadata brings it",
    "filelock": "runs",
    "core.agent_definition": "agents are read on a worker",
    "core.agent_library": "the same",
    "core.check": "there is nothing to check before the agents are read",
    "core.backends.base": "the names of backends are enough",
    "core.engine": "runs",
    "core.events": "what runs tell",
    "core.journal": "the same",
    "core.known_payload": "what earlier runs tell",
    "core.merge": "runs",
    "core.plan": "runs",
    "core.processes": "the same",
    "core.progress": "what runs tell",
    "core.recorded_run": "the same",
    "core.settings": "other places of settings are read on a worker",
    "core.transcript": "logs",
    "core.workflow_writing": "the first save",
    "core.durable_files": "the first save",
    "app.about": "when it is wanted",
    "app.agent_editor.draft": "the first agent that is edited",
    "app.agent_editor.editor": "the same",
    "app.builder.agent_page": "the first agent that is selected",
    "app.builder.drag_picture": "the first drag",
    "app.builder.folder_row": "the lower half of the settings",
    "app.builder.group_page": "the first group that is selected",
    "app.builder.merge_rules": "the lower half of the settings",
    "app.command_palette": "when it is wanted",
    "app.doctor.dialog": "when it is wanted",
    "app.editor": "the first file that is opened elsewhere",
    "app.editor_dialog": "when it is wanted",
    "app.kept_copies": "unsaved work of another start is looked for after it",
    "app.new_agent": "when it is wanted",
    "app.run_view.run_view": "the first run",
    "app.run_view.tabs": "the same",
    "app.runs": "the list of runs, when it is wanted",
    "app.sealed_browser": "the first agent that is looked at",
    "app.start_page": "where no file is opened",
    "app.unsaved_work": "after it",
}
"""Modules (with those in them) that are not to be loaded by the first paint, and what they are for."""

# As a user starts it, and looked at from inside, because no other program can see what is loaded.
LOOK = """
import json, sys
from app import cli, application
from app.first_paint import FirstPaint, after_first_paint
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

begin, seen, timer = FirstPaint.__init__, {}, None

def begin_and_look(self):
    begin(self)
    after_first_paint(look)  # before all that waits, too

def look():
    global timer
    seen["painted"] = sorted(sys.modules)
    window = next(each for each in QApplication.topLevelWidgets() if isinstance(each, application.MainWindow))
    seen["steps"] = [node.entry.agent for _, _, node in window.document.outline.all_agents()]
    seen["had_agents"] = window.document.library is not None
    timer = QTimer(window)
    timer.timeout.connect(lambda: look_again(window))
    timer.start(20)

def look_again(window):
    others = window.settings_source._read_for is not None and not window.settings_source._reading
    if window.document.library is not None and others and "qasync" in sys.modules:
        seen["agents"] = len(window.document.library.agents)
        seen["checked"] = "core.check" in sys.modules
        window.close()

FirstPaint.__init__ = begin_and_look
code = cli.main(["gui", sys.argv[1]])
print(json.dumps({**seen, "code": code}))
"""


@dataclass(frozen=True)
class Start:
    """What was seen of a start."""

    painted: tuple[str, ...]
    """The modules that were loaded by the first paint."""
    steps: tuple[str, ...]
    """The agents of the workflow that was open by then."""
    had_agents: bool
    agents: int
    """How many were read in the end."""
    checked: bool
    code: int


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """A start with the example, from the first paint to the end."""
    home = tmp_path_factory.mktemp("start")
    environment = {**os.environ, "OPENLOOP_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    environment["PYTHONPATH"] = str(PROJECT)
    example = PROJECT / "resources" / "workflows" / "audit.json"
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(example)],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    return Start(
        tuple(said["painted"]),
        tuple(said["steps"]),
        said["had_agents"],
        said["agents"],
        said["checked"],
        said["code"],
    )


def test_the_first_paint_has_the_workflow_and_the_rest_follows(start: Start) -> None:
    assert start.steps == ("proteus", "amala", "vera", "linter", "security_auditor", "consolidator")
    assert not start.had_agents
    assert start.agents >= 13
    assert start.checked
    assert start.code == 0


def test_nothing_is_loaded_for_the_first_paint_that_it_does_not_need(start: Start) -> None:
    loaded = {
        f"{name} ({why})"
        for name, why in NOT_YET.items()
        for module in start.painted
        if module == name or module.startswith(f"{name}.")
    }
    # Import it where it is used, or for type checking only.
    assert not loaded


def test_the_first_paint_needs_few_modules(start: Start) -> None:
    ours = [module for module in start.painted if module.partition(".")[0] in ("app", "core", "resources")]
    # Is what is new needed to paint the window? If so, raise the limit.
    assert len(ours) <= MOST_MODULES, ours


def test_modules_that_must_not_be_loaded_exist() -> None:
    """A name that is none would never be found to be loaded."""
    for name in NOT_YET:
        if name.startswith(("app.", "core.")):
            path = PROJECT.joinpath(*name.split("."))
            assert path.is_dir() or path.with_suffix(".py").is_file(), name


# --- what is left out of libraries --------------------------------------------------------------------------

# What PySide6 says of its functions, also when it is asked in another order than at a start.
ASK = """
import sys
if sys.argv[1] == "plain":
    import app.plain_imports
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.support.signature import get_signature
application = QGuiApplication([])
for call in (
    lambda: QColor("red").setRgb("green"),
    lambda: QObject(1, 2, 3),
    lambda: QObject(nothing=1),
    lambda: QObject().setProperty(Qt),
    lambda: QObject().no_such_name,
):
    try:
        call()
    except (TypeError, AttributeError) as error:
        print(type(error).__name__, error)
print(get_signature(QColor.setRgb), QObject.setProperty.__doc__)
from PySide6.support.signature import errorhandler, layout, parser
print(errorhandler.make_helptext.__name__, layout.create_signature.__name__, hasattr(parser, "nothing"))
from PySide6.support.signature.lib.pyi_generator import generate_pyi
print(generate_pyi.__name__)
"""


def test_pyside_says_of_its_functions_what_it_says_without_plain_imports() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", ASK, how],
            env={**os.environ, "PYTHONPATH": str(PROJECT), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout
        for how in ("plain", "as it comes")
    ]
    assert said[0] == said[1]
    assert "setRgb(r: int" in said[0]


# All enums of the modules that OpenLoop uses, with all that they have.
ENUMS = """
import enum, pickle, sys
if sys.argv[1] == "plain":
    import app.plain_imports
from PySide6 import QtCore, QtGui, QtNetwork, QtSvg, QtWidgets

NEVER = ("__dict__", "__weakref__", "_generate_next_value_")  # the last one only makes members

def shown(value, of):
    if isinstance(value, of):
        return value._name_, value._value_, sorted((name, repr(each)) for name, each in vars(value).items())
    if isinstance(value, dict):
        return [(key, shown(each, of)) for key, each in value.items()]
    return repr(value) if isinstance(value, (int, str, list, type(None))) else type(value).__name__

def enums(of, seen):
    for name in dir(of):
        each = getattr(of, name, None)
        if isinstance(each, type) and each not in seen and each.__module__.startswith("PySide6"):
            seen.add(each)
            if isinstance(each, enum.EnumType):
                yield each
            yield from enums(each, seen)

seen = set()
for module in (QtCore, QtGui, QtNetwork, QtSvg, QtWidgets):
    for each in enums(module, seen):
        has = sorted((name, shown(value, each)) for name, value in vars(each).items() if name not in NEVER)
        print(each.__module__, each.__qualname__, each.__mro__, list(each), dir(each), has)
button = QtCore.Qt.MouseButton
print(pickle.dumps(button.LeftButton), button(3), ~button.LeftButton, button.LeftButton in button(3))
print(QtCore.Qt.Key(65), QtCore.Qt.Key["Key_A"], repr(QtCore.Qt.Key.Key_A), QtCore.QEvent.Type(1000))
Own = enum.Enum("Own", "ONE TWO")
print(Own.__module__, list(Own), list(enum.Flag("Two", [("A", 1), ("B", 2)], boundary=enum.KEEP)))
"""


def test_the_enums_of_pyside_are_those_that_python_makes_with_all_checks() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", ENUMS, how],
            env={**os.environ, "PYTHONPATH": str(PROJECT), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout.splitlines()
        for how in ("plain", "as it comes")
    ]
    assert len(said[0]) > 500
    differ = [(quick, slow) for quick, slow in zip(*said, strict=True) if quick != slow]
    assert not differ, differ[0]


def test_pydantic_says_what_is_wrong_as_it_does_without_plain_pydantic() -> None:
    text = """
import sys
if sys.argv[1] == "plain":
    import core.plain_pydantic
import typing
import typing_extensions
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

class Point(typing_extensions.TypedDict):
    x: int

class Model(BaseModel):
    number: int = Field(default=1, ge=0)
    points: list[Point] = Field(default_factory=lambda: [])

print(Model.model_json_schema(), TypeAdapter(Point).validate_python({"x": "1"}))
try:
    Model(number=-1, points=[{"y": 2}])
except ValidationError as error:
    print(error.errors())
print(typing.TypedDict.__module__, typing_extensions.TypedDict.__module__)
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", text, how],
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout
        for how in ("plain", "as it comes")
    ]
    assert said[0] == said[1]
    assert "greater_than_equal" in said[0]


def test_pydantic_does_not_look_for_plugins_and_still_could() -> None:
    text = """
import core.config, sys
name = "pydantic.plugin._loader"
stand_in = sys.modules[name]
print(stand_in.get_plugins(), "importlib.metadata" in sys.modules)
print(stand_in.PYDANTIC_ENTRY_POINT_GROUP, sys.modules[name] is not stand_in)
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout.splitlines() == ["() False", "pydantic True"]


# --- what waits ------------------------------------------------------------------------------------------


class Painted(QWidget):
    """Tells when it is painted."""

    def __init__(self, told: list[str], name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told = told
        self._name = name

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        self._told.append(self._name)


def test_what_waits_for_the_first_paint_begins_after_it_in_its_order(qtbot: QtBot) -> None:
    told: list[str] = []
    first_paint = FirstPaint()
    after_first_paint(lambda: told.append("one"))
    after_first_paint(lambda: told.append("two"))
    window = Painted(told, "window")
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(Painted(told, "inside", window))
    window.resize(200, 100)
    assert told == []
    first_paint.show(window)
    assert list(dict.fromkeys(told)) == ["window", "inside", "one", "two"]
    after_first_paint(lambda: told.append("later"))
    assert told[-1] == "later"


def test_a_window_that_is_never_painted_keeps_nothing_from_beginning(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.first_paint.LONGEST_MS", 1)
    told: list[str] = []
    first_paint = FirstPaint()
    after_first_paint(lambda: told.append("begun"))
    window = Painted(told, "window")
    qtbot.addWidget(window)
    window.setUpdatesEnabled(False)
    first_paint.show(window)
    assert told == ["begun"]
