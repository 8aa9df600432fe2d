"""The workflow as a Qt item model: phases, their groups, their agents. An adapter over the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING
from uuid import uuid4

from PySide6.QtCore import (
    QAbstractItemModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Slot,
)

from app.builder import mime, words
from app.document import InGroup, NewStep, OnAgent, Target, WorkflowDocument
from app.open_workflow import TYPING_PAUSE_MS
from app.plain_text import plain_tool_tip
from core.agent_folders import is_shipped
from core.place import Place
from core.state import PHASES, Phase

if TYPE_CHECKING:
    from app.outline import AgentNode, GroupNode, Outline
    from app.turn_badge import TurnBadge
    from core.agent import AgentDefinition
    from core.config import AgentEntry

Index = QModelIndex | QPersistentModelIndex


class Kind(IntEnum):
    """What a row is."""

    PHASE = 0
    GROUP = 1
    AGENT = 2


ROOT = QModelIndex()
_PHASE_BITS = 2
_KIND_BITS = 2


class WorkflowModel(QAbstractItemModel):
    """Phases → groups → agents of the open document.

    An index's internal id is its place (kind, phase, group), never a pointer, so an index that outlived an
    edit cannot crash. Drops go through `dropMimeData`; where one would change nothing or carries anything
    odd, `canDropMimeData` refuses it. The model resets on every change; views find nodes again by id.
    """

    def __init__(self, document: WorkflowDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.token = uuid4().hex
        self.locked = False
        self._outline = document.outline
        self._badges: dict[Place, TurnBadge] = {}
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(TYPING_PAUSE_MS)
        self._later.timeout.connect(self._refresh)
        document.changed.connect(self._reset)
        document.problems_changed.connect(self._refresh)
        document.in_force_changed.connect(self._refresh)

    @property
    def outline(self) -> Outline:
        """The outline that the rows show: during a reset the one before it."""
        return self._outline

    # --- structure -------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = ROOT) -> int:  # noqa: N802
        if not parent.isValid():
            return len(PHASES)
        if parent.column() != 0:
            return 0
        group = self.group_node(parent)
        if self.kind(parent) is Kind.PHASE:
            return len(self._outline.groups(self.phase(parent)))
        return len(group.agents) if group is not None and self.kind(parent) is Kind.GROUP else 0

    def columnCount(self, parent: Index = ROOT) -> int:  # noqa: N802
        del parent
        return 1

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, column, _encode(Kind.PHASE, row, 0))
        number = PHASES.index(self.phase(parent))
        if self.kind(parent) is Kind.PHASE:
            return self.createIndex(row, column, _encode(Kind.GROUP, number, row))
        return self.createIndex(row, column, _encode(Kind.AGENT, number, parent.row()))

    def parent(self, child: Index | None = None) -> QModelIndex:  # type: ignore[override]
        if child is None or not child.isValid():
            return QModelIndex()
        number, group = _decode(child.internalId())
        if self.kind(child) is Kind.AGENT:
            return self.createIndex(group, 0, _encode(Kind.GROUP, number, group))
        if self.kind(child) is Kind.GROUP:
            return self.createIndex(number, 0, _encode(Kind.PHASE, number, 0))
        return QModelIndex()

    def kind(self, index: Index) -> Kind:
        """What a valid index is."""
        return Kind(index.internalId() & ((1 << _KIND_BITS) - 1))

    def phase(self, index: Index) -> Phase:
        """The phase a valid index is in."""
        return PHASES[_decode(index.internalId())[0]]

    def group_node(self, index: Index) -> GroupNode | None:
        """The group of a group's or agent's index."""
        if not index.isValid() or self.kind(index) is Kind.PHASE:
            return None
        number, at = _decode(index.internalId())
        groups = self._outline.groups(PHASES[number])
        return groups[at] if at < len(groups) else None

    def agent_node(self, index: Index) -> AgentNode | None:
        """The agent of an agent's index."""
        group = self.group_node(index)
        if group is None or self.kind(index) is not Kind.AGENT or index.row() >= len(group.agents):
            return None
        return group.agents[index.row()]

    def node_id(self, index: Index) -> int | None:
        """The id of a group's or agent's index; None for a phase."""
        agent = self.agent_node(index)
        if agent is not None:
            return agent.id
        group = self.group_node(index)
        return group.id if group is not None and self.kind(index) is Kind.GROUP else None

    def phase_index(self, phase: Phase) -> QModelIndex:
        """The index of a phase."""
        return self.index(PHASES.index(phase), 0)

    def index_of(self, node_id: int) -> QModelIndex:
        """The index of a node; invalid where it is not in the workflow."""
        found = self._outline.group_of(node_id)
        if found is None:
            return QModelIndex()
        phase, at, group = found
        index = self.index(at, 0, self.phase_index(phase))
        if group.id == node_id:
            return index
        rows = (row for row, agent in enumerate(group.agents) if agent.id == node_id)
        return self.index(next(rows), 0, index)

    # --- what rows say ---------------------------------------------------------------------------------

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index)
        if role == Qt.ItemDataRole.EditRole:
            group = self.group_node(index)
            return group.settings.name or "" if group is not None and self.kind(index) is Kind.GROUP else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tool_tip(self._tool_tip(index) or "")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._accessible_text(index)
        return None

    def setData(  # noqa: N802
        self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        group = self.group_node(index)
        if (
            role != Qt.ItemDataRole.EditRole
            or group is None
            or self.kind(index) is not Kind.GROUP
            or self.locked
        ):
            return False
        return self.document.rename_group(group.id, str(value))

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.locked:
            return flags
        flags |= Qt.ItemFlag.ItemIsDropEnabled
        if self.kind(index) is not Kind.PHASE:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        if self.kind(index) is Kind.GROUP:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def name_of(self, index: Index) -> str:
        """An agent's or group's name in a few words."""
        agent, group = self.agent_node(index), self.group_node(index)
        if agent is not None:
            return agent.entry.agent
        return words.group_in_short(group) if group is not None else ""

    def place(self, index: Index) -> Place | None:
        """The place of an agent's index, as a run names it."""
        if self.agent_node(index) is None:
            return None
        return Place(self.phase(index), index.parent().row(), index.row())

    def badge(self, index: Index) -> TurnBadge | None:
        """What a run says about an agent's index; None: no run is shown."""
        place = self.place(index)
        return self._badges.get(place) if place is not None else None

    @property
    def shows_run(self) -> bool:
        """Whether the slots show a run."""
        return bool(self._badges)

    def set_badges(self, badges: Mapping[Place, TurnBadge]) -> None:
        """Show these badges; only rows whose badge changed are repainted."""
        old, self._badges = self._badges, dict(badges)
        for place in old.keys() | badges.keys():
            if old.get(place) != badges.get(place):
                node_id = self.document.node_at(place)
                index = self.index_of(node_id) if node_id is not None else QModelIndex()
                if index.isValid():
                    self.dataChanged.emit(index, index)

    def definition(self, name: str) -> AgentDefinition | None:
        """An agent of the library; None where it is unknown or no library was read yet."""
        library = self.document.library
        return library.get(name) if library is not None else None

    def is_unknown(self, name: str) -> bool:
        """Whether the library was read and has no agent of this name."""
        return self.document.library is not None and self.definition(name) is None

    def plays(self, entry: AgentEntry) -> bool:
        """Whether at this place an agent that comes with OpenLoop plays a scene, and does no work."""
        agent = self.definition(entry.agent)
        if agent is None or agent.path is None or not is_shipped(agent.path):
            return False
        return (entry.backend or agent.backend) == "demo"

    def is_borrowed(self, entry: AgentEntry) -> bool:
        """Whether it plays in a workflow that did not ask for that."""
        library = self.document.library
        if library is None or not library.is_borrowed(entry.agent) or not self.plays(entry):
            return False
        return "demo" not in (entry.backend, self.document.in_force("backend").value)

    def _text(self, index: Index) -> str:
        if self.kind(index) is Kind.PHASE:
            return words.phase_title(self.phase(index))
        agent = self.agent_node(index)
        if agent is not None:
            return agent.entry.agent
        group = self.group_node(index)
        return words.group_header(group, self.document.settings_in_force).text if group is not None else ""

    def _tool_tip(self, index: Index) -> str | None:
        if self.kind(index) is Kind.PHASE:
            return words.phase_when(self.phase(index), self.document.settings_in_force)
        agent = self.agent_node(index)
        if agent is None:
            return self._text(index)
        return words.agent_tool_tip(
            agent.entry,
            self.definition(agent.entry.agent),
            self.is_unknown(agent.entry.agent),
            plays=self.plays(agent.entry),
        )

    def _accessible_text(self, index: Index) -> str:
        if self.kind(index) is Kind.PHASE:
            return (
                f"{self._text(index)}, {words.phase_when(self.phase(index), self.document.settings_in_force)}"
            )
        agent, group = self.agent_node(index), self.group_node(index)
        if group is None:
            return self._text(index)
        if agent is None:
            header = words.group_header(group, self.document.settings_in_force)
            return f"{header.spoken}, {words.step_of(self.phase(index), index.row())}"
        definition = self.definition(agent.entry.agent)
        parts = [
            words.agent_label(group, index.row()),
            words.agent_position(group, index.row()),
            words.step_of(self.phase(index), index.parent().row()),
        ]
        if definition is not None and definition.role:
            parts.append(definition.role)
        if not agent.entry.enabled or not group.settings.enabled:
            parts.append(words.disabled())
        if self.is_unknown(agent.entry.agent):
            parts.append(words.unknown_agent())
        if self.plays(agent.entry):
            parts.append(words.demo_agent())
        badge = self.badge(index)
        if badge is not None:
            status = words.needs_you() if badge.needs_you else words.status_word(badge.status)
            parts.append(f"{status} {badge.time_text}".strip())
        return ", ".join(parts)

    # --- drag and drop ---------------------------------------------------------------------------------

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802
        return Qt.DropAction.CopyAction | Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802
        return [mime.NODES_MIME, mime.AGENTS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802
        ids = [node_id for index in indexes if (node_id := self.node_id(index)) is not None]
        return mime.nodes_payload(self.token, ids)

    def target(self, row: int, parent: Index) -> Target | None:
        """What a drop before `row` of `parent` (row -1: on `parent` itself) means."""
        if not parent.isValid():
            return None
        if self.kind(parent) is Kind.PHASE:
            phase = self.phase(parent)
            return NewStep(phase, row if row >= 0 else len(self._outline.groups(phase)))
        agent, group = self.agent_node(parent), self.group_node(parent)
        if agent is not None:
            return OnAgent(agent.id) if row < 0 else None
        if group is None or group.is_fan_out:
            return None
        return InGroup(group.id, row if row >= 0 else len(group.agents))

    def phase_of_target(self, target: Target) -> Phase | None:
        """The phase that a target is in."""
        if isinstance(target, NewStep):
            return target.phase
        node_id = target.group_id if isinstance(target, InGroup) else target.node_id
        found = self._outline.group_of(node_id)
        return found[0] if found else None

    def canDropMimeData(  # noqa: N802
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        del action, column
        target = self.target(row, parent)
        if self.locked or target is None:
            return False
        names = mime.agents_in(data)
        if names:
            return self.document.preview_insert(names, target) is not None
        nodes = mime.nodes_in(data, self.token)
        return bool(nodes) and self.document.preview_move(nodes, target) is not None

    def dropMimeData(  # noqa: N802
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        target = self.target(row, parent)
        if target is None or not self.canDropMimeData(data, action, row, column, parent):
            return False
        names = mime.agents_in(data)
        if names:
            return self.document.insert_agents(names, target)
        return self.document.move(mime.nodes_in(data, self.token), target)

    # --- following the document ------------------------------------------------------------------------

    @Slot()
    def _reset(self) -> None:
        old, new = self._outline, self.document.outline
        if _ids(old) == _ids(new):
            # Keystrokes in the settings change no rows: selection and scrolling stay as they are.
            self._outline = new
            if self.document.is_typing:
                self._later.start()
            else:
                self._refresh()
            return
        self.beginResetModel()
        self._outline = new
        self.endResetModel()

    @Slot()
    def _refresh(self) -> None:
        self._later.stop()
        for row in range(self.rowCount()):
            phase = self.index(row, 0)
            groups = self.rowCount(phase)
            self.dataChanged.emit(phase, phase)
            for at in range(groups):
                group = self.index(at, 0, phase)
                self.dataChanged.emit(group, group)
                if agents := self.rowCount(group):
                    self.dataChanged.emit(self.index(0, 0, group), self.index(agents - 1, 0, group))


def _ids(outline: Outline) -> list[list[tuple[int, list[int]]]]:
    return [[(group.id, [node.id for node in group.agents]) for group in outline.groups(p)] for p in PHASES]


def _encode(kind: Kind, phase: int, group: int) -> int:
    return (((group << _PHASE_BITS) | phase) << _KIND_BITS) | kind


def _decode(internal_id: int) -> tuple[int, int]:
    rest = internal_id >> _KIND_BITS
    return rest & ((1 << _PHASE_BITS) - 1), rest >> _PHASE_BITS
