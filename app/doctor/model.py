"""What was found, as a list for a view: sections, what is still looked at, and findings in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.doctor import Told, topic_words
from core.health import Finding, FindingStatus

ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1
_Index: TypeAlias = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Awaited:
    """A topic of which more may be found."""

    topic: str


@dataclass(frozen=True, slots=True)
class Found:
    """A finding of a topic."""

    topic: str
    finding: Finding


Entry: TypeAlias = Heading | Awaited | Found


class FindingModel(QAbstractListModel):
    """One row for each entry. Its text is for assistive technology; views paint the entry itself."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []

    @property
    def entries(self) -> Sequence[Entry]:
        """What is shown, from top to bottom."""
        return tuple(self._entries)

    @property
    def findings(self) -> list[Finding]:
        """What was found until now, in the order of the list."""
        return [entry.finding for entry in self._entries if isinstance(entry, Found)]

    @property
    def awaited(self) -> list[str]:
        """The topics of which more may be found."""
        return [entry.topic for entry in self._entries if isinstance(entry, Awaited)]

    def begin(self, sections: Mapping[str, Sequence[str]]) -> None:
        """Start again, with these sections of topics."""
        self.beginResetModel()
        self._entries = []
        for heading, topics in sections.items():
            self._entries.append(Heading(heading))
            self._entries += (Awaited(topic) for topic in topics)
        self.endResetModel()

    def tell(self, news: Told) -> None:
        """Take in what a topic told: a finding stands before what is still awaited of it."""
        row = self._entries.index(Awaited(news.topic))
        if news.finding is None:
            self._remove(row)
        else:
            self.beginInsertRows(_NOWHERE, row, row)
            self._entries.insert(row, Found(news.topic, news.finding))
            self.endInsertRows()

    def give_up(self) -> None:
        """Nothing more will be told."""
        for row in reversed(range(len(self._entries))):
            if isinstance(self._entries[row], Awaited):
                self._remove(row)

    def _remove(self, row: int) -> None:
        self.beginRemoveRows(_NOWHERE, row, row)
        del self._entries[row]
        self.endRemoveRows()

    # --- Qt --------------------------------------------------------------------------------------------

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(entry)
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        # What is awaited will go: a choice of it would jump to the next row.
        if not index.isValid() or not isinstance(self._entries[index.row()], Found):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def _words(self, entry: Entry) -> str:
        match entry:
            case Heading(text):
                return text
            case Awaited(topic):
                return self.tr("{0}: looking").format(topic_words(topic))
            case Found(_, finding):
                parts = (self._status_words(finding), finding.message, finding.advice)
                return f"{finding.subject}: {' '.join(part for part in parts if part)}"

    def _status_words(self, finding: Finding) -> str:
        if is_merely_absent(finding):
            return self.tr("not there.")
        return {
            FindingStatus.OK: self.tr("fine."),
            FindingStatus.WARNING: self.tr("worth knowing."),
            FindingStatus.ERROR: self.tr("in the way."),
        }[finding.status]


def is_merely_absent(finding: Finding) -> bool:
    """Whether something is not there, and nobody needs it."""
    return finding.absent and finding.status is FindingStatus.OK
