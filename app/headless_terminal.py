"""A run on a live terminal: a line for each running agent, kept up to date, below what has happened."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from app.headless_display import event_words
from app.headless_text import one_line
from core.events import Event, RunFinished, RunStatus, TurnFinished, TurnStatus
from core.plan import RunPlan
from core.progress import RunProgress
from core.progress_words import activity_words, cost_words, duration_words, phase_words, token_words

_LONGEST_NAME = 40
"""Characters of a name in the table; the lines above have all of it."""
_STYLES = {TurnStatus.SUCCEEDED: "green", TurnStatus.FAILED: "red", TurnStatus.STOPPED: "yellow"}


class TerminalDisplay:
    """Shows a run with rich; everything an agent says is printed as text, never as markup."""

    def __init__(self, plan: RunPlan, console: Console | None = None) -> None:
        self._lock = threading.Lock()
        self._progress = RunProgress(max_retries=plan.retries or None, budget=plan.budget)
        self._console = console or Console(highlight=False)
        self._live = Live(
            get_renderable=self._table, console=self._console, refresh_per_second=4, transient=True
        )
        self._live.start()

    def recall(self, events: Sequence[Event]) -> None:
        with self._lock:
            self._progress.apply_all(events)

    def show(self, events: Sequence[Event]) -> None:
        for event in events:
            with self._lock:
                self._progress.apply(event)
            line = event_words(event, self._progress)
            if line:
                self._console.print(Text(line, style=_style(event)))

    def close(self) -> None:
        if self._live.is_started:
            self._live.stop()

    def _table(self) -> Table:
        with self._lock:  # rich draws in a thread of its own
            return self._drawn()

    def _drawn(self) -> Table:
        now = time.time()
        progress = self._progress
        table = Table.grid(padding=(0, 2))
        running = progress.running_turns
        # The last line tells of the whole run: it must not be the one that does not fit.
        room = max(1, self._console.height - 3)
        shown = running if len(running) <= room else running[: room - 1]
        for turn in shown:
            facts = " · ".join(activity_words(turn, now, progress.max_retries))
            steps = f"step {turn.steps}" if turn.steps else "starting"
            # The last line tells the iteration.
            table.add_row(
                Text("▸ " + one_line(turn.label, _LONGEST_NAME), style="bold blue"),
                Text(duration_words(turn.seconds(now) or 0.0)),
                Text(steps),
                Text(facts, style="dim"),
            )
        if len(shown) < len(running):
            table.add_row(Text(f"▸ and {len(running) - len(shown)} more", style="bold blue"))
        spent = progress.spent
        table.add_row(
            Text(phase_words(progress) or "starting", style="dim"),
            Text(duration_words(progress.seconds(now)), style="dim"),
            Text(token_words(spent.usage.total_tokens), style="dim"),
            Text(cost_words(spent), style="dim"),
        )
        return table


def _style(event: Event) -> str:
    if isinstance(event, TurnFinished):
        return _STYLES.get(event.status, "")
    if isinstance(event, RunFinished):
        return "bold green" if event.status is RunStatus.COMPLETED else "bold red"
    return ""
