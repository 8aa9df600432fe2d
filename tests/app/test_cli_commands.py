"""The commands beside `run`: the window by default, validate, schema, agents, help."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import resources
from app.cli import main
from tests.app.cli_support import openloop
from tests.core.run_support import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays of Linux")
@pytest.mark.parametrize("words", [[], ["audit.json"], ["gui"], ["--theme", "dark", "audit.json"]], ids=str)
def test_the_window_is_meant_where_no_command_is_given(words: list[str], tmp_path: Path) -> None:
    """And without a display Qt would end with a core dump."""
    done = openloop(*words, cwd=tmp_path, env={"QT_QPA_PLATFORM": ""})
    assert done.returncode == 2
    assert done.stderr.startswith("The window cannot be opened: there is no display.")
    assert "`openloop run` works without" in done.stderr


@pytest.mark.parametrize("command", ["", "gui", "run", "validate", "schema", "agents"])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: openloop {command}".rstrip())
    named = {
        "": ["run", "validate", "schema", "agents", "--version", "window"],
        "gui": ["--theme", "workflow"],
        "run": ["--workdir", "--log-dir", "--max-loops", "--max-parallel", "--json", "130"],
        "validate": ["workflow [workflow ...]", "--workdir"],
        "agents": ["workflow"],
    }
    assert all(word in shown for word in named.get(command, []))


def test_the_version_is_told(tmp_path: Path) -> None:
    done = openloop("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()[0], len(done.stdout.split())) == (0, "openloop", 2)


# --- validate, schema, agents -----------------------------------------------------------------------------


def test_validate_tells_every_problem_in_one_pass_with_place_and_advice(shop: Workshop) -> None:
    shop.agent("vera")
    path = shop.folder / "wrong.json"
    path.write_text(
        '{\n  "loop_agents": ["vera", "vrea"],\n  "max_loop": 3,\n  "max_loops": 0,\n'
        '  "end_state_condition": "payload.get(",\n'
        '  "finalization_agents": [{"mode": "parallell", "agents": ["vera"]}]\n}\n',
        encoding="utf-8",
    )
    done = openloop("validate", path, cwd=shop.folder)
    assert done.returncode == 2
    found = done.stdout

    def line_with(*words: str) -> str:
        lines = [line for line in found.splitlines() if all(word in line for word in words)]
        assert len(lines) == 1, (words, found)
        return lines[0]

    assert f"{path}:4:" in line_with("error", "max_loops:")
    assert f"{path}:3:" in line_with("warning", "max_loop", "max_loops?")
    assert f"{path}:6:" in line_with("error", "parallell")
    assert f"{path}:5:" in line_with("error", "end_state_condition")
    assert f"{path}:2:" in line_with("error", "vrea", "vera?")
    assert re.search(r"wrong\.json: 4 errors, 1 warning$", found.strip())


def test_validate_tells_what_is_wrong_in_a_file_with_settings_and_uses_the_rest(shop: Workshop) -> None:
    """What keeps a run from beginning is told beforehand, with the file that it is in."""
    shop.agent("vera")
    path = shop.file({"loop_agents": ["vera"], "end_state_condition": "is_complete"})
    settings = shop.folder / "openloop.json"
    settings.write_text('{"agent_timeout": "abc", "max_lops":', encoding="utf-8")
    broken = openloop("validate", path, cwd=shop.folder)
    assert broken.returncode == 2
    assert re.search(rf"^error: {re.escape(str(settings))}:1:\d+: ", broken.stdout, re.MULTILINE)
    assert broken.stdout.splitlines()[-1].endswith(": 1 error, 1 warning")

    settings.write_text('{"max_lops": 3, "agents_dir": "mine", "backend": "nope"}', encoding="utf-8")
    (shop.folder / "mine").mkdir()
    found = openloop("validate", path, cwd=shop.folder).stdout
    assert re.search(
        rf"^warning: {re.escape(str(settings))}:1:.*Did you mean max_loops\?", found, re.MULTILINE
    )
    assert re.search(rf"^error: {re.escape(str(settings))}:1:.*no backend called nope", found, re.MULTILINE)


def test_validate_says_that_a_fan_out_group_cannot_run_yet(shop: Workshop) -> None:
    shop.agent("vera")
    path = shop.file({"loop_agents": [{"mode": "fan_out", "agent": "vera", "tasks": ["one"]}]})
    done = openloop("validate", path, cwd=shop.folder)
    assert done.returncode == 2
    assert "loop_agents[0]: This version of OpenLoop cannot run fan-out" in done.stdout
    refused = openloop("run", path, cwd=shop.folder)
    assert refused.returncode == 2
    assert "Nothing was started." in refused.stderr


def test_validate_checks_many_files_and_passes_good_ones(shop: Workshop) -> None:
    done = openloop("validate", *resources.example_workflows(), cwd=shop.folder)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("no errors, no warnings") == len(resources.example_workflows())


def test_validate_tells_about_each_of_several_files_whatever_is_wrong_with_one(shop: Workshop) -> None:
    shop.agent("vera")
    good = shop.file({"preparation_agents": ["vera"]})
    (shop.folder / "broken.json").write_text("{", encoding="utf-8")
    done = openloop("validate", "gone.json", "broken.json", good.name, cwd=shop.folder)
    assert (done.returncode, done.stderr) == (2, "")
    assert re.search(r"^error: gone\.json: There is no such file\.", done.stdout, re.MULTILINE)
    assert re.search(r"^error: broken\.json:1:\d+: ", done.stdout, re.MULTILINE)
    ends = [line for line in done.stdout.splitlines() if not line.startswith(("error", "warning"))]
    assert ends == [
        "gone.json: 1 error, no warnings",
        "broken.json: 1 error, no warnings",
        "workflow.json: no errors, no warnings",
    ]


def test_the_schema_is_printed_as_json(tmp_path: Path) -> None:
    done = openloop("schema", cwd=tmp_path)
    assert done.returncode == 0
    schema = json.loads(done.stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "loop_agents" in schema["properties"]


def test_agents_lists_those_beside_the_workflow_and_the_examples(shop: Workshop) -> None:
    shop.agent("mine", role="auditor")
    path = shop.file({"preparation_agents": ["mine"]})
    done = openloop("agents", path, cwd=shop.folder)
    assert done.returncode == 0
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("mine "))
    assert "auditor · demo · may complete" in line
    assert str(shop.folder / "agents" / "mine.md") in line
    assert "comes with OpenLoop" not in line
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("proteus "))
    assert "comes with OpenLoop, does no work" in line
