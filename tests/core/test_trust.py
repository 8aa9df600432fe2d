"""Commands that files bring: all are found and shown as they are, and what was allowed is known again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

import resources
from core import trust_store
from core.backends.registry import backend_names
from core.plan import RunPlan
from core.planning import RunOverrides
from core.preparing import prepare_run
from core.problems import Severity
from core.run_folders import library_of
from core.settings import Origin, Setting
from core.trust import BroughtCommand, brought_commands, command_hash, commands_text
from core.trust_scripts import READ_LIMIT
from core.trust_store import TrustStore
from core.visible_text import visible, visible_words
from core.workflow_file import load_workflow
from tests.core.run_support import Workshop

posix = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "project")


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "trusted.json")


def plan_of(shop: Workshop, *agents: str, **workflow: object) -> RunPlan:
    return shop.plan({"name": "work", "loop_agents": list(agents), **workflow})  # type: ignore[dict-item]


def hashes(plan: RunPlan) -> set[str]:
    return {command_hash(command) for command in brought_commands(plan)}


def shown(plan: RunPlan, *settings: Setting) -> dict[str, str]:
    return {command.source: command.command for command in brought_commands(plan, settings)}


# --- what is shown ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ls -l", "ls -l"),
        ("ls\x1b[8m; rm -rf ~\x1b[0m", "ls⟨escape⟩[8m; rm -rf ~⟨escape⟩[0m"),
        ("echo hi\rrm x", "echo hi⟨return⟩rm x"),
        ("a\nb", "a⟨newline⟩b"),
        ("a\tb\0", "a⟨tab⟩b⟨NUL⟩"),
        ("a\x9b2Kb", "a⟨U+009B⟩2Kb"),
        ("x\u202egpj.exe", "x⟨U+202E⟩gpj.exe"),
        ("a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\u3164b\u2800", "a⟨U+3164⟩b⟨U+2800⟩"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("a\ud800", "a⟨U+D800⟩"),
        ("e\u0301", "e\u0301"),
        ("z\u0335\u0336\u0337", "z\u0335\u0336⟨U+0337⟩"),
        ("⟨escape⟩", "⟨U+27E8⟩escape⟨U+27E9⟩"),
        ("ls" + " " * 500 + "; rm x", "ls⟨500 spaces⟩; rm x"),
        ("überprüfe --größe", "überprüfe --größe"),
    ],
)
def test_nothing_in_a_command_can_hide(text: str, seen: str) -> None:
    assert visible(text) == seen


SIGNS = st.text(st.sampled_from("ab ⟨⟩\n\r\t\x1b\u202e\u0301\u200bU+20spaces0E"), max_size=60)


@given(SIGNS, SIGNS)
def test_no_two_commands_look_alike(first: str, second: str) -> None:
    assert (visible(first) == visible(second)) == (first == second)


@given(st.text(st.characters(), max_size=40))
def test_whatever_is_shown_can_be_seen(text: str) -> None:
    unseen = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    for keeps_lines in (False, True):
        shown_text = visible(text, keeps_lines=keeps_lines).replace("\n" if keeps_lines else "", "")
        assert all(c == " " or unicodedata.category(c) not in unseen for c in shown_text)


def test_the_words_of_a_command_can_be_told_apart() -> None:
    assert visible_words(["a b", "c"]) == "'a b' c"
    assert visible_words(["a", "b c"]) == "a 'b c'"
    assert visible_words(["x", "", "it's"]) == "x '' 'it'\"'\"'s'"
    assert visible_words(["sh", "-c", "a\nb"]) == "sh -c 'a⟨newline⟩b'"


def test_a_script_keeps_its_lines_but_none_pushes_others_out_of_sight() -> None:
    assert visible("a\n\n  b\r\nc", keeps_lines=True) == "a\n\n  b\nc"
    assert visible("a" + "\n" * 400 + "rm x", keeps_lines=True) == "a\n⟨399 empty lines⟩\nrm x"


def test_no_line_of_a_script_passes_for_a_name() -> None:
    script = BroughtCommand(
        "init_script of the workflow", visible("true\nagent x:\n    ls", keeps_lines=True)
    )
    text = commands_text([script, BroughtCommand("agent lint", "make")])
    assert [line for line in text.splitlines() if line and not line.startswith("    ")] == [
        "init_script of the workflow:",
        "agent lint:",
    ]


# --- what is brought ----------------------------------------------------------------------------------


def test_demo_agents_and_the_shipped_examples_bring_no_command(shop: Workshop) -> None:
    shop.agent("vera")
    assert brought_commands(plan_of(shop, "vera")) == ()
    paths = sorted((resources.folder() / "workflows").glob("*.json"))
    assert paths
    for path in paths:
        file = load_workflow(path)
        assert prepare_run(file, environ={}, default_workdir=shop.folder).commands == (), path.name


def test_every_way_to_bring_a_command_is_told_with_who_brings_it(shop: Workshop) -> None:
    shop.command("lint", "make", "lint", "--all files")
    for name in ("claude", "codex", "gemini"):
        agent(shop, f"of_{name}", backend=name, extra_args=["--yolo", "a b"])
    agent(shop, "of_opencode", backend="opencode")
    plan = plan_of(
        shop,
        *("lint", "of_claude", "of_codex", "of_gemini", "of_opencode"),
        init_script="npm ci\nnpm test",
        opencode_defaults={"extra_args": ["--auto", "--port=0"]},
    )
    folder = Path("agents")
    assert shown(plan) == {
        "init_script of the workflow (workflow.json)": "npm ci\nnpm test",
        "opencode_defaults.extra_args of the workflow (workflow.json), more arguments for opencode": (
            "--auto --port=0"
        ),
        f"agent lint ({folder / 'lint.md'})": "make lint '--all files'",
        f"agent of_claude ({folder / 'of_claude.md'}), more arguments for claude": "--yolo 'a b'",
        f"agent of_codex ({folder / 'of_codex.md'}), more arguments for codex": "--yolo 'a b'",
        f"agent of_gemini ({folder / 'of_gemini.md'}), more arguments for gemini": "--yolo 'a b'",
    }


def test_a_long_command_is_told_to_its_end(shop: Workshop) -> None:
    shop.command("long", "sh", "-c", f"true {'x' * 100_000}; echo the end")
    (command,) = brought_commands(plan_of(shop, "long"))
    assert len(command.command) > 100_000
    assert command.command.endswith("; echo the end'")


def test_a_backend_that_is_chosen_at_a_place_counts(shop: Workshop) -> None:
    agent(shop, "both", backend="demo", command=["rm", "x"], extra_args=["--yolo"])
    assert brought_commands(plan_of(shop, "both")) == ()
    entry = [{"agents": [{"agent": "both", "backend": "command"}]}]
    assert [c.command for c in brought_commands(shop.plan({"loop_agents": entry}))] == ["rm x"]
    entry = [{"agents": [{"agent": "both", "backend": "gemini"}]}]
    assert [c.command for c in brought_commands(shop.plan({"loop_agents": entry}))] == ["--yolo"]


def test_what_is_switched_off_brings_nothing(shop: Workshop) -> None:
    shop.command("lint", "make")
    shop.agent("vera")
    group = {"agents": ["vera", {"agent": "lint", "enabled": False}]}
    off = {"agents": ["lint"], "enabled": False}
    assert brought_commands(shop.plan({"loop_agents": [group, off]})) == ()


def test_the_arguments_of_a_cli_that_no_agent_uses_are_not_told(shop: Workshop) -> None:
    shop.agent("vera")
    assert brought_commands(plan_of(shop, "vera", opencode_defaults={"extra_args": ["--auto"]})) == ()


def test_a_command_that_several_agents_bring_is_told_once_with_all_of_them(shop: Workshop) -> None:
    shop.command("one", "make")
    shop.command("two", "make")
    (command,) = brought_commands(plan_of(shop, "one", "two", "one"))
    assert command.command == "make"
    assert command.source == f"agent one ({Path('agents/one.md')}); agent two ({Path('agents/two.md')})"


def test_the_name_of_an_agent_hides_nothing(shop: Workshop) -> None:
    agent(shop, "odd", name="x\x1b[8m", backend="command", command=["ls"])
    (command,) = brought_commands(plan_of(shop, "x\x1b[8m"))
    assert command.source.startswith("agent x⟨escape⟩[8m (")


def test_what_the_user_says_himself_is_brought_by_nobody(shop: Workshop) -> None:
    """A project's settings are files of others; the command line, the environment and the user's are not."""
    agent(shop, "one", backend="opencode")
    plan = plan_of(shop, "one", init_script="make", opencode_defaults={"extra_args": ["--auto"]})
    keys = ("init_script", "opencode_defaults.extra_args")
    for origin in Origin:
        settings = [Setting(key, "", origin, "somewhere") for key in keys]
        brought = bool(brought_commands(plan, settings))
        assert brought == (origin in (Origin.WORKFLOW, Origin.PROJECT)), origin
    project = Setting(keys[0], "make", Origin.PROJECT, "openloop.json")
    assert shown(plan, project)["init_script of openloop.json"] == "make"


def test_names_that_a_shell_would_read_are_told(shop: Workshop) -> None:
    """A `.cmd` shim of Windows hands its arguments to a shell."""
    agent(shop, "one", backend="claude", model='x"&calc&"')
    agent(shop, "two", backend="claude", model="sonnet[1m]", variant="high%PATH%")
    assert sorted(shown(plan_of(shop, "one", "two")).values()) == ["'x\"&calc&\"'", "high%PATH%"]


# --- what makes it another command --------------------------------------------------------------------


def test_names_and_order_do_not_make_another_command(shop: Workshop) -> None:
    shop.command("one", "make", "a")
    shop.command("two", "make", "b")
    before = hashes(plan_of(shop, "one", "two"))
    assert hashes(plan_of(shop, "two", "one", name="renamed", max_loops=3)) == before
    shop.command("renamed", "make", "a")
    assert hashes(plan_of(shop, "renamed", "two")) == before


@pytest.mark.parametrize("changed", [["make", "b"], ["make"], ["make", "a", ""], ["make a"], ["MAKE", "a"]])
def test_any_change_of_the_words_makes_another_command(shop: Workshop, changed: list[str]) -> None:
    shop.command("one", "make", "a")
    before = hashes(plan_of(shop, "one"))
    shop.command("one", *changed)
    assert hashes(plan_of(shop, "one")).isdisjoint(before)


def test_another_folder_makes_another_command(shop: Workshop, tmp_path: Path) -> None:
    """`make` is another command where another Makefile is."""
    shop.command("one", "make")
    workflow = {"loop_agents": ["one"], "init_script": "make"}
    here = shop.plan(workflow)
    (tmp_path / "other").mkdir()
    there = shop.plan(workflow, RunOverrides(workdir=tmp_path / "other"))
    assert hashes(here).isdisjoint(hashes(there))


def test_another_agent_with_the_same_freedom_is_asked_about(shop: Workshop) -> None:
    """What one agent may do says nothing about what the next one would do with it."""
    agent(shop, "good", backend="codex", extra_args=["--yolo"])
    agent(shop, "new", backend="codex", extra_args=["--yolo"])
    assert hashes(plan_of(shop, "good")).isdisjoint(hashes(plan_of(shop, "new")))


@pytest.mark.parametrize(
    "words",
    [
        ["python3", "tool.py"],
        ["./tool.py"],
        ["env", "--config=tool.py"],
        ["python3", "-u", "tool.py"],
        ["tool.py"],
    ],
)
def test_a_changed_script_makes_another_command(shop: Workshop, words: list[str]) -> None:
    script = shop.folder / "tool.py"
    script.write_text("print(1)", encoding="utf-8")
    shop.command("one", *words)
    before = hashes(plan_of(shop, "one"))
    assert hashes(plan_of(shop, "one")) == before
    script.write_text("print(2)", encoding="utf-8")
    assert hashes(plan_of(shop, "one")).isdisjoint(before)
    script.write_text("print(1)", encoding="utf-8")
    assert hashes(plan_of(shop, "one")) == before


def test_a_script_beside_the_agent_and_one_without_ending_count(shop: Workshop, tmp_path: Path) -> None:
    beside = shop.folder / "agents" / "tool"
    beside.write_text("#!/bin/sh\necho 1", encoding="utf-8")
    (tmp_path / "work").mkdir()
    shop.command("one", "env", str(beside))
    plan = shop.plan({"loop_agents": ["one"]}, RunOverrides(workdir=tmp_path / "work"))
    before = hashes(plan)
    beside.write_text("#!/bin/sh\necho 2", encoding="utf-8")
    assert hashes(plan).isdisjoint(before)


def test_scripts_of_an_init_script_count(shop: Workshop) -> None:
    setup, helper = shop.folder / "setup.sh", shop.folder / "helper"
    setup.write_text("true", encoding="utf-8")
    helper.write_text("true", encoding="utf-8")
    shop.agent("vera")
    plan = plan_of(shop, "vera", init_script='cd . && ./setup.sh; . helper >"out.txt"')
    for script in (setup, helper):
        before = hashes(plan)
        script.write_text("rm x", encoding="utf-8")
        assert hashes(plan).isdisjoint(before), script.name


def test_data_that_a_command_reads_may_be_other_data_each_time(shop: Workshop) -> None:
    data = shop.folder / "data.csv"
    data.write_text("1", encoding="utf-8")
    shop.command("one", "python3", "-c", "print()", "data.csv", "--in=data.csv")
    before = hashes(plan_of(shop, "one"))
    data.write_text("2", encoding="utf-8")
    assert hashes(plan_of(shop, "one")) == before


def test_of_a_large_script_its_size_and_time_count(shop: Workshop) -> None:
    script = shop.folder / "tool.py"
    script.write_bytes(b"#" * (READ_LIMIT + 1))
    shop.command("one", "python3", "tool.py")
    before = hashes(plan_of(shop, "one"))
    facts = script.stat()
    os.utime(script, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1_000_000_000))
    assert hashes(plan_of(shop, "one")).isdisjoint(before)


@posix
def test_pipes_endless_files_and_what_lies_outside_are_never_read(shop: Workshop, tmp_path: Path) -> None:
    os.mkfifo(shop.folder / "pipe.py")
    (shop.folder / "zero.py").symlink_to("/dev/zero")
    (shop.folder / "round.py").symlink_to("round.py")
    (tmp_path / "outside.py").write_text("1", encoding="utf-8")
    names = ("pipe.py", "zero.py", "round.py", "../outside.py", "/dev/zero", "x" * 5000, "agents")
    shop.command("one", "sh", *names)
    (command,) = brought_commands(plan_of(shop, "one", init_script=None))
    assert command.scripts == ()
    assert command_hash(command) == command_hash(command)


def test_a_script_that_goes_makes_another_command_and_no_error(shop: Workshop) -> None:
    script = shop.folder / "tool.py"
    script.write_text("print(1)", encoding="utf-8")
    shop.command("one", "python3", "tool.py")
    (command,) = brought_commands(plan_of(shop, "one"))
    before = command_hash(command)
    script.unlink()
    assert command_hash(command) != before


# --- what is remembered -------------------------------------------------------------------------------


def test_what_was_allowed_is_known_again_and_only_that(shop: Workshop, store: TrustStore) -> None:
    shop.command("one", "make", "a")
    shop.command("two", "make", "b")
    first = brought_commands(plan_of(shop, "one"))
    both = brought_commands(plan_of(shop, "one", "two"))
    assert store.judge(first).unknown == first
    assert store.remember(first, shop.folder / "workflow.json") == ()
    assert TrustStore(store.path).judge(first).unknown == ()
    assert [command.command for command in store.judge(both).unknown] == ["make b"]
    store.remember(both, None)
    assert store.judge(both).unknown == ()


def test_a_run_without_commands_touches_no_file(store: TrustStore) -> None:
    assert store.judge(()).unknown == ()
    assert not store.path.parent.exists()


def test_a_person_can_read_the_file_and_forget_an_entry(shop: Workshop, store: TrustStore) -> None:
    shop.command("one", "make", "a")
    shop.command("two", "make", "b")
    commands = brought_commands(plan_of(shop, "one", "two"))
    store.remember(commands, shop.folder / "workflow.json")
    written = json.loads(store.path.read_text(encoding="utf-8"))
    assert "Delete an entry" in written["about"]
    first, second = written["trusted"]
    assert first["command"] == "make a"
    assert first["workflow"] == str(shop.folder / "workflow.json")
    assert first["source"].startswith("agent one (")
    assert first["when"].startswith("20")
    assert len(first["hash"]) == 64
    written["trusted"] = [second]
    written["note"] = "mine"
    store.path.write_text(json.dumps(written), encoding="utf-8")
    assert [command.command for command in store.judge(commands).unknown] == ["make a"]
    store.remember(commands, None)
    again = json.loads(store.path.read_text(encoding="utf-8"))
    assert [entry["command"] for entry in again["trusted"]] == ["make b", "make a"]
    assert again["note"] == "mine"


@pytest.mark.parametrize(
    "broken", [b"", b"{", b"[]", b'{"trusted": [{}]}', b'{"trusted": [{"hash": 1}]}', b"\xff\xfe", b"null"]
)
def test_a_broken_file_trusts_nothing_is_kept_and_told(
    shop: Workshop, store: TrustStore, broken: bytes
) -> None:
    shop.command("one", "make")
    commands = brought_commands(plan_of(shop, "one"))
    store.path.parent.mkdir()
    store.path.write_bytes(broken)
    trust = store.judge(commands)
    assert trust.unknown == commands
    (warning,) = trust.warnings
    aside = store.path.with_name("trusted.json.broken")
    assert str(aside) in warning.message
    assert warning.severity is Severity.WARNING
    assert aside.read_bytes() == broken
    assert not store.path.exists()
    # The next one does not write over what is kept.
    store.path.write_bytes(broken)
    assert "trusted.json.broken1" in store.remember(commands, None)[0].message
    assert aside.read_bytes() == broken
    assert store.judge(commands).unknown == ()


def test_a_file_that_cannot_be_read_trusts_nothing_and_is_left_alone(
    shop: Workshop, store: TrustStore
) -> None:
    shop.command("one", "make")
    commands = brought_commands(plan_of(shop, "one"))
    store.path.mkdir(parents=True)
    trust = store.judge(commands)
    assert trust.unknown == commands
    assert "cannot be read" in trust.warnings[0].message
    assert "could not be noted" in store.remember(commands, None)[0].message
    assert store.path.is_dir()


def test_where_nothing_can_be_written_it_is_told_and_nothing_raised(shop: Workshop, tmp_path: Path) -> None:
    shop.command("one", "make")
    commands = brought_commands(plan_of(shop, "one"))
    (tmp_path / "file").touch()
    (warning,) = TrustStore(tmp_path / "file" / "trusted.json").remember(commands, None)
    assert "could not be noted" in warning.message
    assert "asked again next time" in warning.suggestion


def test_another_process_that_never_lets_go_is_not_waited_for(
    shop: Workshop, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.command("one", "make")
    commands = brought_commands(plan_of(shop, "one"))
    monkeypatch.setattr(trust_store, "LOCK_SECONDS", 0.05)
    store.path.parent.mkdir()
    with FileLock(f"{store.path}.lock"):
        (warning,) = store.remember(commands, None)
    assert "could not be noted" in warning.message


_REMEMBER = """
import sys
from pathlib import Path
from core.trust import BroughtCommand
from core.trust_store import TrustStore
store = TrustStore(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(8):
    assert store.remember([BroughtCommand("x", "x", f"{sys.argv[2]}.{number}")], None) == ()
"""


def test_processes_that_remember_at_the_same_time_lose_nothing(store: TrustStore, project_root: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _REMEMBER, str(store.path), str(number)],
            cwd=project_root,
            stdin=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    commands = [BroughtCommand("x", "x", f"{writer}.{number}") for writer in range(4) for number in range(8)]
    assert store.judge(commands).unknown == ()


def test_a_prepared_run_names_its_commands(shop: Workshop) -> None:
    shop.command("one", "make")
    path = shop.file({"loop_agents": ["one"]})
    file = load_workflow(path)
    prepared = prepare_run(
        file,
        environ={},
        library=library_of(file, shop.folder),
        known_backends=backend_names(),
        default_workdir=shop.folder,
    )
    assert [command.command for command in prepared.commands] == ["make"]


def agent(shop: Workshop, file: str, **matter: object) -> None:
    text = f"---\n{json.dumps({'name': file, **matter})}\n---\nYou work.\n"
    (shop.folder / "agents" / f"{file}.md").write_text(text, encoding="utf-8")


def test_what_changes_while_the_user_is_asked_is_not_what_was_allowed(
    shop: Workshop, store: TrustStore
) -> None:
    script = shop.folder / "tool.sh"
    script.write_text("echo 1", encoding="utf-8")
    shop.command("one", "sh", "tool.sh")
    commands = brought_commands(plan_of(shop, "one"))
    asked = store.judge(commands).unknown
    script.write_text("echo 2", encoding="utf-8")
    assert store.changed(asked)
    store.remember(asked, "workflow.json")
    assert store.judge(commands).unknown == commands
    script.write_text("echo 1", encoding="utf-8")
    assert store.judge(commands).unknown == ()
