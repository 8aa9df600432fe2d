"""The doctor: what it finds on a machine, how it weighs it, and that it neither hangs nor leaves anything."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.doctor import Told
from core.folder_checks import LITTLE_ROOM, NO_ROOM, room_finding
from core.health import FindingStatus
from core.machine import free_memory, total_memory
from core.system_checks import machine_finding
from tests.core.doctor_support import (
    CLAUDE_IN,
    CLAUDE_OUT,
    OPENCODE,
    OPENCODE_NO_LOGIN,
    Machine,
    is_alive,
)

OK, WARNING, ERROR = FindingStatus.OK, FindingStatus.WARNING, FindingStatus.ERROR
GIB = 1 << 30


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


# --- CLIs: there, where, which version, an answer -------------------------------------------------------


def test_a_cli_that_answers_is_told_with_its_version_and_path(machine: Machine) -> None:
    """Pain 11: the path that is really started is shown."""
    programs = {
        "opencode": machine.cli("opencode", OPENCODE),
        "claude": machine.cli("claude", {"--version": "2.1.197 (Claude Code)\n", "auth status": CLAUDE_IN}),
        "codex": machine.cli("codex", {"--version": "codex-cli 0.171.0\n", "login status": ""}),
        "gemini": machine.cli("gemini", {"--version": "0.61.0\n"}),
    }
    report = machine.examine()
    versions = {"opencode": "1.18.33", "claude": "2.1.197", "codex": "0.171.0", "gemini": "0.61.0"}
    for name, version in versions.items():
        finding = report.of(name)
        assert finding.status is OK
        assert finding.message == f"{version}, {programs[name]}"
    assert not report.errors


def test_a_program_that_a_variable_names_is_looked_at_instead_of_the_one_in_path(machine: Machine) -> None:
    machine.cli("opencode", {**OPENCODE, "--version": "9.9.9\n"})
    other = machine.cli("mine", OPENCODE)
    machine.monkeypatch.setenv("OPENLOOP_OPENCODE", str(other))
    assert machine.examine().of("opencode").message == f"1.18.33, {other}"


def test_a_variable_that_names_nothing_is_said(machine: Machine) -> None:
    machine.monkeypatch.setenv("OPENLOOP_CLAUDE", str(machine.bin / "nothing"))
    report = machine.examine(machine.workflow("claude"))
    assert report.of("claude").status is ERROR
    assert "OPENLOOP_CLAUDE names" in report.of("claude").message


def test_a_cli_that_is_missing_is_in_the_way_only_of_the_workflow_that_uses_it(machine: Machine) -> None:
    """Pain 11: what is not found is said before a run, with what to do about it."""
    bare = machine.examine()
    assert bare.of("opencode").status is WARNING, "the default, but the examples do without"
    assert bare.of("codex").status is OK
    assert "Nothing here needs it" in bare.of("codex").message
    assert not bare.errors

    needed = machine.examine(machine.workflow("codex"))
    assert needed.of("codex").status is ERROR
    assert "npm install -g @openai/codex" in needed.of("codex").advice
    assert needed.of("opencode").status is OK, "this workflow does not use it"
    assert needed.errors == [needed.of("codex")], "said once"


def test_a_workflow_whose_agents_need_nothing_installed_has_nothing_in_its_way(machine: Machine) -> None:
    report = machine.examine(machine.workflow("demo"))
    assert not report.errors
    assert report.of("workflow").message == "review can run, with one agent."
    assert "vera" in report.of("demo agents").message


def test_an_old_opencode_is_worth_a_warning(machine: Machine) -> None:
    """Pain 4: older ones end with exit code 0 after an error."""
    machine.cli("opencode", {**OPENCODE, "--version": "1.4.2\n"})
    finding = machine.examine().of("opencode")
    assert finding.status is WARNING
    assert "1.4.2" in finding.message
    assert "opencode upgrade" in finding.advice


@pytest.mark.parametrize("version", ["1.18.0", "1.19.2", "2.0.0", "1.18.33-beta.1"])
def test_a_newer_opencode_is_fine(machine: Machine, version: str) -> None:
    machine.cli("opencode", {**OPENCODE, "--version": f"{version}\n"})
    finding = machine.examine().of("opencode")
    assert (finding.status, finding.message.split(",")[0]) == (OK, version)


def test_a_cli_that_hangs_is_ended_with_all_that_it_started_and_the_others_are_told(machine: Machine) -> None:
    """Pain 9: nothing that the doctor asked lives on, whatever it started."""
    told = machine.hanging("claude")
    machine.cli("codex", {"--version": "codex-cli 0.171.0\n", "login status": ""})
    report = machine.examine(machine.workflow("claude"), seconds=3.0)
    finding = report.of("claude")
    assert finding.status is ERROR
    assert "No answer came in 3 s, so it was ended." in finding.message
    assert "claude --version" in finding.advice
    assert not is_alive(int(told.read_text()))
    assert report.of("codex").status is OK


def test_a_cli_that_nobody_needs_and_that_hangs_is_no_error(machine: Machine) -> None:
    machine.program("gemini", "import time; time.sleep(600)")
    report = machine.examine(seconds=0.5)
    assert report.of("gemini").status is WARNING
    assert not report.errors


def test_what_a_cli_leaves_running_after_its_answer_is_ended(machine: Machine) -> None:
    """Pain 9: a server that a CLI starts for itself does not stay because somebody asked for a version."""
    told = machine.work / "pid"
    machine.program(
        "codex",
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'], "
        "start_new_session=True)\n"
        f"pathlib.Path({str(told)!r}).write_text(str(child.pid))\n"
        "print('codex-cli 0.171.0')\n",
    )
    assert machine.examine().of("codex").status is OK
    assert not is_alive(int(told.read_text()))


def test_a_cli_that_prints_without_end_is_ended(machine: Machine) -> None:
    machine.program("claude", "while True: print('x' * 100_000)")
    finding = machine.examine(machine.workflow("claude")).of("claude")
    assert finding.status is ERROR
    assert "prints without end" in finding.message


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("import sys; sys.exit('Error: no module')", ERROR, "exit code 1. It said: Error: no module"),
        ("print('hello there')", WARNING, "does not tell its version"),
        ("", WARNING, "does not tell its version"),
        ("import os; os.write(1, bytes(range(256)))", WARNING, "does not tell its version"),
        ("import os, signal; os.kill(os.getpid(), 9)", ERROR, "The system ended it (signal 9)"),
    ],
)  # fmt: skip
def test_a_cli_that_answers_wrongly_is_told_as_what_it_is(
    machine: Machine, source: str, status: FindingStatus, words: str
) -> None:
    if "signal" in source and sys.platform == "win32":
        pytest.skip("there are no signals")
    machine.program("claude", source)
    finding = machine.examine(machine.workflow("claude")).of("claude")
    assert finding.status is status
    assert words in finding.message
    assert finding.advice


@pytest.mark.skipif(sys.platform == "win32", reason="scripts name their interpreter otherwise")
def test_a_cli_whose_interpreter_is_missing_cannot_be_started_and_says_why(machine: Machine) -> None:
    script = machine.program("claude", "")
    script.write_text("#!/nowhere/node\n")
    finding = machine.examine(machine.workflow("claude")).of("claude")
    assert finding.status is ERROR
    assert "cannot be started" in finding.message
    assert "interpreter" in finding.message


def test_all_clis_are_asked_at_the_same_time(machine: Machine) -> None:
    """Each answers only when the others have been asked as well: one after another, none would."""
    names = ("opencode", "claude", "codex", "gemini")
    for name in names:
        machine.program(
            name,
            f"""import pathlib, sys, time
folder = pathlib.Path({str(machine.work)!r})
(folder / {name + ".asked"!r}).touch()
while not all((folder / f"{{other}}.asked").exists() for other in {names!r}):
    time.sleep(0.01)
print("1.18.33")
""",
        )
    report = machine.examine()
    assert [report.of(name).message.split(",")[0] for name in names] == ["1.18.33"] * 4


def test_what_is_known_is_told_while_a_slow_cli_is_still_awaited(machine: Machine) -> None:
    gate = machine.work / "go"
    machine.program(
        "opencode",
        f"""import pathlib, time
while not pathlib.Path({str(gate)!r}).exists():
    time.sleep(0.01)
print("1.18.33")
""",
    )
    told: list[Told] = []
    for news in machine.checkup().run():
        told.append(news)
        done = {item.topic for item in told if item.finding is None}
        if len(done) == len(machine.checkup().topics) - 1:
            assert "opencode" not in done
            gate.touch()
    assert [item.topic for item in told if item.finding is None][-1] == "opencode"


def test_every_topic_is_finished_once_and_is_named_beforehand(machine: Machine) -> None:
    checkup = machine.checkup(machine.workflow("demo"))
    told = list(checkup.run())
    assert sorted(item.topic for item in told if item.finding is None) == sorted(checkup.topics)
    assert {item.topic for item in told} == set(checkup.topics)


# --- ending early ---------------------------------------------------------------------------------------


def test_a_look_that_is_cancelled_ends_what_hangs_and_tells_nothing_more(machine: Machine) -> None:
    told = machine.hanging("claude")
    checkup = machine.checkup(seconds=600)

    def cancel_when_it_hangs() -> None:
        while not told.exists():
            threading.Event().wait(0.01)
        checkup.cancel()

    thread = threading.Thread(target=cancel_when_it_hangs)
    thread.start()
    news = list(checkup.run())
    thread.join()
    assert not [item for item in news if item.topic == "claude"]
    assert not is_alive(int(told.read_text()))


def test_a_look_that_nobody_follows_to_its_end_leaves_nothing(machine: Machine) -> None:
    told = machine.hanging("claude")
    # It has its answer when the other one hangs, so that there is news then.
    waits = f"import pathlib, time\nwhile not pathlib.Path({str(told)!r}).exists():\n    time.sleep(0.01)\n"
    machine.program("codex", waits + "print('codex-cli 0.171.0')")
    look = machine.checkup(seconds=600).run()
    for _ in look:
        if told.exists():
            break
    look.close()
    assert not is_alive(int(told.read_text()))


def test_a_look_that_is_cancelled_before_it_began_asks_nobody(machine: Machine) -> None:
    asked = machine.work / "asked"
    machine.program("claude", f"open({str(asked)!r}, 'w').close(); print('2.1.0')")
    checkup = machine.checkup()
    checkup.cancel()
    assert list(checkup.run()) == []
    assert not asked.exists()


# --- logins ---------------------------------------------------------------------------------------------


def test_the_logins_of_opencode_are_named(machine: Machine) -> None:
    machine.cli("opencode", OPENCODE)
    finding = machine.examine().of("opencode login")
    assert finding.status is OK
    assert finding.message == "Logged in to Anthropic, GitHub Copilot, OpenAI (by OPENAI_API_KEY)."


@pytest.mark.parametrize(
    ("models", "status", "words"),
    [
        ("stub/x\nstub/y\n", OK, "models of stub can be used as configured"),
        ("opencode/big-pickle\n", WARNING, "only opencode's own free models"),
        ("", ERROR, "knows no model"),
    ],
)
def test_without_a_login_the_models_that_opencode_offers_decide(
    machine: Machine, models: str, status: FindingStatus, words: str
) -> None:
    machine.cli("opencode", {**OPENCODE, "auth list": OPENCODE_NO_LOGIN, "models": models})
    finding = machine.examine(machine.workflow("opencode")).of("opencode login")
    assert finding.status is status
    assert words in finding.message


def test_an_opencode_whose_logins_cannot_be_listed_is_no_error(machine: Machine) -> None:
    answers = {key: value for key, value in OPENCODE.items() if key != "auth list"}
    machine.cli("opencode", answers)
    finding = machine.examine(machine.workflow("opencode")).of("opencode login")
    assert finding.status is OK
    assert "cannot be told" in finding.message


@pytest.mark.parametrize(
    ("said", "code", "status", "words"),
    [
        (CLAUDE_IN, 0, OK, "Logged in with an API key (ANTHROPIC_API_KEY)."),
        (CLAUDE_OUT, 1, ERROR, "Not logged in."),
        ('{"loggedIn": true, "authMethod": "third_party", "apiProvider": "bedrock"}', 0, OK, "bedrock."),
        ('{"loggedIn": true, "authMethod": "something new"}', 0, OK, "Logged in."),
        ("Unknown command", 1, OK, "cannot be told"),
        ("[]", 0, OK, "cannot be told"),
    ],
)  # fmt: skip
def test_claude_code_says_itself_whether_it_is_logged_in(
    machine: Machine, said: str, code: int, status: FindingStatus, words: str
) -> None:
    machine.cli(
        "claude", {"--version": "2.1.197 (Claude Code)\n", "auth status": said}, {"auth status": code}
    )
    finding = machine.examine(machine.workflow("claude")).of("claude login")
    assert finding.status is status
    assert words in finding.message
    assert finding.advice or status is OK


def test_a_login_that_nobody_needs_is_only_told(machine: Machine) -> None:
    machine.cli("claude", {"--version": "2.1.197\n", "auth status": CLAUDE_OUT}, {"auth status": 1})
    assert machine.examine().of("claude login").status is OK


@pytest.mark.parametrize(
    ("said", "code", "key", "status", "words"),
    [
        ("API key configured - sk-abcde***lmnop\n", 0, "", OK, "Logged in with an API key."),
        ("Logged in using ChatGPT\n", 0, "", OK, "Logged in with a ChatGPT account."),
        ("Not logged in\n", 1, "", WARNING, "Not logged in."),
        ("Not logged in\n", 1, "sk-x", OK, "CODEX_API_KEY is set."),
        ("panic\n", 101, "", OK, "cannot be told"),
    ],
)
def test_codex_says_itself_whether_it_is_logged_in_and_no_part_of_a_key_is_shown(
    machine: Machine, said: str, code: int, key: str, status: FindingStatus, words: str
) -> None:
    machine.cli("codex", {"--version": "codex-cli 0.171.0\n", "login status": said}, {"login status": code})
    if key:
        machine.monkeypatch.setenv("CODEX_API_KEY", key)
    finding = machine.examine(machine.workflow("codex")).of("codex login")
    assert finding.status is status
    assert words in finding.message
    assert "sk-" not in finding.message


def test_the_login_of_the_gemini_cli_is_found_where_it_keeps_it(machine: Machine) -> None:
    machine.cli("gemini", {"--version": "0.61.0\n"})
    path = machine.workflow("gemini")
    own = machine.home / ".gemini"
    own.mkdir()
    assert machine.examine(path).of("gemini login").status is WARNING

    (own / "settings.json").write_text('{"security": {"auth": {"selectedType": "vertex-ai"}}} // chosen')
    chosen = machine.examine(path).of("gemini login")
    assert (chosen.status, "vertex-ai" in chosen.message) == (OK, True)

    (own / ".env").write_text("# mine\nexport GEMINI_API_KEY=secret\n")
    in_file = machine.examine(path).of("gemini login")
    assert in_file.status is OK
    assert str(own / ".env") in in_file.message
    assert "secret" not in in_file.message

    (own / "oauth_creds.json").write_text("{}")
    assert "Google account" in machine.examine(path).of("gemini login").message

    machine.monkeypatch.setenv("GEMINI_API_KEY", "secret")
    assert machine.examine(path).of("gemini login").message == "GEMINI_API_KEY is set."


# --- agents and models ----------------------------------------------------------------------------------


def test_a_model_that_opencode_does_not_know_is_found(machine: Machine) -> None:
    """Pain 4: opencode says only "Unexpected server error" of it, in the middle of a run."""
    machine.cli("opencode", OPENCODE)
    path = machine.workflow("opencode", opencode_defaults={"model": "anthropic/claude-sonet-4-5"})
    finding = machine.examine(path).of("opencode agents")
    assert finding.status is ERROR
    assert "claude-sonet-4-5" in finding.message
    assert "claude-sonnet-4-5" in finding.advice


def test_an_agent_that_opencode_does_not_know_is_found(machine: Machine) -> None:
    """Pain 4: opencode would run its default one instead, with exit code 0."""
    machine.cli("opencode", OPENCODE)
    path = machine.workflow("opencode", opencode_defaults={"agent": "biuld"})
    finding = machine.examine(path).of("opencode agents")
    assert finding.status is ERROR
    assert finding.advice == "Did you mean build?"


def test_names_that_opencode_knows_are_fine(machine: Machine) -> None:
    machine.cli("opencode", OPENCODE)
    path = machine.workflow("opencode", opencode_defaults={"agent": "plan", "model": "openai/gpt-5"})
    report = machine.examine(path)
    assert report.of("opencode agents").message == "Nothing is in the way of vera."
    assert not report.errors


def test_the_program_of_a_command_agent_that_is_missing_is_found(machine: Machine) -> None:
    path = machine.workflow("command\ncommand: [no-such-program]")
    finding = machine.examine(path).of("command agents")
    assert finding.status is ERROR
    assert "no-such-program" in finding.message


# --- workflow and settings ------------------------------------------------------------------------------


def test_a_workflow_that_cannot_be_read_is_told_and_all_else_is_looked_at(machine: Machine) -> None:
    path = machine.work / "workflow.json"
    path.write_text('{"loop_agents": [}')
    report = machine.examine(path)
    assert report.of("workflow").status is ERROR
    assert f"{path}:1:" in report.of("workflow").message
    assert report.of("python").status is OK
    assert report.of("log folder").status is OK


def test_a_workflow_with_errors_is_told_with_every_one_of_them(machine: Machine) -> None:
    path = machine.workflow("demo", loop_agents=["vera", "nobody", "noone"], end_state_condition="((")
    found = machine.examine(path).all_of("workflow")
    assert len(found) == 3
    assert {finding.status for finding in found} == {ERROR}


def test_a_file_with_settings_that_is_broken_is_told_with_its_place(machine: Machine) -> None:
    settings = machine.work / "openloop.json"
    settings.write_text('{"retries": 2,\n "max_loops": }')
    finding = machine.examine().of("settings")
    assert finding.status is ERROR
    assert f"{settings}:2:" in finding.message


def test_a_setting_that_cannot_be_is_told_and_the_others_hold(machine: Machine) -> None:
    settings = machine.work / "openloop.json"
    settings.write_text('{"retries": "often", "retires": 1, "backend": "codex", "log_dir": "runs"}')
    report = machine.examine()
    statuses = {finding.status: finding for finding in report.all_of("settings")}
    assert "retries" in statuses[ERROR].message
    assert "retires" in statuses[WARNING].message
    assert report.of("codex").status is WARNING, "the default now"
    assert report.of("opencode").status is OK
    assert str(machine.work / "runs") in report.of("log folder").message


def test_a_variable_that_says_nonsense_is_told(machine: Machine) -> None:
    machine.monkeypatch.setenv("OPENLOOP_RETRIES", "often")
    finding = machine.examine().of("settings")
    assert finding.status is ERROR
    assert "OPENLOOP_RETRIES" in finding.message


def test_which_files_with_settings_were_read_is_told(machine: Machine) -> None:
    assert "no file with settings" in machine.examine().of("settings").message
    settings = machine.work / "openloop.json"
    settings.write_text('{"retries": 2}')
    assert machine.examine().of("settings").message == f"Read from {settings}."


# --- git and the working folder -------------------------------------------------------------------------


def run_git(git: str, folder: Path, *words: str) -> None:
    author = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run([git, *author, *words], cwd=folder, check=True, capture_output=True)


def test_a_repository_is_told_as_one_with_its_root(machine: Machine) -> None:
    git = machine.real("git")
    assert "is not in a git repository" in machine.examine().of("work folder").message
    run_git(git, machine.work, "init", "-q")
    fresh = machine.examine().of("work folder")
    assert "no commit yet" in fresh.message
    run_git(git, machine.work, "commit", "-q", "--allow-empty", "-m", "first")
    machine.work = machine.work / "deep"
    machine.work.mkdir()
    report = machine.examine()
    assert report.of("git").status is OK
    assert git in report.of("git").message
    assert f"in the git repository {machine.work.parent}." in report.of("work folder").message


def test_a_git_that_is_missing_or_old_is_in_the_way_only_of_worktrees(machine: Machine) -> None:
    assert machine.examine().of("git").status is WARNING
    path = machine.workflow("demo", isolation="worktree")
    missing = machine.examine(path).of("git")
    assert missing.status is ERROR
    assert missing.advice

    machine.cli("git", {"--version": "git version 2.4.11\n"})
    old = machine.examine(path).of("git")
    assert old.status is ERROR
    assert "2.4.11" in old.message
    assert machine.examine().of("git").status is WARNING


def test_a_git_of_apple_or_windows_is_read_too(machine: Machine) -> None:
    machine.cli("git", {"--version": "git version 2.39.5 (Apple Git-154)\n"})
    assert machine.examine().of("git").message.startswith("2.39.5,")
    machine.cli("git", {"--version": "git version 2.45.1.windows.1\n"})
    assert machine.examine().of("git").status is OK


def test_a_working_folder_that_does_not_exist_is_in_the_way(machine: Machine) -> None:
    machine.real("git")
    machine.cli("claude", {"--version": "2.1.197\n", "auth status": CLAUDE_IN})
    machine.work = machine.work / "gone"
    report = machine.examine()
    assert report.of("work folder").status is ERROR
    assert str(machine.work) in report.of("work folder").message
    assert report.of("claude").status is OK, "the CLI is asked from elsewhere"
    assert not machine.work.exists()


# --- folders --------------------------------------------------------------------------------------------


def test_a_log_folder_that_does_not_exist_is_tried_and_gone_again(machine: Machine) -> None:
    path = machine.workflow("demo", log_dir="deep/logs")
    before = sorted(machine.work.rglob("*"))
    finding = machine.examine(path).of("log folder")
    assert finding.status is OK
    assert "free" in finding.message
    assert sorted(machine.work.rglob("*")) == before


def test_a_log_folder_that_exists_keeps_what_it_has(machine: Machine) -> None:
    logs = machine.work / ".openloop"
    logs.mkdir()
    (logs / "run").write_text("kept")
    assert machine.examine().of("log folder").status is OK
    assert [path.name for path in logs.iterdir()] == ["run"]


def test_a_log_folder_that_cannot_be_made_is_in_the_way(machine: Machine) -> None:
    (machine.work / "file").write_text("")
    finding = machine.examine(machine.workflow("demo", log_dir="file/logs")).of("log folder")
    assert finding.status is ERROR
    assert str(machine.work / "file" / "logs") in finding.message
    assert "log_dir" in finding.advice


def test_a_log_folder_that_is_a_file_is_in_the_way(machine: Machine) -> None:
    (machine.work / "file").write_text("kept")
    assert machine.examine(machine.workflow("demo", log_dir="file")).of("log folder").status is ERROR
    assert (machine.work / "file").read_text() == "kept"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder where nobody may write")
def test_a_folder_where_nobody_may_write_is_in_the_way(machine: Machine) -> None:
    report = machine.examine(machine.workflow("demo", log_dir="/proc/logs"))
    assert report.of("log folder").status is ERROR
    machine.monkeypatch.setenv("OPENLOOP_HOME", "/proc/openloop")
    report = machine.examine()
    own = report.all_of("own folders")
    assert {finding.status for finding in own} == {WARNING}, "runs go on without"
    assert all("OPENLOOP_HOME" in finding.advice for finding in own)


def test_a_home_that_does_not_exist_keeps_nothing_from_being_looked_at(machine: Machine) -> None:
    """As users of containers have it."""
    machine.cli("claude", {"--version": "2.1.197\n", "auth status": CLAUDE_IN})
    for name in ("HOME", "USERPROFILE"):
        machine.monkeypatch.setenv(name, str(machine.home / "nobody"))
    machine.work = machine.work / "gone"
    report = machine.examine()
    assert report.of("processes").status is OK
    assert report.of("claude").status is OK


def test_folders_of_the_user_that_do_not_exist_are_not_made_by_looking(machine: Machine) -> None:
    home = machine.home / "openloop"
    machine.monkeypatch.setenv("OPENLOOP_HOME", str(home))
    assert machine.examine().of("own folders").status is OK
    assert not home.exists()


def test_little_room_is_a_warning_and_none_an_error_with_the_figure(tmp_path: Path) -> None:
    judged = {
        free: room_finding("log folder", tmp_path, free) for free in (NO_ROOM - 1, NO_ROOM, LITTLE_ROOM)
    }
    assert [finding.status for finding in judged.values()] == [ERROR, WARNING, OK]
    assert "100 MiB" in judged[NO_ROOM].message
    assert "1.0 GiB" in judged[LITTLE_ROOM].message
    assert judged[NO_ROOM].advice


# --- the machine ----------------------------------------------------------------------------------------


def test_more_agents_than_memory_is_a_warning_with_a_cap_that_fits() -> None:
    """Pain 33: what the system ends for lack of memory ends without a word."""
    finding = machine_finding(8, 8, 2 * GIB, 8 * GIB)
    assert finding.status is WARNING
    assert "8 agents at once" in finding.message
    assert "max_parallel_agents to 3" in finding.advice
    assert machine_finding(3, 8, 2 * GIB, 8 * GIB).status is OK


def test_many_more_agents_than_cores_is_a_warning_about_their_starts() -> None:
    """Pain 33: each start takes up to 5 CPU-seconds."""
    assert machine_finding(40, 2, 100 * GIB, 100 * GIB).status is WARNING
    assert machine_finding(8, 2, 100 * GIB, 100 * GIB).status is OK


def test_the_caps_of_the_workflow_are_held_against_the_machine(machine: Machine) -> None:
    """Pain 33: a workflow that may start a thousand heavy agents at once is warned of; light ones are not."""
    group = {"agents": ["vera"] * 1000, "mode": "parallel", "max_parallel": 1000}
    heavy = machine.examine(machine.workflow("claude", loop_agents=[group]))
    assert heavy.of("machine").status is WARNING
    light = machine.examine(machine.workflow("demo", loop_agents=[group]))
    assert light.of("machine").status is OK


def test_that_nothing_can_be_left_behind_is_really_tried(machine: Machine) -> None:
    """Pain 9: what ends processes at runs is what is asked here to end one."""
    assert machine.examine().of("processes").status is OK


def test_where_nothing_can_be_looked_after_that_is_said_and_all_else_that_can_be(machine: Machine) -> None:
    machine.monkeypatch.setattr(sys, "executable", str(machine.bin / "no-python"))
    checkup = machine.checkup()
    told = list(checkup.run())
    found = {news.finding.subject: news.finding for news in told if news.finding is not None}
    assert found["processes"].status is ERROR
    assert "no-python" in found["processes"].message
    assert found["log folder"].status is OK
    assert sorted(news.topic for news in told if news.finding is None) == sorted(checkup.topics)


def test_the_limits_of_a_container_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pain 33: what a container may use is less than what the machine has."""
    limit, use, stat = (tmp_path / name for name in ("memory.max", "memory.current", "memory.stat"))
    monkeypatch.setattr("core.machine._GROUPS", ((str(limit), str(use), str(stat)),))
    everything = free_memory()
    limit.write_text("max\n")
    use.write_text(f"{700 << 20}\n")
    assert abs(free_memory() - everything) < GIB, "no limit"
    limit.write_text(f"{1 << 28}\n")
    use.write_text(f"{200 << 20}\n")
    stat.write_text(f"anon 1\nactive_file 3\ninactive_file {100 << 20}\n")
    assert total_memory() == 256 << 20
    assert free_memory() == (256 - 200 + 100) << 20
