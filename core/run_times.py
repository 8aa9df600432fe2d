"""When a run's agents worked: rows and bars of a timeline, how many worked at once, what that saved.

Bars have times as they were, seconds since the epoch. `RunClock` turns them into seconds of the run: left out
is the time between two lives of a run, and that in which nobody worked because all waited for the user. What
is left is the time that a timeline shows and that counts as the run's.

`run_chart(progress)` reads a run once; who follows a run keeps its `RunChart` and tells it what changed.
`now` is the time up to which a running run is looked at: seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.progress import RunProgress
from core.progress_words import duration_words
from core.run_bars import Bar as Bar
from core.run_bars import GroupKey as GroupKey
from core.run_bars import Row as Row
from core.run_bars import RowKey as RowKey
from core.run_bars import waits_for_user
from core.run_clock import Break, BreakKind, RunClock
from core.state import PHASES, Phase
from core.time_spans import Span, union, within, without
from core.turn_progress import TurnProgress
from core.words import say

_TOO_SHORT = 2.0
"""Seconds of a run about which nothing is said but how long it was."""


@dataclass(frozen=True, slots=True)
class Band:
    """A phase, or one pass of the loop, from its first to its last moment (seconds since the epoch)."""

    phase: Phase
    iteration: int
    """0 outside of the loop."""
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Savings:
    """What it brought that agents worked at the same time. All times in seconds."""

    work: float = 0.0
    """The sum of all turns' own times (`Bar.seconds`): how long they take one after another."""
    wall: float = 0.0
    """How long the run took, without the time between its lives and in which all waited for the user."""
    critical_path: float = 0.0
    """The longest chain that the order of the groups forces: the turns of a sequential group add up, of a
    parallel group only the longest counts. No number of slots makes the run shorter than this."""
    overlap: float = 0.0
    """How much longer the run would have taken one after another; 0: nothing ran at the same time."""

    @property
    def times_faster(self) -> float:
        """How many times faster than one after another; 1: nothing ran at the same time."""
        return 1.0 + self.overlap / self.wall if self.wall > 0 else 1.0

    @property
    def worth_saying(self) -> bool:
        """Whether there is a difference that one would see in the number."""
        return self.times_faster >= 1.05


def savings_words(savings: Savings, *, short: bool = False) -> str:
    """In one line: `4:12 of work in 2:14 · 1.9 times faster than in sequence`. `short`: for little room."""
    if savings.work <= 0:
        return say("No agent has worked yet")
    if savings.wall < _TOO_SHORT:
        # The agents' own time is the lesser part of it, and the smaller the less it says.
        return say("{work} of work in {time}", work=f"{savings.work:.1f} s", time=f"{savings.wall:.1f} s")
    work, time, times = duration_words(savings.work), duration_words(savings.wall), savings.times_faster
    if savings.worth_saying:
        if short:
            return say("{work} in {time} · {times:,.1f} times faster", work=work, time=time, times=times)
        return say(
            "{work} of work in {time} · {times:,.1f} times faster than in sequence",
            work=work,
            time=time,
            times=times,
        )
    if short:
        return say("{work} of work in {time}", work=work, time=time)
    if savings.overlap > 0:
        return say("{work} of work in {time} · hardly any of it at the same time", work=work, time=time)
    return say("{work} of work in {time} · one agent at a time", work=work, time=time)


def chain_words(savings: Savings) -> str:
    """The critical path in few words: `longest chain 0:14`; empty where nothing ran at the same time."""
    if not savings.worth_saying:
        return ""
    return say("longest chain {time}", time=duration_words(savings.critical_path))


@dataclass(slots=True)
class _GroupTimes:
    """What is remembered of a group. `settled`: nothing of it changes as time goes on."""

    work: float = 0.0
    longest: float = 0.0
    overlap: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    settled: bool = False
    waits: list[Span] = field(default_factory=list)


class RunChart:
    """The timeline of one run, kept up to date: what is over is not looked at again.

    Call `read` after events were applied to the progress, with the turns that they were about.
    """

    def __init__(self, progress: RunProgress) -> None:
        self.progress = progress
        self.rows: list[Row] = []
        """By phase, then in the order in which the workflow lists the agents."""
        self._rows: dict[RowKey, Row] = {}
        self._bars: dict[str, list[Bar]] = {}
        """By turn."""
        self._groups: dict[GroupKey, _GroupTimes] = {}
        self._turns: dict[GroupKey, list[str]] = {}
        self.read()

    # --- rows and bars ---------------------------------------------------------------------------------

    def read(self, turns: Iterable[str] | None = None) -> set[RowKey]:
        """These turns changed; None: any may have. Turns that are new are found by themselves.

        Gives the rows that were made anew.
        """
        known = self.progress.turns
        changed = set(known if turns is None else turns)
        if turns is None:
            self._bars.clear()
            self._turns.clear()
            for row in self._rows.values():
                row.bars = []
        if len(self._bars) != len(known):
            changed.update(turn for turn in known if turn not in self._bars)
        rows = len(self._rows)
        touched: set[RowKey] = set()
        for name in changed:
            turn = known.get(name)
            if turn is not None:
                touched.update(self._read_turn(turn))
        if len(self._rows) != rows:
            order = {phase: number for number, phase in enumerate(PHASES)}
            self.rows = sorted(self._rows.values(), key=lambda row: (order[row.phase], row.place, row.label))
        for key in touched:
            self._rows[key].bars.sort(key=lambda bar: bar.first)
        return touched

    def bars_of(self, turn: str) -> Sequence[Bar]:
        """The bars of a turn, in time; none while it waits for its predecessors."""
        return self._bars.get(turn, ())

    def _read_turn(self, turn: TurnProgress) -> set[RowKey]:
        key: GroupKey = (turn.place.phase, turn.iteration, turn.place.group)
        row_key = (turn.place.phase, turn.label)
        row = self._rows.get(row_key)
        if row is None:
            place = (turn.place.group, turn.place.entry)
            row = self._rows[row_key] = Row(turn.place.phase, turn.label, turn.agent, place)
        changed = {row_key}
        before = self._bars.get(turn.id)
        if before is None:
            self._turns.setdefault(key, []).append(turn.id)
        elif before:
            old = before[0]
            home = self._rows[old.phase, old.label]
            changed.add(home.key)
            home.bars = [bar for bar in home.bars if bar.turn != turn.id]
        bars = self._bars[turn.id] = list(self._make_bars(turn, key))
        row.bars.extend(bars)
        times = self._groups.get(key)
        if times is not None:
            times.settled = False
        return changed

    def _make_bars(self, turn: TurnProgress, key: GroupKey) -> Iterator[Bar]:
        group = self.progress.groups.get(key)
        parallel = group is not None and group.mode == "parallel"
        called = group.started if group is not None and parallel else None
        starts = len(turn.earlier) + 1
        begun_before = 0.0
        for number, start in enumerate(turn.earlier, 1):
            yield Bar(
                turn.id,
                turn.title,
                turn.label,
                turn.agent,
                key[0],
                key[1],
                key[2],
                parallel,
                start.status,
                start.started,
                start.started,
                max(start.started, start.finished),
                start.attempts,
                start.message,
                start.spent,
                number,
                starts,
            )
            begun_before = start.finished
        began = turn.started
        if began is None and turn.is_over and turn.finished is None:
            return  # it was never its turn
        if began is None and not turn.is_over and not parallel:
            return  # it waits for those before it, as everybody knows
        first = began if began is not None else turn.finished
        if called is None or called < begun_before:
            called = begun_before or first
        if first is None:
            first = called
        if called is None or first is None:
            return
        yield Bar(
            turn.id,
            turn.title,
            turn.label,
            turn.agent,
            key[0],
            key[1],
            key[2],
            parallel,
            turn.status,
            min(called, first) if parallel else first,
            began,
            turn.finished,
            tuple(turn.attempts_made),
            turn.message,
            turn.spent,
            starts,
            starts,
        )

    def _times(self, now: float) -> Iterator[tuple[GroupKey, _GroupTimes]]:
        for key, turns in self._turns.items():
            times = self._groups.get(key)
            if times is None or not times.settled:
                times = self._groups[key] = self._measure(key, turns, now)
            yield key, times

    def _measure(self, key: GroupKey, turns: Sequence[str], now: float) -> _GroupTimes:
        bars = [bar for turn in turns for bar in self._bars[turn]]
        worked = union(sorted(span for bar in bars for span in bar.worked(now)))
        own = union(sorted([*worked, *(span for bar in bars for span in bar.rested(now))]))
        per_turn = [sum(bar.seconds(now) for bar in self._bars[turn]) for turn in turns]
        work = sum(per_turn)
        group = self.progress.groups.get(key)
        parallel = group is not None and group.mode == "parallel"
        waits = union(sorted(wait for bar in bars for wait in waits_for_user(bar, now)))
        return _GroupTimes(
            work=work,
            longest=max(per_turn, default=0.0) if parallel else work,
            overlap=max(0.0, work - sum(ended - began for began, ended in worked)),
            began=min((bar.called for bar in bars), default=0.0),
            ended=max((bar.until(now) for bar in bars), default=0.0),
            settled=all(bar.ended is not None for bar in bars)
            and all(self.progress.turns[turn].is_over for turn in turns),
            waits=without(waits, own),
        )

    # --- groups and the run ----------------------------------------------------------------------------

    def bands(self, now: float) -> list[Band]:
        """The phases and the passes of the loop, in time."""
        found: dict[tuple[Phase, int], Span] = {}
        for (phase, iteration, _), times in self._times(now):
            if times.ended > 0:
                began, ended = found.get((phase, iteration), (times.began, times.ended))
                found[phase, iteration] = min(began, times.began), max(ended, times.ended)
        bands = [Band(phase, iteration, *span) for (phase, iteration), span in found.items()]
        return sorted(bands, key=lambda band: band.began)

    def group_spans(self, now: float) -> dict[GroupKey, Span]:
        """From when to when each group went on, in seconds since the epoch."""
        return {key: (times.began, times.ended) for key, times in self._times(now) if times.ended > 0}

    def clock(self, now: float) -> RunClock:
        """The run's time up to `now`, or to its end."""
        progress = self.progress
        if progress.started is None:
            return RunClock(now, now)
        lives = progress.lived
        ended = progress.finished if progress.finished is not None else now
        if progress.finished is None and lives and lives[-1].ended is not None:
            ended = lives[-1].ended  # it was cut off
        breaks = [
            Break(BreakKind.RESUMED, before.ended, after.started)
            for before, after in pairwise(lives)
            if before.ended is not None and after.started > before.ended
        ]
        waits = [span for _, times in self._times(now) for span in times.waits]
        waits += self._pauses(now)
        waits = within(union(sorted(waits)), progress.started, ended)
        cuts = [(cut.began, cut.ended) for cut in breaks]
        breaks += [Break(BreakKind.WAITED, *span) for span in without(waits, union(sorted(cuts)))]
        return RunClock(progress.started, ended, sorted(breaks, key=lambda cut: cut.began))

    def _pauses(self, now: float) -> list[Span]:
        """When the run was paused and nobody worked."""
        pauses = union(
            sorted(
                (pause.started, now if pause.ended is None else pause.ended) for pause in self.progress.pauses
            )
        )
        if not pauses:
            return []
        first, last = pauses[0][0], pauses[-1][1]
        busy = [
            span
            for bars in self._bars.values()
            for bar in bars
            if bar.first <= last and bar.until(now) >= first
            for span in (*bar.worked(now), *bar.rested(now))
        ]
        return without(pauses, union(sorted(busy)))

    def savings(self, now: float, clock: RunClock | None = None) -> Savings:
        """What it brought that agents worked at the same time, up to `now`. `clock`: that of `now`."""
        work = critical = overlap = 0.0
        for _, times in self._times(now):
            work += times.work
            critical += times.longest
            overlap += times.overlap
        return Savings(work, (clock or self.clock(now)).length, critical, overlap)


def run_chart(progress: RunProgress) -> RunChart:
    """The timeline of a run as it is."""
    return RunChart(progress)


def savings_of(progress: RunProgress, now: float) -> Savings:
    """What it brought that agents worked at the same time."""
    return RunChart(progress).savings(now)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """From `time` on (seconds since the epoch) so many agents were at work, until the next one says else."""

    time: float
    agents: int


def concurrency(chart: RunChart, now: float) -> list[AtOnce]:
    """How many agents were at work at which time; the last is 0, at `now` where one is at work."""
    changes: dict[float, int] = {}
    for row in chart.rows:
        for bar in row.bars:
            for began, ended in bar.worked(now):
                changes[began] = changes.get(began, 0) + 1
                changes[ended] = changes.get(ended, 0) - 1
    steps: list[AtOnce] = []
    agents = 0
    for time in sorted(changes):
        if changes[time]:
            agents += changes[time]
            steps.append(AtOnce(time, agents))
    return steps


def most_at_once(chart: RunChart, now: float) -> int:
    """How many agents were at work at the same time at most."""
    return max((step.agents for step in concurrency(chart, now)), default=0)
