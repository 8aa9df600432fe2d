"""Check this computer, in the window: it fills in live, blocks nothing, and leaves nothing when it closes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.doctor.delegate import status_icon
from app.doctor.dialog import DoctorDialog
from app.doctor.model import Awaited, FindingModel, Found, Heading
from app.doctor.work import DoctorWork
from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.run_controller import RunController
from app.settings_store import SettingsStore
from app.theme import Appearance, Scheme, theme
from core.doctor import Told
from core.health import Finding, FindingStatus
from tests.core.doctor_support import CLAUDE_IN, OPENCODE, Machine, is_alive

# The offscreen platform says so about sizes of windows, popups and dialogs.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PATIENCE = 30_000
OK, WARNING, ERROR = FindingStatus.OK, FindingStatus.WARNING, FindingStatus.ERROR
GATED = """import pathlib, time
while not pathlib.Path({go!r}).exists():
    time.sleep(0.01)
print("1.18.33")
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.fixture
def appearance(qapp: QApplication) -> Iterator[Appearance]:
    look = Appearance(qapp, Scheme.LIGHT)
    yield look
    look.choose(Scheme.LIGHT)


@pytest.fixture
def work(qapp: QApplication) -> Iterator[DoctorWork]:
    of_tests = DoctorWork()
    yield of_tests
    of_tests.cancel()
    of_tests.wait()


def opened(
    qtbot: QtBot, work: DoctorWork, machine: Machine, workflow: Path | None = None, seconds: float = 60.0
) -> DoctorDialog:
    dialog = DoctorDialog(work, lambda: machine.checkup(workflow, seconds=seconds), "What runs need")
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def finished(qtbot: QtBot, dialog: DoctorDialog) -> None:
    qtbot.waitUntil(dialog.again_button.isEnabled, timeout=PATIENCE)


def row_of(dialog: DoctorDialog, subject: str) -> QModelIndex:
    for row, entry in enumerate(dialog.model.entries):
        if isinstance(entry, Found) and entry.finding.subject == subject:
            return dialog.model.index(row)
    raise AssertionError(subject)


def test_it_shows_every_finding_and_says_how_it_stands(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    machine.cli("opencode", OPENCODE)
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    subjects = {finding.subject for finding in dialog.model.findings}
    assert {"python", "machine", "git", "log folder", "opencode", "opencode login", "claude"} <= subjects
    assert dialog.header.title.text().startswith("Nothing is in the way of runs")
    assert not dialog.model.awaited


def test_what_is_in_the_way_is_said_and_brought_into_view(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    dialog = opened(qtbot, work, machine, machine.workflow("gemini"))
    dialog.resize(480, 320)
    finished(qtbot, dialog)
    assert dialog.header.title.text().startswith("1 thing is in the way of runs")
    current = dialog.list.current_finding
    assert current is not None
    assert current.subject == "gemini"
    assert dialog.list.viewport().rect().intersects(dialog.list.visualRect(dialog.list.currentIndex()))


def test_it_fills_in_while_a_slow_cli_is_awaited_and_the_window_answers(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    go = machine.work / "go"
    machine.program("opencode", GATED.format(go=str(go)))
    dialog = opened(qtbot, work, machine)
    beats: list[int] = []
    pulse = QTimer(dialog)
    pulse.timeout.connect(lambda: beats.append(1))
    pulse.start(1)
    qtbot.waitUntil(lambda: dialog.model.awaited == ["opencode"], timeout=PATIENCE)
    assert beats, "the loop went on"
    assert row_of(dialog, "codex").isValid()
    assert not dialog.again_button.isEnabled()
    assert dialog.header.title.text() == "Looking at this computer…"
    awaited = dialog.model.index(dialog.model.entries.index(Awaited("opencode")))
    assert awaited.data() == "opencode: looking"
    pulse.stop()
    go.touch()
    finished(qtbot, dialog)
    assert row_of(dialog, "opencode").isValid()


def test_findings_stand_in_the_order_of_their_sections_however_they_arrive(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    entries = dialog.model.entries
    headings = [number for number, entry in enumerate(entries) if isinstance(entry, Heading)]
    assert [entries[number].text for number in headings] == ["This computer", "Folders and files", "Agents"]
    last = [entry.topic for entry in entries[headings[2] :] if isinstance(entry, Found)]
    assert last == ["opencode", "demo", "claude", "codex", "gemini"]


def test_check_again_looks_again(qtbot: QtBot, work: DoctorWork, machine: Machine) -> None:
    path = machine.workflow("claude")
    dialog = opened(qtbot, work, machine, path)
    finished(qtbot, dialog)
    assert row_of(dialog, "claude").data().startswith("claude: in the way.")
    machine.cli("claude", {"--version": "2.1.197 (Claude Code)\n", "auth status": CLAUDE_IN})
    qtbot.keyClick(dialog, Qt.Key.Key_F5)
    assert not dialog.again_button.isEnabled()
    finished(qtbot, dialog)
    assert row_of(dialog, "claude").data().startswith("claude: fine. 2.1.197")
    assert dialog.header.title.text().startswith("Nothing is in the way of runs")


def test_copy_as_text_gives_the_lines_of_the_command_line(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    program = machine.cli("opencode", OPENCODE)
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    assert f"✓ opencode        1.18.33, {program}\n" in text
    assert "                  Install it with `npm install -g @openai/codex`.\n" in text
    assert text.splitlines()[-1].startswith("Nothing is in the way of runs")


def test_one_finding_and_the_command_in_its_advice_can_be_copied(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    dialog.list.setCurrentIndex(row_of(dialog, "codex"))
    dialog.list.setFocus()
    qtbot.keyClick(dialog.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("codex: Codex is not installed")
    menu = dialog.list.menu_of(dialog.list.current_finding)
    assert menu is not None
    command = next(action for action in menu.actions() if "npm" in action.text())
    command.trigger()
    assert QGuiApplication.clipboard().text() == "npm install -g @openai/codex"
    menu.close()


def test_keys_walk_the_findings_and_pass_over_headings(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    dialog.list.setFocus()
    seen = []
    for _ in dialog.model.findings:
        qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
        seen.append(dialog.list.current_finding)
    assert seen == dialog.model.findings


@pytest.mark.parametrize("how", ["escape", "button", "close"])
def test_closing_it_ends_what_hangs(qtbot: QtBot, work: DoctorWork, machine: Machine, how: str) -> None:
    """Pain 9: neither a thread nor a process of the look is left, whichever way it closes."""
    told = machine.hanging("claude")
    dialog = DoctorDialog(work, lambda: machine.checkup(seconds=600), "What runs need")
    dialog.show()
    qtbot.waitUntil(told.exists, timeout=PATIENCE)
    with qtbot.waitSignal(dialog.destroyed, timeout=PATIENCE):
        if how == "escape":
            QTest.keyClick(dialog, Qt.Key.Key_Escape)
        elif how == "button":
            dialog.close_button.click()
        else:
            dialog.close()
    work.wait()
    assert not is_alive(int(told.read_text()))


def test_a_look_that_breaks_off_is_said_and_can_be_repeated(
    qtbot: QtBot, work: DoctorWork, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken, qtbot.captureExceptions() as raised:
        broken.setattr("core.doctor.check_python", lambda: 1 / 0)
        dialog = opened(qtbot, work, machine)
        finished(qtbot, dialog)
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]
    assert dialog.header.title.text() == "OpenLoop could not look to the end."
    assert row_of(dialog, "git").isValid(), "what else was found is shown"
    dialog.again_button.click()
    finished(qtbot, dialog)
    assert dialog.header.title.text().startswith("Nothing is in the way")


# --- how it looks ---------------------------------------------------------------------------------------


def test_every_status_has_an_icon_of_its_own() -> None:
    finding = Finding("git", OK, "2.39.5")
    kinds = [finding, replace(finding, absent=True), *(replace(finding, status=s) for s in (WARNING, ERROR))]
    assert len({status_icon(kind)[0] for kind in kinds}) == 4


@pytest.mark.parametrize("scheme", [Scheme.LIGHT, Scheme.DARK])
def test_it_is_painted_in_the_colours_of_the_theme(
    qtbot: QtBot, work: DoctorWork, machine: Machine, appearance: Appearance, scheme: Scheme
) -> None:
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    appearance.choose(scheme)
    image = dialog.grab().toImage()
    found = {
        image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)
    }
    colors = theme()
    assert {colors.ground, colors.surface, colors.line} <= found


def test_a_long_path_is_shown_whole_at_any_width(qtbot: QtBot, work: DoctorWork, machine: Machine) -> None:
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    short = dialog.list.sizeHintForIndex(row_of(dialog, "python")).height()
    dialog.model.begin({"This computer": ["git"]})
    dialog.model.tell(Told("git", Finding("git", OK, f"/{'very-long-name' * 30}")))
    dialog.resize(420, 400)
    narrow = dialog.list.sizeHintForIndex(row_of(dialog, "git")).height()
    dialog.resize(1200, 400)
    wide = dialog.list.sizeHintForIndex(row_of(dialog, "git")).height()
    assert narrow > wide > short
    assert dialog.list.horizontalScrollBar().maximum() == 0


def test_what_is_shown_has_names_for_those_who_do_not_see_it(
    qtbot: QtBot, work: DoctorWork, machine: Machine
) -> None:
    dialog = opened(qtbot, work, machine)
    finished(qtbot, dialog)
    assert dialog.list.accessibleName()
    assert dialog.header.accessibleName() == dialog.header.title.text()
    text = QAccessible.Text.Name
    for button in (dialog.copy_button, dialog.again_button, dialog.close_button):
        assert QAccessible.queryAccessibleInterface(button).text(text)
    row = QAccessible.queryAccessibleInterface(dialog.list).child(row_of(dialog, "codex").row())
    assert row.text(text).startswith("codex: not there. Codex is not installed")


def test_the_list_keeps_the_rules_of_models(qapp: QApplication) -> None:
    model = FindingModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.begin({"One": ["a", "b"], "Two": ["c"]})
    for topic in ("c", "a"):
        model.tell(Told(topic, Finding(topic, OK, "fine")))
        model.tell(Told(topic, Finding(topic, ERROR, "not fine", "mend it")))
        model.tell(Told(topic, None))
    model.give_up()
    assert [finding.subject for finding in model.findings] == ["a", "a", "c", "c"]
    tester.deleteLater()


# --- in the window --------------------------------------------------------------------------------------


@pytest.fixture
def window(qtbot: QtBot, machine: Machine, appearance: Appearance) -> Iterator[MainWindow]:
    controller = RunController()
    document = WorkflowDocument()
    made = MainWindow(controller, document, store=SettingsStore(machine.home / "window.json"))
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close()
    controller.wait_for_workers()


def test_the_help_menu_opens_it_once_and_it_blocks_nothing(
    qtbot: QtBot, window: MainWindow, machine: Machine
) -> None:
    help_menu = window.menuBar().actions()[-1].menu()
    assert window.actions_of_window.check_computer in help_menu.actions()
    window.actions_of_window.check_computer.trigger()
    dialog = window.doctor.dialog
    assert dialog is not None
    assert dialog.isVisible()
    assert not dialog.isModal()
    window.actions_of_window.check_computer.trigger()
    assert window.doctor.dialog is dialog
    finished(qtbot, dialog)
    dialog.close()
    assert window.doctor.dialog is None
    window.actions_of_window.check_computer.trigger()
    assert window.doctor.dialog not in (None, dialog)


def test_it_looks_for_what_the_open_workflow_needs(
    qtbot: QtBot, window: MainWindow, machine: Machine
) -> None:
    window.files.open(machine.workflow("codex"))
    qtbot.waitUntil(lambda: window.document.library is not None, timeout=PATIENCE)
    window.actions_of_window.check_computer.trigger()
    dialog = window.doctor.dialog
    assert dialog is not None
    assert "workflow" in dialog.header.about.text()
    finished(qtbot, dialog)
    assert row_of(dialog, "codex").data().startswith("codex: in the way.")


def test_closing_the_window_ends_a_look_that_hangs(
    qtbot: QtBot, window: MainWindow, machine: Machine
) -> None:
    """Pain 9."""
    told = machine.hanging("gemini")
    window.actions_of_window.check_computer.trigger()
    qtbot.waitUntil(told.exists, timeout=PATIENCE)
    with qtbot.waitSignal(window.closed, timeout=PATIENCE):
        window.close()
    assert window.doctor.dialog is None
    assert not is_alive(int(told.read_text()))
