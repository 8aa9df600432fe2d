"""From starting the program to the first paint of its window, against a bare PySide6 window.

    python benchmarks/start.py                      both, in turn
    python benchmarks/start.py --window openloop    one of them, as a program: says when it is painted

Offscreen by default; QT_QPA_PLATFORM in the environment is respected.
"""

from __future__ import annotations

import argparse
import gc
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

EXAMPLE = Path(__file__).resolve().parent.parent / "resources" / "workflows" / "audit.json"
TIMES = 9
PAINTED = b"painted\n"


# --- the programs that are measured: import nothing that they do not need -------------------------------


def _end() -> None:
    """The window has been painted and handed to the screen: say so, and do not wait for anything."""
    os.write(1, PAINTED)
    os._exit(0)


def show_openloop() -> None:
    """Start OpenLoop as the command `openloop audit.json` does."""
    from app import cli

    # What `app.cli` does before it imports the window, so that it can be told here when that is painted.
    gc.disable()

    from app import application

    # isort: split
    from PySide6.QtCore import QEvent, QTimer

    class Window(application.MainWindow):  # type: ignore[name-defined]
        def event(self, event: QEvent) -> bool:
            done = super().event(event)
            if event.type() is QEvent.Type.Paint:
                QTimer.singleShot(0, _end)  # after its children have been painted too
            return done

    application.MainWindow = Window  # type: ignore[attr-defined]
    cli.main(["gui", str(EXAMPLE)])


def show_bare() -> None:
    """The least that a PySide6 program can show."""
    from PySide6.QtCore import QEvent, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Window(QMainWindow):
        def event(self, event: QEvent) -> bool:
            done = super().event(event)
            if event.type() is QEvent.Type.Paint:
                QTimer.singleShot(0, _end)  # after its children have been painted too
            return done

    application = QApplication([])
    window = Window()
    window.show()
    application.exec()


# --- measuring -----------------------------------------------------------------------------------------


def _seconds(window: str, home: str) -> float:
    environment = {
        **os.environ,
        "OPENLOOP_HOME": home,
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
        # As it is after a first start, whatever this environment says about compiled modules.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(Path(home, "compiled")),
    }
    argv = [sys.executable, __file__, "--window", window]
    begun = time.perf_counter()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment, bufsize=0) as program:
        assert program.stdout is not None  # a pipe
        said = program.stdout.read(len(PAINTED))
        took = time.perf_counter() - begun
    if said != PAINTED:
        raise RuntimeError(f"The window {window} was never painted.")
    return took


def main() -> None:
    """Measure, or be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--window", choices=("openloop", "bare"))
    window = parser.parse_args().window
    if window == "openloop":
        show_openloop()
    elif window == "bare":
        show_bare()
    else:
        from benchmarks.report import print_head, print_rows

        print_head()
        print_rows("start", rows)


def rows() -> Iterator[Row]:
    """All rows."""
    from benchmarks.report import Row, milliseconds, pairs

    with tempfile.TemporaryDirectory() as home:
        for window in ("openloop", "bare"):
            _seconds(window, home)  # compiles modules, writes settings
        ours, bare, ratio = pairs(partial(_seconds, "openloop", home), partial(_seconds, "bare", home), TIMES)
    yield Row(
        "start to first paint, the example open",
        milliseconds(ours),
        f"bare window {milliseconds(bare)}",
        ratio,
        "<= 1.8",
        ratio <= 1.8,
    )


if __name__ == "__main__":
    main()
