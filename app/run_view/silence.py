"""Warnings that an agent has been quiet for long: which they are, and when they are settled."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from core.events import TurnStatus
from core.progress import Note, RunProgress
from core.progress_words import left_alone_words


def is_about_silence(note: Note) -> bool:
    """Whether a note says that an agent prints nothing."""
    return note.silence and note.turn is not None


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
    return note.message.replace(left_alone_words(), words)
