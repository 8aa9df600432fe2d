"""Changing agent files: only what was changed changes, and a file is never lost or overwritten unseen."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.agent_file import OWN_KEYS, inspect_agent, read_agent
from core.agent_writing import (
    ORDER,
    AgentText,
    CannotEditError,
    ChangedOnDiskError,
    FieldValue,
    create_agent_file,
    save_agent,
    with_endings,
)
from core.problems import UserFileError

FILE = Path("vera.md")

# Every entry as people write them: its key, and its lines.
ENTRIES = {
    "name": ["name: vera", "name:   vera   # who", "name: 'vera'", 'name: "vera"', "name: |-\n  vera"],
    "role": ["role: auditor", "role:", "role: ''  # none yet", "? role\n: auditor", "role: !!str auditor"],
    "description": [
        "description: Judges.",
        'description: "a: b\\tc"',
        "description: >\n  Judges the\n  round.\n",
        "description: |\n  # no comment\n\n  of two lines",
        "description:\n  on the next line",
        "description: one that\n  goes on",
    ],
    "backend": ["backend: demo", "backend: ~", "backend: &b demo"],
    "timeout": ["timeout: 900", "timeout: 1_000 # s", "timeout: 0.5", "timeout: soon"],
    "can_complete": ["can_complete: true", "can_complete: no"],
    "command": [
        "command: [a, 'b c']",
        "command:\n- a\n- b # x",
        "command:\n  - a\n  # y\n  - b",
        "command: a b",
    ],
    "demo": ["demo:\n  seconds: 3 # slow\n  writes: {score: 84}", "demo: {x: [1,\n  2]}", "demo: {}"],
    "tools": ["tools: {bash: false}", "tools:\n  bash: false\n\n"],
    "x-ä": ["x-ä: 😀 # 😀", "x-ä: [&l 1, *l]"],
}
BETWEEN = ["", "# a comment", "# name: not this one\n\n# ---", "\n\n"]
VALUES: dict[str, st.SearchStrategy[FieldValue]] = {
    "timeout": st.none() | st.integers(0, 10**6) | st.floats(0, 10**6, allow_nan=False),
    "can_complete": st.none() | st.booleans(),
    "command": st.none() | st.lists(st.text(max_size=8), max_size=3) | st.text(max_size=8),
}
TEXTS = st.none() | st.sampled_from(
    [
        "no",
        "1.10",
        "~",
        "",
        " x ",
        "a: b",
        "# x",
        "- x",
        "it's",
        'say "x"',
        "*x",
        "a\nb",
        "---",
        "\u2028",
        "x\\",
    ]
)
TEXTS |= st.text(max_size=12)


@st.composite
def matters(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Entries and what stands between them, as (key or empty, lines)."""
    keys = draw(st.lists(st.sampled_from(sorted(ENTRIES)), unique=True, max_size=6))
    blocks: list[tuple[str, str]] = []
    for key in keys:
        if draw(st.booleans()):
            blocks.append(("", draw(st.sampled_from(BETWEEN)) + "\n"))
        blocks.append((key, draw(st.sampled_from(ENTRIES[key])) + "\n"))
    blocks.append(("", draw(st.sampled_from(BETWEEN)) + "\n"))
    return blocks


BODIES = st.sampled_from(["", "\nYou are Vera.\n", "\n\n# Vera\n\n---\n\n```\nx\n```\n\n\n", "You are Vera."])
NEWLINES = st.sampled_from(["\n", "\r\n"])


def assemble(blocks: list[tuple[str, str]], body: str, newline: str, mark: str = "") -> str:
    text = f"---\n{''.join(block for _, block in blocks)}---\n{body}"
    return mark + text.replace("\n", newline)


@given(matters(), BODIES, NEWLINES, st.sampled_from(["", "\ufeff"]))
def test_a_file_that_is_not_changed_keeps_every_byte(
    blocks: list[tuple[str, str]], body: str, newline: str, mark: str
) -> None:
    text = assemble(blocks, body, newline, mark)
    read = AgentText.parse(text)
    assert read.text == text
    assert read.with_prompt(read.shown_prompt).text == text
    agent = inspect_agent(text.removeprefix("\ufeff"), FILE).agent
    assert agent is not None
    assert agent.prompt == read.prompt or not read.prompt
    same: dict[str, FieldValue] = {"backend": agent.backend, "can_complete": agent.can_complete}
    assert read.with_fields(same).text == text


@given(st.text(alphabet="-: \n\r\ufeffab#\u2028\u2029", max_size=40))
@example("---\n---")
@example("--- \n\n\nname: x\n---\n\n\nx")
@example("---\nname: x\n")
def test_any_text_is_cut_without_a_loss(text: str) -> None:
    assert AgentText.parse(text).text == text


@given(st.data(), matters(), BODIES, NEWLINES)
def test_a_changed_field_changes_only_its_own_lines(
    data: st.DataObject, blocks: list[tuple[str, str]], body: str, newline: str
) -> None:
    key = data.draw(st.sampled_from([*(key for key in ORDER if key not in ("demo", "prompt")), "tools"]))
    value = data.draw(VALUES.get(key, TEXTS))
    text = assemble(blocks, body, newline)
    try:
        after = AgentText.parse(text).with_fields({key: value}).text
    except CannotEditError:
        return
    at = next((at for at, (name, _) in enumerate(blocks) if name == key), None)
    if at is not None:
        before = assemble(blocks[:at], "", newline)[: -len("---" + newline)]
        behind = assemble(blocks[at + 1 :], body, newline)[len("---" + newline) :]
        assert after.startswith(before)
        assert after.endswith(behind)
    else:
        # One line more, and nothing else.
        lines = after.splitlines(keepends=True)
        new = [
            number for number in range(len(lines)) if "".join(lines[:number] + lines[number + 1 :]) == text
        ]
        assert (after == text) if value is None else new
    agent = inspect_agent(after, FILE).agent
    assert agent is not None
    if key in ("description", "backend", "model") and isinstance(value, str):
        assert getattr(agent, key) == value


@pytest.mark.parametrize("key", ["name", "description", "timeout", "command"])
@pytest.mark.parametrize("entry", ["plain", "block"])
def test_common_front_matter_can_be_changed_in_every_field(key: str, entry: str) -> None:
    forms = {name: forms[0 if entry == "plain" else -2] for name, forms in ENTRIES.items() if name in ORDER}
    text = assemble([(name, f"{lines}\n") for name, lines in forms.items()], "\nYou.\n", "\n")
    values: dict[str, FieldValue] = {"timeout": 5, "command": ["x", "y z"]}
    after = AgentText.parse(text).with_fields({key: values.get(key, "new words")}).text
    read = inspect_agent(after, FILE)
    assert read.agent is not None
    found = getattr(read.agent, key, (read.agent.model_extra or {}).get(key))
    assert found == values.get(key, "new words")


def test_new_keys_go_where_people_expect_them() -> None:
    text = "---\n# mine\nname: vera\ndemo: {}\n---\nYou.\n"
    after = AgentText.parse(text).with_fields({"role": "auditor", "timeout": 90, "x-note": "later"}).text
    assert after == (
        "---\n# mine\nname: vera\nrole: auditor\ntimeout: 90\ndemo: {}\nx-note: later\n---\nYou.\n"
    )


@pytest.mark.parametrize("text", ["You are Vera.\n", "\ufeffYou are Vera.\r\n", "", "---\nnever closed\n"])
def test_a_file_without_front_matter_gets_one(text: str) -> None:
    after = AgentText.parse(text).with_fields({"role": "auditor"}).text
    read = inspect_agent(after.removeprefix("\ufeff"), FILE)
    assert read.agent is not None
    assert (read.agent.role, read.agent.prompt) == ("auditor", text.strip("\ufeff\r\n"))
    assert after.endswith(text.removeprefix("\ufeff"))
    assert after.startswith("\ufeff") is text.startswith("\ufeff")
    assert ("\r\n" in after) is ("\r\n" in text)


def test_what_others_refer_to_is_not_taken_away() -> None:
    read = AgentText.parse("---\nrole: &r auditor\nx-other: *r\n---\n")
    for value in ("author", None):
        with pytest.raises(CannotEditError):
            read.with_fields({"role": value})
    with pytest.raises(CannotEditError, match="braces"):
        AgentText.parse("---\n{name: vera}\n---\n").with_fields({"role": "x"})


def test_of_a_key_that_stands_twice_the_one_that_counts_is_changed() -> None:
    read = AgentText.parse("---\nrole: a\nname: v\nrole: b\n---\n")
    assert read.with_fields({"role": "c"}).text == "---\nrole: a\nname: v\nrole: c\n---\n"
    assert read.with_fields({"role": None}).text == "---\nname: v\n---\n"


# --- the prompt ----------------------------------------------------------------------------------------


def test_lines_of_a_prompt_that_stay_keep_their_own_endings() -> None:
    read = AgentText.parse("---\r\nname: x\r\n---\r\none\r\ntwo\nthree\rfour\r\nfive\r\n")
    assert read.shown_prompt == "one\ntwo\nthree\nfour\nfive"
    after = read.with_prompt("one\ntwo\nnew\nmore\nfour\nfive")
    assert after.prompt == "one\r\ntwo\nnew\r\nmore\r\nfour\r\nfive"
    assert after.tail == "\r\n"


@given(st.text(alphabet="ab\n\r", max_size=20), st.text(alphabet="ab\n", max_size=20))
def test_a_changed_prompt_reads_as_it_was_typed(old: str, shown: str) -> None:
    after = with_endings(old, shown)
    assert after.replace("\r\n", "\n").replace("\r", "\n") == shown


def test_the_first_prompt_of_an_agent_stands_apart_from_its_front_matter() -> None:
    assert AgentText.parse("---\nname: x\n---").with_prompt("You.").text == "---\nname: x\n---\n\nYou.\n"
    assert AgentText.parse("---\nname: x\n---\n\n").with_prompt("You.").text == "---\nname: x\n---\n\nYou.\n"
    assert AgentText.parse("").with_prompt("You.").text == "You.\n"


# --- the file ------------------------------------------------------------------------------------------


def test_saving_keeps_the_bytes_and_the_permissions(tmp_path: Path) -> None:
    path = tmp_path / "vera.md"
    data = "\ufeff---\r\nname: véra\r\n---\r\nYou.\r\n".encode()
    path.write_bytes(data)
    path.chmod(0o640)
    assert save_agent(path, data.decode().replace("You", "You are"), data) == path.read_bytes()
    assert path.read_bytes() == data.replace(b"You", b"You are")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 or sys.platform == "win32"
    assert [each.name for each in tmp_path.iterdir()] == ["vera.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_saving_follows_a_link_and_does_not_replace_it(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "vera.md"
    real.write_text("a", encoding="utf-8")
    link.symlink_to(real.name)
    save_agent(link, "b", b"a")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "b"


def test_what_another_program_wrote_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "vera.md"
    path.write_bytes(b"theirs")
    for known in (b"read before", None):
        with pytest.raises(ChangedOnDiskError) as raised:
            save_agent(path, "mine", known)
        assert raised.value.found == b"theirs"
    assert path.read_bytes() == b"theirs"
    save_agent(path, "mine", raised.value.found)
    assert path.read_bytes() == b"mine"


def test_a_file_that_is_gone_is_made_again_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "agents" / "vera.md"
    save_agent(path, "mine", b"was read")
    assert path.read_bytes() == b"mine"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of Unix")
def test_a_file_that_is_read_only_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vera.md"
    path.write_bytes(b"a")
    path.chmod(0o444)
    if os.geteuid() == 0:
        # Who may do everything is asked as if they might not.
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UserFileError, match=r"vera\.md is read-only\. Make it writable"):
        save_agent(path, "b", b"a")
    assert path.read_bytes() == b"a"


def test_half_a_character_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserFileError) as raised:
        save_agent(tmp_path / "vera.md", "one\ntwo \ud800", None)
    assert raised.value.problems[0].line == 2
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "agents" / "vera.md"
    create_agent_file(path, "---\nname: vera\n---\n")
    assert read_agent(path).agent is not None
    with pytest.raises(UserFileError, match="already a file"):
        create_agent_file(path, "other")
    assert "vera" in path.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are of other systems")
def test_a_file_that_did_not_get_onto_the_disk_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "vera.md"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        for _ in range(2):
            with pytest.raises(UserFileError, match=r"vera\.md cannot be written"):
                create_agent_file(path, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
    create_agent_file(path, "x" * 5000)
    assert path.stat().st_size == 5000


def test_every_own_key_has_its_place() -> None:
    assert set(ORDER) == OWN_KEYS
