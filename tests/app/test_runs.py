"""The list of recorded runs: its model and search, the reading on a worker, and what may be changed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.plain_text import plain_tool_tip
from app.runs.columns import Column
from app.runs.compare_rows import _time
from app.runs.entry import Outcome, RunEntry, RunLimits
from app.runs.resume_form import ResumeForm
from app.runs.run_delegate import ICON_SPACE, ROW_MARGIN
from app.runs.run_list import AGE_ROLE, RunList
from app.runs.run_reader import Reading, RunReader, read_entry, run_folders
from app.runs.runs_page import RunsPage
from app.runs.wishes import Limit, Wishes, ended_by, objection
from app.runs.words import age_words, ending_words, fact_words, moment_words
from app.theme import font
from core.events import RunStatus
from core.planning import NO_CAP, RunOverrides
from core.state import MergeRule
from core.usage import Spent, Usage
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

NOW = 1_000_000.0
LOG_DIR = Path("/work folder/.openloop")
LIMITS = RunLimits(max_loops=10, max_cost_usd=5.0, max_tokens=1000, agent_timeout=60.0, retries=1)


def entry(number: int = 1, reason: str = "stopped", **changes: object) -> RunEntry:
    status = {"completed": RunStatus.COMPLETED, "stopped": RunStatus.STOPPED}.get(reason, RunStatus.FAILED)
    run = RunEntry(
        LOG_DIR / f"20250101-00000{number}-aaaaaa",
        workflow="audit",
        started=NOW - 3600,
        ended=NOW - 3000,
        status=status,
        reason=reason,
        next_place="Loop, iteration 3: vera, linter",
        done_turns=7,
        iteration=3,
        seconds=600.0,
        agents=("vera", "linter"),
        spent=Spent(Usage(input_tokens=400, cost_usd=1.0)),
        limits=LIMITS,
    )
    return replace(run, **changes)  # type: ignore[arg-type]  # fields of it


# --- words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (5, "just now"),
        (240, "4 min ago"),
        (3 * 3600, "3 h ago"),
        (86400, "1 day ago"),
        (90 * 86400, "90 days ago"),
        (-3600, ""),
    ],
)
def test_ages_are_told_in_the_largest_unit_that_says_enough(seconds: float, words: str) -> None:
    assert age_words(NOW - seconds, NOW) == words


@pytest.fixture
def locale() -> Iterator[Callable[[QLocale], None]]:
    before = QLocale()
    yield QLocale.setDefault
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (QLocale(QLocale.Language.German, QLocale.Country.Germany), "29.11.24 17:06"),
        (QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom), "29/11/2024 17:06"),
        (QLocale.c(), "2024-11-29 17:06"),
    ],
)
def test_moments_are_written_as_the_reader_writes_them(
    locale: Callable[[QLocale], None], reader: QLocale, words: str
) -> None:
    locale(reader)
    assert moment_words(datetime(2024, 11, 29, 17, 6).timestamp()) == words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("stopped", "stopped"),
        ("max_loops_reached", "all loops used up"),
        ("budget_exceeded:max_tokens", "out of budget"),
        ("timeout:vera:30", "vera took too long"),
        ("group_timeout:loop 2:30", "the group loop 2 took too long"),
        ("missing_state:vera", "no state update from vera"),
        ("merge_conflict:payload.score", "conflict about payload.score"),
        ("agent_error:vera", "vera failed"),
        ("something of a newer version", "failed"),
    ],
)
def test_every_ending_has_words(reason: str, words: str) -> None:
    assert ending_words(entry(reason=reason)) == words


def test_a_run_that_its_user_ended_at_a_question_says_so() -> None:
    ended = entry(reason="missing_state:vera", status=RunStatus.STOPPED)
    assert ending_words(ended) == "stopped: no state update from vera"


def test_a_row_says_what_came_of_a_run_and_where_it_would_go_on() -> None:
    assert (
        fact_words(entry())
        == "stopped · 10:00 · 7 turns done · $1.00 · goes on at Loop, iteration 3: vera, linter"
    )
    done = entry(reason="completed", obstacle="It is complete.", done_turns=1)
    assert fact_words(done) == "completed · 10:00 · 1 turn done · $1.00"
    assert fact_words(entry(status=None, reason="")).startswith("cut off · ")


def test_what_has_no_known_price_is_never_told_as_nothing() -> None:
    """Pain 24: unknown price is "unknown"."""
    unpriced = entry(spent=Spent(Usage(input_tokens=1200), unpriced=True))
    assert "1,200 tokens, price unknown" in fact_words(unpriced)
    assert "$" not in fact_words(unpriced)


# --- what may be changed --------------------------------------------------------------------------------


def test_nothing_is_said_to_a_run_that_nobody_changed() -> None:
    run = entry()
    assert Wishes.proposed(run).overrides(run) == RunOverrides()
    assert objection(run, Wishes.proposed(run)) == ""


def test_more_loops_are_proposed_where_all_were_used() -> None:
    run = entry(reason="max_loops_reached", iteration=10)
    wishes = Wishes.proposed(run)
    assert wishes.limits.max_loops == 15
    assert wishes.overrides(run) == RunOverrides(max_loops=15)
    assert objection(run, wishes) == ""
    assert "All 10 loops are used up" in objection(run, wishes.wish(Limit.MAX_LOOPS, 10))


@pytest.mark.parametrize(
    ("limit", "enough", "too_little"),
    [(Limit.MAX_COST, 6.5, 6.0), (Limit.MAX_TOKENS, 1201, 1200), (Limit.MAX_COST_OF_GROUP, 3.0, 2.0)],
)
def test_a_cap_that_was_reached_has_to_be_above_what_is_spent(
    limit: Limit, enough: float, too_little: float
) -> None:
    """Pain 24: no cap on spending."""
    run = entry(
        reason=f"budget_exceeded:{limit.value}",
        spent=Spent(Usage(input_tokens=1200, cost_usd=6.0)),
        group_spent=Spent(Usage(cost_usd=2.0)),
        limits=replace(RunLimits(max_loops=10), **{limit.value: 1}),  # type: ignore[arg-type]  # a cap of it
    )
    assert ended_by(run) is limit
    wishes = Wishes.proposed(run)
    assert objection(run, wishes) != "", "more money is never spent unasked"
    assert objection(run, wishes.wish(limit, too_little)) != ""
    assert objection(run, wishes.wish(limit, enough)) == ""
    assert wishes.wish(limit, enough).overrides(run) == RunOverrides(**{limit.value: enough})  # type: ignore[arg-type]


def test_a_conflict_needs_another_rule_for_its_path() -> None:
    run = entry(reason="merge_conflict:payload.a:b")
    wishes = Wishes.proposed(run)
    assert "payload.a:b" in objection(run, wishes)
    assert objection(run, wishes.wish(Limit.MERGE_RULE, MergeRule.ERROR)) != ""
    chosen = wishes.wish(Limit.MERGE_RULE, MergeRule.MAX)
    assert objection(run, chosen) == ""
    assert chosen.overrides(run) == RunOverrides(merge={"payload.a:b": MergeRule.MAX})


def test_loops_that_were_made_cannot_be_taken_back() -> None:
    run = entry()
    assert "iteration 3 already" in objection(run, Wishes.proposed(run).wish(Limit.MAX_LOOPS, 2))


# --- the form -------------------------------------------------------------------------------------------


@pytest.fixture
def form(qtbot: QtBot) -> ResumeForm:
    form = ResumeForm()
    qtbot.addWidget(form)
    form.resize(600, 400)
    form.show()
    return form


def type_into(form: ResumeForm, limit: Limit, text: str) -> None:
    field = form.rows[limit].control
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text) if text else QTest.keyClick(field, Qt.Key.Key_Delete)


def test_the_reached_cap_comes_first_and_keeps_resume_off_until_it_is_raised(form: ResumeForm) -> None:
    run = entry(reason="budget_exceeded:max_cost_usd", spent=Spent(Usage(cost_usd=5.02)))
    asked: list[tuple[Path, RunOverrides]] = []
    form.resume_requested.connect(lambda folder, overrides: asked.append((folder, overrides)))
    form.show_run(run)
    assert form.first_field is form.rows[Limit.MAX_COST].control
    assert form.shown_fields()[0] is form.rows[Limit.MAX_COST].control
    assert not form.resume_button.isEnabled()
    assert "$5.02" in form.why_not.text()
    type_into(form, Limit.MAX_COST, "nonsense")
    assert not form.resume_button.isEnabled()
    type_into(form, Limit.MAX_COST, "8")
    assert form.resume_button.isEnabled()
    QTest.keyClick(form.rows[Limit.MAX_COST].control, Qt.Key.Key_Return)
    assert asked == [(run.folder, RunOverrides(max_cost_usd=8.0))]


def test_an_emptied_field_means_as_it_was(form: ResumeForm) -> None:
    run = entry()
    form.show_run(run)
    for limit in (Limit.MAX_COST, Limit.AGENT_TIMEOUT, Limit.RETRIES, Limit.MAX_TOKENS):
        type_into(form, limit, "7")
        type_into(form, limit, "")
    assert form.wishes.overrides(run) == RunOverrides()
    assert form.resume_button.isEnabled()


def test_undo_in_a_field_takes_back_what_was_typed_there(form: ResumeForm) -> None:
    form.show_run(entry())
    field = form.rows[Limit.MAX_LOOPS].control
    field.setFocus()
    QTest.keyClicks(field, "7")
    assert form.wishes.limits.max_loops == 107
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert form.wishes.limits.max_loops == 10


def test_only_what_is_offered_is_to_be_seen(form: ResumeForm) -> None:
    form.set_compact(True)
    form.show_run(entry(reason="budget_exceeded:max_cost_usd"))
    seen = {
        limit
        for limit, row in form.rows.items()
        for widget in (row.label, row.control, row.note)
        if widget.isVisible()
    }
    assert seen == {Limit.MAX_COST}
    form.set_compact(False)
    assert len(form.shown_fields()) == 7


def test_a_cap_can_be_taken_away(form: ResumeForm) -> None:
    run = entry(reason="budget_exceeded:max_cost_usd", spent=Spent(Usage(cost_usd=5.02)))
    form.show_run(run)
    type_into(form, Limit.MAX_COST, "none")
    type_into(form, Limit.MAX_TOKENS, "none")
    type_into(form, Limit.MAX_COST_OF_GROUP, "none")
    assert form.resume_button.isEnabled()
    overrides = form.wishes.overrides(run)
    assert overrides == RunOverrides(max_cost_usd=NO_CAP, max_tokens=NO_CAP), "a group had no cap"


def test_no_limit_at_all_is_told_apart_from_as_it_was(form: ResumeForm) -> None:
    run = entry()
    form.show_run(run)
    type_into(form, Limit.AGENT_TIMEOUT, "none")
    type_into(form, Limit.RETRIES, "0")
    assert form.wishes.overrides(run) == RunOverrides(agent_timeout=0.0, retries=0)


def test_what_is_typed_survives_a_new_reading_of_the_same_run(form: ResumeForm) -> None:
    form.show_run(entry())
    type_into(form, Limit.MAX_COST, "9")
    form.show_run(entry())
    assert form.wishes.limits.max_cost_usd == 9.0
    form.show_run(entry(2))
    assert form.wishes.limits.max_cost_usd == 5.0


def test_a_path_that_looks_like_markup_is_shown_as_it_is(form: ResumeForm) -> None:
    form.show_run(entry(reason="merge_conflict:payload.<img src=x>"))
    note = form.rows[Limit.MERGE_RULE].note
    assert "<img src=x>" in note.text()
    assert note.textFormat() is Qt.TextFormat.PlainText
    assert form.why_not.textFormat() is Qt.TextFormat.PlainText


def test_every_field_can_be_reached_by_tab_in_the_order_shown(form: ResumeForm) -> None:
    form.activateWindow()
    form.show_run(entry(reason="timeout:vera:30"))
    shown = list(form.shown_fields())
    assert len(shown) == 7
    shown[0].setFocus()
    order = [form.focusWidget()]
    for _ in shown:
        QTest.keyClick(form.focusWidget(), Qt.Key.Key_Tab)
        order.append(form.focusWidget())
    assert order == [*shown, form.resume_button]
    assert all(control.accessibleName() for control in shown)


# --- the model ------------------------------------------------------------------------------------------


def test_runs_stand_newest_first_in_whatever_order_they_come(qtbot: QtBot) -> None:
    del qtbot
    runs = RunList()
    QAbstractItemModelTester(runs, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for numbers in ((2,), (4, 1), (3, 2), ()):
        runs.put(entry(number) for number in numbers)
    assert [run.run_id[14] for run in runs.entries] == ["4", "3", "2", "1"]
    runs.put([entry(3, workflow="migrate")])
    assert runs.rowCount() == 4
    runs.search("MIGRATE stopped")
    assert runs.rowCount() == 1
    assert len(runs.known) == 4
    runs.search("")
    runs.keep_only({entry(3).folder})
    assert runs.rowCount() == 1
    runs.show_time(NOW)
    assert runs.index(0, 0).data(AGE_ROLE) == "1 h ago"
    spoken = runs.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("migrate, 1 h ago, stopped")


@given(st.data())
def test_whoever_holds_a_run_keeps_it_while_the_list_is_searched_sorted_and_read(data: st.DataObject) -> None:
    reasons = ("stopped", "completed", "agent_error:vera")
    runs = RunList()
    QAbstractItemModelTester(runs, QAbstractItemModelTester.FailureReportingMode.Fatal)
    held: list[tuple[QPersistentModelIndex, Path]] = []
    for _ in range(data.draw(st.integers(1, 8))):
        match data.draw(st.sampled_from(["put", "search", "outcomes", "sort", "forget", "hold"])):
            case "put":
                numbers = data.draw(st.lists(st.integers(0, 9), max_size=5))
                reason = data.draw(st.sampled_from(reasons))
                runs.put(entry(number, reason, seconds=float(number % 3)) for number in numbers)
            case "search":
                runs.search(data.draw(st.sampled_from(["", "stopped", "vera failed", "nobody"])))
            case "outcomes":
                runs.show_outcomes(data.draw(st.sets(st.sampled_from(list(Outcome)), max_size=3)))
            case "sort":
                order = data.draw(st.sampled_from(list(Qt.SortOrder)))
                runs.sort(data.draw(st.sampled_from(list(Column))), order)
            case "forget":
                runs.keep_only({run.folder for run in list(runs.known)[::2]})
            case "hold":
                for row, run in enumerate(runs.entries):
                    held.append((QPersistentModelIndex(runs.index(row, 2)), run.folder))
        for index, folder in held:
            if index.isValid():
                assert runs.entries[index.row()].folder == folder
                assert index.column() == 2
        for row, run in enumerate(runs.entries):
            assert runs.index_of(run.folder).row() == row
            assert runs.known_run(run.folder) == run
        assert not runs.outcomes or {run.outcome for run in runs.entries} <= runs.outcomes


def test_every_column_sorts_and_what_is_not_known_comes_last(qtbot: QtBot) -> None:
    del qtbot
    runs = RunList()
    unread = RunEntry(LOG_DIR / "20250101-000009-aaaaaa", problem="broken")
    free = entry(1, spent=Spent(Usage(input_tokens=9)), seconds=5.0, agents=("amala",))
    dear = entry(2, spent=Spent(Usage(input_tokens=3, cost_usd=2.0)), seconds=700.0, workflow="zebra")
    runs.put([unread, free, dear])
    for column, expected in (
        (Column.COST, [dear, free, unread]),
        (Column.DURATION, [dear, free, unread]),
        (Column.TOKENS, [free, dear, unread]),
        (Column.AGENTS, [dear, free, unread]),
        (Column.WORKFLOW, [dear, free, unread]),
        (Column.STARTED, [unread, dear, free]),
    ):
        runs.sort(column, Qt.SortOrder.DescendingOrder)
        found = [run for run in runs.entries if not (column is Column.COST and run is not dear)]
        assert found == [run for run in expected if run in found], column
        first_half = list(runs.entries)
        runs.sort(column, Qt.SortOrder.AscendingOrder)
        assert list(runs.entries) == first_half[::-1]


def test_a_tool_tip_of_a_run_is_no_markup(qtbot: QtBot) -> None:
    del qtbot
    runs = RunList()
    runs.put([entry(workflow="<b>bold</b>")])
    assert "&lt;b&gt;bold&lt;/b&gt;" in runs.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


# --- reading on a worker --------------------------------------------------------------------------------


@pytest.fixture
def readers() -> Iterator[Callable[..., RunReader]]:
    made: list[RunReader] = []

    def make(read: Callable[[Path], RunEntry] = read_entry) -> RunReader:
        made.append(RunReader(read=read))
        return made[-1]

    yield make
    for reader in made:
        reader.close()


def read_all(qtbot: QtBot, reader: RunReader, log_dir: Path) -> tuple[list[RunEntry], str]:
    readings: list[Reading] = []
    reader.told.connect(readings.append)
    reader.read(lambda: log_dir)
    qtbot.waitUntil(lambda: bool(readings) and readings[-1].last)
    reader.told.disconnect(readings.append)
    return [run for reading in readings for run in reading.entries], readings[-1].problem


def test_real_runs_are_read_with_their_limits(
    qtbot: QtBot, tmp_path: Path, readers: Callable[..., RunReader]
) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", cost_usd=0.25)
    shop.run(
        {
            "loop_agents": ["vera"],
            "max_loops": 2,
            "budget": {"max_cost_usd": 5},
            "end_state_condition": "False",
        }
    )
    (run,), problem = read_all(qtbot, readers(), tmp_path / ".openloop")
    assert problem == ""
    assert run.resumable
    assert (run.reason, run.done_turns, run.iteration) == ("max_loops_reached", 2, 2)
    assert (run.limits.max_loops, run.limits.max_cost_usd) == (2, 5.0)
    assert run.spent.usage.cost_usd is not None


def test_broken_folders_are_named_and_others_are_no_runs(
    qtbot: QtBot, tmp_path: Path, readers: Callable[..., RunReader]
) -> None:
    for name, journal in (
        ("20250101-000001-aaaaaa", b""),
        ("20250101-000002-bbbbbb", b'{"torn'),
        ("x", b"\0"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "journal.jsonl").write_bytes(journal)
    (tmp_path / "20250101-000003-cccccc").mkdir()
    (tmp_path / "20250101-000004-dddddd" / "journal.jsonl").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").touch()
    found, _ = read_all(qtbot, readers(), tmp_path)
    assert [run.run_id for run in found] == [
        "x",
        "20250101-000004-dddddd",
        "20250101-000003-cccccc",
        "20250101-000002-bbbbbb",
        "20250101-000001-aaaaaa",
    ]
    assert all(run.problem and not run.resumable for run in found)


def test_a_log_folder_that_is_not_there_holds_no_runs_and_a_closed_one_says_so(
    qtbot: QtBot, tmp_path: Path, readers: Callable[..., RunReader]
) -> None:
    assert run_folders(tmp_path / "nowhere") == []
    assert read_all(qtbot, readers(), tmp_path / "nowhere") == ([], "")

    def refuse() -> Path:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    readings: list[Reading] = []
    reader = readers()
    reader.told.connect(readings.append)
    reader.read(refuse)
    qtbot.waitUntil(lambda: bool(readings))
    assert readings[-1].problem == f"{tmp_path}: Permission denied"


def test_only_what_has_changed_is_read_again(
    qtbot: QtBot, tmp_path: Path, readers: Callable[..., RunReader]
) -> None:
    read: list[str] = []

    def note(folder: Path) -> RunEntry:
        read.append(folder.name)
        return RunEntry(folder, going_on=folder.name.endswith("ccc"))

    for name in ("20250101-000001-aaa", "20250101-000002-bbb", "20250101-000003-ccc"):
        (tmp_path / name).mkdir()
        for file in ("journal.jsonl", "workflow.json"):
            (tmp_path / name / file).write_text("{}")
    reader = readers(note)
    read_all(qtbot, reader, tmp_path)
    read.clear()
    changed = tmp_path / "20250101-000001-aaa" / "journal.jsonl"
    changed.write_text("{}\n{}")
    os.utime(changed, (time.time() + 5, time.time() + 5))
    read_all(qtbot, reader, tmp_path)
    assert read == ["20250101-000003-ccc", "20250101-000001-aaa"], "what goes on may end without a trace"


def test_a_new_reading_gives_up_the_old_one(
    qtbot: QtBot, tmp_path: Path, readers: Callable[..., RunReader]
) -> None:
    gate, begun = threading.Event(), threading.Event()

    def slow(folder: Path) -> RunEntry:
        begun.set()
        gate.wait(10)
        return RunEntry(folder)

    for parent, count in (("old", 50), ("new", 1)):
        for number in range(count):
            folder = tmp_path / parent / f"20250101-0000{number:02}-aaa"
            folder.mkdir(parents=True)
            (folder / "journal.jsonl").touch()
    reader = readers(slow)
    told: list[Reading] = []
    reader.told.connect(told.append)
    reader.read(lambda: tmp_path / "old")
    qtbot.waitUntil(begun.is_set)
    told.clear()
    reader.read(lambda: tmp_path / "new")
    gate.set()
    qtbot.waitUntil(lambda: bool(told) and told[-1].last)
    assert {reading.folder for reading in told} == {tmp_path / "new"}


# --- the page -------------------------------------------------------------------------------------------


class Shelf:
    """A log folder that holds just these runs."""

    def __init__(self, tmp_path: Path, runs: list[RunEntry]) -> None:
        self.log_dir = tmp_path / "log"
        self.log_dir.mkdir()
        self.runs: dict[str, RunEntry] = {}
        for run in runs:
            self.put(run)

    def put(self, run: RunEntry) -> None:
        folder = self.log_dir / run.folder.name
        folder.mkdir(exist_ok=True)
        self.runs[folder.name] = replace(run, folder=folder)

    def read(self, folder: Path) -> RunEntry:
        return self.runs[folder.name]


@pytest.fixture
def pages(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[list[RunEntry]], RunsPage]]:
    made: list[RunsPage] = []

    def make(runs: list[RunEntry], wanted: str = "") -> RunsPage:
        shelf = Shelf(tmp_path, runs)
        page = RunsPage(reader=RunReader(read=shelf.read), clock=lambda: NOW)
        page.reader.setParent(page)
        qtbot.addWidget(page)
        made.append(page)
        page.resize(428, 560)
        page.show()
        page.read(lambda: shelf.log_dir, shelf.log_dir / wanted if wanted else None)
        qtbot.waitUntil(lambda: page.runs.rowCount() == len(runs))
        return page

    yield make
    for page in made:
        page.close_reader()


COMPLETE = "It is complete."


def test_the_first_run_that_can_go_on_is_selected_when_one_is_to_go_on(
    qtbot: QtBot, pages: Callable[[list[RunEntry]], RunsPage]
) -> None:
    page = pages([entry(1), entry(2), entry(3, "completed", obstacle=COMPLETE)])
    assert page.current is not None
    assert page.current.run_id == entry(3).run_id, "the newest, where nothing else is wanted"
    log_dir = page.current.folder.parent
    page.read(lambda: log_dir, resumable_first=True)
    qtbot.waitUntil(lambda: page.current is not None and page.current.run_id == entry(2).run_id)
    assert page.detail.form.resume_button.isEnabled()
    page.list.setCurrentIndex(page.runs.index(0, 0))
    assert not page.detail.form.resume_button.isEnabled()
    assert page.detail.form.why_not.text() == COMPLETE
    assert "completed" in page.runs.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)


def test_runs_are_searched_and_chosen_by_keys_alone(
    qtbot: QtBot, pages: Callable[[list[RunEntry]], RunsPage]
) -> None:
    page = pages([entry(1, "timeout:vera:30"), entry(2, workflow="migrate"), entry(3)])
    page.activateWindow()
    page.setFocus()
    assert page.list.hasFocus()
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    assert page.current is not None
    assert page.current.workflow == "migrate"
    QTest.keyClicks(page.list, "t")
    assert page.field.hasFocus(), "a letter is looked for"
    QTest.keyClicks(page.field, "ook VERA")
    assert page.runs.rowCount() == 1
    with qtbot.waitSignal(page.actions_of_runs.open_requested) as opened:
        QTest.keyClick(page.field, Qt.Key.Key_Return)
    assert opened.args is not None
    assert opened.args[0].run_id == entry(1).run_id
    page.field.setFocus()
    QTest.keyClicks(page.field, " nothing of the kind")
    assert page.empty.isVisible()
    assert "No run matches" in page.empty.text()
    QTest.mouseClick(page.no_runs.all_button, Qt.MouseButton.LeftButton)
    assert page.runs.rowCount() == 3
    assert page.field.text() == ""
    assert page.list.hasFocus()
    QTest.keyClicks(page.list, "nothing of the kind")
    assert page.empty.isVisible()
    QTest.keyClick(page.field, Qt.Key.Key_Escape)
    assert page.runs.rowCount() == 3
    with qtbot.waitSignal(page.closed):
        QTest.keyClick(page.field, Qt.Key.Key_Escape)


def test_enter_opens_a_run_and_ctrl_enter_resumes_it(
    qtbot: QtBot, pages: Callable[[list[RunEntry]], RunsPage]
) -> None:
    page = pages([entry(1), entry(2)])
    page.activateWindow()
    page.list.setFocus()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        with qtbot.waitSignal(page.actions_of_runs.open_requested) as opened:
            QTest.keyClick(page.list, key)
        assert opened.args is not None
        assert opened.args[0].run_id == entry(2).run_id
    page.actions_of_runs.resume.trigger()
    first = page.detail.form.shown_fields()[0]
    assert first.hasFocus()
    for widget in (first, page.list, page.field):
        widget.setFocus()
        with qtbot.waitSignal(page.resume_requested) as asked:
            QTest.keyClick(widget, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert asked.args is not None
        assert asked.args[0].name == entry(2).run_id
    button = page.detail.form.resume_button
    button.setFocus()
    with qtbot.waitSignal(page.resume_requested):
        QTest.keyClick(button, Qt.Key.Key_Return)


def test_the_agents_are_shown_in_a_window_of_usual_size_and_workflows_give_room(
    pages: Callable[[list[RunEntry]], RunsPage],
) -> None:
    run = entry(1, reason="missing_state:security", agents=("security", "linter"))
    page = pages([run])
    view = page.list
    for width in (768, 860, 1024):
        page.resize(width, 700)
        QApplication.processEvents()
        assert view.is_table
        assert not view.isColumnHidden(Column.AGENTS), f"at {width}"
    page.resize(860, 700)
    QApplication.processEvents()
    metrics = QFontMetrics(font(tabular=True))
    words = page.runs.index(0, Column.OUTCOME).data()
    assert words == "no state update from security"
    assert view.columnWidth(Column.OUTCOME) >= metrics.horizontalAdvance(words) + ICON_SPACE
    assert view.columnWidth(Column.AGENTS) >= metrics.horizontalAdvance("2: security")
    assert view.header().length() <= view.viewport().width()
    assert page.runs.index(0, Column.AGENTS).data(Qt.ItemDataRole.ToolTipRole) == plain_tool_tip(
        "security\nlinter"
    )


def test_workflows_are_not_cut_for_outcomes_that_need_no_room(
    pages: Callable[[list[RunEntry]], RunsPage],
) -> None:
    names = ("flaky corrections", "security, weekly")
    page = pages([entry(n, workflow=name, agents=("amala", "vera")) for n, name in enumerate(names, 1)])
    page.resize(1200, 700)
    QApplication.processEvents()
    metrics = QFontMetrics(font(tabular=True))
    for row in range(2):
        name = page.runs.index(row, Column.WORKFLOW).data()
        assert page.list.columnWidth(Column.WORKFLOW) >= metrics.horizontalAdvance(name) + ROW_MARGIN + 8


@pytest.mark.parametrize("width", [682, 768, 1024])
def test_a_cost_of_which_a_part_is_not_known_is_not_cut(
    pages: Callable[[list[RunEntry]], RunsPage], width: int
) -> None:
    spent = Spent(Usage(input_tokens=400, cost_usd=1.71), unpriced=True)
    page = pages([entry(1), entry(2, spent=spent)])
    page.resize(width, 700)
    QApplication.processEvents()
    view = page.list
    assert view.is_table
    words = page.runs.index(0, Column.COST).data()
    assert words == "$1.71 + unknown"
    room = view.columnWidth(Column.COST)
    assert room >= QFontMetrics(font(tabular=True)).horizontalAdvance(words) + 8
    assert view.header().length() <= view.viewport().width()


def test_after_a_run_was_deleted_its_neighbour_is_selected(
    qtbot: QtBot, pages: Callable[[list[RunEntry]], RunsPage]
) -> None:
    page = pages([entry(n) for n in range(1, 6)])
    for gone, neighbour in ((3, 2), (2, 1), (1, 4)):
        assert page.log_dir is not None
        page.list.choose(page.runs.index_of(page.log_dir / entry(gone).folder.name))
        (page.log_dir / entry(gone).folder.name).rmdir()
        count = page.runs.rowCount()
        page.read_again()
        qtbot.waitUntil(lambda count=count: page.runs.rowCount() == count - 1)
        assert page.current is not None
        assert page.current.run_id == entry(neighbour).run_id


def test_where_no_run_is_selected_it_is_said_how_to_see_one(
    pages: Callable[[list[RunEntry]], RunsPage],
) -> None:
    page = pages([entry(1)])
    assert not page.detail.nothing.isVisible()
    page.list.clearSelection()
    assert page.detail.nothing.isVisible()
    assert page.detail.nothing.text().startswith("Select a run")
    page.list.selectAll()
    assert not page.detail.nothing.isVisible()


def test_a_comparison_reckons_with_the_times_that_it_shows() -> None:
    row = _time("Work", 0.3, 550.4)
    assert (row.first, row.second, row.change) == ("0:00", "9:10", "+9:10")
    row = _time("Work", 0.6, 550.4)
    assert (row.first, row.second, row.change) == ("0:01", "9:10", "+9:09")
    assert _time("Work", 0.32, 3.0).change == "+0:03", "percents of what is rounded away say nothing"
    assert _time("Work", 20.0, 30.2).change == "+0:10 (+51 %)"
    assert not _time("Work", 1.2, 1.4).differs


def test_chips_leave_out_words_rather_than_take_rows_from_a_low_list(
    qtbot: QtBot,
    pages: Callable[[list[RunEntry]], RunsPage],
) -> None:
    reasons = ("completed", "stopped", "agent_error:vera", "timeout:vera:30")
    page = pages([entry(n, reason=reason) for n, reason in enumerate(reasons, 1)])
    page.resize(300, 760)
    qtbot.waitUntil(lambda: page.chips.height() > 40)
    stopped = page.chips.chips[Outcome.STOPPED]
    assert stopped.shown_text == "stopped"
    page.resize(300, 520)
    qtbot.waitUntil(lambda: page.chips.height() < 40)
    assert stopped.shown_text == ""
    assert stopped.toolTip() == "stopped"
    assert stopped.accessibleName() == "stopped: 1"
    QTest.mouseClick(stopped, Qt.MouseButton.LeftButton)
    assert stopped.shown_text == "stopped", "what is on is said"
    assert page.runs.rowCount() == 1


def test_an_empty_log_folder_says_what_will_be_here(
    qtbot: QtBot, pages: Callable[[list[RunEntry]], RunsPage]
) -> None:
    page = pages([])
    qtbot.waitUntil(lambda: "no runs here yet" in page.empty.text())
    assert page.empty.isVisible()
    assert not page.detail.form.resume_button.isVisible()


def test_two_thousand_runs_come_in_some_batches_and_stay_in_order(
    qtbot: QtBot, tmp_path: Path, readers: Callable[..., RunReader]
) -> None:
    for number in range(2000):
        (tmp_path / f"20250101-{number:06}-aaaaaa").mkdir()
    runs = RunList()
    rows: list[int] = []
    runs.rowsInserted.connect(lambda _parent, first, last: rows.append(last - first + 1))
    found, _ = read_all(qtbot, readers(RunEntry), tmp_path)
    runs.put(found)
    assert rows == [2000], "rows that come one by one would be laid out one by one"
    names = [run.run_id for run in runs.entries]
    assert names == sorted(names, reverse=True)
    assert len(names) == 2000


def test_the_button_never_scrolls_away(pages: Callable[[list[RunEntry]], RunsPage]) -> None:
    page = pages([entry()])
    page.resize(300, 360)
    button = page.detail.form.resume_button
    bottom = button.mapTo(page, button.rect().bottomRight())
    assert page.rect().contains(bottom)
    page.resize(1200, 500)
    assert page.splitter.orientation() is Qt.Orientation.Horizontal
