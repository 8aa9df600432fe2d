"""Settings from every place: which one wins, how parts are merged, what is wrong with them and where."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import resources
from core.config import Budget, Workflow, WorkflowFile
from core.json_types import JsonObject, JsonValue
from core.platform_paths import config_folder
from core.problems import Problem, Severity, UserFileError
from core.schema import settings_schema, settings_schema_text
from core.settings import (
    FILE_NAME,
    EffectiveWorkflow,
    Origin,
    ResolvedSettings,
    Setting,
    effective_workflow,
    resolve_settings,
)
from core.settings_files import MOST_BYTES
from core.settings_keys import SETTING_KEYS, TOP_KEYS, variable_of
from core.settings_words import setting_variables
from core.workflow_file import dump_workflow, parse_workflow
from tests.core.run_support import Workshop

SAMPLES: dict[str, tuple[JsonValue, str]] = {
    "max_loops": (3, "3"),
    "max_parallel_agents": (2, "2"),
    "agent_timeout": (12.5, "12.5"),
    "agent_idle_timeout": (30, "30"),
    "agent_idle_warning": (0, "0"),
    "on_parallel_error": ("continue", "continue"),
    "retries": (2, " 2 "),
    "finalize_on_abort": (True, "yes"),
    "on_missing_state": ("abort", "abort"),
    "isolation": ("worktree", "worktree"),
    "merge_strategy": ("git-merge", "git-merge"),
    "budget.max_cost_usd": (1.5, "1.5"),
    "budget.max_cost_usd_per_group": (0.5, "5e-1"),
    "budget.max_tokens": (1000, "1000"),
    "budget.when_reached": ("finish", "finish"),
    "max_prompt_bytes": (9999, "9999"),
    "backend": ("demo", "demo"),
    "workdir": ("/some/where", "/some/where"),
    "init_script": ("make deps && true", "make deps && true"),
    "log_dir": ("/some/logs", "/some/logs"),
    "opencode_defaults.model": ("p/m", "p/m"),
    "opencode_defaults.agent": ("plan", "plan"),
    "opencode_defaults.variant": ("high", "high"),
    "opencode_defaults.pure": (True, "TRUE"),
    "opencode_defaults.log_level": ("WARN", "WARN"),
    "opencode_defaults.extra_args": (["--a", "b c"], '--a "b c"'),
}
"""For each setting a value that is not its default, as JSON and as text."""


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


def workflow_of(document: JsonObject, path: Path | None = None) -> WorkflowFile:
    return parse_workflow(json.dumps(document), path)


def resolve(
    folder: Path,
    workflow: JsonObject | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
) -> ResolvedSettings:
    return resolve_settings(workflow_of(workflow or {}), folder, environ=environ or {}, given=given)


def effective(
    folder: Path,
    workflow: JsonObject | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
) -> EffectiveWorkflow:
    return effective_workflow(workflow_of(workflow or {}), folder, environ=environ or {}, given=given)


def of(effective: EffectiveWorkflow, key: str) -> Setting:
    (setting,) = (setting for setting in effective.settings if setting.key == key)
    return setting


def nested(key: str, value: JsonValue) -> JsonObject:
    head, _, rest = key.partition(".")
    return {head: {rest: value}} if rest else {head: value}


def refusal(
    folder: Path, *, environ: Mapping[str, str] | None = None, given: Mapping[str, str] | None = None
) -> list[Problem]:
    with pytest.raises(UserFileError) as caught:
        effective(folder, environ=environ, given=given)
    return caught.value.problems


# --- which place wins ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["max_loops", "budget.max_tokens", "opencode_defaults.model", "merge.payload.x"]
)
def test_the_strongest_place_that_says_something_wins(folder: Path, key: str) -> None:
    values: dict[str, tuple[str, str, str, str, str]] = {
        "opencode_defaults.model": ("p/1", "p/2", "p/3", "p/4", "p/5"),
        "merge.payload.x": ("sum", "max", "min", "first", "error"),
    }
    user, project, own, variable, option = values.get(key, ("1", "2", "3", "4", "5"))
    is_text = key in values

    def said(text: str) -> JsonObject:
        return nested(key, text if is_text else int(text))

    name, text = variable_of(key), variable
    if key.startswith("merge."):
        name, text = "OPENLOOP_MERGE", json.dumps({"payload.x": variable})
    files = user_file(said(user)), project_file(folder, said(project))
    places = [
        (Origin.COMMAND_LINE, option, "--model" if "model" in key else f"--set {key}"),
        (Origin.ENVIRONMENT, variable, name),
        (Origin.WORKFLOW, own, ""),
        (Origin.PROJECT, project, str(files[1])),
        (Origin.USER, user, str(files[0])),
    ]
    for index, (origin, value, source) in enumerate(places):
        if index == 4:
            files[1].unlink()
        setting = of(
            effective(
                folder,
                said(own) if index < 3 else {},
                environ={name: text} if index < 2 else {},
                given={key: option} if index < 1 else {},
            ),
            key,
        )
        assert (setting.origin, str(setting.value), setting.source) == (origin, value, source)
    files[0].unlink()
    left = {setting.key: setting for setting in effective(folder).settings}
    assert key not in left if key.startswith("merge.") else left[key].origin is Origin.DEFAULT


def test_the_samples_are_all_settings_there_are() -> None:
    assert tuple(SAMPLES) == SETTING_KEYS
    assert set(TOP_KEYS) == {key.partition(".")[0] for key in SAMPLES} | {"merge"}


@pytest.mark.parametrize("key", SETTING_KEYS)
def test_every_setting_can_be_said_in_every_place(folder: Path, key: str) -> None:
    value, text = SAMPLES[key]
    if key in ("workdir", "log_dir"):
        value = str(Path(str(value)).absolute())
    assert (of(effective(folder, environ={variable_of(key): text}), key).value) == value
    assert (of(effective(folder, given={key: text}), key).value) == value
    project_file(folder, nested(key, SAMPLES[key][0]))
    in_project = effective(folder)
    assert (of(in_project, key).value, of(in_project, key).origin) == (value, Origin.PROJECT)
    (folder / FILE_NAME).unlink()
    user_file(nested(key, SAMPLES[key][0]))
    by_user = effective(folder)
    assert (of(by_user, key).value, of(by_user, key).origin) == (value, Origin.USER)
    head, _, rest = key.partition(".")
    part = getattr(by_user.file.workflow, head)
    assert (getattr(part, rest) if rest else part) == value


def test_parts_are_merged_key_by_key_and_arguments_as_a_whole(folder: Path) -> None:
    user_file({"opencode_defaults": {"model": "u/u", "variant": "low", "extra_args": ["--user"]}})
    project_file(
        folder,
        {
            "opencode_defaults": {"model": "p/p", "extra_args": ["--project", "x"]},
            "budget": {"max_tokens": 10},
            "merge": {"payload.a": "sum", "payload.b": "max"},
        },
    )
    made = effective(
        folder,
        {
            "opencode_defaults": {"extra_args": []},
            "budget": {"max_cost_usd": 2},
            "merge": {"payload.b": "min"},
        },
        environ={"OPENLOOP_OPENCODE_DEFAULTS__AGENT": "plan"},
        given={"merge": '{"payload.c": "append"}', "budget": '{"when_reached": "finish"}'},
    ).file.workflow
    defaults = made.opencode_defaults
    assert (defaults.model, defaults.variant, defaults.agent) == ("p/p", "low", "plan")
    assert defaults.extra_args == []
    assert (made.budget.max_tokens, made.budget.max_cost_usd, made.budget.when_reached) == (10, 2, "finish")
    assert made.merge == {"payload.a": "sum", "payload.b": "min", "payload.c": "append"}


def test_one_key_wins_over_its_whole_object_of_the_same_place(folder: Path) -> None:
    whole = '{"max_tokens": 1, "max_cost_usd": 1}'
    environ = {"OPENLOOP_BUDGET__MAX_TOKENS": "2", "OPENLOOP_BUDGET": whole}
    budget = effective(folder, environ=environ).file.workflow.budget
    assert (budget.max_tokens, budget.max_cost_usd) == (2, 1)
    budget = effective(folder, given={"budget.max_tokens": "2", "budget": whole}).file.workflow.budget
    assert (budget.max_tokens, budget.max_cost_usd) == (2, 1)


def test_what_a_workflow_is_about_stays_as_it_is(folder: Path) -> None:
    project_file(folder, {"max_loops": 5})
    file = workflow_of({"name": "own", "loop_agents": ["vera"], "own_key": 1}, folder / "w.json")
    before = file.workflow.model_copy(deep=True)
    made = effective_workflow(file, folder, environ={}).file
    assert made.workflow.max_loops == 5
    assert file.workflow == before
    assert (made.path, made.text) == (file.path, file.text)
    assert made.workflow.model_copy(update={"max_loops": 10}) == before


# --- what a workflow says -----------------------------------------------------------------------------


def test_a_default_that_the_workflow_names_is_said(folder: Path) -> None:
    project_file(folder, {"max_loops": 5, "agent_timeout": 60, "budget": {"when_reached": "finish"}})
    made = effective(folder, {"max_loops": 10, "budget": {"when_reached": "stop"}})
    assert (of(made, "max_loops").value, of(made, "max_loops").origin) == (10, Origin.WORKFLOW)
    assert of(made, "budget.when_reached").origin is Origin.WORKFLOW
    assert of(made, "agent_timeout").origin is Origin.PROJECT


def test_null_in_the_workflow_says_none(folder: Path) -> None:
    """A workflow can lift a project's cap."""
    project_file(folder, {"budget": {"max_tokens": 5}, "backend": "claude"})
    made = effective(folder, {"budget": {"max_tokens": None}, "backend": None})
    assert made.file.workflow.budget.max_tokens is None
    assert of(made, "backend").origin is Origin.WORKFLOW
    assert made.file.workflow.backend is None


def test_a_field_that_was_emptied_in_the_window_says_nothing_as_in_the_saved_file(folder: Path) -> None:
    """A project's budget is not lifted because somebody typed one and took it back."""
    project_file(folder, {"budget": {"max_tokens": 5}})
    file = workflow_of({"budget": {"max_tokens": 9}})
    file.workflow.budget.max_tokens = None
    saved = parse_workflow(dump_workflow(file))
    for each in (file, saved):
        made = effective_workflow(each, folder, environ={})
        assert of(made, "budget.max_tokens").value == 5


def test_a_default_that_was_chosen_in_the_window_is_said_as_in_the_saved_file(folder: Path) -> None:
    project_file(folder, {"max_loops": 5, "budget": {"when_reached": "finish"}})
    file = workflow_of({"name": "w"})
    for value in (7, 10):
        file.workflow.max_loops = value
    file.workflow.budget = Budget()
    file.workflow.budget.when_reached = "stop"
    file.workflow.budget.max_tokens = None
    saved = parse_workflow(dump_workflow(file))
    assert json.loads(dump_workflow(file)) == {
        "name": "w",
        "max_loops": 10,
        "budget": {"when_reached": "stop"},
    }
    for each in (file, saved):
        made = effective_workflow(each, folder, environ={})
        assert of(made, "max_loops") == Setting("max_loops", 10, Origin.WORKFLOW)
        assert of(made, "budget.when_reached").origin is Origin.WORKFLOW


def test_a_field_that_was_touched_and_emptied_adds_nothing_to_the_file() -> None:
    file = workflow_of({"name": "w"})
    file.workflow.budget = Budget(max_tokens=3)
    file.workflow.budget.max_tokens = None
    file.workflow.backend = None
    assert json.loads(dump_workflow(file)) == {"name": "w"}


# --- where files are looked for ------------------------------------------------------------------------


def test_the_nearest_file_of_the_project_counts_and_git_is_its_border(folder: Path) -> None:
    project_file(folder.parent, {"retries": 9})
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    assert of(effective(inner), "retries").origin is Origin.DEFAULT
    project_file(folder, {"retries": 1, "max_loops": 4})
    assert of(effective(inner), "retries").value == 1
    project_file(folder / "a", {"retries": 2})
    made = effective(inner)
    assert of(made, "retries").value == 2
    assert of(made, "max_loops").origin is Origin.DEFAULT, "only the nearest file counts"


def test_a_worktrees_git_file_is_a_border_too(folder: Path) -> None:
    project_file(folder, {"retries": 9})
    (folder / "tree").mkdir()
    (folder / "tree" / ".git").write_text("gitdir: elsewhere", encoding="utf-8")
    assert of(effective(folder / "tree"), "retries").origin is Origin.DEFAULT


def test_the_home_folder_is_the_border_where_there_is_no_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "home"
    (home / "work").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    project_file(home.parent, {"retries": 9})
    assert of(effective(home / "work"), "retries").origin is Origin.DEFAULT
    project_file(home, {"retries": 3})
    assert of(effective(home / "work"), "retries").value == 3


def test_without_a_border_only_the_folder_itself_counts(tmp_path: Path) -> None:
    """Else whoever may write to a folder above, such as that for temporary files, has a say."""
    project_file(tmp_path, {"retries": 9})
    (tmp_path / "work").mkdir()
    assert of(effective(tmp_path / "work"), "retries").origin is Origin.DEFAULT
    assert of(effective(tmp_path), "retries").value == 9


def test_the_search_begins_in_a_folder_that_is_not_there_yet(folder: Path) -> None:
    project_file(folder, {"retries": 3})
    assert of(effective(folder / "not" / "yet"), "retries").value == 3


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_the_search_follows_the_real_folders(folder: Path, tmp_path: Path) -> None:
    project_file(folder, {"retries": 3})
    (folder / "inner").mkdir()
    (tmp_path / "link").symlink_to(folder / "inner")
    assert of(effective(tmp_path / "link"), "retries").value == 3


def test_a_workflow_that_is_called_as_the_settings_are_is_none_of_them(folder: Path) -> None:
    path = project_file(folder, {"loop_agents": ["vera"], "retries": 7})
    file = parse_workflow(path.read_text(encoding="utf-8"), path)
    made = effective_workflow(file, folder, environ={})
    assert made.warnings == ()
    assert of(made, "retries").origin is Origin.WORKFLOW


def test_the_users_file_is_not_the_projects_too(tmp_path: Path) -> None:
    path = user_file({"retries": 7})
    (path.parent / ".git").mkdir()
    assert of(effective(path.parent), "retries").origin is Origin.USER


def test_the_working_folder_of_a_stronger_place_is_where_the_search_begins(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    project_file(folder, {"retries": 1})
    project_file(other, {"retries": 2})
    assert of(effective(folder, environ={"OPENLOOP_WORKDIR": str(other)}), "retries").value == 2
    assert of(effective(folder, given={"workdir": str(other)}), "retries").value == 2
    both = effective(folder, environ={"OPENLOOP_WORKDIR": str(other)}, given={"workdir": str(folder)})
    assert of(both, "retries").value == 1


def test_what_was_looked_for_is_told(folder: Path) -> None:
    project = project_file(folder, {})
    found = resolve(folder / "a").files
    assert [(looked.origin, looked.path, looked.exists) for looked in found] == [
        (Origin.PROJECT, folder / "a" / FILE_NAME, False),
        (Origin.PROJECT, project, True),
        (Origin.USER, config_folder() / FILE_NAME, False),
    ]


# --- folders ------------------------------------------------------------------------------------------


def test_folders_of_a_file_are_beside_it_and_a_tilde_is_the_home(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "me"))
    inner = folder / "inner"
    inner.mkdir()
    project_file(folder, {"workdir": "sub/../work", "log_dir": "~/logs"})
    workflow = effective(inner).file.workflow
    assert workflow.workdir == str(folder / "work")
    assert workflow.log_dir == str(tmp_path / "me" / "logs")


def test_folders_of_the_environment_and_the_command_line_are_in_the_current_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert of(effective(folder, environ={"OPENLOOP_LOG_DIR": "logs"}), "log_dir").value == str(
        folder / "logs"
    )
    assert of(effective(folder, given={"workdir": "."}), "workdir").value == str(folder)


def test_a_home_that_there_is_not_is_an_error(folder: Path) -> None:
    path = project_file(folder, {"log_dir": "~nobody-of-this-name/x"})
    (problem,) = refusal(folder)
    assert (problem.file, problem.line, problem.place) == (path, 1, "log_dir")
    assert "home folder" in problem.message


# --- what is wrong with a file -------------------------------------------------------------------------


def test_comments_and_trailing_commas_are_read_and_notes_are_no_settings(folder: Path) -> None:
    text = '{\n  // why\n  "$schema": "x", "_note": 1, "x-own": 2, "//": 3,\n  "retries": 2, /* */\n}'
    (folder / FILE_NAME).write_text(text, encoding="utf-8-sig")
    made = effective(folder)
    assert made.warnings == ()
    setting = of(made, "retries")
    assert (setting.value, setting.line, setting.column) == (2, 4, 14)


@pytest.mark.parametrize(
    ("text", "place", "line", "column", "words"),
    [
        ('{"max_lops": 3}', "max_lops", 1, 2, "Did you mean max_loops?"),
        ('{\n  "maxLoops": 3}', "maxLoops", 2, 3, "Did you mean max_loops?"),
        ('{"max_tokens": 3}', "max_tokens", 1, 2, "Did you mean budget.max_tokens?"),
        ('{"model": "a/b"}', "model", 1, 2, "Did you mean opencode_defaults.model?"),
        ('{"budget": {"max_tokes": 3}}', "budget.max_tokes", 1, 13, "Did you mean max_tokens?"),
        ('{"whatever else": 3}', '["whatever else"]', 1, 2, "openloop config"),
        ('{"loop_agents": ["vera"]}', "loop_agents", 1, 2, "in workflows only"),
        ('{"preparation_agent": "vera"}', "preparation_agent", 1, 2, "in workflows only"),
        ('{"end_state_condition": "True"}', "end_state_condition", 1, 2, "in workflows only"),
    ],
)
def test_an_unknown_key_is_a_warning_at_its_place_and_has_no_effect(
    folder: Path, text: str, place: str, line: int, column: int, words: str
) -> None:
    path = folder / FILE_NAME
    path.write_text(text, encoding="utf-8")
    made = effective(folder)
    (warning,) = made.warnings
    assert (warning.file, warning.place, warning.line, warning.column) == (path, place, line, column)
    assert words in warning.text()
    assert warning.severity is Severity.WARNING
    assert made.file.workflow == Workflow()


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{\n "retries": "many"}', 2, 13, 'retries must be a whole number, not "many".'),
        ('{"retries": true}', 1, 13, "retries must be a whole number, not true."),
        ('{"retries": -1}', 1, 13, "retries must be at least 0, not -1."),
        ('{"agent_timeout": null}', 1, 19, "agent_timeout must be a number, not null."),
        ('{"budget": {"max_cost_usd": "2 $"}}', 1, 29, 'max_cost_usd must be a number, not "2 $".'),
        ('{"budget": 5}', 1, 12, "budget must be an object, not a number."),
        ('{"merge": {"payload.x": "summ"}}', 1, 25, "Did you mean sum?"),
        ('{"on_missing_state": "asks"}', 1, 22, "Did you mean ask?"),
        ('{"opencode_defaults": {"extra_args": "--a"}}', 1, 38, "extra_args must be a list"),
        ('{"opencode_defaults": {"extra_args": ["a", 1]}}', 1, 44, "must be text"),
        ('{"retries": 1, "retries": 2}', 1, 16, "stands twice"),
        ('{"retries": 1', 1, 1, "This object is not closed."),
        ('{"agent_timeout": NaN}', 1, 19, "NaN is not allowed"),
        ("[]", None, None, "JSON object"),
        ("", 1, 1, "The file is empty."),
        ("[" * 100_000, None, None, "too deeply"),
    ],
)
def test_a_wrong_value_is_an_error_at_its_place(
    folder: Path, text: str, line: int | None, column: int | None, words: str
) -> None:
    path = folder / FILE_NAME
    path.write_text(text, encoding="utf-8")
    (problem,) = refusal(folder)
    assert words in problem.text()
    assert problem.file == path
    assert (problem.line, problem.column) == (line, column)


def test_every_error_is_told_at_once(folder: Path) -> None:
    project_file(folder, {"retries": "x", "budget": {"max_tokens": "y"}, "agent_timeout": "z"})
    user_file({"max_loops": 0})
    problems = refusal(folder, environ={"OPENLOOP_MAX_LOOPS": "none"}, given={"nothing": "1"})
    assert [problem.place for problem in problems] == [
        "--set nothing",
        "OPENLOOP_MAX_LOOPS",
        "retries",
        "budget.max_tokens",
        "agent_timeout",
        "max_loops",
    ]


def test_what_is_wrong_does_not_hide_the_rest(folder: Path) -> None:
    project_file(folder, {"retries": "x", "max_loops": 4, "budget": {"max_tokens": 0.5, "max_cost_usd": 1}})
    resolved = resolve(folder)
    assert len(resolved.errors) == 2
    assert of(resolved.effective, "max_loops").value == 4
    assert of(resolved.effective, "budget.max_cost_usd").value == 1
    assert of(resolved.effective, "retries").origin is Origin.DEFAULT


def test_a_file_that_cannot_be_used_is_refused_in_words(folder: Path) -> None:
    path = folder / FILE_NAME
    path.write_bytes(b'{"retries": 1, "x": "\xff"}')
    assert "not UTF-8" in refusal(folder)[0].text()
    path.write_bytes(b" " * (MOST_BYTES + 1))
    (problem,) = refusal(folder)
    assert problem.text() == (
        f"{path}: The file has 1.0 MiB; one with settings has at most 1 MiB. Correct or remove it."
    )
    path.unlink()
    path.mkdir()
    assert "a folder, not a file" in refusal(folder)[0].text()
    path.rmdir()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_devices_dead_links_and_locked_files_are_refused_in_words(folder: Path) -> None:
    path = folder / FILE_NAME
    os.mkfifo(path)
    assert "device" in refusal(folder)[0].text()
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "device" in refusal(folder)[0].text()
    path.unlink()
    path.symlink_to(folder / "gone")
    assert "no such file" in refusal(folder)[0].text()
    path.unlink()
    project_file(folder, {}).chmod(0)
    if os.geteuid() != 0:
        assert "not allowed" in refusal(folder)[0].text()


def test_a_giant_sparse_file_is_not_read(folder: Path) -> None:
    with (folder / FILE_NAME).open("wb") as file:
        file.truncate(10 * 2**30)
    assert "10,240.0 MiB" in refusal(folder)[0].text()


# --- the environment ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("OPENLOOP_AGENT_TIMEOUT", "soon", 'agent_timeout must be a number, not "soon".'),
        ("OPENLOOP_AGENT_TIMEOUT", "-1", "agent_timeout must be at least 0, not -1."),
        ("OPENLOOP_AGENT_TIMEOUT", "nan", "agent_timeout must be a finite number, not nan."),
        ("OPENLOOP_RETRIES", "1.5", "retries must be a whole number, not 1.5."),
        ("OPENLOOP_RETRIES", "9" * 5000, "retries must be"),
        ("OPENLOOP_FINALIZE_ON_ABORT", "maybe", 'finalize_on_abort must be true or false, not "maybe".'),
        ("OPENLOOP_ON_PARALLEL_ERROR", "abrt", "Did you mean abort?"),
        ("OPENLOOP_BUDGET__MAX_TOKENS", "many", "max_tokens must be a whole number"),
        ("OPENLOOP_BUDGET", "5", "budget must be an object, not a number."),
        ("OPENLOOP_BUDGET", "{", "budget must be a JSON object:"),
        ("OPENLOOP_MERGE", '{"payload.x": "sun"}', "Did you mean sum?"),
        ("OPENLOOP_OPENCODE_DEFAULTS__EXTRA_ARGS", '["a",', "not a JSON list"),
        ("OPENLOOP_OPENCODE_DEFAULTS__EXTRA_ARGS", "[1]", "must be text"),
        ("OPENLOOP_OPENCODE_DEFAULTS__EXTRA_ARGS", '--a "b', "a quote that is not closed"),
        ("OPENLOOP_INIT_SCRIPT", "a\udcff", "not valid UTF-8"),
        ("OPENLOOP_WORKDIR", "~nobody-of-this-name", "home folder"),
    ],
)
def test_a_wrong_variable_is_an_error_by_its_name(folder: Path, variable: str, text: str, words: str) -> None:
    (problem,) = refusal(folder, environ={variable: text})
    assert (problem.place, problem.file) == (variable, None)
    assert words in problem.text()


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("OPENLOOP_MAX_LOPS", "OPENLOOP_MAX_LOOPS"),
        ("OPENLOOP_MAXLOOPS", "OPENLOOP_MAX_LOOPS"),
        ("OPENLOOP_max_loops", "OPENLOOP_MAX_LOOPS"),
        ("OPENLOOP_BUDGET_MAX_TOKENS", "OPENLOOP_BUDGET__MAX_TOKENS"),
        ("OPENLOOP_MAX_TOKENS", "OPENLOOP_BUDGET__MAX_TOKENS"),
        ("OPENLOOP_MODEL", "OPENLOOP_OPENCODE_DEFAULTS__MODEL"),
        ("OPENLOOP_OPENCODE_DEFAULTS__MODAL", "OPENLOOP_OPENCODE_DEFAULTS__MODEL"),
        ("OPENLOOP_BACKENDS", "OPENLOOP_BACKEND"),
    ],
)
def test_a_variable_that_is_nearly_a_setting_is_a_warning(folder: Path, variable: str, meant: str) -> None:
    made = effective(folder, environ={variable: "5"})
    (warning,) = made.warnings
    assert warning.text().startswith(f"{variable}: ")
    assert f"Did you mean {meant}?" in warning.text()
    assert made.file.workflow == Workflow()


OTHER_VARIABLES = (
    "OPENLOOP_HOME",
    "OPENLOOP_DEMO_SPEED",
    "OPENLOOP_OPENCODE",
    "OPENLOOP_CLAUDE",
    "OPENLOOP_CODEX",
    "OPENLOOP_GEMINI",
    "OPENLOOP_TURN",
    "OPENLOOP_TEST_SESSION",
    "OPENLOOP_TEST_MARK",
    "OPENLOOP_REQUIRE_DISPLAY",
    "OPENLOOP_REQUIRE_OPENCODE",
    "OPENLOOP_SCREENSHOTS",
    "OPENLOOP_",
    "PATH",
)


def test_other_variables_of_openloop_and_empty_ones_are_no_settings(folder: Path) -> None:
    environ = {**dict.fromkeys(OTHER_VARIABLES, "5"), **dict.fromkeys(setting_variables(), " ")}
    made = effective(folder, environ=environ)
    assert made.warnings == ()
    assert {setting.origin for setting in made.settings} == {Origin.DEFAULT}


def test_the_names_of_variables_are_those_that_were_promised() -> None:
    assert {"OPENLOOP_BUDGET__MAX_COST_USD", "OPENLOOP_OPENCODE_DEFAULTS__MODEL"} <= set(setting_variables())
    assert not any(name.removeprefix("OPENLOOP_") == "OPENCODE" for name in setting_variables())


# --- the command line ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("max_lops", "3", "There is no setting max_lops. Did you mean max_loops?"),
        ("tokens", "3", "There is no setting tokens. Did you mean budget.max_tokens?"),
        ("budget.max_cost", "3", "Did you mean budget.max_cost_usd?"),
        ("name", "x", "There is no setting name."),
        ("loop_agents", '["vera"]', "There is no setting loop_agents."),
        ("retries", "x", 'retries must be a whole number, not "x".'),
        ("retries", "", 'retries must be a whole number, not "".'),
        ("merge.payload.x", "add", "must be one of"),
        ("budget", '{"max_tokes": 1}', "Did you mean max_tokens?"),
    ],
)
def test_a_wrong_word_of_the_command_line_is_an_error_by_its_name(
    folder: Path, key: str, text: str, words: str
) -> None:
    (problem,) = refusal(folder, given={key: text})
    assert problem.severity is Severity.ERROR
    assert problem.place == f"--set {key}"
    assert words in problem.text()


def test_an_empty_word_of_the_command_line_lifts_what_others_say(folder: Path) -> None:
    project_file(folder, {"init_script": "make", "budget": {"max_tokens": 5}})
    made = effective(folder, given={"init_script": "", "budget.max_tokens": "none"}).file.workflow
    assert (made.init_script, made.budget.max_tokens) == (None, None)


def test_arguments_keep_their_backslashes_and_quotes(folder: Path) -> None:
    key = "opencode_defaults.extra_args"

    def words(text: str) -> JsonValue:
        return of(effective(folder, given={key: text}), key).value

    assert words(r"--file C:\a\b.md #1") == ["--file", r"C:\a\b.md", "#1"]
    assert words("--title 'a \"b\"'") == ["--title", 'a "b"']
    assert words(r'["a\\b", ""]') == [r"a\b", ""]
    assert words("") == []


# --- the schema ---------------------------------------------------------------------------------------


def test_the_published_schema_is_the_one_that_the_models_make() -> None:
    assert resources.settings_schema_file().read_text(encoding="utf-8") == settings_schema_text(), (
        "write core.schema.settings_schema_text() to resources/settings.schema.json"
    )


def test_the_schema_accepts_every_setting_and_names_typos() -> None:
    schema = settings_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document: JsonObject = {"$schema": "x", "_note": 1, "// why": "so", "merge": {"payload.x": "append"}}
    for key, (value, _) in SAMPLES.items():
        head, _, rest = key.partition(".")
        part = document.setdefault(head, {}) if rest else document
        assert isinstance(part, dict)
        part[rest or head] = value
    assert list(validator.iter_errors(document)) == []
    for wrong in ({"max_lops": 3}, {"retries": -1}, {"loop_agents": []}, {"budget": 3}):
        assert list(validator.iter_errors(wrong)), wrong


# --- whatever stands there ----------------------------------------------------------------------------

ANYTHING: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*TOP_KEYS, "name", "loop_agents", "max_lops", "$x"]) | st.text(max_size=6)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(st.dictionaries(KEYS, ANYTHING, max_size=5))
def test_any_json_is_read_or_refused_in_words(folder: Path, document: JsonObject) -> None:
    project_file(folder, document)
    for problem in (resolved := resolve(folder)).errors:
        assert problem.message
        assert problem.file == folder / FILE_NAME
    Workflow.model_validate(resolved.effective.file.workflow.model_dump())


@QUIET
@given(st.binary(max_size=60) | st.text(alphabet='{}[]:,"/* 1emrtus\n', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_words(folder: Path, data: bytes) -> None:
    (folder / FILE_NAME).write_bytes(data)
    assert all(problem.message for problem in resolve(folder).errors)


@QUIET
@given(
    st.dictionaries(
        st.sampled_from([*SETTING_KEYS, "budget", "merge", "merge.payload.x"]), st.text(max_size=12)
    )
)
def test_any_text_is_read_or_refused_by_name(folder: Path, given: dict[str, str]) -> None:
    errors = resolve(folder, given=given).errors
    assert all(problem.place.startswith("--") and problem.message for problem in errors)
    environ = {variable_of(key): text for key, text in given.items() if not key.startswith("merge.")}
    errors = resolve(folder, environ=environ).errors
    assert all(problem.place in environ and problem.message for problem in errors)
