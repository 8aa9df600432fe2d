"""Why an opencode that prints nothing waits, from lines that version 1.18.33 wrote into its log."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.agent import AgentDefinition
from core.backends.base import TurnOrder
from core.backends.opencode import OpencodeBackend
from core.backends.opencode_log import TAIL, last_error, log_file

NOW = datetime(2026, 11, 29, 17, 30, tzinfo=UTC).timestamp()
LIMIT = r"AI_APICallError: {\"type\":\"GoUsageLimitError\"} Weekly usage limit reached. Resets in 19hr"
MINE, OTHER, CHILD = "ses_mine", "ses_other", "ses_child"


def stamp(second: float) -> str:
    moment = datetime.fromtimestamp(NOW + second, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(second: float, rest: str, level: str = "INFO") -> str:
    return f"timestamp={stamp(second)} level={level} run=839eb119 {rest}\n"


def created(second: float, session: str, workdir: Path, title: str = "vera loop 1", parent: str = "") -> str:
    return line(
        second,
        f"message=created id={session} slug=neon-canyon version=1.18.33 projectID=global "
        f'directory={workdir} parentID={parent or "undefined"} title="{title}" agent=undefined cost=0',
    )


def step(second: float, session: str, number: int = 0) -> str:
    return line(second, f"message=loop session.id={session} step={number}")


def stream(second: float, session: str) -> str:
    return line(second, f"message=stream providerID=stub modelID=x session.id={session} small=false")


def failed(second: float, session: str, error: str = r"AI_APICallError: boom \"quoted\" \\ back") -> str:
    return line(
        second,
        f'message="stream error" providerID=stub modelID=x session.id={session} small=false agent=build '
        f'mode=primary error.error="{error}"',
        level="ERROR",
    )


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = log_file({"XDG_DATA_HOME": str(tmp_path / "data")})
    file.parent.mkdir(parents=True)
    return file


def error_in(log: Path, workdir: Path, session: str | None = None, since: float = 0) -> str:
    return last_error(log, session, "vera loop 1", workdir, since and NOW + since)


def test_the_last_error_of_a_waiting_session_is_found_by_its_title_and_folder(
    log: Path, tmp_path: Path
) -> None:
    """Pain 3: before its first event nothing else names the session."""
    log.write_text(
        created(0, MINE, tmp_path)
        + created(1, OTHER, tmp_path / "elsewhere")
        + created(1, OTHER, tmp_path, title="linter")
        + step(1, MINE)
        + stream(1, MINE)
        + failed(2, MINE, "AI_APICallError: first")
        + stream(4, MINE)
        + failed(4, MINE)
        + stream(8, MINE)
        + failed(9, OTHER, "AI_APICallError: another agent's")
    )
    assert error_in(log, tmp_path) == r'boom "quoted" \ back'
    assert error_in(log, tmp_path, OTHER) == "another agent's"
    assert error_in(log, tmp_path / "nowhere") == ""


def test_an_error_that_was_got_over_explains_no_silence(log: Path, tmp_path: Path) -> None:
    """Pain 14: the agent is at work."""
    log.write_text(created(0, MINE, tmp_path) + step(1, MINE) + failed(2, MINE) + step(9, MINE, 1))
    assert error_in(log, tmp_path, MINE) == ""
    log.write_text(created(0, MINE, tmp_path) + step(1, MINE) + stream(1, MINE))
    assert error_in(log, tmp_path, MINE) == ""


def test_an_error_of_an_earlier_attempt_explains_nothing(log: Path, tmp_path: Path) -> None:
    """Pain 22: once the limit is back, the attempt that is made then is not ended for the old error."""
    log.write_text(created(0, MINE, tmp_path) + step(1, MINE) + failed(2, MINE))
    assert error_in(log, tmp_path, since=-1)
    assert error_in(log, tmp_path, since=3) == ""
    assert error_in(log, tmp_path, MINE, since=3) == ""


def test_a_session_waits_for_its_subagents(log: Path, tmp_path: Path) -> None:
    """Pain 3."""
    waiting = (
        created(0, MINE, tmp_path)
        + step(1, MINE)
        + created(2, CHILD, tmp_path, "sub (@general subagent)", MINE)
        + step(2, CHILD)
        + failed(3, CHILD, "AI_APICallError: slow down")
    )
    log.write_text(waiting)
    assert error_in(log, tmp_path, MINE) == "slow down"
    log.write_text(waiting + step(4, MINE, 1))
    assert error_in(log, tmp_path, MINE) == ""


def test_only_the_end_of_a_large_log_is_read_and_broken_lines_do_no_harm(log: Path, tmp_path: Path) -> None:
    assert error_in(log, tmp_path) == ""
    log.write_bytes(b"\xff\xfe message=created id=ses_x\n" + b"x" * TAIL + failed(2, MINE)[40:].encode())
    assert error_in(log, tmp_path, MINE) == r'boom "quoted" \ back'
    log.unlink()
    log.mkdir()
    assert error_in(log, tmp_path, MINE) == ""


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TurnOrder:
    monkeypatch.setenv("OPENLOOP_OPENCODE", sys.executable)
    return TurnOrder(AgentDefinition(name="vera"), "vera · loop 1", tmp_path, tmp_path / "turn", "go/kimi")


def test_a_silence_has_a_reason_and_a_used_up_limit_is_a_failure(log: Path, order: TurnOrder) -> None:
    """Pains 3, 22: opencode would wait for 19 hours without a word."""
    backend = OpencodeBackend()
    assert backend.silence_reason(order) == ""
    assert backend.hidden_failure(order) is None
    log.write_text(created(0, MINE, order.workdir) + step(1, MINE) + failed(2, MINE))
    assert backend.silence_reason(order).endswith(r'waits to ask again: "boom "quoted" \ back"')
    assert backend.hidden_failure(order) is None
    log.write_text(created(0, MINE, order.workdir) + step(1, MINE) + failed(2, MINE, LIMIT))
    failure = backend.hidden_failure(order)
    assert failure is not None
    assert failure.provider_wide
    assert failure.message.startswith(
        "The provider go of opencode: the usage limit of the account is reached"
    )
    assert "It resets in 19hr." in failure.message


def test_what_an_earlier_attempt_met_is_forgotten_when_the_next_one_starts(
    log: Path, order: TurnOrder
) -> None:
    """Pain 22: a run that goes on does not pause at once for the old reason."""
    backend = OpencodeBackend()
    log.write_text(created(0, MINE, order.workdir) + step(1, MINE) + failed(2, MINE, LIMIT))
    # The test's lines are of 2026; an attempt that begins at any later time has no part in them.
    log.write_text(log.read_text().replace("2026-", "2001-"))
    assert backend.hidden_failure(order) is not None
    backend.command(order)
    assert backend.hidden_failure(order) is None
    assert backend.silence_reason(replace(order, session=MINE)) == ""
