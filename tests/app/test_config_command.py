"""`openloop config` as a person or a script meets it, and settings of all places in `openloop run`."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.config_command import print_config
from core.events import RunFinished
from core.json_types import JsonObject, JsonValue
from core.planning import RunOverrides
from core.settings_keys import SETTING_KEYS
from tests.app.cli_support import Terminal, journal_of, openloop
from tests.core.run_support import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return Workshop(folder.resolve())


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment with a user's folder of its own."""
    return {"OPENLOOP_HOME": str(tmp_path / "user")}


def user_file(home: Mapping[str, str], document: JsonValue) -> Path:
    path = Path(home["OPENLOOP_HOME"]) / "config" / "openloop.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def project_file(shop: Workshop, text: str) -> Path:
    path = shop.folder / "openloop.json"
    path.write_text(text, encoding="utf-8")
    return path


def rows(table: str) -> dict[str, list[str]]:
    """By key: value, origin and source of the table."""
    lines = table.partition("\n\n")[0].splitlines()
    return {line.split()[0]: [part for part in line.split("  ")[1:] if part] for line in lines}


def test_every_setting_is_printed_with_its_value_and_where_it_comes_from(
    shop: Workshop, home: dict[str, str]
) -> None:
    shop.agent("vera")
    workflow = shop.file({"loop_agents": ["vera"], "max_loops": 10, "agent_timeout": 5})
    text = '{\n  "agent_timeout": 60, // short\n  "retries": 2,\n  "log_dir": "runs",\n}'
    project = project_file(shop, text)
    user = user_file(home, {"retries": 7, "opencode_defaults": {"model": "p/m"}})
    environ = {**home, "OPENLOOP_BUDGET__MAX_TOKENS": "5000"}
    done = openloop("config", workflow, "--set", "merge.payload.x=append", cwd=shop.folder, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    shown = {key: [part.strip() for part in row] for key, row in rows(done.stdout).items()}
    assert list(shown) == [*SETTING_KEYS, "merge.payload.x"]
    assert shown["max_loops"] == ["10", "workflow", str(workflow)]
    assert shown["agent_timeout"] == ["5", "workflow", str(workflow)]
    assert shown["retries"] == ["2", "project", f"{project}:3"]
    assert shown["opencode_defaults.model"] == ['"p/m"', "user", f"{user}:1"]
    assert shown["budget.max_tokens"] == ["5000", "environment", "OPENLOOP_BUDGET__MAX_TOKENS"]
    assert shown["merge.payload.x"] == ['"append"', "command line", "--set merge.payload.x"]
    assert shown["log_dir"] == [json.dumps(str(shop.folder / "runs")), "project", f"{project}:4"]
    # What is not set is shown as what it comes to.
    assert shown["workdir"] == [json.dumps(str(shop.folder)), "default"]
    assert shown["backend"] == ['"opencode"', "default"]
    assert shown["max_parallel_agents"] == [str(os.cpu_count()), "default"]
    assert "\x1b" not in done.stdout


def test_the_columns_stand_in_line(shop: Workshop, home: dict[str, str]) -> None:
    done = openloop("config", "--set", f"init_script={'x' * 300}", cwd=shop.folder, env=home)
    lines = done.stdout.partition("\n\n")[0].splitlines()
    folders = ("workdir", "log_dir")
    defaults = [line for line in lines if line.endswith(" default") and not line.startswith(folders)]
    assert len(defaults) > 20
    assert {line.index(" default") for line in defaults} == {76}
    (long,) = (line for line in lines if line.startswith("init_script"))
    assert long.endswith(f'"{"x" * 300}"  command line  --set init_script')


def test_the_files_that_were_looked_for_are_told(shop: Workshop, home: dict[str, str]) -> None:
    inner = shop.folder / "inner"
    inner.mkdir()
    project = project_file(shop, "{}")
    done = openloop("config", "gone.json", cwd=inner, env=home)
    told = done.stdout.partition("\n\n")[2].splitlines()
    assert [" ".join(line.split()) for line in told[1:]] == [
        "workflow gone.json: not there",
        f"project {inner / 'openloop.json'}: not there",
        f"project {project}: read",
        f"user {Path(home['OPENLOOP_HOME']) / 'config' / 'openloop.json'}: not there",
    ]
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "gone.json: There is no such file." in done.stderr


def test_json_has_one_object_a_line(shop: Workshop, home: dict[str, str]) -> None:
    project = project_file(shop, '{"budget": {"max_cost_usd": 1.5}}')
    script = "echo 'ü' \U0001f600\n\x1b[2J"
    done = openloop("config", "--json", "--set", f"init_script={script}", cwd=shop.folder, env=home)
    assert done.returncode == 0
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    settings = {item["key"]: item for item in objects if "key" in item}
    assert list(settings) == list(SETTING_KEYS)
    assert settings["budget.max_cost_usd"] == {
        "key": "budget.max_cost_usd",
        "value": 1.5,
        "origin": "project",
        "source": str(project),
        "line": 1,
    }
    assert settings["init_script"]["value"] == script
    files = [item for item in objects if "key" not in item]
    assert files[0] == {"origin": "project", "file": str(project), "exists": True}
    assert (files[1]["origin"], files[1]["exists"]) == ("user", False)


def test_what_files_say_cannot_steer_the_terminal(shop: Workshop, home: dict[str, str]) -> None:
    evil = {"init_script": "\x1b[2Jboo\nretries 99", "\x1b[2Jodd": 1, "merge": {"a\nretries 98": "sum"}}
    project_file(shop, json.dumps(evil))
    done = openloop("config", cwd=shop.folder, env=home)
    assert "\x1b" not in done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("retries")] == [
        ["retries", "0"]
    ]
    assert "merge.a retries 98" in done.stdout
    assert "There is no setting" in done.stderr


def test_a_workflow_with_errors_is_told_as_far_as_it_can_be(shop: Workshop, home: dict[str, str]) -> None:
    shop.agent("vera")
    workflow = shop.file(
        {"loop_agents": ["verra"], "max_loops": "x", "retries": 4, "agent_timout": 5, "backend": "demoo"}
    )
    project_file(shop, '{\n"max_loops": 6,\n"isolation": "worktree", "agent_timeout": "z"}')
    done = openloop("config", workflow, cwd=shop.folder, env={**home, "OPENLOOP_RETRYS": "1"})
    assert done.returncode == 2
    shown = rows(done.stdout)
    assert shown["retries"][0].strip() == "4"
    assert shown["max_loops"][1].strip() == "project"
    assert shown["agent_timeout"][1].strip() == "default"
    told = done.stderr
    assert 'max_loops must be a whole number, not "x".' in told
    assert "agent_timout is not known" in told
    assert "openloop.json:3:43: agent_timeout: agent_timeout must be a number" in told
    assert "openloop.json:3:14: isolation: This version of OpenLoop cannot" in told
    assert "Did you mean OPENLOOP_RETRIES?" in told
    assert "There is no agent called verra. Did you mean vera?" in told
    assert "workflow.json:1:" in next(line for line in told.splitlines() if "called demoo" in line)
    assert len(told.splitlines()) == len(set(told.splitlines())) == 7


def test_a_backend_that_there_is_not_is_an_error_without_a_workflow_too(
    shop: Workshop, home: dict[str, str]
) -> None:
    done = openloop("config", "--backend", "dem", cwd=shop.folder, env=home)
    assert done.returncode == 2
    assert done.stderr == "error: --backend: There is no backend called dem. Did you mean demo?\n"
    assert rows(done.stdout)["backend"][0].strip() == '"dem"'


def test_a_workflow_that_is_no_json_leaves_the_other_places(shop: Workshop, home: dict[str, str]) -> None:
    workflow = shop.folder / "broken.json"
    workflow.write_text("{", encoding="utf-8")
    project_file(shop, '{"retries": 3}')
    done = openloop("config", workflow, cwd=shop.folder, env=home)
    assert done.returncode == 2
    assert "broken.json:1:1" in done.stderr
    assert rows(done.stdout)["retries"][0].strip() == "3"
    assert "broken.json: cannot be read" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "retries"], "write KEY=VALUE"),
        (["--set", "retrys=1"], "--set retrys: There is no setting retrys. Did you mean retries?"),
        (["--set", "retries=x"], '--set retries: retries must be a whole number, not "x".'),
    ],
)
def test_a_wrong_set_is_named(shop: Workshop, home: dict[str, str], words: list[str], told: str) -> None:
    done = openloop("config", *words, cwd=shop.folder, env=home)
    assert done.returncode == 2
    assert told in done.stderr


def test_the_folders_of_the_command_line_are_settings(
    shop: Workshop, home: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / "openloop.json").write_text('{"retries": 8}', encoding="utf-8")
    environ = {**home, "OPENLOOP_WORKDIR": "nowhere"}
    done = openloop("config", "--workdir", other, "--log-dir", "logs", cwd=shop.folder, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    shown = {key: [part.strip() for part in row] for key, row in rows(done.stdout).items()}
    assert shown["retries"][0] == "8"
    assert shown["workdir"] == [json.dumps(str(other)), "command line", "--workdir"]
    assert shown["log_dir"] == [json.dumps(str(shop.folder / "logs")), "command line", "--log-dir"]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_on_a_terminal_what_somebody_said_stands_out(shop: Workshop) -> None:
    project_file(shop, '{"retries": 3, "init_script": "[bold]x[/bold] :smile:"}')
    with Terminal("config", cwd=shop.folder) as terminal:
        code = terminal.end()
        lines = terminal.text.splitlines()
    assert code == 0
    (said,) = (line for line in lines if "retries" in line)
    (default,) = (line for line in lines if "max_prompt_bytes" in line)
    assert "\x1b" not in said
    assert default.startswith("\x1b[2m")
    assert '"[bold]x[/bold] :smile:"' in terminal.words


def test_it_prints_to_whatever_standard_output_is(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.chdir(shop.folder)
    assert print_config(None, RunOverrides(), {}, as_json=True) == 0
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    assert out.buffer.getvalue().count(b"\n") == len(SETTING_KEYS) + 2


# --- the same settings in runs ------------------------------------------------------------------------


def test_a_run_takes_its_settings_from_every_place(shop: Workshop, home: dict[str, str]) -> None:
    shop.agent("vera", cost_usd=0.25)
    workflow = shop.file({"loop_agents": ["vera"], "max_loops": 2})
    project_file(shop, '{"max_loops": 9, "log_dir": "runs", "budget": {"max_cost_usd": 0.7}}')
    user_file(home, {"log_dir": "/not/this", "retries": 1})

    def reason(*words: str, **environ: str) -> tuple[str, JsonObject]:
        done = openloop("run", workflow, *words, cwd=shop.folder, env={**home, **environ})
        newest = max((shop.folder / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        as_run = json.loads((newest / "workflow.json").read_text(encoding="utf-8"))
        return done.stdout + done.stderr, as_run

    said, as_run = reason()
    assert "max_loops_reached" in said
    assert "Raise max_loops, or" in said, "the command line says the name of the key"
    assert (as_run["max_loops"], as_run["retries"], as_run["budget"]) == (2, 1, {"max_cost_usd": 0.7})
    said, as_run = reason(OPENLOOP_MAX_LOOPS="8")
    assert "budget_exceeded:max_cost_usd" in said
    assert as_run["max_loops"] == 8
    said, as_run = reason("--set", "budget.max_cost_usd=0.2", "--set", "max_loops=5", OPENLOOP_MAX_LOOPS="8")
    assert "budget_exceeded:max_cost_usd" in said
    assert (as_run["max_loops"], as_run["budget"]) == (5, {"max_cost_usd": 0.2})


def test_wrong_settings_start_nothing(shop: Workshop, home: dict[str, str]) -> None:
    shop.agent("vera")
    workflow = shop.file({"loop_agents": ["vera"], "max_loops": 1})
    path = project_file(shop, '{\n "agent_timeout": "soon"}')
    done = openloop("run", workflow, cwd=shop.folder, env={**home, "OPENLOOP_RETRIES": "-1"})
    assert done.returncode == 2
    assert f'error: {path}:2:19: agent_timeout: agent_timeout must be a number, not "soon".' in done.stderr
    assert "error: OPENLOOP_RETRIES: retries must be at least 0, not -1." in done.stderr
    assert done.stderr.endswith("Nothing was started.\n")
    assert not (shop.folder / ".openloop").exists()


def test_warnings_of_settings_are_told_and_the_run_goes_on(shop: Workshop, home: dict[str, str]) -> None:
    shop.agent("vera")
    workflow = shop.file({"loop_agents": ["vera"], "max_loops": 1})
    project_file(shop, '{"retrys": 1}')
    done = openloop("run", workflow, cwd=shop.folder, env={**home, "OPENLOOP_MODEL": "p/m"})
    assert "Did you mean retries?" in done.stderr
    assert "OPENLOOP_MODEL: " in done.stderr
    assert "Did you mean OPENLOOP_OPENCODE_DEFAULTS__MODEL?" in done.stderr
    (finished,) = (event for event in journal_of(shop.folder) if isinstance(event, RunFinished))
    assert finished.termination_reason == "max_loops_reached"


def test_the_schema_of_settings_is_printed(shop: Workshop, project_root: Path) -> None:
    done = openloop("schema", "--settings", cwd=shop.folder)
    assert json.loads(done.stdout)["title"] == "OpenLoop settings"
    shipped = project_root / "resources" / "settings.schema.json"
    assert done.stdout == shipped.read_text(encoding="utf-8")
