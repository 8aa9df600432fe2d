"""Cut, copy, paste, select all: of agents and groups in the workflow, of text in a field with the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMenuBar, QWidget
from shiboken6 import isValid

from app.builder.clipboard import pieces_in, pieces_payload
from app.builder.workflow_model import Kind, WorkflowModel
from app.document import InGroup, NewStep, Target, WorkflowDocument
from app.theme import icon
from app.why_not import offer
from core.workflow_pieces import PieceError

if TYPE_CHECKING:
    from app.builder.workflow_tree import WorkflowTree


class ClipboardActions(QObject):
    """The keys work while the tree has the focus. Chosen from a menu while something else has it, an action
    does there what its key would do: text fields keep what is theirs.

    Signals: `message(str)` with a sentence about what was pasted or why nothing was.
    """

    message = Signal(str)

    def __init__(self, document: WorkflowDocument, model: WorkflowModel, tree: WorkflowTree) -> None:
        super().__init__(tree)
        self._document = document
        self._model = model
        self._tree = tree
        key = QKeySequence.StandardKey
        self.cut = self._action(self.tr("Cu&t"), "scissors", key.Cut)
        self.copy = self._action(self.tr("&Copy"), "copy", key.Copy)
        self.paste = self._action(self.tr("&Paste"), "clipboard-paste", key.Paste)
        self.select_all = self._action(self.tr("Select &all"), None, key.SelectAll)
        self.cut.triggered.connect(self._cut)
        self.copy.triggered.connect(self._copy)
        self.paste.triggered.connect(self._paste)
        self.select_all.triggered.connect(self._select_all)
        self._before_menu: QWidget | None = None
        """What had the focus when the menu bar took it, to be used with keys."""
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._remember)
            application.focusChanged.connect(self.update_enabled)
        self.update_enabled()

    def _action(self, text: str, icon_name: str | None, key: QKeySequence.StandardKey) -> QAction:
        action = QAction(text, self)
        if icon_name is not None:
            action.setIcon(icon(icon_name, "quiet"))
        action.setShortcuts(key)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._tree.addAction(action)
        return action

    @property
    def all(self) -> tuple[QAction, ...]:
        """Cut, copy and paste, for menus."""
        return (self.cut, self.copy, self.paste)

    @Slot(QWidget, QWidget)
    def _remember(self, before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(now, QMenuBar):
            if before is not None and not isinstance(before, QMenuBar):
                self._before_menu = before
        elif now is not None:
            self._before_menu = None

    @Slot()
    def update_enabled(self) -> None:
        """Offer what fits the focus and the selection."""
        other = self._other_focus()
        if other is not None:
            writable = bool(other.inputMethodQuery(Qt.InputMethodQuery.ImEnabled))
            for action in (self.copy, self.select_all):
                action.setEnabled(True)
            for action in (self.cut, self.paste):
                offer(action, writable, self.tr("The text that has the focus cannot be changed."))
            return
        nodes, editable = bool(self._tree.selected_nodes()), not self._model.locked
        waits = self.tr("Editing waits until the run ends.")
        nothing = self.tr("Nothing is selected in the workflow.")
        offer(self.copy, nodes, nothing)
        offer(self.cut, nodes and editable, nothing if editable else waits)
        # Whether it has something to paste is asked when it is to be: its owner may be slow to tell.
        offer(self.paste, editable, waits)
        self.select_all.setEnabled(True)

    def _other_focus(self) -> QWidget | None:
        """What has the focus and is not the workflow; None: nothing else has it."""
        focused: QWidget | None = self._tree.window().focusWidget()
        if isinstance(focused, QMenuBar):
            # Its menus are about what had the focus before.
            before = self._before_menu
            focused = before if before is not None and isValid(before) else None
        return None if focused is None or focused is self._tree else focused

    def _left_to_focus(self, key: Qt.Key) -> bool:
        """Let what has the focus do what this key does there."""
        other = self._other_focus()
        if other is None:
            return False
        control = Qt.KeyboardModifier.ControlModifier
        sequence = QKeySequence(QKeyCombination(control, key))
        place: QWidget | None = other
        while place is not None:
            for action in place.actions():
                if action.parent() is not self and action.isEnabled() and sequence in action.shortcuts():
                    action.trigger()
                    return True
            place = place.parentWidget()
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(other, QKeyEvent(kind, key, control))
        return True

    # --- what they do ----------------------------------------------------------------------------------

    @Slot()
    def _copy(self) -> None:
        if not self._left_to_focus(Qt.Key.Key_C):
            self._take(self._tree.selected_nodes())

    @Slot()
    def _cut(self) -> None:
        if self._left_to_focus(Qt.Key.Key_X):
            return
        nodes = self._tree.selected_nodes()
        if nodes and not self._model.locked:
            self._take(nodes)
            self._document.cut(nodes)

    def _take(self, nodes: list[int]) -> None:
        if nodes:
            QGuiApplication.clipboard().setMimeData(pieces_payload(self._document.pieces(nodes)))

    @Slot()
    def _paste(self) -> None:
        if self._left_to_focus(Qt.Key.Key_V) or self._model.locked:
            return
        try:
            pieces = pieces_in(QGuiApplication.clipboard().mimeData())
        except PieceError as error:
            self.message.emit(
                self.tr(
                    "Nothing was pasted. {0} Copy agents or groups, or a piece of a workflow file."
                ).format(error)
            )
            return
        new = self._document.paste(pieces, self._agents_target(), self._step_target())
        self._tree.select_nodes(new)
        if new:
            self._tree.scrollTo(self._model.index_of(new[-1]))
            self._tree.scrollTo(self._model.index_of(new[0]))

    @Slot()
    def _select_all(self) -> None:
        if not self._left_to_focus(Qt.Key.Key_A):
            self._tree.select_nodes([node.id for _, _, node in self._document.outline.all_agents()])

    # --- where a paste goes ----------------------------------------------------------------------------

    def _agents_target(self) -> Target:
        """Behind the last selected agent, at the end of a selected group; else a step of their own."""
        for node_id in reversed(self._tree.selected_nodes()):
            agent, group = (
                self._document.outline.find_agent(node_id),
                self._document.outline.find_group(node_id),
            )
            if agent is not None:
                return InGroup(agent[1].id, agent[0].entry + 1)
            if group is not None and not group[2].is_fan_out:
                return InGroup(node_id, len(group[2].agents))
            break
        return self._step_target()

    def _step_target(self) -> NewStep:
        """Behind the last selected step; at the end of the selected phase, else of the loop."""
        outline = self._document.outline
        for node_id in reversed(self._tree.selected_nodes()):
            found = outline.group_of(node_id)
            if found is not None:
                return NewStep(found[0], found[1] + 1)
        index = self._tree.currentIndex()
        if self._tree.selectionModel().isSelected(index) and self._model.kind(index) is Kind.PHASE:
            phase = self._model.phase(index)
            return NewStep(phase, len(outline.groups(phase)))
        return NewStep("loop", len(outline.loop))
