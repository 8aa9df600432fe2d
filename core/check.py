"""What can be known to be wrong with a workflow before anything of it runs, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.agent import AgentLibrary
from core.borrowed_agents import borrowed_findings
from core.config import AgentEntry, AgentGroup, FanOutGroup, FanOutTask, Group, Workflow, WorkflowFile
from core.findings import Finding, FindingList, did_you_mean, nearest, to_problems
from core.fixes import (
    ChangeGroup,
    ChangeSetting,
    Fix,
    MakeAgent,
    RemoveAgent,
    RemoveGroup,
    RenameKey,
    ReplaceAgent,
    ReplaceBackend,
    has_key,
)
from core.jsonc import JsonPath, parse_jsonc, read_text
from core.loop_checks import agents_of, loop_findings
from core.merge_rules import merge_rule_problem, payload_path_problem
from core.parallel_checks import parallel_findings
from core.problems import Problem, Severity, UserFileError
from core.run_folders import library_of, workdir_of
from core.setting_checks import setting_findings
from core.state import PHASES, MergeRule, Phase
from core.words import say
from core.workflow_layout import PHASE_KEYS, RawPhase, file_path
from core.workflow_reading import inspect_workflow

if TYPE_CHECKING:
    from core.known_payload import KnownPayload
    from core.safe_values import Replacement


def check_workflow(
    file: WorkflowFile,
    library: AgentLibrary,
    known_backends: Collection[str] | None = None,
    workdir: Path | None = None,
    *,
    known: KnownPayload | None = None,
    in_force: Workflow | None = None,
) -> list[Problem]:
    """Every problem of a workflow, the warnings of reading it (`file.warnings`) first.

    Places are those of the model, `loop_agents[1].agents[0]`: neighbouring strings of a file are one group.
    Lines and columns are told while the workflow is as it was read. `known_backends` None: they are not
    checked. `workdir`: the working folder that replaces the workflow's own. `known`: what earlier runs tell;
    None: what they would show is not looked for. `in_force`: the settings as a run would have them, where
    other places than the workflow have a say in them.
    """
    check = _Check(file, library, known_backends)
    return [*_warnings(file), *check.all(workdir, in_force or file.workflow, known)]


def check_path(
    path: Path, known_backends: Collection[str] | None = None, workdir: Path | None = None
) -> list[Problem]:
    """Every problem of a workflow file, also when parts of it cannot be read. See `check_workflow`."""
    try:
        text = read_text(path)
    except UserFileError as error:
        return error.problems
    inspection = inspect_workflow(text, path)
    file = inspection.file
    if file is None:
        return inspection.problems
    library = library_of(file, workdir or workdir_of(file))
    # What was left out because it could not be read is not missing.
    check = _Check(file, library, known_backends, may_be_empty=bool(inspection.errors))
    rest = check.all(workdir, file.workflow)
    unreadable = {problem.place for problem in inspection.errors}
    return [*inspection.problems, *(problem for problem in rest if problem.place not in unreadable)]


def _warnings(file: WorkflowFile) -> list[Problem]:
    """What reading warned of, without the unknown keys that an edit has renamed meanwhile."""
    return [
        problem
        for problem in file.warnings
        if not isinstance(problem.fix, RenameKey) or has_key(file.workflow, problem.fix)
    ]


def _located(file: WorkflowFile, findings: list[Finding]) -> list[Problem]:
    if not findings or not file.text:
        return to_problems(findings, None, file.path)
    read = inspect_workflow(file.text).file
    if read is None or read.workflow != file.workflow:
        return to_problems(findings, None, file.path)
    document = parse_jsonc(file.text).value
    if not isinstance(document, dict):
        return to_problems(findings, None, file.path)
    phases: dict[str, RawPhase] = {}
    return to_problems(findings, file.text, file.path, lambda path: file_path(document, path, phases))


class _Check:
    """One check; `findings` are in the workflow file, `problems` in files of agents."""

    def __init__(
        self,
        file: WorkflowFile,
        library: AgentLibrary,
        known_backends: Collection[str] | None,
        may_be_empty: bool = False,
    ) -> None:
        self._file = file
        self._library = library
        self._backends = known_backends
        self._in_force = file.workflow
        self._may_be_empty = may_be_empty
        self._checked_agents: set[str] = set()
        self._found = FindingList()
        self.problems: list[Problem] = []

    def all(
        self, workdir: Path | None, in_force: Workflow, known: KnownPayload | None = None
    ) -> list[Problem]:
        """Everything that is found, with its places."""
        self._in_force = in_force
        self.workflow(workdir)
        self.groups()
        self.flow(in_force, known)
        return [*_located(self._file, self.findings), *self.problems]

    @property
    def findings(self) -> list[Finding]:
        return self._found.all()

    @property
    def _workflow(self) -> Workflow:
        return self._file.workflow

    # --- the workflow's own settings -------------------------------------------------------------------

    def workflow(self, workdir: Path | None) -> None:
        workflow = self._workflow
        agents = (agents_of(group) for phase in PHASES for group in workflow.groups(phase))
        if not self._may_be_empty and not any(agents):
            self._error((), say("The workflow has no agents."), say("Add an agent to one of its phases."))
        self._condition()
        self._cannot_run_yet(workflow, ())
        self._merge_rules(workflow.merge, ())
        near = self._near_backend(workflow.backend)
        self._backend(
            workflow.backend, ("backend",), ChangeSetting("backend", near) if near is not None else None
        )
        for finding in setting_findings(self._file, self._library, workdir):
            self._found.add(finding)

    def _condition(self) -> None:
        # Here, because compiling conditions is not needed to read files.
        from core.condition import ConditionError, compile_condition

        try:
            compile_condition(self._workflow.end_state_condition)
        except ConditionError as error:
            shift = error.column or 0
            if any(sign in self._workflow.end_state_condition for sign in '"\\\n\t'):
                # Escapes make the text in the file longer than the condition.
                shift = 0
            self._error(
                ("end_state_condition",),
                error.message,
                error.suggestion,
                shift=shift,
                fix=_rewritten(self._workflow.end_state_condition, error.instead),
            )

    # --- groups ----------------------------------------------------------------------------------------

    def groups(self) -> None:
        for phase in PHASES:
            for index, group in enumerate(self._workflow.groups(phase)):
                if group.enabled:
                    self._group(group, (PHASE_KEYS[phase], index))

    def _group(self, group: Group, path: JsonPath) -> None:
        self._merge_rules(group.merge or {}, path)
        if isinstance(group, FanOutGroup):
            self._fan_out(group, path)
            return
        self._cannot_run_yet(group, path)
        if not group.agents:
            self._warn(
                path,
                say("The group has no agents and is skipped."),
                say("Add an agent, or remove the group."),
                fix=RemoveGroup(_phase_at(path), _index_at(path)),
            )
        for index, entry in enumerate(group.agents):
            if not entry.enabled:
                continue
            at = (*path, "agents", index)
            self._agent(entry.agent, at, has_own_backend=entry.backend is not None)
            place = (_phase_at(path), _index_at(path), index)
            for finding in borrowed_findings(entry, self._in_force, self._library, at, place):
                self._found.add(finding)
            self._entry_backend(entry, at)
            if group.timeout and entry.timeout and entry.timeout > group.timeout:
                self._warn(
                    (*at, "timeout"),
                    say(
                        "{agent} may take {seconds:g} s, but its group only {group_seconds:g} s.",
                        agent=entry.agent,
                        seconds=entry.timeout,
                        group_seconds=group.timeout,
                    ),
                )

    def _fan_out(self, group: FanOutGroup, path: JsonPath) -> None:
        self._error(
            path,
            say("This version of OpenLoop cannot run fan-out groups yet; the group is kept as it is."),
            say('Disable it with "enabled": false to run the rest.'),
            fix=ChangeGroup(_phase_at(path), _index_at(path), (group.agent,), "enabled", False),
        )
        self._agent(group.agent, path, has_own_backend=False)
        if (group.tasks is None) == (group.tasks_from is None):
            self._error(path, say("A fan-out group has exactly one of tasks and tasks_from."))
        for key, place in (("tasks_from", group.tasks_from), ("collect_into", group.collect_into)):
            problem = payload_path_problem(key, place) if place is not None else None
            if problem is not None:
                self._error((*path, key), problem)
        tasks = [task for task in group.tasks or () if isinstance(task, FanOutTask)]
        ids = Counter(task.id for task in tasks if task.id is not None)
        for index, task in enumerate(group.tasks or ()):
            if not isinstance(task, FanOutTask):
                continue
            if task.id is not None and ids[task.id] > 1:
                self._error((*path, "tasks", index, "id"), say("Two tasks have the id {id}.", id=task.id))
            for number, needed in enumerate(task.depends_on):
                if needed not in ids:
                    self._error(
                        (*path, "tasks", index, "depends_on", number),
                        say("There is no task with the id {id}.", id=needed),
                        "" if self._found.full else did_you_mean(needed, ids),
                    )

    def _cannot_run_yet(self, policy: Workflow | AgentGroup, path: JsonPath) -> None:
        if policy.isolation == "worktree":
            self._error(
                (*path, "isolation"),
                say("This version of OpenLoop cannot give agents git worktrees of their own yet."),
                say('Use "shared".'),
                fix=_change(policy, path, "isolation", "shared"),
            )
        if policy.merge_strategy == "git-merge":
            self._error(
                (*path, "merge_strategy"),
                say("This version of OpenLoop cannot merge branches of agents yet."),
                say('Use "sequential".'),
                fix=_change(policy, path, "merge_strategy", "sequential"),
            )

    def _merge_rules(self, rules: dict[str, MergeRule], path: JsonPath) -> None:
        for place, rule in rules.items():
            problem = merge_rule_problem(place, rule)
            if problem is not None:
                self._error((*path, "merge", place), problem, at_key=True)

    # --- agents ----------------------------------------------------------------------------------------

    def _agent(self, name: str, path: JsonPath, *, has_own_backend: bool) -> None:
        agent = self._library.get(name)
        if agent is None:
            broken = bool(self._library.problems_of(name))
            near = None if broken or self._found.full else self._library.nearest(name)
            self._error(
                path,
                say("The file of the agent {name} cannot be read.", name=name)
                if broken
                else say("There is no agent called {name}.", name=name)
                if name.strip()
                else say("An agent has no name."),
                say("Did you mean {near}?", near=near) if near is not None else "",
                fixes=_fixes_of_missing(path, name, near, can_be_made=not broken and bool(name.strip())),
            )
        if name in self._checked_agents:
            return
        self._checked_agents.add(name)
        # Two files may have the same mistake, and a list of problems has no other word of where it is.
        self.problems.extend(
            replace(found, message=say("Agent {name}: {problem}", name=name, problem=found.message))
            for found in self._library.problems_of(name)
        )
        if agent is None:
            return
        if not agent.prompt.strip():
            self.problems.append(
                Problem(
                    say("The agent {name} has no prompt, so it is only told about the workflow.", name=name),
                    suggestion=say("Write below the front matter what it shall do."),
                    severity=Severity.WARNING,
                    file=agent.path,
                )
            )
        if not has_own_backend and self._is_unknown_backend(agent.backend):
            self.problems.append(
                Problem(
                    say(
                        "The agent {name} names a backend that does not exist: {backend}.",
                        name=name,
                        backend=agent.backend,
                    ),
                    "backend",
                    did_you_mean(str(agent.backend), self._backends or ()),
                    file=agent.path,
                )
            )

    def _entry_backend(self, entry: AgentEntry, path: JsonPath) -> None:
        near = self._near_backend(entry.backend)
        fix = None
        if near is not None:
            number = path[3]
            assert isinstance(number, int)
            place = (_phase_at(path), _index_at(path), number)
            fix = ReplaceBackend(*place, entry.agent, str(entry.backend), near)
        self._backend(entry.backend, (*path, "backend"), fix)

    def _backend(self, name: str | None, path: JsonPath, fix: Fix | None) -> None:
        if self._is_unknown_backend(name):
            near = self._near_backend(name)
            there_are = say("There are: {names}.", names=", ".join(sorted(self._backends or ())))
            suggestion = say("Did you mean {near}?", near=near) if near is not None else there_are
            self._error(path, say("There is no backend called {name}.", name=name), suggestion, fix=fix)

    def _near_backend(self, name: str | None) -> str | None:
        return nearest(str(name), self._backends or ()) if self._is_unknown_backend(name) else None

    def _is_unknown_backend(self, name: str | None) -> bool:
        return name is not None and self._backends is not None and name not in self._backends

    # --- how it would go -------------------------------------------------------------------------------

    def flow(self, in_force: Workflow, known: KnownPayload | None) -> None:
        for finding in loop_findings(self._workflow, in_force, self._library, known):
            self._found.add(finding)
        for finding in parallel_findings(self._workflow, in_force, self._library, known):
            self._found.add(finding)

    # --- saying it -------------------------------------------------------------------------------------

    def _error(
        self,
        path: JsonPath,
        message: str,
        suggestion: str = "",
        *,
        at_key: bool = False,
        shift: int = 0,
        fix: Fix | None = None,
        fixes: Sequence[Fix] = (),
    ) -> None:
        first, others = (fixes[0], tuple(fixes[1:])) if fixes else (fix, ())
        found = Finding(path, message, suggestion, at_key=at_key, shift=shift, fix=first, other_fixes=others)
        self._found.add(found)

    def _warn(self, path: JsonPath, message: str, suggestion: str = "", *, fix: Fix | None = None) -> None:
        self._found.add(Finding(path, message, suggestion, Severity.WARNING, fix=fix))


# --- fixes --------------------------------------------------------------------------------------------


def _phase_at(path: JsonPath) -> Phase:
    return next(phase for phase, key in PHASE_KEYS.items() if key == path[0])


def _index_at(path: JsonPath) -> int:
    index = path[1]
    assert isinstance(index, int)
    return index


def _fixes_of_missing(path: JsonPath, name: str, near: str | None, *, can_be_made: bool) -> list[Fix]:
    """What can be done about an agent that is not there, the likeliest first."""
    making: list[Fix] = [MakeAgent(name)] if can_be_made else []
    number = path[3] if len(path) == 4 else None
    if not isinstance(number, int):
        # It is the agent of a fan-out group, which is not edited.
        return making
    place = (_phase_at(path), _index_at(path), number, name)
    replacing: list[Fix] = [ReplaceAgent(*place, near)] if near is not None else []
    return [*replacing, *making, RemoveAgent(*place)]


def _rewritten(condition: str, instead: Replacement | None) -> Fix | None:
    if instead is None:
        return None
    value = condition[: instead.start] + instead.text + condition[instead.end :]
    return ChangeSetting("end_state_condition", value, instead.text.strip())


def _change(policy: Workflow | AgentGroup, path: JsonPath, key: str, value: str) -> Fix:
    if isinstance(policy, Workflow):
        return ChangeSetting(key, value)
    agents = tuple(entry.agent for entry in policy.agents)
    return ChangeGroup(_phase_at(path), _index_at(path), agents, key, value)
