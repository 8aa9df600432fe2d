"""Settings in runs: the values of every place take effect, are told where they come from, and stay."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.backends.registry import backend_names
from core.json_types import JsonObject, JsonValue
from core.plan import PlannedGroup
from core.planning import RunOverrides
from core.platform_paths import config_folder
from core.preparing import PreparedRun, folders_in_force, prepare_run
from core.problems import Problem, UserFileError
from core.recorded_run import read_run
from core.resuming import prepare_resume
from core.settings import FILE_NAME
from core.workflow_file import load_workflow, parse_workflow
from tests.core.run_support import FinishedRun, Workshop, run_plan


@pytest.fixture(autouse=True)
def _own_user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "user"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project, whose settings are looked for nowhere above it."""
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    return made.resolve()


@pytest.fixture
def shop(folder: Path) -> Workshop:
    return Workshop(folder)


def write(path: Path, document: JsonValue) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def project_file(folder: Path, document: JsonValue) -> Path:
    return write(folder / FILE_NAME, document)


def user_file(document: JsonValue) -> Path:
    return write(config_folder() / FILE_NAME, document)


# --- problems of values in force ----------------------------------------------------------------------


def prepare(
    shop: Workshop,
    workflow: JsonObject,
    overrides: RunOverrides | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
) -> PreparedRun:
    """As the command line prepares a run of a workflow file in the project."""
    path = shop.file({"on_missing_state": "abort", "loop_agents": ["vera"], "max_loops": 1, **workflow})
    return prepare_run(
        parse_workflow(path.read_text(encoding="utf-8"), path),
        overrides,
        environ=environ or {},
        given=given,
        known_backends=backend_names(),
        default_workdir=shop.folder,
    )


def test_a_value_that_cannot_run_is_told_where_it_comes_from(shop: Workshop, folder: Path) -> None:
    shop.agent("vera")
    project = project_file(folder, {"retries": 1, "backend": "demoo"})

    def problem(workflow: JsonObject, **places: Mapping[str, str]) -> Problem:
        with pytest.raises(UserFileError) as caught:
            prepare(shop, workflow, **places)
        (found,) = caught.value.problems
        return found

    words = "There is no backend called demoo. Did you mean demo?"
    assert problem({}).text() == f"{project}:1:27: backend: {words}"
    by_variable = problem({}, environ={"OPENLOOP_BACKEND": "demoo"})
    assert by_variable.text() == f"OPENLOOP_BACKEND: {words}"
    by_option = problem({}, given={"backend": "demoo"})
    assert by_option.text() == f"--backend: {words}"
    # In the workflow: at its own line, though the settings made another workflow of it.
    own = problem({"backend": "demoo"})
    assert (own.file, own.line, own.place) == (folder / "workflow.json", 1, "backend")
    assert own.column is not None


def test_rules_and_folders_of_a_file_are_told_at_their_lines(shop: Workshop, folder: Path) -> None:
    shop.agent("vera")
    text = '{\n"merge": {\n"score": "sum"},\n"workdir": "nowhere"}'
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(UserFileError) as caught:
        prepare(shop, {})
    places = {(problem.place, problem.file, problem.line) for problem in caught.value.problems}
    assert places == {("merge.score", folder / FILE_NAME, 3), ("workdir", folder / FILE_NAME, 4)}


def test_warnings_of_settings_reach_whoever_starts_the_run(shop: Workshop, folder: Path) -> None:
    shop.agent("vera")
    project_file(folder, {"retrys": 1})
    assert "Did you mean retries?" in prepare(shop, {}).warnings[0].text()


def test_folders_of_a_workflow_mean_what_they_meant(shop: Workshop, folder: Path) -> None:
    shop.agent("vera")
    (folder / "work").mkdir()
    project_file(folder, {"log_dir": "other", "workdir": "elsewhere"})
    prepared = prepare(shop, {"workdir": "work", "log_dir": "logs"})
    assert prepared.plan.workdir == folder / "work"
    assert prepared.plan.log_dir == folder / "work" / "logs"


# --- the values reach runs ----------------------------------------------------------------------------


def run(
    shop: Workshop,
    workflow: JsonObject | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
    overrides: RunOverrides | None = None,
) -> FinishedRun:
    return run_plan(prepare(shop, workflow or {}, overrides, environ=environ, given=given).plan)


def test_a_timeout_of_the_project_ends_an_agent_unless_a_stronger_place_says_otherwise(
    shop: Workshop, folder: Path
) -> None:
    """Every place in turn ends the agent, and the next stronger one lets it go on."""
    update = "<state_update>{}</state_update>"
    shop.command("vera", sys.executable, "-c", f"import time; time.sleep(0.8); print('{update}')")
    short, long = 0.2, 60
    project_file(folder, {"agent_timeout": short})
    assert run(shop).reason == "timeout:vera:0.2"
    assert run(shop, {"agent_timeout": long}).reason in ENDED
    environ = {"OPENLOOP_AGENT_TIMEOUT": "0.25"}
    assert run(shop, {"agent_timeout": long}, environ=environ).reason == "timeout:vera:0.25"
    given = {"agent_timeout": "60"}
    assert run(shop, {"agent_timeout": short}, environ=environ, given=given).reason in ENDED
    overrides = RunOverrides(agent_timeout=0.3)
    assert run(shop, environ=environ, given=given, overrides=overrides).reason == "timeout:vera:0.3"


ENDED = ("max_loops_reached",)
"""How a run of a workflow ends in which nobody says that the work is complete, and nothing goes wrong."""


WHERE = """
import json, os
update = {"payload": {"at": os.path.basename(os.getcwd())}}
print(f"<state_update>{json.dumps(update)}</state_update>")
"""


def test_the_folders_of_the_project_are_those_of_the_run(shop: Workshop, folder: Path) -> None:
    shop.command("vera", sys.executable, "-c", WHERE)
    for name in ("one", "two", "three"):
        (folder / name).mkdir()
    project_file(folder, {"workdir": "one", "log_dir": "runs"})
    done = run(shop)
    assert (done.payload["at"], done.folder.parent) == ("one", folder / "runs")
    assert run(shop, {"workdir": "two"}).payload["at"] == "two"
    environ = {"OPENLOOP_WORKDIR": str(folder / "three"), "OPENLOOP_LOG_DIR": str(folder / "logs")}
    done = run(shop, {"workdir": "two", "log_dir": "own"}, environ=environ)
    assert (done.payload["at"], done.folder.parent) == ("three", folder / "logs")
    overrides = RunOverrides(workdir=folder / "one", log_dir=folder / "given")
    done = run(shop, {"workdir": "two"}, environ=environ, overrides=overrides)
    assert (done.payload["at"], done.folder.parent) == ("one", folder / "given")


def test_the_folders_of_runs_are_found_without_planning_one(shop: Workshop, folder: Path) -> None:
    shop.agent("vera")
    (folder / "one").mkdir()
    project_file(folder, {"workdir": "one", "log_dir": "runs"})
    for overrides in (RunOverrides(), RunOverrides(workdir=folder / "agents", log_dir=folder / "given")):
        for environ in ({}, {"OPENLOOP_LOG_DIR": str(folder / "logs")}):
            plan = prepare(shop, {}, overrides, environ=environ).plan
            file = load_workflow(folder / "workflow.json")
            found = folders_in_force(file, overrides, environ=environ, default_workdir=folder)
            assert found == (plan.workdir, plan.log_dir)


def test_retries_of_the_project_are_made(
    shop: Workshop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.turn_loop.BACKOFF_FIRST", 0.01)
    shop.agent("vera", fail={"exit_code": 1, "error": "Overloaded.", "transient": True, "first": 1})
    assert run(shop).reason == "agent_error:vera"
    project_file(folder, {"retries": 1})
    assert run(shop).reason in ENDED
    assert run(shop, {"retries": 0}).reason == "agent_error:vera"
    assert run(shop, {"retries": 0}, environ={"OPENLOOP_RETRIES": "1"}).reason in ENDED


def test_a_budget_of_the_project_ends_a_run(shop: Workshop, folder: Path) -> None:
    """Pain 24: a cap for every workflow of a project, which one of them may lift by name only."""
    shop.agent("vera", cost_usd=0.5)
    project_file(folder, {"budget": {"max_cost_usd": 0.9}})
    loops: JsonObject = {"max_loops": 3}
    assert run(shop, loops).reason == "budget_exceeded:max_cost_usd"
    assert run(shop, {**loops, "budget": {"max_tokens": 10**9}}).reason == "budget_exceeded:max_cost_usd"
    assert run(shop, {**loops, "budget": {"max_cost_usd": None}}).reason in ENDED
    environ = {"OPENLOOP_BUDGET__MAX_COST_USD": "0.4"}
    capped = run(shop, {**loops, "budget": {"max_cost_usd": None}}, environ=environ)
    assert capped.reason == "budget_exceeded:max_cost_usd"


def test_a_backend_and_a_model_of_the_project_are_those_of_agents_that_name_none(
    shop: Workshop, folder: Path
) -> None:
    (folder / "agents" / "vera.md").write_text(
        "---\nname: vera\ndemo: {steps: 1}\n---\nWork.", encoding="utf-8"
    )
    project_file(folder, {"backend": "demo", "opencode_defaults": {"model": "p/project"}})
    assert run(shop).reason in ENDED
    (turn,) = prepare(shop, {"backend": "opencode"}).plan.turns
    assert (turn.backend, turn.model) == ("opencode", "p/project")
    own: JsonObject = {"backend": "opencode", "opencode_defaults": {"model": "p/own"}}
    environ = {"OPENLOOP_OPENCODE_DEFAULTS__MODEL": "p/env"}
    given = {"opencode_defaults.model": "p/given"}
    assert prepare(shop, own).plan.turns[0].model == "p/own"
    assert prepare(shop, own, environ=environ).plan.turns[0].model == "p/env"
    assert prepare(shop, own, environ=environ, given=given).plan.turns[0].model == "p/given"


def test_commands_of_the_project_are_asked_about_and_the_users_own_are_not(
    shop: Workshop, folder: Path
) -> None:
    shop.agent("vera")
    path = project_file(folder, {"init_script": "make deps"})
    (command,) = prepare(shop, {}).commands
    assert (command.source, command.command) == (f"init_script of {path}", "make deps")
    assert prepare(shop, {}, environ={"OPENLOOP_INIT_SCRIPT": "make deps"}).commands == ()
    path.unlink()
    user_file({"init_script": "make deps"})
    prepared = prepare(shop, {})
    assert (prepared.commands, prepared.plan.init_script) == ((), "make deps")


# --- a resumed run ------------------------------------------------------------------------------------


def test_a_run_that_goes_on_means_what_it_meant_without_the_files_it_was_begun_with(
    shop: Workshop, folder: Path
) -> None:
    """Pain 23: what settings files and the environment said then is in the run folder."""
    shop.agent("vera", cost_usd=0.5)
    (folder / "work").mkdir()
    project = project_file(
        folder,
        {
            "workdir": "work",
            "log_dir": "runs",
            "backend": "claude",
            "retries": 3,
            "agent_timeout": 77,
            "agent_idle_timeout": 66,
            "agent_idle_warning": 0,
            "max_parallel_agents": 3,
            "finalize_on_abort": True,
            "max_prompt_bytes": 123456,
            "budget": {"max_cost_usd": 0.9, "when_reached": "finish"},
            "opencode_defaults": {"model": "p/m", "pure": False, "extra_args": ["--x"]},
            "merge": {"payload.x": "append"},
            "init_script": "echo ready",
        },
    )
    user = user_file({"on_parallel_error": "continue", "max_loops": 1})
    environ = {"OPENLOOP_RETRIES": "0", "OPENLOOP_BUDGET__MAX_TOKENS": "1000000"}
    # Of the workflow: a default by name, an own budget key, and one that is beaten by the environment.
    own: JsonObject = {"max_loops": 9, "merge": {"payload.y": "sum"}, "retries": 4}
    begun = prepare(shop, own, environ=environ)
    done = run_plan(begun.plan)
    assert done.reason == "budget_exceeded:max_cost_usd"
    project.unlink()
    user.unlink()
    recorded = read_run(done.folder)
    goes_on = prepare_resume(recorded, RunOverrides(max_cost_usd=50), known_backends=backend_names()).plan
    assert goes_on.budget.model_copy(update={"max_cost_usd": 0.9}) == begun.plan.budget
    for name in (
        "workdir",
        "log_dir",
        "preparation",
        "loop",
        "finalization",
        "max_loops",
        "max_parallel",
        "retries",
        "finalize_on_abort",
        "on_missing_state",
        "max_prompt_bytes",
        "opencode_defaults",
        "init_script",
        "init_timeout",
    ):
        assert _plain(getattr(goes_on, name)) == _plain(getattr(begun.plan, name)), name
    assert (begun.plan.retries, begun.plan.init_timeout, begun.plan.loop[0].on_error) == (0, 77, "continue")
    assert begun.plan.loop[0].merge_rules == {"payload.x": "append", "payload.y": "sum"}
    finished = run_plan(goes_on, recorded=recorded)
    assert finished.reason in ENDED


def _plain(value: object) -> object:
    """Without the paths of agent files, which may be those of the kept copies."""
    if not isinstance(value, tuple):
        return value
    return [
        (group.merge_rules, group.on_error, group.max_parallel, group.timeout, _turns(group))
        for group in value
    ]


def _turns(group: PlannedGroup) -> list[object]:
    return [(turn.label, turn.backend, turn.model, turn.timeout, turn.idle_timeout) for turn in group.turns]
