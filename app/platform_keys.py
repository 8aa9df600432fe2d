"""Keys that differ from system to system, and that Qt does not know.

In Qt's words Ctrl is the Command key of a Mac, and Meta its Control key.
"""

from __future__ import annotations

import sys

from PySide6.QtGui import QKeySequence


def _is_mac() -> bool:
    return sys.platform == "darwin"


def native_keys(keys: QKeySequence) -> str:
    """Keys as this system writes them, for tool tips and the like."""
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


def delete_keys() -> list[QKeySequence]:
    """What removes the selection. The key that a Mac labels "delete" is Backspace."""
    keys = [QKeySequence("Delete")]
    return [*keys, QKeySequence("Backspace")] if _is_mac() else keys


def option_keys(letter: str) -> QKeySequence:
    """What switches an option: Alt with a letter, but on a Mac that writes a sign of its own."""
    return QKeySequence(f"Ctrl+Alt+{letter}" if _is_mac() else f"Alt+{letter}")


def next_tab_keys() -> list[QKeySequence]:
    """The next tab. Command and Tab go to another application, on a Mac."""
    return _keys("Meta+Tab", "Ctrl+}") if _is_mac() else _keys("Ctrl+Tab")


def previous_tab_keys() -> list[QKeySequence]:
    """The tab before."""
    return _keys("Meta+Shift+Tab", "Ctrl+{") if _is_mac() else _keys("Ctrl+Shift+Tab")


def run_keys() -> list[QKeySequence]:
    """Run. The keys with an F and a number want a second one on most Macs."""
    return _keys("F5", "Ctrl+R") if _is_mac() else _keys("F5")


def settings_keys() -> list[QKeySequence]:
    """The settings, which a Mac has on Command and comma in every application."""
    return _keys("Ctrl+1", "Ctrl+,") if _is_mac() else _keys("Ctrl+1")


def find_next_keys() -> list[QKeySequence]:
    """The next match: as the system has it, and F3 everywhere."""
    return _with(QKeySequence.StandardKey.FindNext, "F3")


def find_previous_keys() -> list[QKeySequence]:
    """The match before."""
    return _with(QKeySequence.StandardKey.FindPrevious, "Shift+F3")


def larger_keys() -> list[QKeySequence]:
    """Larger text: as the system has it, and without Shift where + is written with it."""
    standard = QKeySequence.keyBindings(QKeySequence.StandardKey.ZoomIn)
    return [*standard, *(keys for keys in _keys("Ctrl+=") if keys not in standard)]


def _with(standard: QKeySequence.StandardKey, key: str) -> list[QKeySequence]:
    first = QKeySequence(key)
    return [first, *(keys for keys in QKeySequence.keyBindings(standard) if keys != first)]


def _keys(*texts: str) -> list[QKeySequence]:
    return [QKeySequence(text) for text in texts]
