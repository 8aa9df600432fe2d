"""The agents of the library as a tree by sub-folder, ready to be dragged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel

from app.builder import mime
from app.plain_text import plain_tool_tip
from core.problems import Problem

if TYPE_CHECKING:
    from core.agent import AgentDefinition

AGENT_ROLE = Qt.ItemDataRole.UserRole + 1
PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 2
Index = QModelIndex | QPersistentModelIndex


class AgentPoolModel(QStandardItemModel):
    """Folders and their agents; agents of the folder's top stand first, without a folder."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._broken_title = self.tr("cannot be read")

    def show(self, agents: Sequence[AgentDefinition], problems: Sequence[Problem]) -> None:
        """Show these agents, and the files that are none because something is wrong with them."""
        self.clear()
        folders: dict[str, QStandardItem] = {"": self.invisibleRootItem()}
        by_file = {problem.file: problem for problem in problems if problem.file is not None}
        for agent in sorted(agents, key=lambda each: (each.folder.lower(), each.name.lower())):
            item = _item(agent.name)
            item.setData(agent, AGENT_ROLE)
            problem = by_file.pop(agent.path, None) if agent.path is not None else None
            item.setData(problem, PROBLEM_ROLE)
            item.setToolTip(_tool_tip(agent, problem))
            words = [agent.name, agent.role, self.tr("may complete the loop") if agent.may_complete else ""]
            item.setAccessibleText(", ".join(word for word in words if word))
            self._folder(folders, agent.folder).appendRow(item)
        broken = list(by_file.values())
        if broken:
            folder = _item(self._broken_title)
            folder.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.appendRow(folder)
            for problem in broken:
                item = _item(problem.file.name if problem.file is not None else "")
                item.setData(problem, PROBLEM_ROLE)
                item.setToolTip(plain_tool_tip(problem.text()))
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                folder.appendRow(item)

    def _folder(self, folders: dict[str, QStandardItem], name: str) -> QStandardItem:
        if name not in folders:
            item = _item(name)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled)
            folders[name] = item
            self.appendRow(item)
        return folders[name]

    def mimeTypes(self) -> list[str]:  # noqa: N802
        return [mime.AGENTS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802
        return mime.agents_payload(
            [agent.name for index in indexes if (agent := agent_at(index)) is not None]
        )

    def supportedDragActions(self) -> Qt.DropAction:  # noqa: N802
        return Qt.DropAction.CopyAction


class AgentFilter(QSortFilterProxyModel):
    """Keeps agents whose name, role, description or folder has every word of the filter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self.setRecursiveFilteringEnabled(True)

    def set_words(self, text: str) -> None:
        """Filter by these words; none: everything."""
        self._words = text.casefold().split()
        self.invalidate()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:  # noqa: N802
        index = self.sourceModel().index(source_row, 0, source_parent)
        agent = agent_at(index)
        if agent is None:
            # A folder is there for its agents; a broken file has only its name.
            is_broken = isinstance(index.data(PROBLEM_ROLE), Problem)
            return (not self._words) or (is_broken and self._matches(str(index.data())))
        return self._matches(f"{agent.name} {agent.role} {agent.description} {agent.folder}")

    def _matches(self, text: str) -> bool:
        text = text.casefold()
        return all(word in text for word in self._words)


def agent_at(index: Index) -> AgentDefinition | None:
    """The agent of a row; None for folders and broken files."""
    agent: AgentDefinition | None = index.data(AGENT_ROLE)
    return agent


def _item(text: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setEditable(False)
    item.setDropEnabled(False)
    return item


def _tool_tip(agent: AgentDefinition, problem: Problem | None) -> str:
    parts = [agent.name, agent.description, problem.text() if problem else ""]
    return plain_tool_tip("\n".join(part for part in parts if part))
