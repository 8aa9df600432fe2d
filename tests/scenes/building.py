"""Scenes of building: start page, workflow, settings, problems, completion, the agent editor."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import resources
from app.agent_editor.editor import PREVIEW, WHOLE
from app.form_rows import TextRow
from tests.scenes.catalogue import scene
from tests.scenes.stage import Stage

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def open_audit(stage: Stage) -> None:
    """Open the audit example."""
    stage.open(resources.example_workflow("audit"))


# --- the start page -----------------------------------------------------------------------------------


@scene()
def start_page(stage: Stage) -> None:
    """The start page of the first start: examples, new, open."""
    stage.window.starting.begin(None)
    stage.settle()


@scene()
def start_page_with_recent(stage: Stage) -> None:
    """The start page with workflows that were open before, one of which is gone."""
    for name in ("nightly review of the payment service", "release_notes", "gone"):
        stage.workflow(name, loop_agents=["author", "auditor"])
        assert stage.window.files.load(stage.folder / f"{name}.json")
    (stage.folder / "gone.json").unlink()
    stage.window.starting.show_page()
    recent = stage.window.starting.page.recent
    stage.until(lambda: any(file.changed for file in recent.files()), "the files were never looked at")
    stage.settle()


# --- the workflow -------------------------------------------------------------------------------------


@scene()
def empty_workflow(stage: Stage) -> None:
    """A new workflow: every phase says what it is for; there are no agents yet."""
    stage.open_new("untitled")


@scene()
def workflow(stage: Stage) -> None:
    """The audit example, with the settings of its parallel group."""
    open_audit(stage)
    stage.select_group("vera")


@scene()
def agent_in_workflow(stage: Stage) -> None:
    """The settings of one agent at its place."""
    open_audit(stage)
    stage.select("vera")


@scene()
def several_agents(stage: Stage) -> None:
    """Several agents selected: what they have in common is edited together."""
    open_audit(stage)
    stage.select("amala", "vera", "linter")


@scene()
def workflow_settings(stage: Stage) -> None:
    """The settings of the workflow."""
    stage.open(resources.example_workflow("pipeline"))
    stage.window.settings_panel.show_workflow()
    stage.settle()


@scene()
def initial_payload(stage: Stage) -> None:
    """The payload that a run begins with, with a mistake in it that is told with its place."""
    payload = {"goal": "faster", "review": {"score": 0, "files": ["app.py", "core.py"]}}
    stage.agent("author")
    stage.open_new("nightly", loop_agents=["author"], initial_payload=payload)
    panel = stage.window.settings_panel
    panel.show_workflow()
    assert panel.show_field("initial_payload")
    field = QApplication.focusWidget()
    assert field is not None
    QTest.keyClick(field, Qt.Key.Key_Home, CONTROL)
    QTest.keyClick(field, Qt.Key.Key_End)
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClicks(field, '"budget": 5')
    stage.until(lambda: len(stage.document.problems) > 0, "the problem was never found")
    stage.settle()


@scene()
def completion(stage: Stage) -> None:
    """Names and known places of the payload are offered while an end condition is typed."""
    open_audit(stage)
    panel = stage.window.settings_panel
    panel.show_workflow()
    assert panel.show_field("end_state_condition")
    field = QApplication.focusWidget()
    assert field is not None
    QTest.keyClick(field, Qt.Key.Key_A, CONTROL)
    QTest.keyClicks(field, "payload.get('score', 0) >= 90 and ")
    QTest.keyClick(field, Qt.Key.Key_Space, CONTROL)
    stage.settle()


@scene()
def problems(stage: Stage) -> None:
    """Problems of a workflow, with what would solve them."""
    stage.agent("author", "author", demo={"writes": {"score": 1}})
    stage.agent("vera", "auditor", model="large")
    stage.agent("approver", "approver")
    stage.agent("proteus", "analyst")
    stage.open_new(
        "nightly",
        preparation_agents=["proteus"],
        loop_agents=["author", {"agents": ["vera", "approver"], "mode": "parallel"}, "veera"],
        end_state_condition="payload.get('score', 0) >= 90 and",
        max_lops=4,
    )
    stage.until(lambda: len(stage.document.problems) >= 3, "the problems were never found")
    stage.select_group("vera")


@scene()
def demonstration_agent(stage: Stage) -> None:
    """An agent that comes with OpenLoop stands where the workflow has none of its own."""
    stage.agent("builder", "author")
    stage.open_new("nightly", loop_agents=["builder", "reviewer"], finalization_agents=["reporter"])
    stage.until(lambda: len(stage.document.problems) == 2, "the problems were never found")
    stage.settle()


@scene()
def dragging(stage: Stage) -> None:
    """An agent of the list is dragged into the workflow: a gap opens, and a line says what a drop does."""
    open_audit(stage)
    tree = stage.window.workflow_view.tree
    pool = stage.window.pool
    index = pool.filtered.index(0, 0, pool.filtered.index(0, 0))
    data = pool.filtered.mimeData([index])
    model = stage.window.workflow_view.model
    row = model.index_of(stage.node("linter"))
    body = tree.anatomy.boxes(row, tree.visualRect(row)).body
    point = QPoint(body.center().x(), body.bottom() - 2)
    arguments = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(tree.viewport(), QDragEnterEvent(point, *arguments))
    QApplication.sendEvent(tree.viewport(), QDragMoveEvent(point, *arguments))
    QTest.qWait(200)
    stage.settle()


@scene()
def context_menu(stage: Stage) -> None:
    """The context menu of an agent in the workflow."""
    from PySide6.QtGui import QContextMenuEvent

    open_audit(stage)
    stage.select("vera")
    view = stage.window.workflow_view
    tree = view.tree
    point = tree.visualRect(view.model.index_of(stage.node("vera"))).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, tree.viewport().mapToGlobal(point))
    QApplication.sendEvent(tree.viewport(), event)
    stage.settle()


# --- the agent editor ---------------------------------------------------------------------------------

_PROMPT = """You judge what the author changed, and nobody else does.

## How you work

1. Read `payload.changes`; open each file that it names.
2. Run the tests. A test that was there before and is gone is a finding.
3. Give a **score** from 0 to 100; see [the rules](https://example.com/rules).

```json
{"payload": {"score": 86, "findings": []}}
```

> Never mend anything yourself.
"""


def edit_agent(stage: Stage) -> None:
    """Open an agent of the project in the editor."""
    stage.agent("vera", "auditor", _PROMPT, description="Judges and scores", can_complete=True)
    stage.agent("author", "author")
    stage.open_new("nightly", loop_agents=["author", "vera"])
    stage.window.agent_editing.edit(stage.folder / "agents" / "vera.md")
    stage.settle()


@scene()
def agent_editor(stage: Stage) -> None:
    """An agent in the editor: front matter as a form, the prompt as Markdown."""
    edit_agent(stage)


@scene()
def agent_editor_unsaved(stage: Stage) -> None:
    """An agent with unsaved changes and problems, changed by another program, too."""
    edit_agent(stage)
    path = stage.folder / "agents" / "vera.md"
    editor = stage.window.agent_editing.editor
    draft = editor.draft
    assert draft is not None
    draft.set_field("timeout", -5, "Change the time limit")
    draft.set_field("backend", "opencoed", "Change the backend")
    editor.prompt.edit.textCursor().insertText("Be strict. ")
    path.write_text(path.read_text("utf-8") + "\nBe kind.\n", "utf-8")
    stage.window.agent_editing.drafts.look()
    stage.until(lambda: editor.notices.names, "the change on disk was never noticed")
    QTest.qWait(250)
    stage.settle()


@scene()
def agent_preview(stage: Stage) -> None:
    """The prompt of an agent as it reads."""
    edit_agent(stage)
    stage.window.agent_editing.editor.tabs.setCurrentIndex(PREVIEW)
    stage.settle()


@scene()
def agent_with_broken_front_matter(stage: Stage) -> None:
    """An agent whose YAML is broken: the whole file, and what is wrong in which line."""
    path = stage.folder / "agents" / "vera.md"
    path.write_text('---\nname: vera\nrole: "auditor\ncan_complete: [yes\n---\nYou judge.\n', "utf-8")
    stage.agent("author", "author")
    stage.open_new("nightly", loop_agents=["author"])
    stage.window.agent_editing.edit(path)
    assert stage.window.agent_editing.editor.tabs.currentIndex() == WHOLE
    stage.settle()


@scene()
def example_agent(stage: Stage) -> None:
    """An agent that comes with OpenLoop is shown, and can be copied."""
    open_audit(stage)
    stage.window.agent_editing.edit(resources.agents_folder() / "audit" / "vera.md")
    stage.settle()


@scene()
def new_agent(stage: Stage) -> None:
    """The dialog for a new agent."""
    stage.agent("author", "author")
    stage.open_new("nightly", loop_agents=["author"])
    stage.window.agents.new_agent()
    dialog = stage.window.agents.dialog
    assert dialog is not None
    name = dialog.rows["name"]
    assert isinstance(name, TextRow)
    QTest.keyClicks(name.field, "security_auditor")
    stage.settle()


@scene()
def rename_agent(stage: Stage) -> None:
    """What an agent is to be called, what follows, and who does not."""
    stage.agent("author", "author")
    stage.workflow("weekly", loop_agents=["author"])
    stage.open_new("nightly", loop_agents=["author", {"agents": ["author"], "mode": "parallel"}])
    stage.window.pool.select_agent("author")
    stage.window.pool.rename_action.trigger()
    dialog = stage.window.agent_editing.renaming.dialog
    assert dialog is not None
    QTest.keyClicks(dialog.row.field, "writer")
    stage.until(lambda: "weekly.json" in dialog.about.text(), "the other workflow was never found")
    stage.settle()


@scene()
def renamed_agent(stage: Stage) -> None:
    """An agent was saved under another name: what still knows it by the old one is said."""
    edit_agent(stage)
    name = stage.window.agent_editing.editor.form.rows["name"]
    assert isinstance(name, TextRow)
    name.field.setFocus()
    QTest.keyClick(name.field, Qt.Key.Key_A, CONTROL)
    QTest.keyClicks(name.field, "writer")
    stage.window.agent_editing.editor.save()
    stage.settle()


@scene()
def delete_agent(stage: Stage) -> None:
    """The question whether an agent's file goes to the trash."""
    edit_agent(stage)
    stage.window.agents.delete_file(stage.folder / "agents" / "vera.md", "vera")
    stage.settle()
