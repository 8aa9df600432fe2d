"""The command line: the window by default, and what can be done without one. Only the window needs Qt."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli_parser import COMMANDS, parser
from app.headless_text import one_line
from app.kept_code import kept_code

if TYPE_CHECKING:
    from core.agent import AgentDefinition
    from core.planning import RunOverrides

EXIT_OK, EXIT_ENDED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
"""What a command tells the shell: completed; ended otherwise; usage or invalid file; Ctrl+C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run OpenLoop with these arguments (default: those of the process). Gives the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        Path.cwd()
    except OSError:
        _complain("The current folder does not exist any more. Change to another one and try again.")
        return EXIT_USAGE
    _mend_streams()
    try:
        code = _obey(words)
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_LOST:
            raise
        return _lose_output(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return code


def _obey(words: list[str]) -> int:
    if words and _is_mistyped(words[0]):
        return _explain_mistyped(words[0])
    # `openloop audit.json` opens the window with the file.
    if not words or (words[0] not in COMMANDS and words[0] not in ("-h", "--help", "--version")):
        words.insert(0, "gui")
    options = parser(words[0]).parse_args(words)
    return _DO[options.command](options)


def _mend_streams() -> None:
    """A stream that was closed (`>&-`) takes everything; a sign that cannot be shown ends nothing."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            mode = "r" if name == "stdin" else "w"
            # Else the next file that is opened would get its number, and what is meant for the stream.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


_OUTPUT_LOST = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EINVAL, errno.EFBIG, errno.EBADF, errno.EDQUOT)
"""How writing to standard output may fail: no reader (EINVAL on Windows), no room, no terminal any more."""


def _lose_output(error: OSError) -> int:
    """End without a traceback, and without a further attempt to write when Python closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Whose reader has gone, as in `openloop run … | head`, needs no explanation.
    if error.errno != errno.EPIPE:
        with contextlib.suppress(OSError):
            _complain(f"openloop: The output cannot be written: {error.strerror}.")
            sys.stderr.flush()
    return EXIT_ENDED


def _is_mistyped(word: str) -> bool:
    """Whether this is neither a command nor an option nor something like a file."""
    if word in COMMANDS or word.startswith("-"):
        return False
    path = Path(word)
    return path.name == word and not path.suffix and not path.exists()


def _explain_mistyped(word: str) -> int:
    from core.findings import did_you_mean

    advice = did_you_mean(word, COMMANDS) or "See openloop --help."
    _complain(f"openloop: There is no command and no file called {word}. {advice}")
    return EXIT_USAGE


def _say(text: str) -> None:
    sys.stdout.write(one_line(text) + "\n")


def _complain(text: str) -> None:
    sys.stderr.write(one_line(text) + "\n")


def _gui(options: argparse.Namespace) -> int:
    if not _may_show_windows():
        _complain(
            "The window cannot be opened: there is no display. Log in to a desktop, or set DISPLAY or "
            "WAYLAND_DISPLAY; `openloop run` works without them."
        )
        return EXIT_USAGE
    # Imports make no garbage worth looking for; app.application collects it later, in the right thread.
    gc.disable()
    try:
        with kept_code():
            from app.application import run_application
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("app", "core", "resources"):
            # Not Qt: this installation of OpenLoop is not whole.
            raise
        _complain(
            f"The window cannot be opened: {error}. On a bare Linux, install the packages that the README "
            "names for Qt; `openloop run` works without them."
        )
        return EXIT_USAGE
    return run_application(options.workflow, options.theme)


def _may_show_windows() -> bool:
    # Qt would end the process with a core dump instead of telling us.
    wanted = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in wanted)


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    """While a command's modules are imported, which is most of what a short command does.

    What is compiled there is kept for the next start, and no garbage is looked for, as none is made.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with kept_code("commands"):
            yield
    finally:
        if collects:
            gc.enable()


def _run(options: argparse.Namespace) -> int:
    with _reading():
        from app.headless import run_headless

    given = _given(options)
    if given is None:
        return EXIT_USAGE
    return run_headless(
        options.workflow, _overrides(options), given=given, trust=options.trust, as_json=options.json
    )


def _resume(options: argparse.Namespace) -> int:
    with _reading():
        from app.headless_resume import resume_headless
        from core.state import MergeRule

    overrides = _overrides(options)
    for text in options.merge:
        path, sign, rule = text.partition("=")
        if not sign or rule not in list(MergeRule):
            _complain(f"openloop: --merge {text}: write PATH=RULE; the rules are {', '.join(MergeRule)}.")
            return EXIT_USAGE
        overrides = replace(overrides, merge={**overrides.merge, path: MergeRule(rule)})
    return resume_headless(
        options.run,
        overrides,
        trust=options.trust,
        ends_orphans=options.end_orphans,
        as_json=options.json,
    )


def _runs(options: argparse.Namespace) -> int:
    with _reading():
        from app.runs_command import print_runs

    return print_runs(options.workflow, options.workdir, options.log_dir, as_json=options.json)


def _export(options: argparse.Namespace) -> int:
    with _reading():
        from app.export_command import export_run

    return export_run(options.run, _overrides(options), html=options.html, json=options.json)


def _config(options: argparse.Namespace) -> int:
    with _reading():
        from app.config_command import print_config

    given = _given(options)
    if given is None:
        return EXIT_USAGE
    return print_config(options.workflow, _overrides(options), given, as_json=options.json)


def _doctor(options: argparse.Namespace) -> int:
    with _reading():
        from app.doctor_command import print_findings

    return print_findings(options.workflow, options.workdir, options.log_dir, as_json=options.json)


def _overrides(options: argparse.Namespace) -> RunOverrides:
    from core.planning import RunOverrides

    def said(name: str) -> Any:
        return getattr(options, name, None)

    return RunOverrides(
        workdir=said("workdir"),
        log_dir=said("log_dir"),
        max_loops=said("max_loops"),
        max_parallel=said("max_parallel"),
        max_cost_usd=said("max_cost"),
        max_cost_usd_per_group=said("max_cost_per_group"),
        max_tokens=said("max_tokens"),
        retries=said("retries"),
        agent_timeout=said("agent_timeout"),
        group_timeout=said("group_timeout"),
    )


_FLAGS = {
    "backend": "backend",
    "model": "opencode_defaults.model",
    "agent": "opencode_defaults.agent",
    "variant": "opencode_defaults.variant",
}
"""Options that are settings, by their keys."""


def _given(options: argparse.Namespace) -> dict[str, str] | None:
    """The settings of the command line, by key; None: one is not written as it must be, and it was said."""
    given = {key: value for name, key in _FLAGS.items() if (value := getattr(options, name)) is not None}
    for text in options.set:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            _complain(f"openloop: --set {text}: write KEY=VALUE, such as --set retries=2.")
            return None
        given[key.strip()] = value
    return given


def _validate(options: argparse.Namespace) -> int:
    with _reading():
        from core.backends.registry import backend_names
        from core.check_in_force import check_path_in_force
        from core.problems import Severity

    worst = EXIT_OK
    for path in options.workflow:
        problems = check_path_in_force(path, backend_names(), options.workdir, environ=os.environ)
        for problem in problems:
            _say(f"{problem.severity.value}: {problem.text()}")
        count = Counter(problem.severity for problem in problems)
        if count[Severity.ERROR]:
            worst = EXIT_USAGE
        amounts = [_amount(count[each], each.value) for each in (Severity.ERROR, Severity.WARNING)]
        if count[Severity.HINT]:
            amounts.append(_amount(count[Severity.HINT], "hint"))
        _say(f"{path}: {', '.join(amounts)}")
    return worst


def _amount(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _schema(options: argparse.Namespace) -> int:
    import resources

    path = resources.settings_schema_file() if options.settings else resources.schema_file()
    if options.report:
        path = resources.report_schema_file()
    sys.stdout.write(path.read_text(encoding="utf-8"))
    return EXIT_OK


def _agents(options: argparse.Namespace) -> int:
    with _reading():
        from core.config import Workflow, WorkflowFile
        from core.problems import UserFileError
        from core.run_folders import library_of, workdir_of
        from core.workflow_file import load_workflow

    try:
        file = load_workflow(options.workflow) if options.workflow else WorkflowFile(workflow=Workflow())
    except UserFileError as error:
        for problem in error.problems:
            _complain(f"{problem.severity.value}: {problem.text()}")
        return EXIT_USAGE
    library = library_of(file, workdir_of(file))
    rows = [(agent.name, _facts(agent), str(agent.path or "")) for agent in library.agents]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    for name, facts, path in rows:
        _say(f"{name:{widths[0]}}  {facts:{widths[1]}}  {path}")
    for problem in library.problems:
        _complain(f"{problem.severity.value}: {problem.text()}")
    return EXIT_OK


def _facts(agent: AgentDefinition) -> str:
    from core.agent_folders import is_shipped

    facts = [agent.role or "no role", agent.backend or "opencode"]
    if agent.may_complete:
        facts.append("may complete")
    if agent.path is not None and is_shipped(agent.path):
        facts.append("comes with OpenLoop, does no work")
    return " · ".join(facts)


_DO: dict[str, Callable[[argparse.Namespace], int]] = {
    "gui": _gui,
    "run": _run,
    "resume": _resume,
    "runs": _runs,
    "export": _export,
    "validate": _validate,
    "config": _config,
    "doctor": _doctor,
    "schema": _schema,
    "agents": _agents,
}
