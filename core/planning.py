"""From a workflow and an agent library to a run's plan: every value decided, nothing started."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import resources
from core.agent import AgentDefinition, AgentLibrary
from core.check import check_workflow
from core.config import AgentEntry, AgentGroup, Workflow, WorkflowFile
from core.plan import Place, PlannedGroup, PlannedTurn, RunPlan
from core.problems import Problem, Severity, UserFileError
from core.run_folders import log_dir_of, workdir_of
from core.state import PHASES, MergeRule, Phase
from core.words import say
from core.workflow_file import dump_workflow

DEFAULT_BACKEND = "opencode"
NO_CAP = math.inf
"""An override of a cap that takes it away."""


@dataclass(frozen=True, slots=True)
class RunOverrides:
    """What the command line or the window says about one run; None: as the workflow says."""

    workdir: Path | None = None
    log_dir: Path | None = None
    max_loops: int | None = None
    max_parallel: int | None = None
    max_cost_usd: float | None = None
    """`NO_CAP`: none. So for the next two."""
    max_cost_usd_per_group: float | None = None
    max_tokens: float | None = None
    retries: int | None = None
    agent_timeout: float | None = None
    """Seconds for every agent, whatever it says itself; 0: no limit. So is `group_timeout` for groups."""
    group_timeout: float | None = None
    merge: Mapping[str, MergeRule] = field(default_factory=dict)
    """Merge rules by path that win over the workflow's and the groups'."""


def plan_run(
    file: WorkflowFile,
    library: AgentLibrary,
    overrides: RunOverrides | None = None,
    *,
    known_backends: Collection[str] | None = None,
    default_workdir: Path | None = None,
) -> RunPlan:
    """The plan of a run. Raises UserFileError with every error that `check_workflow` finds.

    `default_workdir`: where the agents work when neither the overrides nor the workflow say (None: the
    current folder). `known_backends` None: backends are not checked.
    """
    overrides = overrides or RunOverrides()
    workdir = overrides.workdir.absolute() if overrides.workdir else workdir_of(file, default_workdir)
    errors = [
        problem
        for problem in check_workflow(file, library, known_backends, workdir)
        if problem.severity is Severity.ERROR
    ]
    if errors:
        raise UserFileError(errors)
    workflow = _overridden(file.workflow, overrides)
    log_dir = overrides.log_dir.absolute() if overrides.log_dir else log_dir_of(file, workdir)
    _refuse_unspeakable(workdir, log_dir, file.path)
    planner = _Planner(workflow, library, overrides)
    return RunPlan(
        workflow_name=workflow.name,
        workflow_path=file.path.absolute() if file.path is not None else None,
        workflow_json=_as_run(workflow, file, library, workdir),
        workdir=workdir,
        log_dir=log_dir,
        preparation=planner.phase("preparation"),
        loop=planner.phase("loop"),
        finalization=planner.phase("finalization"),
        end_state_condition=workflow.end_state_condition,
        max_loops=workflow.max_loops,
        max_parallel=workflow.parallel_cap,
        retries=workflow.retries,
        finalize_on_abort=workflow.finalize_on_abort,
        on_missing_state=workflow.on_missing_state,
        budget=workflow.budget,
        max_prompt_bytes=workflow.max_prompt_bytes,
        opencode_defaults=workflow.opencode_defaults,
        initial_payload=workflow.initial_payload,
        init_script=workflow.init_script or None,
        init_timeout=workflow.agent_timeout,
    )


def _refuse_unspeakable(*paths: Path | None) -> None:
    """Raise UserFileError for a path that is no text: neither a prompt nor the journal could name it."""
    for path in paths:
        if "\0" in str(path or ""):
            message = say("The name of a folder or file has a NUL character: {path!r}.", path=str(path))
            raise UserFileError([Problem(message, suggestion=say("Choose another name."))])
        try:
            str(path or "").encode()
        except UnicodeEncodeError:
            shown = str(path).encode("utf-8", "replace").decode()
            message = say("The name of a folder or file is not valid UTF-8: {shown}.", shown=shown)
            raise UserFileError(
                [Problem(message, suggestion=say("Rename it or choose another one."))]
            ) from None


def _overridden(workflow: Workflow, overrides: RunOverrides) -> Workflow:
    """A copy of the workflow, so that later edits do not reach the run. Raises UserFileError."""
    copy = workflow.model_copy(deep=True)
    for name, value in (("max_loops", overrides.max_loops), ("max_parallel", overrides.max_parallel)):
        if value is not None and value < 1:
            raise UserFileError(
                [Problem(say("{name} must be at least 1, not {value}.", name=name, value=value), name)]
            )
    if overrides.max_loops is not None:
        copy.max_loops = overrides.max_loops
    if overrides.max_parallel is not None:
        copy.max_parallel_agents = overrides.max_parallel
    if overrides.retries is not None:
        copy.retries = overrides.retries
    if overrides.agent_timeout is not None:
        copy.agent_timeout = overrides.agent_timeout
    for cap in ("max_cost_usd", "max_cost_usd_per_group", "max_tokens"):
        value = getattr(overrides, cap)
        if value is not None:
            setattr(copy.budget, cap, None if value == NO_CAP else value)
    copy.merge = {**copy.merge, **overrides.merge}
    for phase in PHASES:
        for group in copy.groups(phase):
            if group.merge:
                # It wins over the workflow's, also when the run is resumed once more, without overrides.
                group.merge = {path: overrides.merge.get(path, rule) for path, rule in group.merge.items()}
    return copy


def _as_run(workflow: Workflow, file: WorkflowFile, library: AgentLibrary, workdir: Path) -> bytes:
    """The workflow's text with what was decided for this run, so that it means the same anywhere."""
    copy = workflow.model_copy(deep=True)
    copy.workdir = str(workdir)
    own = library.folders[0] if library.folders else None
    if own is not None and own.is_dir() and own != resources.agents_folder():
        copy.agents_dir = str(own.absolute())
    return dump_workflow(WorkflowFile(workflow=copy, path=file.path, text=file.text)).encode()


class _Planner:
    def __init__(self, workflow: Workflow, library: AgentLibrary, overrides: RunOverrides) -> None:
        self._workflow = workflow
        self._library = library
        self._overrides = overrides
        self._cap = overrides.max_parallel

    def phase(self, phase: Phase) -> tuple[PlannedGroup, ...]:
        groups = enumerate(self._workflow.groups(phase))
        planned = (
            self._group(phase, index, group)
            for index, group in groups
            if group.enabled and isinstance(group, AgentGroup)
        )
        return tuple(group for group in planned if group.turns)

    def _group(self, phase: Phase, index: int, group: AgentGroup) -> PlannedGroup:
        workflow = self._workflow
        overrides = self._overrides
        at_once = workflow.at_once(group)
        return PlannedGroup(
            phase=phase,
            index=index,
            name=group.name or f"{phase} {index + 1}",
            mode=group.mode,
            turns=self._turns(phase, index, group),
            max_parallel=min(at_once, self._cap) if self._cap is not None else at_once,
            timeout=(group.timeout if overrides.group_timeout is None else overrides.group_timeout) or None,
            on_error=group.on_parallel_error or workflow.on_parallel_error,
            merge_rules={**workflow.merge, **(group.merge or {}), **overrides.merge},
        )

    def _turns(self, phase: Phase, index: int, group: AgentGroup) -> tuple[PlannedTurn, ...]:
        turns: list[PlannedTurn] = []
        # By name: the number that the next of this name gets. Labels are unique: "vera 2" may be a name too.
        labels: dict[str, int] = {}
        for number, entry in enumerate(group.agents):
            agent = self._library.get(entry.agent)
            if not entry.enabled or agent is None:
                continue
            label = _label(entry.agent, labels)
            labels.setdefault(label, 2)
            turns.append(self._turn(Place(phase, index, number), label, entry, agent))
        return tuple(turns)

    def _turn(self, place: Place, label: str, entry: AgentEntry, agent: AgentDefinition) -> PlannedTurn:
        workflow = self._workflow
        backend = entry.backend or agent.backend or workflow.backend or DEFAULT_BACKEND
        model = entry.model or agent.model
        if model is None and backend == DEFAULT_BACKEND:
            model = workflow.opencode_defaults.model
        timeouts = (self._overrides.agent_timeout, entry.timeout, agent.timeout, workflow.agent_timeout)
        return PlannedTurn(
            place=place,
            label=label,
            agent=agent,
            backend=backend,
            model=model,
            timeout=next(timeout for timeout in timeouts if timeout is not None),
            idle_timeout=workflow.agent_idle_timeout,
            idle_warning=workflow.agent_idle_warning,
        )


def _label(name: str, taken: dict[str, int]) -> str:
    """`vera`, then `vera 2`: a name for a turn that no other turn of its group has. Counts in `taken`."""
    label = name
    while label in taken:
        label = f"{name} {taken[name]}"
        taken[name] += 1
    return label
