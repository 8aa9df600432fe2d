"""The look: contrast, signs beside colours, sharp icons, and one place that decides."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionButton
from pytestqt.qtbot import QtBot

import app
import resources
from app.fields import OutlinedCheckBox
from app.theme import DARK, LIGHT, STATUS_ICONS, Appearance, Scheme, Theme, icon, palette, theme
from core.events import TurnStatus

THEMES = pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
GROUNDS = ("ground", "surface", "raised", "accent_soft")
TEXTS = ("text", "quiet", "accent", "succeeded", "failed", "other")
OUTLINE = 3.0
"""WCAG 2.1, success criterion 1.4.11, for what is no text."""
READABLE = 4.5
"""WCAG 2.1, success criterion 1.4.3, for text of usual size."""


def luminance(color: QColor) -> float:
    """Relative luminance as WCAG 2.1 defines it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(first: QColor, second: QColor) -> float:
    """Contrast ratio of WCAG 2.1, from 1 to 21."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_as_the_standard_does() -> None:
    assert contrast(QColor("#000000"), QColor("#ffffff")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("#ffffff")) == pytest.approx(4.48, abs=0.01)


@THEMES
@pytest.mark.parametrize(("text", "ground"), list(itertools.product(TEXTS, GROUNDS)))
def test_every_text_is_readable_on_every_ground(colors: Theme, text: str, ground: str) -> None:
    assert contrast(colors.color(text), colors.color(ground)) >= READABLE


@THEMES
def test_the_text_of_a_filled_button_is_readable(colors: Theme) -> None:
    assert contrast(colors.color("on_accent"), colors.color("accent")) >= READABLE


@THEMES
def test_what_native_widgets_show_is_readable(colors: Theme) -> None:
    made, role = palette(colors), QPalette.ColorRole
    for text, ground in (
        (role.WindowText, role.Window),
        (role.Text, role.Base),
        (role.Text, role.AlternateBase),
        (role.ButtonText, role.Button),
        (role.PlaceholderText, role.Base),
        (role.Link, role.Base),
        (role.HighlightedText, role.Highlight),
        (role.ToolTipText, role.ToolTipBase),
        (role.BrightText, role.Base),
    ):
        assert contrast(made.color(text), made.color(ground)) >= READABLE, (text, ground)


@THEMES
@pytest.mark.parametrize("ground", GROUNDS)
def test_what_is_told_by_its_outline_alone_is_seen(colors: Theme, ground: str) -> None:
    assert contrast(colors.color("edge"), colors.color(ground)) >= OUTLINE


def test_every_status_has_a_sign_of_its_own() -> None:
    assert set(STATUS_ICONS) == set(TurnStatus)
    assert len(set(STATUS_ICONS.values())) == len(STATUS_ICONS)


def icon_files() -> list[Path]:
    return sorted((resources.folder() / "icons").glob("*.svg"))


@pytest.mark.parametrize("path", icon_files(), ids=lambda path: path.stem)
def test_every_icon_is_a_drawing_without_measures_in_pixels_that_takes_the_themes_colour(path: Path) -> None:
    source = path.read_text("utf-8")
    assert "viewBox" in source
    assert "<image" not in source
    if path.stem != "openloop":
        assert "currentColor" in source
        assert not re.search(r"#[0-9a-fA-F]{3,6}\b", source)


def painted(made: QIcon, side: int) -> int:
    """Pixels of an icon that are not empty."""
    image = made.pixmap(QSize(side, side)).toImage()
    return sum(
        image.pixelColor(x, y).alpha() > 0
        for x, y in itertools.product(range(image.width()), range(image.height()))
    )


@pytest.mark.parametrize("side", [12, 16, 64, 256])
def test_icons_are_drawn_at_the_size_that_is_asked_for(qtbot: QtBot, side: int) -> None:
    made = icon("play")
    image = made.pixmap(QSize(side, side)).toImage()
    assert image.width() == image.height() == side * image.devicePixelRatio()
    assert painted(made, side) > side


@pytest.fixture
def appearance(qtbot: QtBot) -> Iterator[Appearance]:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    look = Appearance(application)
    yield look
    look.choose(Scheme.LIGHT)
    look.deleteLater()


@pytest.mark.parametrize("scheme", [Scheme.LIGHT, Scheme.DARK])
def test_an_empty_check_box_is_seen(appearance: Appearance, qtbot: QtBot, scheme: Scheme) -> None:
    appearance.choose(scheme)
    box = OutlinedCheckBox("Only what differs")
    qtbot.addWidget(box)
    box.setBackgroundRole(QPalette.ColorRole.Base)
    box.setAutoFillBackground(True)
    box.resize(box.sizeHint())
    picture = box.grab().toImage()
    option = QStyleOptionButton()
    box.initStyleOption(option)
    mark = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box)
    middle = picture.pixelColor(mark.center())
    edge = [picture.pixelColor(QPoint(x, mark.center().y())) for x in range(mark.left(), mark.left() + 3)]
    assert max(contrast(color, middle) for color in edge) >= OUTLINE


def test_light_and_dark_can_be_chosen_and_everyone_is_told(appearance: Appearance, qtbot: QtBot) -> None:
    for scheme, colors in ((Scheme.DARK, DARK), (Scheme.LIGHT, LIGHT)):
        with qtbot.waitSignal(appearance.changed):
            appearance.choose(scheme)
        assert theme() is colors
        assert QApplication.palette().color(QPalette.ColorRole.Base).name() == colors.surface


def test_the_look_follows_the_system_unless_one_was_chosen(
    appearance: Appearance, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints = QApplication.styleHints()
    told = [Qt.ColorScheme.Dark]
    # The offscreen platform has no scheme of its own that could change.
    monkeypatch.setattr(type(hints), "colorScheme", lambda _: told[0])
    appearance.choose(Scheme.SYSTEM)
    assert theme() is DARK
    told[0] = Qt.ColorScheme.Light
    hints.colorSchemeChanged.emit(told[0])
    assert theme() is LIGHT
    appearance.choose(Scheme.LIGHT)
    told[0] = Qt.ColorScheme.Dark
    hints.colorSchemeChanged.emit(told[0])
    assert theme() is LIGHT


def test_icons_take_the_colour_of_the_theme_in_force(appearance: Appearance) -> None:
    made = icon("square")

    def colour() -> QColor:
        image = made.pixmap(QSize(32, 32)).toImage()
        pixels = (image.pixelColor(x, y) for x, y in itertools.product(range(32), range(32)))
        return max(pixels, key=lambda pixel: pixel.alpha())

    appearance.choose(Scheme.LIGHT)
    light = colour()
    appearance.choose(Scheme.DARK)
    assert luminance(colour()) > luminance(light)


# --- one place decides --------------------------------------------------------------------------------


def application_files() -> list[Path]:
    folder = Path(app.__path__[0])
    return [path for path in sorted(folder.rglob("*.py")) if path.name != "theme.py"]


@pytest.mark.parametrize("path", application_files(), ids=lambda path: path.stem)
def test_no_colour_and_no_style_sheet_stands_outside_of_the_theme(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.fullmatch(r"#[0-9a-fA-F]{6}", node.value), f"{path}:{node.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr != "setStyleSheet", f"{path}:{node.lineno}"
