"""What the state tab has done by workers: making earlier states again, comparing, writing JSON, searching.

One worker, one thing at a time; of several wishes the last one counts.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import orjson
from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

from core.durable_files import replace_file
from core.json_types import JsonValue
from core.state import WorkflowState
from core.state_history import StateHistory, StateLook, StateUnknown
from core.state_search import StateSearch
from core.words import say

RAW_SHOWN = 512 * 1024
"""Bytes of JSON that are shown as text; a copy has all of it."""


Matter: TypeAlias = WorkflowState | JsonValue
"""What can be taken elsewhere: a state, or a value of one."""


@dataclass(frozen=True, slots=True)
class _Saved:
    path: Path


@dataclass(frozen=True, slots=True)
class RawJson:
    """A state as JSON: its beginning as `text`, cut between two lines where it has more than `RAW_SHOWN`."""

    state: WorkflowState
    text: str
    size: int
    """Bytes of all of it."""
    cut: bool


_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Characters that turn or hide what stands beside them; as escapes the JSON means the same."""


def raw_json(state: WorkflowState) -> RawJson:
    """The JSON of a state, as agents get it."""
    data = state.to_json()
    end = len(data)
    if end > RAW_SHOWN:
        end = data.rfind(b"\n", 0, RAW_SHOWN)
        end = end if end > 0 else RAW_SHOWN
    shown = data[:end].decode("utf-8", "ignore")
    text = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)
    return RawJson(state, text, len(data), cut=end < len(data))


class _Job(QRunnable):
    """Does one thing and tells the result through a signal of an object that outlives it."""

    def __init__(self, number: int, work: Callable[[], object], done: SignalInstance) -> None:
        super().__init__()
        self._number = number
        self._work = work
        self._done = done

    def run(self) -> None:
        result: object
        try:
            result = self._work()
        except (StateUnknown, OSError, TypeError, ValueError) as error:
            # Told to who asked, who says it to the user.
            result = error
        with contextlib.suppress(RuntimeError):  # the window was closed meanwhile: nobody asks any more
            self._done.emit(self._number, result)


class StateWork(QObject):
    """Signals: `looked(StateLook)`; `unknown(str)`: why a state cannot be had, in a sentence;
    `written(RawJson)`; `copied(str)`: text for the clipboard; `not_copied(str)`: why not; `saved(Path)`: all
    is in this file; `not_saved(str)`: why not; `searched(StateSearch)`: it is done.
    """

    looked = Signal(object)
    unknown = Signal(str)
    written = Signal(object)
    copied = Signal(str)
    not_copied = Signal(str)
    saved = Signal(object)
    not_saved = Signal(str)
    searched = Signal(object)
    _done = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._done.connect(self._take)
        self._number = 0
        self._wishes: dict[str, Callable[[], object]] = {}
        """What is to be done next, of each kind."""
        self._at_work: tuple[int, str] | None = None
        self._stale: set[str] = set()
        """Kinds whose result nobody wants any more."""
        self._stop_search = threading.Event()
        application = QCoreApplication.instance()
        if application is not None:
            # The end of the application waits for what is at work.
            application.aboutToQuit.connect(self.forget)

    def look(self, history: StateHistory, number: int) -> None:
        """Have the state at a point; `looked` or `unknown` tells."""
        self._wish("look", lambda: history.look(number))

    def look_no_more(self) -> None:
        """What `look` was asked for is not wanted any more: neither the state nor why it cannot be had."""
        self._wishes.pop("look", None)
        if self._at_work is not None and self._at_work[1] == "look":
            self._stale.add("look")

    def write(self, state: WorkflowState) -> None:
        """Have a state as JSON to show; `written` tells."""
        self._wish("write", lambda: raw_json(state))

    def copy(self, matter: Matter) -> None:
        """Have all of it as text; `copied` tells."""
        self._wish("copy", lambda: _bytes(matter).decode("utf-8"))

    def save(self, matter: Matter, path: Path, *, older: float = 0.0) -> None:
        """Write all of it to a file; `saved` tells. `older` seconds: the file's folder is made where there is
        none, and what was written there longer ago goes; 0: neither."""

        def work() -> _Saved:
            if older:
                path.parent.mkdir(parents=True, exist_ok=True)
                _remove_older(path.parent, older)
            replace_file(path, _bytes(matter))
            return _Saved(path)

        self._wish("save", work)

    def search(self, search: StateSearch) -> None:
        """Carry out a search instead of the last one; `searched` tells when it is done."""
        self.stop_search()
        stopping = self._stop_search = threading.Event()

        def work() -> StateSearch:
            search.run(stopping)
            return search

        self._wish("search", work)

    def stop_search(self) -> None:
        """The last search is not wanted any more."""
        self._wishes.pop("search", None)
        self._stop_search.set()

    @Slot()
    def forget(self) -> None:
        """Another run: whatever was wanted of the last one is not wanted any more."""
        self.stop_search()
        self._wishes.clear()
        if self._at_work is not None:
            self._stale.add(self._at_work[1])

    @property
    def busy(self) -> bool:
        """Whether something is being done or waits to be."""
        return self._at_work is not None or bool(self._wishes)

    def _wish(self, kind: str, work: Callable[[], object]) -> None:
        self._wishes[kind] = work
        self._start()

    def _start(self) -> None:
        if self._at_work is not None or not self._wishes:
            return
        kind = next(iter(self._wishes))
        work = self._wishes.pop(kind)
        self._number += 1
        self._at_work = (self._number, kind)
        self._pool.start(_Job(self._number, work, self._done))

    @Slot(int, object)
    def _take(self, number: int, result: object) -> None:
        assert self._at_work is not None  # only who works can be done
        kind = self._at_work[1]
        self._at_work = None
        wanted = kind not in self._wishes and kind not in self._stale
        self._stale.discard(kind)
        self._start()
        if wanted:
            self._tell(kind, result)

    def _tell(self, kind: str, result: object) -> None:
        if isinstance(result, StateLook):
            self.looked.emit(result)
        elif isinstance(result, RawJson):
            self.written.emit(result)
        elif isinstance(result, StateSearch):
            self.searched.emit(result)
        elif isinstance(result, str):
            self.copied.emit(result)
        elif isinstance(result, _Saved):
            self.saved.emit(result.path)
        elif kind == "save":
            self.not_saved.emit(_sentence(result))
        elif kind == "look":
            self.unknown.emit(_sentence(result))
        elif kind == "copy":
            self.not_copied.emit(_sentence(result))

    def close(self) -> None:
        """Wait until nothing is done any more."""
        self.forget()
        self._pool.waitForDone()


def value_json(value: JsonValue) -> str:
    """A value as indented JSON. Raises TypeError for one that has none, such as a number beyond 64 bits."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode("utf-8")


def _bytes(matter: Matter) -> bytes:
    """A text as it is, all else as JSON. Raises TypeError where there is none."""
    if isinstance(matter, WorkflowState):
        return matter.to_json()
    return matter.encode("utf-8", "replace") if isinstance(matter, str) else value_json(matter).encode()


def _remove_older(folder: Path, seconds: float) -> None:
    now = time.time()
    for path in folder.iterdir():
        if path.is_file() and now - path.stat().st_mtime > seconds:
            path.unlink()


def _sentence(error: object) -> str:
    if isinstance(error, StateUnknown):
        return str(error)
    if isinstance(error, OSError):
        why = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
        return say("The file cannot be read or written: {error}.", error=why)
    return say("The state cannot be written as JSON ({error}).", error=error)
