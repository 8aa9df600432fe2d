"""From a run folder to a run that may go on: its workflow as it was run, with the changed limits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import resources
from core.agent import AgentLibrary, agent_folders
from core.agent_definition import AgentDefinition
from core.agent_folders import is_shipped
from core.config import WorkflowFile
from core.journal import JOURNAL_NAME
from core.merge_rules import merge_rule_problem
from core.plan import RunPlan
from core.planning import RunOverrides, plan_run
from core.preparing import PreparedRun
from core.problems import Problem, Severity, UserFileError
from core.progress_words import cap_field, dollar_words, loops_field
from core.recorded_run import RecordedRun
from core.run_files import AGENTS_NAME, WORKFLOW_NAME
from core.run_folders import workdir_of
from core.spending import Spending
from core.trust import brought_commands
from core.words import say, say_number
from core.workflow_file import load_workflow


def prepare_resume(
    run: RecordedRun,
    overrides: RunOverrides | None = None,
    *,
    known_backends: Collection[str] | None = None,
) -> PreparedRun:
    """Decide everything about going on with a run; reads the disk. Raises UserFileError.

    Settings files and the environment have no say: they were heard when the run began, and are in its
    workflow. Agents are taken as they are now, else as they were; a warning names those that changed.
    """
    overrides = overrides or RunOverrides()
    wrong = [
        Problem(problem, f"merge.{path}", say("Correct the path or the rule of --merge."))
        for path, rule in overrides.merge.items()
        if (problem := merge_rule_problem(path, rule)) is not None
    ]
    if wrong:
        raise UserFileError(wrong)
    kind, _, conflict = run.reason.partition(":")
    if overrides.merge and (kind != "merge_conflict" or set(overrides.merge) != {conflict}):
        words = say(
            "A rule can only be given for the path whose conflict ended the run: what was merged stays."
        )
        advice = (
            say("Here that is --merge {path}=RULE.", path=conflict)
            if kind == "merge_conflict"
            else say("Here that is none.")
        )
        raise UserFileError([Problem(words, "merge", advice)])
    if run.obstacle:
        raise UserFileError(
            [Problem(say("This run cannot go on. {obstacle}", obstacle=run.obstacle), file=run.folder)]
        )
    file = load_workflow(run.folder / WORKFLOW_NAME)
    workdir = (overrides.workdir or workdir_of(file)).absolute()
    if not workdir.is_dir():
        raise UserFileError(
            [
                Problem(
                    say(
                        "The folder that the agents work in does not exist here: {workdir}.", workdir=workdir
                    ),
                    "workdir",
                    say("Name the folder with --workdir, or make it again."),
                )
            ]
        )
    library, warnings = _library(run, file, workdir)
    if run.unreadable:
        words = say_number(
            run.unreadable,
            "1 line of the run's journal cannot be read. Turns whose end stood there run again.",
            "{count} lines of the run's journal cannot be read. Turns whose end stood there run again.",
        )
        warnings.append(Problem(words, severity=Severity.WARNING, file=run.folder / JOURNAL_NAME))
    plan = plan_run(file, library, overrides, known_backends=known_backends)
    original = run.progress.workflow_path
    plan = replace(
        plan, workflow_path=Path(original) if original else None, log_dir=run.folder.parent, workdir=workdir
    )
    _refuse_a_wall(run, plan)
    return PreparedRun(plan, brought_commands(plan), tuple(warnings))


def _library(run: RecordedRun, file: WorkflowFile, workdir: Path) -> tuple[AgentLibrary, list[Problem]]:
    """The agents as they are now, and where they are gone, as they were when the run began."""
    kept = run.folder / AGENTS_NAME
    original = run.progress.workflow_path
    example = Path(original).parent if original and is_shipped(Path(original)) else None
    folders = agent_folders(file.workflow.agents_dir, example, workdir)
    if example is None and not folders[0].is_dir():
        file.workflow.agents_dir = None
        folders = (kept, *folders[1:])
    # What ships comes last: it must not stand in for an agent that is gone.
    library = AgentLibrary((*folders, kept) if example is not None else (*folders[:-1], kept, folders[-1]))
    before, bundled = AgentLibrary(kept), AgentLibrary(resources.agents_folder())
    warnings: list[Problem] = []
    for old in before.agents:
        new = library.get(old.name)
        if new is None or new.path is None or new.path == old.path:
            same = bundled.get(old.name)
            if same is not None and not _differs(old, same):
                continue  # it comes with OpenLoop, and is as it was
            name = old.path.name if old.path is not None else ""
            broken = [
                problem
                for problem in library.problems
                if problem.file is not None and problem.file.name == name and kept not in problem.file.parents
            ]
            words = say(
                "The file of the agent {name} is gone; the run goes on with it as it was.", name=old.name
            )
            if broken:
                words = say(
                    "The file of the agent {name} cannot be used; the run goes on with it as it was. {text}",
                    name=old.name,
                    text=broken[0].text(),
                )
        elif _differs(old, new):
            words = say(
                "The agent {name} was changed since the run began; it works as it is now.", name=old.name
            )
        else:
            continue
        warnings.append(Problem(words, severity=Severity.WARNING))
    return library, warnings


def _differs(old: AgentDefinition, new: AgentDefinition) -> bool:
    ignored = {"path", "folder"}
    return old.model_dump(exclude=ignored) != new.model_dump(exclude=ignored)


def _refuse_a_wall(run: RecordedRun, plan: RunPlan) -> None:
    """Raise UserFileError where the run would end again at once, for the reason it ended before."""
    if run.reason == "max_loops_reached" and plan.max_loops <= run.progress.iteration:
        raise UserFileError(
            [
                Problem(
                    say(
                        "The run made {count} loops, which is all that {field} allows ({most}).",
                        field=loops_field(),
                        count=run.progress.iteration,
                        most=plan.max_loops,
                    ),
                    "max_loops",
                    say("Resume it with a higher {field}.", field=loops_field()),
                )
            ]
        )
    spending = Spending(plan.budget, run=run.usage)
    cap = spending.reached()
    if cap is not None:
        raise UserFileError(
            [
                Problem(
                    say(
                        "{spent}; the budget allows {limit}.",
                        spent=cap.spent_words,
                        limit=cap.limit_words,
                    ),
                    f"budget.{cap.name}",
                    say("Resume it with a higher {field}.", field=cap_field(cap.name)),
                )
            ]
        )
    group_cap = plan.budget.max_cost_usd_per_group
    if run.reason == "budget_exceeded:max_cost_usd_per_group" and group_cap is not None:
        last = list(run.progress.groups.values())[-1]
        cost = run.spent_of(last.turns).cost_usd or 0.0
        if cost >= group_cap:
            raise UserFileError(
                [
                    Problem(
                        say(
                            "The group has cost {cost}; the budget allows {limit}.",
                            cost=dollar_words(cost),
                            limit=dollar_words(group_cap),
                        ),
                        "budget.max_cost_usd_per_group",
                        say("Resume it with a higher {field}.", field=cap_field("max_cost_usd_per_group")),
                    )
                ]
            )
    kind, _, path = run.reason.partition(":")
    rules = [group.merge_rules for group in (*plan.preparation, *plan.loop, *plan.finalization)]
    if kind == "merge_conflict" and any(rule.get(path) == "error" for rule in rules):
        raise UserFileError(
            [
                Problem(
                    say(
                        "Two agents wrote different values to {path}, and the workflow calls this an error.",
                        path=path,
                    ),
                    f"merge.{path}",
                    say("Resume it with another rule for this path, such as --merge {path}=last.", path=path),
                )
            ]
        )
