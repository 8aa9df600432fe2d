"""The palette over all actions: what it finds, what it does, and by which keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAction, QStandardItemModel
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QMainWindow, QMenu, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.buttons import Button, ButtonLook
from app.command_palette import CommandList, CommandPalette, rank
from app.commands import Command, commands_of
from app.fields import CalmComboBox
from app.run_view.point_slider import PointSlider
from app.tab_bar import FlatTabBar
from app.theme import icon
from app.why_not import offer, tell_why_off


@pytest.fixture
def window(qtbot: QtBot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(900, 600)
    file_menu = window.menuBar().addMenu("&File")
    file_menu.addAction("&Save").setShortcut("Ctrl+S")
    file_menu.addAction("Save &as…")
    file_menu.addSeparator()
    examples = file_menu.addMenu("&Examples")
    examples.addAction("this && that")
    view = window.menuBar().addMenu("&View")
    view.addAction("&Dark").setCheckable(True)
    view.addAction("Run in &parallel").setEnabled(False)
    window.show()
    qtbot.waitExposed(window)
    return window


@pytest.fixture
def palette(window: QMainWindow) -> CommandPalette:
    palette = CommandPalette(window)
    palette.open()
    return palette


def shown(palette: CommandPalette) -> list[str]:
    rows = range(palette.commands.rowCount())
    return [str(palette.commands.index(row, 0).data()) for row in rows]


def test_every_action_of_every_menu_is_there_with_its_way(window: QMainWindow) -> None:
    found = [(command.name, command.place, command.keys) for command in commands_of(window)]
    assert found == [
        ("Save", "File", "Ctrl+S"),
        ("Save as…", "File", ""),
        ("this & that", "File › Examples", ""),
        ("Dark", "View", ""),
        ("Run in parallel", "View", ""),
    ]


def test_a_menu_that_fills_itself_when_it_opens_is_filled(window: QMainWindow) -> None:
    late = window.menuBar().addMenu("&Recent")
    late.aboutToShow.connect(lambda: late.addAction("audit.json"))
    assert ("audit.json", "Recent") in [(command.name, command.place) for command in commands_of(window)]


def test_the_field_is_emptied_with_our_own_sign(palette: CommandPalette) -> None:
    QTest.keyClicks(palette.field, "save")
    button = palette.field.findChild(QToolButton)
    assert isinstance(button, QToolButton)
    size = QSize(16, 16)
    assert button.icon().pixmap(size).toImage() == icon("x", "quiet").pixmap(size).toImage()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert palette.field.text() == ""


def test_what_begins_with_the_word_comes_first_and_the_impossible_last(
    palette: CommandPalette, window: QMainWindow
) -> None:
    window.menuBar().addMenu("Panels").addAction("Open the pane")
    palette.open()
    QTest.keyClicks(palette.field, "pa")
    assert shown(palette) == ["Open the pane", "Run in parallel"]
    palette.field.clear()
    QTest.keyClicks(palette.field, "save")
    assert shown(palette) == ["Save", "Save as…"]


@pytest.mark.parametrize(
    ("search", "fit"),
    [("save", 0), ("as", 1), ("av", 2), ("file", 3), ("file as", 3), ("as nothing", None)],
)
def test_a_command_fits_by_its_name_before_its_menu(search: str, fit: int | None) -> None:
    command = Command(QAction("Save &as…"), "Save as…", "File", able=True)
    assert rank(command, search.split()) == fit


def test_the_sentence_of_a_notice_is_no_name_of_its_buttons() -> None:
    notice = "OpenLoop ended without saving audit.json. What was there at 12:04 can be brought back."
    command = Command(QAction("Restore"), "Restore", notice, able=True)
    assert rank(command, ["restore"]) == 0
    assert rank(command, ["end", "the"]) is None


def test_enter_does_what_is_selected_once_and_closes(
    palette: CommandPalette, window: QMainWindow, qtbot: QtBot
) -> None:
    saves: list[str] = []
    save_as = next(command.action for command in commands_of(window) if command.name == "Save as…")
    save_as.triggered.connect(lambda: saves.append("once"))
    QTest.keyClicks(palette.field, "save")
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    with qtbot.waitSignal(palette.done) as done:
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert done.args == ["Save as…"]
    assert saves == ["once"]
    assert not palette.isVisible()


def test_what_was_done_lately_leads_the_next_time(palette: CommandPalette) -> None:
    QTest.keyClicks(palette.field, "dark")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    palette.open()
    assert shown(palette)[0] == "Dark"


def test_what_cannot_be_done_now_is_shown_and_does_nothing(palette: CommandPalette, qtbot: QtBot) -> None:
    QTest.keyClicks(palette.field, "parallel")
    with qtbot.assertNotEmitted(palette.done):
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    index = palette.commands.index(0, 0)
    assert "not possible now" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))


def test_a_click_does_it(palette: CommandPalette, qtbot: QtBot) -> None:
    row = palette.list.visualRect(palette.commands.index(0, 0)).center()
    with qtbot.waitSignal(palette.done) as done:
        QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert done.args == ["Save"]


def test_nothing_found_is_said(palette: CommandPalette) -> None:
    QTest.keyClicks(palette.field, "xyzzy")
    assert palette.nothing.isVisible()
    assert not palette.list.isVisible()
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_escape_closes(palette: CommandPalette) -> None:
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_up_goes_round_to_the_end(palette: CommandPalette) -> None:
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.list.currentIndex().row() == palette.commands.rowCount() - 1


def test_a_reader_of_the_screen_hears_the_whole_command(palette: CommandPalette) -> None:
    interface = QAccessible.queryAccessibleInterface(palette.field)
    assert interface.text(QAccessible.Text.Name) == "Search actions"
    spoken = palette.commands.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Save, File, Ctrl+S"


def test_the_list_is_a_sound_model(window: QMainWindow) -> None:
    commands = CommandList()
    tester = QAbstractItemModelTester(commands, QAbstractItemModelTester.FailureReportingMode.Fatal)
    commands.fill(commands_of(window))
    commands.search("save")
    commands.search("")
    assert commands.rowCount() == 5
    tester.deleteLater()


def test_what_cannot_be_done_says_why_below_and_to_a_reader_of_the_screen(
    palette: CommandPalette, window: QMainWindow
) -> None:
    action = next(each.action for each in commands_of(window) if each.name == "Run in parallel")
    offer(action, False, "Editing waits until the run ends.")
    palette.open()
    assert palette.reason.isHidden(), "what leads can be done"
    QTest.keyClicks(palette.field, "parallel")
    assert palette.reason.isVisible()
    assert palette.reason.text() == "Editing waits until the run ends."
    spoken = palette.commands.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.endswith("Editing waits until the run ends.")
    offer(action, True)
    palette.open()
    QTest.keyClicks(palette.field, "parallel")
    assert palette.reason.isHidden()


def test_nothing_in_a_menu_that_is_closed_can_be_done(palette: CommandPalette, window: QMainWindow) -> None:
    (examples,) = [menu for menu in window.menuBar().findChildren(QMenu) if menu.title() == "&Examples"]
    done: list[bool] = []
    examples.actions()[0].triggered.connect(lambda: done.append(True))
    offer(examples.menuAction(), False, "A run goes on.")
    palette.open()
    QTest.keyClicks(palette.field, "that")
    assert palette.reason.text() == "A run goes on."
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert done == []


def test_actions_of_what_is_on_view_are_there_and_go_with_it(window: QMainWindow) -> None:
    panel = QWidget()
    panel.setAccessibleName("History")
    panel.addAction("&Compare").setShortcut("Ctrl+Shift+C")
    panel.addAction("Save")
    window.setCentralWidget(panel)
    panel.show()
    found = [(command.name, command.place) for command in commands_of(window)]
    assert ("Compare", "History") in found
    assert [name for name, _ in found].count("Save") == 1, "the menu has it"
    panel.hide()
    assert ("Compare", "History") not in [(each.name, each.place) for each in commands_of(window)]


# --- what is no action ---------------------------------------------------------------------------------


@pytest.fixture
def panel(window: QMainWindow) -> QWidget:
    """A part of the window, for controls."""
    panel = QWidget()
    panel.setAccessibleName("Log")
    QVBoxLayout(panel)
    window.setCentralWidget(panel)
    panel.show()
    return panel


def put(panel: QWidget, control: QWidget, name: str = "") -> None:
    layout = panel.layout()
    assert layout is not None
    layout.addWidget(control)
    control.setAccessibleName(name)
    control.show()


def find(window: QMainWindow, name: str) -> Command:
    return next(command for command in commands_of(window) if command.name == name)


def test_a_button_is_found_by_its_words_and_pressed_with_enter(
    palette: CommandPalette, window: QMainWindow, panel: QWidget, qtbot: QtBot
) -> None:
    button = Button("&Fit && fill", ButtonLook.LINK, parent=panel)
    put(panel, button)
    palette.open()
    QTest.keyClicks(palette.field, "fit")
    assert shown(palette) == ["Fit & fill"]
    assert find(window, "Fit & fill").place == "Log"
    with qtbot.waitSignal(button.clicked):
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    button.hide()
    assert "Fit & fill" not in [command.name for command in commands_of(window)]


def test_a_chip_says_that_it_is_on_and_is_turned_off(window: QMainWindow, panel: QWidget) -> None:
    chip = Button("Errors", ButtonLook.OUTLINED, parent=panel)
    chip.setCheckable(True)
    chip.setChecked(True)
    put(panel, chip)
    command = find(window, "Errors")
    assert command.action.isChecked()
    command.action.trigger()
    assert not chip.isChecked()


def test_what_is_off_says_why_by_itself_or_by_what_it_stands_in(window: QMainWindow, panel: QWidget) -> None:
    told, silent = Button("Later", parent=panel), Button("Show", parent=panel)
    silent.setToolTip("No run yet")
    for button in (told, silent):
        put(panel, button)
        button.setEnabled(False)
    tell_why_off(told, "This is the last one.")
    assert [find(window, name).able for name in ("Later", "Show")] == [False, False]
    assert [find(window, name).why_not for name in ("Later", "Show")] == [
        "This is the last one.",
        "No run yet",
    ]
    silent.setEnabled(True)
    tell_why_off(panel, "A run goes on.")
    panel.setEnabled(False)
    assert find(window, "Show").why_not == "A run goes on."


def test_a_button_for_an_action_is_not_there_twice_but_one_of_another_thing_is(
    window: QMainWindow, panel: QWidget
) -> None:
    save = next(command.action for command in commands_of(window) if command.name == "Save")
    follower, mine = Button("Write it", parent=panel), Button("Save", parent=panel)
    follower.follow_action(save)
    put(panel, follower)
    put(panel, mine)
    found = [(command.name, command.place) for command in commands_of(window)]
    assert "Write it" not in [name for name, _ in found]
    assert ("Save", "File") in found
    assert ("Save", "Log") in found


def test_a_slider_is_moved_by_steps_and_to_its_ends(window: QMainWindow, panel: QWidget) -> None:
    slider = PointSlider(panel)
    slider.setRange(0, 7)
    slider.setValue(7)
    put(panel, slider, "Point")
    moved: list[int] = []
    slider.moved_by_user.connect(moved.append)
    assert not find(window, "Point: one on").able
    find(window, "Point: one back").action.trigger()
    find(window, "Point: to the beginning").action.trigger()
    assert moved == [6, 0]
    assert slider.value() == 0


def test_a_choice_is_made_as_if_it_was_clicked(window: QMainWindow, panel: QWidget) -> None:
    box = CalmComboBox(panel)
    box.addItems(["shared", "worktree", "none"])
    model = box.model()
    assert isinstance(model, QStandardItemModel)
    model.item(2).setEnabled(False)
    model.item(2).setToolTip("It cannot run yet")
    put(panel, box, "Works in")
    chosen: list[int] = []
    box.activated.connect(chosen.append)
    assert find(window, "Works in: shared").action.isChecked()
    find(window, "Works in: worktree").action.trigger()
    assert (chosen, box.currentText()) == ([1], "worktree")
    assert (find(window, "Works in: none").able, find(window, "Works in: none").why_not) == (
        False,
        "It cannot run yet",
    )


def test_a_tab_and_what_a_menu_of_a_button_has_are_found(window: QMainWindow, panel: QWidget) -> None:
    bar = FlatTabBar(panel)
    bar.addTab("Edit")
    bar.addTab("Preview")
    put(panel, bar, "Views")
    menu = QMenu(panel)
    deleting = menu.addAction("De&lete…\tDel")
    more = Button("More", parent=panel)
    more.set_drop_down(menu)
    put(panel, more)
    find(window, "Preview").action.trigger()
    assert bar.currentIndex() == 1
    assert find(window, "Delete…").action is deleting
    assert find(window, "Delete…").place == "Log › More"
    more.setEnabled(False)
    tell_why_off(more, "Nothing is selected.")
    assert (find(window, "Delete…").able, find(window, "Delete…").why_not) == (False, "Nothing is selected.")


def test_a_control_that_is_gone_by_then_does_nothing(
    palette: CommandPalette, window: QMainWindow, panel: QWidget
) -> None:
    bar = FlatTabBar(panel)
    bar.addTab("Edit")
    put(panel, bar, "Views")
    button = Button("Fit", parent=panel)
    put(panel, button)
    commands = [find(window, name) for name in ("Edit", "Fit")]
    for control in (bar, button):
        control.setParent(None)
        delete(control)
    for command in commands:
        command.action.trigger()
    assert not {"Edit", "Fit"} & {command.name for command in commands_of(window)}
