"""The right of the window while building: settings of what is selected, and of the workflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.builder import words
from app.builder.form_page import FormPage
from app.builder.workflow_page import WorkflowPage
from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.open_workflow import TYPING_PAUSE_MS
from app.plain_text import plain_tool_tip
from app.tab_bar import FlatTabBar
from app.why_not import tell_why_off

if TYPE_CHECKING:
    from app.builder.agent_page import AgentPage
    from app.builder.group_page import GroupPage
    from app.document import EditPlace, WorkflowDocument

SELECTION, WORKFLOW, LAST_RUN = 0, 1, 2


class SettingsPanel(QWidget):
    """Tabs: what is selected, the workflow, and a way to the last run. An edit is a command of the document.

    Signals: `agent_open_requested(str)` with an agent's name; `last_run_requested()`.
    """

    agent_open_requested = Signal(str)
    last_run_requested = Signal()

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._node_ids: tuple[int, ...] = ()
        self._locked = False
        self._group_page: GroupPage | None = None
        self._agent_page: AgentPage | None = None
        self.workflow_page = WorkflowPage(document, self)
        self.edit_agent_button = Button(self.tr("Edit agent…"), ButtonLook.OUTLINED, "square-pen", self)
        self.edit_agent_button.hide()
        self.remove_agent_button = Button(self.tr("Remove it here"), ButtonLook.OUTLINED, "trash-2", self)
        self.remove_agent_button.hide()
        self.tabs = FlatTabBar(self)
        self.tabs.set_page_color("surface")
        self.tabs.setAccessibleName(self.tr("Settings"))
        self.tabs.addTab(self.tr("Selection"))
        self.tabs.addTab(self.tr("Workflow"))
        self.tabs.addTab(self.tr("Last run"))
        self.tabs.setTabVisible(LAST_RUN, False)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.workflow_page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(0)
        tab_row = QHBoxLayout()
        tab_row.setContentsMargins(8, 0, 8, 0)
        tab_row.addWidget(self.tabs, 1)
        layout.addLayout(tab_row)
        layout.addWidget(self._pages, 1)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.tabs.currentChanged.connect(self._show_page)
        self.edit_agent_button.clicked.connect(self._open_agent)
        self.remove_agent_button.clicked.connect(self._remove_agent)
        document.stepped.connect(self._show_step)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(TYPING_PAUSE_MS)
        self._later.timeout.connect(self._refresh)
        document.changed.connect(self._follow)
        document.problems_changed.connect(self._refresh)
        document.in_force_changed.connect(self._refresh)
        # The folders that are usual go with the file.
        document.path_changed.connect(self._refresh)
        self.show_selection([])

    @property
    def group_page(self) -> GroupPage:
        """The page of selected groups; it is made now where it is not there yet."""
        if self._group_page is None:
            # Not needed for the first paint of the window, nor is the other page.
            from app.builder.group_page import GroupPage

            self._group_page = GroupPage(self._document, self)
            self._add_page(self._group_page)
        return self._group_page

    @property
    def agent_page(self) -> AgentPage:
        """The page of selected agents; it is made now where it is not there yet."""
        if self._agent_page is None:
            from app.builder.agent_page import AgentPage

            self._agent_page = AgentPage(self._document, self)
            self._agent_page.add_widget(_left(self.edit_agent_button, self.remove_agent_button))
            self._add_page(self._agent_page)
        return self._agent_page

    def _add_page(self, page: FormPage) -> None:
        tell_why_off(page.body, self.tr("Editing waits until the run ends."))
        page.body.setEnabled(not self._locked)
        self._pages.addWidget(page)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(684, 600)

    @Slot(object)
    def show_selection(self, node_ids: Sequence[int]) -> None:
        """Follow the selection of the workflow: what several agents or groups have in common is one page."""
        outline = self._document.outline
        there = tuple(node_id for node_id in node_ids if outline.group_of(node_id) is not None)
        changed = there != self._node_ids
        self._node_ids = there
        self.tabs.setTabVisible(SELECTION, bool(there))
        if changed:
            self.tabs.setCurrentIndex(SELECTION if there else WORKFLOW)
        self._refresh_selection()
        self._show_page()

    @Slot()
    def offer_last_run(self) -> None:
        """There is a run to look at: a tab leads to it."""
        self.tabs.setTabVisible(LAST_RUN, True)

    @Slot(str)
    def tell_last_run(self, words: str) -> None:
        """Whose run the tab leads to."""
        self.tabs.setTabToolTip(LAST_RUN, plain_tool_tip(words))

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
        if key.split(".")[0].split("[")[0] == "merge" and page is not self._agent_page:
            of_groups = self._group_page is not None and page is self._group_page
            rules = self.group_page.merge_rules if of_groups else self.workflow_page.merge_rules
            field = rules.path_field
        if field is None or not field.isEnabled():
            return False
        page.ensureWidgetVisible(field, 0, field.height())
        if row is not None:
            page.reveal(row)
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def set_locked(self, locked: bool) -> None:
        """While a run goes on: settings can be read, not changed."""
        self._locked = locked
        for page in (self.workflow_page, self._group_page, self._agent_page):
            if page is not None:
                page.body.setEnabled(not locked)

    @property
    def _groups(self) -> tuple[int, ...]:
        """The selection, where it is nothing but groups."""
        outline = self._document.outline
        groups = tuple(node_id for node_id in self._node_ids if outline.find_group(node_id) is not None)
        return groups if len(groups) == len(self._node_ids) else ()

    @property
    def _agents(self) -> tuple[int, ...]:
        """The selected agents, with those of selected groups."""
        return tuple(
            node.id
            for _, group, node in self._document.outline.all_agents()
            if node.id in self._node_ids or group.id in self._node_ids
        )

    @Slot()
    def _show_page(self) -> None:
        at = self.tabs.currentIndex()
        if at == LAST_RUN:
            self.tabs.setCurrentIndex(SELECTION if self._node_ids else WORKFLOW)
            self.last_run_requested.emit()
        elif at == WORKFLOW or not self._node_ids:
            self._pages.setCurrentWidget(self.workflow_page)
        else:
            self._pages.setCurrentWidget(self.group_page if self._groups else self.agent_page)

    @Slot(object)
    def _show_step(self, place: EditPlace) -> None:
        """After undo and redo: turn to the setting that changed."""
        if not place.fields:
            return
        inside = self._has_focus()
        if place.nodes:
            self.show_selection(place.nodes)
            self.tabs.setCurrentIndex(SELECTION if self._node_ids else WORKFLOW)
        else:
            self.show_workflow()
        page = self._pages.currentWidget()
        if isinstance(page, FormPage):
            row = next((row for row in page.rows() if row.objectName() in place.fields), None)
            if "merge" in place.fields and page is not self._agent_page:
                rules = self.workflow_page if page is self.workflow_page else self.group_page
                page.ensureWidgetVisible(rules.merge_rules)
            elif row is not None:
                page.reveal(row)
                # A key of the workflow's rows goes on to be theirs.
                if inside or not place.nodes:
                    row.take_focus()

    def _has_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @Slot()
    def _follow(self) -> None:
        """The field that is typed in is shown at once; what depends on it when nothing more is typed."""
        if self._document.is_typing:
            self._later.start()
        else:
            self._refresh()

    @Slot()
    def _refresh(self) -> None:
        self._later.stop()
        self.workflow_page.refresh()
        self._refresh_selection()

    def _refresh_selection(self) -> None:
        outline = self._document.outline
        there = tuple(node_id for node_id in self._node_ids if outline.group_of(node_id) is not None)
        if there != self._node_ids:
            self.show_selection(there)
            return
        if not there:
            return
        groups, agents = self._groups, self._agents
        self.edit_agent_button.setVisible(len(self._node_ids) == 1 and not groups)
        if groups:
            self.group_page.show_groups(groups)
            many = self.tr("{0} groups").format(len(groups))
            title = self._group_title(groups[0]) if len(groups) == 1 else many
        else:
            self.agent_page.show_agents(agents)
            found = outline.find_agent(agents[0]) if len(agents) == 1 else None
            title = self.tr("{0} agents").format(len(agents))
            if found is not None:
                title = words.agent_label(found[1], found[0].entry)
                self._offer_agent(found[2].entry.agent)
        self.tabs.setTabText(SELECTION, title.replace("&", "&&"))

    def _offer_agent(self, name: str) -> None:
        """An agent is edited; one that is not there is made, or taken away."""
        library = self._document.library
        missing = library is not None and library.get(name) is None and not library.problems_of(name)
        button = self.edit_agent_button
        button.setText(self.tr("Make this agent…") if missing else self.tr("Edit agent…"))
        button.set_icon_name("file-plus" if missing else "square-pen")
        button.updateGeometry()
        self.remove_agent_button.setVisible(missing and not self.edit_agent_button.isHidden())
        self.remove_agent_button.setEnabled(not self._locked)

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
        for node_id in self._agents[:1]:
            found = self._document.outline.find_agent(node_id)
            if found is not None:
                self.agent_open_requested.emit(found[2].entry.agent)

    @Slot()
    def _remove_agent(self) -> None:
        self._document.remove(self._agents[:1])


def _left(*buttons: Button) -> QWidget:
    holder = QWidget()
    layout = FlowLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    for button in buttons:
        layout.addWidget(button)
    return holder
