"""What a workflow would need of the machine, also when it cannot run yet: folders, CLIs, agents at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.agent import AgentLibrary
from core.backends.base import TurnOrder
from core.backends.registry import UnknownBackendError, backend
from core.config import AgentGroup, Workflow, WorkflowFile
from core.plan import RunPlan
from core.planning import DEFAULT_BACKEND, RunOverrides, plan_run
from core.preparing import given_folders, problems_in_force
from core.problems import Problem, Severity, UserFileError
from core.run_folders import library_of, log_dir_of, workdir_of
from core.settings import resolve_settings
from core.state import PHASES
from core.workflow_file import load_workflow


@dataclass(frozen=True, slots=True)
class RunNeeds:
    """What would be needed.

    `name` is None without a workflow that can be read. `backends`: those that its agents use;
    `default_backend`: that of agents that name none. `most_at_once`: agent CLIs with a costly start that may
    work at the same time. `orders`: the turns by backend, where the workflow can run. `settings` are the
    problems of places with settings, `settings_files` those that were read, `workflow` the problems of the
    workflow and its agents.
    """

    name: str | None
    workdir: Path
    log_dir: Path
    backends: frozenset[str]
    default_backend: str
    most_at_once: int
    worktrees: bool = False
    orders: Mapping[str, tuple[TurnOrder, ...]] = field(default_factory=dict)
    settings: tuple[Problem, ...] = ()
    settings_files: tuple[Path, ...] = ()
    workflow: tuple[Problem, ...] = ()

    @property
    def turns(self) -> int:
        """How many turns one pass has."""
        return sum(map(len, self.orders.values()))


def run_needs(
    given: WorkflowFile | Path | None,
    overrides: RunOverrides,
    *,
    environ: Mapping[str, str],
    known_backends: Collection[str] | None = None,
    default_workdir: Path | None = None,
) -> RunNeeds:
    """What this workflow needs; None: what any would need with the settings in force. Reads the disk.

    Never raises for what is wrong with the files.
    """
    workflow: list[Problem] = []
    file = given
    if isinstance(file, Path):
        try:
            file = load_workflow(file)
        except UserFileError as error:
            workflow += error.problems
            file = None
    name = file.workflow.name if file is not None else None
    read = file or WorkflowFile(workflow=Workflow())
    resolved = resolve_settings(
        read, workdir_of(read, default_workdir), environ=environ, given=given_folders(overrides)
    )
    effective = resolved.effective
    workdir = workdir_of(effective.file, default_workdir)  # the overrides' folder is a setting by now
    library = library_of(effective.file, workdir)
    plan: RunPlan | None = None
    if name is not None:
        found = problems_in_force(read, effective, library, known_backends, workdir)
        workflow += found
        if not any(problem.severity is Severity.ERROR for problem in found):
            try:
                plan = plan_run(
                    effective.file,
                    library,
                    overrides,
                    known_backends=known_backends,
                    default_workdir=default_workdir,
                )
            except UserFileError as error:
                workflow += error.problems
    values = effective.file.workflow
    most = _most_at_once(plan) if plan is not None else 0 if name is not None else values.parallel_cap
    return RunNeeds(
        name=name,
        workdir=workdir,
        log_dir=log_dir_of(effective.file, workdir),
        backends=frozenset(_backends(values, library)),
        default_backend=values.backend or DEFAULT_BACKEND,
        most_at_once=most,
        worktrees="worktree" in {values.isolation, *(group.isolation for group in _groups(values))},
        orders=_orders(plan) if plan is not None else {},
        settings=(*resolved.errors, *effective.warnings),
        settings_files=tuple(looked.path for looked in resolved.files if looked.exists),
        workflow=tuple(workflow),
    )


def _groups(workflow: Workflow) -> Iterator[AgentGroup]:
    for phase in PHASES:
        for group in workflow.groups(phase):
            if group.enabled and isinstance(group, AgentGroup):
                yield group


def _backends(workflow: Workflow, library: AgentLibrary) -> Iterator[str]:
    """Every backend that an enabled agent names; agents that there are not name none."""
    for group in _groups(workflow):
        for entry in group.agents:
            agent = library.get(entry.agent)
            if entry.enabled and agent is not None:
                yield entry.backend or agent.backend or workflow.backend or DEFAULT_BACKEND


def _most_at_once(plan: RunPlan) -> int:
    costly = [0]
    for group in (*plan.preparation, *plan.loop, *plan.finalization):
        count = sum(_is_costly(turn.backend) for turn in group.turns)
        costly.append(min(count, group.max_parallel) if group.mode == "parallel" else min(count, 1))
    return max(costly)


def _is_costly(name: str) -> bool:
    try:
        return backend(name).start_cost
    except UnknownBackendError:
        return False


def _orders(plan: RunPlan) -> dict[str, tuple[TurnOrder, ...]]:
    orders: dict[str, list[TurnOrder]] = {}
    for turn in plan.turns:
        order = TurnOrder(
            agent=turn.agent,
            title=turn.label,
            workdir=plan.workdir,
            turn_folder=plan.log_dir,
            model=turn.model,
            defaults=plan.opencode_defaults,
        )
        orders.setdefault(turn.backend, []).append(order)
    return {name: tuple(of_it) for name, of_it in orders.items()}
