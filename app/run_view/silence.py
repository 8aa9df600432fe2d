"""Warnings that an agent has been quiet for long: which they are, and when they are settled."""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication

from core.events import TurnStatus
from core.progress import Note, RunProgress

_SILENCE = re.compile(r" has printed nothing for [0-9.e+]+ s\. ")
_LEFT_ALONE = "It is left alone: no agent_idle_timeout is set."


def is_about_silence(note: Note) -> bool:
    """Whether a note says that an agent prints nothing."""
    return note.warning and note.turn is not None and _SILENCE.search(note.message[:1000]) is not None


def is_settled(note: Note, progress: RunProgress) -> bool:
    """Whether a warning about silence holds no more: the agent has printed again, or is not at work."""
    if not is_about_silence(note):
        return False
    turn = progress.turns.get(note.turn or "")
    if turn is None or turn.status is not TurnStatus.RUNNING or turn.between_attempts:
        return True
    return turn.last_activity is not None and turn.last_activity > note.time


def note_words(note: Note) -> str:
    """What a note says, with the names that the window has for settings."""
    if not is_about_silence(note):
        return note.message
    words = QCoreApplication.translate("silence", "It is left alone: “Silence, at most” is not set.")
    return note.message.replace(_LEFT_ALONE, words)
