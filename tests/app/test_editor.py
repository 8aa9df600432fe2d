"""Files that logs name open in the user's editor, and nothing that an agent names is ever run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from app.editor import (
    PRESETS,
    EditorError,
    FilePlace,
    command_for,
    command_in_force,
    is_safe_for_desktop,
    of_environment,
    plan_opening,
    words_of,
)
from app.editor_dialog import EditorDialog
from app.file_opening import FileOpening
from app.log_display import LogDisplay
from app.right_side import RightSide
from app.settings_store import SettingsStore
from app.window_actions import WindowActions

posix_only = pytest.mark.skipif(os.name != "posix", reason="programs without a suffix")
EDITOR = """#!{python}
import os, sys
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "told")
with open(out + ".part", "w") as file:
    file.write("\\n".join(sys.argv[1:]))
os.replace(out + ".part", out)
"""


def make_editor(folder: Path, name: str = "code") -> Path:
    """A program that writes down what it is told."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(EDITOR.format(python=sys.executable), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH, empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("VISUAL", raising=False)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "my file.py"
    path.parent.mkdir()
    path.write_text("x = 1\n", encoding="utf-8")
    return path


# --- the command --------------------------------------------------------------------------------------


@posix_only
@pytest.mark.parametrize(
    ("template", "arguments"),
    [
        ("code --goto {file}:{line}:{column}", ["--goto", "FILE:12:3"]),
        ("code", ["FILE"]),
        ("code -n", ["-n", "FILE"]),
        ("code +{line} '{file}' \"a b\"", ["+12", "FILE", "a b"]),
        (r"code C:\dir {file}", [r"C:\dir", "FILE"]),
        ("code $(touch x) ; {file} | cat", ["$(touch", "x)", ";", "FILE", "|", "cat"]),
    ],
)
def test_a_command_gets_the_place_as_its_arguments(
    programs: Path, file: Path, template: str, arguments: list[str]
) -> None:
    make_editor(programs)
    words = command_for(template, FilePlace(file, 12, 3))
    assert words == [str(programs / "code"), *(word.replace("FILE", str(file)) for word in arguments)]


@pytest.mark.parametrize(
    ("template", "problem"),
    [("", "empty"), ("  ", "empty"), ("code 'open", "no partner"), ("code {path}", r"\{path\} is not known")],
)
def test_a_command_that_makes_no_sense_says_why(template: str, problem: str) -> None:
    with pytest.raises(EditorError, match=problem):
        words_of(template)


@pytest.mark.usefixtures("programs")
def test_an_editor_that_is_gone_is_named(file: Path) -> None:
    with pytest.raises(EditorError, match="“subl” was not found"):
        command_for("subl {file}", FilePlace(file))


@posix_only
def test_a_program_in_the_folder_one_is_in_is_none(
    programs: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_editor(file.parent)
    monkeypatch.chdir(file.parent)
    monkeypatch.setenv("PATH", f"{os.pathsep}.{os.pathsep}{programs}")
    for name in ("code", "./code"):
        with pytest.raises(EditorError, match="was not found"):
            command_for(name, FilePlace(file))


@posix_only
def test_visual_counts_where_it_has_a_window_of_its_own(programs: Path) -> None:
    for name in ("code", "vim", "emacs"):
        make_editor(programs, name)
    assert of_environment({"VISUAL": "code --wait -n"}) == "code -n --goto {file}:{line}:{column}"
    assert (
        of_environment({"VISUAL": f"'{programs}/code'"})
        == f"{programs}/code --goto {{file}}:{{line}}:{{column}}"
    )
    for value in ("vim", "emacs -nw", "kate", "", "'", "no-such {file}"):
        assert of_environment({"VISUAL": value}) is None, value


@posix_only
def test_what_the_user_chose_comes_before_visual_and_visual_before_what_is_there(programs: Path) -> None:
    assert command_in_force("", {}) is None
    make_editor(programs, "kate")
    make_editor(programs, "gedit")
    assert command_in_force("", {}) == "kate --line {line} --column {column} {file}"
    assert command_in_force("", {"VISUAL": "gedit"}) == "gedit +{line}:{column} {file}"
    assert command_in_force("mine {file}", {"VISUAL": "gedit"}) == "mine {file}"


def test_every_preset_is_a_command() -> None:
    for preset in PRESETS:
        for program in preset.programs:
            words = words_of(preset.command(program))
            assert words[0] == program
            assert any("{file}" in word for word in words[1:])


@posix_only
def test_a_batch_file_gets_no_signs_that_it_would_obey(programs: Path, tmp_path: Path) -> None:
    make_editor(programs, "code.cmd")
    with pytest.raises(EditorError, match="Windows could take for an order"):
        command_for("code.cmd {file}", FilePlace(tmp_path / "a&calc.py"))
    real = make_editor(tmp_path, "Code.exe")
    words = command_for("code.cmd {file}", FilePlace(tmp_path / "a&calc.py"))
    assert words == [str(real), str(tmp_path / "a&calc.py")]


# --- without an editor --------------------------------------------------------------------------------


def test_the_desktop_opens_only_what_it_cannot_run(tmp_path: Path) -> None:
    def safe(name: str, platform: str, mode: int = 0o644) -> bool:
        path = tmp_path / name
        path.touch()
        path.chmod(mode)
        return is_safe_for_desktop(path, platform)

    for platform in ("linux", "darwin", "win32"):
        assert safe("a.md", platform)
        for name in (
            "a.desktop",
            "a.exe",
            "a.sh",
            "a.bat",
            "a.app",
            "a.jar",
            "a.lnk",
            "a.html",
            "a.command",
            "a",
        ):
            assert not safe(name, platform), name
    assert safe("a.py", "linux")
    assert not safe("a.py", "win32")
    assert not safe("a.py", "darwin")
    if os.name == "posix":
        assert not safe("b.md", "linux", 0o755)


@pytest.mark.usefixtures("programs")
def test_what_is_gone_or_no_file_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(EditorError, match=r"src/a\.py is not there any more"):
        plan_opening(FilePlace(tmp_path / "a.py", shown="src/a.py"), "")
    with pytest.raises(EditorError, match="not a file that can be edited"):
        plan_opening(FilePlace(tmp_path), "")
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe.py")
        with pytest.raises(EditorError, match="not a file that can be edited"):
            plan_opening(FilePlace(tmp_path / "pipe.py"), "")


# --- in the window ------------------------------------------------------------------------------------


class Desktop(QObject):
    """Takes what would be given to the desktop."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        for scheme in ("file", "https"):
            QDesktopServices.setUrlHandler(scheme, self, "take")

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.asked.append(url.toString())

    def let_go(self) -> None:
        for scheme in ("file", "https"):
            QDesktopServices.unsetUrlHandler(scheme)


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    result = Desktop()
    yield result
    result.let_go()


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "window.ini")


@pytest.fixture
def window(qtbot: QtBot) -> QMainWindow:
    result = QMainWindow()
    qtbot.addWidget(result)
    return result


@pytest.fixture
def right(window: QMainWindow, store: SettingsStore) -> RightSide:
    return RightSide(QWidget(), window)


@pytest.fixture
def actions(window: QMainWindow) -> WindowActions:
    return WindowActions(window)


@pytest.fixture
def opening(
    right: RightSide, actions: WindowActions, store: SettingsStore, window: QMainWindow
) -> Iterator[FileOpening]:
    result = FileOpening(right, actions, store, window)
    yield result
    result.close()


def wait(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    qtbot.waitUntil(condition)


@posix_only
def test_a_file_opens_in_the_editor_that_was_chosen(
    opening: FileOpening, store: SettingsStore, tmp_path: Path, file: Path, qtbot: QtBot
) -> None:
    editor = make_editor(tmp_path / "my editor")
    store.editor = f'"{editor}" --goto {{file}}:{{line}}'
    opening.open_file(FilePlace(file, 7))
    told = editor.parent / "told"
    wait(qtbot, told.exists)
    assert told.read_text(encoding="utf-8").split("\n") == ["--goto", f"{file}:7"]


def test_without_an_editor_what_could_be_run_shows_its_folder(
    opening: FileOpening, programs: Path, desktop: Desktop, tmp_path: Path, qtbot: QtBot
) -> None:
    del programs
    run = tmp_path / "run.desktop"
    run.touch()
    with qtbot.waitSignal(opening.message) as said:
        opening.open_file(FilePlace(run))
    assert "its folder was opened" in said.args[0]
    notes = tmp_path / "notes.md"
    notes.touch()
    opening.open_file(FilePlace(notes))
    wait(qtbot, lambda: len(desktop.asked) == 2)
    assert desktop.asked == [QUrl.fromLocalFile(str(path)).toString() for path in (tmp_path, notes)]


def test_what_cannot_be_opened_says_so(opening: FileOpening, tmp_path: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opening.message) as said:
        opening.open_file(FilePlace(tmp_path / "gone.py", shown="gone.py"))
    assert said.args == ["gone.py is not there any more."]


def test_how_logs_look_is_kept_for_the_next_start(
    right: RightSide, actions: WindowActions, store: SettingsStore, window: QMainWindow, tmp_path: Path
) -> None:
    LogDisplay(right, actions, store, window)
    host = right.run_view.tabs.host
    assert (host.wrap, host.line_numbers) == (True, False)
    host.show_as(wrap=False, line_numbers=True)
    store.write()
    again = SettingsStore(tmp_path / "window.ini")
    assert (again.log_wrap, again.log_line_numbers) == (False, True)


def test_an_address_opens_in_the_browser(opening: FileOpening, right: RightSide, desktop: Desktop) -> None:
    del opening
    right.run_view.tabs.host.address_requested.emit("https://example.org/a?b=1")
    assert desktop.asked == ["https://example.org/a?b=1"]


@posix_only
def test_the_editor_is_chosen_in_a_dialog_and_kept(
    opening: FileOpening, actions: WindowActions, store: SettingsStore, programs: Path, qtbot: QtBot
) -> None:
    make_editor(programs, "kate")
    make_editor(programs, "codium")
    actions.choose_editor.trigger()
    wait(qtbot, lambda: opening.dialog is not None)
    dialog = opening.dialog
    assert isinstance(dialog, EditorDialog)
    names = [dialog.box.itemText(at) for at in range(dialog.box.count())]
    assert names == [
        "Automatic: VSCodium",
        "VSCodium",
        "Kate",
        "A command of your own",
    ]
    QTest.keyClick(dialog.box, Qt.Key.Key_Down)
    QTest.keyClick(dialog.box, Qt.Key.Key_Down)
    dialog.box.activated.emit(dialog.box.currentIndex())
    assert dialog.field.text() == "kate --line {line} --column {column} {file}"
    assert not dialog.field.isEnabled()
    QTest.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert store.editor == "kate --line {line} --column {column} {file}"
    wait(qtbot, lambda: opening.dialog is None)


def test_a_command_of_ones_own_is_checked_while_it_is_written(qtbot: QtBot) -> None:
    dialog = EditorDialog("mine {file}", [], ("as your system opens the file", ""))
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.box.currentText() == "A command of your own"
    assert dialog.field.text() == "mine {file}"
    QTest.keyClicks(dialog.field, " {row}")
    assert dialog.error.text() == "{row} is not known. There are {file}, {line} and {column}."
    assert not dialog.use_button.isEnabled()
    dialog.field.selectAll()
    QTest.keyClicks(dialog.field, "other")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert chosen.args == ["other"]
