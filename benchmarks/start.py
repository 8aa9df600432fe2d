"""From starting the program to the first paint of its window, against a bare PySide6 window.

    python benchmarks/start.py                      all, in turn
    python benchmarks/start.py --window openloop    one of them, as a program: says when it is painted

`bare` is the least that a PySide6 program can show. `libraries` also takes what the window cannot do without:
Qt's namespace, a tree and its style, pydantic, and the models, with the example read into them. `usable` is
OpenLoop until its agents are read, the workflow is checked, and asyncio's loop runs.

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
WINDOWS = ("openloop", "bare", "libraries", "usable")
PAINTED = b"painted %012.6f\n"
"""With the seconds of processor time that it took until then."""


# --- the programs that are measured: import nothing that they do not need -------------------------------


def _end() -> None:
    """The window has been painted and handed to the screen: say so, and do not wait for anything."""
    os.write(1, PAINTED % time.process_time())
    os._exit(0)


def show_openloop() -> None:
    """Start OpenLoop as the command `openloop audit.json` does."""
    from app import cli
    from app.kept_code import kept_code

    # What `app.cli` does before it imports the window, so that it can be told here when that is painted.
    gc.disable()
    with kept_code():
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


def wait_until_usable() -> None:
    """Start OpenLoop as `show_openloop` does, until all that one sees at the start is there."""
    from app import cli
    from app.kept_code import kept_code

    gc.disable()
    with kept_code():
        from app import application

    # isort: split
    from PySide6.QtCore import QTimer

    class Window(application.MainWindow):  # type: ignore[name-defined]
        def showEvent(self, event: object) -> None:  # noqa: N802
            super().showEvent(event)
            self.looks = QTimer(self)
            self.looks.timeout.connect(self.look)
            self.looks.start(2)

        def look(self) -> None:
            asyncio = sys.modules.get("asyncio")  # not before OpenLoop itself imports it
            has_loop = asyncio is not None and asyncio._get_running_loop() is not None
            if has_loop and self.document.library is not None and not self.settings_source._reading:
                _end()

    application.MainWindow = Window  # type: ignore[attr-defined]
    cli.main(["gui", str(EXAMPLE)])


def show_libraries() -> None:
    """A tree in a window, with the libraries and the models of OpenLoop and none of its views."""
    gc.disable()

    from core.workflow_file import load_workflow

    load_workflow(EXAMPLE)

    # isort: split
    from PySide6.QtCore import QEvent, Qt, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow, QTreeView

    class Window(QMainWindow):
        def event(self, event: QEvent) -> bool:
            done = super().event(event)
            if event.type() is QEvent.Type.Paint:
                QTimer.singleShot(0, _end)  # after its children have been painted too
            return done

    application = QApplication([])
    window = Window()
    tree = QTreeView(window)
    # The first of these each brings a family of classes, which every view of OpenLoop needs.
    tree.viewport().setCursor(Qt.CursorShape.ArrowCursor)
    tree.style()
    tree.resize(window.size())
    window.show()
    application.exec()


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


def _seconds(window: str, home: str, spent: dict[str, list[float]]) -> float:
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
        said = program.stdout.read(len(PAINTED % 0))
        took = time.perf_counter() - begun
    if not said.startswith(b"painted "):
        raise RuntimeError(f"The window {window} was never painted.")
    spent[window].append(float(said.split()[1]))
    return took


def main() -> None:
    """Measure, or be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--window", choices=WINDOWS)
    window = parser.parse_args().window
    if window is not None:
        show = (show_openloop, show_bare, show_libraries, wait_until_usable)[WINDOWS.index(window)]
        show()
    else:
        from benchmarks.report import print_head, print_rows

        print_head()
        print_rows("start", rows)


def rows() -> Iterator[Row]:
    """All rows."""
    from benchmarks.report import Row, median, milliseconds, pairs

    with tempfile.TemporaryDirectory() as home:
        spent: dict[str, list[float]] = {window: [] for window in WINDOWS}
        measure = {window: partial(_seconds, window, home, spent) for window in WINDOWS}
        for window in WINDOWS:
            measure[window]()  # compiles modules, writes settings
            spent[window].clear()
        ours, bare, ratio = pairs(measure["openloop"], measure["bare"], TIMES)
        yield Row(
            "start to first paint, the example open",
            milliseconds(ours),
            f"bare window {milliseconds(bare)}",
            ratio,
            "<= 1.8",
            ratio <= 1.8,
        )
        libraries, bare, ratio = pairs(measure["libraries"], measure["bare"], TIMES)
        yield Row(
            "its libraries and models alone",
            milliseconds(libraries),
            f"bare window {milliseconds(bare)}",
            ratio,
        )
        usable, ours, ratio = pairs(measure["usable"], measure["openloop"], TIMES)
        yield Row(
            "start until agents are read and checked",
            milliseconds(usable),
            f"paint {milliseconds(ours)}",
            ratio,
        )
        bare = median(spent["bare"])
        for window, until in (("openloop", "first paint"), ("libraries", "libraries"), ("usable", "all")):
            ours = median(spent[window])
            yield Row(
                f"the same in processor time: {until}",
                milliseconds(ours),
                f"bare window {milliseconds(bare)}",
                ours / bare,
            )


if __name__ == "__main__":
    main()
