"""Costs and tokens on a report's page: by agent, by group, by pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.progress_words import agent_words
from core.report_model import GroupReport, RunReport, UsageReport, sum_of
from core.report_parts import (
    MOST_LISTED,
    MOST_VALUE,
    CostRow,
    CostTable,
    all_in_json,
    place_words,
    rest_of,
    time_words,
    usage_words,
)
from core.report_text import shown
from core.state import Phase
from core.words import say, say_number


def cost_tables(report: RunReport) -> Iterable[CostTable]:
    """The tables, each with the shares of the whole run's cost; of its tokens where a price is unknown."""

    def weight(usage: UsageReport) -> float:
        # A share of a cost that nobody knows would mislead.
        if report.usage.cost_usd and not report.usage.unpriced:
            return usage.cost_usd or 0.0
        return float(usage.total_tokens)

    whole = weight(report.usage)

    def row(name: str, turns: int, seconds: float, usage: UsageReport) -> CostRow:
        cached = usage.cache_read_tokens + usage.cache_write_tokens
        return CostRow(
            shown(name, MOST_VALUE),
            f"{turns:,}",
            time_words(seconds),
            f"{usage.input_tokens + cached:,}",
            f"{usage.output_tokens + usage.reasoning_tokens:,}",
            f"{usage.total_tokens:,}",
            usage_words(usage),
            f"{min(100.0, 100 * weight(usage) / whole):.1f}" if whole else "0",
        )

    agents = sorted(report.agents, key=lambda agent: weight(agent.usage), reverse=True)
    yield CostTable(
        say("By agent"),
        say("Agent"),
        tuple(row(each.agent, each.turns, each.seconds, each.usage) for each in agents[:MOST_LISTED]),
        rest_of(agents, agent_words, all_in_json()),
    )
    places: dict[tuple[Phase, int], list[GroupReport]] = {}
    for group in report.groups:
        places.setdefault((group.phase, group.index), []).append(group)
    of_phase = Counter(phase for phase, _ in places)
    turns = {turn.id: turn for turn in report.turns}
    yield CostTable(
        say("By group, all iterations"),
        say("Group"),
        tuple(
            row(
                place_words(phase, 0, groups[-1].name, number if of_phase[phase] > 1 else None),
                sum(len(group.turns) for group in groups),
                sum(turns[turn].seconds or 0.0 for group in groups for turn in group.turns if turn in turns),
                sum_of(group.usage for group in groups),
            )
            for (phase, number), groups in list(places.items())[:MOST_LISTED]
        ),
        rest_of(list(places), _group_words, all_in_json()),
    )
    yield CostTable(
        say("By phase and iteration"),
        say("Phase"),
        tuple(
            row(place_words(each.phase, each.iteration), each.turns, each.seconds, each.usage)
            for each in report.passes[:MOST_LISTED]
        ),
        rest_of(report.passes, _pass_words, all_in_json()),
    )


def _group_words(count: int) -> str:
    return say_number(count, "1 group", "{count:,} groups")


def _pass_words(count: int) -> str:
    return say_number(count, "1 iteration", "{count:,} iterations")
