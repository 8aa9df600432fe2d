"""The state as a tree, built only where somebody looks: a payload of 10 MB costs what is on the screen.

A row knows what the last merge did to it and whether agents did not agree about it. What was removed has rows
of its own, behind those that are there. Where there are very many keys or items, they stand in spans of 500:
a tree with a hundred thousand rows beside each other takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.plain_text import plain_tool_tip
from app.run_view.state_words import SHORT, value_words
from core.json_types import JsonObject, JsonValue
from core.state import WorkflowState
from core.state_changes import NOTHING, Change, ChangeKind, StateChanges
from core.visible_text import visible

Index: TypeAlias = QModelIndex | QPersistentModelIndex

KEY, VALUE, WRITER = range(3)
"""The columns."""
BATCH = 500
"""Children that one fetch brings, and a span has."""
_MANY = 1_000
"""Children beyond which there are spans."""
Place: TypeAlias = tuple[str | int, ...]
"""Keys that lead to a row, and numbers of spans."""
_LONG = 2000
_SHORT = 40
"""Characters of a key in the name of a span."""

NO_INDEX = QModelIndex()


@dataclass(slots=True)
class Disputes:
    """The places with conflicts, as a tree. `here`: their numbers; `total`: with those below."""

    here: list[int] = field(default_factory=list)
    total: int = 0
    below: dict[str, Disputes] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Iterable[tuple[int, Sequence[str]]]) -> Disputes:
        """From the number of each conflict and its path."""
        root = cls()
        for number, path in places:
            node = root
            node.total += 1
            for key in path:
                node = node.below.setdefault(key, cls())
                node.total += 1
            node.here.append(number)
        return root


NO_DISPUTES = Disputes()


@dataclass(slots=True)
class _Node:
    parent: int
    row: int
    key: str
    value: JsonValue
    change: Change | None = None
    disputes: Disputes | None = None
    gone: bool = False
    """It was removed, or is inside of what was."""
    span: int | None = None
    """Which span of `value` it is; None: it is a value itself."""
    mark: Change | None = None
    """What changed in a span."""
    counts: dict[int, int] | None = None
    """How much changed in its spans."""
    children: list[int] = field(default_factory=list)
    keys: Sequence[str | int] | None = None
    """Of what is shown below it, once somebody looked; numbers are places of a list."""


def state_object(state: WorkflowState) -> JsonObject:
    """The state's own fields around the shared payload, what agents write first; nothing is copied."""
    return {
        "payload": state.payload,
        "is_complete": state.is_complete,
        "termination_reason": state.termination_reason,
        "current_phase": state.current_phase,
        "iteration": state.iteration,
        "meta": state.meta,
    }


class StateModel(QAbstractItemModel):
    """Columns: key, value, who wrote it. Indexes carry numbers of nodes, made when a parent is fetched."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._nodes = [_Node(-1, 0, "", {})]
        self._only_changes = False

    def show_state(
        self,
        state: WorkflowState | None,
        changes: StateChanges = NOTHING,
        disputes: Disputes = NO_DISPUTES,
        *,
        only_changes: bool = False,
    ) -> None:
        """Show another state. `only_changes`: of it what the last merge changed, and nothing else."""
        self.beginResetModel()
        self._only_changes = only_changes
        value = state_object(state) if state is not None else {}
        self._nodes = [_Node(-1, 0, "", value, changes.root, disputes)]
        self.endResetModel()

    # --- what the indexes mean -------------------------------------------------------------------------

    def _node(self, index: Index) -> tuple[int, _Node]:
        number = index.internalId() if index.isValid() else 0
        return number, self._nodes[number]

    def value(self, index: Index) -> JsonValue:
        """The value at an index; of what was removed, the one that was there; of a span, what is in it."""
        _, node = self._node(index)
        if node.span is None:
            return node.value
        keys = self._keys(node)
        if isinstance(node.value, dict):
            return {str(key): node.value[str(key)] for key in keys if key in node.value}
        assert isinstance(node.value, list)
        return [node.value[key] for key in keys if isinstance(key, int)]

    def change(self, index: Index) -> Change | None:
        """What the last merge did there or below; None: nothing."""
        _, node = self._node(index)
        return node.change if node.span is None else node.mark

    def is_gone(self, index: Index) -> bool:
        """Whether it was removed."""
        return self._node(index)[1].gone

    def disputes(self, index: Index) -> Disputes | None:
        """The conflicts about the value at an index and below it; None: there are none."""
        _, node = self._node(index)
        return node.disputes if node.span is None else None

    def path(self, index: Index) -> tuple[str, ...]:
        """The keys that lead to an index; positions in lists as `[3]`."""
        return tuple(key for key in self.place(index) if isinstance(key, str))

    def place(self, index: Index) -> Place:
        """The keys and spans that lead to an index."""
        keys: list[str | int] = []
        number, node = self._node(index)
        while number:
            keys.append(node.key if node.span is None else node.span)
            number = node.parent
            node = self._nodes[number]
        return tuple(reversed(keys))

    @property
    def built(self) -> int:
        """Rows that were made so far."""
        return len(self._nodes)

    def index_of(self, place: Place) -> QModelIndex:
        """The index at the end of a path, spans on the way or not; invalid where there is none."""
        index = QModelIndex()
        for key in place:
            _, node = self._node(index)
            row = key if isinstance(key, int) else self._row_of(node, key)
            if row is None:
                return QModelIndex()
            if isinstance(key, str) and self._has_spans(node):
                index = self._child_index(index, row // BATCH)
                row %= BATCH
            index = self._child_index(index, row)
            if not index.isValid():
                return QModelIndex()
        return index

    def _child_index(self, parent: QModelIndex, row: int) -> QModelIndex:
        if self.rowCount(parent) <= row:
            self._fetch(parent, row + BATCH)
        return self.index(row, 0, parent)

    def _has_spans(self, node: _Node) -> bool:
        return node.span is None and len(self._keys(node)) > _MANY

    def _size(self, node: _Node) -> int:
        """Rows below a node."""
        count = len(self._keys(node))
        return -(-count // BATCH) if self._has_spans(node) else count

    def _row_of(self, node: _Node, key: str) -> int | None:
        keys = self._keys(node)
        number = key[1:-1] if isinstance(node.value, list) and key[:1] == "[" else ""
        wanted: str | int = int(number) if number.isdecimal() else key
        for sought in (wanted, key):
            try:
                return keys.index(sought)
            except ValueError:
                continue
        return None

    def _keys(self, node: _Node) -> Sequence[str | int]:
        """What is below a node, in order: keys of an object, places of a list, then what was removed."""
        if node.keys is None:
            node.keys = self._find_keys(node)
        return node.keys

    def _find_keys(self, node: _Node) -> Sequence[str | int]:
        value, change = node.value, node.change
        keys: Sequence[str | int] = ()
        if isinstance(value, dict):
            keys = list(value)
        elif isinstance(value, list):
            keys = range(len(value))
        if change is None or node.gone:
            return keys
        if self._only_changes and change.kind is None:
            keys = [key for key in keys if _change_key(key) in change.inside]
        gone = [key for key, inner in change.inside.items() if inner.kind is ChangeKind.REMOVED]
        return [*keys, *gone] if gone else keys

    # --- the model -------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        _, node = self._node(parent)
        if not (0 <= row < len(node.children) and 0 <= column < 3) or (parent.isValid() and parent.column()):
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
        return 3

    def hasChildren(self, parent: Index = NO_INDEX) -> bool:  # noqa: N802
        return not (parent.isValid() and parent.column()) and self._size(self._node(parent)[1]) > 0

    def canFetchMore(self, parent: Index) -> bool:  # noqa: N802
        _, node = self._node(parent)
        return not (parent.isValid() and parent.column()) and len(node.children) < self._size(node)

    def fetchMore(self, parent: Index) -> None:  # noqa: N802
        self._fetch(parent, len(self._node(parent)[1].children) + BATCH)

    def _fetch(self, parent: Index, last: int) -> None:
        """Make the children before this row."""
        number, node = self._node(parent)
        first = len(node.children)
        last = min(self._size(node), last)
        if first >= last:
            return
        self.beginInsertRows(_plain(parent), first, last - 1)
        for row in range(first, last):
            if self._has_spans(node):
                child = self._span(number, node, row)
            else:
                child = self._child(number, node, row, self._keys(node)[row])
            node.children.append(len(self._nodes))
            self._nodes.append(child)
        self.endInsertRows()

    def _span(self, number: int, node: _Node, row: int) -> _Node:
        keys = self._keys(node)[row * BATCH : (row + 1) * BATCH]
        first, last = (_key_words(_change_key(key), _SHORT) for key in (keys[0], keys[-1]))
        name = self.tr("{0} … {1}").format(first, last)
        if node.counts is None:
            node.counts = _span_counts(self._keys(node), node)
        count = node.counts.get(row, 0)
        mark = Change(count=count) if count else None
        span = _Node(number, row, name, node.value, node.change, node.disputes, node.gone, row, mark)
        span.keys = keys
        return span

    @staticmethod
    def _child(number: int, node: _Node, row: int, key: str | int) -> _Node:
        name = key if isinstance(key, str) else f"[{key}]"
        change = node.change.inside.get(name) if node.change is not None else None
        disputes = node.disputes.below.get(name) if node.disputes is not None else None
        if isinstance(node.value, dict) and key in node.value:
            value = node.value[name]
        elif isinstance(node.value, list) and isinstance(key, int):
            value = node.value[key]
        else:
            assert change is not None  # only what was removed is no part of the value
            return _Node(number, row, name, change.before, change, disputes, gone=True)
        return _Node(number, row, name, value, change, disputes, node.gone)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        _, node = self._node(index)
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            if column == KEY:
                return _key_words(node.key) if node.span is None else node.key
            if column == VALUE:
                return visible(value_words(self.value(index)))
            return self._writer_words(self.change(index))
        if role == Qt.ItemDataRole.ToolTipRole:
            if column == VALUE and isinstance(node.value, str):
                return plain_tool_tip(visible(value_words(node.value, _LONG)))
            return plain_tool_tip(_key_words(node.key, _LONG)) if column == KEY else None
        if role == Qt.ItemDataRole.AccessibleTextRole and column == KEY:
            words = self._kind_words(self.change(index), self.disputes(index))
            key = _key_words(node.key)
            return self.tr("{0}, {1}").format(key, words) if words else key
        return None

    def _writer_words(self, change: Change | None) -> str:
        if change is None:
            return ""
        if change.kind is None:
            words = self.tr("1 change") if change.count == 1 else self.tr("{0} changes")
            return words.format(f"{change.count:,}")
        return visible(", ".join(change.writers))

    def _kind_words(self, change: Change | None, disputes: Disputes | None) -> str:
        """What a mark says, for who hears it."""
        words: list[str] = []
        if change is not None and change.kind is not None:
            said = {
                ChangeKind.ADDED: self.tr("added by {0}"),
                ChangeKind.CHANGED: self.tr("changed by {0}"),
                ChangeKind.REMOVED: self.tr("removed by {0}"),
            }[change.kind]
            words.append(said.format(", ".join(change.writers)))
        elif change is not None:
            words.append(self._writer_words(change))
        if disputes is not None and disputes.here:
            words.append(self.tr("agents did not agree"))
        return ", ".join(words)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return (self.tr("Key"), self.tr("Value"), self.tr("Changed by"))[section]
        return None


def _span_counts(keys: Sequence[str | int], node: _Node) -> dict[int, int]:
    """How much changed in each span of a node."""
    counts: dict[int, int] = {}
    if node.change is None or node.change.kind is not None or node.gone:
        return counts
    inside = node.change.inside
    if isinstance(node.value, list):
        rows = [(int(key[1:-1]), change) for key, change in inside.items()]
    else:
        rows = [(row, inside[key]) for row, key in enumerate(keys) if key in inside and isinstance(key, str)]
    for row, change in rows:
        counts[row // BATCH] = counts.get(row // BATCH, 0) + change.count
    return counts


def _key_words(key: str, limit: int = SHORT) -> str:
    return visible(key if len(key) <= limit else f"{key[:limit]}…")


def _change_key(key: str | int) -> str:
    return key if isinstance(key, str) else f"[{key}]"


def _plain(index: Index) -> QModelIndex:
    return index if isinstance(index, QModelIndex) else index.sibling(index.row(), index.column())
