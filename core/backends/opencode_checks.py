"""Before a run: does opencode know the agents and models that the turns name?

An unknown `--agent` silently runs the default one, and an unknown model fails only after seconds with
"Unexpected server error". So the lists are asked for first.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.backends.base import TurnOrder
from core.findings import did_you_mean
from core.probing import CannotStart, NoAnswer, probe
from core.problems import Problem, Severity
from core.words import say

PROBE_SECONDS = 60.0
"""How long `opencode models` may take; a first start on a busy machine needs many seconds."""

_AGENT_LINE = re.compile(r"^(?P<name>\S.*?) \((?P<mode>primary|subagent|all)\)$", re.MULTILINE)
_MODEL_LINE = re.compile(r"^[^\s/]+/\S+$", re.MULTILINE)
_TELLING_VARIABLES = ("OPENCODE_", "XDG_", "HOME", "USERPROFILE")
_BAD_CONFIGURATION = re.compile(r"not valid JSON|[Cc]onfig\S* .*invalid")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def _why_claimed(flag: str) -> str:
    """Why an argument cannot be given; empty: it can."""
    match flag:
        case "--format":
            return say("{flag} cannot be used here: OpenLoop reads the JSON format.", flag=flag)
        case "--attach":
            return say("{flag} cannot be used here: it loses the agents' answers.", flag=flag)
        case "--continue" | "-c":
            return say("{flag} cannot be used here: it would continue some other session.", flag=flag)
        case "--session" | "-s":
            return say("{flag} cannot be used here: OpenLoop names the session itself.", flag=flag)
        case "--fork":
            return say("{flag} cannot be used here: corrections continue the same session.", flag=flag)
        case "--interactive" | "-i":
            return say("{flag} cannot be used here: nobody can answer.", flag=flag)
        case "--dir":
            return say("{flag} cannot be used here: a turn's directory is the workflow's.", flag=flag)
        case "--title":
            return say("{flag} cannot be used here: OpenLoop gives the title.", flag=flag)
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class _Question:
    """One list to ask opencode for; equal questions have the same answer while nothing changes on disk."""

    program: str
    program_time: int
    arguments: tuple[str, ...]
    workdir: str
    configuration: tuple[tuple[str, str], ...]


_answers: dict[_Question, str] = {}
_asking = threading.Lock()


def check_orders(program: str, orders: Sequence[TurnOrder]) -> list[Problem]:
    """What stands in the way of these turns. Runs opencode where names have to be looked up; blocking."""
    problems = _check_arguments(orders)
    for (workdir, pure), group in _by_project(orders).items():
        agents = _unique(order.defaults.agent for order in group)
        models = _unique(order.model or order.defaults.model for order in group)
        flags = ("--pure",) if pure else ()
        if agents:
            problems += _check_agents(program, workdir, flags, agents)
        if models:
            problems += _check_models(program, workdir, flags, models)
    if len(orders) > 1 and not _has_database():
        # The first start ever makes the database, and agents that start together would all make it: most
        # of them then fail. Any question makes it as well; what the answer is does not matter.
        next(_answers_to(program, ("models",), orders[0].workdir))
    return problems


def _has_database() -> bool:
    if "OPENCODE_DB" in os.environ:
        return True
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return any(Path(data, "opencode").glob("opencode*.db"))


def _check_arguments(orders: Sequence[TurnOrder]) -> list[Problem]:
    problems: list[Problem] = []
    for argument in _unique(argument for order in orders for argument in order.defaults.extra_args):
        flag = argument.partition("=")[0]
        why = _why_claimed(flag)
        if why:
            place = "opencode_defaults.extra_args"
            problems.append(Problem(why, place=place, suggestion=say("Take it out.")))
    return problems


def _check_agents(program: str, workdir: Path, flags: tuple[str, ...], names: list[str]) -> list[Problem]:
    place = "opencode_defaults.agent"
    known: dict[str, str] = {}
    for answer in _answers_to(program, ("agent", "list", *flags), workdir):
        if isinstance(answer, Problem):
            return [answer]
        known = {match["name"]: match["mode"] for match in _AGENT_LINE.finditer(answer)}
        if all(known.get(name) in ("primary", "all") for name in names):
            return []
    if not known:
        return [_cannot_tell(say("its agents"), say("its answer could not be read"))]
    problems = []
    for name in names:
        if name not in known:
            fit = [other for other, mode in known.items() if mode != "subagent"]
            near = did_you_mean(name, fit) or say("There are: {names}.", names=", ".join(fit))
            problems.append(
                Problem(say("opencode has no agent called {name}.", name=name), place=place, suggestion=near)
            )
        elif known[name] == "subagent":
            problems.append(
                Problem(
                    say("{name} is a subagent of opencode, which cannot run a turn of its own.", name=name),
                    place=place,
                    suggestion=say("Name a primary agent, such as build."),
                )
            )
    return problems


def _check_models(program: str, workdir: Path, flags: tuple[str, ...], names: list[str]) -> list[Problem]:
    problems = [
        Problem(
            say("{name} is not the full name of a model.", name=name),
            suggestion=say("opencode wants provider/model, such as anthropic/claude-sonnet-4-5."),
        )
        for name in names
        if "/" not in name.strip("/")
    ]
    names = [name for name in names if "/" in name.strip("/")]
    if not names:
        return problems
    known: list[str] = []
    for answer in _answers_to(program, ("models", *flags), workdir):
        if isinstance(answer, Problem):
            return [*problems, answer]
        known = _MODEL_LINE.findall(answer)
        if set(names) <= set(known):
            return problems
    if not known:
        return [*problems, _cannot_tell(say("its models"), say("it lists none"))]
    providers = {model.partition("/")[0] for model in known}
    for name in names:
        if name in known:
            continue
        provider = name.partition("/")[0]
        if provider in providers:
            near = did_you_mean(name, known) or say(
                "`opencode models {provider}` lists those it knows.", provider=provider
            )
            problems.append(
                Problem(say("opencode does not know the model {name}.", name=name), suggestion=near)
            )
        else:
            problems.append(
                Problem(
                    say(
                        "opencode cannot use the model {name}: it has no provider called {provider}.",
                        name=name,
                        provider=provider,
                    ),
                    suggestion=say("Log in with `opencode auth login`, or configure the provider."),
                )
            )
    return problems


def _answers_to(program: str, arguments: tuple[str, ...], workdir: Path) -> Iterator[str | Problem]:
    """What opencode printed when it was asked before, then what it prints now.

    Whoever finds a name in the first answer needs no second one; a name that is missing there may have been
    configured since.
    """
    environment = ((name, value) for name, value in os.environ.items() if name.startswith(_TELLING_VARIABLES))
    question = _Question(
        program, Path(program).stat().st_mtime_ns, arguments, str(workdir), tuple(sorted(environment))
    )
    # Only one at a time: opencode's first start makes its database, and two of them would both make it.
    with _asking:
        known = _answers.get(question)
    if known is not None:
        yield known
    with _asking:
        answer = _run(program, arguments, workdir)
        if isinstance(answer, str):
            _answers[question] = answer
    yield answer


def _run(program: str, arguments: tuple[str, ...], workdir: Path) -> str | Problem:
    what = f"`opencode {' '.join(arguments)}`"
    try:
        answer = probe(
            (program, *arguments),
            workdir,
            env={"OPENCODE_DISABLE_AUTOUPDATE": "1", "NO_COLOR": "1"},
            seconds=PROBE_SECONDS,
        )
    except CannotStart as error:
        return Problem(say("opencode cannot be started. {error}", error=error))
    except NoAnswer as error:
        why = str(error).rstrip(".")
        return _cannot_tell(what, why[:1].lower() + why[1:])
    if answer.exit_code == 0:
        return answer.stdout
    said = _reason(answer.stderr) or say("exit code {code}", code=answer.exit_code)
    if _BAD_CONFIGURATION.search(said):
        return Problem(
            say("opencode cannot read its configuration: {said}.", said=said),
            suggestion=say("Correct that file."),
        )
    return _cannot_tell(what, said)


def _reason(stderr: str) -> str:
    """The line that says most: the one with `Error:`, else the first; opencode colours them."""
    lines = [line.strip() for line in _ANSI.sub("", stderr).splitlines() if line.strip()]
    error = next((line for line in lines if line.startswith("Error:")), lines[0] if lines else "")
    return error.removeprefix("Error:").strip().rstrip(".:")


def _cannot_tell(what: str, why: str) -> Problem:
    return Problem(
        say("opencode could not be asked for {what}: {why}.", what=what, why=why),
        suggestion=say("The run can start; a name that is wrong will show only then."),
        severity=Severity.WARNING,
    )


def _by_project(orders: Sequence[TurnOrder]) -> dict[tuple[Path, bool], list[TurnOrder]]:
    """Orders by what decides the answers: the project's configuration, and whether plugins count."""
    groups: dict[tuple[Path, bool], list[TurnOrder]] = {}
    for order in orders:
        groups.setdefault((order.workdir, bool(order.defaults.pure)), []).append(order)
    return groups


def _unique(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
