"""What tests of the settings share: a small workflow, the panel over it, and fingers for its fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.builder.form_page import FormPage
from app.builder.settings_panel import SettingsPanel
from app.document import NewStep, WorkflowDocument
from app.form_rows import ChoiceRow, TextRow
from core.agent import AgentLibrary


def two_agents(tmp_path: Path) -> WorkflowDocument:
    """vera and linter, in parallel in the loop."""
    for name, role in (("vera", "auditor"), ("linter", "style")):
        text = f"---\nname: {name}\nrole: {role}\ntimeout: 120\n---\nTest.\n"
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    document = WorkflowDocument()
    document.set_library(AgentLibrary(tmp_path), ("demo", "opencode"))
    document.insert_agents(["vera", "linter"], NewStep("loop", 0))
    document.set_mode([document.outline.loop[0].id], "parallel")
    document.undo_stack.clear()
    return document


def shown_panel(qtbot: QtBot, document: WorkflowDocument) -> SettingsPanel:
    """The panel on the screen."""
    panel = SettingsPanel(document)
    qtbot.addWidget(panel)
    panel.resize(684, 756)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def text_row(page: FormPage, label: str) -> TextRow:
    row = page.row(label)
    assert isinstance(row, TextRow)
    return row


def choose(qtbot: QtBot, page: FormPage, label: str, text: str) -> None:
    """Choose with the keyboard, as a user without a mouse does."""
    row = page.row(label)
    assert isinstance(row, ChoiceRow)
    row.box.setFocus()
    qtbot.keyClick(row.box, Qt.Key.Key_Home)
    for _ in range(row.box.count()):
        if text in row.box.currentText():
            return
        qtbot.keyClick(row.box, Qt.Key.Key_Down)
    pytest.fail(f"{label} has no choice {text}")


def retype(qtbot: QtBot, row: TextRow, text: str) -> None:
    row.field.setFocus()
    row.field.selectAll()
    qtbot.keyClick(row.field, Qt.Key.Key_Delete)
    qtbot.keyClicks(row.field, text)
