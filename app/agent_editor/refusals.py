"""Texts of fields that cannot be their values: what is said of them, and how they outlive a crash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QCoreApplication

from app.agent_editor.draft_edits import RefusedField
from app.kept_copies import KeptText
from core.problems import Problem
from core.words import say

_MOST_TEXT = 40


def problems_of(refused: Iterable[RefusedField]) -> list[Problem]:
    """Each as a problem whose place is the key of its field."""
    return [
        Problem(
            say(
                "“{field}” cannot be “{text}”. {mistake}",
                field=each.field,
                text=each.text if len(each.text) <= _MOST_TEXT else f"{each.text[:_MOST_TEXT]}…",
                mistake=each.mistake,
            ),
            each.key,
            say("Until it is put right, the file keeps the value before."),
        )
        for each in refused
    ]


def fields_in_words(refused: Sequence[RefusedField]) -> str:
    """The fields by their labels."""
    quoted = QCoreApplication.translate("AgentRefusals", "“{0}”")
    return ", ".join(dict.fromkeys(quoted.format(each.field) for each in refused))


def kept_texts(refused: Iterable[RefusedField]) -> list[KeptText]:
    """What a copy on disk keeps beside the text."""
    return [
        KeptText(nodes=[], key=each.key, field=each.field, text=each.text, mistake=each.mistake)
        for each in refused
    ]


def from_copy(kept: Iterable[KeptText]) -> list[RefusedField]:
    """What a copy on disk has kept."""
    return [RefusedField(each.key, each.field, each.text, each.mistake) for each in kept]
