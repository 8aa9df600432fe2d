"""A page of the settings, however narrow it is."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.builder.settings_panel import SettingsPanel
from app.builder.workflow_page import WorkflowPage
from app.document import WorkflowDocument


def test_a_narrow_page_is_as_wide_as_its_room(qtbot: QtBot) -> None:
    # With the least width of its rows, which depends on how wide they are, Qt went from one width to the
    # other within the same call, and the window never came.
    panel = SettingsPanel(WorkflowDocument())
    qtbot.addWidget(panel)
    panel.resize(600, 650)
    panel.show()
    page = panel.findChild(WorkflowPage)
    assert page is not None
    body = page.widget()
    assert body is not None
    for width in range(150, 300, 3):
        panel.resize(width, 650)
        assert body.width() == page.viewport().width(), width
