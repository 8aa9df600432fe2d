"""The pool of agents: found, filtered, looked at safely, and put into the workflow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

import resources
from app.builder import mime
from app.builder.agent_pool import AgentPool
from app.builder.agent_pool_model import agent_at
from app.why_not import why_not
from core.agent import AgentLibrary

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def write(folder: Path, name: str, role: str = "author", text: str = "Work.") -> None:
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {path.stem}\nrole: {role}\n---\n{text}\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "audit/vera", "auditor")
    write(tmp_path, "audit/linter", "style")
    write(tmp_path, "authors/amala")
    write(tmp_path, "alone", "")
    (tmp_path / "broken.md").write_text("---\nname: [\n---\nNo.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def pool(qtbot: QtBot, folder: Path) -> Iterator[AgentPool]:
    pool = AgentPool()
    tester = QAbstractItemModelTester(pool.filtered, QAbstractItemModelTester.FailureReportingMode.Fatal)
    qtbot.addWidget(pool)
    pool.resize(224, 700)
    pool.set_library(AgentLibrary(folder))
    pool.show()
    qtbot.waitExposed(pool)
    yield pool
    del tester


def shown(pool: AgentPool) -> list[str]:
    """The rows from top to bottom, folders with a slash."""

    def below(parent: QModelIndex) -> Iterator[str]:
        for row in range(pool.filtered.rowCount(parent)):
            index = pool.filtered.index(row, 0, parent)
            has_agents = pool.filtered.hasChildren(index)
            yield f"{index.data()}/" if has_agents else str(index.data())
            yield from below(index)

    return list(below(QModelIndex()))


def test_agents_stand_under_their_folders_and_broken_files_come_first_there(pool: AgentPool) -> None:
    assert shown(pool) == [
        "broken.md",
        "alone",
        "audit/",
        "linter",
        "vera",
        "authors/",
        "amala",
    ]


def test_a_broken_file_stands_before_the_agents_of_its_own_folder(pool: AgentPool, folder: Path) -> None:
    (folder / "broken.md").rename(folder / "audit" / "zoe.md")
    pool.set_library(AgentLibrary(folder))
    assert shown(pool) == ["alone", "audit/", "zoe.md", "linter", "vera", "authors/", "amala"]


def test_numbers_in_names_are_sorted_as_people_do(pool: AgentPool, tmp_path: Path) -> None:
    for name in ("many_10", "many_2", "many_1"):
        write(tmp_path / "many", name)
    pool.set_library(AgentLibrary(tmp_path / "many"))
    assert shown(pool) == ["many_1", "many_2", "many_10"]


def test_a_broken_file_is_told_once(pool: AgentPool) -> None:
    pool.tree.setCurrentIndex(pool.filtered.index(0, 0))
    said = pool.preview.summary.text()
    assert said
    assert said not in pool.preview.text.toPlainText()
    assert "broken.md" in pool.preview.text.toPlainText()


def test_a_workflow_without_agents_of_its_own_is_offered_to_make_one(
    pool: AgentPool, folder: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    assert not pool.own_note.isVisible()
    own = tmp_path / "own" / "agents"
    pool.set_library(AgentLibrary([own, folder]))
    assert "vera" in shown(pool)
    assert pool.own_note.isVisible()
    with qtbot.waitSignal(pool.new_agent_requested):
        qtbot.mouseClick(pool.first_button, Qt.MouseButton.LeftButton)
    write(own, "mine")
    pool.set_library(AgentLibrary([own, folder]))
    assert not pool.own_note.isVisible()


def test_the_head_of_the_agents_has_a_button_for_a_new_one(pool: AgentPool, qtbot: QtBot) -> None:
    assert pool.add_button.accessibleName() == "New agent…"
    with qtbot.waitSignal(pool.new_agent_requested):
        qtbot.mouseClick(pool.add_button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("name", ["amala", "a_very_long_name_of_an_agent_that_needs_the_whole_row"])
def test_a_long_name_leaves_room_for_the_role(
    pool: AgentPool, tmp_path: Path, name: str, qtbot: QtBot
) -> None:
    """What is painted with a role differs from what is painted without one."""
    rows = []
    for role in ("auditor", ""):
        write(tmp_path / "long", name, role)
        pool.set_library(AgentLibrary(tmp_path / "long"))
        pool.tree.clearSelection()
        row = pool.tree.visualRect(pool.filtered.index(0, 0))
        rows.append(pool.tree.viewport().grab(row).toImage())
    assert rows[0] != rows[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("LINT", ["audit/", "linter"]),
        ("auditor", ["audit/", "vera"]),
        ("authors am", ["authors/", "amala"]),
        ("nothing like it", []),
    ],
)
def test_the_filter_looks_at_name_role_and_folder(pool: AgentPool, words: str, expected: list[str]) -> None:
    pool.filter_field.setText(words)
    assert shown(pool) == expected


def test_a_filter_without_a_match_says_so_and_escape_clears_it(pool: AgentPool, qtbot: QtBot) -> None:
    pool.filter_field.setText("zzz")
    assert any(
        "zzz" in label.text() for label in pool.findChildren(type(pool._no_match)) if label.isVisible()
    )
    qtbot.keyClick(pool.filter_field, Qt.Key.Key_Escape)
    assert "vera" in shown(pool)


def test_a_drag_carries_the_names_of_the_selected_agents(pool: AgentPool) -> None:
    pool.tree.selectAll()
    indexes = [index for index in pool.tree.selectedIndexes() if agent_at(index) is not None]
    data = pool.filtered.mimeData(indexes)
    assert set(mime.agents_in(data)) == {"alone", "vera", "linter", "amala"}
    flags = [pool.filtered.flags(index) for index in indexes]
    assert all(flag & Qt.ItemFlag.ItemIsDragEnabled for flag in flags)


def test_from_the_filter_by_keys_to_an_agent_in_the_workflow(pool: AgentPool, qtbot: QtBot) -> None:
    pool.filter_field.setFocus()
    qtbot.keyClicks(pool.filter_field, "vera")
    qtbot.keyClick(pool.filter_field, Qt.Key.Key_Down)
    qtbot.keyClick(pool.tree, Qt.Key.Key_Down)
    with qtbot.waitSignal(pool.add_requested) as added:
        qtbot.keyClick(pool.tree, Qt.Key.Key_Return)
    assert added.args == [["vera"], ""]


def test_the_context_menu_adds_to_a_phase(pool: AgentPool, qtbot: QtBot) -> None:
    pool.select_agent("linter")
    where = QPoint(20, 20)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, where, pool.mapToGlobal(where))
    QApplication.sendEvent(pool, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    action = next(each for each in menu.actions() if "finalization" in each.text())
    with qtbot.waitSignal(pool.add_requested) as added:
        action.trigger()
    menu.close()
    assert added.args == [["linter"], "finalization"]


def test_the_preview_renders_an_agent_and_says_what_it_may(pool: AgentPool) -> None:
    pool.select_agent("vera")
    assert pool.preview.title.text() == "vera"
    assert "may complete the loop" in pool.preview.summary.text()
    pool.select_agent("amala")
    assert "cannot complete the loop" in pool.preview.summary.text()
    assert "Work." in pool.preview.text.toPlainText()


def test_an_agents_text_can_load_nothing_and_its_html_is_only_text(pool: AgentPool, folder: Path) -> None:
    secret = folder / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    evil = f"![x]({secret.as_uri()}) [click](file:///etc/passwd) <img src='{secret}'> <b>bold</b>"
    write(folder, "evil", text=evil)
    pool.set_library(AgentLibrary(folder))
    pool.select_agent("evil")
    browser = pool.preview.text
    assert "<b>bold</b>" in browser.toPlainText()
    for url in (QUrl.fromLocalFile(str(secret)), QUrl("https://example.org/x.png")):
        assert not browser.loadResource(2, url)
    before = browser.toPlainText()
    browser.anchorClicked.emit(QUrl.fromLocalFile(str(secret)))
    assert browser.toPlainText() == before
    assert not browser.openLinks()
    assert not browser.openExternalLinks()


def test_the_problem_of_a_broken_file_is_shown_in_its_preview(pool: AgentPool) -> None:
    pool.tree.setCurrentIndex(pool.filtered.index(0, 0))
    assert pool.preview.title.text() == "broken.md"
    assert pool.preview.summary.text()


def test_without_agents_it_offers_to_make_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    pool = AgentPool()
    qtbot.addWidget(pool)
    pool.set_library(AgentLibrary(tmp_path))
    pool.show()
    assert pool.new_button.isVisible()
    with qtbot.waitSignal(pool.new_agent_requested):
        qtbot.mouseClick(pool.new_button, Qt.MouseButton.LeftButton)


def test_a_fresh_library_keeps_the_selection_and_folded_folders(pool: AgentPool, folder: Path) -> None:
    audit = pool.filtered.index(2, 0)
    pool.tree.setExpanded(audit, False)
    pool.select_agent("amala")
    write(folder, "audit/fresh")
    pool.set_library(AgentLibrary(folder))
    assert pool.selected_agents() == ["amala"]
    assert not pool.tree.isExpanded(pool.filtered.index(2, 0))
    assert "fresh" in shown(pool)


def test_agents_that_come_with_openloop_stand_apart_and_say_what_they_are(
    pool: AgentPool, folder: Path
) -> None:
    pool.set_library(AgentLibrary([folder, resources.agents_folder()]))
    rows = shown(pool)
    assert rows.index("audit/") < rows.index("authors/") < rows.index("audit · demo agents/")
    assert "proteus" in rows[rows.index("audit · demo agents/") :]
    pool.select_agent("proteus")
    index = pool.tree.currentIndex()
    assert "demo agent" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert "does no work" in str(index.data(Qt.ItemDataRole.ToolTipRole))
    pool.select_agent("linter")
    assert "demo" not in str(pool.tree.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole))


def test_renaming_is_offered_for_one_agent_of_ones_own_and_else_says_why_not(
    pool: AgentPool, folder: Path
) -> None:
    action = pool.rename_action
    assert not action.isEnabled()
    assert "Select an agent" in why_not(action)
    pool.tree.setCurrentIndex(pool.filtered.index(0, 0))
    assert not action.isEnabled()
    assert "broken.md" in why_not(action)
    pool.select_agent("vera")
    assert action.isEnabled()
    assert why_not(action) == ""
    QTest.keyClick(pool.tree, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert pool.selected_agents() == ["linter", "vera"]
    assert not action.isEnabled()
    assert "one agent" in why_not(action)

    pool.set_library(AgentLibrary([folder, resources.agents_folder()]))
    pool.select_agent("proteus")
    assert not action.isEnabled()
    assert "come with OpenLoop" in why_not(action)
    pool.select_agent("vera")
    assert action.isEnabled()
    (folder / "audit" / "vera.md").unlink()
    pool.set_library(AgentLibrary(folder))
    assert not action.isEnabled()
    pool.select_agent("amala")
    pool.filter_field.setText("linter")
    assert pool.selected_agents() == []
    assert not action.isEnabled()


def test_f2_on_an_agent_that_comes_with_openloop_is_still_answered(pool: AgentPool, qtbot: QtBot) -> None:
    """Who is told why by the window; a key that does nothing would leave one to guess."""
    pool.set_library(AgentLibrary(resources.agents_folder()))
    pool.select_agent("proteus")
    pool.tree.setFocus()
    with qtbot.waitSignal(pool.rename_requested) as asked:
        qtbot.keyClick(pool.tree, Qt.Key.Key_F2)
    assert asked.args == ["proteus"]
