"""The start page: when it comes, what it offers by mouse and keyboard, and how the window begins without."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QAccessible, QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

import resources
from app.buttons import ButtonLook
from app.document import NewStep, WorkflowDocument
from app.file_actions import FILE
from app.main_window import MainWindow
from app.settings_store import SettingsStore
from app.start_page.examples import examples
from app.start_page.recent_list import RecentFile, age_in_words, look_at
from app.start_page.shape import Step, shape_in_words, shape_of
from app.start_page.start_page import StartPage
from core.events import StopKind
from core.workflow_file import load_workflow, parse_workflow
from tests.app.test_main_window import ScriptedController, answer, make_window

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "state" / "window.ini")


@pytest.fixture
def controller(qapp: object) -> ScriptedController:
    return ScriptedController()


@pytest.fixture
def begin(
    qtbot: QtBot, store: SettingsStore, controller: ScriptedController
) -> Iterator[Callable[[Path | None], MainWindow]]:
    windows: list[MainWindow] = []

    def make(workflow: Path | None = None) -> MainWindow:
        window = make_window(qtbot, controller, WorkflowDocument(), store)
        windows.append(window)
        window.resize(1280, 800)
        window.starting.begin(workflow)
        window.show()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        return window

    yield make
    for window in windows:
        window.closing.may_close = True
        window.close()
    windows.clear()


def written(path: Path, name: str = "mine") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"name": name, "loop_agents": ["vera"]}), encoding="utf-8")
    return path


def page_of(window: MainWindow) -> StartPage:
    assert window.starting.shows_page
    return window.starting.page


# --- when it comes ------------------------------------------------------------------------------------


def test_the_first_start_shows_examples_and_nothing_that_needs_a_workflow(
    begin: Callable[[Path | None], MainWindow],
) -> None:
    page = page_of(begin(None))
    assert page.isVisible()
    assert len(page.cards) == 3
    assert page.lesson.isVisible()
    assert not page.back_button.isVisible()
    assert page.cards[0].hasFocus()
    looks = [card.run_button.look for card in page.cards]
    assert looks == [ButtonLook.FILLED, ButtonLook.OUTLINED, ButtonLook.OUTLINED]


def test_a_file_is_opened_without_the_start_page(
    begin: Callable[[Path | None], MainWindow], tmp_path: Path
) -> None:
    window = begin(written(tmp_path / "mine.json"))
    assert not window.starting.shows_page
    assert window.top_bar.isVisible()
    assert window.document.path == tmp_path / "mine.json"


def test_the_workflow_that_was_open_last_is_opened_again(
    begin: Callable[[Path | None], MainWindow], store: SettingsStore, tmp_path: Path
) -> None:
    store.recent = [written(tmp_path / "last.json"), written(tmp_path / "before.json")]
    window = begin(None)
    assert not window.starting.shows_page
    assert window.document.path == tmp_path / "last.json"


@pytest.mark.parametrize("text", [None, "{"])
def test_where_the_last_workflow_cannot_be_opened_the_start_page_says_why(
    begin: Callable[[Path | None], MainWindow], store: SettingsStore, tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "last.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    store.recent = [path]
    window = begin(None)
    assert window.starting.shows_page
    bar = window.notices.bar(FILE)
    assert bar is not None
    assert bar.isVisible()
    assert "last.json" in bar.notice.text


# --- examples -----------------------------------------------------------------------------------------


def test_enter_on_a_card_opens_its_example(begin: Callable[[Path | None], MainWindow]) -> None:
    window = begin(None)
    page = page_of(window)
    QTest.keyClick(page.cards[0], Qt.Key.Key_Right)
    assert page.cards[1].hasFocus()
    QTest.keyClick(page.cards[1], Qt.Key.Key_Return)
    assert window.document.path == resources.example_workflow()
    assert not window.starting.shows_page
    assert window.top_bar.isVisible()
    assert not store_recent(window)


def store_recent(window: MainWindow) -> list[Path]:
    return window.recent.paths


def test_a_click_on_the_words_of_a_card_opens_its_example(begin: Callable[[Path | None], MainWindow]) -> None:
    window = begin(None)
    card = page_of(window).cards[0]
    under = card.childAt(QPoint(card.width() // 2, 20))
    QTest.mouseClick(under or card, Qt.MouseButton.LeftButton)
    assert window.document.path is not None
    assert window.document.path.stem == "author_and_auditor"


def test_open_and_run_runs_once_the_agents_are_read(
    begin: Callable[[Path | None], MainWindow], controller: ScriptedController, qtbot: QtBot
) -> None:
    window = begin(None)
    page_of(window).cards[2].run_button.click()
    qtbot.waitUntil(lambda: bool(controller.started))
    (started,) = controller.started
    assert started[0].workflow.name == "plan, build, report"
    assert not window.starting.shows_page
    controller.end()


def test_a_file_that_is_opened_before_the_agents_are_read_is_not_run_instead(
    begin: Callable[[Path | None], MainWindow],
    controller: ScriptedController,
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    window = begin(None)
    card = page_of(window).cards[0]
    QTest.keyClick(card, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    window.files.load(written(tmp_path / "mine.json"))
    qtbot.waitUntil(
        lambda: (
            window.document.library is not None
            and window.document.library.folders == window.agents.source.folders
        )
    )
    assert tmp_path / "agents" in window.agents.source.folders
    assert controller.started == []


def test_unsaved_work_is_asked_about_before_an_example_replaces_it(
    begin: Callable[[Path | None], MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    window = begin(written(tmp_path / "mine.json"))
    window.document.insert_agents(["amala"], NewStep("loop", 0))
    window.actions_of_window.start_page.trigger()
    page_of(window).cards[0].open_button.click()
    answer(qtbot, "Cancel")
    assert window.starting.shows_page
    assert window.document.path == tmp_path / "mine.json"
    page_of(window).cards[0].open_button.click()
    answer(qtbot, "Don’t save")
    qtbot.waitUntil(lambda: not window.starting.shows_page)


def test_the_examples_are_those_that_ship_and_each_has_its_words() -> None:
    found = examples()
    assert [example.path.stem for example in found] == ["author_and_auditor", "audit", "pipeline"]
    assert {example.path for example in found} == set(resources.example_workflows())
    for example in found:
        assert example.text
        assert example.title != load_workflow(example.path).workflow.name


# --- shapes -------------------------------------------------------------------------------------------


def test_a_shape_has_the_phases_with_what_is_parallel_and_without_what_is_disabled() -> None:
    workflow = parse_workflow(
        json.dumps(
            {
                "preparation_agents": ["a", "b"],
                "loop_agents": [
                    {"agents": ["a", "b", {"agent": "c", "enabled": False}], "mode": "parallel"},
                    {"agents": ["a"], "mode": "parallel"},
                    {"agents": ["a"], "enabled": False},
                ],
            }
        )
    ).workflow
    shape = shape_of(workflow)
    one = Step(1, parallel=False)
    assert shape == (("preparation", (one, one)), ("loop", (Step(2, parallel=True), one)))
    assert shape_in_words(shape) == (
        "preparation: one agent, then one agent; loop: 2 agents in parallel, then one agent"
    )


# --- recent workflows ---------------------------------------------------------------------------------


@pytest.fixture
def page(begin: Callable[[Path | None], MainWindow], store: SettingsStore, tmp_path: Path) -> StartPage:
    """The start page with a file that is there, one that is gone, and an open workflow behind it."""
    there = written(tmp_path / "work" / "nightly.json")
    store.recent = [written(tmp_path / "mine.json"), tmp_path / "gone.json", there]
    window = begin(None)
    window.actions_of_window.start_page.trigger()
    return page_of(window)


def rows(page: StartPage) -> list[tuple[str, bool]]:
    return [(file.path.name, file.missing) for file in page.recent.files()]


def looked(page: StartPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: ("gone.json", True) in rows(page))


def test_recent_files_say_where_they_are_and_which_are_gone(page: StartPage, qtbot: QtBot) -> None:
    looked(page, qtbot)
    assert rows(page) == [("mine.json", False), ("gone.json", True), ("nightly.json", False)]
    assert page.recent.hasFocus()
    assert page.cards[0].run_button.look is ButtonLook.OUTLINED
    list_of_files = QAccessible.queryAccessibleInterface(page.recent)
    said = [list_of_files.child(row).text(QAccessible.Text.Name) for row in range(3)]
    assert "changed just now" in said[0]
    assert "not there any more" in said[1]
    assert "work" in said[2]


def test_enter_opens_a_recent_file(page: StartPage, qtbot: QtBot) -> None:
    looked(page, qtbot)
    window = page.window()
    assert isinstance(window, MainWindow)
    QTest.keyClick(page.recent, Qt.Key.Key_End)
    QTest.keyClick(page.recent, Qt.Key.Key_Return)
    assert window.document.title == "nightly.json"
    assert not window.starting.shows_page


def test_a_missing_file_is_taken_out_by_its_link_or_the_delete_key(page: StartPage, qtbot: QtBot) -> None:
    looked(page, qtbot)
    view = page.recent
    row = view.visualRect(view.model().index(1, 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    assert len(rows(page)) == 3
    link = QPoint(row.right() - 20, row.center().y())
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=link)
    assert [name for name, _ in rows(page)] == ["mine.json", "nightly.json"]
    view.setFocus()
    view.setCurrentIndex(view.model().index(1, 0))
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert [name for name, _ in rows(page)] == ["mine.json"]
    window = page.window()
    assert isinstance(window, MainWindow)
    assert [path.name for path in window.recent.paths] == ["mine.json"]


def test_arrows_lead_from_the_list_to_the_cards_and_back(page: StartPage, qtbot: QtBot) -> None:
    looked(page, qtbot)
    QTest.keyClick(page.recent, Qt.Key.Key_Up)
    assert page.cards[2].hasFocus()
    QTest.keyClick(page.cards[2], Qt.Key.Key_Down)
    assert page.recent.hasFocus()
    for card in (2, 1, 0):
        page.cards[card].setFocus()
        QTest.keyClick(page.cards[card], Qt.Key.Key_Left)
    assert page.new_button.hasFocus()
    QTest.keyClick(page.new_button, Qt.Key.Key_Down)
    assert page.cards[0].hasFocus()


def test_escape_goes_back_to_the_open_workflow(page: StartPage) -> None:
    window = page.window()
    assert isinstance(window, MainWindow)
    assert page.back_button.text() == "Back to mine.json"
    QTest.keyClick(page.recent, Qt.Key.Key_Escape)
    assert not window.starting.shows_page
    assert window.top_bar.isVisible()
    assert window.document.title == "mine.json"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (61, "a minute ago"),
        (59 * 60, "59 minutes ago"),
        (3 * 3600, "3 hours ago"),
        (30 * 3600, "yesterday"),
        (3 * 86400, "3 days ago"),
        (20 * 86400, "2 weeks ago"),
        (100 * 86400, "3 months ago"),
        (800 * 86400, "2 years ago"),
        (-100, "just now"),
    ],
)
def test_ages_are_told_roughly(seconds: float, words: str) -> None:
    assert age_in_words(seconds) == words


def test_a_look_at_the_disk_never_fails(tmp_path: Path) -> None:
    there = written(tmp_path / "a.json")
    os.utime(there, (1000, 1000))
    assert look_at(there) == RecentFile(there, 1000.0)
    assert look_at(tmp_path / "b.json").missing
    assert look_at(there / "below.json").missing


# --- other ways out -----------------------------------------------------------------------------------


def test_new_and_open_begin_from_the_page(begin: Callable[[Path | None], MainWindow], qtbot: QtBot) -> None:
    window = begin(None)
    page_of(window).open_button.click()
    dialog = window.files.dialog
    assert isinstance(dialog, QFileDialog)
    dialog.reject()
    assert window.starting.shows_page
    page_of(window).new_button.click()
    assert not window.starting.shows_page


def test_the_page_gives_way_to_what_the_user_asks_to_see(begin: Callable[[Path | None], MainWindow]) -> None:
    window = begin(None)
    window.actions_of_window.show_runs.trigger()
    assert not window.starting.shows_page


def test_while_a_run_goes_on_there_is_no_start_page(
    begin: Callable[[Path | None], MainWindow], controller: ScriptedController, tmp_path: Path, qtbot: QtBot
) -> None:
    window = begin(resources.example_workflow())
    qtbot.waitUntil(lambda: window.document.library is not None)
    window.top_bar.run_button.click()
    assert controller.running
    assert not window.actions_of_window.start_page.isEnabled()
    window.starting.show_page()
    assert not window.starting.shows_page
    window.run.stop_now()
    assert controller.stops == [StopKind.NOW]
    controller.end()
    assert window.actions_of_window.start_page.isEnabled()


@pytest.mark.parametrize("width", [720, 1024, 1280, 2400])
def test_nothing_is_cut_off_at_any_width(begin: Callable[[Path | None], MainWindow], width: int) -> None:
    window = begin(None)
    window.resize(width, 700)
    QApplication.processEvents()
    page = page_of(window)
    assert page.horizontalScrollBar().maximum() == 0
    for child in page.widget().findChildren(QWidget):
        if child.isVisible() and child.hasHeightForWidth() and child.layout() is None:
            assert child.height() >= child.heightForWidth(child.width())
    for card in page.cards:
        assert card.height() >= card.heightForWidth(card.width())
        for button in (card.open_button, card.run_button):
            assert card.rect().contains(button.mapTo(card, button.rect().bottomRight()))


def test_every_control_can_be_reached_and_has_a_name(begin: Callable[[Path | None], MainWindow]) -> None:
    page = page_of(begin(None))
    for card in page.cards:
        told = QAccessible.queryAccessibleInterface(card)
        assert told.role() is QAccessible.Role.Button
        assert told.text(QAccessible.Text.Name).startswith("Example: ")
        assert "Enter opens it" in told.text(QAccessible.Text.Description)
        assert card.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert card.run_button.accessibleName() == f"Open and run {card.example.title}"


class Desktop(QObject):
    """A desktop that opens files: it keeps their names."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def show(self, url: QUrl) -> None:
        self.opened.append(Path(url.toLocalFile()).name)


def test_the_guide_opens_by_link_and_by_menu(begin: Callable[[Path | None], MainWindow]) -> None:
    window = begin(None)
    desktop = Desktop()
    QDesktopServices.setUrlHandler("file", desktop, "show")
    try:
        page = window.findChild(StartPage)
        assert page is not None
        page.guide_requested.emit()
        window.actions_of_window.guide.trigger()
    finally:
        QDesktopServices.unsetUrlHandler("file")
    assert desktop.opened == ["user-guide.md"] * 2
    assert window.notices.bar("guide") is None


def test_a_desktop_that_cannot_open_the_guide_is_told_of_with_its_place(
    begin: Callable[[Path | None], MainWindow],
) -> None:
    window = begin(None)
    window.actions_of_window.guide.trigger()
    bar = window.notices.bar("guide")
    assert bar is not None
    assert "user-guide.md" in bar.notice.text
