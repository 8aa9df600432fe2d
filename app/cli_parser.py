"""What may be said on the command line. Needs neither Qt nor core: a mistyped option is answered at once."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

COMMANDS = ("gui", "run", "resume", "runs", "export", "validate", "config", "doctor", "schema", "agents")
RUN_EPILOG = (
    "Ends with 0 when the run completed, 1 when it ended otherwise, 2 when it could not start, "
    "130 when it was interrupted."
)


def parser(command: str = "") -> argparse.ArgumentParser:
    """The parser of all commands; `command` of what it gives is one of COMMANDS.

    `command`: the one that is given, where it is known. The window waits for no other one.
    """
    top = argparse.ArgumentParser(
        prog="openloop",
        description="Build workflows of coding agents, run them, and watch every agent live.",
        epilog="Without a command the window opens.",
    )
    top.add_argument("--version", action=_Version)
    commands = top.add_subparsers(metavar="command", dest="command")

    gui = commands.add_parser("gui", help="open the window (default)")
    gui.add_argument("workflow", nargs="?", type=Path, help="workflow file to open; default: an example")
    gui.add_argument("--theme", choices=("system", "light", "dark"), help="how the window looks")
    if command == "gui":
        return top

    run = commands.add_parser("run", help="run a workflow without a window", epilog=RUN_EPILOG)
    run.add_argument("workflow", type=Path, help="workflow file")
    _add_places(run)
    _add_limits(run)
    _add_settings(run)
    _add_output(run)

    resume = commands.add_parser(
        "resume",
        help="go on with a run that ended before it was complete",
        epilog=f"What is finished does not run again. {RUN_EPILOG}",
    )
    resume.add_argument("run", type=Path, help="its id as `openloop runs` shows it, or its folder")
    _add_places(resume)
    _add_limits(resume)
    resume.add_argument(
        "--merge",
        action="append",
        default=[],
        metavar="PATH=RULE",
        help="merge rule for the path whose conflict ended the run, such as payload.score=max",
    )
    resume.add_argument(
        "--end-orphans",
        action="store_true",
        help="end processes of the run that outlived OpenLoop, without asking",
    )
    _add_output(resume)

    runs = commands.add_parser("runs", help="list the runs of a folder, and where each would go on")
    runs.add_argument("workflow", nargs="?", type=Path, help="workflow file; default: the current folder")
    _add_places(runs)
    runs.add_argument("--json", action="store_true", help="print one JSON object a line")

    export = commands.add_parser(
        "export",
        help="write a run as one HTML file that opens anywhere, or as JSON",
        epilog="Without --html and --json: HTML in the current folder, named after the workflow and the run.",
    )
    export.add_argument("run", type=Path, help="its id as `openloop runs` shows it, or its folder")
    export.add_argument("--html", type=Path, metavar="FILE", help="write the report there as HTML")
    export.add_argument(
        "--json", type=Path, metavar="FILE", help="write the report there as JSON; -: print it"
    )
    _add_places(export)

    validate = commands.add_parser("validate", help="tell every problem of workflow files")
    validate.add_argument("workflow", nargs="+", type=Path, help="workflow file")
    validate.add_argument(
        "--workdir", type=Path, metavar="FOLDER", help="folder that the agents would work in"
    )

    config = commands.add_parser("config", help="print every setting, its value and where it comes from")
    config.add_argument("workflow", nargs="?", type=Path, help="workflow file; default: none")
    _add_places(config)
    _add_settings(config)
    config.add_argument("--json", action="store_true", help="print one JSON object a line")

    doctor = commands.add_parser("doctor", help="look whether this machine has what runs need")
    doctor.add_argument("workflow", nargs="?", type=Path, help="workflow file; default: none")
    _add_places(doctor)
    doctor.add_argument("--json", action="store_true", help="print one JSON object a line")

    schema = commands.add_parser("schema", help="print the JSON Schema of workflow files")
    other = schema.add_mutually_exclusive_group()
    other.add_argument("--report", action="store_true", help="print that of runs' reports as JSON instead")
    other.add_argument(
        "--settings", action="store_true", help="print that of files with settings (openloop.json) instead"
    )

    agents = commands.add_parser("agents", help="list the agents that a workflow may use")
    agents.add_argument("workflow", nargs="?", type=Path, help="workflow file; default: the current folder's")
    return top


def _add_places(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--workdir",
        type=Path,
        metavar="FOLDER",
        help="folder that the agents work in; default: the workflow's, else the current one",
    )
    to.add_argument(
        "--log-dir", type=Path, metavar="FOLDER", help="folder of the run folders; default: .openloop there"
    )


def _add_limits(to: argparse.ArgumentParser) -> None:
    to.add_argument("--max-loops", type=_count, metavar="N", help="passes over the loop at most")
    to.add_argument("--max-parallel", type=_count, metavar="N", help="agents at the same time at most")
    to.add_argument(
        "--max-cost", type=_amount_or_none, metavar="USD", help="what the run may cost; none: no cap"
    )
    to.add_argument("--max-cost-per-group", type=_amount_or_none, metavar="USD", help="what a group may cost")
    to.add_argument("--max-tokens", type=_natural_or_none, metavar="N", help="tokens that the run may use")
    to.add_argument("--retries", type=_natural, metavar="N", help="attempts after a failure that may pass")
    to.add_argument("--agent-timeout", type=_amount, metavar="S", help="seconds for every agent; 0: no limit")
    to.add_argument("--group-timeout", type=_amount, metavar="S", help="seconds for every group; 0: no limit")


def _add_settings(to: argparse.ArgumentParser) -> None:
    to.add_argument("--backend", help="agent CLI of agents that name none")
    to.add_argument("--model", help="model of opencode agents that name none")
    to.add_argument("--agent", help="opencode agent that runs the prompts")
    to.add_argument("--variant", help="variant of the model, such as its reasoning effort")
    to.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any setting, as `openloop config` names it; may be given more than once",
    )


def _add_output(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--trust", action="store_true", help="run the commands that the files bring along, and remember them"
    )
    to.add_argument("--json", action="store_true", help="print one JSON event a line")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that costs more than all the rest."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from core.version import own_version

        sys.stdout.write(f"openloop {own_version()}\n")
        parser.exit()


def _count(text: str) -> int:
    return _whole(text, 1)


def _natural(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, not {text}")
    return number


def _natural_or_none(text: str) -> float:
    return math.inf if text.casefold() == "none" else _natural(text)


def _amount_or_none(text: str) -> float:
    return math.inf if text.casefold() == "none" else _amount(text)


def _amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not (number >= 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, not {text}")
    return number
