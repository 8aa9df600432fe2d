"""Every view in light and dark, usual and small: nothing is cut off, overlaps or cannot be read.

And whoever cannot see or point can hear and use all of it.

With OPENLOOP_SCREENSHOTS=FOLDER the pictures are kept there, to be looked at.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QLineEdit, QPushButton, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from app.theme import DARK, LIGHT, Scheme, Theme
from core.open_runs import is_held
from tests.app import accessible_tree, focus_audit, keyboard_audit
from tests.scenes import audit
from tests.scenes.every import SCENES, Scene
from tests.scenes.fixtures import application, listening, recorded  # noqa: F401  they are used by name
from tests.scenes.recording import RecordedEvents
from tests.scenes.stage import SMALL, USUAL, Stage, commonest_colour, is_plain, stage

THEMES = {Scheme.LIGHT: LIGHT, Scheme.DARK: DARK}


def keep(image: QImage, name: str) -> None:
    """Keep a picture where somebody wants to look at it."""
    folder = os.environ.get("OPENLOOP_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        assert image.save(str(Path(folder) / f"{name}.png"))


def look(open_stage: Stage, scene: Scene, scheme: Scheme, size: tuple[int, int]) -> QImage:
    """Show the scene so; gives its picture, after it was found in order."""
    open_stage.show(scheme, size)
    image = open_stage.picture()
    keep(image, f"{scene.name}-{scheme.value}-{size[0]}")
    assert (image.width(), image.height()) == size
    assert not is_plain(image)
    assert commonest_colour(image).name() in grounds(THEMES[scheme])
    assert audit.findings(open_stage.tops()) == []
    assert [finding for top in open_stage.tops() for finding in audit.unreadable(top)] == []
    return image


def grounds(theme: Theme) -> set[str]:
    return {theme.ground, theme.surface, theme.raised, theme.accent_soft}


def front(open_stage: Stage) -> QWidget:
    """The window or dialog that has the keys, once menus and lists that dropped down are closed."""
    while (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
        open_stage.settle()
    top = open_stage.tops()[-1]
    top.activateWindow()
    open_stage.until(top.isActiveWindow, "the window never became active")
    return top


@pytest.mark.usefixtures("application", "listening")
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_every_view_can_be_read_in_both_themes_and_heard_and_used_without_a_mouse(
    scene: Scene,
    tmp_path: Path,
    recorded: Mapping[str, RecordedEvents],  # noqa: F811
) -> None:
    # One test, as it takes longer to bring a window there than to look at it.
    with stage(tmp_path, recorded) as open_stage:
        scene.play(open_stage)
        assert audit.too_large(open_stage.tops()) == []
        told = [one for top in open_stage.tops() for one in accessible_tree.tree(top)]
        assert accessible_tree.complaints(told) == []

        light = look(open_stage, scene, Scheme.LIGHT, USUAL)
        dark = look(open_stage, scene, Scheme.DARK, USUAL)
        assert light != dark
        look(open_stage, scene, Scheme.DARK, SMALL)
        sharp = open_stage.picture(scale=2)
        keep(sharp, f"{scene.name}-{Scheme.DARK.value}-{SMALL[0]}@2")
        assert (sharp.width(), sharp.height()) == (2 * SMALL[0], 2 * SMALL[1])
        assert not is_plain(sharp)

        open_stage.show(Scheme.DARK, USUAL)
        top = front(open_stage)
        assert keyboard_audit.key_complaints(top) == []
        assert keyboard_audit.tab_complaints(top) == []
        for scheme in (Scheme.DARK, Scheme.LIGHT):
            open_stage.show(scheme, USUAL)
            assert focus_audit.focus_complaints(top) == [], scheme


@pytest.mark.usefixtures("application")
def test_the_followed_run_stands_still_while_it_is_looked_at(
    tmp_path: Path,
    recorded: Mapping[str, RecordedEvents],  # noqa: F811
) -> None:
    with stage(tmp_path, recorded) as open_stage:
        SCENES["followed_run"].play(open_stage)
        opened = open_stage.window.history.side.opened
        assert opened is not None
        assert opened.folder is not None
        gc.collect()
        assert is_held(opened.folder), "nobody runs it any more, and its pills go"


# --- the audit finds what it looks for ----------------------------------------------------------------


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    window.resize(300, 200)
    qtbot.addWidget(window)
    return window


def test_a_text_without_room_is_found(window: QWidget) -> None:
    label, field, tabs = QLabel("A sentence of some length", window), QLineEdit(window), QTabBar(window)
    label.setGeometry(0, 0, 60, 20)
    field.setGeometry(0, 30, 60, 24)
    field.setPlaceholderText("Search: a workflow, an agent")
    tabs.setGeometry(0, 60, 280, 30)
    tabs.setElideMode(Qt.TextElideMode.ElideRight)
    tabs.setUsesScrollButtons(True)
    for _ in range(9):
        tabs.addTab("A tab with a long title")
    button = QPushButton("A button with many words", window)
    button.setGeometry(0, 100, 50, 26)
    wrapped = QLabel("Words that need more than one line here", window)
    wrapped.setWordWrap(True)
    wrapped.setGeometry(0, 140, 80, 16)
    window.show()
    found = "\n".join(audit.cut_off([window]))
    for widget in ("A sentence of", "Search: a workflow", "A button with", "Words that need"):
        assert widget in found, widget
    label.setToolTip("A sentence of some length")
    assert "A sentence of" in "\n".join(audit.cut_off([window])), "a plain label elides nothing"
    label.setGeometry(0, 0, 280, 20)
    assert "A sentence of" not in "\n".join(audit.cut_off([window]))


def test_siblings_over_each_other_and_outside_of_their_parent_are_found(window: QWidget) -> None:
    first, second, outside = QLabel("first", window), QLabel("second", window), QLabel("outside", window)
    first.setGeometry(0, 0, 100, 20)
    second.setGeometry(50, 10, 100, 20)
    outside.setGeometry(250, 100, 100, 20)
    window.show()
    found = "\n".join(audit.overlaps([window]))
    assert "“first” in a window overlaps QLabel “second”" in found
    assert "“outside” in a window at 250,100 100×20 stands out" in found
    second.move(0, 30)
    outside.move(0, 60)
    assert audit.overlaps([window]) == []


def test_text_that_is_too_pale_is_found_unless_it_is_switched_off(window: QWidget) -> None:
    row = QHBoxLayout(window)
    pale, good = QLabel("pale words"), QLabel("good words")
    for label, colour in ((pale, "#b0b0b0"), (good, "#404040")):
        palette = label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, colour)
        palette.setColor(QPalette.ColorRole.Window, "#ffffff")
        label.setPalette(palette)
        label.setAutoFillBackground(True)
        row.addWidget(label)
    window.show()
    (finding,) = audit.unreadable(window)
    assert "pale words" in finding
    pale.setEnabled(False)
    assert audit.unreadable(window) == []


def test_a_dialog_that_is_larger_than_the_window_is_found(window: QWidget, qtbot: QtBot) -> None:
    dialog = QWidget(window, Qt.WindowType.Dialog)
    dialog.setGeometry(QRect(0, 0, 400, 100))
    window.show()
    dialog.show()
    assert "larger than the window" in "\n".join(audit.too_large([window, dialog]))
    assert QApplication.topLevelWidgets()
