"""The small process that owns a run's subprocesses and outlives no one.

OpenLoop (`core.runner`) starts it and holds the only other end of its standard input. It starts agents when
told to, sweeps every descendant of a turn before it says that the turn has ended, and when the pipe closes,
because OpenLoop closed it or died, it ends everything at once and goes.

Standard library only, and little of it: it must start in milliseconds.
"""

from __future__ import annotations

import os
import time

from core.process_tree import MARK, Ending, ProcessEntry, SpawnError, SpawnOrder, own_tree
from core.supervisor_messages import Unpacker, pack

TYPE_CHECKING = False  # `typing` costs milliseconds at every start
if TYPE_CHECKING:
    from core.supervisor_messages import Command, Reply, StartCommand

SWEEP_GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL for what an agent left behind at a normal end."""
_PATIENCE = 10.0
"""Seconds of SIGKILL after which a process is given up: one stuck in the kernel, or of another user."""
_LAST_PATIENCE = 5.0
_LOOK_EVERY = 1.0
"""Seconds between looks at the trees while several turns run, to know later whose an orphan was."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.05
_STRAY_PASSES = 200  # about _PATIENCE


class OpenLoopGoneError(Exception):
    """Nobody reads our replies any more."""


class _Turn:
    """One leader and what is known of its descendants."""

    __slots__ = (
        "asked",
        "brand",
        "deadline",
        "due",
        "ending",
        "exited",
        "files",
        "killed_by_us",
        "leader",
        "left_behind",
        "mark",
        "number",
        "passes",
        "seconds",
        "seen",
        "sessions",
        "since",
    )

    def __init__(self, number: int, leader: ProcessEntry, mark: bytes, order: SpawnOrder) -> None:
        self.number = number
        self.leader = leader
        self.mark = mark
        self.files = order.outputs
        self.brand = order.brand
        self.since = time.monotonic()
        self.seconds = 0.0
        self.exited = False
        self.killed_by_us = False
        self.left_behind: set[tuple[int, float]] = set()
        self.seen: set[tuple[int, float]] = set()
        self.sessions = {leader.pid}
        # While it is being ended:
        self.ending = False
        self.deadline = 0.0
        self.due = 0.0
        self.asked: set[tuple[int, float]] = set()
        self.passes = 0

    def remember(self, entries: list[ProcessEntry]) -> None:
        """These are of this turn, wherever they turn up later."""
        for entry in entries:
            self.seen.add(entry.key)
            self.sessions.add(entry.session)

    def owns(self, orphan: ProcessEntry) -> bool:
        """Whether it was seen below the leader, or in a session or group that began there."""
        return orphan.session in self.sessions or orphan.group == self.leader.pid or orphan.key in self.seen


class Supervision:
    """All turns of one OpenLoop: starts them, ends them, and answers. One thread, asleep only in `wait`."""

    def __init__(self, replies: int) -> None:
        self._tree, self._wakeups = own_tree()
        self._replies = replies
        self._muted = False
        """Set when agents are ended that nobody ordered to end: OpenLoop must hear of a loss, not of ends."""
        self._turns: dict[int, _Turn] = {}
        self._by_pid: dict[int, _Turn] = {}
        self._owners: dict[int, tuple[float, int]] = {}
        self._stops: list[tuple[int, set[int]]] = []
        self._given_up: set[tuple[int, float]] = set()
        self._strays_passes = 0
        self._strays_due = 0.0
        self._look_due = 0.0
        self._unpacker = Unpacker()
        self._outgoing: list[bytes] = []

    def serve(self) -> None:
        """Obey until OpenLoop is gone. Whatever happens, nothing is left alive behind this call."""
        try:
            while True:
                data = self._wakeups.wait(self._pause())
                self._notice_exits()
                if data is None:
                    if self._wakeups.guard_died:
                        self._muted = True
                    return
                commands: list[Command] = self._unpacker.feed(data)
                for command in commands:
                    self._obey(command)
                self._advance_all()
                self._answer_stops()
                self._flush()
        except OpenLoopGoneError:
            return
        except BaseException:
            self._muted = True
            raise
        finally:
            try:
                self.end_everything()
            finally:
                self._tree.end_all(_LAST_PATIENCE)
                self._wakeups.leave()

    # --- orders ---------------------------------------------------------------------------------------

    def _obey(self, command: Command) -> None:
        if command[0] == "start":
            self._start(command)
        elif command[0] == "stop":
            turn = self._turns.get(command[1])
            if turn is not None:
                self._begin_ending(turn, command[2])
        else:
            for turn in self._turns.values():
                self._begin_ending(turn, command[2])
            self._stops.append((command[1], set(self._turns)))

    def _start(self, command: StartCommand) -> None:
        _, number, program, argv, cwd, env, streams, mark, nice = command
        order = SpawnOrder(program, argv, cwd, env, streams, nice)
        try:
            leader = self._tree.spawn(order)
        except SpawnError as error:
            self._say(("start_failed", number, error.stage, error.code, error.path))
        else:
            turn = _Turn(number, leader, os.fsencode(mark), order)
            self._turns[number] = self._by_pid[leader.pid] = turn
            self._say(("started", number, leader.pid, self._tree.epoch(leader)))
        self._flush()

    def _begin_ending(self, turn: _Turn, grace: float) -> None:
        now = time.monotonic()
        deadline = now + max(0.0, grace)
        turn.deadline = min(turn.deadline, deadline) if turn.ending else deadline
        turn.ending = True
        turn.due = now

    # --- deaths ---------------------------------------------------------------------------------------

    def _notice_exits(self) -> None:
        for pid in self._tree.exited():
            turn = self._by_pid.get(pid)
            if turn is None:
                self._hasten(pid)
                continue
            turn.exited = True
            turn.seconds = time.monotonic() - turn.since
            # Usually nothing is left of it: then it is reaped here, before the next death is asked for.
            self._advance(turn, self._orphans_by_turn())
        self._flush()

    def _hasten(self, orphan: int) -> None:
        """An orphan died: a turn that waited for it may be over."""
        owner = self._owners.get(orphan)
        for turn in self._turns.values():
            if turn.ending and (owner is None or owner[1] == turn.number):
                turn.due = 0.0

    def _orphans_by_turn(self) -> dict[int, list[ProcessEntry]]:
        """The orphans, by the number of the turn they belong to; 0: nobody's, and to be ended."""
        owned: dict[int, list[ProcessEntry]] = {}
        owners: dict[int, tuple[float, int]] = {}
        for orphan in self._tree.orphans():
            if orphan.key in self._given_up:
                continue
            started, number = self._owners.get(orphan.pid, (0.0, None))
            if started != orphan.started or number not in self._turns:
                number = self._owner(orphan)
            if number is not None:
                owners[orphan.pid] = (orphan.started, number)
                owned.setdefault(number, []).append(orphan)
            elif self._tree.adopts and not any(
                not turn.ending and not turn.exited and turn.leader.started <= orphan.started
                for turn in self._turns.values()
            ):
                # It hides its descent, but no turn that goes on can have started it.
                owned.setdefault(self._any_ending(), []).append(orphan)
        self._owners = owners
        return owned

    def _any_ending(self) -> int:
        return next((turn.number for turn in self._turns.values() if turn.ending or turn.exited), 0)

    def _owner(self, orphan: ProcessEntry) -> int | None:
        for turn in self._turns.values():
            if turn.owns(orphan):
                return turn.number
        mark = b""
        for variable in self._tree.environment(orphan.pid).split(b"\0"):
            if variable.startswith(_MARK_PREFIX):
                mark = variable[len(_MARK_PREFIX) :]
                break
        for turn in self._turns.values():
            if turn.mark == mark:
                return turn.number
        brand = self._tree.brand(orphan.pid)
        for turn in self._turns.values():
            if brand is not None and turn.brand == brand:
                return turn.number
        outputs = self._tree.outputs(orphan.pid)
        for turn in self._turns.values():
            if turn.files & outputs:
                return turn.number
        return None

    def _look_around(self, now: float) -> None:
        """Remember who belongs to whom while the parents still live; only several turns need it."""
        self._look_due = now + _LOOK_EVERY
        orphans = self._orphans_by_turn()
        for turn in self._turns.values():
            if not turn.ending:
                turn.seen.clear()
                turn.sessions = {turn.leader.pid}
                turn.remember(self._tree.subtree(turn.leader.pid))
                for orphan in orphans.get(turn.number, ()):
                    turn.remember(self._tree.subtree(orphan.pid))

    # --- ending ---------------------------------------------------------------------------------------

    def _advance_all(self) -> None:
        now = time.monotonic()
        due = [turn for turn in self._turns.values() if turn.ending and turn.due <= now]
        if due:
            owned = self._orphans_by_turn()
            for turn in due:
                self._advance(turn, owned)
        if len(self._turns) > 1 and self._look_due <= now:
            self._look_around(now)
        if not self._turns and self._strays_due <= now:
            self._end_strays(now)

    def _advance(self, turn: _Turn, owned: dict[int, list[ProcessEntry]]) -> None:
        """One step towards the end of a turn: ask, kill, or find that nothing is left and say so."""
        orphans = owned.get(turn.number, ())
        found = self._tree.subtree(turn.leader.pid)
        for orphan in orphans:
            found += self._tree.subtree(orphan.pid)
        found = [entry for entry in found if entry.key not in self._given_up]
        if not found:
            if turn.exited and not orphans:
                self._finish(turn, ())
            elif turn.exited:  # they died this instant, and may have forked before
                self._begin_ending(turn, SWEEP_GRACE)
            else:  # its death is about to be noticed
                turn.due = time.monotonic() + _LONGEST_PAUSE
            return
        if turn.exited:
            turn.left_behind.update(entry.key for entry in found)
        elif not turn.ending:
            return
        now = time.monotonic()
        if not turn.ending:
            self._begin_ending(turn, SWEEP_GRACE)
        news = any(entry.key not in turn.seen for entry in found)
        turn.remember(found)
        turn.killed_by_us = turn.killed_by_us or any(entry.pid == turn.leader.pid for entry in found)
        if now < turn.deadline:
            for entry in found:
                if entry.key not in turn.asked:
                    turn.asked.add(entry.key)
                    self._tree.terminate(entry)
            turn.due = turn.deadline
            return
        refused = self._tree.kill(found)
        if len(refused) == len(found) or now > turn.deadline + _PATIENCE:
            self._given_up.update(entry.key for entry in found)
            self._finish(turn, tuple(entry.pid for entry in found))
            return
        # Whoever forks faster than we look is only caught by looking again at once.
        turn.passes = 0 if news else turn.passes + 1
        turn.due = now + _pause_after(turn.passes)

    def _finish(self, turn: _Turn, survivors: tuple[int, ...]) -> None:
        del self._turns[turn.number], self._by_pid[turn.leader.pid]
        if turn.exited:
            ending = self._tree.reap(turn.leader.pid)
        else:
            self._tree.abandon(turn.leader.pid)
            ending = Ending(None, None)
            turn.seconds = time.monotonic() - turn.since
        self._say(
            (
                "exited",
                turn.number,
                ending.exit_code,
                ending.signal,
                len(turn.left_behind),
                turn.killed_by_us,
                turn.seconds,
                ending.peak_rss,
                survivors,
            )
        )
        for other in self._turns.values():
            if other.ending:
                other.due = 0.0  # it may inherit an orphan that this one could have owned
        self._strays_due = 0.0

    def _end_strays(self, now: float) -> None:
        """With no turn left, whoever is still there is nobody's."""
        orphans = self._tree.orphans() if self._tree.adopts else []
        orphans = [orphan for orphan in orphans if orphan.key not in self._given_up]
        if not orphans:
            self._strays_passes = 0
            self._strays_due = float("inf")
            return
        strays = [entry for orphan in orphans for entry in self._tree.subtree(orphan.pid)]
        refused = self._tree.kill(strays)
        if (refused and len(refused) == len(strays)) or self._strays_passes > _STRAY_PASSES:
            self._given_up.update(entry.key for entry in strays)
        self._strays_due = now + _pause_after(self._strays_passes)
        self._strays_passes += 1

    def _answer_stops(self) -> None:
        for stop in self._stops[:]:
            request, numbers = stop
            if not numbers & self._turns.keys() and (self._turns or self._strays_due == float("inf")):
                self._stops.remove(stop)
                self._say(("all_stopped", request))

    def end_everything(self) -> None:
        """SIGKILL to all descendants until there are none. Safe to call twice."""
        for turn in self._turns.values():
            self._begin_ending(turn, 0.0)
        until = time.monotonic() + _LAST_PATIENCE
        while time.monotonic() < until:
            try:
                self._notice_exits()
                self._advance_all()
                self._flush()
            except OpenLoopGoneError:
                self._muted = True
            if not self._turns and self._strays_due == float("inf"):
                return
            time.sleep(_SHORTEST_PAUSE)

    # --- talking --------------------------------------------------------------------------------------

    def _pause(self) -> float | None:
        now = time.monotonic()
        times = [turn.due for turn in self._turns.values() if turn.ending]
        if len(self._turns) > 1:
            times.append(self._look_due)
        if not self._turns and self._strays_due != float("inf"):
            times.append(self._strays_due)
        return max(0.0, min(times) - now) if times else None

    def _say(self, reply: Reply) -> None:
        self._outgoing.append(pack(reply))

    def _flush(self) -> None:
        if not self._outgoing:
            return
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        if self._muted:
            return
        try:
            while data:
                data = data[os.write(self._replies, data) :]
        except OSError as error:
            raise OpenLoopGoneError from error


_MARK_PREFIX = MARK.encode() + b"="


def _pause_after(passes: int) -> float:
    return min(_SHORTEST_PAUSE * (2.0 ** min(passes, 10) - 1.0), _LONGEST_PAUSE)


def main() -> None:
    """Run as the supervisor: orders on standard input, replies on standard output."""
    try:
        Supervision(replies=1).serve()
    except Exception:
        import traceback

        words = pack(("broken", traceback.format_exc()))
        try:
            os.write(1, words)
        except OSError:  # nobody is there to read it
            return
        raise
