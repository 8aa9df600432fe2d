"""The settings: typed into real fields, checked while typed, undone like every edit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app import field_text
from app.builder import words
from app.builder.settings_panel import SELECTION, WORKFLOW, SettingsPanel
from app.document import NewStep, WorkflowDocument
from app.form_rows import CheckRow, ChoiceRow
from app.other_settings import SettingsSource
from core.config import AgentGroup
from core.platform_paths import config_folder
from core.problems import Severity
from core.settings_keys import Origin
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


def first_group(document: WorkflowDocument) -> AgentGroup:
    settings = document.outline.loop[0].settings
    assert isinstance(settings, AgentGroup)
    return settings


def test_an_end_condition_that_is_left_out_is_the_usual_one_and_can_be_left_out_again(
    qtbot: QtBot, document: WorkflowDocument, panel: SettingsPanel, tmp_path: Path
) -> None:
    path = tmp_path / "audit.json"
    path.write_text('{"loop_agents": ["vera"]}', encoding="utf-8")
    document.open(path)
    condition = panel.workflow_page.condition
    assert condition.field.text() == ""
    assert condition.field.placeholderText() == "is_complete == True (usual)"
    assert not condition.error.isVisible()
    retype(qtbot, condition, "iteration > 2")
    document.save()
    assert json.loads(path.read_text(encoding="utf-8"))["end_state_condition"] == "iteration > 2"

    qtbot.keyClick(condition.field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(condition.field, Qt.Key.Key_Delete)

    assert not condition.error.isVisible()
    assert not [each for each in document.problems if each.severity is Severity.ERROR]
    document.save()
    assert "end_state_condition" not in json.loads(path.read_text(encoding="utf-8"))


def test_an_empty_end_condition_in_the_file_is_wrong(
    document: WorkflowDocument, panel: SettingsPanel, tmp_path: Path
) -> None:
    path = tmp_path / "audit.json"
    path.write_text('{"loop_agents": ["vera"], "end_state_condition": ""}', encoding="utf-8")
    document.open(path)
    assert panel.workflow_page.condition.error.isVisible()
    assert any(each.place == "end_state_condition" for each in document.problems)


@pytest.mark.parametrize(
    "label", ["Budget", "Budget of a group", "Tokens, at most", "Time for an agent", "Prompt, at most"]
)
def test_a_setting_that_nobody_names_says_that_its_value_is_the_usual_one(
    label: str, panel: SettingsPanel
) -> None:
    assert text_row(panel.workflow_page, label).field.placeholderText().endswith(" (usual)")


def test_an_end_condition_is_checked_while_it_is_typed(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    condition = panel.workflow_page.condition
    retype(qtbot, condition, "payload.get('score', 0) >= ")
    assert condition.error.isVisible()
    assert condition.error.text().startswith("Column ")
    qtbot.keyClicks(condition.field, "90")
    assert not condition.error.isVisible()
    assert "score >= 90" in condition.note.text()
    assert "is_complete" in condition.note.text()
    assert document.settings.end_state_condition == "payload.get('score', 0) >= 90"
    retype(qtbot, condition, "__import__('os')")
    assert "Column 1" in condition.error.text()


def test_typing_in_one_field_is_one_step_of_undo_and_undo_is_shown(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    name = text_row(panel.workflow_page, "Name")
    retype(qtbot, name, "nightly audit")
    qtbot.keyClick(name.field, Qt.Key.Key_Return)
    assert document.settings.name == "nightly audit"
    assert document.undo_stack.count() == 1
    name.field.clearFocus()
    document.undo_stack.undo()
    assert name.field.text() == "workflow"


def test_a_value_that_cannot_be_is_explained_and_not_taken(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    loops = text_row(panel.workflow_page, "Loops, at most")
    retype(qtbot, loops, "none")
    assert "whole number" in loops.error.text()
    assert loops.error.isVisible()
    assert document.settings.max_loops == 10
    retype(qtbot, loops, "3")
    assert not loops.error.isVisible()
    assert document.settings.max_loops == 3
    qtbot.keyClick(loops.field, Qt.Key.Key_Up)
    assert document.settings.max_loops == 4


def test_an_empty_field_says_what_holds_then(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    document.update_settings("at once", {"max_parallel_agents": 7})
    panel.show_selection([document.outline.loop[0].id])
    at_once = text_row(panel.group_page, "At once")
    assert at_once.field.placeholderText() == "7"
    assert at_once.note.text() == "from the workflow"
    retype(qtbot, at_once, "2")
    assert first_group(document).max_parallel == 2
    assert at_once.note.text() == "for this group only"
    retype(qtbot, at_once, "")
    assert first_group(document).max_parallel is None


def test_a_groups_mode_and_policies_are_chosen(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    panel.show_selection([document.outline.loop[0].id])
    assert panel.tabs.tabText(SELECTION) == "Parallel group"
    choose(qtbot, panel.group_page, "When one fails", "Let the others finish")
    assert first_group(document).on_parallel_error == "continue"
    choose(qtbot, panel.group_page, "Complete when", "All agree")
    assert first_group(document).merge == {"is_complete": MergeRule.ALL}
    assert panel.group_page.row("Complete when").note.text() == "vera is the only one that may"
    choose(qtbot, panel.group_page, "Mode", "In sequence")
    assert first_group(document).mode == "sequential"
    assert panel.tabs.tabText(SELECTION) == "Group in sequence"
    timeout = text_row(panel.group_page, "Group timeout")
    retype(qtbot, timeout, "1 h 30 min")
    assert first_group(document).timeout == 5400.0
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert first_group(document) == AgentGroup(mode="parallel")


def test_what_cannot_run_yet_is_shown_with_its_reason_and_cannot_be_chosen(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    row = panel.workflow_page.row("Each agent works in")
    assert isinstance(row, ChoiceRow)
    assert any("cannot run yet" in row.box.itemText(at) for at in range(row.box.count()))
    row.box.setFocus()
    qtbot.keyClick(row.box, Qt.Key.Key_End)
    qtbot.keyClick(row.box, Qt.Key.Key_Down)
    assert document.settings.isolation == "shared"


def test_an_agents_place_has_overrides_and_says_what_it_inherits(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    node = document.outline.loop[0].agents[0]
    panel.show_selection([node.id])
    assert panel.tabs.tabText(SELECTION) == "vera"
    assert "may complete the loop" in panel.agent_page.head.text()
    limit = text_row(panel.agent_page, "Time limit")
    assert limit.field.placeholderText() == "2 min"
    assert limit.note.text() == "from the agent’s file"
    retype(qtbot, limit, "90")
    assert document.outline.loop[0].agents[0].entry.timeout == 90.0
    choose(qtbot, panel.agent_page, "Runs with", "demo")
    assert document.outline.loop[0].agents[0].entry.backend == "demo"
    enabled = panel.agent_page.row("Enabled")
    assert isinstance(enabled, CheckRow)
    enabled.box.setFocus()
    qtbot.keyClick(enabled.box, Qt.Key.Key_Space)
    assert not document.outline.loop[0].agents[0].entry.enabled
    with qtbot.waitSignal(panel.agent_open_requested) as opened:
        qtbot.mouseClick(panel.edit_agent_button, Qt.MouseButton.LeftButton)
    assert opened.args == ["vera"]


def test_merge_rules_are_added_changed_and_removed(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    rules = panel.workflow_page.merge_rules
    qtbot.keyClicks(rules.path_field, "payload.findings")
    qtbot.keyClick(rules.path_field, Qt.Key.Key_Return)
    assert document.settings.merge == {"payload.findings": MergeRule.APPEND}
    remove = next(button for button in rules.findChildren(QToolButton) if button.isVisibleTo(rules))
    remove.click()
    assert document.settings.merge == {}
    document.undo_stack.undo()
    assert document.settings.merge == {"payload.findings": MergeRule.APPEND}


def test_the_page_follows_the_selection_and_what_is_removed(
    panel: SettingsPanel, document: WorkflowDocument
) -> None:
    group = document.outline.loop[0]
    panel.show_selection([group.agents[1].id])
    assert panel.tabs.currentIndex() == SELECTION
    document.remove([group.agents[1].id])
    assert panel.tabs.currentIndex() == WORKFLOW
    assert not panel.tabs.isTabVisible(SELECTION)
    panel.show_selection([group.id])
    panel.show_workflow()
    document.update_settings("name", {"name": "x"})
    assert panel.tabs.currentIndex() == WORKFLOW


def test_while_locked_settings_can_be_read_but_not_typed_into(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    panel.set_locked(True)
    name = text_row(panel.workflow_page, "Name")
    assert name.field.isVisible()
    assert not name.field.isEnabled()
    panel.set_locked(False)
    assert name.field.isEnabled()


def test_every_field_has_a_name_for_those_who_hear_it(panel: SettingsPanel) -> None:
    for page in (panel.workflow_page, panel.group_page, panel.agent_page):
        for row in page.rows():
            assert row.control.accessibleName()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90 s", 90), ("1,5 min", 90), ("30 min", 1800), ("1h30min", 5400), ("none", 0), ("", None)],
)
def test_times_are_read_as_people_write_them(qapp: object, text: str, seconds: float | None) -> None:
    assert field_text.parse_duration(text) == seconds
    assert field_text.parse_duration(field_text.write_duration(seconds)) == seconds


@pytest.mark.parametrize("text", ["soon", "-5", "5 parsecs", "1 h x", "min"])
def test_times_that_are_none_are_refused(qapp: object, text: str) -> None:
    with pytest.raises(ValueError, match="time such as"):
        field_text.parse_duration(text)


@pytest.mark.parametrize(("text", "value"), [("$5", 5.0), ("0,50", 0.5), ("", None), (" 2. ", 2.0)])
def test_money_is_read_with_either_decimal_sign(qapp: object, text: str, value: float | None) -> None:
    assert field_text.parse_money(text) == value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("1,500", "en_US", 1500.0),
        ("1,500", "de_DE", 1.5),
        ("1.500", "de_DE", 1500.0),
        ("1.500", "en_US", 1.5),
        ("0.500", "de_DE", 0.5),
        ("0,500", "en_US", 0.5),
        ("1,500,000", "de_DE", 1500000.0),
        ("$1,500.50", "de_DE", 1500.5),
        ("1.500,50", "en_US", 1500.5),
        ("1 500", "en_US", 1500.0),
        ("1\u202f500,5", "fr_FR", 1500.5),
    ],
)
def test_thousands_of_dollars_are_not_taken_for_cents(
    qapp: object, text: str, locale: str, value: float
) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale(locale))
    try:
        assert field_text.parse_money(text) == value
        assert field_text.parse_money(field_text.write_money(value)) == value
        assert field_text.parse_money(field_text.write_money(1.234)) == 1.234
    finally:
        QLocale.setDefault(before)


@pytest.mark.parametrize("text", ["1,50,000", "1,5.0,0", "1.5.0", "15 00", ",", "1e3", "1,5000,2"])
def test_amounts_that_can_be_read_in_no_way_are_refused(qapp: object, text: str) -> None:
    with pytest.raises(ValueError, match="amount in dollars"):
        field_text.parse_money(text)


def test_arguments_are_split_as_in_a_shell(qapp: object) -> None:
    assert field_text.parse_arguments("--flag 'a b'") == ["--flag", "a b"]
    assert field_text.write_arguments(["--flag", "a b"]) == "--flag 'a b'"
    with pytest.raises(ValueError, match="quotation"):
        field_text.parse_arguments("'open")


def test_what_happens_at_a_cap_and_at_silence_is_chosen(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    """Pains 14 and 24."""
    page = panel.workflow_page
    assert document.settings.budget.when_reached == "stop"
    choose(qtbot, page, "When a cap is reached", "Let them finish")
    assert document.settings.budget.when_reached == "finish"
    silence = text_row(page, "Warn after silence")
    assert silence.field.placeholderText() == "2 min (usual)"
    retype(qtbot, silence, "none")
    assert document.settings.agent_idle_warning == 0
    retype(qtbot, silence, "90 s")
    assert document.settings.agent_idle_warning == 90
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert (document.settings.budget.when_reached, document.settings.agent_idle_warning) == ("stop", 120)


@pytest.fixture
def other_places(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    document: WorkflowDocument,
    panel: SettingsPanel,
    qtbot: QtBot,
) -> Iterator[SettingsSource]:
    """Settings of a project, of the user, and of the environment, around a workflow that says nothing."""
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENLOOP_RETRIES", "4")
    project = {"agent_timeout": 600, "on_parallel_error": "continue", "budget": {"max_cost_usd": 5}}
    (tmp_path / "openloop.json").write_text(json.dumps(project), encoding="utf-8")
    user = config_folder() / "openloop.json"
    user.parent.mkdir(parents=True)
    user.write_text(json.dumps({"agent_idle_timeout": 90, "finalize_on_abort": True}), encoding="utf-8")
    source = SettingsSource(document, panel)
    document.save_as(tmp_path / "audit.json")
    qtbot.waitUntil(lambda: document.in_force("agent_timeout").value == 600)
    yield source
    source.close()


@pytest.mark.usefixtures("other_places")
def test_a_field_that_the_workflow_does_not_fill_shows_what_holds_and_where_it_comes_from(
    panel: SettingsPanel, document: WorkflowDocument
) -> None:
    page = panel.workflow_page
    shown = {
        label: (text_row(page, label).field.text(), text_row(page, label).field.placeholderText())
        for label in ("Time for an agent", "Try again", "Budget", "Silence, at most", "Loops, at most")
    }
    assert shown == {
        "Time for an agent": ("", "10 min (openloop.json)"),
        "Try again": ("", "4 (OPENLOOP_RETRIES)"),
        "Budget": ("", "5 (openloop.json)"),
        "Silence, at most": ("", "90 s (your settings)"),
        "Loops, at most": ("", "10 (usual)"),
    }
    failing = page.row("When one fails")
    assert isinstance(failing, ChoiceRow)
    assert failing.box.currentText() == "Let the others finish (openloop.json)"
    finalization = page.row("Finalization")
    assert isinstance(finalization, CheckRow)
    assert finalization.box.isChecked()
    assert "your settings" in finalization.box.text()
    header = words.group_header(document.outline.loop[0], document.settings_in_force)
    assert "continue on error" in header.text


@pytest.mark.usefixtures("other_places")
def test_what_the_workflow_says_wins_also_a_default_and_can_be_taken_back(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot, tmp_path: Path
) -> None:
    time = text_row(panel.workflow_page, "Time for an agent")
    retype(qtbot, time, "30 min")
    assert document.in_force("agent_timeout").origin is Origin.WORKFLOW
    document.save()
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))["agent_timeout"] == 1800
    retype(qtbot, time, "")
    assert document.in_force("agent_timeout").value == 600
    document.save()
    assert "agent_timeout" not in json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("other_places")
def test_the_environment_overrules_a_field_and_the_field_says_so(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    retries = text_row(panel.workflow_page, "Try again")
    retype(qtbot, retries, "2")
    assert document.settings.retries == 2
    assert retries.note.text() == "overruled: 4, by OPENLOOP_RETRIES"


def test_settings_of_a_project_are_read_again_when_they_changed(
    other_places: SettingsSource, panel: SettingsPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "openloop.json").write_text('{"agent_timeout": 60}', encoding="utf-8")
    other_places.refresh()
    time = text_row(panel.workflow_page, "Time for an agent")
    qtbot.waitUntil(lambda: time.field.placeholderText() == "1 min (openloop.json)")


@pytest.mark.usefixtures("other_places")
def test_groups_and_places_name_the_place_that_they_inherit_from(
    panel: SettingsPanel, document: WorkflowDocument
) -> None:
    group = document.outline.loop[0]
    panel.show_selection([group.id])
    on_error = panel.group_page.row("When one fails")
    assert isinstance(on_error, ChoiceRow)
    assert on_error.box.currentText() == "Let the others finish (openloop.json)"
    assert panel.group_page.row("At once").note.text() == "the usual one"
    document.insert_agents(["proteus"], NewStep("preparation", 0))
    panel.show_selection([document.outline.preparation[0].agents[0].id])
    time = text_row(panel.agent_page, "Time limit")
    assert (time.field.placeholderText(), time.note.text()) == ("10 min", "from openloop.json")
    document.update_settings("time", {"agent_timeout": 60.0})
    assert (time.field.placeholderText(), time.note.text()) == ("1 min", "from the workflow")
