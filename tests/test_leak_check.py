"""The suite's check for what a test leaves behind finds processes and threads, and waits for what goes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from tests.conftest import left_behind
from tests.conftest import look_around as _now


def test_a_process_that_lives_on_is_found() -> None:
    before = _now()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        (found,) = left_behind(before, patience=0.0)
        assert found.startswith("processes: ")
        process.communicate(b"\n")
    assert left_behind(before) == []


@pytest.mark.skipif(sys.platform == "win32", reason="daemons of POSIX")
def test_a_daemon_that_lives_on_is_found(tmp_path: Path) -> None:
    before = _now()
    program = (
        "import os, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        open(sys.argv[1], 'w').close()\n"
        "        open(sys.argv[2]).read()\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    ready, gate = tmp_path / "ready", tmp_path / "gate"
    os.mkfifo(gate)
    subprocess.run([sys.executable, "-c", program, str(ready), str(gate)], check=True)
    left = left_behind(before, patience=0.0)
    assert len(left) == 1
    assert left[0].startswith("processes: ")
    gate.open("w").close()
    assert left_behind(before) == []


def test_a_temporary_folder_that_is_left_is_found() -> None:
    before = _now()
    folder = tempfile.mkdtemp()
    assert left_behind(before, patience=0.0) == [f"temporary files: {Path(folder).name}"]
    Path(folder).rmdir()
    assert left_behind(before) == []


def test_work_of_qt_that_goes_on_is_found(qapp: object) -> None:
    from PySide6.QtCore import QThread, QThreadPool

    del qapp
    before = _now()
    end = threading.Event()
    QThreadPool.globalInstance().start(end.wait)
    assert left_behind(before, patience=0.0) == ["Qt's threads: work in Qt's global pool"]
    end.set()
    assert left_behind(before) == []
    from PySide6.QtWidgets import QWidget

    owner = QWidget()
    thread = QThread(owner)
    thread.setObjectName("forgotten")
    thread.start()
    assert left_behind(before, patience=0.0) == ["Qt's threads: QThread forgotten"]
    thread.quit()
    thread.wait()
    assert left_behind(before) == []


def test_a_test_that_leaves_something_fails(tmp_path: Path) -> None:
    """The whole way: a suite with the same conftest, and a test in it that forgets its child."""
    conftest = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(conftest.replace("PATIENCE = 30.0", "PATIENCE = 0.2"))
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys\n"
        "def test_forgets():\n"
        "    global child\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
        "def test_is_tidy():\n"
        "    child.communicate(b'\\n')\n"
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:pytest-qt",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 passed, 1 error" in done.stdout
    assert "the test left behind: ['processes: " in done.stdout


def test_a_thread_that_lives_on_is_found() -> None:
    before = _now()
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()
    assert left_behind(before, patience=0.0) == ["threads: forgotten"]
    end.set()
    assert left_behind(before) == []
    thread.join()


def test_what_is_about_to_go_is_waited_for() -> None:
    before = _now()
    thread = threading.Timer(0.1, lambda: None)
    thread.start()
    assert left_behind(before) == []
