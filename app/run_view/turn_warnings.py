"""The warnings about each turn, which its tab shows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.run_view.silence import is_about_silence, is_settled, note_words
from core.progress import Note, RunProgress


class TurnWarnings:
    """By turn, gathered as they come, and taken back where they hold no more."""

    def __init__(self) -> None:
        self._by_turn: dict[str, list[str]] = {}
        self._quiet: list[tuple[str, Note]] = []
        """That an agent is quiet, which holds until it prints again."""
        self._read = 0

    def read(self, progress: RunProgress) -> None:
        """Take in what is new in the notes of a run."""
        for note in progress.notes[self._read :]:
            if note.turn is not None and note.warning:
                self._add(note.turn, note_words(note))
                if is_about_silence(note):
                    self._quiet.append((note.turn, note))
        self._read = len(progress.notes)
        for turn, note in [known for known in self._quiet if is_settled(known[1], progress)]:
            self._quiet.remove((turn, note))
            self._by_turn[turn].remove(note_words(note))

    def add_late_output(self, turn: str, count: int) -> None:
        """So many bytes came from a turn after it was told to end."""
        words = QCoreApplication.translate(
            "tabs", "{0} bytes came after it was told to end. They are kept, and do not count."
        )
        self._add(turn, words.format(f"{count:,}"))

    def of(self, turn: str) -> Sequence[str]:
        """Those about a turn, the latest last."""
        return self._by_turn.get(turn, ())

    def _add(self, turn: str, words: str) -> None:
        self._by_turn.setdefault(turn, []).append(words)
