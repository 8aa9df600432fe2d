"""The left of the window: the agents there are, to be looked at and dragged into the workflow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QKeyEvent,
    QKeySequence,
    QPalette,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.builder import words
from app.builder.agent_pool_model import PROBLEM_ROLE, AgentFilter, AgentPoolModel, agent_at
from app.builder.agent_preview import AgentPreview
from app.builder.agent_tree import MARGIN, AgentTree
from app.buttons import Button, ButtonLook
from app.fields import OutlinedField
from app.labels import SectionLabel
from app.theme import TextSize, font, icon, is_appearance_event
from app.why_not import offer
from core.agent_folders import is_shipped
from core.problems import Problem
from core.state import PHASES

if TYPE_CHECKING:
    from core.agent import AgentLibrary

WIDTH = 224


class AgentPool(QWidget):
    """Shows an agent library.

    Signals: `add_requested(list, str)`: these agents by name to this phase (empty: where the selection is);
    `agent_open_requested(str)`; `file_open_requested(Path)`: one that cannot be used as an agent;
    `duplicate_requested(str)`; `rename_requested(str)`; `delete_requested(str)`; `new_agent_requested()`;
    `folder_open_requested()`.
    """

    add_requested = Signal(object, str)
    agent_open_requested = Signal(str)
    file_open_requested = Signal(object)
    duplicate_requested = Signal(str)
    rename_requested = Signal(str)
    delete_requested = Signal(str)
    new_agent_requested = Signal()
    folder_open_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._agents = AgentPoolModel(self)
        self.filtered = AgentFilter(self)
        self.filtered.setSourceModel(self._agents)
        self.filter_field = OutlinedField(self)
        self.filter_field.setPlaceholderText(self.tr("Filter agents"))
        self.filter_field.setAccessibleName(self.tr("Filter agents"))
        about = self.tr("By name, role and description. Down goes to the list.")
        self.filter_field.setAccessibleDescription(about)
        self.filter_field.setClearButtonEnabled(True)
        self.filter_field.setMinimumHeight(28)
        self.filter_field.textChanged.connect(self._filter)
        self.filter_field.installEventFilter(self)
        self.tree = AgentTree(self)
        self.tree.setModel(self.filtered)
        self.preview = AgentPreview(self)
        self._nothing = QLabel(self)
        self._nothing.setTextFormat(Qt.TextFormat.PlainText)
        self._nothing.setWordWrap(True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.new_button = QPushButton(icon("file-plus"), self.tr("Make the first agent"), self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._tree_page())
        self._pages.addWidget(self._empty_page())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self.setMinimumWidth(160)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(self.tree.viewport().backgroundRole())
        self.setFocusProxy(self.tree)
        self.new_button.clicked.connect(self.new_agent_requested)
        self.tree.selectionModel().currentChanged.connect(self._preview)
        self.tree.activated.connect(self._add_activated)
        self.rename_action = QAction(self.tr("Rename agent…"), self.tree)
        self.rename_action.setShortcut(QKeySequence(Qt.Key.Key_F2))
        self.rename_action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.rename_action.triggered.connect(self._rename)
        self.tree.addAction(self.rename_action)
        self.tree.installEventFilter(self)
        self.tree.selectionModel().selectionChanged.connect(self._offer_renaming)
        self._library: AgentLibrary | None = None
        self._show_state()
        self._offer_renaming()

    def _tree_page(self) -> QWidget:
        top = QWidget(self)
        layout = QVBoxLayout(top)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(8)
        head = QHBoxLayout()
        head.setContentsMargins(MARGIN, 0, 4, 0)
        head.addWidget(SectionLabel(self.tr("Agents"), top), 1)
        self.add_button = Button("", ButtonLook.FLAT, "plus", top)
        self.add_button.setAccessibleName(self.tr("New agent…"))
        self.add_button.setToolTip(self.tr("Make a new agent from a template"))
        self.add_button.clicked.connect(self.new_agent_requested)
        head.addWidget(self.add_button)
        layout.addLayout(head)
        field = QVBoxLayout()
        field.setContentsMargins(MARGIN, 0, MARGIN, 0)
        field.addWidget(self.filter_field)
        layout.addLayout(field)
        self._no_match = QLabel(top)
        self._no_match.setTextFormat(Qt.TextFormat.PlainText)
        self._no_match.setWordWrap(True)
        self._no_match.setContentsMargins(MARGIN, 4, MARGIN, 0)
        self._no_match.hide()
        layout.addWidget(self._no_match)
        layout.addWidget(self._own_note(top))
        layout.addWidget(self.tree, 1)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(top)
        self.splitter.addWidget(self.preview)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setSizes([540, 196])
        return self.splitter

    def _own_note(self, parent: QWidget) -> QWidget:
        """What stands above the agents of others while the workflow has none of its own."""
        self.own_note = QWidget(parent)
        layout = QVBoxLayout(self.own_note)
        layout.setContentsMargins(MARGIN, 0, MARGIN, 0)
        layout.setSpacing(0)
        said = QLabel(self.tr("This workflow has no agents of its own yet."), self.own_note)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        said.setFont(font(TextSize.SMALL))
        said.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        # Short: the pool is narrow, in whatever language.
        self.first_button = Button(self.tr("Make one"), ButtonLook.LINK, "", self.own_note)
        self.first_button.setAccessibleName(self.tr("Make the first agent"))
        self.first_button.clicked.connect(self.new_agent_requested)
        layout.addWidget(said)
        layout.addWidget(self.first_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.own_note.hide()
        return self.own_note

    def _empty_page(self) -> QWidget:
        page = QWidget(self)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(MARGIN, 12, MARGIN, 12)
        layout.setSpacing(8)
        layout.addWidget(SectionLabel(self.tr("Agents"), page))
        layout.addWidget(self._nothing)
        layout.addWidget(self.new_button)
        layout.addStretch(1)
        return page

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(WIDTH, 600)

    # --- what is shown ---------------------------------------------------------------------------------

    def set_library(self, library: AgentLibrary) -> None:
        """Show these agents; what was selected and folded stays so where it is still there."""
        current = self.selected_agents()
        folded = {
            str(index.data())
            for row in range(self.filtered.rowCount())
            if not self.tree.isExpanded(index := self.filtered.index(row, 0))
            and self.filtered.hasChildren(index)
        }
        self._library = library
        self._agents.show(library.agents, library.problems, library.folders)
        self.tree.expandAll()
        for row in range(self.filtered.rowCount()):
            index = self.filtered.index(row, 0)
            if str(index.data()) in folded:
                self.tree.setExpanded(index, False)
        if current:
            self.select_agent(current[0])
        self._show_state()
        # A model that is filled anew takes the selection away without a word.
        self._offer_renaming()

    def select_agent(self, name: str) -> None:
        """Select an agent by name, if it is there."""
        index = self._find(name, QModelIndex())
        if index.isValid():
            self.tree.setCurrentIndex(index)

    def selected_agents(self) -> list[str]:
        """Names of the selected agents, from top to bottom."""
        indexes = sorted(self.tree.selectedIndexes(), key=lambda index: self.tree.visualRect(index).top())
        return [agent.name for index in indexes if (agent := agent_at(index)) is not None]

    def _select_first(self) -> None:
        """Where nothing is selected that is listed, select the first agent."""
        if self.tree.selectedIndexes():
            return
        index = self.tree.model().index(0, 0)
        while index.isValid() and agent_at(index) is None:
            index = self.tree.indexBelow(index)
        if not index.isValid():
            index = self.filtered.index(0, 0)
        flags = self.tree.selectionModel().SelectionFlag
        self.tree.selectionModel().setCurrentIndex(index, flags.ClearAndSelect)

    def _find(self, name: str, parent: QModelIndex) -> QModelIndex:
        for row in range(self.filtered.rowCount(parent)):
            index = self.filtered.index(row, 0, parent)
            agent = agent_at(index)
            if agent is not None and agent.name == name:
                return index
            inner = self._find(name, index)
            if inner.isValid():
                return inner
        return QModelIndex()

    def _show_state(self) -> None:
        library = self._library
        empty = library is None or not (library.agents or library.problems)
        self._pages.setCurrentIndex(1 if empty else 0)
        self.new_button.setVisible(library is not None)
        self.own_note.setVisible(library is not None and not library.has_own)
        if library is None:
            self._nothing.setText(self.tr("Reading the agents…"))
        else:
            self._nothing.setText(
                self.tr(
                    "There are no agents yet. An agent is a Markdown file that says who it is and what it "
                    "is to do. Make the first one here, or put files into the agents folder."
                )
            )

    @Slot(str)
    def _filter(self, text: str) -> None:
        self.filtered.set_words(text)
        self.tree.expandAll()
        nothing = bool(text.strip()) and self.filtered.rowCount() == 0
        self._no_match.setText(self.tr("No agent matches “{0}”.").format(text.strip()) if nothing else "")
        self._no_match.setVisible(nothing)
        # What went with its whole folder is deselected without a word.
        self._offer_renaming()

    @Slot(QModelIndex)
    def _preview(self, index: QModelIndex) -> None:
        problem = index.data(PROBLEM_ROLE)
        self.preview.show_agent(agent_at(index) or (problem if isinstance(problem, Problem) else None))

    # --- adding ----------------------------------------------------------------------------------------

    @Slot(QModelIndex)
    def _add_activated(self, index: QModelIndex) -> None:
        agent = agent_at(index)
        if agent is not None:
            # The current row counts, too: after a search it may be all that there is.
            self.add_requested.emit(self.selected_agents() or [agent.name], "")
        elif self._broken_file() is not None:
            self._open([], self._broken_file())

    @Slot()
    def _offer_renaming(self) -> None:
        why_not = self._why_not_renamed()
        offer(self.rename_action, not why_not, why_not)

    def _why_not_renamed(self) -> str:
        """Why what is selected cannot be renamed; empty where it can."""
        agents = [agent for index in self.tree.selectedIndexes() if (agent := agent_at(index)) is not None]
        broken = self._broken_file() if not agents else None
        if broken is not None and self.tree.selectedIndexes():
            return self.tr("{0} cannot be used as an agent yet. Repair it first.").format(broken.name)
        if not agents:
            return self.tr("Select an agent in the list first.")
        if len(agents) > 1:
            return self.tr("Only one agent can be renamed at a time.")
        if agents[0].path is not None and is_shipped(agents[0].path):
            return self.tr("Agents that come with OpenLoop cannot be renamed; duplicate it instead.")
        return ""

    @Slot()
    def _rename(self) -> None:
        names = self.selected_agents()
        if len(names) == 1:
            self.rename_requested.emit(names[0])

    def _broken_file(self) -> Path | None:
        """The file of the row that has the cursor, where it cannot be used as an agent."""
        problem = self.tree.currentIndex().data(PROBLEM_ROLE)
        return problem.file if isinstance(problem, Problem) else None

    def _open(self, names: list[str], broken: Path | None) -> None:
        if names:
            self.agent_open_requested.emit(names[0])
        elif broken is not None:
            self.file_open_requested.emit(broken)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        names = self.selected_agents()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for phase in PHASES:
            text = self.tr("Add to {0}").format(words.phase_title(phase).lower())
            action = menu.addAction(icon("plus", "quiet"), text)
            action.setEnabled(bool(names))
            action.setData(phase)
        menu.addSeparator()
        broken = self._broken_file() if not names else None
        edit = menu.addAction(icon("square-pen", "quiet"), self.tr("Edit agent…"))
        edit.setEnabled(len(names) == 1 or broken is not None)
        key = self.rename_action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        rename = menu.addAction(icon("pencil", "quiet"), f"{self.rename_action.text()}\t{key}")
        rename.setEnabled(len(names) == 1)
        duplicate = menu.addAction(icon("copy", "quiet"), self.tr("Duplicate agent…"))
        duplicate.setEnabled(len(names) == 1)
        delete = menu.addAction(icon("trash-2", "quiet"), self.tr("Delete agent…"))
        delete.setEnabled(len(names) == 1)
        menu.addSeparator()
        new = menu.addAction(icon("file-plus", "quiet"), self.tr("New agent…"))
        folder = menu.addAction(icon("folder-open", "quiet"), self.tr("Open the agents folder"))
        edit.triggered.connect(lambda: self._open(names, broken))
        # Also where it cannot be: then the window says why.
        rename.triggered.connect(self._rename)
        duplicate.triggered.connect(lambda: self.duplicate_requested.emit(names[0]))
        delete.triggered.connect(lambda: self.delete_requested.emit(names[0]))
        new.triggered.connect(self.new_agent_requested)
        folder.triggered.connect(self.folder_open_requested)
        menu.triggered.connect(
            lambda action: self.add_requested.emit(names, action.data()) if action.data() in PHASES else None
        )
        where = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            where = self.tree.viewport().mapToGlobal(self.tree.visualRect(self.tree.currentIndex()).center())
        menu.popup(where)
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """From the filter field, Down goes to the agents and Escape clears it.

        The key that renames an agent is heard where it cannot be, too: then the window says why.
        """
        if watched is self.tree and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if QKeySequence(event.keyCombination()) == self.rename_action.shortcut():
                self._rename()
                return True
            return False
        if (
            watched is self.filter_field
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
        ):
            if event.key() == Qt.Key.Key_Down:
                self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
                self._select_first()
                return True
            if event.key() == Qt.Key.Key_Escape and self.filter_field.text():
                self.filter_field.clear()
                return True
        return False

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "tree"):
            self.tree.viewport().update()
