"""Where the money of a run went: every attempt counts, and an unknown price is never nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.config import Budget
from core.costs import CostLine, CostOrder, budget_uses, cost_lines
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    RunFinished,
    RunStarted,
    TurnFinished,
    TurnRef,
    TurnStarted,
    UsageReported,
)
from core.plan import Place
from core.progress import RunProgress
from core.recorded_run import read_run
from core.sent_prompts import sent_prompts
from core.state import Phase
from core.usage import Usage
from tests.core.run_support import Workshop


def group(phase: Phase, iteration: int, index: int, *labels: str, name: str = "") -> GroupStarted:
    refs = tuple(
        TurnRef(f"{phase}/{iteration}/{index}/{n}", Place(phase, index, n), label, label.split()[0], label)
        for n, label in enumerate(labels)
    )
    return GroupStarted(
        phase=phase, iteration=iteration, group=index, name=name or f"{phase} {index + 1}", turns=refs
    )


def turn(turn: str, cost: float | None, tokens: int = 100) -> list[Event]:
    return [
        TurnStarted(time=1.0, turn=turn),
        AttemptStarted(time=1.0, turn=turn),
        UsageReported(time=2.0, turn=turn, usage=Usage(input_tokens=tokens, cost_usd=cost)),
        TurnFinished(time=3.0, turn=turn, usage=Usage(input_tokens=tokens, cost_usd=cost)),
    ]


@pytest.fixture
def progress() -> RunProgress:
    progress = RunProgress()
    progress.apply_all(
        [
            RunStarted(time=1.0, run_id="r"),
            group("preparation", 0, 0, "proteus"),
            *turn("preparation/0/0/0", 0.1),
            group("loop", 1, 0, "vera", "vera 2", name="audits"),
            *turn("loop/1/0/0", 0.2),
            *turn("loop/1/0/1", 0.3),
            group("loop", 2, 0, "vera", "vera 2", name="audits"),
            *turn("loop/2/0/0", 0.4),
        ]
    )
    return progress


def told(line: CostLine) -> list[tuple[str, int, float, int]]:
    return [
        (each.name, each.iteration, round(each.spent.usage.cost_usd or 0.0, 6), each.turns)
        for each in line.lines
    ]


def test_agents_are_summed_over_groups_and_iterations(progress: RunProgress) -> None:
    run = cost_lines(progress, CostOrder.AGENT)
    assert (run.turns, run.attempts) == (4, 4), "a turn that never began is no turn that cost something"
    assert run.spent.usage.cost_usd == pytest.approx(1.0)
    assert told(run) == [("proteus", 0, 0.1, 1), ("vera", 0, 0.9, 3)]
    assert told(run.lines[1]) == [("vera 1", 1, 0.2, 1), ("vera 2 · 1", 1, 0.3, 1), ("vera 2", 2, 0.4, 1)]


def test_groups_and_iterations_have_their_own_sums(progress: RunProgress) -> None:
    assert told(cost_lines(progress, CostOrder.GROUP)) == [("", 0, 0.1, 1), ("audits", 0, 0.9, 3)]
    by_iteration = cost_lines(progress, CostOrder.ITERATION)
    assert [(line.phase, line.iteration, line.turns) for line in by_iteration.lines] == [
        ("preparation", 0, 1),
        ("loop", 1, 2),
        ("loop", 2, 1),
    ]
    assert told(by_iteration.lines[1]) == [("audits", 0, 0.5, 2)]


@pytest.mark.parametrize("order", list(CostOrder))
def test_the_lines_of_every_level_add_up(progress: RunProgress, order: CostOrder) -> None:
    waiting = [cost_lines(progress, order)]
    while waiting:
        line = waiting.pop()
        if line.lines:
            assert sum(each.turns for each in line.lines) == line.turns
            costs = sum(each.spent.usage.cost_usd or 0.0 for each in line.lines)
            assert costs == pytest.approx(line.spent.usage.cost_usd)
        waiting += line.lines


def test_shares_are_of_the_cost_and_of_tokens_where_a_price_is_unknown(progress: RunProgress) -> None:
    run = cost_lines(progress, CostOrder.AGENT)
    assert run.has_all_prices
    assert [line.share_of(run) for line in run.lines] == [pytest.approx(0.1), pytest.approx(0.9)]
    progress.apply_all([group("finalization", 2, 0, "dora"), *turn("finalization/2/0/0", None, 400)])
    run = cost_lines(progress, CostOrder.AGENT)
    assert not run.has_all_prices
    assert run.lines[2].spent.unpriced
    assert run.lines[2].share_of(run) == pytest.approx(0.5)


def test_nothing_used_is_no_division_by_nothing() -> None:
    run = cost_lines(RunProgress(), CostOrder.AGENT)
    assert run.share_of(run) == 0.0
    assert run.lines == []


def test_what_was_tried_again_is_told_with_its_cost() -> None:
    progress = RunProgress()
    steps: list[Event] = [
        RunStarted(time=1.0),
        group("loop", 1, 0, "vera"),
        TurnStarted(time=1.0, turn="loop/1/0/0"),
    ]
    for number, kind in enumerate((AttemptKind.FIRST, AttemptKind.RETRY, AttemptKind.CORRECTION), 1):
        steps += [
            AttemptStarted(time=2.0, turn="loop/1/0/0", number=number, kind=kind),
            UsageReported(time=3.0, turn="loop/1/0/0", usage=Usage(output_tokens=10, cost_usd=0.1 * number)),
        ]
    progress.apply_all(steps)
    run = cost_lines(progress, CostOrder.AGENT)
    assert (run.attempts, run.retries, run.corrections, run.running) == (3, 1, 1, 1)
    assert run.spent.usage.cost_usd == pytest.approx(0.6)
    assert run.again.usage.cost_usd == pytest.approx(0.5)


def test_a_turn_that_is_made_again_costs_both_times() -> None:
    progress = RunProgress()
    announced = group("loop", 1, 0, "vera")
    progress.apply_all([RunStarted(time=1.0), announced, *turn("loop/1/0/0", 0.5)[:3]])
    progress.apply_all(
        [RunStarted(time=9.0, resumed=True), announced, TurnStarted(time=9.0, turn="loop/1/0/0")]
    )
    again = AttemptStarted(time=9.0, turn="loop/1/0/0", number=2, kind=AttemptKind.RETRY)
    used = UsageReported(time=9.5, turn="loop/1/0/0", usage=Usage(input_tokens=5, cost_usd=0.25))
    progress.apply_all([again, used])
    run = cost_lines(progress, CostOrder.AGENT)
    assert run.spent.usage.cost_usd == pytest.approx(0.75)
    assert run.again.usage.cost_usd == pytest.approx(0.25)
    assert (run.attempts, run.turns) == (2, 1)


def test_every_cap_is_told_with_the_present_group_and_then_the_dearest(progress: RunProgress) -> None:
    progress.budget = Budget(max_cost_usd=2.0, max_cost_usd_per_group=0.5, max_tokens=800)
    run, of_group, tokens = budget_uses(progress)
    assert (run.share, tokens.share) == (pytest.approx(0.5), pytest.approx(0.5))
    assert of_group.group is not None
    assert of_group.group.iteration == 2
    assert of_group.share == pytest.approx(0.8)
    progress.apply(RunFinished(time=4.0))
    dearest = budget_uses(progress)[1]
    assert dearest.group is not None
    assert dearest.group.iteration == 1
    assert dearest.share == pytest.approx(1.0)


def test_a_budget_against_unknown_prices_is_not_known(progress: RunProgress) -> None:
    unpriced = RunProgress(budget=Budget(max_cost_usd=2.0))
    unpriced.apply_all([RunStarted(time=1.0), group("loop", 1, 0, "vera"), *turn("loop/1/0/0", None)])
    assert not budget_uses(unpriced)[0].is_known
    progress.budget = Budget(max_cost_usd=2.0)
    progress.apply_all([group("finalization", 2, 0, "dora"), *turn("finalization/2/0/0", None)])
    partly = budget_uses(progress)[0]
    assert partly.is_known
    assert partly.unpriced


def test_a_budget_of_nothing_is_used_up() -> None:
    progress = RunProgress(budget=Budget(max_cost_usd=0.0))
    assert budget_uses(progress)[0].share == 1.0


# --- what agents were sent ----------------------------------------------------------------------------


def test_the_prompt_and_every_correction_of_a_real_turn_are_kept(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", writes={"score": 1}, bad_update={"kind": "missing", "first": 2})
    shop.agent("amala", writes={"text": "ä" * 500})
    run = shop.run({"preparation_agents": ["amala", "vera"]})
    sent = sent_prompts(run.turn_folder("vera"))
    assert [prompt.after for prompt in sent] == [0, 1, 2]
    assert sent[0].size == run.of(TurnStarted)[1].prompt_bytes == sent[0].path.stat().st_size
    assert "ä" * 500 in sent[0].path.read_text("utf-8")
    assert "correction 2 of 2" in sent[2].path.read_text("utf-8")
    assert 0 < sent[0].about_tokens < sent[0].size
    assert sent_prompts(tmp_path / "nowhere") == []
    assert cost_lines(read_run(run.folder).progress, CostOrder.AGENT).corrections == 2


def test_each_attempt_of_a_turn_tells_its_own_cost() -> None:
    progress = RunProgress()
    at = "preparation/0/0/0"
    progress.apply_all(
        [
            RunStarted(time=1.0, run_id="r"),
            group("preparation", 0, 0, "vera"),
            TurnStarted(time=2.0, turn=at),
            AttemptStarted(time=2.0, turn=at, number=1),
            UsageReported(time=3.0, turn=at, usage=Usage(input_tokens=10, cost_usd=0.1)),
            UsageReported(time=3.5, turn=at, usage=Usage(input_tokens=5, cost_usd=0.05)),
            AttemptFinished(time=4.0, turn=at, number=1),
            AttemptStarted(time=5.0, turn=at, number=2, kind=AttemptKind.CORRECTION),
            UsageReported(time=6.0, turn=at, usage=Usage(input_tokens=20, cost_usd=0.2)),
        ]
    )
    itself = cost_lines(progress, CostOrder.AGENT).lines[0].lines[0]
    assert [(each.name, each.number, each.spent.usage.cost_usd) for each in itself.lines] == [
        ("first", 1, pytest.approx(0.15)),
        ("correction", 2, 0.2),
    ]
    # The run is resumed, and the turn begins again: what was paid before stays in its own lines.
    progress.apply_all(
        [
            RunStarted(time=10.0, run_id="r", resumed=True),
            group("preparation", 0, 0, "vera"),
            TurnStarted(time=11.0, turn=at),
            AttemptStarted(time=11.0, turn=at, number=3),
            UsageReported(time=12.0, turn=at, usage=Usage(input_tokens=40, cost_usd=0.4)),
        ]
    )
    itself = cost_lines(progress, CostOrder.AGENT).lines[0].lines[0]
    assert [each.spent.usage.cost_usd for each in itself.lines] == [pytest.approx(0.15), 0.2, 0.4]
    assert sum(each.attempts for each in itself.lines) == itself.attempts


def test_a_turn_of_one_attempt_has_no_lines_of_attempts(progress: RunProgress) -> None:
    for line in cost_lines(progress, CostOrder.AGENT).lines:
        assert all(not each.lines for each in line.lines)
