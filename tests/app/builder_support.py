"""The workflow's view in a window of its own, and short words for what tests do to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QVariantAnimation
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
)
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.builder.workflow_model import WorkflowModel
from app.builder.workflow_rows import Boxes
from app.builder.workflow_view import WorkflowView
from app.document import WorkflowDocument
from core.agent import AgentLibrary
from core.state import Phase

AUDIT = {
    "name": "audit",
    "preparation_agents": ["proteus"],
    "loop_agents": [
        {"agents": ["amala"], "mode": "sequential"},
        {"agents": ["vera", "linter", "security_auditor"], "mode": "parallel"},
    ],
    "finalization_agents": ["consolidator"],
    "end_state_condition": "payload.get('score', 0) >= 90",
    "max_parallel_agents": 4,
}
NAMES = ("proteus", "amala", "vera", "linter", "security_auditor", "consolidator")


def library(folder: Path) -> AgentLibrary:
    for name in NAMES:
        (folder / f"{name}.md").write_text(f"---\nname: {name}\nrole: tester\n---\nTest.\n", encoding="utf-8")
    return AgentLibrary(folder)


@dataclass
class Builder:
    """The view in a window, and short words for what the tests do to it."""

    document: WorkflowDocument
    view: WorkflowView
    qtbot: QtBot
    entered: bool = False

    @property
    def model(self) -> WorkflowModel:
        return self.view.model

    def shape(self, phase: Phase = "loop") -> list[str]:
        return [
            f"{group.settings.mode[:3]}({' '.join(node.entry.agent for node in group.agents)})"
            for group in self.document.outline.groups(phase)
        ]

    def agent(self, name: str) -> int:
        return next(node.id for _, _, node in self.document.outline.all_agents() if node.entry.agent == name)

    def group(self, name: str) -> int:
        """The group of an agent."""
        found = self.document.outline.find_agent(self.agent(name))
        assert found is not None
        return found[1].id

    def at(self, node_id: int, share: float = 0.5) -> QPoint:
        """A point of the viewport inside a row's body, `share` of its height from the top."""
        body = self._boxes(node_id).body
        return QPoint(body.center().x(), body.top() + round((body.height() - 1) * share))

    def at_phase(self, phase: Phase) -> QPoint:
        return self.view.tree.visualRect(self.model.phase_index(phase)).center()

    def zone(self) -> QPoint:
        """A point in the zone for a new step at the end of the loop."""
        return self._boxes(self.document.outline.loop[-1].agents[-1].id).zone.center()

    def _boxes(self, node_id: int) -> Boxes:
        """Where a row is; while something is dragged, where it is aimed at, as a gap may be opening."""
        tree, index = self.view.tree, self.model.index_of(node_id)
        if not tree.gap.dragging:
            return tree.anatomy.boxes(index, tree.visualRect(index))
        rows = (tree.gap.row_at(y) for y in range(-tree.verticalScrollBar().value(), 10_000, 4))
        rect = next(row[1] for row in rows if row is not None and row[0] == index)
        return tree.anatomy.boxes(index, rect, resting=True)

    def hover(self, point: QPoint, data: QMimeData) -> str:
        """Drag over a point without dropping; gives the words that stand there."""
        viewport = self.view.tree.viewport()
        arguments = (
            point,
            Qt.DropAction.CopyAction | Qt.DropAction.MoveAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        enter = QDragEnterEvent(*arguments)
        enter.ignore()
        QApplication.sendEvent(viewport, enter)
        self.entered = enter.isAccepted()
        if not self.entered:
            return ""
        QApplication.sendEvent(viewport, QDragMoveEvent(*arguments))
        QApplication.processEvents()
        return self.view.tree.gap.landing_words

    def settle(self) -> None:
        """Wait until nothing opens or closes any more."""
        gap = self.view.tree.gap
        self.qtbot.waitUntil(
            lambda: not gap.dwell.isActive() and gap.findChild(QVariantAnimation).state().value == 0
        )
        self.view.tree.doItemsLayout()
        QApplication.processEvents()

    def open_gap(self) -> QRect:
        """The gap that is open, in the viewport; an empty rectangle: none is."""
        tree = self.view.tree
        for _, _, group in self.document.outline.all_groups():
            for node_id in group.ids:
                index = self.model.index_of(node_id)
                for gap in tree.anatomy.boxes(index, tree.visualRect(index)).gaps.values():
                    return gap
        return QRect()

    def at_rest(self, node_id: int) -> QPoint:
        """The middle of a row where it is without a drag."""
        tree = self.view.tree
        for y in range(tree.viewport().height()):
            found = tree.gap.row_at(y)
            if found is not None and self.model.node_id(found[0]) == node_id:
                return tree.anatomy.boxes(found[0], found[1], resting=True).body.center()
        raise AssertionError("the row is not in the viewport")

    def leave(self) -> None:
        QApplication.sendEvent(self.view.tree.viewport(), QDragLeaveEvent())
        QApplication.processEvents()

    def drop(self, point: QPoint, data: QMimeData) -> bool:
        """Drag to a point and drop there, as Qt would send it: no drop without an accepted enter."""
        self.hover(point, data)
        if not self.entered:
            return False
        event = QDropEvent(
            QPointF(point),
            Qt.DropAction.CopyAction | Qt.DropAction.MoveAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        event.ignore()
        QApplication.sendEvent(self.view.tree.viewport(), event)
        QApplication.processEvents()
        return event.isAccepted()

    def dragged(self, *node_ids: int) -> QMimeData:
        return self.model.mimeData([self.model.index_of(node_id) for node_id in node_ids])

    def select(self, *node_ids: int) -> None:
        self.view.tree.select_nodes(list(node_ids))
        self.view.tree.setFocus()

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.view.activateWindow()
        self.qtbot.waitUntil(self.view.isActiveWindow)
        self.qtbot.keyClick(self.view.tree, key, modifier)

    def menu(self, node_id: int | None = None, phase: Phase | None = None) -> QMenu:
        """Open the context menu with the right mouse button and give the real, open menu."""
        point = self.at(node_id) if node_id is not None else self.at_phase(phase or "loop")
        viewport = self.view.tree.viewport()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, viewport.mapToGlobal(point))
        QApplication.sendEvent(viewport, event)
        return self.open_menu()

    def open_menu(self) -> QMenu:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return menu

    def choose(self, menu: QMenu, *path: str) -> None:
        """Trigger an entry by its words, through sub-menus."""
        found: QAction | None = None
        inner: QMenu | None = menu
        for text in path:
            assert inner is not None
            found = next(each for each in inner.actions() if text in each.text().replace("&", ""))
            submenu = found.menu()
            inner = submenu if isinstance(submenu, QMenu) else None
        assert found is not None
        assert found.isEnabled()
        found.trigger()
        menu.close()
        QApplication.processEvents()


def building(qtbot: QtBot, folder: Path) -> Iterator[Builder]:
    """The audit workflow in a folder with its agents; a generator as fixtures are."""
    path = folder / "audit.json"
    path.write_text(json.dumps(AUDIT), encoding="utf-8")
    agents = folder / "agents"
    agents.mkdir()
    document = WorkflowDocument()
    document.set_library(library(agents), ("demo", "opencode"))
    document.open(path)
    view = WorkflowView(document)
    tester = QAbstractItemModelTester(view.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    qtbot.addWidget(view)
    view.resize(372, 700)
    view.show()
    qtbot.waitExposed(view)
    view.tree.setFocus()
    driven = Builder(document, view, qtbot)
    yield driven
    # Qt keeps the target of an open drag by pointer.
    driven.leave()
    del tester
