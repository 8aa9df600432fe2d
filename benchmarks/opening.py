"""From opening a finished run of 1,000 turns to the first paint of its timeline.

    python benchmarks/opening.py
    python benchmarks/opening.py --open FOLDER    open one run in a window that is there, and time it

The run's journal is made here, with the events that a real run of five agents in 200 iterations has. What is
measured: reading it, and showing it in the view that shows runs. Offscreen by default; QT_QPA_PLATFORM in the
environment is respected.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.report import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

AGENTS = ("author", "vera", "linter", "security_auditor", "writer")
ITERATIONS = 200
STEPS = 3
TIMES = 7
START = 1_790_000_000.0


# --- the program that is measured ----------------------------------------------------------------------


def open_run(folder: Path) -> None:
    """Open a run in a window that has been painted, and say how many seconds each part took."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtWidgets import QApplication

    from app.run_view.run_view import RunView
    from app.theme import Appearance
    from core.recorded_run import read_run

    application = QApplication([])
    Appearance(application)
    view = RunView()
    view.resize(900, 700)
    view.show()
    application.processEvents()
    times: dict[str, float] = {}
    begun = 0.0

    class FirstPaint(QObject):
        """Ends the program when the timeline was painted with the run."""

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            if event.type() is QEvent.Type.Paint and view.timeline.area.plot.rows:
                QTimer.singleShot(0, self.say)  # after the paint
            return super().eventFilter(watched, event)

        def say(self) -> None:
            times["all"] = time.perf_counter() - begun
            sys.stdout.write(json.dumps(times))
            sys.stdout.flush()
            os._exit(0)

    def show() -> None:
        nonlocal begun
        begun = time.perf_counter()
        run = read_run(folder)
        times["read"] = time.perf_counter() - begun
        view.set_recorded(True)
        view.begin(run.progress, run)
        times["show"] = time.perf_counter() - begun - times["read"]

    first_paint = FirstPaint()
    view.timeline.area.viewport().installEventFilter(first_paint)
    QTimer.singleShot(0, show)
    application.exec()


def open_in_history(folder: Path) -> None:
    """Open a run from the list of the real window, then its costs, and say how many seconds each took.

    `window`: what of the time the window's thread was at work; `still`: how long it answered nothing.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.chdir(folder.parent.parent)
    from PySide6.QtCore import QEvent, QObject, Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from app.document import WorkflowDocument
    from app.main_window import MainWindow
    from app.run_controller import RunController
    from app.settings_store import SettingsStore
    from app.theme import Appearance

    application = QApplication([])
    window = MainWindow(
        RunController(),
        WorkflowDocument(),
        store=SettingsStore(folder.parent / "window.ini"),
        appearance=Appearance(application),
    )
    window.resize(1280, 800)
    window.show()
    window.history.show_list()
    page = window.history.page
    while page.current is None:
        application.processEvents()
    for _ in range(1500):  # what is done in idle time is done while one reads the list
        QTest.qWait(1)
    times: dict[str, float] = {}
    still: list[float] = []
    beat = QTimer()
    beat.setTimerType(Qt.TimerType.PreciseTimer)
    beaten = 0.0

    def live() -> None:
        nonlocal beaten
        now = time.perf_counter()
        still.append(now - beaten)
        beaten = now

    beat.timeout.connect(live)

    class Painted(QObject):
        """Tells when a widget was painted."""

        done = False

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            self.done |= event.type() is QEvent.Type.Paint
            return super().eventFilter(watched, event)

    class Opened(QObject):
        """Tells when a timeline with bars was painted."""

        done = False

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            view = window.history.side.shown_run_view
            if event.type() is QEvent.Type.Paint and view is not None and view.timeline.area.plot.rows:
                self.done |= watched is view.timeline.area.viewport()
            return super().eventFilter(watched, event)

    def until(done: Opened | Painted, name: str) -> None:
        nonlocal beaten
        while not done.done:
            application.processEvents(flags.AllEvents, 5)
        times[name] = time.perf_counter() - begun
        times[f"{name} window"] = time.thread_time() - worked
        application.processEvents()
        times[f"{name} still"] = max(still)
        still.clear()

    from PySide6.QtCore import QEventLoop

    flags = QEventLoop.ProcessEventsFlag
    opened = Opened()
    application.installEventFilter(opened)
    beaten = begun = time.perf_counter()
    worked = time.thread_time()
    beat.start(1)
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    until(opened, "open")
    application.removeEventFilter(opened)
    view = window.history.side.shown_run_view
    assert view is not None
    painted = Painted()
    view.tabs.cost_tab.tree.viewport().installEventFilter(painted)
    beaten = begun = time.perf_counter()
    worked = time.thread_time()
    QTest.mouseClick(view.tabs.fixed, Qt.MouseButton.LeftButton, pos=view.tabs.fixed.tabRect(2).center())
    until(painted, "cost")
    sys.stdout.write(json.dumps(times))
    sys.stdout.flush()
    os._exit(0)


# --- measuring -----------------------------------------------------------------------------------------


def write_run(folder: Path) -> int:
    """Write the journal of a run of 1,000 turns. Gives the number of its events."""
    from core.events import (
        AttemptFinished,
        AttemptKind,
        AttemptStarted,
        Event,
        GroupStarted,
        IterationStarted,
        Merged,
        PhaseStarted,
        RetryScheduled,
        RunFinished,
        RunStarted,
        SessionKnown,
        TurnFinished,
        TurnRef,
        TurnStarted,
        UsageReported,
    )
    from core.journal import JOURNAL_NAME, Journal
    from core.plan import Place
    from core.state import StateUpdate
    from core.usage import Usage

    events: list[Event] = [
        RunStarted(
            time=START, run_id=folder.name, workflow="audit", folder=str(folder), max_loops=ITERATIONS
        ),
        PhaseStarted(time=START, phase="loop"),
    ]
    usage = Usage(input_tokens=4000, output_tokens=300, cost_usd=0.02)
    now, number = START, 0
    for iteration in range(1, ITERATIONS + 1):
        events.append(IterationStarted(time=now, iteration=iteration))
        for group, labels in enumerate((AGENTS[:1], AGENTS[1:4], AGENTS[4:])):
            refs = []
            for entry, label in enumerate(labels):
                number += 1
                name = f"loop/{iteration}/{group}/{entry}"
                refs.append(TurnRef(name, Place("loop", group, entry), label, label, f"{number:03}-{label}"))
            mode = "parallel" if len(labels) > 1 else "sequential"
            events.append(
                GroupStarted(
                    time=now,
                    phase="loop",
                    iteration=iteration,
                    group=group,
                    name=labels[0],
                    mode="parallel" if mode == "parallel" else "sequential",
                    turns=tuple(refs),
                )
            )
            happened: list[Event] = []
            longest = 0.0
            for entry, ref in enumerate(refs):
                turn, seconds = ref.turn, 20.0 + (iteration * 7 + entry * 13) % 31
                longest = max(longest, seconds)
                happened += [
                    TurnStarted(time=now, turn=turn, backend="demo", model="demo", prompt_bytes=9000),
                    AttemptStarted(time=now, turn=turn, pid=4711, pid_started=now),
                    SessionKnown(time=now + 1, turn=turn, session=f"session-{number}"),
                ]
                attempt = 1
                if number % 50 == 0:
                    happened += [
                        AttemptFinished(time=now + 4, turn=turn, exit_code=1, problem="It is overloaded."),
                        RetryScheduled(time=now + 4, turn=turn, seconds=3, reason="It is overloaded."),
                        AttemptStarted(time=now + 7, turn=turn, number=2, kind=AttemptKind.RETRY),
                    ]
                    attempt = 2
                for step in range(1, STEPS + 1):
                    at = now + 7 + (seconds - 7) * step / STEPS
                    happened.append(UsageReported(time=at, turn=turn, usage=usage))
                end = now + seconds
                update = StateUpdate(payload={ref.label: {"score": iteration, "notes": "as before " * 8}})
                happened += [
                    AttemptFinished(time=end, turn=turn, number=attempt, exit_code=0),
                    TurnFinished(time=end, turn=turn, update=update, seconds=seconds, usage=usage),
                ]
            events += sorted(happened, key=lambda event: event.time)
            now += longest
            events.append(
                Merged(time=now, phase="loop", iteration=iteration, group=group, writers=tuple(labels))
            )
    events.append(RunFinished(time=now, termination_reason="completed", iterations=ITERATIONS))
    journal = Journal(folder / JOURNAL_NAME)
    for event in events:
        journal.append(event)
    journal.close()
    return len(events)


def _measured(folder: Path, how: str = "--open") -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, how, str(folder)], stdout=subprocess.PIPE, check=True)
    times: dict[str, float] = json.loads(done.stdout)
    return times


def _floor(folder: Path) -> float:
    """The least there is to do: the JSON of the journal's lines is read."""
    import orjson

    from core.journal import JOURNAL_NAME

    begun = time.perf_counter()
    with (folder / JOURNAL_NAME).open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.perf_counter() - begun


def rows() -> Iterator[Row]:
    """All rows."""
    from benchmarks.report import Row, median, milliseconds, pairs

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, ".openloop", "20260101-000000-audit")
        folder.mkdir(parents=True)
        events = write_run(folder)
        parts: list[dict[str, float]] = []

        def ours() -> float:
            parts.append(_measured(folder))
            return parts[-1]["all"]

        ours()  # compiles modules
        parts.clear()
        took, floor, _ = pairs(ours, partial(_floor, folder), TIMES)
        listed = [_measured(folder, "--history") for _ in range(TIMES)]
    yield Row(
        "opening a finished run of 1,000 turns: to its timeline",
        milliseconds(took),
        f"its JSON alone {milliseconds(floor)}",
        None,
        "<= 500 ms",
        took <= 0.5,
    )
    reading, showing = (median(part[name] for part in parts) for name in ("read", "show"))
    yield Row(f"  reading its {events:,} events", milliseconds(reading))
    yield Row("  tabs, timeline and the rest of its view", milliseconds(showing))
    yield Row("  the first paint", milliseconds(took - reading - showing))
    middle = {name: median(times[name] for times in listed) for name in listed[0]}
    yield Row("the same from the list of the window's history", milliseconds(middle["open"]))
    yield Row("  of it the window's thread was at work", milliseconds(middle["open window"]))
    yield Row("  the window stood still at most", milliseconds(middle["open still"]))
    yield Row("its costs, the first time", milliseconds(middle["cost"]))


def main() -> None:
    """Measure, or be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--open", type=Path, metavar="FOLDER")
    parser.add_argument("--history", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.open is not None:
        open_run(given.open)
    elif given.history is not None:
        open_in_history(given.history)
    else:
        from benchmarks.report import print_head, print_rows

        print_head()
        print_rows("opening", rows)


if __name__ == "__main__":
    main()
