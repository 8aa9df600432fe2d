"""The run view, fed with events: tabs, strip, questions, banner, state, status line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QTextDocumentFragment
from PySide6.QtGui import Qt as Guess
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.plain_text import plain_tool_tip
from app.reading_text import ReadingText
from app.run_view.log_view import LogView
from app.run_view.question_bar import QuestionRow
from app.run_view.run_view import RunView
from app.run_view.silence import is_about_silence, note_words
from app.run_view.state_model import StateModel
from app.run_view.state_words import preview, value_words
from app.run_view.status_line import StatusLine
from app.run_view.tabs import OVERVIEW, STATE
from app.run_view.turn_tabs import MOST_TABS
from app.run_view.turn_views import MOST_VIEWS
from app.theme import theme
from core.config import Budget
from core.engine import Answer
from core.events import (
    AttemptFinished,
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
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    StateChanged,
    StopKind,
    StopRequested,
    TurnActivity,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.json_types import JsonValue
from core.plan import Place
from core.problems import Problem, Severity
from core.progress import Note, RunProgress
from core.recorded_run import read_run
from core.state import Conflict, MergeRule, Phase, WorkflowState
from core.transcript import TranscriptWriter
from core.usage import Usage
from tests.core.run_support import Workshop

# The offscreen platform says so about sizes of windows and about popups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

START = 1000.0
VERA, LINTER, SECURITY = "loop/1/1/0", "loop/1/1/1", "loop/1/1/2"
AGENTS = ("vera", "linter", "security_auditor")


def shown_tip(tip: str) -> str:
    """A tool tip as it is read: Qt decides whether it is markup."""
    return QTextDocumentFragment.fromHtml(tip).toPlainText() if Guess.mightBeRichText(tip) else tip


def group(
    *labels: str, phase: Phase = "loop", iteration: int = 1, index: int = 1, time: float = START
) -> GroupStarted:
    turns = tuple(
        TurnRef(
            f"{phase}/{iteration}/{index}/{n}",
            Place(phase, index, n),
            label,
            label,
            f"{iteration}-{n}-{label}",
        )
        for n, label in enumerate(labels)
    )
    return GroupStarted(
        time=time, phase=phase, iteration=iteration, group=index, mode="parallel", turns=turns
    )


@dataclass
class Shown:
    """A run view and the progress behind it, as the window has them."""

    view: RunView
    folder: Path
    qtbot: QtBot
    progress: RunProgress = field(default_factory=RunProgress)
    now: float = START

    def feed(self, *events: Event, now: float | None = None) -> None:
        self.now = now if now is not None else self.now
        self.progress.apply_all(events)
        self.view.take(events, self.now)

    def tab_texts(self) -> list[str]:
        bar = self.view.tabs.bar
        return [bar.tabText(index) for index in range(bar.count())]

    def tab_words(self) -> list[str]:
        bar = self.view.tabs.bar
        return [bar.accessibleTabName(index) for index in range(bar.count())]

    def pills(self) -> dict[str, str]:
        return {pill.accessibleName().split(",")[0]: pill.facts for pill in self.view.strip.pills.values()}


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Shown:
    view = RunView()
    qtbot.addWidget(view)
    view.resize(684, 700)
    view.show()
    shown = Shown(view, tmp_path, qtbot)
    shown.progress = RunProgress(max_retries=2, budget=Budget(max_cost_usd=5.0))
    start = RunStarted(time=START, run_id="r", folder=str(tmp_path), workflow="audit", max_loops=10)
    shown.progress.apply(start)
    view.begin(shown.progress)
    shown.feed(start, PhaseStarted(time=START, phase="loop"), IterationStarted(time=START, iteration=1))
    return shown


def write_transcript(folder: Path, turn_folder: str, text: str) -> None:
    path = folder / "turns" / turn_folder
    path.mkdir(parents=True)
    writer = TranscriptWriter(path / "transcript.log")
    writer.note(text, START)
    writer.close()


# --- tabs ---------------------------------------------------------------------------------------------


def test_every_turn_gets_a_tab_that_says_how_it_is(shown: Shown) -> None:
    shown.feed(group(*AGENTS))
    assert shown.tab_texts() == ["vera 1", "linter 1", "security_auditor 1"]
    shown.feed(
        TurnStarted(time=START, turn=VERA),
        TurnStarted(time=START, turn=LINTER),
        TurnFinished(time=START + 1, turn=LINTER, status=TurnStatus.FAILED, message="linter failed."),
    )
    assert shown.tab_words() == ["vera 1, running", "linter 1, failed", "security_auditor 1, waiting"]
    assert "linter failed." in shown.view.tabs.bar.tabToolTip(1)


def test_statuses_differ_by_shape_not_only_by_colour(shown: Shown) -> None:
    shown.feed(group("a", "b", "c", "d", "e"))
    ids = [f"loop/1/1/{n}" for n in range(5)]
    shown.feed(*(TurnStarted(time=START, turn=turn) for turn in ids[1:]))
    for turn, status in zip(
        ids[2:], (TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED), strict=True
    ):
        shown.feed(TurnFinished(time=START, turn=turn, status=status))
    masks = set()
    for index in range(5):
        image: QImage = shown.view.tabs.bar.tabIcon(index).pixmap(28, 28).toImage()
        alpha = image.convertToFormat(QImage.Format.Format_Alpha8)
        masks.add(bytes(alpha.constBits()))
    assert len(masks) == 5


def test_the_output_of_the_shown_turn_is_read_from_its_transcript(shown: Shown, qtbot: QtBot) -> None:
    write_transcript(shown.folder, "1-0-vera", "I read the tests.")
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    assert shown.view.tabs.current_turn == VERA
    view = shown.view.tabs.pages.currentWidget()
    qtbot.waitUntil(lambda: any("I read the tests." in line for line in view.visible_text()))


def test_a_page_without_output_says_why_there_is_none(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    view = shown.view.tabs.pages.currentWidget()
    assert isinstance(view, LogView)
    assert view.empty_text == "Nothing printed yet."
    shown.feed(TurnFinished(time=START, turn=VERA, status=TurnStatus.STOPPED, message="You stopped vera."))
    assert view.empty_text == "It was ended before it printed anything. You stopped vera."
    shown.view.tabs.show_turn(LINTER)
    later = shown.view.tabs.pages.currentWidget()
    assert isinstance(later, LogView)
    assert later.empty_text == "It has not begun."


def test_tabs_follow_the_run_until_the_user_chooses_one(shown: Shown) -> None:
    tabs = shown.view.tabs
    assert tabs.page == OVERVIEW
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    assert tabs.page == VERA
    shown.feed(TurnStarted(time=START, turn=SECURITY))
    assert tabs.page == VERA, "what one watches and is still at work is not taken away"
    QTest.mouseClick(tabs.fixed, Qt.MouseButton.LeftButton, pos=tabs.fixed.tabRect(1).center())
    assert tabs.page == STATE
    shown.feed(
        *(TurnFinished(time=START, turn=turn) for turn in (VERA, LINTER, SECURITY)),
        IterationStarted(time=START, iteration=2),
        group("vera", iteration=2),
        TurnStarted(time=START, turn="loop/2/1/0"),
    )
    assert tabs.page == STATE, "a choice of the user's is not overruled"
    tabs.follow_button.click()
    assert tabs.page == "loop/2/1/0"


@pytest.mark.parametrize("watches", [True, False])
def test_who_follows_a_run_that_fails_ends_at_the_agent_that_failed(shown: Shown, watches: bool) -> None:
    shown.feed(group(*AGENTS), *(TurnStarted(time=START, turn=turn) for turn in (VERA, LINTER)))
    if not watches:
        shown.view.tabs.show_state()
    shown.feed(
        TurnFinished(time=START, turn=VERA),
        TurnFinished(time=START, turn=LINTER, status=TurnStatus.FAILED),
        RunFinished(time=START, status=RunStatus.FAILED, message="linter failed."),
    )
    assert shown.view.tabs.page == (LINTER if watches else STATE)


def test_the_current_tab_of_the_other_bar_can_be_clicked(shown: Shown) -> None:
    tabs = shown.view.tabs
    shown.feed(group("vera"), TurnStarted(time=START, turn=VERA))
    tabs.show_overview()
    QTest.mouseClick(tabs.bar, Qt.MouseButton.LeftButton, pos=tabs.bar.tabRect(0).center())
    assert tabs.page == VERA
    QTest.mouseClick(tabs.fixed, Qt.MouseButton.LeftButton, pos=tabs.fixed.tabRect(0).center())
    assert tabs.page == OVERVIEW


def test_two_hundred_tabs_are_quick_to_search_and_cost_few_views(shown: Shown, qtbot: QtBot) -> None:
    names = [f"worker_{n}" for n in range(200)]
    shown.feed(group(*names))
    tabs = shown.view.tabs
    assert len(tabs.open_turns) == 200
    qtbot.waitUntil(lambda: len(shown.tab_texts()) == 200)
    assert shown.tab_texts()[199].startswith("worker_199")
    assert tabs.built_views == 0
    for n in range(40):
        tabs.show_turn(f"loop/1/1/{n}")
    assert tabs.built_views == MOST_VIEWS
    tabs.open_list()
    turn_list = tabs.turn_list
    assert turn_list is not None
    QTest.keyClicks(turn_list.field, "worker_187")
    assert turn_list.filtered.rowCount() == 1
    QTest.keyClick(turn_list.field, Qt.Key.Key_Return)
    assert tabs.page == "loop/1/1/187"
    assert not turn_list.isVisible()


def test_tabs_that_are_not_made_yet_can_be_shown_and_closed(shown: Shown, qtbot: QtBot) -> None:
    names = [f"worker_{n}" for n in range(150)]
    turns = [f"loop/1/1/{n}" for n in range(150)]
    tabs = shown.view.tabs
    shown.feed(group(*names), *(TurnFinished(time=START, turn=turn) for turn in turns))
    assert 0 < tabs.bar.count() < 100, "the window answers before all of them are there"
    assert tabs.close_turn(turns[140])
    tabs.show_turn(turns[100])
    assert tabs.bar.tabText(tabs.bar.currentIndex()).startswith("worker_100")
    assert tabs.page == turns[100]
    tabs.show_turn(turns[140])
    assert tabs.bar.tabText(tabs.bar.currentIndex()).startswith("worker_140")
    qtbot.waitUntil(lambda: tabs.bar.count() == 150)
    shown_names = [text.split()[0] for text in shown.tab_texts()]
    assert shown_names == names == [turn.replace("loop/1/1/", "worker_") for turn in tabs.open_turns]
    assert all(not tabs.bar.tabIcon(index).isNull() for index in range(150))


def test_another_run_gets_no_tabs_of_the_one_before_it(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*(f"worker_{n}" for n in range(150))))
    assert shown.view.tabs.bar.count() < 100
    shown.view.begin(RunProgress())
    assert shown.view.tabs.bar.count() == 0
    qtbot.wait(50)
    assert shown.view.tabs.bar.count() == 0


def test_a_run_of_hundreds_of_turns_keeps_the_tabs_that_matter(shown: Shown) -> None:
    for iteration in range(1, 61):
        events: list[Event] = [group("a", "b", "c", "d", iteration=iteration)]
        for n in range(4):
            turn = f"loop/{iteration}/1/{n}"
            status = TurnStatus.FAILED if (iteration, n) == (2, 3) else TurnStatus.SUCCEEDED
            events += [TurnStarted(time=START, turn=turn), TurnFinished(time=START, turn=turn, status=status)]
        shown.feed(*events)
    tabs = shown.view.tabs
    assert len(tabs.open_turns) <= MOST_TABS
    assert "loop/2/1/3" in tabs.open_turns, "what failed stays"
    assert tabs.open_turns[-1] == "loop/60/1/3"
    tabs.show_turn("loop/1/1/0")
    assert tabs.page == "loop/1/1/0"
    assert tabs.open_turns[0] == "loop/1/1/0"
    shown.view.begin(shown.progress)
    shown.view.take((), shown.now)
    assert len(tabs.open_turns) == MOST_TABS


def test_the_list_also_finds_turns_by_how_they_are(shown: Shown) -> None:
    shown.feed(
        group(*AGENTS),
        TurnStarted(time=START, turn=LINTER),
        TurnFinished(time=START, turn=LINTER, status=TurnStatus.FAILED),
    )
    shown.view.tabs.open_list()
    turn_list = shown.view.tabs.turn_list
    assert turn_list is not None
    QTest.keyClicks(turn_list.field, "failed")
    assert turn_list.filtered.rowCount() == 1
    turn_list.hide()


def test_a_finished_turns_tab_can_be_closed_and_opened_again(shown: Shown) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    tabs = shown.view.tabs
    assert not tabs.close_turn(VERA), "a running turn keeps its tab"
    shown.feed(TurnFinished(time=START, turn=VERA))
    assert tabs.page == VERA
    tabs.close_current()
    assert shown.tab_texts() == ["linter 1", "security_auditor 1"]
    assert tabs.page == LINTER
    shown.feed(TurnActivity(time=START, turn=LINTER))
    assert "vera 1" not in shown.tab_texts()
    tabs.show_turn(VERA)
    assert shown.tab_texts() == ["vera 1", "linter 1", "security_auditor 1"]


def test_a_tabs_menu_stops_a_running_agent(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    menu = shown.view.tabs.menu_for(0)
    actions = {action.text(): action for action in menu.actions()}
    assert not actions["Close"].isEnabled()
    with qtbot.waitSignal(shown.view.stop_turn_requested) as stopped:
        actions["Stop this agent"].trigger()
    assert stopped.args == [VERA]
    menu.close()


def test_copy_all_of_a_tab_gives_its_text(shown: Shown, qtbot: QtBot) -> None:
    write_transcript(shown.folder, "1-0-vera", "All of it.")
    shown.feed(group("vera"), TurnStarted(time=START, turn=VERA))
    menu = shown.view.tabs.menu_for(0)
    copy = next(action for action in menu.actions() if action.text() == "Copy all")
    view = shown.view.tabs.pages.currentWidget()
    qtbot.waitUntil(lambda: view.line_count > 0)
    copy.trigger()
    assert "All of it." in QGuiApplication.clipboard().text()
    menu.close()


def test_another_run_begins_with_empty_tabs_and_follows_again(shown: Shown, tmp_path: Path) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    shown.view.tabs.show_state()
    shown.feed(RunFinished(time=START))
    shown.progress = RunProgress()
    shown.progress.apply(RunStarted(time=START, run_id="r2", folder=str(tmp_path)))
    shown.view.begin(shown.progress)
    assert shown.tab_texts() == []
    assert shown.view.tabs.page == OVERVIEW
    assert not shown.view.banner.isVisible()
    shown.feed(group("amala"), TurnStarted(time=START, turn=VERA))
    assert shown.view.tabs.page == VERA


# --- strip --------------------------------------------------------------------------------------------


def test_the_strip_shows_time_silence_and_attempt_of_running_agents(shown: Shown) -> None:
    assert not shown.view.strip.isVisible()
    shown.feed(
        group(*AGENTS),
        *(TurnStarted(time=START, turn=turn) for turn in (VERA, LINTER, SECURITY)),
        AttemptStarted(time=START, turn=SECURITY, number=1),
        TurnActivity(time=START + 24, turn=LINTER),
        AttemptStarted(time=START + 40, turn=SECURITY, number=2, kind=AttemptKind.RETRY),
        TurnActivity(time=START + 41, turn=VERA),
    )
    shown.view.tick(START + 42)
    assert shown.pills() == {
        "vera": "0:42",
        "linter": "0:42 · quiet 18 s",
        "security_auditor": "0:42 · attempt 2 of 3",
    }
    shown.feed(TurnFinished(time=START + 43, turn=VERA))
    assert list(shown.pills()) == ["linter", "security_auditor"]


def test_a_pill_opens_its_tab_and_its_square_stops_the_agent(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    pill = shown.view.strip.pills[LINTER]
    QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(30, pill.height() // 2))
    assert shown.view.tabs.page == LINTER
    with qtbot.waitSignal(shown.view.stop_turn_requested) as stopped:
        QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(pill.width() - 12, pill.height() // 2))
    assert stopped.args == [LINTER]
    with qtbot.waitSignal(shown.view.stop_turn_requested):
        QTest.keyClick(pill, Qt.Key.Key_Delete)


@pytest.mark.parametrize(
    ("policy", "words"),
    [("abort", "The others go on; the run ends after them."), ("continue", "The group goes on without it.")],
)
def test_the_square_of_a_pill_is_seen_and_says_what_follows(shown: Shown, policy: str, words: str) -> None:
    parallel = {"mode": "parallel", "agents": list(AGENTS), "on_parallel_error": policy}
    workflow = {"loop_agents": ["a", parallel]}
    (shown.folder / "workflow.json").write_text(json.dumps(workflow), encoding="utf-8")
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    pill = shown.view.strip.pills[LINTER]
    middle = pill.height() // 2
    on_stop, on_name = QPoint(pill.width() - 15, middle), QPoint(40, middle)
    assert pill.tip_at(on_stop.toPointF()) == plain_tool_tip(f"Stop linter. {words}")
    assert "Click to watch it" in pill.tip_at(on_name.toPointF())
    image = pill.grab().toImage()
    scale = image.devicePixelRatio()
    colors = {
        image.pixelColor(int(x * scale), int(y * scale)).name()
        for x in range(pill.width() - 24, pill.width() - 8)
        for y in range(middle - 7, middle + 7)
    }
    assert theme().color("quiet").name() in colors, "without the mouse over it, too"


def test_only_a_whole_click_on_the_square_stops(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    pill = shown.view.strip.pills[LINTER]
    middle = pill.height() // 2
    on_stop, on_name = QPoint(pill.width() - 15, middle), QPoint(40, middle)
    page = shown.view.tabs.page
    for first, last in ((on_stop, on_name), (on_name, on_stop)):
        with qtbot.assertNotEmitted(shown.view.stop_turn_requested):
            QTest.mousePress(pill, Qt.MouseButton.LeftButton, pos=first)
            QTest.mouseRelease(pill, Qt.MouseButton.LeftButton, pos=last)
    assert shown.view.tabs.page == page


def test_trying_a_paid_agent_again_asks_first(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(
        group(*AGENTS),
        *(TurnStarted(time=START, turn=turn) for turn in (VERA, LINTER)),
        UsageReported(
            time=START, turn=VERA, usage=Usage(input_tokens=12_000, output_tokens=300, cost_usd=0.42)
        ),
    )
    view = shown.view
    view.activateWindow()
    with qtbot.assertNotEmitted(view.retry_turn_requested):
        view.orders.retry(VERA)
        assert view.doubts.isVisible()
        assert "vera 1" in view.doubts.text.text()
        assert "12,300 tokens ($0.42)" in view.doubts.text.text()
        assert view.doubts.keep_button.hasFocus(), "who goes on typing says no"
        QTest.keyClick(view.doubts.keep_button, Qt.Key.Key_Return)
        assert not view.doubts.isVisible()
        view.orders.retry(VERA)
        QTest.keyClick(view.doubts.keep_button, Qt.Key.Key_Escape)
        assert not view.doubts.isVisible()
    view.orders.retry(VERA)
    with qtbot.waitSignal(view.retry_turn_requested) as retried:
        view.doubts.again_button.click()
    assert retried.args == [VERA]
    with qtbot.waitSignal(view.retry_turn_requested):
        view.orders.retry(LINTER)
    view.orders.retry(VERA)
    shown.feed(TurnFinished(time=START, turn=VERA))
    assert not view.doubts.isVisible(), "it is done meanwhile"


def test_forty_running_agents_leave_room_for_the_log(shown: Shown, qtbot: QtBot) -> None:
    names = [f"a_rather_long_agent_name_{n}" for n in range(40)]
    shown.feed(group(*names), *(TurnStarted(time=START, turn=f"loop/1/1/{n}") for n in range(40)))
    strip = shown.view.strip
    assert strip.height() < 100
    visible = [pill for pill in strip.pills.values() if pill.isVisible()]
    assert 0 < len(visible) < 40
    assert all(strip.rect().contains(pill.geometry()) for pill in visible)
    with qtbot.waitSignal(strip.more_requested):
        strip._more.click()
    turn_list = shown.view.tabs.turn_list
    assert turn_list is not None
    turn_list.hide()


# --- questions ----------------------------------------------------------------------------------------


def test_a_question_is_answered_in_place(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    words = "vera did not answer with a state update; 2 corrections were tried."
    shown.feed(QuestionAsked(time=START, turn=VERA, message=words))
    bar = shown.view.questions
    assert bar.isVisible()
    row = bar.rows[VERA]
    assert row.accessibleName() == words
    assert [button.text() for button in row.buttons.values()] == [
        "Try again",
        "Go on without it",
        "End the run",
    ]
    with qtbot.waitSignal(shown.view.answered) as answered:
        row.buttons[Answer.CONTINUE].click()
    assert answered.args == [VERA, Answer.CONTINUE]
    row.buttons[Answer.RETRY].click()
    assert not row.isEnabled(), "one answer is enough"
    shown.feed(TurnFinished(time=START, turn=VERA))
    assert not bar.isVisible()


def test_two_questions_stand_beside_each_other(shown: Shown) -> None:
    shown.feed(group(*AGENTS), *(TurnStarted(time=START, turn=turn) for turn in (VERA, LINTER)))
    shown.feed(
        QuestionAsked(time=START, turn=VERA, message="vera?"),
        QuestionAsked(time=START, turn=LINTER, message="linter?"),
    )
    assert list(shown.view.questions.rows) == [VERA, LINTER]
    assert shown.pills()["vera"].endswith("needs your answer")


def press(button: QWidget) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def two_questions(shown: Shown) -> tuple[QuestionRow, QuestionRow]:
    """Those of vera and of linter, which take answers."""
    shown.feed(group(*AGENTS), *(TurnStarted(time=START, turn=turn) for turn in (VERA, LINTER)))
    shown.feed(
        QuestionAsked(time=START, turn=VERA, message="vera?"),
        QuestionAsked(time=START, turn=LINTER, message="linter?"),
    )
    rows = shown.view.questions.rows
    shown.qtbot.waitUntil(lambda: rows[VERA].takes_answers and rows[LINTER].takes_answers)
    return rows[VERA], rows[LINTER]


def answers_of(shown: Shown) -> list[tuple[str, Answer]]:
    """What is answered from now on."""
    answered: list[tuple[str, Answer]] = []
    shown.view.answered.connect(lambda turn, answer: answered.append((turn, answer)))
    return answered


def test_a_double_click_answers_one_question_not_the_one_that_takes_its_place(shown: Shown) -> None:
    first, second = two_questions(shown)
    answered = answers_of(shown)
    place = first.buttons[Answer.ABORT].mapTo(shown.view, QPoint(4, 4))
    press(first.buttons[Answer.ABORT])
    shown.feed(TurnFinished(time=START, turn=VERA))
    shown.qtbot.waitUntil(lambda: second.buttons[Answer.ABORT].mapTo(shown.view, QPoint(4, 4)) == place)
    QTest.mouseDClick(second.buttons[Answer.ABORT], Qt.MouseButton.LeftButton)
    press(second.buttons[Answer.ABORT])
    assert answered == [(VERA, Answer.ABORT)]
    shown.qtbot.waitUntil(lambda: second.takes_answers)
    press(second.buttons[Answer.RETRY])
    assert answered == [(VERA, Answer.ABORT), (LINTER, Answer.RETRY)]


def test_a_question_that_appears_under_the_mouse_is_not_answered_by_what_was_clicked(shown: Shown) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    shown.feed(QuestionAsked(time=START, turn=VERA, message="vera?"))
    row = shown.view.questions.rows[VERA]
    answered = answers_of(shown)
    press(row.buttons[Answer.ABORT])
    assert answered == []
    shown.qtbot.waitUntil(lambda: row.takes_answers)
    press(row.buttons[Answer.ABORT])
    assert answered == [(VERA, Answer.ABORT)]


@pytest.mark.parametrize("by_keys", [True, False])
def test_after_an_answer_the_keys_are_at_the_next_question_and_at_none_of_its_answers(
    shown: Shown, by_keys: bool
) -> None:
    first, second = two_questions(shown)
    answered = answers_of(shown)
    button = first.buttons[Answer.ABORT]
    button.setFocus(Qt.FocusReason.TabFocusReason)
    if by_keys:
        QTest.keyClick(button, Qt.Key.Key_Space)
    else:
        press(button)
    assert second.hasFocus()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return):
        QTest.keyClick(second, key)
    assert answered == [(VERA, Answer.ABORT)]
    shown.feed(TurnFinished(time=START, turn=VERA))
    assert second.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Tab)
    assert second.buttons[Answer.RETRY].hasFocus()


def test_a_question_that_goes_by_itself_leaves_the_keys_at_no_answer_of_another(shown: Shown) -> None:
    first, second = two_questions(shown)
    first.buttons[Answer.RETRY].setFocus()
    shown.feed(TurnFinished(time=START, turn=VERA, status=TurnStatus.STOPPED))
    assert second.hasFocus()


@pytest.mark.parametrize("height", range(330, 560, 20))
def test_the_timeline_stays_where_it_is_when_a_bar_of_it_is_clicked(shown: Shown, height: int) -> None:
    """A turn has a row of buttons above its log, which the overview has not."""
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    shown.feed(RunFinished(time=START, status=RunStatus.COMPLETED, message="It is done. " * 12))
    view = shown.view
    view.resize(428, height)
    view.tabs.show_overview()

    def place() -> tuple[list[int], QPoint]:
        # Texts that wrap ask for other heights more than once.
        for _ in range(5):
            QApplication.processEvents()
        return view.splitter.sizes(), view.timeline.mapTo(view, QPoint(0, 0))

    before = place()
    view.timeline.turn_requested.emit(VERA)
    assert view.tabs.turn_bar.isVisible()
    assert place() == before


# --- banner -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", list(RunStatus))
def test_the_banner_says_how_and_why_it_ended(shown: Shown, status: RunStatus) -> None:
    shown.feed(
        UsageReported(time=START, turn=VERA),
        RunFinished(time=START + 134, status=status, message="The score reached 90 in iteration 3."),
    )
    banner = shown.view.banner
    assert banner.isVisible()
    assert banner.title.text() == "The score reached 90 in iteration 3."
    assert banner.facts.text().startswith("2:14 · 1 iteration")
    assert not banner.failed_button.isVisible()
    assert not banner.details_button.isVisible()


def test_the_banner_leads_to_the_failed_agent_and_keeps_codes_under_details(
    shown: Shown, qtbot: QtBot
) -> None:
    shown.feed(
        group(*AGENTS),
        TurnStarted(time=START, turn=LINTER),
        TurnFinished(
            time=START,
            turn=LINTER,
            status=TurnStatus.FAILED,
            message="linter ended before it answered.",
            detail="Traceback: exit code 1",
            reason="agent_error:linter",
        ),
        RunFinished(
            time=START,
            status=RunStatus.FAILED,
            message="linter failed, so the run ended.",
            termination_reason="agent_error:linter",
        ),
    )
    banner = shown.view.banner
    assert "Traceback" not in banner.title.text() + banner.facts.text()
    assert not banner.details.isVisible()
    banner.details_button.click()
    assert banner.details.isVisible()
    assert "Traceback: exit code 1" in banner.details.toPlainText()
    shown.view.tabs.show_overview()
    banner.failed_button.click()
    assert shown.view.tabs.page == LINTER
    with qtbot.waitSignal(shown.view.run_again_requested):
        banner.again_button.click()


def test_the_banner_can_be_folded_and_stays_as_the_user_wants_it(shown: Shown) -> None:
    words = "linter failed: it ended before it answered, and so the run ended, too."
    shown.feed(RunFinished(time=START, status=RunStatus.FAILED, message=words))
    banner = shown.view.banner
    shown.view.resize(430, 505)
    QApplication.processEvents()
    full = banner.height()
    assert banner.folder_button.isVisible(), "the end of a run that one has watched is shown in full"
    press(banner.fold_button)
    QApplication.processEvents()
    assert not banner.folder_button.isVisible()
    row = banner.folder_button.height()
    shown.qtbot.waitUntil(lambda: banner.height() <= full - row)
    assert banner.short_title.text == words
    assert banner.fold_button.accessibleName() == "Show what can be done with this run"
    shown.view.resize(430, 900)
    shown.feed(RunFinished(time=START, status=RunStatus.FAILED, message=words))
    assert not banner.folder_button.isVisible()
    press(banner.fold_button)
    assert banner.folder_button.isVisible()
    assert banner.title.isVisible()


@pytest.mark.parametrize(("height", "folded"), [(505, True), (700, False)])
def test_a_run_of_the_past_leaves_room_for_its_log_and_for_tabs(
    qtbot: QtBot, tmp_path: Path, height: int, folded: bool
) -> None:
    shop = Workshop(tmp_path)
    shop.agent("scribe")
    run = read_run(shop.run({"preparation_agents": ["scribe"] * 5}).folder)
    view = RunView()
    qtbot.addWidget(view)
    view.resize(428, height)
    view.show()
    view.set_recorded(True)
    view.begin(run.progress, run)
    view.tabs.show_turn(next(iter(run.progress.turns)))
    QApplication.processEvents()
    assert view.banner.isVisible()
    assert view.banner.folded is folded
    bar = view.tabs.bar
    inside = bar.parentWidget()
    assert inside is not None

    def seen() -> list[str]:
        boxes = {index: bar.tabRect(index).translated(bar.pos()) for index in range(bar.count())}
        return [bar.tabText(index) for index, box in boxes.items() if inside.rect().contains(box)]

    qtbot.waitUntil(lambda: len(seen()) > 1)
    view.begin(RunProgress())


# --- state --------------------------------------------------------------------------------------------


def state_with(payload: dict[str, object], iteration: int = 1) -> WorkflowState:
    return WorkflowState("loop", iteration, False, None, payload)  # type: ignore[arg-type]


def test_the_state_tab_shows_the_state_and_keeps_what_is_open(shown: Shown, qtbot: QtBot) -> None:
    tab = shown.view.tabs.state_tab
    shown.view.tabs.show_state()
    first = state_with({"score": 80, "feedback": ["a", "b"]})
    shown.feed(StateChanged(time=START, state=first))
    model = tab.model
    assert model.value(model.index_of(("payload", "score"))) == 80
    tab.tree.expand(model.index_of(("payload", "feedback")))
    tab.tree.setCurrentIndex(model.index_of(("payload", "feedback", "[1]")))
    assert tab.value.toPlainText() == "b"
    shown.feed(StateChanged(time=START, state=state_with({"score": 86, "feedback": ["a", "c"]}, 2)))
    assert tab.tree.isExpanded(model.index_of(("payload", "feedback")))
    assert tab.value.toPlainText() == "c"
    tab.copy_button.click()
    qtbot.waitUntil(lambda: "86" in QGuiApplication.clipboard().text())
    assert json.loads(QGuiApplication.clipboard().text())["payload"] == {"score": 86, "feedback": ["a", "c"]}


def test_conflicts_name_the_path_both_values_both_writers_and_what_was_kept(shown: Shown) -> None:
    conflict = Conflict("payload.score", MergeRule.LAST, "vera", 86, "linter", 71, 71)
    shown.feed(Merged(time=START, phase="loop", iteration=1, group=1, conflicts=(conflict,)))
    tab = shown.view.tabs.state_tab
    assert [tab.conflict_part.model.index(0, column).data() for column in range(6)] == [
        "payload.score",
        "vera: 86",
        "linter: 71",
        "71 (linter)",
        "last",
        "Loop · iteration 1",
    ]
    assert tab.conflict_part.button.text() == "1 conflict"
    shown.feed(Merged(time=START, phase="loop", iteration=2, group=1, conflicts=(conflict,)))
    assert tab.conflicts.model().rowCount() == 2


def test_a_selected_conflict_is_read_whole_below_the_tree(shown: Shown) -> None:
    values: list[list[JsonValue]] = [["one.py", {"line": 1}], ["two.py"], ["three.py"]]
    one, two, three = zip(("vera", "linter", "checker"), values, strict=True)
    conflicts = tuple(
        Conflict("payload.files", MergeRule.LAST, *first, *second, values[2])
        for first, second in ((one, two), (two, three))
    )
    shown.feed(
        StateChanged(time=START, state=state_with({})),
        Merged(time=START, phase="loop", iteration=1, group=1, conflicts=conflicts),
        StateChanged(time=START, state=state_with({"files": values[2]})),
    )
    tab = shown.view.tabs.state_tab
    shown.view.tabs.show_state()
    kept = [tab.conflict_part.model.index(row, 3).data() for row in range(2)]
    assert kept == ["[ 1 item ] (checker)"] * 2, "also where a third one had the last word"
    tab.conflicts.setCurrentIndex(tab.conflict_part.model.index(0, 0))
    text = tab.value.toPlainText()
    assert 'vera wrote:\n[\n  "one.py",\n  {\n    "line": 1' in text
    assert 'linter wrote:\n[\n  "two.py"' in text
    assert 'Kept (checker):\n[\n  "three.py"' in text
    assert "Rule: last" in text
    shown.feed(StateChanged(time=START, state=state_with({"files": values[2], "score": 1}, 2)))
    assert tab.value.toPlainText() == text, "who reads a conflict is not interrupted by the next merge"
    tab.tree.setCurrentIndex(tab.model.index_of(("payload", "score")))
    assert tab.value.toPlainText().startswith("1\n")


def test_a_value_that_was_made_of_several_names_no_single_writer(shown: Shown) -> None:
    conflict = Conflict("payload.n", MergeRule.SUM, "vera", 1, "linter", True, 2)
    shown.feed(Merged(time=START, phase="loop", iteration=1, group=1, conflicts=(conflict,)))
    kept = shown.view.tabs.state_tab.conflict_part.model.index(0, 3)
    assert kept.data() == "2 (made of several)"


def test_the_banner_of_a_used_up_loop_says_that_an_agent_failed(shown: Shown) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA))
    shown.feed(
        TurnFinished(time=START, turn=VERA, status=TurnStatus.FAILED, message="vera failed."),
        RunFinished(time=START, status=RunStatus.ENDED, message="All 10 iterations are used up."),
    )
    assert "1 agent failed on the way" in shown.view.banner.facts.text()


def test_details_take_no_more_room_than_their_text_and_leave_room_for_the_log(shown: Shown) -> None:
    shown.view.resize(428, 560)
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    shown.feed(
        TurnFinished(time=START, turn=VERA, status=TurnStatus.FAILED, message="vera failed."),
        RunFinished(time=START, status=RunStatus.ENDED, message="All 10 iterations are used up."),
    )
    banner = shown.view.banner
    banner.details_button.click()
    QApplication.processEvents()
    assert banner.details.height() < 3 * banner.details.fontMetrics().lineSpacing()
    long = "Traceback\n" * 200
    failed = TurnFinished(
        time=START, turn=LINTER, status=TurnStatus.FAILED, message="linter failed.", detail=long
    )
    shown.feed(RunStarted(time=START, run_id="r", folder=str(shown.folder)), group(*AGENTS), failed)
    shown.feed(RunFinished(time=START, status=RunStatus.FAILED, message="linter failed."))
    banner.details_button.click()
    QApplication.processEvents()
    assert banner.details.scrolls
    assert banner.height() < 560 / 2


def test_the_banner_leads_to_the_conflicts(shown: Shown) -> None:
    conflict = Conflict("payload.score", MergeRule.LAST, "vera", [86], "linter", [71], [71])
    shown.feed(
        StateChanged(time=START, state=state_with({"score": 71})),
        Merged(time=START, phase="loop", iteration=1, group=1, conflicts=(conflict,) * 12),
        RunFinished(time=START, status=RunStatus.COMPLETED),
    )
    button = shown.view.banner.conflicts_button
    assert button.text() == "Show the conflicts"
    button.click()
    assert shown.view.tabs.page == STATE
    assert "vera wrote:\n[\n  86" in shown.view.tabs.state_tab.value.toPlainText()


def test_a_huge_payload_is_built_only_where_one_looks(qtbot: QtBot) -> None:
    payload = {"rows": [{"n": n, "text": "x" * 80} for n in range(100_000)]}
    model = StateModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    tester.setUseFetchMore(False)
    model.show_state(state_with(payload))
    model.fetchMore(QModelIndex())
    rows = model.index_of(("payload", "rows"))
    assert model.hasChildren(rows)
    assert model.rowCount(rows) == 0
    assert len(model._nodes) < 20
    assert model.value(model.index_of(("payload", "rows", "[1200]", "n"))) == 1200
    assert model.rowCount(rows) < 2000
    assert len(preview(payload, 10_000)) < 25_000


def test_values_are_words_on_one_line() -> None:
    assert value_words({"a": 1}) == "{ 1 key }"
    assert value_words([1, 2]) == "[ 2 items ]"
    assert value_words("two\nlines") == "two lines"
    assert value_words(None) == "null"
    assert value_words(True) == "true"
    assert len(value_words("x" * 10_000_000)) < 300


def test_a_small_value_is_previewed_whole_as_json() -> None:
    value = {"a": [1, {"b": 'with "quotes"'}, []], "c": None}
    assert json.loads(preview(value)) == value


# --- status line --------------------------------------------------------------------------------------


@pytest.fixture
def status(qtbot: QtBot) -> StatusLine:
    line = StatusLine()
    qtbot.addWidget(line)
    line.resize(1280, 28)
    line.show()
    return line


def texts(line: StatusLine) -> Sequence[str]:
    labels = (line.place, line.running, line.elapsed, line.tokens, line.cost)
    return [line.light.text, *(label.text() for label in labels if label.isVisible())]


def test_the_status_line_tells_the_run_in_one_line(status: StatusLine) -> None:
    progress = RunProgress(budget=Budget(max_cost_usd=5.0))
    progress.apply_all(
        [
            RunStarted(time=START, run_id="r", max_loops=10),
            PhaseStarted(time=START, phase="loop"),
            IterationStarted(time=START, iteration=3),
            group(*AGENTS, iteration=3),
            *(TurnStarted(time=START, turn=f"loop/3/1/{n}") for n in range(3)),
            UsageReported(time=START, turn="loop/3/1/0", usage=Usage(input_tokens=48_210, cost_usd=0.42)),
        ]
    )
    status.show_progress(progress, START + 134)
    assert texts(status) == [
        "Running",
        "Loop · iteration 3 of 10",
        "3 running",
        "2:14",
        "48,210 tokens",
        "$0.42 of $5.00",
    ]
    assert status.budget.isVisible()
    assert status.budget.share == pytest.approx(0.084)
    progress.apply(StopRequested(time=START, kind=StopKind.AFTER_RUNNING))
    status.show_progress(progress, START + 135)
    assert status.light.text == "Stopping after the running agents"


def test_a_price_that_is_not_known_is_not_called_free(status: StatusLine) -> None:
    progress = RunProgress()
    progress.apply_all(
        [
            RunStarted(time=START, run_id="r"),
            group("vera"),
            TurnStarted(time=START, turn=VERA),
            UsageReported(time=START, turn=VERA, usage=Usage(input_tokens=5)),
        ]
    )
    status.show_progress(progress, START)
    assert status.cost.text() == "price unknown"
    assert not status.budget.isVisible()


def test_at_rest_the_line_says_what_is_ready_and_what_is_wrong(status: StatusLine, qtbot: QtBot) -> None:
    status.show_backend("opencode 1.18.33")
    hint = Problem("It may end early.", severity=Severity.HINT)
    status.show_problems([Problem("There is no vera."), hint, hint])
    assert texts(status) == ["Ready"]
    assert status.backend.text() == "opencode 1.18.33"
    assert status.problems.text() == "1 error, 2 hints"
    with qtbot.waitSignal(status.problems_requested):
        status.problems.click()


def test_live_numbers_do_not_make_the_line_jump(status: StatusLine) -> None:
    progress = RunProgress()
    progress.apply(RunStarted(time=START, run_id="r"))
    status.show_progress(progress, START + 3599)
    wide = status.elapsed.minimumWidth()
    status.show_progress(progress, START + 5)
    assert status.elapsed.minimumWidth() == wide
    assert status.elapsed.alignment() & Qt.AlignmentFlag.AlignRight


def spent(progress: RunProgress, **usage: object) -> None:
    progress.apply_all(
        [
            RunStarted(time=START, run_id="r"),
            group("vera", "linter"),
            TurnStarted(time=START, turn=VERA),
            UsageReported(time=START, turn=VERA, usage=Usage(**usage)),  # type: ignore[arg-type]  # fields of it
        ]
    )


@pytest.mark.parametrize(("cost", "warns"), [(3.99, False), (4.0, True), (7.0, True)])
def test_the_budget_warns_by_sign_and_words_from_four_fifths_on(
    status: StatusLine, cost: float, warns: bool
) -> None:
    """Pain 24: no cap on spending."""
    progress = RunProgress(budget=Budget(max_cost_usd=5.0))
    spent(progress, input_tokens=10, cost_usd=cost)
    status.show_progress(progress, START)
    assert status.budget.warns is warns
    assert status.budget.accessibleName() == f"{int(cost / 5 * 100)} % of the budget is used"
    image = status.budget.grab().toImage()
    above_the_bar = {image.pixelColor(x, y).name() for x in range(14) for y in range(4)}
    assert (len(above_the_bar) > 1) is warns, "the sign is a shape, not a colour alone"


def test_a_budget_of_which_nobody_knows_the_price_shows_no_share(status: StatusLine) -> None:
    """Pain 24: unknown price is "unknown"."""
    progress = RunProgress(budget=Budget(max_cost_usd=5.0))
    spent(progress, input_tokens=10)
    status.show_progress(progress, START)
    assert status.cost.text() == "price unknown, budget $5.00"
    assert not status.budget.isVisible()
    progress.apply(
        UsageReported(time=START, turn=VERA, usage=Usage(input_tokens=10, cost_usd=1.0)),
    )
    status.show_progress(progress, START)
    assert status.cost.text() == "$1.00 + unknown, budget $5.00"
    assert "no known price" in status.budget.accessibleName()


def test_the_cap_that_is_nearest_to_its_end_is_shown(status: StatusLine) -> None:
    progress = RunProgress(budget=Budget(max_cost_usd=5.0, max_tokens=1000, max_cost_usd_per_group=1.0))
    spent(progress, input_tokens=500, cost_usd=0.9)
    status.show_progress(progress, START)
    assert status.budget.accessibleName() == "90 % of the budget of this group is used"
    progress.apply(UsageReported(time=START, turn=VERA, usage=Usage(input_tokens=499)))
    status.show_progress(progress, START)
    assert status.budget.accessibleName() == "99 % of the tokens that the run may use are used"


def test_a_budget_of_nothing_is_used_up_and_breaks_nothing(status: StatusLine) -> None:
    progress = RunProgress(budget=Budget(max_cost_usd=0.0, max_tokens=0))
    progress.apply(RunStarted(time=START, run_id="r"))
    status.show_progress(progress, START)
    assert status.budget.warns


# --- a run that waits, and what it warns of ---------------------------------------------------------------


def paused(shown: Shown) -> None:
    """vera met the lost provider, linter is at work, security_auditor waits."""
    shown.feed(
        group(*AGENTS),
        TurnStarted(time=START, turn=VERA),
        AttemptStarted(time=START, turn=VERA),
        TurnStarted(time=START, turn=LINTER),
        AttemptStarted(time=START, turn=LINTER),
        AttemptFinished(time=START, turn=VERA, problem="The usage limit is reached."),
        RunPaused(time=START, turn=VERA, message="vera: The usage limit <b>is</b> reached."),
    )


def test_a_pause_says_why_who_goes_on_and_who_waits(shown: Shown, qtbot: QtBot) -> None:
    """Pain 22: the quota is gone and the run marches on."""
    paused(shown)
    bar = shown.view.pause
    assert bar.isVisible()
    assert bar.why.text() == "vera: The usage limit <b>is</b> reached."
    assert "1 agent at work may finish" in bar.title.text()
    waits = "waits for the run, which is paused"
    assert shown.tab_words() == [f"vera 1, {waits}", "linter 1, running", f"security_auditor 1, {waits}"]
    assert shown.pills()["vera"].endswith("waits for the run")
    assert "waits" not in shown.pills()["linter"]
    with qtbot.waitSignal(shown.view.proceed_requested):
        bar.resume_button.click()
    assert not bar.resume_button.isEnabled(), "one click is enough"
    shown.feed(RunContinued(time=START + 1), AttemptStarted(time=START + 1, turn=VERA, number=2))
    assert not bar.isVisible()
    assert shown.tab_words()[0] == "vera 1, running"
    shown.feed(RunPaused(time=START + 2, turn=VERA, message="vera: The usage limit <b>is</b> reached."))
    assert bar.resume_button.isEnabled(), "it can be paused again"


ENDLESS = "vera: \u202eevil \x1b[31mred " + "line of a long reason\n" * 400 + "word" * 2000


@pytest.mark.parametrize("place", ["pause", "banner", "question", "note"])
def test_a_long_hostile_reason_leaves_room_for_the_log(shown: Shown, place: str) -> None:
    shown.view.resize(684, 420)
    paused(shown)
    view = shown.view
    event, bar = {
        "pause": (RunPaused(time=START, turn=VERA, message=ENDLESS), view.pause),
        "banner": (RunFinished(time=START, status=RunStatus.FAILED, message=ENDLESS), view.banner),
        "question": (QuestionAsked(time=START, turn=LINTER, message=ENDLESS), view.questions),
        "note": (Noted(time=START, turn=VERA, message=ENDLESS, warning=True), view.notes),
    }[place]
    if place in ("question", "note"):
        shown.feed(RunContinued(time=START))
    shown.feed(event)
    QApplication.processEvents()
    assert bar.isVisible()
    assert view.size() == QSize(684, 420)
    assert bar.height() <= 420 / 2.5, "about a third, with its buttons"
    text = bar.findChildren(ReadingText)[0]
    assert text.scrolls, "all of it can be read"
    assert text.text().startswith("vera: ⟨U+202E⟩evil ⟨escape⟩[31mred line")
    for label in bar.findChildren(QLabel):
        assert "\u202e" not in label.text()
    assert "\u202e" not in bar.accessibleName()


def test_a_short_reason_takes_one_line(shown: Shown) -> None:
    paused(shown)
    QApplication.processEvents()
    text = shown.view.pause.why
    assert not text.scrolls
    assert text.height() < 2 * text.fontMetrics().lineSpacing()


def test_a_paused_run_that_is_stopped_offers_nothing_more(shown: Shown, qtbot: QtBot) -> None:
    paused(shown)
    with qtbot.waitSignal(shown.view.stop_requested):
        shown.view.pause.stop_button.click()
    shown.feed(StopRequested(time=START, kind=StopKind.NOW))
    assert not shown.view.pause.resume_button.isEnabled()
    shown.feed(RunFinished(time=START, status=RunStatus.STOPPED))
    assert not shown.view.pause.isVisible()


def test_a_warning_about_an_agent_marks_its_tab_and_is_read_in_a_line(shown: Shown) -> None:
    shown.feed(group("vera", "linter"), TurnStarted(time=START, turn=VERA))
    shown.view.tabs.show_overview()
    before = shown.view.tabs.bar.tabIcon(0).pixmap(16, 16).toImage()
    shown.feed(Noted(time=START, turn=VERA, message="vera printed <i>nothing</i> for 120 s.", warning=True))
    assert shown.tab_words()[0] == "vera 1, running, 1 warning"
    assert "<i>nothing</i>" in shown_tip(shown.view.tabs.bar.tabToolTip(0))
    assert shown.view.tabs.bar.tabIcon(0).pixmap(16, 16).toImage() != before
    notes = shown.view.notes
    assert notes.text.text() == "vera printed <i>nothing</i> for 120 s."
    notes.show_button.click()
    assert shown.view.tabs.current_turn == VERA
    assert not notes.isVisible()
    assert shown.tab_words()[0] == "vera 1, running, 1 warning", "read is not forgotten"


def test_output_that_came_after_a_stop_is_told_on_the_tab(shown: Shown) -> None:
    """Pain 10: "stopped" agents go on writing: late output is kept apart."""
    shown.feed(group("vera"), TurnStarted(time=START, turn=VERA), AttemptStarted(time=START, turn=VERA))
    shown.feed(
        AttemptFinished(time=START, turn=VERA, problem="It was ended.", late_bytes=12_345),
        TurnFinished(time=START, turn=VERA, status=TurnStatus.STOPPED, message="vera was stopped."),
    )
    assert shown.tab_words() == ["vera 1, stopped, 1 warning"]
    assert "12,345 bytes came after it was told to end" in shown.view.tabs.bar.tabToolTip(0)


def test_several_warnings_are_counted_and_lead_to_the_overview(shown: Shown) -> None:
    shown.feed(group("vera", "linter"), TurnStarted(time=START, turn=VERA))
    shown.feed(*(Noted(time=START, turn=VERA, message=f"note {n}", warning=True) for n in range(40)))
    shown.feed(
        Noted(time=START, message="80% of the budget is used.", warning=True), Noted(message="by the way")
    )
    notes = shown.view.notes
    assert notes.text.text() == "80% of the budget is used. (41 warnings)"
    notes.show_button.click()
    assert shown.view.tabs.page == OVERVIEW
    shown.feed(Noted(time=START, message="One more.", warning=True))
    assert notes.text.text() == "One more."
    shown.feed(RunFinished(time=START, status=RunStatus.STOPPED))
    assert not notes.isVisible()
    assert "42 warnings" in shown.view.banner.facts.text()


@pytest.fixture
def quiet(shown: Shown) -> Shown:
    """vera has been warned of for its silence, in the words of the engine."""
    shown.feed(
        group("vera", "linter"), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER)
    )
    message = "vera has printed nothing for 120 s. It is left alone: no agent_idle_timeout is set."
    shown.feed(
        Noted(time=START + 120, turn=VERA, message=message, warning=True, silence=True), now=START + 120
    )
    return shown


def test_a_warning_of_silence_is_taken_back_when_the_agent_prints_again(quiet: Shown) -> None:
    """Pain 14: a quiet agent that works."""
    notes = quiet.view.notes
    assert notes.isVisible()
    assert notes.text.text().endswith("It is left alone: “Silence, at most” is not set.")
    assert quiet.tab_words()[0] == "vera 1, running, 1 warning"
    quiet.feed(TurnActivity(time=START + 121, turn=LINTER, output_bytes=4))
    assert notes.isVisible(), "another one prints"
    quiet.feed(TurnActivity(time=START + 121, turn=VERA, output_bytes=4))
    assert not notes.isVisible()
    assert quiet.tab_words()[0] == "vera 1, running"


def test_only_the_warning_of_silence_is_taken_back(quiet: Shown) -> None:
    quiet.feed(Noted(time=START + 121, turn=VERA, message="It wrote a file.", warning=True))
    quiet.feed(TurnActivity(time=START + 122, turn=VERA, output_bytes=4))
    assert quiet.view.notes.text.text() == "It wrote a file."
    assert quiet.tab_words()[0] == "vera 1, running, 1 warning"


def test_a_quiet_agent_is_shown_stopped_or_tried_again_from_the_warning(quiet: Shown, qtbot: QtBot) -> None:
    notes = quiet.view.notes
    with qtbot.waitSignal(quiet.view.stop_turn_requested) as stopped:
        notes.stop_button.click()
    with qtbot.waitSignal(quiet.view.retry_turn_requested) as retried:
        notes.retry_button.click()
    assert stopped.args == retried.args == [VERA]
    quiet.feed(Noted(time=START + 121, message="80% of the budget is used.", warning=True))
    assert not notes.stop_button.isVisible()


def test_the_engines_warning_of_silence_is_known_as_one(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("quiet", hang_silent=True)
    run = shop.run(
        {"preparation_agents": ["quiet"], "agent_idle_warning": 0.2},
        lambda engine, event: (
            engine.stop(StopKind.NOW) if isinstance(event, Noted) and event.warning else None
        ),
    )
    notes = [
        Note(each.time, each.turn, each.message, each.warning, each.silence)
        for each in run.of(Noted)
        if each.warning
    ]
    assert [is_about_silence(note) for note in notes] == [True]
    assert "agent_idle_timeout" not in note_words(notes[0])


# --- an agent that waits to be tried again ---------------------------------------------------------------


def test_an_agent_that_waits_to_be_tried_again_does_not_look_like_one_at_work(
    shown: Shown, status: StatusLine
) -> None:
    """Pain 3: a silent retry."""
    shown.feed(
        group("vera", "linter"),
        *(TurnStarted(time=START, turn=turn) for turn in (VERA, LINTER)),
        *(AttemptStarted(time=START, turn=turn) for turn in (VERA, LINTER)),
    )
    at_work = shown.view.tabs.bar.tabIcon(0).pixmap(28, 28).toImage()
    shown.feed(
        AttemptFinished(time=START + 1, turn=VERA, problem="429"),
        RetryScheduled(time=START + 1, turn=VERA, seconds=2, reason="429"),
        now=START + 1,
    )
    assert shown.tab_words() == ["vera 1, waits to be tried again, attempt 2 of 3", "linter 1, running"]
    assert shown.tab_texts() == ["vera 1 · attempt 2 of 3", "linter 1"]
    assert "attempt 2 of 3" in shown.view.tabs.bar.tabToolTip(0)
    assert shown.view.tabs.bar.tabIcon(0).pixmap(28, 28).toImage() != at_work
    pill = shown.view.strip.pills[VERA]
    assert pill.accessibleName() == "vera, waiting, 0:01 · again in 2 s"
    status.show_progress(shown.progress, START + 1)
    assert status.running.text() == "1 running · 1 again in 2 s"
    shown.feed(AttemptStarted(time=START + 3, turn=VERA, number=2, kind=AttemptKind.RETRY), now=START + 3)
    assert shown.tab_words()[0] == "vera 1, running, attempt 2 of 3"
    status.show_progress(shown.progress, START + 3)
    assert status.running.text() == "2 running"
    shown.feed(TurnFinished(time=START + 4, turn=VERA))
    assert shown.tab_texts()[0] == "vera 1"


def test_tab_goes_through_the_banner_from_top_to_bottom(shown: Shown) -> None:
    form = QWidget(shown.view)
    row = QVBoxLayout(form)
    first, second = QLineEdit(form), QLineEdit(form)
    row.addWidget(first)
    row.addWidget(second)
    banner = shown.view.banner
    banner.set_resume_form(form)
    shown.feed(RunFinished(time=START, status=RunStatus.STOPPED))
    assert not form.isVisible(), "nobody offered it"
    banner.offer_resume(True)
    shown.view.activateWindow()
    first.setFocus()
    order = []
    for _ in range(3):
        order.append(shown.view.focusWidget())
        QTest.keyClick(shown.view.focusWidget(), Qt.Key.Key_Tab)
    assert order == [first, second, banner.again_button]


# --- orders for one agent -------------------------------------------------------------------------------


def menu_words(menu: QMenu) -> dict[str, bool]:
    return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}


def test_a_failed_agent_can_be_tried_again_as_long_as_its_group_goes_on(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(
        group(*AGENTS),
        TurnStarted(time=START, turn=VERA),
        TurnStarted(time=START, turn=LINTER),
        TurnFinished(time=START, turn=VERA, status=TurnStatus.FAILED, message="vera failed."),
    )
    menu = shown.view.tabs.menu_for(0)
    assert menu_words(menu)["Stop this agent (it is done)"] is False
    with qtbot.waitSignal(shown.view.retry_turn_requested) as asked:
        next(action for action in menu.actions() if action.text() == "Try again").trigger()
    assert asked.args == [VERA]
    menu.close()
    shown.feed(
        TurnFinished(time=START, turn=LINTER),
        TurnFinished(time=START, turn=SECURITY, status=TurnStatus.STOPPED),
    )
    menu = shown.view.tabs.menu_for(0)
    assert menu_words(menu)["Try again (its group is done)"] is False
    menu.close()
    menu = shown.view.tabs.menu_for(1)
    assert menu_words(menu)["Try again (it succeeded, and its result counts)"] is False
    menu.close()


def test_a_pills_menu_and_key_order_the_same_as_the_tabs(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(group(*AGENTS), TurnStarted(time=START, turn=VERA), TurnStarted(time=START, turn=LINTER))
    shown.view.activateWindow()
    menu = shown.view.strip.pills[LINTER].menu()
    assert menu_words(menu) == {"Watch it": True, "Stop this agent": True, "End it and try again": True}
    with qtbot.waitSignal(shown.view.retry_turn_requested) as asked:
        next(action for action in menu.actions() if action.text() == "End it and try again").trigger()
    assert asked.args == [LINTER]
    menu.close()
    shown.view.tabs.show_turn(VERA)
    assert shown.view.ordered_turn == VERA
    shown.view.strip.pills[LINTER].setFocus()
    assert shown.view.ordered_turn == LINTER


def test_what_cannot_be_ordered_says_why(shown: Shown) -> None:
    said: list[str] = []
    shown.view.message.connect(said.append)
    paused(shown)
    shown.view.orders.retry(VERA)
    shown.view.orders.stop(SECURITY)
    assert said == [
        "vera 1 cannot be tried again: the run is paused; resume the run.",
        "security_auditor 1 cannot be stopped: it has not begun.",
    ]
    shown.view.orders.may_retry = lambda _: False
    shown.feed(RunContinued(time=START))
    shown.view.orders.retry(VERA)
    assert said[-1] == "vera 1 cannot be tried again: the run is about to end."


# --- a run with a past ------------------------------------------------------------------------------------


def test_a_run_that_goes_on_is_shown_with_all_that_was_before(shown: Shown, tmp_path: Path) -> None:
    """Pain 23: resuming pays for finished work again."""
    past = [
        RunStarted(time=START, run_id="r", folder=str(tmp_path), max_loops=10),
        group(*AGENTS),
        TurnStarted(time=START, turn=VERA),
        TurnFinished(time=START + 5, turn=VERA, usage=Usage(input_tokens=7, cost_usd=0.5)),
        TurnStarted(time=START, turn=LINTER),
        Noted(time=START, message="an old warning", warning=True),
        Noted(time=START, turn=LINTER, message="linter is quiet.", warning=True),
    ]
    write_transcript(tmp_path, "1-0-vera", "Done long ago.")
    shown.progress = RunProgress()
    shown.progress.apply_all(past)
    again = RunStarted(time=START + 900, run_id="r", folder=str(tmp_path), max_loops=12, resumed=True)
    shown.progress.apply(again)
    shown.view.begin(shown.progress)
    shown.view.take([again], START + 900)
    assert shown.tab_words() == [
        "vera 1, succeeded",
        "linter 1, stopped, 1 warning",
        "security_auditor 1, stopped",
    ]
    assert not shown.view.notes.isVisible(), "what the past warned of is no news"
    assert not shown.view.banner.isVisible()
    shown.feed(group(*AGENTS), TurnStarted(time=START + 901, turn=LINTER), now=START + 931)
    assert shown.pills()["linter"].startswith("0:30"), "its time is that of now"
    assert shown.tab_words()[0] == "vera 1, succeeded"
    shown.view.tabs.show_turn(VERA)
    log = shown.view.tabs.pages.currentWidget()
    assert isinstance(log, LogView)


def test_a_turn_that_is_made_again_elsewhere_shows_its_new_output(shown: Shown, qtbot: QtBot) -> None:
    write_transcript(shown.folder, "1-0-vera", "the first life")
    shown.feed(group("vera"), TurnStarted(time=START, turn=VERA))
    shown.view.tabs.show_turn(VERA)
    shown.feed(TurnFinished(time=START, turn=VERA, status=TurnStatus.STOPPED))
    write_transcript(shown.folder, "009-vera", "the second life")
    ref = TurnRef(VERA, Place("loop", 1, 0), "vera", "vera", "009-vera")
    shown.feed(
        GroupStarted(time=START, phase="loop", iteration=1, group=1, mode="parallel", turns=(ref,)),
        TurnStarted(time=START, turn=VERA),
    )
    log = shown.view.tabs.pages.currentWidget()
    assert isinstance(log, LogView)
    qtbot.waitUntil(lambda: any("second life" in line for line in log.visible_text()))
    assert shown.view.tabs.current_turn == VERA


def test_a_run_that_is_over_is_shown_from_its_folder_alone(qtbot: QtBot, tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("a", writes={"score": 1})
    shop.agent("b", fail={"exit_code": 1, "error": "No."})
    run = read_run(shop.run({"preparation_agents": ["a", "b"]}).folder)
    view = RunView()
    qtbot.addWidget(view)
    view.set_recorded(True)
    view.begin(run.progress, run)
    view.show()
    tabs = view.tabs
    assert [tabs.bar.accessibleTabName(n) for n in range(tabs.bar.count())] == ["a, succeeded", "b, failed"]
    assert view.banner.isVisible()
    assert not view.banner.again_button.isVisible()
    assert not tabs.follow_button.isVisible()
    assert view.questions.isHidden()
    assert view.strip.pills == {}
    assert menu_words(tabs.menu_for(0)).keys().isdisjoint({"Stop", "Try again"})


def test_a_run_that_was_cut_off_says_so_and_marks_nothing_as_running(qtbot: QtBot, tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("a", writes={"score": 1})
    folder = shop.run({"preparation_agents": ["a"]}).folder
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    started = next(n for n, line in enumerate(lines) if b'"attempt_started"' in line)
    journal.write_bytes(b"".join(lines[: started + 1]))
    run = read_run(folder)
    view = RunView()
    qtbot.addWidget(view)
    view.set_recorded(True)
    view.begin(run.progress, run)
    view.show()
    assert view.tabs.bar.accessibleTabName(0) == "a, stopped"
    assert view.banner.title.text() == "It was cut off: OpenLoop or the computer was ended."
    assert not view.tabs.follow_button.isVisible()
