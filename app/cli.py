"""The command line: the window by default, and what can be done without one. Only the window needs Qt."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.headless_text import one_line

if TYPE_CHECKING:
    from core.agent import AgentDefinition

EXIT_OK, EXIT_ENDED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
"""What a command tells the shell: completed; ended otherwise; usage or invalid file; Ctrl+C."""

_COMMANDS = ("gui", "run", "validate", "schema", "agents")


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
    if not words or (words[0] not in _COMMANDS and words[0] not in ("-h", "--help", "--version")):
        words.insert(0, "gui")
    options = _parser().parse_args(words)
    command: Callable[[argparse.Namespace], int] = options.command
    return command(options)


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
    if word in _COMMANDS or word.startswith("-"):
        return False
    path = Path(word)
    return path.name == word and not path.suffix and not path.exists()


def _explain_mistyped(word: str) -> int:
    from core.findings import did_you_mean

    advice = did_you_mean(word, _COMMANDS) or "See openloop --help."
    _complain(f"openloop: There is no command and no file called {word}. {advice}")
    return EXIT_USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="openloop",
        description="Build workflows of coding agents, run them, and watch every agent live.",
        epilog="Without a command the window opens.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(metavar="command")

    gui = commands.add_parser("gui", help="open the window (default)")
    gui.add_argument("workflow", nargs="?", type=Path, help="workflow file to open; default: an example")
    gui.add_argument("--theme", choices=("system", "light", "dark"), help="how the window looks")
    gui.set_defaults(command=_gui)

    run = commands.add_parser(
        "run",
        help="run a workflow without a window",
        epilog="Ends with 0 when the run completed, 1 when it ended otherwise, 2 when it could not start, "
        "130 when it was interrupted.",
    )
    run.add_argument("workflow", type=Path, help="workflow file")
    run.add_argument(
        "--workdir",
        type=Path,
        metavar="FOLDER",
        help="folder that the agents work in; default: the workflow's, else the current one",
    )
    run.add_argument(
        "--log-dir", type=Path, metavar="FOLDER", help="folder of the run folders; default: .openloop there"
    )
    run.add_argument("--max-loops", type=_count, metavar="N", help="passes over the loop at most")
    run.add_argument("--max-parallel", type=_count, metavar="N", help="agents at the same time at most")
    run.add_argument("--json", action="store_true", help="print one JSON event a line")
    run.set_defaults(command=_run)

    validate = commands.add_parser("validate", help="tell every problem of workflow files")
    validate.add_argument("workflow", nargs="+", type=Path, help="workflow file")
    validate.add_argument(
        "--workdir", type=Path, metavar="FOLDER", help="folder that the agents would work in"
    )
    validate.set_defaults(command=_validate)

    schema = commands.add_parser("schema", help="print the JSON Schema of workflow files")
    schema.set_defaults(command=_schema)

    agents = commands.add_parser("agents", help="list the agents that a workflow may use")
    agents.add_argument("workflow", nargs="?", type=Path, help="workflow file; default: the current folder's")
    agents.set_defaults(command=_agents)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that costs more than all the rest."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from core.version import own_version

        _say(f"openloop {own_version()}")
        parser.exit()


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text}")
    return number


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
        from app.application import run_application
    except ImportError as error:
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


def _run(options: argparse.Namespace) -> int:
    from app.headless import run_headless

    return run_headless(
        options.workflow,
        workdir=options.workdir,
        log_dir=options.log_dir,
        max_loops=options.max_loops,
        max_parallel=options.max_parallel,
        as_json=options.json,
    )


def _validate(options: argparse.Namespace) -> int:
    from core.backends.registry import backend_names
    from core.check import check_path
    from core.problems import Severity

    worst = EXIT_OK
    for path in options.workflow:
        problems = check_path(path, backend_names(), options.workdir)
        for problem in problems:
            _say(f"{problem.severity.value}: {problem.text()}")
        errors = sum(problem.severity is Severity.ERROR for problem in problems)
        if errors:
            worst = EXIT_USAGE
        warnings = len(problems) - errors
        _say(f"{path}: {_amount(errors, 'error')}, {_amount(warnings, 'warning')}")
    return worst


def _amount(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _schema(_: argparse.Namespace) -> int:
    import resources

    sys.stdout.write(resources.schema_file().read_text(encoding="utf-8"))
    return EXIT_OK


def _agents(options: argparse.Namespace) -> int:
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
    facts = [agent.role or "no role", agent.backend or "opencode"]
    return " · ".join([*facts, "may complete"] if agent.may_complete else facts)
