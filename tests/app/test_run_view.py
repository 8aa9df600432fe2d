"""The run view, fed with events: tabs, strip, questions, banner, state, status line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from app.run_view.run_view import RunView
from app.run_view.state_model import StateModel, preview, value_words
from app.run_view.status_line import StatusLine
from app.run_view.tabs import MOST_TABS, MOST_VIEWS, OVERVIEW, STATE
from core.config import Budget
from core.engine import Answer
from core.events import (
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    IterationStarted,
    Merged,
    PhaseStarted,
    QuestionAsked,
    RunFinished,
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
from core.plan import Place
from core.progress import RunProgress
from core.state import Conflict, MergeRule, Phase, WorkflowState
from core.transcript import TranscriptWriter
from core.usage import Usage

# The offscreen platform says so about sizes of windows and about popups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

START = 1000.0
VERA, LINTER, SECURITY = "loop/1/1/0", "loop/1/1/1", "loop/1/1/2"
AGENTS = ("vera", "linter", "security_auditor")


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
    shown = Shown(view, tmp_path)
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
    assert len(shown.tab_texts()) == 200
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
    item = tab.conflicts.topLevelItem(0)
    assert item is not None
    assert [item.text(column) for column in range(6)] == [
        "payload.score",
        "vera: 86",
        "linter: 71",
        "71 (linter)",
        "last",
        "Loop · iteration 1",
    ]
    assert tab.conflicts_label.text() == "1 CONFLICT"
    shown.feed(Merged(time=START, phase="loop", iteration=2, group=1, conflicts=(conflict,)))
    assert tab.conflicts.topLevelItemCount() == 2


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
    status.show_problems(1, 0)
    assert texts(status) == ["Ready"]
    assert status.backend.text() == "opencode 1.18.33"
    assert status.problems.text() == "1 problem"
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
