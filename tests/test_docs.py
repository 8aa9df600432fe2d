"""What the pages say is true: links lead somewhere, commands work, options, keys and files exist."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from app.builder.workflow_view import WorkflowView
from app.cli_parser import COMMANDS
from app.document import WorkflowDocument
from app.run_view.log_view import LogView
from app.window_actions import WindowActions
from core.settings_words import setting_variables

PROJECT = Path(__file__).resolve().parents[1]
PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")])
README = (PROJECT / "README.md").read_text(encoding="utf-8")
GUIDE = (PROJECT / "docs" / "user-guide.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def page_name(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def openloop(words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OPENLOOP_HOME": str(cwd / "home"), "OPENLOOP_DEMO_SPEED": "0"}
    return subprocess.run(
        [sys.executable, str(PROJECT / "main.py"), *words],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


# --- links and files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith("https://"):
            continue
        name, _, heading = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.is_file(), target
        assert path.is_relative_to(PROJECT), target
        if heading:
            assert heading in headings(path), target


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_file_of_the_project_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:app|core|resources|tests|docs|\.ci)/[\w./-]+)`", text):
        assert (PROJECT / name).exists(), name


def test_every_variable_that_a_page_names_is_one_the_code_reads() -> None:
    folders = ("core/**/*.py", "app/**/*.py", "resources/*.py", "tests/app/*.py")
    sources = [path for pattern in folders for path in PROJECT.glob(pattern)]
    code = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    named = {name for page in PAGES for name in re.findall(r"OPENLOOP_\w+", page.read_text(encoding="utf-8"))}
    assert {name for name in named - set(setting_variables()) if f'"{name}"' not in code} == set()
    assert "OPENLOOP_OPENCODE" in named


def test_every_dependency_has_a_reason_and_every_reason_a_dependency() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[><=!\[]", text)[0] for text in declared} - {"openloop"}
    page = (PROJECT / "docs" / "dependencies.md").read_text(encoding="utf-8").partition("## Not from PyPI")[0]
    rows = re.findall(r"^\| ([^|]+) \| [^|]{10,} \| [^|]{10,} \|$", page, re.MULTILINE)
    assert {name for row in rows for name in row.split(", ")} == names


# --- the two lines ------------------------------------------------------------------------------------


def test_ci_runs_the_test_line_of_the_readme_and_no_other() -> None:
    script = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r"^test_line=\$\(readme_line '(.+)'\)$", script, re.MULTILINE)
    assert found is not None
    lines = [line for line in README.splitlines() if re.search(found[1], line)]
    assert lines == [
        'python3 -m venv .venv && .venv/bin/pip install -q -e ".[test]" && .venv/bin/python -m pytest'
    ]
    assert 'bash -c "$test_line"' in script
    assert len(re.findall(r"(?<!\.)pytest\b(?!\.(xml|log))", script.replace(found[0], ""))) == 0


def test_the_lines_for_windows_do_the_same() -> None:
    def on_windows(line: str) -> str:
        return line.replace("python3", "py -3").replace(".venv/bin/", ".venv\\Scripts\\")

    lines = [line for line in README.splitlines() if line.startswith("python3 -m venv ")]
    assert len(lines) == 2
    for line in lines:
        assert on_windows(line) in README.splitlines()


# --- the command line ---------------------------------------------------------------------------------


def shown_commands() -> list[str]:
    """The calls of OpenLoop in the README's code blocks."""
    blocks = "\n".join(FENCE.findall(README))
    return [line for line in re.findall(r"^openloop .+$", blocks, re.MULTILINE) if "<" not in line]


@pytest.mark.parametrize("line", shown_commands())
def test_every_call_that_the_readme_shows_works(line: str, tmp_path: Path) -> None:
    words = shlex.split(line.replace("resources/", f"{(PROJECT / 'resources').as_posix()}/"))[1:]
    done = openloop(words, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    if "--json" in words:
        events = [json.loads(event)["type"] for event in done.stdout.splitlines()]
        assert (events[0], events[-1]) == ("run_started", "run_finished")
    else:
        assert done.stdout


def test_the_readme_shows_every_command_but_the_window() -> None:
    shown = {call.split()[1] for call in calls_in(README) if call.split()[1].isalpha()}
    assert shown == set(COMMANDS) - {"gui"}


def test_the_guide_names_exactly_the_options_of_run(tmp_path: Path) -> None:
    shown = openloop(["run", "--help"], tmp_path).stdout
    options = set(re.findall(r"--[a-z][\w-]+", shown)) - {"--help"}
    rows = [line.split("|")[1] for line in GUIDE.splitlines() if line.startswith("| `--")]
    assert set(re.findall(r"`(--[\w-]+)", " ".join(rows))) == options


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_option_of_openloop_that_a_page_names_exists(page: Path, tmp_path: Path) -> None:
    named: set[tuple[str, str]] = set()
    for call in calls_in(page.read_text(encoding="utf-8")):
        words = call.split()
        command = words[1] if len(words) > 1 and words[1].islower() and words[1].isalpha() else ""
        named |= {(command, word) for word in words if word.startswith("--")}
    for command in {command for command, _ in named}:
        done = openloop([command, "--help"] if command else ["--help"], tmp_path)
        assert done.returncode == 0, command
        for _, option in {pair for pair in named if pair[0] == command}:
            assert option in done.stdout, f"openloop {command} {option}"


def calls_in(text: str) -> Iterator[str]:
    """`openloop …` in code, inline or in blocks."""
    yield from re.findall(r"`(openloop [^`]*)`", FENCE.sub("", text))
    yield from re.findall(r"^openloop .+$", "\n".join(FENCE.findall(text)), re.MULTILINE)


# --- keys ---------------------------------------------------------------------------------------------


def guide_keys() -> set[str]:
    """Every key of the guide's tables."""
    section = GUIDE.partition("\n## Keys\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (.+?) \|", section, re.MULTILINE)
    return {key for cell in cells for key in re.split(r"; | or |, ", cell)}


@pytest.mark.skipif(sys.platform == "darwin", reason="the guide writes keys as on other systems")
def test_the_guide_names_every_key_of_the_window(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    document = WorkflowDocument(window)
    view = WorkflowView(document, window)
    log = LogView(window)
    owners = (WindowActions(window), view.commands, log)
    actions = [action for owner in owners for action in owner.findChildren(QAction)]
    keys = {key.toString() for action in actions for key in action.shortcuts()[:1]}
    assert len(keys) > 30
    spelled = {key.replace("Del", "Delete").replace("PgUp", "Page up") for key in keys}
    assert spelled - guide_keys() == set()
