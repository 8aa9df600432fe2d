"""The state as a tree, built only where somebody looks: a payload of 10 MB costs what is on the screen."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.plain_text import plain_tool_tip
from core.json_types import JsonObject, JsonValue
from core.state import WorkflowState

Index: TypeAlias = QModelIndex | QPersistentModelIndex

BATCH = 500
"""Children that one fetch brings."""
_SHORT = 200
_LONG = 2000

NO_INDEX = QModelIndex()


@dataclass(slots=True)
class _Node:
    parent: int
    row: int
    key: str
    value: JsonValue
    children: list[int] = field(default_factory=list)
    keys: list[str] | None = None
    """Of an object, once somebody looked into it."""

    @property
    def size(self) -> int:
        return len(self.value) if isinstance(self.value, dict | list) else 0


def value_words(value: JsonValue, limit: int = _SHORT) -> str:
    """A value on one line: text as it is (cut), how much is in it for the rest."""
    if isinstance(value, dict):
        return "{ }" if not value else f"{{ {len(value):,} {'key' if len(value) == 1 else 'keys'} }}"
    if isinstance(value, list):
        return "[ ]" if not value else f"[ {len(value):,} {'item' if len(value) == 1 else 'items'} ]"
    if isinstance(value, str):
        text = " ".join(value[: limit + 1].split("\n"))
        return text if len(value) <= limit else f"{text[:limit]}…"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def state_object(state: WorkflowState) -> JsonObject:
    """The state's own fields around the shared payload; nothing is copied."""
    return {
        "current_phase": state.current_phase,
        "iteration": state.iteration,
        "is_complete": state.is_complete,
        "termination_reason": state.termination_reason,
        "payload": state.payload,
        "meta": state.meta,
    }


class StateModel(QAbstractItemModel):
    """Two columns, key and value. Indexes carry numbers of nodes, which are made when a parent is fetched."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._nodes = [_Node(-1, 0, "", {})]

    def show_state(self, state: WorkflowState | None) -> None:
        """Show another state."""
        self.beginResetModel()
        self._nodes = [_Node(-1, 0, "", state_object(state) if state is not None else {})]
        self.endResetModel()

    # --- what the indexes mean -------------------------------------------------------------------------

    def _node(self, index: Index) -> tuple[int, _Node]:
        number = index.internalId() if index.isValid() else 0
        return number, self._nodes[number]

    def value(self, index: Index) -> JsonValue:
        """The value at an index."""
        return self._node(index)[1].value

    def path(self, index: Index) -> tuple[str, ...]:
        """The keys that lead to an index; positions in lists as `[3]`."""
        keys: list[str] = []
        number, node = self._node(index)
        while number:
            keys.append(node.key)
            number = node.parent
            node = self._nodes[number]
        return tuple(reversed(keys))

    def index_of(self, path: tuple[str, ...]) -> QModelIndex:
        """The index at the end of a path; invalid where there is none."""
        index = QModelIndex()
        for key in path:
            _, node = self._node(index)
            row = self._row_of(node, key)
            if row is None:
                return QModelIndex()
            while self.rowCount(index) <= row and self.canFetchMore(index):
                self.fetchMore(index)
            index = self.index(row, 0, index)
        return index

    def _row_of(self, node: _Node, key: str) -> int | None:
        if isinstance(node.value, list):
            number = key.strip("[]")
            return int(number) if number.isdigit() and int(number) < len(node.value) else None
        if isinstance(node.value, dict) and key in node.value:
            return self._keys(node).index(key)
        return None

    @staticmethod
    def _keys(node: _Node) -> list[str]:
        if node.keys is None:
            node.keys = list(node.value) if isinstance(node.value, dict) else []
        return node.keys

    # --- the model -------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        _, node = self._node(parent)
        if not (0 <= row < len(node.children) and 0 <= column < 2) or (parent.isValid() and parent.column()):
            return QModelIndex()
        return self.createIndex(row, column, node.children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        _, node = self._node(index)
        if node.parent <= 0:
            return QModelIndex()
        return self.createIndex(self._nodes[node.parent].row, 0, node.parent)

    def rowCount(self, parent: Index = NO_INDEX) -> int:  # noqa: N802
        if parent.isValid() and parent.column():
            return 0
        return len(self._node(parent)[1].children)

    def columnCount(self, parent: Index = NO_INDEX) -> int:  # noqa: N802
        del parent
        return 2

    def hasChildren(self, parent: Index = NO_INDEX) -> bool:  # noqa: N802
        return not (parent.isValid() and parent.column()) and self._node(parent)[1].size > 0

    def canFetchMore(self, parent: Index) -> bool:  # noqa: N802
        _, node = self._node(parent)
        return not (parent.isValid() and parent.column()) and len(node.children) < node.size

    def fetchMore(self, parent: Index) -> None:  # noqa: N802
        number, node = self._node(parent)
        first = len(node.children)
        last = min(node.size, first + BATCH)
        if first >= last:
            return
        self.beginInsertRows(_plain(parent), first, last - 1)
        for row in range(first, last):
            if isinstance(node.value, list):
                child = _Node(number, row, f"[{row}]", node.value[row])
            else:
                assert isinstance(node.value, dict)
                key = self._keys(node)[row]
                child = _Node(number, row, key, node.value[key])
            node.children.append(len(self._nodes))
            self._nodes.append(child)
        self.endInsertRows()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        _, node = self._node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return value_words(node.value) if index.column() else node.key
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(node.value, str) and index.column():
            return plain_tool_tip(value_words(node.value, _LONG))
        return None

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self.tr("Value") if section else self.tr("Key")
        return None


def _plain(index: Index) -> QModelIndex:
    return index if isinstance(index, QModelIndex) else index.sibling(index.row(), index.column())


def preview(value: JsonValue, limit: int = 50_000) -> str:
    """A value as indented JSON for reading, cut after about `limit` characters whatever its size."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}…"
    parts: list[str] = []
    room = limit
    # Work still to do, last first: a value with its depth, or text that is ready.
    waiting: list[tuple[JsonValue, int, str, str] | str] = [(value, 0, "", "")]
    while waiting and room > 0:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            room -= len(item)
            continue
        inner, depth, head, tail = item
        pad = "  " * depth
        if isinstance(inner, dict | list) and inner:
            opening, closing = ("{", "}") if isinstance(inner, dict) else ("[", "]")
            parts.append(f"{pad}{head}{opening}\n")
            waiting.append(f"{pad}{closing}{tail}\n")
            shown = min(len(inner), room // 2 + 1)
            children = inner.items() if isinstance(inner, dict) else zip(itertools.repeat(""), inner)
            pairs = list(itertools.islice(children, shown))
            for number, (key, child) in reversed(list(enumerate(pairs))):
                comma = "," if number + 1 < len(inner) else ""
                waiting.append(
                    (
                        child,
                        depth + 1,
                        f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(inner, dict) else "",
                        comma,
                    )
                )
            room -= len(pad) + len(head) + 2
            continue
        text = json.dumps(inner[:room], ensure_ascii=False) if isinstance(inner, str) else value_words(inner)
        line = f"{pad}{head}{text}{tail}\n"
        parts.append(line)
        room -= len(line)
    if waiting:
        parts.append("…\n")
    return "".join(parts).rstrip("\n")
