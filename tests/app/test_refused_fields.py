"""Text in a field that cannot be its value: a problem that keeps a run from starting, never half a value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app import field_text
from app.builder.settings_panel import SettingsPanel
from app.builder.workflow_view import WorkflowView
from app.document import WorkflowDocument
from app.file_actions import FileActions
from app.notice_bar import NoticeArea
from app.problem_text import errors_of
from app.recent_files import RecentFiles
from app.settings_store import SettingsStore
from tests.app.settings_support import retype, shown_panel, text_row, two_agents

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def document(qapp: object, tmp_path: Path) -> WorkflowDocument:
    del qapp
    document = two_agents(tmp_path)
    document.save_as(tmp_path / "audit.json")
    return document


@pytest.fixture
def panel(qtbot: QtBot, document: WorkflowDocument) -> SettingsPanel:
    panel = shown_panel(qtbot, document)
    panel.show_workflow()
    return panel


def refused_places(document: WorkflowDocument) -> list[str]:
    return [problem.place for problem in errors_of(document.problems) if "cannot be “" in problem.message]


def test_a_refused_field_of_the_workflow_is_an_error_until_it_is_put_right(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel
) -> None:
    budget = text_row(panel.workflow_page, "Budget of a group")
    retype(qtbot, budget, "5 pounds")
    assert refused_places(document) == ["budget.max_cost_usd_per_group"]
    assert "Budget of a group" in errors_of(document.problems)[0].message
    retype(qtbot, budget, "5 USD")
    assert refused_places(document) == []
    assert document.settings.budget.max_cost_usd_per_group == 5


def test_what_is_refused_is_never_half_taken(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel
) -> None:
    loops = text_row(panel.workflow_page, "Loops, at most")
    before = document.settings.max_loops
    steps = document.undo_stack.count()
    retype(qtbot, loops, "20x")
    assert document.settings.max_loops == before
    assert document.undo_stack.count() == steps + 1
    QTest.keyClick(loops.field, Qt.Key.Key_Backspace)
    assert document.settings.max_loops == 20
    assert refused_places(document) == []


def test_undo_and_redo_take_the_refused_text_back_and_bring_it_again(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel
) -> None:
    loops = text_row(panel.workflow_page, "Loops, at most")
    shown = loops.field.text()
    retype(qtbot, loops, "many")
    document.undo_stack.undo()
    assert (loops.field.text(), loops.error.isHidden(), refused_places(document)) == (shown, True, [])
    document.undo_stack.redo()
    assert (loops.field.text(), loops.error.isHidden()) == ("many", False)
    assert refused_places(document) == ["max_loops"]


def test_a_refused_field_of_a_group_and_of_an_agent_stands_at_its_place(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel
) -> None:
    group = document.outline.loop[0]
    panel.show_selection([group.id])
    retype(qtbot, text_row(panel.group_page, "Group timeout"), "soon")
    panel.show_selection([group.agents[0].id])
    time = text_row(panel.agent_page, "Time limit")
    assert time.field.text() == ""
    retype(qtbot, time, "late")
    assert refused_places(document) == ["loop_agents[0].timeout", "loop_agents[0].agents[0].timeout"]
    panel.show_selection([group.id])
    assert text_row(panel.group_page, "Group timeout").field.text() == "soon"
    document.remove([group.id])
    assert refused_places(document) == []


def test_a_problem_leads_to_its_field_and_the_sentence_below_it(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel
) -> None:
    panel.resize(500, 260)
    cap = text_row(panel.workflow_page, "Tokens, at most")
    retype(qtbot, cap, "lots")
    viewport = panel.workflow_page.viewport()

    def in_view() -> bool:
        bottom = cap.error.mapTo(viewport, cap.error.rect().bottomLeft()).y()
        return cap.error.isVisible() and 0 <= bottom < viewport.height()

    qtbot.waitUntil(in_view)
    panel.workflow_page.verticalScrollBar().setValue(0)
    panel.workflow_page.condition.field.setFocus()
    assert not in_view()
    assert panel.show_field(refused_places(document)[0])
    qtbot.waitUntil(in_view)
    assert cap.field.hasFocus()
    panel.resize(500, 200)
    qtbot.waitUntil(in_view)


def test_the_list_of_problems_selects_the_group_of_a_refused_field(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel
) -> None:
    view = WorkflowView(document)
    qtbot.addWidget(view)
    group = document.outline.loop[0]
    panel.show_selection([group.id])
    retype(qtbot, text_row(panel.group_page, "Group timeout"), "soon")
    assert view.select_problem(errors_of(document.problems)[0])
    assert view.tree.currentIndex() == view.model.index_of(group.id)


def test_closing_asks_before_a_refused_text_is_lost(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel, tmp_path: Path
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    recent = RecentFiles("Recent", SettingsStore(tmp_path / "settings.json"), window)
    files = FileActions(document, NoticeArea(window), recent, window)
    retype(qtbot, text_row(panel.workflow_page, "Loops, at most"), "20x")
    files.save()
    assert document.is_modified
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8")).get("max_loops") != 20
    files.when_saved(lambda: None)
    assert isinstance(files.question, QMessageBox)
    assert "“Loops, at most” of audit.json" in files.question.text()
    files.question.reject()


@pytest.mark.parametrize("text", ["$5", "$ 5", "5 USD", "5USD", "USD 5", "5 $", "5$", "US$5"])
def test_dollars_may_be_called_so(qapp: object, text: str) -> None:
    assert field_text.parse_money(text) == 5


@pytest.mark.parametrize("text", ["$", "USD", "5 U", "5 EUR", "$5$", "5 USDT"])
def test_what_is_no_amount_of_dollars_is_refused(qapp: object, text: str) -> None:
    with pytest.raises(ValueError, match="amount in dollars"):
        field_text.parse_money(text)
