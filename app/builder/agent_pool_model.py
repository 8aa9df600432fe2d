"""The agents of the library as a tree by sub-folder, ready to be dragged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel

from app.builder import mime, words
from app.plain_text import plain_tool_tip
from core.agent_folders import is_shipped
from core.problems import Problem

if TYPE_CHECKING:
    from core.agent import AgentDefinition

AGENT_ROLE = Qt.ItemDataRole.UserRole + 1
PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 2
Index = QModelIndex | QPersistentModelIndex


class AgentPoolModel(QStandardItemModel):
    """Folders and their agents; agents of the folder's top stand first, without a folder.

    Files that cannot be used stand first in their folder: they wait for somebody. What comes with OpenLoop
    stands last, in folders that say that it is for trying.
    """

    def show(
        self, agents: Sequence[AgentDefinition], problems: Sequence[Problem], roots: Sequence[Path] = ()
    ) -> None:
        """Show these agents, and the files that are none because something is wrong with them.

        `roots`: the folders that the agents were found below.
        """
        self.clear()
        by_file = {problem.file: problem for problem in problems if problem.file is not None}
        rows: list[tuple[bool, str, bool, str, QStandardItem]] = []
        for agent in agents:
            item = _item(agent.name)
            item.setData(agent, AGENT_ROLE)
            problem = by_file.pop(agent.path, None) if agent.path is not None else None
            item.setData(problem, PROBLEM_ROLE)
            item.setToolTip(_tool_tip(agent, problem))
            shipped = agent.path is not None and is_shipped(agent.path)
            said = [
                agent.name,
                agent.role,
                self.tr("may complete the loop") if agent.may_complete else "",
                self.tr("demo agent") if shipped else "",
            ]
            item.setAccessibleText(", ".join(word for word in said if word))
            rows.append((shipped, agent.folder, True, agent.name, item))
        for file, problem in by_file.items():
            item = _item(file.name)
            item.setData(problem, PROBLEM_ROLE)
            item.setToolTip(plain_tool_tip(problem.text()))
            item.setAccessibleText(f"{file.name}, {self.tr('cannot be read')}")
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            rows.append((is_shipped(file), _folder_of(file, roots), False, file.name, item))
        folders: dict[str, QStandardItem] = {"": self.invisibleRootItem()}
        in_order = sorted(rows, key=lambda row: (row[0], _natural(row[1]), row[2], _natural(row[3])))
        for shipped, folder, _, _, item in in_order:
            name = self.tr("{0} · demo agents").format(folder) if shipped else folder
            self._folder(folders, name).appendRow(item)

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


def _folder_of(file: Path, roots: Sequence[Path]) -> str:
    """The sub-folder that a file stands in, as agents name theirs."""
    root = next((root for root in roots if file.is_relative_to(root)), file.parent)
    inner = file.parent.relative_to(root).as_posix()
    return "" if inner == "." else inner


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts names as people do: `many_2` before `many_10`."""
    # Every second part is a number; the longer of two without zeros in front is the larger.
    parts = re.split(r"([0-9]+)", name.casefold())
    numbers = (part.lstrip("0") if number % 2 else part for number, part in enumerate(parts))
    return tuple((len(part) if number % 2 else 0, part) for number, part in enumerate(numbers))


def _item(text: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setEditable(False)
    item.setDropEnabled(False)
    return item


def _tool_tip(agent: AgentDefinition, problem: Problem | None) -> str:
    shipped = agent.path is not None and is_shipped(agent.path)
    parts = [
        agent.name,
        agent.description,
        words.about_demo_agents() if shipped else "",
        problem.text() if problem else "",
    ]
    return plain_tool_tip("\n".join(part for part in parts if part))
