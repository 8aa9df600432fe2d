"""The right of the window while building: settings of what is selected, and of the workflow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from app.builder import words
from app.builder.agent_page import AgentPage
from app.builder.form_page import FormPage
from app.builder.group_page import GroupPage
from app.builder.workflow_page import WorkflowPage
from app.document import WorkflowDocument
from app.theme import icon

SELECTION, WORKFLOW = 0, 1


class SettingsPanel(QWidget):
    """Two tabs: the selected group or agent, and the workflow. Every edit is a command of the document.

    Signals: `agent_open_requested(str)` with an agent's name.
    """

    agent_open_requested = Signal(str)

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._node_id: int | None = None
        self.workflow_page = WorkflowPage(document, self)
        self.group_page = GroupPage(document, self)
        self.agent_page = AgentPage(document, self)
        self.edit_agent_button = QPushButton(icon("external-link"), self.tr("Edit agent…"), self)
        self.agent_page.add_widget(_left(self.edit_agent_button))
        self.tabs = QTabBar(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName(self.tr("Settings"))
        self.tabs.addTab("")
        self.tabs.addTab(self.tr("Workflow"))
        self._pages = QStackedWidget(self)
        for page in (self.workflow_page, self.group_page, self.agent_page):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(0)
        tab_row = QHBoxLayout()
        tab_row.setContentsMargins(8, 0, 8, 0)
        tab_row.addWidget(self.tabs)
        tab_row.addStretch(1)
        layout.addLayout(tab_row)
        layout.addWidget(self._pages, 1)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.tabs.currentChanged.connect(self._show_page)
        self.edit_agent_button.clicked.connect(self._open_agent)
        document.changed.connect(self._refresh)
        document.problems_changed.connect(self._refresh)
        document.in_force_changed.connect(self._refresh)
        self.show_selection([])

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(684, 600)

    @Slot(object)
    def show_selection(self, node_ids: Sequence[int]) -> None:
        """Follow the selection of the workflow: one node has a page of its own."""
        node_id = node_ids[0] if len(node_ids) == 1 else None
        outline = self._document.outline
        if node_id is not None and outline.group_of(node_id) is None:
            node_id = None
        changed = node_id != self._node_id
        self._node_id = node_id
        self.tabs.setTabVisible(SELECTION, node_id is not None)
        if changed:
            self.tabs.setCurrentIndex(WORKFLOW if node_id is None else SELECTION)
        self._refresh()
        self._show_page()

    def show_workflow(self) -> None:
        """Turn to the workflow's own settings."""
        self.tabs.setCurrentIndex(WORKFLOW)

    def show_field(self, key: str) -> bool:
        """Give the focus to the field of a setting, such as `end_state_condition`, on the page that is shown.

        False where the page has none.
        """
        page = self._pages.currentWidget()
        if not isinstance(page, FormPage):
            return False
        row = next((row for row in page.rows() if row.objectName() == key), None)
        field: QWidget | None = row.control if row is not None else None
        if key.split(".")[0].split("[")[0] == "merge" and page is not self.agent_page:
            rules = self.group_page.merge_rules if page is self.group_page else self.workflow_page.merge_rules
            field = rules.path_field
        if field is None or not field.isEnabled():
            return False
        page.ensureWidgetVisible(field, 0, field.height())
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def set_locked(self, locked: bool) -> None:
        """While a run goes on: settings can be read, not changed."""
        for page in (self.workflow_page, self.group_page, self.agent_page):
            page.body.setEnabled(not locked)

    @Slot()
    def _show_page(self) -> None:
        if self.tabs.currentIndex() == WORKFLOW or self._node_id is None:
            self._pages.setCurrentWidget(self.workflow_page)
        elif self._document.outline.find_group(self._node_id) is not None:
            self._pages.setCurrentWidget(self.group_page)
        else:
            self._pages.setCurrentWidget(self.agent_page)

    @Slot()
    def _refresh(self) -> None:
        self.workflow_page.refresh()
        if self._node_id is None:
            return
        agent = self._document.outline.find_agent(self._node_id)
        group = self._document.outline.find_group(self._node_id)
        if agent is not None:
            place, around, _ = agent
            self.tabs.setTabText(SELECTION, words.agent_label(around, place.entry).replace("&", "&&"))
            self.agent_page.show_agent(self._node_id)
        elif group is not None:
            self.tabs.setTabText(SELECTION, self._group_title(self._node_id).replace("&", "&&"))
            self.group_page.show_group(self._node_id)
        else:
            self.show_selection([])

    def _group_title(self, node_id: int) -> str:
        found = self._document.outline.find_group(node_id)
        if found is None:
            return ""
        group = found[2]
        if group.settings.name:
            return group.settings.name
        if group.is_fan_out:
            return self.tr("Fan-out group")
        return self.tr("Parallel group") if group.is_parallel else self.tr("Group in sequence")

    @Slot()
    def _open_agent(self) -> None:
        found = self._document.outline.find_agent(self._node_id) if self._node_id is not None else None
        if found is not None:
            self.agent_open_requested.emit(found[2].entry.agent)


def _left(button: QPushButton) -> QWidget:
    holder = QWidget()
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(button)
    layout.addStretch(1)
    return holder
