"""Commands that files bring, where a person meets them: on the command line and in the window's question."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.headless_trust import may_run
from app.notice_bar import NoticeArea
from app.right_side import RightSide
from app.side import Side
from app.trust_question import TrustPage, TrustQuestion
from core.preparing import PreparedRun
from core.trust import BroughtCommand, brought_commands
from core.trust_store import FILE_NAME
from core.visible_text import visible_words
from tests.app.cli_support import Terminal, openloop
from tests.core.run_support import Workshop

ANSWER = "<state_update>{}</state_update>"
HIDING = "true\x1b[8m; touch hidden\x1b[0m\r"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    return Workshop(tmp_path / "project")


def workflow(shop: Workshop, code: str = f"print({ANSWER!r})", **more: object) -> Path:
    """A workflow with an agent that is a program; it leaves `was_here` behind."""
    program = f"open('was_here', 'w').close(); {code}"
    shop.command("tool", sys.executable, "-c", program)
    return shop.file({"name": "work", "preparation_agents": ["tool"], **more})  # type: ignore[dict-item]


def started(shop: Workshop) -> bool:
    """Whether anything of a run was started, or any folder made for one."""
    return (shop.folder / "was_here").exists() or (shop.folder / ".openloop").exists()


# --- the command line ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["plain", "json"])
def test_where_nobody_can_be_asked_unknown_commands_are_listed_and_nothing_is_started(
    shop: Workshop, words: list[str]
) -> None:
    path = workflow(shop, init_script="echo one\necho two")
    done = openloop("run", path, *words, cwd=shop.folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "This run brings 2 commands that you have not allowed before:" in done.stderr
    assert "init_script of the workflow (workflow.json):\n    echo one\n    echo two\n" in done.stderr
    assert f"agent tool ({Path('agents/tool.md')}):\n    {sys.executable} -c " in done.stderr
    assert "Nothing was started." in done.stderr
    assert "--trust" in done.stderr
    assert not started(shop)


def test_trust_runs_them_and_remembers_exactly_them(shop: Workshop, tmp_path: Path) -> None:
    path = workflow(shop)
    assert openloop("run", path, "--trust", cwd=shop.folder).returncode == 0
    assert started(shop)
    again = openloop("run", path, cwd=shop.folder)
    assert (again.returncode, again.stderr) == (0, "")
    written = json.loads((tmp_path / "home" / "state" / FILE_NAME).read_text("utf-8"))
    assert [entry["workflow"] for entry in written["trusted"]] == [str(path)]
    workflow(shop, f"print({ANSWER!r}, 'changed')")
    refused = openloop("run", path, cwd=shop.folder)
    assert refused.returncode == 2
    assert "'changed'" in refused.stderr.replace('"\'"', "")


def test_a_broken_list_of_what_was_allowed_is_told_and_asked_about_again(
    shop: Workshop, tmp_path: Path
) -> None:
    path = workflow(shop)
    file = tmp_path / "home" / "state" / FILE_NAME
    file.parent.mkdir(parents=True)
    file.write_text("{", "utf-8")
    done = openloop("run", path, cwd=shop.folder)
    assert done.returncode == 2
    assert done.stderr.startswith("warning: ")
    assert f"kept as {file}.broken" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
@pytest.mark.parametrize(
    ("keys", "runs"), [(b"y\n", True), (b"\n", False), (b"\x04", False)], ids=["y", "enter", "end of input"]
)
def test_on_a_terminal_it_asks_and_no_is_the_answer_of_enter(shop: Workshop, keys: bytes, runs: bool) -> None:
    path = workflow(shop)
    with Terminal("run", path, cwd=shop.folder, columns=400) as terminal:
        terminal.until("agent tool (", "Run it? [y/N]")
        assert not started(shop)
        terminal.press(keys)
        assert terminal.end() == (0 if runs else 2)
    assert started(shop) == runs
    assert ("Nothing was started." in terminal.text) != runs
    if runs:
        assert openloop("run", path, cwd=shop.folder).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
def test_ctrl_c_at_the_question_starts_nothing(shop: Workshop) -> None:
    path = workflow(shop)
    with Terminal("run", path, cwd=shop.folder) as terminal:
        terminal.until("Run it? [y/N]")
        terminal.press(b"\x03")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.text
    assert not started(shop)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
def test_a_command_cannot_hide_from_the_terminal(shop: Workshop) -> None:
    shop.command("tool", "sh", "-c", HIDING)
    path = shop.file({"preparation_agents": ["tool"]})
    with Terminal("run", path, cwd=shop.folder, columns=400) as terminal:
        terminal.until("Run it? [y/N]")
        terminal.press(b"\n")
        terminal.end()
    assert "'true⟨escape⟩[8m; touch hidden⟨escape⟩[0m⟨return⟩'" in terminal.text
    assert "\x1b[8m" not in terminal.text


class AsciiStream(io.TextIOWrapper):
    """Standard error of a terminal that knows no more than ASCII."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="ascii", errors="replace", write_through=True)

    @property
    def said(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("ascii")


def test_what_a_terminal_cannot_show_is_told_by_number(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.command("tool", "prüfe", HIDING)
    plan = shop.plan({"preparation_agents": ["tool"]})
    stream = AsciiStream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert not may_run(PreparedRun(plan, brought_commands(plan)), trust=False, workflow="work")
    assert "pr\\xfcfe" in stream.said
    assert "\\u27e8escape\\u27e9[8m" in stream.said


# --- the question in the window -----------------------------------------------------------------------


class Asker(QObject):
    """Asks like the controller of runs, and keeps the answers."""

    trust_asked = Signal(object)
    trust_answered = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[bool] = []
        self.trust_workdir: Path | None = Path("projects") / "\u202eshop"

    def allow(self, allowed: bool) -> None:
        self.answers.append(allowed)
        self.trust_answered.emit(allowed)


COMMANDS = (
    BroughtCommand("init_script of the workflow", "echo <b>one</b>\n  echo two"),
    BroughtCommand("agent <img src='x'>", visible_words(["sh", "-c", HIDING, "z" * 3000])),
)


@dataclass
class Asked:
    """A window's right side with a question, and who asked it."""

    window: QWidget
    asker: Asker
    question: TrustQuestion
    right: RightSide
    notices: NoticeArea

    @property
    def page(self) -> TrustPage:
        page = self.question.page
        assert page is not None
        return page


@pytest.fixture
def asked(qtbot: QtBot, tmp_path: Path) -> Asked:
    window = QWidget()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    notices = NoticeArea(window)
    right = RightSide(QLineEdit(), window)
    layout.addWidget(notices)
    layout.addWidget(right)
    window.resize(900, 600)
    window.show()
    asker = Asker()
    asker.setParent(window)
    asked = Asked(window, asker, TrustQuestion(asker, right, notices, window), right, notices)
    asker.trust_asked.emit(COMMANDS)
    qtbot.waitExposed(asked.page)
    return asked


pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_the_question_shows_all_of_every_command_as_plain_text(asked: Asked) -> None:
    page = asked.page
    assert asked.right.currentWidget() is page
    text = page.list.toPlainText()
    assert "init_script of the workflow:\n    echo <b>one</b>\n      echo two\n" in text
    assert "agent <img src='x'>:\n    sh -c 'true⟨escape⟩[8m; touch hidden" in text
    assert "z" * 3000 in text
    assert page.list.isReadOnly()
    # Nothing lies out of sight at the right.
    assert page.list.wordWrapMode() is QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
    assert page.list.horizontalScrollBar().maximum() == 0
    for label in page.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText
    assert "2 commands" in page.title.text()
    assert page.where.text() == f"Working folder: {Path('projects') / '⟨U+202E⟩shop'}"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_keys_that_are_pressed_in_haste_say_no(asked: Asked, key: Qt.Key) -> None:
    """Also the space bar: the focus is on the safe button."""
    QTest.keyClick(asked.page.window().focusWidget(), key)
    assert asked.asker.answers == [False]
    assert asked.question.page is None


def test_the_question_blocks_nothing_and_waits_while_one_looks_elsewhere(asked: Asked) -> None:
    assert QApplication.activeModalWidget() is None
    asked.right.show_side(Side.SETTINGS)
    assert asked.asker.answers == []
    bar = asked.notices.bar("trust")
    assert bar is not None
    QTest.mouseClick(bar.buttons["Show"], Qt.MouseButton.LeftButton)
    assert asked.right.side is Side.TRUST
    assert asked.asker.answers == []


def test_the_bar_can_say_no(asked: Asked) -> None:
    bar = asked.notices.bar("trust")
    assert bar is not None
    QTest.mouseClick(bar.buttons["Do not run"], Qt.MouseButton.LeftButton)
    assert asked.asker.answers == [False]
    assert asked.notices.bar("trust") is None


def test_the_button_says_yes_and_what_was_looked_at_comes_back(asked: Asked) -> None:
    QTest.mouseClick(asked.page.allow_button, Qt.MouseButton.LeftButton)
    assert asked.asker.answers == [True]
    assert asked.right.side is Side.SETTINGS
    assert asked.notices.bar("trust") is None


def test_a_question_that_is_settled_otherwise_goes(asked: Asked) -> None:
    asked.asker.trust_answered.emit(False)
    assert asked.question.page is None
    assert asked.right.side is Side.SETTINGS
    assert asked.asker.answers == []
