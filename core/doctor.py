"""Has this machine what runs need? Every check on a thread of its own, each finding as soon as it is known.

What a workflow needs and is not there stands in the way; what nobody needs is only told.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from core.backends.registry import backend, backend_names
from core.config import WorkflowFile
from core.folder_checks import check_log_folder, check_user_folders
from core.git_checks import check_git, check_work_folder
from core.health import Finding, FindingStatus
from core.planning import RunOverrides
from core.probing import ANSWER_SECONDS, Probes, ProbesCancelled
from core.problems import Problem, Severity
from core.run_needs import RunNeeds, run_needs
from core.runner import StartError
from core.system_checks import check_machine, check_python, check_supervisor
from core.words import say, say_number

_LISTEN = 0.5


class Need(Enum):
    """How much a backend is needed: by the workflow, by default, or by nobody."""

    WORKFLOW = "workflow"
    DEFAULT = "default"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Told:
    """What a check told: one finding, or that there are no more of it (None). `topic`: one of the topics."""

    topic: str
    finding: Finding | None


_Check = Callable[[RunNeeds], Iterable[Finding]]


class Checkup:
    """One look at the machine. `run` once; `cancel` from any thread.

    `workflow`: what shall run; a path is read, None stands for any workflow with the settings in force.
    `answer_seconds`: how long a program that is asked something may take.
    """

    def __init__(
        self,
        workflow: WorkflowFile | Path | None = None,
        overrides: RunOverrides | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        default_workdir: Path | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._workflow = workflow
        self._overrides = overrides or RunOverrides()
        self._environ = os.environ if environ is None else environ
        self._default_workdir = default_workdir
        self._answer_seconds = answer_seconds
        self._checks = _checks(with_workflow=workflow is not None)
        self._lock = threading.Lock()
        self._probes: Probes | None = None
        self._cancelled = threading.Event()

    @property
    def topics(self) -> tuple[str, ...]:
        """What is looked at, in an order for people; known before anything is looked at."""
        return tuple(self._checks)

    def cancel(self) -> None:
        """End what is being asked; `run` tells nothing more and returns soon. Does not block."""
        self._cancelled.set()
        with self._lock:
            if self._probes is not None:
                self._probes.cancel()

    def run(self) -> Generator[Told, None, None]:
        """Everything that is found, as it is found, in any order. Blocks between findings.

        When it ends, or is closed, no thread and no process of it is left.
        """
        needs = run_needs(
            self._workflow,
            self._overrides,
            environ=self._environ,
            known_backends=backend_names(),
            default_workdir=self._default_workdir,
        )
        try:
            probes = Probes(self._answer_seconds)
        except StartError as error:
            yield from self._without_probes(needs, error)
            return
        told: queue.SimpleQueue[Told | BaseException] = queue.SimpleQueue()
        with probes:
            with self._lock:
                self._probes = probes
            if self._cancelled.is_set():
                return
            threads = [
                threading.Thread(
                    target=_look,
                    args=(probes, topic, check, needs, told),
                    name=f"check {topic}",
                )
                for topic, check in self._checks.items()
            ]
            try:
                for thread in threads:
                    thread.start()
                yield from self._listen(told, len(threads))
            finally:
                self.cancel()
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()
                with self._lock:
                    self._probes = None

    def _listen(self, told: queue.SimpleQueue[Told | BaseException], open_checks: int) -> Iterator[Told]:
        trouble: BaseException | None = None
        while open_checks:
            try:
                # With a limit: on Windows, Ctrl+C waits for the end of a wait.
                news = told.get(timeout=_LISTEN)
            except queue.Empty:
                continue
            if isinstance(news, BaseException):
                trouble = trouble or news
                open_checks -= 1
                continue
            open_checks -= news.finding is None
            if not self._cancelled.is_set():
                yield news
        if trouble is not None and not self._cancelled.is_set():
            raise trouble

    def _without_probes(self, needs: RunNeeds, error: StartError) -> Iterator[Told]:
        """No process can be looked after, so no run can be: all else matters less, and is looked at alone."""
        for topic, check in self._checks.items():
            if topic == PROCESSES:
                yield Told(topic, Finding(topic_words(topic), FindingStatus.ERROR, str(error)))
            elif topic in _WITHOUT_PROCESSES:
                for finding in check(needs):
                    yield Told(topic, finding)
            yield Told(topic, None)


def _look(
    probes: Probes,
    topic: str,
    check: _Check,
    needs: RunNeeds,
    told: queue.SimpleQueue[Told | BaseException],
) -> None:
    """One check, on its thread. What is wrong with the check itself is raised where findings are awaited."""
    try:
        with probes.in_force(), contextlib.suppress(ProbesCancelled):
            for finding in check(needs):
                told.put(Told(topic, finding))
    except BaseException as error:  # noqa: BLE001
        told.put(error)
    else:
        told.put(Told(topic, None))


# --- the checks ---------------------------------------------------------------------------------------

PROCESSES = "processes"
_WITHOUT_PROCESSES = ("python", "machine", "log folder", "own folders", "settings", "workflow")


def topic_words(topic: str) -> str:
    """What a topic is called. Those that are not named here are programs, which have their names."""
    match topic:
        case "machine":
            return say("machine")
        case "processes":
            return say("processes")
        case "settings":
            return say("settings")
        case "own folders":
            return say("own folders")
        case "log folder":
            return say("log folder")
        case "work folder":
            return say("work folder")
        case "workflow":
            return say("workflow")
        case _:
            return topic


def agents_subject(backend_name: str) -> str:
    """What the agents of a backend are called where they are the subject."""
    return say("{backend} agents", backend=backend_name)


def _checks(*, with_workflow: bool) -> dict[str, _Check]:
    checks: dict[str, _Check] = {
        "python": lambda needs: check_python(),
        "machine": lambda needs: check_machine(needs.most_at_once),
        PROCESSES: lambda needs: check_supervisor(),
        "git": lambda needs: check_git(needs.workdir, needed=needs.worktrees),
        "settings": _settings,
        "own folders": lambda needs: check_user_folders(),
        "log folder": _log_folder,
        "work folder": lambda needs: check_work_folder(needs.workdir),
    }
    if with_workflow:
        checks["workflow"] = _workflow
    for name in backend_names():
        checks[name] = _backend_check(name)
    return checks


def _settings(needs: RunNeeds) -> Iterator[Finding]:
    yield from (_as_finding(say("settings"), problem) for problem in needs.settings)
    if not needs.settings:
        files = ", ".join(map(str, needs.settings_files))
        message = (
            say("Read from {files}.", files=files)
            if files
            else say("There is no file with settings, so the usual ones hold.")
        )
        yield Finding(say("settings"), FindingStatus.OK, message)


def _log_folder(needs: RunNeeds) -> Iterable[Finding]:
    if needs.log_dir.is_relative_to(needs.workdir) and not needs.workdir.exists():
        return ()  # the finding about that folder says it all
    return check_log_folder(needs.log_dir)


def _workflow(needs: RunNeeds) -> Iterator[Finding]:
    for problem in needs.workflow:
        # The finding about the working folder says it already.
        if problem.place != "workdir" or needs.workdir.is_dir():
            yield _as_finding(say("workflow"), problem)
    if needs.orders:
        count = needs.turns
        words = say_number(
            count,
            "{workflow} can run, with one agent.",
            "{workflow} can run, with {count} agents.",
            workflow=needs.name,
        )
        yield Finding(say("workflow"), FindingStatus.OK, words)


def _backend_check(name: str) -> _Check:
    def check(needs: RunNeeds) -> Iterator[Finding]:
        need = need_of(name, needs)
        of_it = backend(name)
        found = of_it.examine(needs.workdir)
        yield from (judged(finding, need) for finding in found)
        orders = needs.orders.get(name)
        if not orders or any(
            finding.absent or finding.status is FindingStatus.ERROR for finding in found[:1]
        ):
            return
        problems = of_it.check(orders)
        subject = agents_subject(name)
        yield from (_as_finding(subject, problem) for problem in problems)
        if not problems:
            names = ", ".join(dict.fromkeys(order.agent.name for order in orders))
            yield Finding(subject, FindingStatus.OK, say("Nothing is in the way of {names}.", names=names))

    return check


def need_of(name: str, needs: RunNeeds) -> Need:
    """How much a backend is needed."""
    if name in needs.backends:
        return Need.WORKFLOW
    return Need.DEFAULT if needs.name is None and name == needs.default_backend else Need.NOBODY


def judged(finding: Finding, need: Need) -> Finding:
    """The finding with the weight that it has for this need.

    A CLI that is not there is in the way of a workflow that uses it; as the default it is worth knowing, as
    the examples do without. One that is there and broken, but used by nobody, is worth knowing too.
    """
    if need is Need.WORKFLOW or finding.status is FindingStatus.OK:
        return finding
    if need is Need.NOBODY and finding.absent:
        return replace(
            finding,
            status=FindingStatus.OK,
            message=f"{finding.message} {say('Nothing here needs it.')}",
        )
    if finding.absent or need is Need.NOBODY:
        return replace(finding, status=FindingStatus.WARNING)
    return finding


def _as_finding(subject: str, problem: Problem) -> Finding:
    error = problem.severity is Severity.ERROR
    return Finding(
        subject,
        FindingStatus.ERROR if error else FindingStatus.WARNING,
        replace(problem, suggestion="").text(),
        problem.suggestion,
    )
