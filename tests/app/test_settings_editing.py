"""The settings as a place to work in: completion, several at once, undo in fields, room for long words."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QTimer, QTranslator
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog, QStackedWidget
from pytestqt.qtbot import QtBot

from app.builder.folder_row import FolderRow
from app.builder.form_page import FormPage
from app.builder.settings_panel import LAST_RUN, SELECTION, SettingsPanel
from app.builder.workflow_model import WorkflowModel
from app.completion import FieldCompletion
from app.document import NewStep, WorkflowDocument
from app.form_rows import CheckRow, ChoiceRow
from app.other_settings import SettingsSource
from app.problem_text import errors_of
from core.agent import AgentLibrary
from core.known_payload import KnownPayload, PathUse, ValueKind
from core.state import MergeRule
from tests.app.settings_support import choose, retype, shown_panel, text_row, two_agents

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def document(qapp: object, tmp_path: Path) -> WorkflowDocument:
    del qapp
    return two_agents(tmp_path)


@pytest.fixture
def panel(qtbot: QtBot, document: WorkflowDocument) -> SettingsPanel:
    return shown_panel(qtbot, document)


# --- completion ----------------------------------------------------------------------------------------


@pytest.fixture
def telling(document: WorkflowDocument, tmp_path: Path) -> WorkflowDocument:
    """Agents that are told of places of the payload, and earlier runs that wrote some."""
    (tmp_path / "vera.md").write_text(
        "---\nname: vera\nmodel: acme/large\n---\n"
        "Read payload.review['summary'] and `payload.get('round')`.\n",
        encoding="utf-8",
    )
    document.set_library(AgentLibrary(tmp_path), ("demo", "opencode"))
    document.set_known(
        KnownPayload(
            uses={
                "linter": (
                    PathUse("linter", "payload.score", frozenset({ValueKind.NUMBER}), "86"),
                    PathUse("linter", "payload.findings", frozenset({ValueKind.TEXTS}), "[]"),
                )
            },
            runs=1,
        )
    )
    return document


def suggested(completion: FieldCompletion) -> list[str]:
    """What the open list offers; nothing where it is closed."""
    model = completion.popup.model()
    if not completion.popup.isVisible():
        return []
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_the_list_of_suggestions_leaves_the_sentence_in_sight_that_says_what_is_wrong(
    qtbot: QtBot, panel: SettingsPanel, telling: WorkflowDocument
) -> None:
    del telling
    condition, completion = panel.workflow_page.condition, panel.workflow_page.completion
    retype(qtbot, condition, "sco")
    assert condition.error.isVisible()
    assert completion.popup.isVisible()
    error = QRect(condition.error.mapToGlobal(QPoint(0, 0)), condition.error.size())
    assert not completion.popup.frameGeometry().intersects(error)
    field = QRect(condition.field.mapToGlobal(QPoint(0, 0)), condition.field.size())
    assert not completion.popup.frameGeometry().intersects(field.adjusted(0, 4, 0, -4))
    completion.popup.hide()


def test_a_condition_is_completed_with_names_and_known_places(
    panel: SettingsPanel, telling: WorkflowDocument, qtbot: QtBot
) -> None:
    condition, completion = panel.workflow_page.condition, panel.workflow_page.completion
    retype(qtbot, condition, "sco")
    assert suggested(completion) == ["payload.get('score', 0)"]
    qtbot.keyClick(completion.popup, Qt.Key.Key_Return)
    assert condition.field.text() == "payload.get('score', 0)"
    assert not completion.popup.isVisible()
    qtbot.keyClicks(condition.field, " >= 90 and ite")
    assert suggested(completion) == ["iteration"]
    qtbot.keyClick(completion.popup, Qt.Key.Key_Tab)
    qtbot.keyClicks(condition.field, " > 1")
    assert telling.settings.end_state_condition == "payload.get('score', 0) >= 90 and iteration > 1"
    assert not condition.error.isVisible()
    assert telling.undo_stack.count() == 1


def test_a_word_in_the_middle_is_replaced_alone(
    panel: SettingsPanel, telling: WorkflowDocument, qtbot: QtBot
) -> None:
    condition, completion = panel.workflow_page.condition, panel.workflow_page.completion
    retype(qtbot, condition, "len() > 3")
    condition.field.setCursorPosition(4)
    qtbot.keyClicks(condition.field, "payload.fi")
    assert suggested(completion) == ["payload.get('findings', [])"]
    qtbot.keyClick(completion.popup, Qt.Key.Key_Return)
    assert telling.settings.end_state_condition == "len(payload.get('findings', [])) > 3"


@pytest.mark.usefixtures("telling")
def test_control_and_space_shows_everything_and_escape_takes_nothing(
    panel: SettingsPanel, qtbot: QtBot
) -> None:
    condition, completion = panel.workflow_page.condition, panel.workflow_page.completion
    retype(qtbot, condition, "")
    assert suggested(completion) == []
    qtbot.keyClick(condition.field, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    offered = suggested(completion)
    assert "is_complete" in offered
    assert "payload.get('review', {}).get('summary')" in offered
    assert "payload.get('round')" in offered
    qtbot.keyClick(completion.popup, Qt.Key.Key_Escape)
    assert condition.field.text() == ""
    qtbot.keyClicks(condition.field, "payload['sc")
    assert suggested(completion) == ["score"], "inside quotes: keys alone"
    qtbot.keyClick(completion.popup, Qt.Key.Key_Escape)


def test_paths_of_merge_rules_are_completed_but_for_those_that_have_one(
    panel: SettingsPanel, telling: WorkflowDocument, qtbot: QtBot
) -> None:
    telling.update_settings("merge rules", {"merge": {"payload.score": MergeRule.MAX}})
    rules = panel.workflow_page.merge_rules
    qtbot.keyClicks(rules.path_field, "payload.")
    assert suggested(rules.completion) == [
        "payload.findings",
        "payload.review.summary",
        "payload.round",
    ]
    qtbot.keyClick(rules.completion.popup, Qt.Key.Key_Down)
    qtbot.keyClick(rules.completion.popup, Qt.Key.Key_Return)
    assert rules.path_field.text() == "payload.findings"
    qtbot.keyClick(rules.path_field, Qt.Key.Key_Return)
    assert telling.settings.merge["payload.findings"] is MergeRule.APPEND


def test_a_new_path_that_begins_as_a_known_one_is_not_replaced(
    panel: SettingsPanel, telling: WorkflowDocument, qtbot: QtBot
) -> None:
    rules = panel.workflow_page.merge_rules
    qtbot.keyClicks(rules.path_field, "payload.find")
    assert suggested(rules.completion) == ["payload.findings"]
    qtbot.keyClick(rules.completion.popup, Qt.Key.Key_Return)
    assert telling.settings.merge == {"payload.find": MergeRule.APPEND}
    assert not rules.completion.popup.isVisible()


def test_models_are_completed(panel: SettingsPanel, telling: WorkflowDocument, qtbot: QtBot) -> None:
    panel.show_selection([telling.outline.loop[0].agents[1].id])
    model = text_row(panel.agent_page, "Model")
    qtbot.keyClicks(model.field, "lar")
    assert suggested(panel.agent_page.models) == ["acme/large"]
    qtbot.keyClick(panel.agent_page.models.popup, Qt.Key.Key_Tab)
    assert telling.outline.loop[0].agents[1].entry.model == "acme/large"


# --- several at once -----------------------------------------------------------------------------------


def test_several_agents_are_edited_together_in_one_step(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    vera, linter = document.outline.loop[0].agents
    document.update_agent(vera.id, "model", model="opus")
    document.undo_stack.clear()
    panel.show_selection([vera.id, linter.id])
    assert panel.tabs.tabText(SELECTION) == "2 agents"
    model = text_row(panel.agent_page, "Model")
    assert (model.field.text(), model.field.placeholderText()) == ("", "various")
    assert not panel.edit_agent_button.isVisible()
    retype(qtbot, model, "haiku")
    qtbot.keyClick(model.field, Qt.Key.Key_Return)
    assert [node.entry.model for node in document.outline.loop[0].agents] == ["haiku", "haiku"]
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert [node.entry.model for node in document.outline.loop[0].agents] == ["opus", None]


def test_what_depends_on_a_text_follows_when_nothing_more_is_typed_and_a_run_has_it_at_once(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    model = WorkflowModel(document)
    painted: list[object] = []
    model.dataChanged.connect(lambda first, last, roles: painted.append(first))
    pause = model.findChild(QTimer)
    assert pause is not None
    pause.setInterval(60_000)
    panel.show_workflow()
    condition = panel.workflow_page.condition
    retype(qtbot, condition, "iteration > 2")
    assert painted == []
    assert document.snapshot().workflow.end_state_condition == "iteration > 2"
    assert document.undo_stack.count() == 1
    pause.start(0)
    qtbot.waitUntil(lambda: bool(painted))
    retype(qtbot, condition, "iteration > ")
    assert "missing after" in condition.error.text()
    assert [problem.place for problem in errors_of(document.problems)] == ["end_state_condition"]
    document.undo_stack.undo()
    assert condition.field.text() == ""


def test_the_workflows_model_is_shown_only_for_agents_that_run_with_opencode(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    document.update_settings("model", {"opencode_defaults.model": "a/b"})
    vera, linter = document.outline.loop[0].agents
    document.update_agent(vera.id, "runs with", backend="demo")

    def said(*nodes: int) -> tuple[str, str]:
        panel.show_selection(nodes)
        model = text_row(panel.agent_page, "Model")
        return model.field.placeholderText(), model.note.text()

    assert said(vera.id) == ("as the backend is set up", "a/b is for agents that run with opencode")
    assert said(linter.id) == ("a/b", "from the workflow")
    assert said(vera.id, linter.id)[0] == "various"
    document.update_settings("backend", {"backend": "demo"})
    assert said(linter.id)[0] == "as the backend is set up"


def test_several_groups_show_what_they_have_in_common(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    document.insert_agents(["linter"], NewStep("loop", 1))
    first, second = document.outline.loop
    panel.show_selection([first.id, second.id])
    assert panel.tabs.tabText(SELECTION) == "2 groups"
    mode = panel.group_page.row("Mode")
    assert isinstance(mode, ChoiceRow)
    assert (mode.box.currentIndex(), mode.box.placeholderText()) == (-1, "various")
    assert not panel.group_page.merge_rules.isVisible()
    limit = text_row(panel.group_page, "Group timeout")
    retype(qtbot, limit, "1 h")
    assert [group.settings.timeout for group in document.outline.loop] == [3600.0, 3600.0]
    choose(qtbot, panel.group_page, "Complete when", "All agree")
    rules = [group.settings.merge for group in document.outline.loop]
    assert rules == [{"is_complete": MergeRule.ALL}] * 2
    choose(qtbot, panel.group_page, "Mode", "Parallel")
    assert [group.settings.mode for group in document.outline.loop] == ["parallel", "parallel"]


def test_a_mixed_check_box_says_yes_or_no_after_a_click(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    vera, linter = document.outline.loop[0].agents
    document.set_enabled([vera.id], False)
    panel.show_selection([vera.id, linter.id])
    row = panel.agent_page.row("Enabled")
    assert isinstance(row, CheckRow)
    assert row.box.checkState() is Qt.CheckState.PartiallyChecked
    row.box.setFocus()
    qtbot.keyClick(row.box, Qt.Key.Key_Space)
    assert row.box.checkState() is Qt.CheckState.Checked
    assert all(node.entry.enabled for node in document.outline.loop[0].agents)


# --- undo while a field has the focus ------------------------------------------------------------------


@pytest.fixture
def undoing(panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot) -> SettingsPanel:
    """The panel with the window's actions for undo and redo."""
    for keys, do in (("Ctrl+Z", document.undo_stack.undo), ("Ctrl+Shift+Z", document.undo_stack.redo)):
        action = QAction(panel)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(do)
        panel.addAction(action)
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    return panel


CONTROL = Qt.KeyboardModifier.ControlModifier


def test_undo_in_a_field_is_the_undo_of_the_workflow(
    undoing: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    document.update_settings("loops", {"max_loops": 3})
    document.end_merging()
    name = text_row(undoing.workflow_page, "Name")
    retype(qtbot, name, "nightly")
    qtbot.keyClick(name.field, Qt.Key.Key_Z, CONTROL)
    assert (document.settings.name, name.field.text()) == ("workflow", "workflow")
    qtbot.keyClick(name.field, Qt.Key.Key_Z, CONTROL)
    assert document.settings.max_loops == 10
    loops = text_row(undoing.workflow_page, "Loops, at most")
    assert loops.field.hasFocus(), "undo leads to the field that changed"
    qtbot.keyClick(loops.field, Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(loops.field, Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert (document.settings.max_loops, document.settings.name) == (3, "nightly")
    assert (name.field.text(), name.field.selectedText()) == ("nightly", "nightly")


def test_undo_takes_back_a_text_that_was_refused_before_anything_else(
    undoing: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    document.update_settings("name", {"name": "audit"})
    loops = text_row(undoing.workflow_page, "Loops, at most")
    retype(qtbot, loops, "many")
    assert loops.error.isVisible()
    qtbot.keyClick(loops.field, Qt.Key.Key_Z, CONTROL)
    assert not loops.error.isVisible()
    assert document.settings.name == "audit"
    qtbot.keyClick(loops.field, Qt.Key.Key_Z, CONTROL)
    assert document.settings.name == "workflow"


def test_undo_turns_to_the_group_and_the_field_that_changed(
    undoing: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    group = document.outline.loop[0]
    undoing.show_selection([group.id])
    retype(qtbot, text_row(undoing.group_page, "Group timeout"), "60")
    undoing.show_selection([])
    retype(qtbot, text_row(undoing.workflow_page, "Name"), "x")
    name = text_row(undoing.workflow_page, "Name")
    qtbot.keyClick(name.field, Qt.Key.Key_Z, CONTROL)
    qtbot.keyClick(name.field, Qt.Key.Key_Z, CONTROL)
    assert undoing.tabs.currentIndex() == SELECTION
    timeout = text_row(undoing.group_page, "Group timeout")
    assert timeout.field.hasFocus()
    assert timeout.field.text() == ""


def test_a_tab_leads_to_the_last_run_once_there_is_one(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    assert not panel.tabs.isTabVisible(LAST_RUN)
    panel.offer_last_run()
    panel.show_selection([document.outline.loop[0].id])
    with qtbot.waitSignal(panel.last_run_requested):
        qtbot.mouseClick(panel.tabs, Qt.MouseButton.LeftButton, pos=panel.tabs.tabRect(LAST_RUN).center())
    assert panel.tabs.currentIndex() == SELECTION, "back in the settings they are as they were"


# --- words and places ----------------------------------------------------------------------------------


def test_a_chosen_folder_is_written_relative_to_the_file(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "work" / "tree").mkdir(parents=True)
    document.save_as(tmp_path / "audit.json")
    row = panel.workflow_page.row("Work folder")
    assert isinstance(row, FolderRow)
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    dialog = row.place.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "work" / "tree"))
    dialog.close()
    assert row.field.text() == "work/tree"
    assert document.settings.workdir == "work/tree"
    assert document.undo_stack.undoText() == "Change work folder"
    row.take(str(tmp_path.parent))
    assert document.settings.workdir == str(tmp_path.parent)


def test_merge_rules_of_other_places_are_shown_where_they_come_from(
    panel: SettingsPanel, document: WorkflowDocument, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "openloop.json").write_text(
        '{"merge": {"payload.score": "max", "payload.findings": "append"}}', encoding="utf-8"
    )
    document.save_as(tmp_path / "audit.json")
    source = SettingsSource(document)
    rules = panel.workflow_page.merge_rules
    qtbot.waitUntil(lambda: "payload.score" in rules.elsewhere)
    source.close()
    assert rules.elsewhere["payload.score"] == (MergeRule.MAX, "from openloop.json")
    document.update_settings("merge rules", {"merge": {"payload.score": MergeRule.MIN}})
    assert "payload.score" not in rules.elsewhere, "the workflow says otherwise"
    panel.show_selection([document.outline.loop[0].id])
    of_group = panel.group_page.merge_rules.elsewhere
    assert of_group["payload.score"] == (MergeRule.MIN, "from the workflow")
    assert of_group["payload.findings"] == (MergeRule.APPEND, "from openloop.json")


def test_choices_that_say_nothing_say_what_holds(panel: SettingsPanel, document: WorkflowDocument) -> None:
    document.update_settings("errors", {"on_parallel_error": "continue", "merge": {"is_complete": "all"}})
    panel.show_selection([document.outline.loop[0].id])
    shown = {}
    for row in panel.group_page.rows():
        if isinstance(row, ChoiceRow):
            shown[row.label.text()] = row.box.currentText()
    assert shown["When one fails"] == "Let the others finish (workflow)"
    assert shown["Work folder"] == "The shared work folder (usual)"
    assert shown["Complete when"] == "All agree (workflow)"


class _Longer(QTranslator):
    """Every text 40 % longer, as other languages have it."""

    def translate(self, context: str, text: str, disambiguation: str | None = None, number: int = -1) -> str:
        del context, disambiguation, number
        words = " ünd nöch mehr Wörter"
        return text + (words * (len(text) // 50 + 1))[: max(3, len(text) * 2 // 5)]

    def isEmpty(self) -> bool:  # noqa: N802
        return False


@pytest.mark.parametrize("width", [400, 428, 684, 1800])
def test_nothing_is_cut_off_in_any_width_when_texts_are_longer(
    qapp: QApplication, qtbot: QtBot, document: WorkflowDocument, width: int
) -> None:
    longer = _Longer()
    qapp.installTranslator(longer)
    try:
        panel = SettingsPanel(document)
        qtbot.addWidget(panel)
        panel.resize(width, 640)
        panel.show()
        qtbot.waitExposed(panel)
        for selection in ([], [document.outline.loop[0].id], [document.outline.loop[0].agents[0].id]):
            panel.show_selection(selection)
            qapp.processEvents()
            page = panel.findChild(QStackedWidget).currentWidget()
            assert isinstance(page, FormPage)
            room = page.viewport().width()
            assert page.body.width() <= room
            for row in page.rows():
                for part in (row.label, row.control, row.note):
                    if part.isVisible():
                        right = part.mapTo(page.body, part.rect().topRight()).x()
                        assert right < room, f"{row.label.text()} ends outside"
                        assert part.height() >= part.heightForWidth(part.width()), part
                if isinstance(row, ChoiceRow):
                    shown = row.box.currentText()
                    assert row.box.fitting(shown) == shown
    finally:
        qapp.removeTranslator(longer)
