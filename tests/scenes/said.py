"""Everything that a scene says to its user, on the screen, in tool tips, and to those who hear it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QMenuBar,
    QTabBar,
    QWidget,
)

from tests.scenes.audit import name_of, plain, widgets_in

PROJECT = Path(__file__).resolve().parents[2]
_ROWS = 40


@dataclass(frozen=True)
class Said:
    """A text, and which widget says it."""

    text: str
    by: str


def said_in(tops: Iterable[QWidget]) -> Iterator[Said]:
    """Every text of these windows that a user may meet."""
    for widget in widgets_in(tops):
        by = name_of(widget)
        for text in _texts(widget):
            if plain(text):
                yield Said(plain(text), by)


def _texts(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    if widget.isWindow():
        yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QLineEdit):
        yield widget.placeholderText()
    elif isinstance(widget, QTabBar):
        for index in range(widget.count()):
            yield from (widget.tabText(index), widget.tabToolTip(index), widget.accessibleTabName(index))
    elif isinstance(widget, QComboBox):
        yield from (widget.itemText(index) for index in range(widget.count()))
    elif isinstance(widget, QMenu | QMenuBar):
        for action in widget.actions():
            yield from _of_action(action)
    elif isinstance(widget, QHeaderView):
        yield from _of_header(widget)
    elif isinstance(widget, QAbstractItemView):
        yield from _of_rows(widget)


def _of_action(action: QAction) -> Iterator[str]:
    yield from (action.text().partition("\t")[0], action.statusTip())


def _of_header(header: QHeaderView) -> Iterator[str]:
    model = header.model()
    if model is not None and not header.isHidden():
        for section in range(header.count()):
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                yield str(model.headerData(section, header.orientation(), role) or "")


def _of_rows(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if model is None:
        return
    waiting = [
        model.index(row, 0, view.rootIndex()) for row in range(min(_ROWS, model.rowCount(view.rootIndex())))
    ]
    roles = (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.AccessibleTextRole,
        Qt.ItemDataRole.AccessibleDescriptionRole,
    )
    while waiting:
        index: QModelIndex = waiting.pop()
        # A list's columnCount is nobody's business, says Qt.
        columns = 1 if isinstance(view, QListView) else model.columnCount(index.parent())
        for column in range(columns):
            for role in roles:
                yield str(index.siblingAtColumn(column).data(role) or "")
        waiting += [model.index(row, 0, index) for row in range(min(_ROWS, model.rowCount(index)))]


# --- did it come through tr ---------------------------------------------------------------------------


SPEAKING = ("say", "say_both", "say_number")
"""Functions of `core/words.py`."""


@cache
def sentences() -> tuple[tuple[str, str], ...]:
    """Texts in the sources that are meant for people, the longest first: those of the application with two
    words at least, and what the core says to users (it also has words for agents and for files) with three,
    since its parts of sentences, such as “the text”, are words of agents, too.

    Each with its longest piece, and as an expression: what `format` fills in may be anything.
    """
    found: set[str] = set()
    said: set[str] = set()
    for path in sorted((PROJECT / "app").rglob("*.py")):
        found |= _texts_in(ast.parse(path.read_text("utf-8")))
    for path in sorted((PROJECT / "core").rglob("*.py")):
        source = path.read_text("utf-8")
        if not any(f"{name}(" in source for name in SPEAKING):
            continue
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in SPEAKING:
                for argument in call.args:
                    said |= _texts_in(argument)
    words = {text: _words_in(re.sub(r"\{[^}]*\}", "", text)) for text in found | said if " " in text}
    wanted = [text for text, count in words.items() if count >= (2 if text in found else 3)]
    # What is filled in at an end need not be looked for.
    cut = {text: [part for part in re.split(r"\{[^}]*\}", text) if part.strip()] for text in wanted}
    return tuple(
        (max(cut[text], key=len), ".{0,80}?".join(map(re.escape, cut[text])))
        for text in sorted(wanted, key=len, reverse=True)
    )


def _texts_in(tree: ast.AST) -> set[str]:
    docs: set[ast.AST] = set()
    texts: list[ast.Constant] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            docs.add(node.value)
        elif isinstance(node, ast.Constant):
            texts.append(node)
    return {
        plain(node.value)
        for node in texts
        if isinstance(node.value, str) and node not in docs and "\n" not in node.value
    }


def _words_in(text: str) -> int:
    return len(re.findall(r"(?<![\w.])[A-Za-z]{2,}(?![\w(=])", _KEYS.sub("", text)))


_KEYS = re.compile(r"(?:(?:Ctrl|Shift|Alt|Meta)\+)+\S+")


def untranslated(text: str) -> str:
    """The text of the sources that stands in this one as it is; empty: none."""
    if _words_in(text) < 2:
        return ""
    for piece, sentence in sentences():
        match = re.search(sentence, text) if piece in text else None
        if match is not None:
            return match.group()
    return ""
