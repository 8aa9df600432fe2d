"""The page that edits one agent: its front matter as a form, its prompt as Markdown, and its problems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal, SignalInstance, Slot
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

import resources
from app.agent_editor.draft import AgentDraft, Disk
from app.agent_editor.file_notices import REFUSED, RELOADED, SAVING, FileNotices
from app.agent_editor.form import AgentForm
from app.agent_editor.head import AgentHead
from app.agent_editor.preview import PromptPreview
from app.agent_editor.problem_list import ProblemList
from app.agent_editor.prompt_pane import PromptPane
from app.agent_editor.refusals import fields_in_words, problems_of
from app.document import WorkflowDocument
from app.notice_bar import NoticeArea
from app.outline import Unfinished
from app.problem_text import problem_lines
from app.question import Choice, ask
from app.tab_bar import FlatTabBar
from app.theme import is_appearance_event
from app.why_not import offer
from core.agent_writing import ChangedOnDiskError, FieldValue
from core.front_matter import FrontMatterError
from core.problems import Problem, Severity, UserFileError

EDIT, PREVIEW, WHOLE = 0, 1, 2
"""The tabs."""
SIDE_BY_SIDE = 900
"""Pixels from which on the prompt and its preview are beside each other."""
SETTLE_MS = 200
"""Problems and preview follow when nothing was typed for so long."""


class AgentEditor(QWidget):
    """Shows one draft at a time.

    The keys of saving, undo, redo, find and close are the editor's while the focus is inside it, and the
    window's elsewhere.

    Signals: `draft_saved(AgentDraft)`; `renamed(str, str)`: it was saved under another name;
    `close_requested()`; `other_requested(Path)`: show another draft; `copy_requested(Path)`: copy an example
    to an own folder; `message(str)`.
    """

    draft_saved = Signal(object)
    renamed = Signal(str, str)
    close_requested = Signal()
    other_requested = Signal(object)
    copy_requested = Signal(object)
    message = Signal(str)

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.draft: AgentDraft | None = None
        self.question: QMessageBox | None = None
        self.head = AgentHead(self)
        self.notices = NoticeArea(self)
        self.file_notices = FileNotices(self.notices, self)
        self.tabs = FlatTabBar(self)
        self.tabs.set_page_color("surface")
        self.tabs.setAccessibleName(self.tr("Ways to look at the agent"))
        for text in (self.tr("Edit"), self.tr("Preview"), self.tr("Whole file")):
            self.tabs.addTab(text)
        self.form = AgentForm(document, self)
        self.prompt = PromptPane(self.tr("Prompt"), self)
        self.whole = PromptPane(self.tr("Whole file"), self, whole=True)
        self.preview = PromptPreview(self)
        self.problems = ProblemList(self)
        self._nothing = QLabel(self.tr("No agent is open. Choose “Edit agent…” in the list of agents."), self)
        self._arrange()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._follow_text)
        self._connect()
        self._show_state()

    def _arrange(self) -> None:
        self.upright = QSplitter(Qt.Orientation.Vertical, self)
        self.upright.setObjectName("agent editor")
        self.upright.setHandleWidth(1)
        self.upright.setChildrenCollapsible(False)
        self.upright.addWidget(self.form)
        self.upright.addWidget(self.prompt)
        self.upright.setStretchFactor(0, 2)
        self.upright.setStretchFactor(1, 3)
        self.form.setMinimumHeight(84)
        self.beside = QSplitter(Qt.Orientation.Horizontal, self)
        self.beside.setObjectName("agent preview")
        self.beside.setHandleWidth(1)
        self.beside.setChildrenCollapsible(False)
        self.beside.addWidget(self.upright)
        self.beside.addWidget(self.preview)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.beside)
        self._stack.addWidget(self.whole)
        tab_row = QHBoxLayout()
        tab_row.setContentsMargins(8, 2, 8, 0)
        tab_row.addWidget(self.tabs, 1)
        self._page = QWidget(self)
        page = QVBoxLayout(self._page)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.head)
        page.addWidget(self.notices)
        page.addLayout(tab_row)
        page.addWidget(self._stack, 1)
        page.addWidget(self.problems)
        self._nothing.setWordWrap(True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._nothing.setContentsMargins(24, 24, 24, 24)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._page)
        layout.addWidget(self._nothing, 1)

    def _connect(self) -> None:
        self.head.save_requested.connect(self.save)
        self.head.revert_requested.connect(self.revert)
        self.file_notices.save_requested.connect(self.save)
        self.file_notices.copy_requested.connect(self.copy_requested)
        self.head.close_requested.connect(self.close_requested)
        self.head.other_chosen.connect(self.other_requested)
        self.head.undo.triggered.connect(self.undo)
        self.head.redo.triggered.connect(self.redo)
        self.head.find_action.triggered.connect(self.find_text)
        self.head.menu.aboutToShow.connect(self._show_menu)
        self.tabs.currentChanged.connect(self._turn)
        self.form.edited.connect(self._set_field)
        self.form.refused.connect(self._refuse_field)
        self.file_notices.field_requested.connect(self.go_to_field)
        self.file_notices.rest_requested.connect(self.save_rest)
        self.form.finished.connect(self._end_merging)
        self.form.others_requested.connect(self._show_others)
        self.problems.chosen.connect(self.show_problem)
        self.preview.web_link_clicked.connect(self._ask_to_open)
        for part in (self.form, self.prompt, self.whole):
            part.undo_requested.connect(self.undo)
            part.redo_requested.connect(self.redo)
        self._document.changed.connect(self.form.refresh)
        self._document.in_force_changed.connect(self.form.refresh)
        self._document.problems_changed.connect(self._settle.start)

    # --- which draft -----------------------------------------------------------------------------------

    def show_draft(self, draft: AgentDraft | None) -> None:
        """Edit this draft; the one before is only not looked at any more. None: none is open."""
        if draft is self.draft:
            return
        if self.draft is not None:
            self._commit()
            for signal, slot in self._slots(self.draft):
                signal.disconnect(slot)
            self._remember_place(self.draft)
        self.draft = draft
        self.file_notices.follow(draft)
        self.prompt.show_document(draft.prompt if draft is not None else None)
        self.whole.show_document(None)
        if draft is not None:
            for signal, slot in self._slots(draft):
                signal.connect(slot)
            self._show_view()
            self._restore_place(draft)
        self._show_state()
        self._show_fields()
        self._follow_text()

    def _slots(self, draft: AgentDraft) -> tuple[tuple[SignalInstance, Callable[..., object]], ...]:
        return (
            (draft.fields_changed, self._show_fields),
            (draft.text_changed, self._settle.start),
            (draft.view_changed, self._show_view),
            (draft.modified_changed, self._show_state),
            (draft.disk_changed, self._show_state),
        )

    def _remember_place(self, draft: AgentDraft) -> None:
        draft.place = (self.prompt.edit.textCursor().position(), self.prompt.edit.verticalScrollBar().value())

    def _restore_place(self, draft: AgentDraft) -> None:
        cursor = self.prompt.edit.textCursor()
        cursor.setPosition(min(draft.place[0], draft.prompt.characterCount() - 1))
        self.prompt.edit.setTextCursor(cursor)
        self.prompt.edit.verticalScrollBar().setValue(draft.place[1])

    # --- what is shown ---------------------------------------------------------------------------------

    @Slot()
    def _show_state(self) -> None:
        draft = self.draft
        self._page.setVisible(draft is not None)
        self._nothing.setVisible(draft is None)
        if draft is None:
            return
        self.head.show_agent(draft.name, draft.path)
        self.head.show_state(
            modified=draft.is_modified,
            can_save=not draft.is_example and draft.disk is not Disk.CHANGED,
            is_example=draft.is_example,
            refused=fields_in_words(draft.refused),
            waits=draft.disk is Disk.CHANGED,
        )
        self.form.setEnabled(not draft.is_example)
        for pane in (self.prompt, self.whole):
            pane.edit.setReadOnly(draft.is_example)

    @Slot()
    def _show_fields(self) -> None:
        draft = self.draft
        if draft is not None:
            self.form.show_agent(draft.agent, draft.keys, draft.path, self._about_name, draft.refused)
            self.file_notices.follow_refused()
            self._show_state()

    @Slot()
    def _show_view(self) -> None:
        """The whole text came or went."""
        draft = self.draft
        if draft is None:
            return
        why_not = draft.why_not_by_field if draft.whole is not None else ""
        for tab in (EDIT, PREVIEW):
            self.tabs.setTabEnabled(tab, not why_not)
        self.whole.show_document(draft.whole)
        if draft.whole is not None:
            self.tabs.setCurrentIndex(WHOLE)
        elif self.tabs.currentIndex() == WHOLE:
            self.tabs.setCurrentIndex(EDIT)
        self._place_parts()

    @Slot(int)
    def _turn(self, tab: int) -> None:
        draft = self.draft
        if draft is None:
            return
        self._commit()
        if tab == WHOLE:
            draft.open_whole()
        elif not draft.close_whole():
            self.tabs.setCurrentIndex(WHOLE)
            return
        self._place_parts()
        self._follow_text()
        if tab == WHOLE:
            self.whole.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_parts(self) -> None:
        tab = self.tabs.currentIndex()
        self._stack.setCurrentWidget(self.whole if tab == WHOLE else self.beside)
        wide = self.width() >= SIDE_BY_SIDE
        self.form.setVisible(tab == EDIT)
        self.upright.setVisible(tab == EDIT or wide)
        self.preview.setVisible(tab == PREVIEW)
        # Who turns to the page goes on in the text.
        self.setFocusProxy({EDIT: self.prompt, PREVIEW: self.preview, WHOLE: self.whole}[tab])

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place_parts()

    @Slot()
    def _follow_text(self) -> None:
        """Problems and preview of the text as it is now."""
        self._settle.stop()
        draft = self.draft
        if draft is None:
            return
        problems = [*problems_of(draft.refused), *draft.problems(), *self._problems_among_others(draft)]
        self.problems.show_problems(problems)
        lines = [problem.line for problem in problems if problem.line is not None]
        self.whole.edit.set_problem_lines(lines)
        if draft.whole is not None:
            why_not = draft.why_not_by_field
            for tab in (EDIT, PREVIEW):
                self.tabs.setTabEnabled(tab, not why_not)
        elif self.tabs.currentIndex() == PREVIEW:
            self.preview.show_text(draft.prompt.shown())

    def _problems_among_others(self, draft: AgentDraft) -> list[Problem]:
        """What only the other agents tell: a name that is taken."""
        library, agent = self._document.library, draft.agent
        other = library.get(agent.name) if library is not None and agent is not None else None
        if other is None or other.path is None or other.path == draft.path or draft.whole is not None:
            return []
        if _is_shipped(other.path) or _is_shipped(draft.path):
            # An own agent hides a shipped one of its name, as it should.
            return []
        text = self.tr("There is another agent called {0}, in {1}; only one of them is used.")
        return [
            Problem(
                text.format(other.name, other.path.name),
                "name",
                self.tr("Give this one another name."),
                Severity.WARNING,
            )
        ]

    def _about_name(self) -> str:
        draft = self.draft
        if draft is None or draft.agent is None:
            return ""
        uses = self._document.uses_of(draft.saved_name)
        if draft.name != draft.saved_name and uses:
            text = self.tr("{0} uses “{1}”; when you save you can rename it there too")
            return text.format(self._document.title, draft.saved_name)
        return "" if "name" in draft.keys else self.tr("from the file’s name")

    @Slot(object)
    def show_problem(self, problem: Problem) -> None:
        """Go to the place of a problem: its field, else its line."""
        draft = self.draft
        if draft is None:
            return
        if draft.refused_text(problem.place) is not None and self.go_to_field(problem.place):
            return
        if draft.whole is None and problem.place and self.form.isVisible() and self.form.go_to(problem.place):
            return
        if problem.line is not None:
            self.tabs.setCurrentIndex(WHOLE)
            self.whole.edit.go_to(problem.line, problem.column)

    @Slot(str)
    def go_to_field(self, key: str) -> bool:
        """Show the form and go to this field of it; False where that cannot be."""
        self.tabs.setCurrentIndex(EDIT)
        return self.tabs.currentIndex() == EDIT and self.form.go_to(key)

    @Slot()
    def _show_others(self) -> None:
        self.tabs.setCurrentIndex(WHOLE)
        self.whole.edit.go_to(1)

    # --- edits -----------------------------------------------------------------------------------------

    @Slot(str, object, str)
    def _set_field(self, key: str, value: FieldValue, label: str) -> None:
        draft = self.draft
        if draft is None:
            return
        try:
            draft.set_field(key, value, self.tr("Change {0}").format(label))
        except UserFileError as error:
            self.form.refuse(key, " ".join(problem_lines(error.problems)))
        except FrontMatterError as error:
            self.form.refuse(key, error.message)
        else:
            self.form.rows[key].show_error("")

    @Slot(str, object, str)
    def _refuse_field(self, key: str, typed: Unfinished, field: str) -> None:
        if self.draft is not None:
            label = self.tr("Change {0}").format(field.lower())
            self.draft.refuse_field(key, field, typed.text, typed.mistake, label)

    @Slot()
    def _end_merging(self) -> None:
        if self.draft is not None:
            self.draft.end_merging()

    def _commit(self) -> None:
        if self.draft is not None:
            self.draft.end_merging()

    @Slot()
    def undo(self) -> None:
        """Take back the last edit of this agent."""
        if self.draft is not None and not self.draft.is_example:
            self.draft.end_merging()
            self.draft.undo()

    @Slot()
    def redo(self) -> None:
        """Make it again."""
        if self.draft is not None and not self.draft.is_example:
            self.draft.redo()

    @Slot()
    def find_text(self) -> None:
        """Find in what is edited."""
        if self.tabs.currentIndex() == PREVIEW and not self.upright.isVisible():
            self.tabs.setCurrentIndex(EDIT)
        pane = self.whole if self.tabs.currentIndex() == WHOLE else self.prompt
        pane.find_bar.open()

    @Slot()
    def _show_menu(self) -> None:
        draft = self.draft
        if draft is not None:
            shipped = self.tr("This agent comes with OpenLoop and is not changed in place.")
            own = not draft.is_example
            nothing = self.tr("Nothing was changed here that could be undone.") if own else shipped
            offer(self.head.undo, own and draft.can_undo, nothing)
            nothing = self.tr("Nothing was undone here.") if own else shipped
            offer(self.head.redo, own and draft.can_redo, nothing)
            offer(self.head.delete, own, shipped)
            there = draft.disk is not Disk.GONE
            offer(self.head.open_elsewhere, there, self.tr("Its file was moved or deleted."))

    # --- the file --------------------------------------------------------------------------------------

    @Slot()
    def save(self) -> bool:
        """Save the draft; False where that was not possible, and then a notice says why. What is on the
        screen and cannot be saved keeps it from being saved without a word."""
        draft = self.draft
        if draft is not None and draft.refused and not draft.is_example:
            self._commit()
            self.file_notices.say_refused()
            return False
        return self.save_rest()

    @Slot()
    def save_rest(self) -> bool:
        """Save what can be saved; a text that is no value of its field stays there, unsaved."""
        draft = self.draft
        if draft is None or draft.is_example or not draft.is_modified:
            return draft is not None and not draft.is_modified
        self._commit()
        old_name = draft.saved_name
        try:
            draft.save()
        except ChangedOnDiskError:
            return False
        except UserFileError as error:
            self.file_notices.say_not_saved(error)
            return False
        for name in (SAVING, RELOADED, REFUSED):
            self.notices.dismiss(name)
        if draft.refused:
            text = self.tr("{0} is saved without {1}.")
            self.message.emit(text.format(draft.path.name, fields_in_words(draft.refused)))
        else:
            self.message.emit(self.tr("{0} is saved.").format(draft.path.name))
        self._show_fields()
        self.draft_saved.emit(draft)
        if draft.saved_name != old_name:
            self.renamed.emit(old_name, draft.saved_name)
        return True

    @Slot()
    def revert(self) -> None:
        """Go back to the saved file."""
        if self.draft is not None:
            try:
                self.draft.revert()
            except UserFileError as error:
                self.file_notices.say_unreadable(error)

    # --- links -----------------------------------------------------------------------------------------

    @Slot(str)
    def _ask_to_open(self, address: str) -> None:
        """An agent's file may come from anybody: nothing is opened by a click alone."""
        self.question = ask(
            self,
            self.tr("Open this address in the browser?"),
            address,
            (Choice(self.tr("Open"), lambda: QDesktopServices.openUrl(QUrl(address))),),
            self.tr("Cancel"),
        )
        self.question.finished.connect(self._forget_question)

    @Slot()
    def _forget_question(self) -> None:
        self.question = None

    # --- keys ------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """These keys belong to who has the focus."""
        override = event.type() == QEvent.Type.ShortcutOverride and self.draft is not None
        if override and isinstance(event, QKeyEvent) and self._action_of(event) is not None:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        action = self._action_of(event)
        if event.key() == Qt.Key.Key_Escape and self.draft is not None:
            # One level back, as from a run of the history; what is unsaved is kept.
            self.close_requested.emit()
        elif action is None or self.draft is None:
            super().keyPressEvent(event)
        else:
            action()

    def _action_of(self, event: QKeyEvent) -> Callable[[], object] | None:
        keys = QKeySequence.StandardKey
        actions: tuple[tuple[QKeySequence.StandardKey, Callable[[], object]], ...] = (
            (keys.Save, self.save),
            (keys.Undo, self.undo),
            (keys.Redo, self.redo),
            (keys.Find, self.find_text),
            (keys.Close, self.close_requested.emit),
        )
        return next((action for key, action in actions if event.matches(key)), None)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "preview"):
            self.preview.follow_theme()


def _is_shipped(path: Path) -> bool:
    return path.is_relative_to(resources.folder().absolute())
