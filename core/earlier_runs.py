"""What earlier runs tell of agents: which paths they wrote, whom they met there, which files they edited.

It is bounded: the newest runs, the beginning of each journal, and of what an agent wrote the outer levels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Annotated, TypeAlias

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from core.events import GroupStarted, Merged, TurnFinished, TurnStatus
from core.journal import JOURNAL_NAME
from core.json_types import JsonObject, JsonValue
from core.json_values import same_json
from core.known_payload import KnownPayload, Pair, PathUse, ValueKind, pair_of
from core.recorded_run import run_folders
from core.state_path import format_path

MOST_RUNS = 20
"""The newest runs of a log folder that are looked at."""
MOST_BYTES = 4 * 1024 * 1024
"""Of one journal."""
LONGEST_LINE = 1024 * 1024
"""Bytes; an update that is larger is passed over."""
MOST_PATHS = 200
"""Of one agent in one run."""
MOST_KEYS = 50
"""Of one object; one with more is a table whose keys are data."""
DEEPEST = 6
"""Keys of a path below `payload`."""
LONGEST_KEY = 100
"""Characters."""
_SHOWN = 60
"""Characters of an example."""
_MOST_WRITERS = 12
"""Of one path in one group whose values are compared, each with each."""


class EarlierRuns:
    """Reads the runs of log folders, each journal again only when it has changed.

    Blocking (some milliseconds for each new run), so for a worker; one call at a time.
    """

    def __init__(self, most_runs: int = MOST_RUNS) -> None:
        self._most = most_runs
        self._read: dict[Path, tuple[tuple[int, int], _Run]] = {}

    def read(self, log_dir: Path) -> KnownPayload:
        """What the newest runs tell; whatever cannot be read tells nothing. Never raises OSError."""
        kept: dict[Path, tuple[tuple[int, int], _Run]] = {}
        for folder in run_folders(log_dir)[: self._most]:
            path = folder / JOURNAL_NAME
            try:
                stat = path.stat()
                stamp = (stat.st_mtime_ns, stat.st_size)
                known = self._read.get(path)
                kept[path] = known if known is not None and known[0] == stamp else (stamp, _read_run(path))
            except OSError:
                # Gone since it was listed, or not ours to read.
                continue
        self._read = kept
        return _together([run for _, run in kept.values()])


# --- one run -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Use:
    kinds: set[ValueKind]
    example: str


@dataclass(slots=True)
class _Run:
    """What one journal tells."""

    wrote: dict[str, dict[str, _Use]] = field(default_factory=dict)
    edited: dict[str, dict[str, None]] = field(default_factory=dict)
    worked: set[str] = field(default_factory=set)
    met: dict[tuple[str, Pair], bool] = field(default_factory=dict)
    said: dict[str, set[bool]] = field(default_factory=dict)
    """By agent: what it said about completion."""


_Told: TypeAlias = GroupStarted | TurnFinished | Merged
_WANTED = tuple(f'{{"type":"{kind}"'.encode() for kind in ("group_started", "turn_finished", "merged"))
_adapter: TypeAdapter[_Told] | None = None


def _read_run(path: Path) -> _Run:
    run = _Run()
    agents: dict[str, str] = {}
    in_parallel: dict[str, dict[str, JsonObject]] = {}
    """By group at one time: the payloads of its turns."""
    for event in _events(path):
        match event:
            case GroupStarted():
                agents.update((ref.turn, ref.agent) for ref in event.turns)
                if event.mode == "parallel":
                    in_parallel.setdefault(_group_key(event), {})
            case TurnFinished():
                agent = agents.get(event.turn)
                if agent is None:
                    continue
                run.worked.add(agent)
                run.edited.setdefault(agent, {}).update(dict.fromkeys(event.edited))
                if event.status is not TurnStatus.SUCCEEDED or event.update is None:
                    continue
                payload = event.update.payload or {}
                _note(run.wrote.setdefault(agent, {}), payload)
                if event.update.is_complete is not None:
                    run.said.setdefault(agent, set()).add(event.update.is_complete)
                group = event.turn.rpartition("/")[0]
                if group in in_parallel:
                    in_parallel[group][event.turn] = payload
            case Merged():
                answers = in_parallel.pop(_group_key(event), {})
                _compare([(agents[turn], payload) for turn, payload in answers.items()], run.met)
    return run


def _group_key(event: GroupStarted | Merged) -> str:
    """The beginning of the ids of the group's turns."""
    return f"{event.phase}/{event.iteration}/{event.group}"


def _events(path: Path) -> Iterator[_Told]:
    global _adapter  # built at the first reading: that takes longer than to read a run
    if _adapter is None:
        _adapter = TypeAdapter(Annotated[_Told, Field(discriminator="type")])
    if not path.is_file():  # a pipe would be waited for without end
        return
    left = MOST_BYTES
    with path.open("rb") as file:
        while left > 0 and (line := file.readline(min(left, LONGEST_LINE))):
            left -= len(line)
            # The journal writes the type first; what a line of another form says is not needed here.
            if not line.startswith(_WANTED):
                continue
            try:
                yield _adapter.validate_json(line)
            except ValidationError:
                # Torn, cut off, too long, or of another version: it tells nothing.
                continue


def _note(known: dict[str, _Use], payload: JsonObject) -> None:
    for path, value in _places(payload):
        use = known.get(path)
        if use is None:
            if len(known) >= MOST_PATHS:
                return
            known[path] = use = _Use(set(), "")
        use.kinds.add(_kind(value))
        if not use.example or value:
            use.example = _shown(value)


def _places(payload: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    """The paths of a payload with their values, an object before what is in it."""
    open_objects: list[tuple[tuple[str, ...], JsonObject]] = [(("payload",), payload)]
    count = 0
    while open_objects:
        keys, inside = open_objects.pop(0)
        if len(inside) > MOST_KEYS and len(keys) > 1:
            continue
        for key, value in list(inside.items())[:MOST_KEYS]:
            if len(key) > LONGEST_KEY:
                continue
            count += 1
            if count > MOST_PATHS:
                return
            path = (*keys, key)
            yield format_path(path), value
            if isinstance(value, dict) and len(path) <= DEEPEST:
                open_objects.append((path, value))


def _kind(value: JsonValue) -> ValueKind:
    match value:
        case None:
            return ValueKind.NOTHING
        case bool():
            return ValueKind.TRUTH
        case int() | float():
            return ValueKind.NUMBER
        case str():
            return ValueKind.TEXT
        case dict():
            return ValueKind.OBJECT
    plain = value and all(isinstance(item, str | int | float) for item in value[:MOST_KEYS])
    return ValueKind.TEXTS if plain else ValueKind.LIST


def _shown(value: JsonValue) -> str:
    if isinstance(value, str):
        value = value[:_SHOWN]
    elif isinstance(value, list):
        value = value[:3]
    elif isinstance(value, dict):
        return "{" + ", ".join(key[:LONGEST_KEY] for key in list(value)[:4]) + "}"
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        # A number beyond 64 bits, or deeper than can be written.
        return "…"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _compare(answers: list[tuple[str, JsonObject]], met: dict[tuple[str, Pair], bool]) -> None:
    """Note who wrote the same paths in one parallel group, and whether the values differed."""
    by_path: dict[str, list[tuple[str, JsonValue]]] = defaultdict(list)
    for agent, payload in answers:
        for path, value in _places(payload):
            if not isinstance(value, dict) and len(by_path[path]) < _MOST_WRITERS:
                by_path[path].append((agent, value))
    for path, writes in by_path.items():
        for (one, value), (other, other_value) in combinations(writes, 2):
            key = (path, pair_of(one, other))
            met[key] = met.get(key, False) or not same_json(value, other_value)


# --- all of them ---------------------------------------------------------------------------------------


def _together(runs: list[_Run]) -> KnownPayload:
    """`runs`: the newest first."""
    uses: dict[str, tuple[PathUse, ...]] = {}
    older: dict[str, dict[str, PathUse]] = defaultdict(dict)
    met: dict[tuple[str, Pair], bool] = {}
    edits: dict[str, tuple[str, ...]] = {}
    denying: set[str] = set()
    for number, run in enumerate(runs):
        for agent, wrote in run.wrote.items():
            told = tuple(_uses(agent, wrote, number))
            if agent not in uses:
                uses[agent] = told
                if run.said.get(agent) == {False}:
                    denying.add(agent)
                continue
            known = {use.path for use in uses[agent]}
            for use in told:
                if use.path not in known:
                    older[agent].setdefault(use.path, use)
        for agent in run.worked:
            edits.setdefault(agent, tuple(run.edited.get(agent, ())))
        for key, differed in run.met.items():
            # Of two runs the newer one counts: agents are corrected in between.
            met.setdefault(key, differed)
    return KnownPayload(
        uses,
        {agent: tuple(found.values())[:MOST_PATHS] for agent, found in older.items()},
        met,
        {agent: files for agent, files in edits.items() if files},
        frozenset(denying),
        len(runs),
    )


def _uses(agent: str, wrote: Mapping[str, _Use], run: int) -> Iterable[PathUse]:
    for path, use in wrote.items():
        yield PathUse(agent, path, frozenset(use.kinds), use.example, run)
