"""What a run does when agents fail: corrections, policies, timeouts, retries, budgets, reasons to end."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from core import turn_loop
from core.engine import Answer, Engine
from core.events import (
    AttemptKind,
    AttemptStarted,
    Event,
    Merged,
    Noted,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RunStatus,
    SessionKnown,
    TurnStarted,
    TurnStatus,
)
from core.journal import JOURNAL_NAME
from core.recorded_run import read_run
from tests.core.run_support import FinishedRun, Workshop, alive_agents, resume

BAD_KINDS = ["missing", "bad_json", "truncated", "fenced", "file", "wrong_type"]


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def quick_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 0.01)


def kinds_of_attempts(run: FinishedRun) -> list[AttemptKind]:
    return [event.kind for event in run.of(AttemptStarted)]


# --- no valid update ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BAD_KINDS)
def test_a_bad_answer_is_corrected_in_the_same_session(shop: Workshop, kind: str) -> None:
    shop.agent("vera", writes={"x": 1}, bad_update={"kind": kind, "first": 1})
    run = shop.run({"preparation_agents": ["vera"]})
    assert run.reason == "completed"
    assert run.payload == {"x": 1}
    assert kinds_of_attempts(run) in ([AttemptKind.FIRST, AttemptKind.CORRECTION], [AttemptKind.FIRST])
    if kind != "fenced":  # a fenced object with the right keys counts (DESIGN, run semantics 5)
        assert kinds_of_attempts(run) == [AttemptKind.FIRST, AttemptKind.CORRECTION]
        assert len(run.of(SessionKnown)) == 1
        (correction,) = run.turn_folder("vera").glob("correction-*.md")
        assert b"OpenLoop could not use your answer (correction 1 of 2)" in correction.read_bytes()


def test_two_bad_answers_are_corrected_and_a_third_is_missing_state(shop: Workshop) -> None:
    shop.agent("twice", writes={"x": 1}, bad_update={"kind": "missing", "first": 2})
    run = shop.run({"preparation_agents": ["twice"]})
    assert run.reason == "completed"
    assert kinds_of_attempts(run) == [AttemptKind.FIRST, AttemptKind.CORRECTION, AttemptKind.CORRECTION]
    shop.agent("never", bad_update="missing")
    run = shop.run({"preparation_agents": ["never"]})
    assert run.reason == "missing_state:never"
    assert run.finished.message == ("never did not answer with a state update; 2 corrections were tried.")
    assert len(kinds_of_attempts(run)) == 3


def test_on_missing_state_continue_goes_on_without_the_update(shop: Workshop) -> None:
    shop.agent("never", bad_update="missing")
    shop.agent("next", writes={"x": 1})
    run = shop.run({"preparation_agents": ["never", "next"], "on_missing_state": "continue"})
    assert run.reason == "completed"
    assert run.payload == {"x": 1}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Answer.CONTINUE, "completed"), (Answer.ABORT, "missing_state:never")],
)
def test_on_missing_state_ask_waits_for_the_user(shop: Workshop, answer: Answer, reason: str) -> None:
    shop.agent("never", bad_update="missing")

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            engine.answer(event.turn, answer)

    run = shop.run({"preparation_agents": ["never"], "on_missing_state": "ask"}, watch)
    (asked,) = run.of(QuestionAsked)
    assert run.reason == reason
    # Who follows the run from another process knows it from the journal alone.
    told = [event for event in run.journal if isinstance(event, QuestionAsked | QuestionAnswered)]
    assert told == [asked, *run.of(QuestionAnswered)]
    assert [event.answer for event in run.of(QuestionAnswered)] == [answer]


def test_a_run_that_was_cut_off_at_a_question_asks_anew(shop: Workshop) -> None:
    """What the journal tells of the question is no answer, and no reason not to ask."""
    shop.agent("never", bad_update="missing")

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            engine.answer(event.turn, Answer.CONTINUE)

    run = shop.run({"preparation_agents": ["never"], "on_missing_state": "ask"}, watch)
    journal = run.folder / JOURNAL_NAME
    lines = journal.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"question_asked"' in line)
    journal.write_bytes(b"".join(lines[: at + 1]))
    assert read_run(run.folder).progress.questions == []
    again = resume(run.folder, watch)
    assert again.reason == "completed"
    assert len(again.of(QuestionAsked)) == 1
    assert not again.of(Noted), "nothing of the journal was passed over"


def test_a_user_who_answers_try_again_gets_another_try(shop: Workshop) -> None:
    shop.agent("late", writes={"x": 1}, bad_update={"kind": "missing", "first": 3})

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            engine.answer(event.turn, Answer.RETRY)

    run = shop.run({"preparation_agents": ["late"], "on_missing_state": "ask"}, watch)
    assert run.reason == "completed"
    assert run.payload == {"x": 1}
    assert kinds_of_attempts(run)[3] is AttemptKind.RETRY


def test_a_question_tells_the_corrections_of_all_tries(shop: Workshop) -> None:
    shop.agent("never", bad_update="missing")
    asked: list[str] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            asked.append(event.message.partition("; ")[2])
            engine.answer(event.turn, Answer.RETRY if len(asked) == 1 else Answer.ABORT)

    run = shop.run({"preparation_agents": ["never"], "on_missing_state": "ask"}, watch)
    assert asked == ["2 corrections were tried.", "4 corrections were tried."]
    assert run.finished.message == (
        "You ended the run. never did not answer with a state update; 4 corrections were tried. What was "
        "finished is kept."
    )


@pytest.mark.parametrize("on_error", ["continue", "abort"])
def test_who_ends_the_run_at_a_question_ends_all_of_it(shop: Workshop, on_error: str) -> None:
    """Others at work are stopped, whatever the group does about failures, and nothing comes after it."""
    shop.agent("before", writes={"w": 1})
    shop.agent("asks", bad_update="missing")
    shop.agent("asks_too", bad_update="missing")
    shop.agent("works", hang=True)
    shop.agent("after", writes={"v": 1})
    asked: list[str] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            asked.append(event.turn)
            if len(asked) == 2:
                engine.answer("loop/1/0/0", Answer.ABORT)

    group = {"mode": "parallel", "agents": ["asks", "asks_too", "works"], "on_parallel_error": on_error}
    run = shop.run(
        {
            "preparation_agents": ["before"],
            "loop_agents": [group, "after"],
            "finalization_agents": ["after"],
            "finalize_on_abort": True,
            "max_loops": 1,
            "max_parallel_agents": 3,
            "on_missing_state": "ask",
        },
        watch,
    )
    assert (run.finished.status, run.reason) == (RunStatus.STOPPED, "missing_state:asks")
    assert run.finished.message == (
        "You ended the run. asks did not answer with a state update; 2 corrections were tried. What was "
        "finished is kept."
    )
    ends = {turn.label: (turn.status, turn.message) for turn in run.progress.turns.values()}
    assert ends["asks"][0] is TurnStatus.FAILED
    assert ends["asks_too"] == (TurnStatus.STOPPED, "asks_too was stopped with the run.")
    assert ends["works"] == (TurnStatus.STOPPED, "works was stopped with the run.")
    assert set(ends) == {"before", "asks", "asks_too", "works"}
    assert run.payload == {"w": 1}
    assert alive_agents(shop.folder) == []

    for name, key in (("asks", "x"), ("asks_too", "y"), ("works", "z")):
        shop.agent(name, writes={key: 1})
    resumed = resume(run.folder)
    assert resumed.reason == "max_loops_reached"
    assert resumed.payload == {"w": 1, "x": 1, "y": 1, "z": 1, "v": 1}


def test_a_question_does_not_hold_up_the_other_agents_of_the_group(shop: Workshop) -> None:
    """Neither the slot nor a thread: with one slot, the other agent runs while the first one asks."""
    shop.agent("asks", bad_update="missing")
    shop.agent("other", writes={"x": 1})
    finished: list[str] = []

    def watch(engine: Engine, event: Event) -> None:
        if event.type == "turn_finished":
            finished.append(event.turn)
            for live in ("preparation/0/0/0",):
                engine.answer(live, Answer.CONTINUE)

    run = shop.run(
        {
            "preparation_agents": [{"mode": "parallel", "agents": ["asks", "other"], "max_parallel": 1}],
            "on_missing_state": "ask",
        },
        watch,
    )
    assert run.reason == "completed"
    assert finished == ["preparation/0/0/1", "preparation/0/0/0"]


# --- failures -------------------------------------------------------------------------------------------


def test_a_failed_sequential_agent_ends_the_run(shop: Workshop) -> None:
    shop.agent("bad", fail=3)
    shop.agent("next")
    run = shop.run({"preparation_agents": ["bad", "next"]})
    assert run.reason == "agent_error:bad"
    assert run.finished.status is RunStatus.FAILED
    assert [event.turn for event in run.of(TurnStarted)] == ["preparation/0/0/0"]


def test_an_error_event_is_a_failure_even_with_exit_code_0(shop: Workshop) -> None:
    """Pain 4."""
    shop.agent("liar", fail={"exit_code": 0, "error": "The model is overloaded."})
    assert shop.run({"preparation_agents": ["liar"]}).reason == "agent_error:liar"


def test_abort_stops_the_siblings_at_once_and_keeps_what_they_had_finished(shop: Workshop) -> None:
    """Pain 15."""
    shop.agent("done", writes={"x": 1})
    shop.command("bad", "sh", "-c", "sleep 0.6; exit 3")
    shop.agent("hangs", hang=True)
    group = {"mode": "parallel", "agents": ["done", "bad", "hangs"], "max_parallel": 3}
    run = shop.run({"preparation_agents": [group]})
    assert run.reason == "agent_error:bad"
    assert run.turn("hangs").status is TurnStatus.STOPPED
    assert "another agent of its group failed" in run.turn("hangs").message
    kept = [event for event in run.journal if event.type == "turn_finished" and event.update is not None]
    assert [event.update.payload for event in kept] == [{"x": 1}]
    assert alive_agents(shop.folder) == []


def test_continue_merges_what_succeeded_and_tells_what_failed(shop: Workshop) -> None:
    shop.agent("bad", fail=3)
    shop.agent("good", writes={"x": 1})
    group = {"mode": "parallel", "agents": ["bad", "good"], "on_parallel_error": "continue"}
    run = shop.run({"preparation_agents": [group], "finalization_agents": ["good"]})
    assert run.reason == "completed"
    assert run.payload["x"] == 1
    failures = run.payload["_failures"]
    assert isinstance(failures, list)
    assert [failure["agent"] for failure in failures if isinstance(failure, dict)] == ["bad"]


def test_a_group_in_which_all_failed_has_failed_whatever_the_policy(shop: Workshop) -> None:
    shop.agent("bad", fail=3)
    shop.agent("worse", fail=4)
    group = {"mode": "parallel", "agents": ["bad", "worse"], "on_parallel_error": "continue"}
    run = shop.run({"preparation_agents": [group]})
    assert run.reason in ("agent_error:bad", "agent_error:worse")
    assert run.of(Merged) == []


def test_an_agent_that_takes_too_long_is_ended_and_its_output_is_kept(shop: Workshop) -> None:
    """Pain 32."""
    shop.agent("slow", timeout=1.5, hang=True)
    run = shop.run({"preparation_agents": ["slow"]})
    assert run.reason == "timeout:slow:1.5"
    assert (run.turn_folder("slow") / "stdout.log").stat().st_size > 0
    assert alive_agents(shop.folder) == []


def test_silence_ends_an_agent_only_where_the_workflow_says_so(shop: Workshop) -> None:
    """Pain 14."""
    shop.command("quiet", "sh", "-c", "sleep 1; echo '<state_update>{}</state_update>'")
    assert shop.run({"preparation_agents": ["quiet"]}).reason == "completed"
    run = shop.run({"preparation_agents": ["quiet"], "agent_idle_timeout": 0.4})
    assert run.reason == "timeout:quiet:0.4"
    assert "printed nothing" in run.finished.message


def test_a_group_that_takes_too_long_is_ended(shop: Workshop) -> None:
    shop.agent("quick", writes={"x": 1})
    shop.agent("slow", hang=True)
    group = {"mode": "parallel", "agents": ["quick", "slow"], "timeout": 0.5, "name": "audit"}
    run = shop.run({"preparation_agents": [group]})
    assert run.reason == "group_timeout:audit:0.5"
    assert run.turn("slow").status is TurnStatus.STOPPED
    # Long enough for the quick one on a busy machine.
    run = shop.run({"preparation_agents": [{**group, "timeout": 2, "on_parallel_error": "continue"}]})
    assert run.reason == "completed"
    assert run.payload["x"] == 1
    run = shop.run({"preparation_agents": [{**group, "mode": "sequential"}]})
    assert run.reason == "group_timeout:audit:0.5"


def test_a_transient_failure_is_tried_again_as_often_as_the_workflow_says(
    shop: Workshop, quick_backoff: None
) -> None:
    shop.agent(
        "flaky",
        writes={"x": 1},
        fail={"exit_code": 1, "error": "The model is overloaded.", "transient": True, "first": 2},
    )
    run = shop.run({"preparation_agents": ["flaky"], "retries": 2})
    assert run.reason == "completed"
    assert kinds_of_attempts(run) == [AttemptKind.FIRST, AttemptKind.RETRY, AttemptKind.RETRY]
    assert len(run.of(RetryScheduled)) == 2
    assert shop.run({"preparation_agents": ["flaky"], "retries": 1}).reason == "agent_error:flaky"


def test_what_will_not_pass_is_not_tried_again(shop: Workshop, quick_backoff: None) -> None:
    shop.agent("bad", fail={"exit_code": 1, "error": "The model is overloaded.", "transient": False})
    run = shop.run({"preparation_agents": ["bad"], "retries": 5})
    assert kinds_of_attempts(run) == [AttemptKind.FIRST]


def test_a_waiting_retry_gives_its_slot_back(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pain 26: with one slot the second agent runs while the first one waits for its retry."""
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 1.0)
    shop.agent(
        "flaky", fail={"exit_code": 1, "error": "The model is overloaded.", "transient": True, "first": 1}
    )
    shop.agent("other")
    group = {"mode": "parallel", "agents": ["flaky", "other"], "max_parallel": 1}
    run = shop.run({"preparation_agents": [group], "retries": 1})
    assert run.reason == "completed"
    order = [event.turn[-1] for event in run.of(AttemptStarted)]
    assert order == ["0", "1", "0"]


def test_a_budget_ends_the_run_before_anything_more_is_started(shop: Workshop) -> None:
    shop.agent("dear", cost_usd=0.5)
    workflow = {"loop_agents": ["dear"], "max_loops": 9}
    run = shop.run({**workflow, "budget": {"max_cost_usd": 0.9}})
    assert run.reason == "budget_exceeded:max_cost_usd"
    assert len(run.of(TurnStarted)) == 2
    assert run.finished.usage.cost_usd == pytest.approx(1.0)
    run = shop.run({**workflow, "budget": {"max_tokens": 1}})
    assert run.reason == "budget_exceeded:max_tokens"
    parallel = {"mode": "parallel", "agents": ["dear"] * 5, "max_parallel": 1}
    run = shop.run({"loop_agents": [parallel], "budget": {"max_cost_usd_per_group": 0.9}})
    assert run.reason == "budget_exceeded:max_cost_usd_per_group"
    assert len(run.of(TurnStarted)) == 2


def test_an_unknown_price_is_unknown_and_not_nothing(shop: Workshop) -> None:
    """Pain 24."""
    shop.agent("free", no_price=True)
    run = shop.run({"preparation_agents": ["free"]})
    assert run.finished.usage.total_tokens > 0
    assert run.finished.usage.cost_usd is None
    assert run.progress.spent.unpriced


def test_a_merge_rule_error_ends_the_run_before_the_next_group(shop: Workshop) -> None:
    shop.agent("one", writes={"x": 1})
    shop.agent("two", writes={"x": 2})
    group = {"mode": "parallel", "agents": ["one", "two"], "merge": {"payload.x": "error"}}
    run = shop.run({"preparation_agents": [group, "one"]})
    assert run.reason == "merge_conflict:payload.x"
    assert len(run.of(TurnStarted)) == 2
    (merged,) = run.of(Merged)
    assert [conflict.path for conflict in merged.conflicts] == ["payload.x"]


def test_a_prompt_over_its_limit_is_not_sent(shop: Workshop) -> None:
    """Pain 2."""
    shop.agent("a")
    run = shop.run({"preparation_agents": ["a"], "max_prompt_bytes": 100})
    assert run.reason == "agent_error:a"
    assert "max_prompt_bytes" in run.finished.message
    assert run.of(AttemptStarted) == []


def test_processes_that_an_agent_leaves_behind_are_ended_and_told(shop: Workshop) -> None:
    """Pain 9."""
    shop.agent("messy", leave_child={"kind": "double_fork", "ignore_sigterm": True})
    run = shop.run({"preparation_agents": ["messy"]})
    assert run.reason == "completed"
    assert any("left 1 process behind" in note.message for note in run.of(Noted))
    assert alive_agents(shop.folder) == []


def test_a_flood_costs_nothing_but_disk(shop: Workshop) -> None:
    """Pain 13: everything is in the file, and the update after the flood is found."""
    shop.agent("loud", writes={"x": 1}, flood={"noise_bytes": 20_000_000})
    run = shop.run({"preparation_agents": ["loud"]})
    assert run.payload == {"x": 1}
    assert (run.turn_folder("loud") / "stdout.log").stat().st_size > 20_000_000


def test_invalid_utf8_does_no_harm(shop: Workshop) -> None:
    """Pain 12."""
    shop.agent("odd", writes={"x": 1}, invalid_utf8=True, stderr=["warning: \u00e9"])
    run = shop.run({"preparation_agents": ["odd"]})
    assert run.reason == "completed"
    assert "é" in (run.turn_folder("odd") / "transcript.log").read_text(encoding="utf-8", errors="replace")


def test_a_crash_is_told_in_words_with_the_details_apart(shop: Workshop) -> None:
    shop.agent("broken", crash=True)
    run = shop.run({"preparation_agents": ["broken"]})
    assert run.reason == "agent_error:broken"
    assert "Traceback" not in run.finished.message
    assert "Traceback" in run.turn("broken").detail or "Traceback" in (
        run.turn_folder("broken") / "stderr.log"
    ).read_text(encoding="utf-8")


def test_a_label_never_becomes_a_path(shop: Workshop) -> None:
    (shop.folder / "agents" / "evil.md").write_text(
        '---\n{"name": "../../evil", "backend": "demo"}\n---\nx\n', encoding="utf-8"
    )
    run = shop.run({"preparation_agents": ["../../evil"]})
    assert run.reason == "completed"
    (folder,) = (run.folder / "turns").iterdir()
    assert folder.name == "001-_evil"
    assert orjson.loads((folder / "update.json").read_bytes())


def test_an_example_before_a_broken_update_does_not_complete_the_loop(shop: Workshop) -> None:
    """Pain 25."""
    example = 'Such as <state_update>{"is_complete": true}</state_update>, and now mine:'
    shop.agent("judge", role="auditor", text=example, bad_update="bad_json")
    run = shop.run({"loop_agents": ["judge"], "max_loops": 1})
    assert run.reason == "max_loops_reached"
    assert "Raise “Loops, at most”," in run.finished.message
    assert any("completion was ignored" in note.message for note in run.of(Noted))


def test_why_an_answer_had_no_update_is_in_journal_and_log(shop: Workshop) -> None:
    shop.command("nan", "echo", '<state_update>{"payload": {"k": NaN}}</state_update>')
    run = shop.run({"preparation_agents": ["nan"], "on_missing_state": "continue"})
    detail = run.turn("nan").detail
    assert "NaN" in detail
    assert detail in (run.turn_folder("nan") / "transcript.log").read_text(encoding="utf-8")
