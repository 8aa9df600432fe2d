"""What agents and files say is shown as text wherever it is shown: never markup, a resource, or a command."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtGui import Qt as Guess
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QMessageBox,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot
from rich.console import Console

from app.builder.agent_pool import AgentPool
from app.builder.problem_list import ProblemList
from app.builder.workflow_view import WorkflowView
from app.document import WorkflowDocument
from app.headless_display import PlainLines
from app.headless_terminal import TerminalDisplay
from app.labels import ElidedLabel, SectionLabel
from app.notice_bar import Notice, NoticeArea
from app.plain_text import plain_tool_tip
from app.question import Choice, ask
from app.reading_text import ReadingText, harmless
from app.run_view.run_view import RunView
from app.run_view.status_line import StatusLine
from app.run_view.tabs import COST
from app.sealed_browser import SealedBrowser
from core.agent import AgentLibrary
from core.events import (
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    QuestionAsked,
    RetryScheduled,
    RunFinished,
    RunStarted,
    RunStatus,
    StateChanged,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.plan import Place
from core.problems import Problem
from core.progress import RunProgress
from core.state import Conflict, MergeRule, StateUpdate, WorkflowState
from core.transcript import TranscriptWriter
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

MARK = "<img src="
HOSTILE = (
    '<img src="file:///nowhere/x.png"><a href="https://example.invalid">go</a> <b>bold</b> &amp; '
    "[red]markup[/red] [link=https://example.invalid]go[/link] "
    "\x1b[2J \x1b]8;;https://example.invalid\x07go\x1b]8;;\x07 \x1b]52;c;aGFja2Vk\x07 \x1b]0;mine\x07 \x9b2J "
    "\u202eevil\nsecond\rline"
)
START = 1000.0
TURNS = ("loop/1/1/0", "loop/1/1/1", "loop/1/1/2")


def what_happens(folder: Path) -> list[Event]:
    """A run in which every text that comes from an agent or a file is hostile."""
    turns = tuple(
        TurnRef(turn, Place("loop", 1, number), f"{number} {HOSTILE}", HOSTILE, f"{number:03}-x")
        for number, turn in enumerate(TURNS)
    )
    payload = {HOSTILE: HOSTILE, "list": [HOSTILE, {HOSTILE: [HOSTILE]}]}
    state = WorkflowState(payload=payload)
    conflict = Conflict(f"payload.{HOSTILE}", MergeRule.LAST, HOSTILE, HOSTILE, HOSTILE, "b", HOSTILE)
    return [
        RunStarted(time=START, run_id="r", workflow=HOSTILE, folder=str(folder), max_loops=9),
        StateChanged(time=START, state=WorkflowState()),
        PhaseStarted(time=START, phase="loop"),
        IterationStarted(time=START, iteration=1),
        GroupStarted(
            time=START, phase="loop", iteration=1, group=1, name=HOSTILE, mode="parallel", turns=turns
        ),
        *(TurnStarted(time=START, turn=turn, backend="demo", model=HOSTILE) for turn in TURNS),
        AttemptStarted(time=START, turn=TURNS[0], kind=AttemptKind.CORRECTION, reason=HOSTILE),
        Noted(time=START, turn=TURNS[0], message=HOSTILE, warning=True),
        RetryScheduled(time=START, turn=TURNS[1], seconds=9, reason=HOSTILE),
        QuestionAsked(time=START, turn=TURNS[0], message=HOSTILE),
        TurnFinished(
            time=START,
            turn=TURNS[1],
            status=TurnStatus.FAILED,
            message=HOSTILE,
            reason=HOSTILE,
            detail=HOSTILE,
        ),
        TurnFinished(
            time=START,
            turn=TURNS[2],
            status=TurnStatus.SUCCEEDED,
            message=HOSTILE,
            update=StateUpdate(payload=payload, termination_reason=HOSTILE),
        ),
        Merged(time=START, phase="loop", iteration=1, group=1, conflicts=(conflict,)),
        StateChanged(time=START, state=state),
    ]


END = RunFinished(
    time=START,
    status=RunStatus.FAILED,
    termination_reason=f"agent_error:{HOSTILE}",
    message=HOSTILE,
    seconds=1,
)


# --- looking at widgets -------------------------------------------------------------------------------


def indexes(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[QModelIndex]:
    parent = parent or QModelIndex()
    while model.canFetchMore(parent):
        model.fetchMore(parent)
    for row in range(model.rowCount(parent)):
        for column in range(model.columnCount(parent)):
            yield model.index(row, column, parent)
        yield from indexes(model, model.index(row, 0, parent))


def tips_of(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.whatsThis(), widget.statusTip())
    if isinstance(widget, QTabBar):
        for index in range(widget.count()):
            yield widget.tabToolTip(index)
    if isinstance(widget, QAbstractItemView | QComboBox):
        for index in indexes(widget.model()):
            yield str(index.data(Qt.ItemDataRole.ToolTipRole) or "")


def places_that_show(root: QWidget) -> set[str]:
    """Kinds of places below a widget that show hostile text; fails for one that would take it for markup."""
    places: set[str] = set()
    for widget in [root, *root.findChildren(QWidget)]:
        kind = type(widget).__name__
        if isinstance(widget, QLabel) and MARK in widget.text():
            assert widget.textFormat() is Qt.TextFormat.PlainText, (kind, widget.parentWidget())
            places.add(kind)
        if isinstance(widget, ReadingText) and MARK in widget.text():
            places.add(kind)
        if isinstance(widget, QTextEdit) and not isinstance(widget, SealedBrowser):
            assert MARK not in widget.toHtml().replace("&lt;", ""), kind
        for tip in tips_of(widget):
            if "img src=" in tip:
                assert MARK not in tip, f"tool tip of {kind}"
                assert tip.startswith("<qt>"), f"tool tip of {kind}"
                places.add(f"tool tip of {kind}")
    return places


@pytest.fixture
def view(qtbot: QtBot, tmp_path: Path) -> RunView:
    folder = tmp_path / "turns" / "000-x"
    folder.mkdir(parents=True)
    writer = TranscriptWriter(folder / "transcript.log")
    for line in HOSTILE.splitlines():
        writer.note(line, START)
    writer.close()
    view = RunView()
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    return view


def test_every_place_of_the_run_view_shows_text_as_it_stands(view: RunView, tmp_path: Path) -> None:
    QGuiApplication.clipboard().setText("mine")
    progress = RunProgress(max_retries=2)
    events = what_happens(tmp_path)
    progress.apply(events[0])
    view.begin(progress)
    progress.apply_all(events[1:])
    view.take(events, START)
    view.tabs.show_state()
    view.tabs.show_page(COST)
    view.tabs.open_list()
    places = places_that_show(view)
    progress.apply(END)
    view.take([END], START)
    places |= places_that_show(view)
    assert view.banner.title.text() == harmless(HOSTILE)
    assert {"ReadingText", "tool tip of TurnPill", "tool tip of Button"} <= places, places
    assert any("Tab" in place for place in places), places
    assert "tool tip of StateTree" in places, places
    assert "tool tip of QTreeView" in places, places
    assert QGuiApplication.clipboard().text() == "mine"


def test_a_log_shows_escape_sequences_and_markup_as_text(view: RunView, tmp_path: Path, qtbot: QtBot) -> None:
    progress = RunProgress()
    progress.apply_all(what_happens(tmp_path))
    view.begin(progress)
    view.tabs.show_turn(TURNS[0])
    log = view.tabs.pages.currentWidget()
    qtbot.waitUntil(lambda: any(MARK in line for line in log.visible_text()))  # type: ignore[union-attr]
    painted = "\n".join(log.visible_text())  # type: ignore[union-attr]
    assert '<a href="https://example.invalid">go</a> <b>bold</b> &amp; [red]markup[/red]' in painted
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", painted), ascii(painted)


def test_the_status_line_and_notices_show_text_as_it_stands(qtbot: QtBot, tmp_path: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    status, notices = StatusLine(window), NoticeArea(window)
    progress = RunProgress()
    progress.apply_all(what_happens(tmp_path))
    status.show_progress(progress, START)
    status.say(HOSTILE)
    status.show_backend(HOSTILE)
    notices.tell("x", Notice(HOSTILE, lines=(HOSTILE, HOSTILE)))
    ElidedLabel("", parent=window).set_text(HOSTILE)
    SectionLabel(HOSTILE, window)
    places = places_that_show(window)
    assert {"QuietLabel", "QLabel", "tool tip of ElidedLabel"} <= places, places


def test_a_question_of_the_window_shows_text_as_it_stands(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    box = ask(window, HOSTILE, HOSTILE, [Choice("Yes", lambda: None)], "No")
    assert isinstance(box, QMessageBox)
    assert box.textFormat() is Qt.TextFormat.PlainText
    labels = [label for label in box.findChildren(QLabel) if MARK in label.text()]
    assert len(labels) == 2
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)
    box.close()


def test_the_builder_shows_names_and_problems_of_files_as_they_stand(qtbot: QtBot, tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    name = HOSTILE.replace("\n", " ").replace("\r", " ")
    (tmp_path / "agents" / "x.md").write_text(
        "---\n" + yaml_of(name=name, role=name, description=name, backend="demo") + "---\n" + HOSTILE, "utf-8"
    )
    (tmp_path / "agents" / f"{MARK}x>.md").write_text("---\n: [\n---\n", "utf-8")
    path = shop.file(
        {
            "name": HOSTILE,
            "loop_agents": [{"name": name, "agents": [name, f"nobody {MARK}x>"], "mode": "parallel"}],
            "merge": {f"payload.{MARK}x>": "last"},
        }
    )
    library = AgentLibrary(tmp_path / "agents")
    pool = AgentPool()
    qtbot.addWidget(pool)
    pool.set_library(library)
    pool.select_agent(next(agent.name for agent in library.agents))
    document = WorkflowDocument()
    builder = WorkflowView(document)
    qtbot.addWidget(builder)
    document.open(path)
    document.set_library(library, ("demo",))
    notices = ProblemList(builder)
    notices.show_problems([Problem(HOSTILE, HOSTILE, HOSTILE, file=tmp_path / f"{MARK}x>")])
    places = places_that_show(pool) | places_that_show(builder)
    assert len(places) >= 3, places
    builder.deleteLater()


@pytest.mark.parametrize("text", [HOSTILE, "a < b & c > d", "<qt>x</qt>", "plain", "two\nlines"])
def test_a_tool_tip_reads_as_the_text_that_it_was_given(text: str, qapp: QApplication) -> None:
    document = QTextDocument()
    tip = plain_tool_tip(text)
    # As a tool tip decides it.
    document.setHtml(tip) if Guess.mightBeRichText(tip) else document.setPlainText(tip)
    assert document.toPlainText().split() == text.split()


# --- the command line ---------------------------------------------------------------------------------


def filled(kind: type) -> object:
    """An event with hostile text wherever there is text."""
    hints = typing.get_type_hints(kind)
    values: dict[str, object] = {}
    for entry in dataclasses.fields(kind):
        hint = hints[entry.name]
        options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        if entry.name not in ("type", "turn", "folder") and str in options:
            values[entry.name] = HOSTILE
    return kind(**values, turn=TURNS[0]) if "turn" in hints else kind(**values)


def every_event(folder: Path) -> list[Event]:
    kinds = typing.get_args(Event)
    assert len(kinds) > 15
    return [*what_happens(folder), *(typing.cast(Event, filled(kind)) for kind in kinds), END]


# Clear the screen, links, the clipboard, the title, the control characters of eight bits, turned text.
STEERING = ("\x1b[2J", "\x1b]", "\x9b", "\x07", "\u202e", "\r")


def test_plain_lines_carry_nothing_that_steers_a_terminal(tmp_path: Path) -> None:
    out = io.StringIO()
    display = PlainLines(out)
    display.show(every_event(tmp_path))
    display.close()
    assert MARK in out.getvalue()
    for sign in (*STEERING, "\x1b"):
        assert sign not in out.getvalue(), ascii(sign)
    assert all(re.match(r"\d\d:\d\d:\d\d \S", line) for line in out.getvalue().splitlines())


def test_a_live_terminal_is_steered_by_nobody_but_us(tmp_path: Path) -> None:
    """rich's markup, its links and the terminal's own sequences are shown as they stand."""
    shop = Workshop(tmp_path)
    shop.agent("vera")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=4000, height=40, highlight=False)
    display = TerminalDisplay(shop.plan({"loop_agents": ["vera"]}), console)
    try:
        display.show(every_event(tmp_path)[:12])
        display._live.refresh()
        display.show(every_event(tmp_path)[12:])
        display._live.refresh()
    finally:
        display.close()
    said = out.getvalue()
    assert "[red]markup[/red] [link=https://example.invalid]go[/link]" in said
    for sign in STEERING[:-1]:
        assert sign not in said, ascii(sign)


def yaml_of(**keys: str) -> str:
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=True)}\n" for key, value in keys.items())
