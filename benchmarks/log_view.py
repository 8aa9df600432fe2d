"""How the log view does: eight agents that print as fast as they can, ten million lines, a search.

    python benchmarks/log_view.py [--seconds 4] [--lines 10000000]

Prints what was measured beside the target of the design. Worst stall: the longest time in which the event
loop of the window did not come round; what of it the window's thread was at work, and what (on Linux) it was
ready and had no processor, as others had them all. The rest is a wait for the interpreter's lock, or for
nothing at all. Needs about 2 GB in the temporary folder while it runs.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication, QTabWidget

from app.run_controller import NICE, READ_PAUSE
from app.run_view.log_view import LogView
from app.theme import Appearance
from core.backends.base import NoiseSeen
from core.courtesy import COURTESY
from core.line_index import LineIndex
from core.line_search import LineSearch
from core.runner import ProcessSpec, Supervisor
from core.transcript import TranscriptWriter
from core.turn_processes import CHUNK

TABS = 8
LINE = "{:08} an agent prints what it does, as fast as it can\n"
PRINTER = """
import os, sys, time
data = open(sys.argv[1], "rb").read()
pause, end = float(sys.argv[3]), time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    os.write(1, data)
    if pause:
        time.sleep(pause)
"""


class Heartbeat:
    """Measures the longest pause between two rounds of the event loop, in seconds.

    `work`: the most processor time that the window's thread took between two rounds. `ready`: how long in the
    longest pause it was ready to go on and had no processor; None where the system does not say.
    """

    def __init__(self) -> None:
        self.worst = self.work = 0.0
        self.ready: float | None = None
        self._schedule = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._last, self._worked, self._waited = time.perf_counter(), time.thread_time(), self._wait()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(0)

    def _beat(self) -> None:
        now, worked, waited = time.perf_counter(), time.thread_time(), self._wait()
        if now - self._last > self.worst:
            self.worst = now - self._last
            self.ready = None if waited is None or self._waited is None else waited - self._waited
        self.work = max(self.work, worked - self._worked)
        self._last, self._worked, self._waited = now, worked, waited
        self._timer.setInterval(1)

    def _wait(self) -> float | None:
        """Seconds for which this thread was ready and had no processor, ever."""
        try:
            return int(self._schedule.read_bytes().split()[1]) / 1e9
        except (OSError, IndexError):
            return None

    def stop(self) -> str:
        self._timer.stop()
        ready = "" if self.ready is None else f", {self.ready * 1e3:.0f} no processor"
        return f"{self.worst * 1e3:.0f} ms ({self.work * 1e3:.0f} at work{ready})"


def turn_loop(until: Callable[[], bool]) -> None:
    """Run the event loop until something holds."""
    loop = QEventLoop()
    timer = QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    timer.start(5)
    loop.exec()
    timer.stop()


def report(what: str, measured: str, target: str) -> None:
    print(f"{what:<62} {measured:>40}   target {target}", flush=True)


def relay(source: Path, target: Path, ended: Callable[[], bool]) -> None:
    """What a turn's worker does with a plain agent: tail its output, append it to the transcript."""
    writer = TranscriptWriter(target)
    with source.open("rb", buffering=0) as file:
        while True:
            COURTESY.wait()
            over = ended()
            data = file.read(CHUNK)
            if data:
                whole, newline, rest = data.rpartition(b"\n")
                file.seek(-len(rest), os.SEEK_CUR)
                writer.event(NoiseSeen(whole + newline), time.time())
            elif over:
                break
            time.sleep(READ_PAUSE)
    writer.close()


def eight_tabs(
    folder: Path, seconds: float, *, transcripts: bool = False, lines_per_second: int = 0, bare: bool = False
) -> None:
    """Eight agents print at once; the first tab is looked at. `bare`: an empty window, for comparison."""
    lines = lines_per_second // 20 or 2_000
    source = folder / "source"
    source.write_text("".join(LINE.format(number) for number in range(lines)), encoding="utf-8")
    outputs = [folder / f"stdout-{number}.log" for number in range(TABS)]
    shown = [folder / f"transcript-{number}.log" for number in range(TABS)] if transcripts else outputs
    for path in outputs:
        path.touch()
    tabs = QTabWidget()
    tabs.resize(900, 700)
    for path in shown:
        view = LogView()
        view.set_source(None if bare else path, raw=not transcripts)
        tabs.addTab(view, path.stem)
    tabs.show()
    turn_loop(lambda: True)
    pause = 0.05 if lines_per_second else 0.0
    supervisor = Supervisor()
    started = time.perf_counter()
    # As in the application: each agent is a session of its own, a little less urgent than the window.
    printers = [
        supervisor.launch(
            ProcessSpec(
                argv=(sys.executable, "-c", PRINTER, str(source), str(seconds), str(pause)),
                cwd=folder,
                env=dict(os.environ),
                stdin=Path(os.devnull),
                stdout=path,
                stderr=folder / "stderr.log",
                mark=path.stem,
                nice=NICE,
            )
        )
        for path in outputs
    ]

    def over() -> bool:
        return all(printer.wait(0) is not None for printer in printers)

    workers = [
        threading.Thread(target=relay, args=(output, path, over))
        for output, path in zip(outputs, shown, strict=True)
        if transcripts
    ]
    for worker in workers:
        worker.start()
    heartbeat = Heartbeat()
    turn_loop(over)
    took = time.perf_counter() - started
    turn_loop(lambda: not any(worker.is_alive() for worker in workers))
    worst = heartbeat.stop()
    supervisor.close()
    total = sum(path.stat().st_size for path in outputs) / len(LINE.format(0))
    tabs.close()
    for path in {*outputs, *shown}:
        path.unlink()
    if bare:
        report(f"{TABS} agents as fast as they can, an empty window: worst stall", worst, "-")
        return
    what = "through transcripts" if transcripts else "raw output"
    if lines_per_second:
        report(
            f"{TABS} agents of {lines_per_second:,} lines/s, {what}: worst stall",
            worst,
            "<= 33 ms",
        )
    else:
        report(
            f"{TABS} agents as fast as they can, {what}",
            f"{total / took / 1e6:.1f} M lines/s",
            ">= 5 M lines/s",
        )
        report("  worst stall of the window", worst, "<= 50 ms")


def ten_million(folder: Path, count: int) -> None:
    """One tab with a very long log."""
    path = folder / "long.log"
    with path.open("wb") as file:
        block = "".join(LINE.format(number) for number in range(10_000)).encode()
        for _ in range(count // 10_000):
            file.write(block)
    size = path.stat().st_size / 1e6
    process = psutil.Process()
    view = LogView()
    view.resize(900, 700)
    view.show()
    turn_loop(lambda: True)
    before = process.memory_info().rss
    heartbeat = Heartbeat()
    started = time.perf_counter()
    view.set_source(path, raw=True)
    view.viewport().repaint()
    report(
        f"{size:,.0f} MB: opened and painted in", f"{(time.perf_counter() - started) * 1e3:.1f} ms", "at once"
    )
    turn_loop(lambda: view.line_count >= count)
    took = time.perf_counter() - started
    bar = view.verticalScrollBar()
    for step in range(50):
        bar.setValue(bar.maximum() * step // 50)
        turn_loop(lambda: True)
    worst = heartbeat.stop()
    filter_all(view, count)
    report(f"{count:,} lines ({size:,.0f} MB): indexed in", f"{took:.2f} s", "-")
    report("  memory above an empty view", f"{(process.memory_info().rss - before) / 1e6:.1f} MB", "<= 20 MB")
    report("  worst stall while indexing and scrolling", worst, "<= 50 ms")
    view.close()

    index = LineIndex(path)
    while index.advance(1 << 30):
        pass
    # Processor time from here on: one thread alone, which others keep waiting.
    started = time.thread_time()
    for step in range(1000):
        index.read(count * step // 1001, 50)
    report("  any window of 50 lines, at work", f"{(time.thread_time() - started) * 1e3:.0f} us", "~ 90 us")
    search = LineSearch(path, "there is no such text", structured=True)
    started = time.thread_time()
    search.run()
    per_790 = (time.thread_time() - started) * 790 / size
    report("  a search that finds nothing, per 790 MB, at work", f"{per_790:.2f} s", "~ 1.3 s")


def filter_all(view: LogView, count: int) -> None:
    """Filter that log by a text that every line has, and by one that one line in ten thousand has."""
    for needle, lines in (("agent", count), ("00004711", count // 10_000)):
        view.open_filter()
        heartbeat = Heartbeat()
        started = time.perf_counter()
        view._bar.open_with(needle)
        turn_loop(lambda lines=lines: view._sieve is not None and view._sieve.shown >= lines)
        took = time.perf_counter() - started
        report(f"  filtered to {lines:,} lines in", f"{took:.1f} s", "-")
        report("  worst stall meanwhile", heartbeat.stop(), "<= 50 ms")
        view.close_find()


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--lines", type=int, default=10_000_000)
    options = parser.parse_args()
    sys.setswitchinterval(0.001)
    application = QApplication([])
    Appearance(application)
    # As the application does: modules and code are not looked through for garbage again and again.
    gc.freeze()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        eight_tabs(folder, options.seconds, lines_per_second=1_000)
        eight_tabs(folder, options.seconds, transcripts=True, lines_per_second=1_000)
        eight_tabs(folder, options.seconds, bare=True)
        eight_tabs(folder, options.seconds)
        eight_tabs(folder, options.seconds, transcripts=True)
        ten_million(folder, options.lines)


if __name__ == "__main__":
    main()
