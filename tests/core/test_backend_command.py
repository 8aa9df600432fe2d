"""Any program as an agent: real processes, their output in files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.agent import AgentDefinition, read_agent
from core.backends.base import NoiseSeen, OutputEvent, TurnOrder, Verdict
from core.backends.command import LINE_LIMIT, TEXT_LIMIT, CommandBackend, CommandReader, command_words
from core.parser import parse_update
from core.problems import UserFileError
from core.update_block import ParsedUpdate

BACKEND = CommandBackend()
ANSWER = 'Done.\n<state_update>{"payload": {"score": 7}}</state_update>\n'


def agent(command: object) -> AgentDefinition:
    return AgentDefinition.model_validate({"name": "tool", "command": command})


def order(command: object, workdir: Path) -> TurnOrder:
    return TurnOrder(agent(command), "tool", workdir, workdir)


def python(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", program]


def run(command: object, workdir: Path, prompt: bytes = b"") -> tuple[list[OutputEvent], Verdict]:
    """Run it with a file as standard input and output, then read what it printed in odd pieces."""
    words = BACKEND.command(order(command, workdir)).argv
    (workdir / "prompt.md").write_bytes(prompt)
    with (
        (workdir / "prompt.md").open("rb") as stdin,
        (workdir / "out").open("wb") as out,
        (workdir / "err").open("wb") as err,
    ):
        code = subprocess.run(words, stdin=stdin, stdout=out, stderr=err, check=False, timeout=30).returncode
    reader = BACKEND.reader(order(command, workdir))
    data = (workdir / "out").read_bytes()
    events = [event for start in range(0, len(data), 999) for event in reader.feed(data[start : start + 999])]
    events += reader.finish()
    exit_code, signal = (code, None) if code >= 0 else (None, -code)
    return events, reader.judge(exit_code, signal, (workdir / "err").read_text("utf-8"))


def noise(events: list[OutputEvent]) -> bytes:
    assert all(isinstance(event, NoiseSeen) for event in events)
    return b"".join(event.data for event in events if isinstance(event, NoiseSeen))


@pytest.mark.parametrize(
    "program",
    [
        "print('You\\'ve hit your limit · resets 1pm (Europe/Lisbon)')",
        "print('You\\'ve hit your limit · resets 1pm (Europe/Lisbon)'); raise SystemExit(1)",
        "import sys; sys.exit('Error: You\\'ve hit your limit · resets 1pm (Europe/Lisbon)')",
    ],
)
def test_an_agent_cli_inside_that_lost_its_limit_stops_every_agent(tmp_path: Path, program: str) -> None:
    """Pains 22, 28: whatever its exit code, it is neither retried nor corrected."""
    _, verdict = run(
        python(f"import sys; [s.reconfigure(encoding='utf-8') for s in (sys.stdout, sys.stderr)]; {program}"),
        tmp_path,
    )
    assert verdict.failure is not None
    assert verdict.failure.provider_wide
    assert not verdict.failure.transient
    assert verdict.failure.message.startswith("The command python")
    assert "resets at 1pm (Europe/Lisbon)" in verdict.failure.message


def test_a_program_that_writes_about_limits_has_met_none(tmp_path: Path) -> None:
    """Pain 28, the other way round."""
    said = "You've hit your limit is the text of the new dialog. "
    _, verdict = run(python(f"print({said + ANSWER!r})"), tmp_path)
    assert verdict.failure is None


def test_what_a_program_prints_is_its_answer(tmp_path: Path) -> None:
    events, verdict = run(python(f"print({ANSWER!r})"), tmp_path)
    assert verdict == Verdict(ANSWER + "\n")
    assert noise(events).decode() == ANSWER + "\n"
    parsed = parse_update(verdict.text)
    assert isinstance(parsed, ParsedUpdate)
    assert parsed.update.payload == {"score": 7}


def test_the_prompt_is_standard_input_byte_for_byte(tmp_path: Path) -> None:
    prompt = "Grüße “$HOME” `x` \\ \n\x01 end".encode()
    _, verdict = run(python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"), tmp_path, prompt)
    assert verdict.text.encode() == prompt


def test_the_exit_code_decides(tmp_path: Path) -> None:
    program = f"import sys; print({ANSWER!r}); sys.stderr.write('no licence'); raise SystemExit(3)"
    _, verdict = run(python(program), tmp_path)
    assert verdict.failure is not None
    assert verdict.failure.message == "The command failed with exit code 3."
    assert verdict.failure.detail == "no licence"
    assert "Done." in verdict.text


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_a_program_that_was_killed_failed_by_a_signal(tmp_path: Path) -> None:
    _, verdict = run(python("import os; os.kill(os.getpid(), 9)"), tmp_path)
    assert verdict.failure is not None
    assert verdict.failure.message == (
        "The command was ended by the system, often for lack of memory. Let fewer agents run at once."
    )


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    words = ["$HOME", "; exit 3", "a b", "*", '"', "%PATH%", "`id`"]
    program = "import sys; print('|'.join(sys.argv[1:]))"
    _, verdict = run([*python(program), *words], tmp_path)
    assert verdict.text == "|".join(words) + "\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agent --fast -m 'a model'", ("agent", "--fast", "-m", "a model")),
        (r'"C:\Program Files\agent.exe" C:\work', (r"C:\Program Files\agent.exe", r"C:\work")),
        ("agent '#1' # 2", ("agent", "#1", "#", "2")),
        ('agent "" $HOME ~ a|b', ("agent", "", "$HOME", "~", "a|b")),
    ],
)
def test_a_text_is_split_into_words(text: str, words: tuple[str, ...]) -> None:
    assert command_words(agent(text)) == words


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (None, "has no command"),
        ("", "is empty"),
        ([], "is empty"),
        (["", "x"], "is empty"),
        ("agent 'oops", "a quote that is not closed"),
        (["agent", 1.1], 'Put it into quotes: "1.1"'),
        ({"run": "x"}, "neither a list nor a text"),
        (["agent", "a\0b"], "NUL"),
    ],
)
def test_a_command_that_cannot_be_is_explained(tmp_path: Path, command: object, says: str) -> None:
    (problem,) = BACKEND.check([order(command, tmp_path)] * 2)
    assert says in problem.message
    assert problem.place == "command"
    assert "command: [my-agent, --fast]" in problem.suggestion
    with pytest.raises(UserFileError, match=r"command: "):
        BACKEND.command(order(command, tmp_path))


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    (problem,) = BACKEND.check([order("no-such-agent-here --fast", tmp_path)])
    assert problem.message == "The agent tool runs no-such-agent-here, but there is no such program."


@pytest.mark.skipif(os.name != "posix", reason="permission bits of POSIX systems")
def test_a_file_that_may_not_be_executed_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text("#!/bin/sh\n")
    (problem,) = BACKEND.check([order("./agent.sh", tmp_path)])
    assert "may not be executed" in problem.message


def test_a_program_of_the_working_folder_is_found_there(tmp_path: Path) -> None:
    program = tmp_path / ("tool.exe" if os.name == "nt" else "tool")
    shutil.copy(sys.executable, program)
    assert BACKEND.check([order([os.path.join(".", program.name)], tmp_path)]) == []  # noqa: PTH118


def test_an_agent_file_may_name_a_command_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "tool.md").write_text("---\nbackend: command\ncommand: [cat, -u]\n---\nEcho.\n")
    read = read_agent(tmp_path / "tool.md")
    assert read.problems == ()
    assert read.agent is not None
    assert command_words(read.agent) == ("cat", "-u")


# --- reading ------------------------------------------------------------------------------------------


def test_output_cut_at_any_byte_reads_the_same() -> None:
    data = "Grüße\n\nein 🎈\r\nlast line".encode()
    for cut in range(len(data) + 1):
        reader = CommandReader()
        events = [*reader.feed(data[:cut]), *reader.feed(data[cut:]), *reader.finish()]
        assert noise(events) == data
        assert all(event.data.endswith(b"\n") for event in events[:-1] if isinstance(event, NoiseSeen))
        assert reader.judge(0, None, "").text == data.decode()


def test_a_flood_passes_in_the_pieces_it_came_in() -> None:
    reader = CommandReader()
    block = b"a line of a flood\n" * 3641
    for _ in range(50):
        (event,) = reader.feed(block)
        assert event == NoiseSeen(block)


def test_a_line_without_end_is_not_held_back_for_ever() -> None:
    reader = CommandReader()
    events: list[OutputEvent] = []
    for _ in range(LINE_LIMIT // 65536 + 1):
        events += reader.feed(b"x" * 65536)
    assert len(noise(events)) > LINE_LIMIT


@pytest.mark.parametrize("piece", [4096, 65536, 65537, LINE_LIMIT + 2])
@pytest.mark.parametrize("text", ["é漢", "é🎈"])
def test_a_line_without_end_is_cut_between_characters(text: str, piece: int) -> None:
    data = ("a" + text * (3 * LINE_LIMIT // len(text.encode()))).encode()
    reader = CommandReader()
    events: list[OutputEvent] = []
    for start in range(0, len(data), piece):
        events += reader.feed(data[start : start + piece])
    events += reader.finish()
    pieces = [event.data for event in events if isinstance(event, NoiseSeen)]
    assert len(pieces) > 1
    assert "".join(each.decode() for each in pieces) == data.decode()


def test_a_line_without_end_that_is_no_text_is_passed_on_as_it_is() -> None:
    reader = CommandReader()
    events: list[OutputEvent] = []
    data = b"\x80\xbf\xff\xf0" * (LINE_LIMIT // 2)
    for start in range(0, len(data), 65536):
        events += reader.feed(data[start : start + 65536])
    assert noise([*events, *reader.finish()]) == data


@pytest.mark.parametrize("piece", [4096, 65537, TEXT_LIMIT + 5])
def test_of_a_very_long_answer_the_end_is_kept_in_whole_characters(piece: int) -> None:
    data = "🎈".encode() * (TEXT_LIMIT // 4 + 20_000) + b"x" + ANSWER.encode()
    reader = CommandReader()
    for start in range(0, len(data), piece):
        reader.feed(data[start : start + piece])
    text = reader.judge(0, None, "").text
    assert text.endswith(ANSWER)
    assert "\ufffd" not in text
    assert TEXT_LIMIT - 4 < len(text.encode()) <= TEXT_LIMIT


def test_an_update_that_is_larger_than_what_is_kept_is_said_to_be_too_large() -> None:
    reader = CommandReader()
    reader.feed(b'<state_update>{"payload": {"x": "')
    for _ in range(TEXT_LIMIT // 65536 + 2):
        reader.feed(b"y" * 65536)
    reader.feed(b'"}}</state_update>\n')
    reader.finish()
    failure = reader.judge(0, None, "").failure
    assert failure is not None
    assert "longer than 8 MiB" in failure.message


def test_a_program_that_prints_nothing_has_an_empty_answer(tmp_path: Path) -> None:
    events, verdict = run(python("pass"), tmp_path)
    assert events == []
    assert verdict == Verdict("")
