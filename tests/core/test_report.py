"""A run's report: everything is in it, nothing that agents wrote does anything in it, and it has an end."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import resources
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    GroupStarted,
    RunFinished,
    RunPaused,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.journal import JOURNAL_NAME
from core.json_types import JsonValue
from core.open_runs import RunLock
from core.plan import Place
from core.problems import UserFileError
from core.recorded_run import RecordedRun, read_run
from core.report import file_name, report_html, report_json, report_of, write_html, write_json
from core.report_chart import chart_of
from core.report_schema import report_schema, report_schema_text
from core.report_text import fair_share, json_bytes, json_shown, shown
from core.report_timeline import timeline_of
from core.report_tree import MOST_BELOW, MOST_DEEP, MOST_NODES, Node, state_tree
from core.run_files import STATE_NAME, WORKFLOW_NAME
from core.run_times import run_chart
from core.words import translate_with
from tests.core.report_support import BEGAN, HOSTILE, JournalOf, hostile_run, large_run
from tests.core.run_story import START, Story
from tests.core.run_support import FinishedRun, Workshop

RUN = "20250101-000000-abcd"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Two passes of a parallel group that goes on without who fails, with a retry and a correction."""
    workshop = Workshop(tmp_path_factory.mktemp("workshop"))
    workshop.agent("vera", writes={"score": 84, "notes": ["a", "b"]})
    workshop.agent("linter", writes={"score": 91}, bad_update={"kind": "missing", "first": 1})
    workshop.agent("flaky", fail={"exit_code": 3, "error": "The model refused."})
    group = {"agents": ["vera", "linter", "flaky"], "mode": "parallel", "on_parallel_error": "continue"}
    return workshop.run(
        {"name": "audit", "loop_agents": [group], "max_loops": 2, "end_state_condition": "False"}
    )


@pytest.fixture
def run(finished: FinishedRun) -> RecordedRun:
    return read_run(finished.folder)


def as_json(run: RecordedRun) -> dict[str, Any]:
    found = json.loads(report_json(run))
    assert isinstance(found, dict)
    return found


def without_events(folder: Path, *kinds: str) -> None:
    """Take all events of these kinds out of a run's journal."""
    path = folder / JOURNAL_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if json.loads(line)["type"] not in kinds))


class Elements(HTMLParser):
    """Every element of a page with its attributes, and all text outside of style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("style", "script"):
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


# --- JSON -----------------------------------------------------------------------------------------------


def test_json_holds_what_the_run_was(run: RecordedRun, finished: FinishedRun) -> None:
    report = as_json(run)
    assert (report["format"], report["version"]) == ("openloop-report", 1)
    assert (report["workflow"], report["outcome"]) == ("audit", "ended")
    assert report["termination_reason"] == "max_loops_reached"
    assert report["message"] == finished.finished.message
    assert report["state"]["state"]["payload"] == finished.payload
    assert report["workflow_file"]["max_loops"] == 2
    assert [group["mode"] for group in report["groups"]] == ["parallel", "parallel"]
    assert report["usage"]["total_tokens"] == finished.finished.usage.total_tokens
    assert report["times"]["work_seconds"] >= report["times"]["critical_seconds"] > 0
    assert {note["turn"] for note in report["notes"]} <= {None, *(turn["id"] for turn in report["turns"])}


def test_json_holds_every_turn_with_its_attempts_and_its_answer(
    run: RecordedRun, finished: FinishedRun
) -> None:
    turns = {turn["title"]: turn for turn in as_json(run)["turns"]}
    assert list(turns) == ["vera 1", "linter 1", "flaky 1", "vera 2", "linter 2", "flaky 2"]
    assert [attempt["kind"] for attempt in turns["linter 1"]["attempts"]] == ["first", "correction"]
    assert turns["linter 1"]["corrections"] == 1
    assert "state update" in turns["linter 1"]["attempts"][1]["reason"]
    assert turns["vera 2"]["update"]["payload"] == {"score": 84, "notes": ["a", "b"]}
    assert turns["flaky 1"]["status"] == "failed"
    assert turns["flaky 1"]["update"] is None
    assert turns["flaky 1"]["message"] == finished.turn("flaky 1").message
    assert turns["flaky 1"]["attempts"][0]["exit_code"] == 3
    for turn in turns.values():
        assert turn["usage"]["total_tokens"] == run.spent_of([turn["id"]]).total_tokens


def test_json_holds_both_sides_of_a_conflict(run: RecordedRun) -> None:
    conflict = as_json(run)["conflicts"][0]
    assert conflict["path"] == "payload.score"
    assert (conflict["first_writer"], conflict["first_value"]) == ("vera", 84)
    assert (conflict["second_writer"], conflict["second_value"]) == ("linter", 91)
    assert (conflict["rule"], conflict["outcome"]) == ("last", 91)


def test_costs_by_agent_and_by_pass_add_up_to_those_of_the_run(run: RecordedRun) -> None:
    report = as_json(run)
    for parts in ("agents", "passes", "groups"):
        assert sum(part["usage"]["total_tokens"] for part in report[parts]) == report["usage"]["total_tokens"]
        assert sum(part["usage"]["cost_usd"] or 0 for part in report[parts]) == pytest.approx(
            report["usage"]["cost_usd"]
        )


def test_json_fits_the_published_schema(run: RecordedRun, tmp_path: Path) -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(as_json(run))
    validator.validate(as_json(hostile_run(tmp_path / RUN)))


def test_the_published_schema_is_that_of_the_code() -> None:
    assert resources.report_schema_file().read_text(encoding="utf-8") == report_schema_text(), (
        "write core.report_schema.report_schema_text() to resources/report.schema.json"
    )


# --- the state and the end ------------------------------------------------------------------------------


def test_a_run_that_was_cut_off_has_the_state_that_its_answers_make(
    finished: FinishedRun, tmp_path: Path
) -> None:
    import shutil

    folder = tmp_path / finished.folder.name
    shutil.copytree(finished.folder, folder)
    without_events(folder, "run_finished")
    # That of an earlier life of the run.
    (folder / STATE_NAME).write_text('{"termination_reason": "stopped", "payload": {"old": true}}')
    report = as_json(read_run(folder))
    assert report["outcome"] == "cut_off"
    assert report["state"]["source"] == "merged"
    assert report["state"]["state"]["payload"] == finished.payload
    assert "Merged again from the recorded answers" in report_html(read_run(folder))


def test_a_state_file_of_another_end_is_not_taken_for_this_one(finished: FinishedRun, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / finished.folder.name
    shutil.copytree(finished.folder, folder)
    (folder / STATE_NAME).write_text('{"termination_reason": "stopped", "payload": {"old": true}}')
    state = as_json(read_run(folder))["state"]
    assert state["source"] == "merged"
    assert state["state"]["payload"] == finished.payload


def test_without_state_and_workflow_the_rest_is_told(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    journal.group(["vera"], [{"score": 1}])
    journal.finish()
    run = journal.read()
    (run.folder / WORKFLOW_NAME).write_text("{")
    report = as_json(run)
    assert report["state"] is None
    assert report["workflow_file"] is None
    page = report_html(run)
    assert "The state cannot be told" in page
    assert "workflow.json of the run folder is gone or cannot be read" in page


def test_a_run_that_goes_on_says_so(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    journal.group(["vera"], [{"score": 1}])
    journal.read()
    lock = RunLock(tmp_path / RUN)
    lock.acquire()
    try:
        run = read_run(tmp_path / RUN)
        assert as_json(run)["outcome"] == "going_on"
        assert "Going on when this was written" in report_html(run)
    finally:
        lock.release()


def test_a_run_without_a_single_turn_has_a_report(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    run = journal.read()
    assert as_json(run)["turns"] == []
    assert "No agent had its turn." in report_html(run)


def test_a_lost_provider_is_named_at_the_turn_that_it_stopped_and_the_pause_among_the_notes(
    tmp_path: Path,
) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    turn = "loop/1/0/0"
    at = journal.now
    journal.events += [
        GroupStarted(
            time=at,
            phase="loop",
            iteration=1,
            group=0,
            name="loop group 1",
            mode="sequential",
            turns=(TurnRef(turn, Place("loop", 0, 0), "vera", "vera", "0001-vera"),),
        ),
        TurnStarted(time=at, turn=turn),
        AttemptStarted(time=at, turn=turn, number=1, kind=AttemptKind.FIRST),
        AttemptFinished(time=at + 2, turn=turn, number=1, exit_code=1, problem="You are out of quota."),
        RunPaused(time=at + 2, message="The quota of vera is used up."),
        TurnFinished(
            time=at + 47, turn=turn, status=TurnStatus.STOPPED, message="It was stopped with the run."
        ),
    ]
    journal.now += 47
    journal.finish()
    run = journal.read()
    page = report_html(run)
    digest = re.search(r'<span class="digest ([a-z]+)">([^<]*)<', page)
    assert digest is not None
    assert digest.groups() == ("failed", "You are out of quota. · It was stopped with the run.")
    assert "The run was paused for 0:45: The quota of vera is used up." in page
    assert as_json(run)["times"]["waited_seconds"] == 45.0
    assert "of it 0:45 waiting for you" in page


def test_the_time_between_two_lives_is_left_out_of_the_timeline(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    journal.group(["vera"], [{"score": 1}])
    journal.now += 86_400
    journal.start(resumed=True)
    journal.group(["vera"], [{"score": 2}], iteration=2)
    journal.finish({"score": 2})
    report = as_json(journal.read())
    assert report["lives"] == [
        {"started": BEGAN, "ended": BEGAN + 1},
        {"started": BEGAN + 86_401, "ended": BEGAN + 86_402},
    ]
    assert report["times"]["wall_seconds"] == 2.0
    page = report_html(read_run(journal.folder))
    assert 'class="break"' in page
    (first, second) = re.findall(r'class="piece succeeded" x="([\d.]+)%" y="\d+" width="([\d.]+)%"', page)
    assert (float(first[0]), float(first[1])) == pytest.approx((0, 50), abs=0.01)
    assert (float(second[0]), float(second[1])) == pytest.approx((50, 50), abs=0.01)


def test_the_wait_for_an_answer_that_ended_a_turn_is_drawn_as_waiting() -> None:
    story = Story()
    first, second = story.group(0, "vera", "linter")
    story.begin(first, 0)
    story.begin(second, 0)
    story.attempt_ends(first, 20)
    story.end(second, 100)
    story.add(TurnFinished(time=START + 100, turn=first, status=TurnStatus.FAILED))
    story.finish(100)
    chart = run_chart(story.progress)
    drawn = timeline_of(chart, chart.clock(START + 100), START + 100)
    pieces = next(row.bars[0].pieces for row in drawn.rows if row.label == "vera")
    assert [(piece.left, piece.width, piece.kind) for piece in pieces] == [
        (0, pytest.approx(20), "failed"),
        (pytest.approx(20), pytest.approx(80), "wait"),
    ]


@pytest.mark.parametrize("ending", ["tried again", "stopped", "went on"])
def test_an_answer_without_an_update_is_told_from_what_was_stopped_and_from_what_succeeded(
    ending: str,
) -> None:
    story = Story()
    (turn,) = story.group(0, "vera")
    story.begin(turn, 0)
    story.attempt_ends(turn, 20)
    if ending == "tried again":
        story.attempt(turn, 60, 2, AttemptKind.RETRY)
        story.end(turn, 100)
    elif ending == "stopped":
        story.add(TurnFinished(time=START + 100, turn=turn, status=TurnStatus.STOPPED, message="Stopped."))
    else:
        story.add(TurnFinished(time=START + 100, turn=turn, message="No update. The run went on."))
    story.finish(100)
    chart = run_chart(story.progress)
    timeline = timeline_of(chart, chart.clock(START + 100), START + 100)
    assert timeline.rows[0].bars[0].pieces[0].kind == "lacking"
    drawn = chart_of(timeline, {}, "")
    assert drawn is not None
    legend = {entry.kind: entry.words for entry in drawn.legend}
    assert legend["lacking"] == "answered without a state update"
    assert "stopped" not in legend
    said = drawn.rows[0].bars[0].tip.split(" · ")[1]
    assert said == {"went on": "succeeded without a state update", "stopped": "stopped"}.get(
        ending, "succeeded"
    )


@pytest.mark.parametrize(
    ("passes", "numbers"),
    [(50, ["5", "10", "15"]), (400, ["10", "20", "30"])],
)
def test_of_many_passes_some_carry_their_numbers(passes: int, numbers: list[str]) -> None:
    story = Story()
    for number in range(passes):
        (turn,) = story.group(number, "vera", iteration=number + 1)
        story.turn(turn, number, number + 1)
    story.finish(passes)
    chart = run_chart(story.progress)
    drawn = chart_of(timeline_of(chart, chart.clock(START + passes), START + passes), {}, "")
    assert drawn is not None
    named = [mark for mark in drawn.passes if mark.text]
    assert [mark.text for mark in named][:3] == numbers
    assert any(not mark.minor for mark in named), "a phone shows some, too"
    lefts = [float(mark.left) for mark in named]
    assert all(after - before >= 2.4 for before, after in itertools.pairwise(lefts))


def test_where_nothing_waited_the_legend_has_no_waiting() -> None:
    story = Story()
    (turn,) = story.group(0, "vera")
    story.add(TurnStarted(time=START, turn=turn))
    story.attempt(turn, 0.02)
    story.end(turn, 1)
    story.finish(1)
    chart = run_chart(story.progress)
    drawn = chart_of(timeline_of(chart, chart.clock(START + 1), START + 1), {}, "")
    assert drawn is not None
    assert [entry.kind for entry in drawn.legend] == ["succeeded"]


# --- HTML: nothing comes from elsewhere, nothing is but text ------------------------------------------------


class _Headings(HTMLParser):
    """The texts of what every page has: headings, heads of tables, buttons, legends."""

    TAGS = frozenset(
        {"title", "h2", "h4", "th", "dt", "button", "summary", "caption", "legend", "figcaption"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []
        self.language = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.language = dict(attrs).get("lang") or self.language
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and self._open and self._open[-1] in self.TAGS:
            self.texts.append(data.strip())


def test_a_report_speaks_the_users_language(run: RecordedRun) -> None:
    translate_with(lambda text: f"«{text}»", "de-AT")
    try:
        page = report_html(run)
    finally:
        translate_with(None)
    found = _Headings()
    found.feed(page)
    assert found.language == "de-AT"
    # What is left is names: of the run, of agents, of files, and how large they are.
    names = {"vera", "linter", "flaky", "workflow.json"}
    left = {text for text in found.texts if "«" not in text} - names
    assert {text for text in left if re.search(r"[A-Za-z]{3}", text)} == set()
    assert "«Find an agent or an answer»" in page


def test_the_content_policy_allows_exactly_the_pages_own_style_and_script(run: RecordedRun) -> None:
    page = report_html(run)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None

    def digest(tag: str) -> str:
        inside = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(inside) == 1
        return base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()

    assert policy[1].replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'sha256-{digest('style')}'; script-src 'sha256-{digest('script')}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_what_agents_and_files_say_makes_no_element_and_no_attribute(tmp_path: Path) -> None:
    page = report_html(hostile_run(tmp_path / RUN))
    elements = Elements(page)
    tags = [tag for tag, _ in elements.found]
    assert tags.count("script") == tags.count("style") == tags.count("title") - page.count("<title>") + 1 == 1
    assert not {"img", "iframe", "object", "embed", "link", "base", "form", "textarea", "plaintext"} & {*tags}
    for tag, attributes in elements.found:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src")], tag
        href = attributes.get("href")
        assert href is None or re.fullmatch(r"#[\w-]+", href), href
    for hostile in HOSTILE[:6]:
        assert hostile in elements.text
    assert "⟨U+202E⟩txt.exe" in elements.text
    assert "nul⟨NUL⟩ esc⟨escape⟩[2J" in elements.text


def test_no_character_steers_the_page_or_hides_in_it(tmp_path: Path) -> None:
    page = report_html(hostile_run(tmp_path / RUN))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", page)


@pytest.mark.skipif(sys.platform != "linux", reason="only there names of files are any bytes")
def test_a_folder_whose_name_is_no_text_is_written_as_one(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    journal.group(["vera"], [{"score": 1}])
    journal.finish({"score": 1})
    journal.read()
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    (tmp_path / RUN).rename(odd / RUN)
    run = read_run(odd / RUN)
    write_html(run, tmp_path / "page.html")
    write_json(run, tmp_path / "run.json")
    assert "caf\ufffd" in json.loads((tmp_path / "run.json").read_bytes())["folder"]
    assert "caf" in (tmp_path / "page.html").read_text(encoding="utf-8")


# --- HTML: it has an end --------------------------------------------------------------------------------


def test_a_large_run_makes_a_page_that_can_be_opened_and_says_what_it_left_out(tmp_path: Path) -> None:
    run = large_run(tmp_path / RUN)
    page = report_html(run)
    assert len(page) < 6_000_000
    assert len(re.findall('<tr class="turn"', page)) == 1_000
    assert len(re.findall(r"All of it is in turns/\d+-agent_\d/update.json\.", page)) == 1_000
    assert "All of it is in state.json of the run folder." in page
    # The JSON leaves nothing out.
    report = as_json(run)
    assert len(report["state"]["state"]["payload"]["one"]) == 1_000_000
    assert all(turn["update"] for turn in report["turns"])


def test_of_very_many_turns_the_first_are_in_the_table(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    labels = [f"agent_{number}" for number in range(100)]
    for iteration in range(1, 61):
        journal.group(labels, [{"done": True}] * 99 + [None], iteration=iteration)
    journal.note("a word about a turn that is not shown", "loop/60/0/99")
    journal.finish({})
    run = journal.read()
    page = report_html(run)
    assert len(re.findall('<tr class="turn"', page)) == 5_000
    assert "1,000 turns more are not shown here." in page
    assert "agent_99 · 60: a word about" in page
    assert set(re.findall(r'href="#([\w-]+)"', page)) <= set(re.findall(r'id="([\w-]+)"', page))
    assert len(as_json(run)["turns"]) == 6_000


def test_answers_that_fit_together_are_whole(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    journal.group([f"agent_{number}" for number in range(50)], [{"text": "w " * 10_000}] * 50)
    journal.finish({})
    page = report_html(journal.read())
    assert page.count("w " * 10_000) == 50
    assert "not shown here" not in page


def test_a_hundred_thousand_notes_and_conflicts_are_listed_in_part(tmp_path: Path) -> None:
    journal = JournalOf(tmp_path / RUN)
    journal.start()
    journal.group(["vera"], [{"score": 1}])
    for number in range(2_000):
        journal.note(f"note {number}")
    journal.finish({})
    page = report_html(journal.read())
    assert "note 499" in page
    assert "note 500<" not in page
    assert "1,500 notes more are not shown here." in page


def nodes(root: Node) -> list[Node]:
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += node.below
    return found


def test_a_tree_is_cut_where_it_is_wide_long_or_deep() -> None:
    deep: JsonValue = "bottom"
    for _ in range(150):
        deep = {"below": deep}
    wide: JsonValue = {f"key {number}": number for number in range(10_000)}
    long: JsonValue = [{"a": [number]} for number in range(10_000)]
    root = state_tree({"deep": deep, "wide": wide, "long": long, "text": "x" * 10**6})
    found = nodes(root)
    assert len(found) <= MOST_NODES + 1
    assert max(node.depth for node in found) == MOST_DEEP
    by_key = {node.key: node for node in root.below}
    assert by_key["wide"].left_out == by_key["long"].left_out == 10_000 - MOST_BELOW
    assert len(by_key["text"].text) < 10_000
    assert sum(node.left_out for node in found if node.depth == MOST_DEEP) == 1


def test_a_list_of_many_does_not_take_the_room_of_what_comes_after_it() -> None:
    branch: JsonValue = [[[[number] * 20] * 20] * 20 for number in range(20)]
    root = state_tree({"first": branch, "last": {"score": 1}})
    assert [node.key for node in root.below[1].below] == ["score"]


@given(st.lists(st.integers(0, 10_000), max_size=50), st.integers(0, 100_000))
def test_a_fair_share_fits_and_wastes_nothing(sizes: list[int], budget: int) -> None:
    share = fair_share(sizes, budget)
    assert sum(min(size, share) for size in sizes) <= max(budget, 0)
    if sizes and sum(sizes) > budget:
        # One more byte for each would be too much.
        assert sum(min(size, share + 1) for size in sizes) > budget
    else:
        assert all(size <= share for size in sizes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_that_is_shown_means_the_same_and_hides_nothing(value: JsonValue) -> None:
    text, left = json_shown(json_bytes(value), 10**6)
    assert left == 0
    assert json.loads(text) == value
    assert all(line.isprintable() for line in text.split("\n"))


@given(st.text(alphabet=st.characters(), max_size=60))
def test_text_that_is_shown_hides_nothing(text: str) -> None:
    assert all(line.isprintable() for line in shown(text, 100).split("\n"))


# --- files ----------------------------------------------------------------------------------------------


def test_a_report_that_cannot_be_written_says_where_and_leaves_the_old_file(
    run: RecordedRun, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "missing" / "page.html"):
        with pytest.raises(UserFileError) as caught:
            write_html(run, path)
        (problem,) = caught.value.problems
        assert problem.file == path
        assert problem.message.startswith("The report could not be written: ")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_file_that_is_there_is_replaced(run: RecordedRun, tmp_path: Path) -> None:
    for write, name in ((write_html, "page.html"), (write_json, "run.json")):
        (tmp_path / name).write_text("old")
        write(run, tmp_path / name)
        assert "old" not in (tmp_path / name).read_text(encoding="utf-8")[:3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run.json"]


def test_the_proposed_name_is_one_on_every_system(tmp_path: Path) -> None:
    assert re.fullmatch(r"[\w-]+\.html", file_name(hostile_run(tmp_path / RUN), "html"))


def test_who_writes_no_report_does_not_pay_for_templates() -> None:
    code = "import core.report, sys; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_report_is_made_of_what_was_recorded(run: RecordedRun) -> None:
    report = report_of(run)
    ends = [event for event in run.events if isinstance(event, TurnFinished)]
    assert len(report.turns) == len(ends) == 6
    (end,) = [event for event in run.events if isinstance(event, RunFinished)]
    assert report.ended == end.time
