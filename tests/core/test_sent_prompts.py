"""What each attempt of a turn was sent stays to be read, also when the turn begins again."""

from __future__ import annotations

from pathlib import Path

from core.run_files import PROMPT_NAME
from core.sent_prompts import sent_prompts
from tests.core.run_support import Workshop, resume


def told(folder: Path) -> list[tuple[str, int, int, int]]:
    return [(sent.path.name, sent.first, sent.last, sent.after) for sent in sent_prompts(folder)]


def test_a_turn_that_begins_again_with_another_prompt_keeps_both(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", bad_update={"kind": "missing"})
    run = shop.run({"preparation_agents": ["vera"], "on_missing_state": "abort"})
    folder = run.turn_folder("vera")
    before = (folder / PROMPT_NAME).read_bytes()
    assert told(folder) == [
        ("prompt.md", 1, 0, 0),
        ("correction-1.md", 1, 0, 1),
        ("correction-2.md", 1, 0, 2),
    ]

    agent = shop.folder / "agents" / "vera.md"
    agent.write_text(agent.read_text() + "\nLook at the tests, too.\n")
    again = resume(run.folder)
    folder = again.turn_folder("vera")
    assert told(folder) == [
        ("prompt-3.md", 1, 3, 0),
        ("correction-1.md", 1, 0, 1),
        ("correction-2.md", 1, 0, 2),
        ("prompt.md", 4, 0, 0),
        ("correction-4.md", 1, 0, 4),
        ("correction-5.md", 1, 0, 5),
    ]
    assert (folder / "prompt-3.md").read_bytes() == before
    assert b"Look at the tests, too." in (folder / PROMPT_NAME).read_bytes()


def test_a_turn_that_begins_again_with_the_same_prompt_has_one(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", crash=True)
    run = shop.run({"preparation_agents": ["vera"]})
    again = resume(run.folder)
    assert told(again.turn_folder("vera")) == [("prompt.md", 1, 0, 0)]


def test_nothing_is_told_of_a_turn_that_never_began(tmp_path: Path) -> None:
    assert sent_prompts(tmp_path / "nowhere") == []
