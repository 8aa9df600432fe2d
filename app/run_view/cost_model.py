"""What a run used as a tree of lines, live: rows are added and brought up to date, never built anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.plain_text import plain_tool_tip
from core.costs import CostKind, CostLine
from core.progress_words import cost_words, dollar_words, phase_title
from core.usage import Usage
from core.visible_text import visible

Index: TypeAlias = QModelIndex | QPersistentModelIndex

NO_INDEX = QModelIndex()
NAME, COST, SHARE, TOKENS, TURNS, ATTEMPTS, AGAIN = range(7)
_COUNTS: tuple[Callable[[Usage], int], ...] = (
    lambda usage: usage.input_tokens,
    lambda usage: usage.output_tokens,
    lambda usage: usage.cache_read_tokens,
    lambda usage: usage.cache_write_tokens,
    lambda usage: usage.reasoning_tokens,
)
_TOP = "top"
"""The name of the line that all others stand below, which nobody sees."""
COLUMNS = AGAIN + 1 + len(_COUNTS)
LEFT_OUT_FIRST = (*reversed(range(AGAIN + 1, COLUMNS)), ATTEMPTS, AGAIN, TURNS)
"""The columns that matter least: their numbers are in the tool tips of tokens and turns too."""


@dataclass(slots=True)
class _Row:
    line: CostLine
    parent: int
    place: int
    children: list[int] = field(default_factory=list)


class CostModel(QAbstractItemModel):
    """The first row is the whole run; the others are its lines."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._whole = CostLine(CostKind.RUN)
        self._rows: list[_Row] = [_Row(self._whole, -1, 0)]

    # --- what is shown ---------------------------------------------------------------------------------

    def show_lines(self, run: CostLine) -> bool:
        """Show these lines. Whether the rows were built anew; else they were brought up to date in place."""
        self._whole = run
        top = CostLine(CostKind.RUN, _TOP, lines=[run, *run.lines])
        if not self._fits(0, top):
            self.beginResetModel()
            self._rows = [_Row(top, -1, 0)]
            self._add_all(0, top)
            self.endResetModel()
            return True
        self._update(0, top, QModelIndex())
        return False

    def _fits(self, number: int, line: CostLine) -> bool:
        """Whether the rows below one are the first of these lines, at every depth."""
        row = self._rows[number]
        if not number and len(self._rows) == 1:
            return False
        lines = _lines(line)
        return len(row.children) <= len(lines) and all(
            self._rows[child].line.key == below.key and self._fits(child, below)
            for child, below in zip(row.children, lines, strict=False)
        )

    def _add_all(self, number: int, line: CostLine) -> None:
        for below in _lines(line):
            row = self._rows[number]
            child = len(self._rows)
            self._rows.append(_Row(below, number, len(row.children)))
            row.children.append(child)
            self._add_all(child, below)

    def _update(self, number: int, line: CostLine, index: QModelIndex) -> None:
        row = self._rows[number]
        row.line = line
        lines = _lines(line)
        for place, child in enumerate(row.children):
            self._update(child, lines[place], self.index(place, 0, index))
        if row.children:
            last = len(row.children) - 1
            self.dataChanged.emit(self.index(0, 0, index), self.index(last, COLUMNS - 1, index))
        first = len(row.children)
        if first < len(lines):
            self.beginInsertRows(index, first, len(lines) - 1)
            for below in lines[first:]:
                child = len(self._rows)
                self._rows.append(_Row(below, number, len(row.children)))
                row.children.append(child)
                self._add_all(child, below)
            self.endInsertRows()

    def line(self, index: Index) -> CostLine:
        """What a row is about."""
        return self._row(index).line

    def share(self, index: Index) -> float:
        """Which part of the whole a row is."""
        return self.line(index).share_of(self._whole)

    def _row(self, index: Index) -> _Row:
        return self._rows[index.internalId() if index.isValid() else 0]

    # --- the model -------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        children = self._row(parent).children
        if not (0 <= row < len(children) and 0 <= column < COLUMNS) or (parent.isValid() and parent.column()):
            return QModelIndex()
        return self.createIndex(row, column, children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        parent = self._row(index).parent
        return self.createIndex(self._rows[parent].place, 0, parent) if parent > 0 else QModelIndex()

    def rowCount(self, parent: Index = NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() and parent.column() else len(self._row(parent).children)

    def columnCount(self, parent: Index = NO_INDEX) -> int:  # noqa: N802
        del parent
        return COLUMNS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        line, column = self.line(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(line, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column != NAME:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tool_tip(self._tip(line, column)) or None
        return None

    def _tip(self, line: CostLine, column: int) -> str:
        """What is said about a place of the table; the parts of a sum where their columns have no room."""
        heads = self.heads()
        if column == TOKENS:
            parts = [
                self.tr("{0}: {1}").format(heads[each], self.text(line, each))
                for each, count in enumerate(_COUNTS, AGAIN + 1)
                if count(line.spent.usage)
            ]
            counted = [(heads[each], self.text(line, each)) for each in (TURNS, ATTEMPTS, AGAIN)]
            parts += [self.tr("{0}: {1}").format(*each) for each in counted if each[1]]
            return "\n".join(parts)
        if column == TURNS:
            told = [(heads[each], self.text(line, each)) for each in (ATTEMPTS, AGAIN)]
            return "\n".join(self.tr("{0}: {1}").format(*each) for each in told if each[1])
        return self.text(line, column) if column in (NAME, COST, AGAIN) else ""

    def text(self, line: CostLine, column: int) -> str:
        """What stands in a column for a line."""
        usage = line.spent.usage
        if column == NAME:
            return self.name(line)
        if column == COST:
            return cost_words(line.spent) or self._nothing(line)
        if column == SHARE:
            return self.tr("{0} %").format(round(100 * line.share_of(self._whole)))
        if column == TOKENS:
            return f"{usage.total_tokens:,}"
        if column == TURNS:
            return f"{line.turns:,}" if line.turns else ""
        if column == ATTEMPTS:
            return f"{line.attempts:,}"
        if column == AGAIN:
            return self._again_words(line)
        count = _COUNTS[column - AGAIN - 1](usage)
        return f"{count:,}" if count else "–"

    @staticmethod
    def _nothing(line: CostLine) -> str:
        return "–" if not line.spent.usage.total_tokens else dollar_words(0.0)

    def _again_words(self, line: CostLine) -> str:
        """What was tried again, and what that cost: `2 retries, 1 correction: $0.03`."""
        parts: list[str] = []
        if line.retries:
            retries = self.tr("{0} retries").format(f"{line.retries:,}")
            parts.append(self.tr("1 retry") if line.retries == 1 else retries)
        if line.corrections:
            corrections = self.tr("{0} corrections").format(f"{line.corrections:,}")
            parts.append(self.tr("1 correction") if line.corrections == 1 else corrections)
        words = ", ".join(parts)
        cost = cost_words(line.again)
        return self.tr("{0}: {1}").format(words, cost) if words and cost else words

    def name(self, line: CostLine) -> str:
        """What a line is about, in words."""
        if line.kind is CostKind.RUN:
            return self.tr("Whole run")
        if line.kind is CostKind.ATTEMPT:
            return self._attempt_name(line)
        phase = phase_title(line.phase) if line.phase is not None else ""
        if line.kind is CostKind.ITERATION:
            if line.phase == "loop":
                return self.tr("Iteration {0}").format(line.iteration)
            return phase
        if line.kind is CostKind.GROUP:
            name = visible(line.name) or self.tr("Group {0}").format(line.group + 1)
            return self.tr("{0} · {1}").format(phase, name) if phase else name
        return visible(line.name)

    def _attempt_name(self, line: CostLine) -> str:
        kinds = {"retry": self.tr("retry"), "correction": self.tr("correction")}
        words = self.tr("Attempt {0}").format(f"{line.number:,}")
        kind = kinds.get(line.name, "")
        return self.tr("{0}, {1}").format(words, kind) if kind else words

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == NAME else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heads()[section]
        return None

    def heads(self) -> tuple[str, ...]:
        """The names of the columns."""
        share = self.tr("Share of cost") if self._whole.has_all_prices else self.tr("Share of tokens")
        return (
            "",
            self.tr("Cost"),
            share,
            self.tr("Tokens"),
            self.tr("Turns"),
            self.tr("Attempts"),
            self.tr("Tried again"),
            self.tr("Input"),
            self.tr("Output"),
            self.tr("Cache read"),
            self.tr("Cache write"),
            self.tr("Reasoning"),
        )


def _lines(line: CostLine) -> list[CostLine]:
    """The lines that stand below one; those of the run stand beside it."""
    return [] if line.kind is CostKind.RUN and line.name != _TOP else line.lines
