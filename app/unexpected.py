"""Failures of OpenLoop itself: kept in a file, told to the user once, and ending nothing.

Python tells its hooks what leaves a slot, a method of Qt's that is overridden, or a thread; the loop tells
what leaves a task. Without this module all of it would stand on a terminal that nobody looks at.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from core.platform_paths import state_folder

if TYPE_CHECKING:
    import asyncio

NOTICE = "unexpected"
"""Name of the notice."""
FILE_NAME = "openloop-errors.log"
"""Where the tracebacks are, in the user's state folder."""
_MOST_PLACES = 50
"""What fails in more places than this is not worth another word."""
_MOST_BYTES = 1_000_000
"""Of the file: one that is longer begins anew."""
_MOST_LETTERS = 300
"""Of what an exception says, in the notice."""


def do_each(*steps: Callable[[], object]) -> None:
    """Do all of these in this order. What one raises is told as what nobody caught, and the next is done."""
    for step in steps:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - told by the hook
            sys.excepthook(type(error), error, error.__traceback__)


class Unexpected(QObject):
    """Tells each failure once, by the place in the code, however often it comes.

    The notice shows the first; its details are those of all. Signals: `file_requested(FilePlace)` when the
    user wants to see the file.
    """

    file_requested = Signal(object)
    _came = Signal(str)

    def __init__(self, notices: NoticeArea, parent: QObject, file: Path | None = None) -> None:
        super().__init__(parent)
        self.file = file or state_folder() / FILE_NAME
        self._notices = notices
        self._places: set[tuple[type[BaseException], str, int]] = set()
        self._details: list[str] = []
        self._busy = threading.Lock()
        self._print = sys.excepthook
        # Queued: it comes from any thread, and from the midst of painting, where no widget may be made.
        self._came.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """While this lasts, Python tells this object what nobody caught."""
        before, self._print = (sys.excepthook, threading.excepthook), sys.excepthook
        sys.excepthook, threading.excepthook = self._hear, self._hear_thread
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook = before

    def hear_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What `loop` tells its exception handler."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self._hear(type(error), error, error.__traceback__)
        else:
            loop.default_exception_handler(context)

    def _hear_thread(self, told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None:
            self._hear(told.exc_type, told.exc_value, told.exc_traceback)

    def _hear(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _forget_last()
        if not issubclass(kind, Exception):
            self._print(kind, error, trace)
            return
        place = (kind, *_innermost(trace))
        with self._busy:
            if place in self._places or len(self._places) >= _MOST_PLACES:
                return
            self._places.add(place)
        self._print(kind, error, trace)
        # Only needed where something failed.
        import traceback

        details = "".join(traceback.format_exception(kind, error, trace))
        with self._busy:
            self._details.append(details)
            self._keep(details)
        self._came.emit("".join(traceback.format_exception_only(kind, error)).strip())

    def _keep(self, details: str) -> None:
        from core.version import own_version

        words = f"{time.strftime('%Y-%m-%d %H:%M:%S')} OpenLoop {own_version()}\n{details}\n"
        # Where the disk refuses, the notice has the details all the same.
        with contextlib.suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            is_long = self.file.exists() and self.file.stat().st_size > _MOST_BYTES
            with self.file.open("w" if is_long else "a", encoding="utf-8", errors="replace") as file:
                file.write(words)

    @Slot(str)
    def _tell(self, summary: str) -> None:
        if self._notices.bar(NOTICE) is not None:
            return
        # Not needed for the first paint of the window.
        from app.reading_text import harmless

        said = harmless(summary.partition("\n")[0])
        said = said if len(said) <= _MOST_LETTERS else f"{said[:_MOST_LETTERS]}…"
        text = self.tr(
            "Something inside OpenLoop failed ({0}). The window goes on, and so does a run. Save your work, "
            "and start OpenLoop again when something does not work any more."
        ).format(said)
        actions = [NoticeAction(self.tr("Copy details"), self._copy, stays=True)]
        if self.file.exists():
            actions.append(NoticeAction(self.tr("Open details"), self._open, stays=True))
        self._notices.tell(NOTICE, Notice(text, Tone.ERROR, actions=tuple(actions)))

    def _copy(self) -> None:
        with self._busy:
            QGuiApplication.clipboard().setText("\n".join(self._details))

    def _open(self) -> None:
        from app.editor import FilePlace

        self.file_requested.emit(FilePlace(self.file))


def _forget_last() -> None:
    """Let go of the failure that Python keeps for a debugger.

    Its traceback holds the locals of all that was called at the time. A widget among them would live until
    the next failure, and then die wherever that comes: in the midst of painting, or on a worker.
    """
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            setattr(sys, name, None)


def _innermost(trace: TracebackType | None) -> tuple[str, int]:
    """File and line of what raised."""
    if trace is None:
        return "", 0
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename, trace.tb_lineno
