"""One run: phases, groups, the loop. A coroutine that blocks nothing: turns run where the executor says.

The engine decides what is started, merged and ended, and when. `core.group_modes` runs a group,
`core.turn_loop` and `core.turn` make a turn, `core.run_record` owns what has to be closed.
Rules: docs/file-format.md and docs/architecture.md.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from core.answer import Answer
from core.backends.base import Backend, TurnOrder
from core.condition import compile_condition
from core.events import (
    Event,
    IterationStarted,
    PhaseStarted,
    RunFinished,
    RunStatus,
    StateChanged,
    StopKind,
    StopRequested,
    UsageReported,
)
from core.executor import Executor
from core.group_modes import MODES
from core.init_script import InitScript
from core.journal import JournalError
from core.open_runs import RunIsHeld
from core.plan import PlannedGroup, RunPlan
from core.problems import Problem, Severity
from core.progress_words import loops_field
from core.recorded_run import RecordedRun
from core.run_context import RunContext, RunEnds
from core.run_files import INIT_NAME
from core.run_record import RunRecord
from core.runner import StartError, SupervisorLost
from core.state import WorkflowState, first_state, loop_ended
from core.turn_outcome import StopCause
from core.words import say, say_number

__all__ = ["Answer", "Engine", "RunRefused"]


class RunRefused(Exception):  # noqa: N818 - nothing went wrong: the run was not begun
    """The run was not started; `problems` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(problem.text() for problem in problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class _Ending:
    status: RunStatus
    reason: str
    message: str


class Engine:
    """One run of a plan. Use it once, from one event loop.

    `on_events` gets batches of events in the loop's thread. `recorded`: the run to go on with; None: a new
    one. `read_pause` and `nice`: see TurnServices.
    """

    def __init__(
        self,
        plan: RunPlan,
        executor: Executor,
        backend_of: Callable[[str], Backend],
        on_events: Callable[[Sequence[Event]], None],
        *,
        recorded: RecordedRun | None = None,
        read_pause: float = 0.0,
        nice: int = 0,
    ) -> None:
        self.plan = plan
        self._recorded = recorded
        self._executor = executor
        self._backend_of = backend_of
        self._on_events = on_events
        self._read_pause = read_pause
        self._nice = nice
        self._context: RunContext | None = None
        self._stop_wish: StopKind | None = None
        self._decided = False
        self._init: InitScript | None = None
        self._watcher_error: Exception | None = None

    @property
    def state(self) -> WorkflowState:
        """The state after the last merge."""
        return self._context.state if self._context is not None else WorkflowState()

    @property
    def folder(self) -> Path | None:
        """The run folder; None before the run began."""
        return self._context.record.folder if self._context is not None else None

    # --- from outside ----------------------------------------------------------------------------------

    def stop(self, kind: StopKind) -> None:
        """Ask the run to end. A stronger wish is heard later too; a weaker one is not.

        May be called at any time, also before the run began or after it ended.
        """
        if self._decided or self._stop_wish is StopKind.NOW or self._stop_wish is kind:
            return
        self._stop_wish = kind
        if self._context is not None:
            self._hear_stop(self._context)

    def stop_turn(self, turn: str) -> None:
        """End one turn; it counts as failed, and the group's policy decides what follows."""
        live = self._context.live.get(turn) if self._context is not None else None
        if live is not None:
            live.stop(StopCause.TURN)

    def retry_turn(self, turn: str) -> None:
        """Try one turn again: one that is at work is ended first, one that waits for its next attempt does
        not wait any longer, and one that failed is made again while its group still waits for others."""
        context = self._context
        if context is None or self._decided or not context.may_begin():
            return
        live = context.live.get(turn)
        again = context.again.pop(turn, None)
        if live is not None:
            if not live.ends:
                live.retry()
        elif again is not None:
            again()

    def can_retry(self, turn: str) -> bool:
        """Whether `retry_turn` would do something for this turn."""
        context = self._context
        if context is None or self._decided or context.stop is not None or context.ends is not None:
            return False
        live = context.live.get(turn)
        return not live.ends if live is not None else turn in context.again

    def proceed(self) -> None:
        """Go on with a run that paused itself."""
        if self._context is not None:
            self._context.proceed()

    def answer(self, turn: str, answer: Answer) -> None:
        """Answer a QuestionAsked; later answers to the same question are not heard."""
        live = self._context.live.get(turn) if self._context is not None else None
        if live is not None:
            live.reply(answer)

    def _hear_stop(self, context: RunContext) -> None:
        assert self._stop_wish is not None  # called with a wish only
        context.stop = self._stop_wish
        if self._stop_wish is StopKind.NOW:
            context.stop_live(StopCause.RUN)
            if self._init is not None:
                self._init.control.stop(StopCause.RUN)
        else:
            context.let_go()
        # A disk that refuses must not keep a stop from being heard; the run meets it by itself.
        with contextlib.suppress(JournalError):
            context.publish(StopRequested(time=time.time(), kind=self._stop_wish))

    # --- the run ---------------------------------------------------------------------------------------

    async def run(self) -> RunFinished:
        """Run the plan to its end. Raises RunRefused when it cannot begin, and nothing afterwards.

        But for what `on_events` raised: then the run is ended at once, and the error raised when it is over.
        """
        condition = compile_condition(self.plan.end_state_condition)
        problems = await self._executor.call(self._check_backends)
        if any(problem.severity is Severity.ERROR for problem in problems):
            raise RunRefused(problems)
        try:
            record = await self._executor.call(
                partial(
                    RunRecord.open, self.plan, self._recorded, read_pause=self._read_pause, nice=self._nice
                )
            )
        except RunIsHeld as error:
            raise RunRefused([Problem(str(error))]) from error
        except OSError as error:
            problem = _no_folder_problem(self.plan.log_dir, error)
            if self._recorded is not None:
                problem = Problem(
                    say(
                        "The run folder cannot be written ({error}): {folder}.",
                        error=error.strerror,
                        folder=error.filename or self._recorded.folder,
                    ),
                    suggestion=say("Make room there, or make it writable, then resume the run."),
                )
            raise RunRefused([problem]) from error
        except StartError as error:
            raise RunRefused([Problem(str(error))]) from error
        record.watch(self._deliver)
        context = self._context = RunContext(
            plan=self.plan,
            executor=self._executor,
            record=record,
            backend_of=self._backend_of,
            condition=condition,
            state=self._first_state(record.run_id),
            spending=record.spending,
            recorded=self._recorded,
        )
        earlier = self._recorded
        if earlier is not None:
            context.turn_number = earlier.last_number
        begun = time.time()
        ending = await self._to_the_end(context, problems)
        self._decided = True
        context.stop_live(StopCause.RUN)
        record.deliver()
        finished = RunFinished(
            time=time.time(),
            status=ending.status,
            termination_reason=ending.reason,
            message=ending.message,
            iterations=context.state.iteration,
            seconds=time.time() - begun + (earlier.active_seconds if earlier is not None else 0.0),
            usage=context.spending.run,
        )
        final = replace(context.state, termination_reason=ending.reason)
        await self._executor.call(partial(record.finish, finished, final))
        record.deliver()
        if self._watcher_error is not None:
            raise self._watcher_error
        return finished

    async def _to_the_end(self, context: RunContext, warnings: Sequence[Problem]) -> _Ending:
        try:
            if self._recorded is not None:
                context.record.close_cut_off(self._recorded)
            context.publish(context.record.started_event(resumed=self._recorded is not None))
            for warning in warnings:
                context.warn(warning.text())
            context.publish(StateChanged(time=time.time(), state=context.state))
            if self._stop_wish is not None:
                self._hear_stop(context)
            await self._prepare_folder(context)
            context.replaying = self._recorded is not None
            return await self._phases(context)
        except RunEnds as end:
            return _Ending(end.status, end.reason, end.message)
        except (JournalError, SupervisorLost) as error:
            return _Ending(RunStatus.FAILED, "agent_error:OpenLoop", str(error))
        except OSError as error:
            context.record.write_failure(error)
            # A file that was open already has no name in the error.
            where = error.filename or context.record.folder
            return _Ending(
                RunStatus.FAILED,
                "agent_error:OpenLoop",
                say(
                    "A file of the run could not be read or written ({error}: {where}). Check the log "
                    "folder and the room on the disk, then resume the run.",
                    error=error.strerror or error,
                    where=where,
                ),
            )
        except Exception as error:  # noqa: BLE001 - the last place that can end everything and say so
            kept = context.record.write_failure(error)
            words = say("OpenLoop itself failed; nothing of the run is alive, and what was finished is kept.")
            if kept:
                words += " " + say("The details are in {file}.", file=kept)
            return _Ending(
                RunStatus.FAILED,
                "agent_error:OpenLoop",
                words,
            )

    async def _prepare_folder(self, context: RunContext) -> None:
        """Run the `init_script`, once in all lives of the run. Raises RunEnds when it fails."""
        command = self.plan.init_script
        if command is None or (self._recorded is not None and self._recorded.init_done):
            return
        context.end_if_stopped()
        folder = context.record.folder / INIT_NAME
        self._init = InitScript(command, folder, self.plan.init_timeout, context.record.services)
        try:
            problem = await self._executor.call(self._init.run)
        finally:
            self._init = None
        context.end_if_stopped()
        if problem:
            raise RunEnds(RunStatus.FAILED, "agent_error:init_script", problem)

    async def _phases(self, context: RunContext) -> _Ending:
        await self._once(context, "preparation")
        completed = await self._loop(context)
        context.state = loop_ended(context.state, completed=completed)
        if completed or self.plan.finalize_on_abort:
            await self._once(context, "finalization")
        if completed:
            return _Ending(RunStatus.COMPLETED, "completed", self._completed_words(context))
        return _Ending(
            RunStatus.ENDED,
            "max_loops_reached",
            say_number(
                self.plan.max_loops,
                "The loop ran once, which is all it may, and its end condition does not hold yet. Raise "
                "{field}, or look at the state.",
                "The loop ran {count:,} times, which is all it may, and its end condition does not hold "
                "yet. Raise {field}, or look at the state.",
                field=loops_field(),
            ),
        )

    async def _once(self, context: RunContext, phase: str) -> None:
        assert phase in ("preparation", "finalization")
        groups = self.plan.preparation if phase == "preparation" else self.plan.finalization
        if not groups:
            return
        iteration = 0 if phase == "preparation" else context.state.iteration
        context.enter("preparation" if phase == "preparation" else "finalization", iteration)
        context.publish(PhaseStarted(time=time.time(), phase=context.state.current_phase))
        for group in groups:
            await self._group(context, group, iteration)

    async def _loop(self, context: RunContext) -> bool:
        """Whether the end condition came to hold; a workflow without a loop has nothing left to wait for."""
        if not self.plan.loop:
            return True
        context.publish(PhaseStarted(time=time.time(), phase="loop"))
        for iteration in range(1, self.plan.max_loops + 1):
            context.end_if_stopped()
            context.enter("loop", iteration)
            context.publish(IterationStarted(time=time.time(), iteration=iteration))
            for group in self.plan.loop:
                if await self._group(context, group, iteration):
                    return True
        return False

    async def _group(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool:
        """Run a group, or go through what an earlier life of the run made of it."""
        context.end_if_stopped()
        if context.replaying:
            done = await MODES[group.mode].replay(context, group, iteration)
            if done is not None:
                return done
            context.go_live(group.phase, iteration)
        return await MODES[group.mode].run(context, group, iteration)

    def _completed_words(self, context: RunContext) -> str:
        iterations = context.state.iteration
        if not self.plan.loop:
            return say("All agents are done.")
        if self.plan.finalization:
            return say_number(
                iterations,
                "The loop reached its end condition in the first iteration, and the finalization is done.",
                "The loop reached its end condition after {count} iterations, and the finalization is done.",
            )
        return say_number(
            iterations,
            "The loop reached its end condition in the first iteration.",
            "The loop reached its end condition after {count} iterations.",
        )

    # --- small things ----------------------------------------------------------------------------------

    def _first_state(self, run_id: str) -> WorkflowState:
        plan = self.plan
        return first_state(
            run_id, plan.workflow_name, plan.max_loops, plan.end_state_condition, plan.initial_payload
        )

    def _deliver(self, events: Sequence[Event]) -> None:
        context = self._context
        if context is not None and any(isinstance(event, UsageReported) for event in events):
            self._mind_budget(context)
        if self._watcher_error is not None:
            return
        try:
            self._on_events(events)
        except Exception as error:  # noqa: BLE001 - raised again as soon as nothing of the run is alive
            self._watcher_error = error
            self.stop(StopKind.NOW)

    def _mind_budget(self, context: RunContext) -> None:
        # A disk that refuses the warning is met by the run itself; the costs are counted all the same.
        with contextlib.suppress(JournalError):
            context.mind_budget()

    def _check_backends(self) -> list[Problem]:
        """Ask every backend about its turns: is the CLI there, are agents and models known."""
        orders: dict[str, list[TurnOrder]] = {}
        for turn in self.plan.turns:
            orders.setdefault(turn.backend, []).append(
                TurnOrder(
                    agent=turn.agent,
                    title=turn.label,
                    workdir=self.plan.workdir,
                    turn_folder=self.plan.log_dir,
                    model=turn.model,
                    defaults=self.plan.opencode_defaults,
                )
            )
        return [problem for name, of_it in orders.items() for problem in self._backend_of(name).check(of_it)]


def _no_folder_problem(log_dir: Path, error: OSError) -> Problem:
    return Problem(
        say(
            "The log folder cannot be written ({error}): {folder}.",
            error=error.strerror,
            folder=log_dir,
        ),
        "log_dir",
        say("Choose another log_dir or working folder, or make room on the disk."),
    )
