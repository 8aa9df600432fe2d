"""Colours, fonts, measures and icons: the one place where the look is decided.

Every view takes its colours from `Theme`, never from a literal, so that light and dark stay one design.
The hues were measured for contrast (at least 4.5:1 on their ground) and for colour-blind eyes: blue always
means parallel or running, green succeeded, vermillion needs attention, grey is quiet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from app.painting import paint_method
from core.statuses import TurnStatus

GRID = 4
"""Spacing is a multiple of this many logical pixels."""
RADIUS = 6


class Scheme(StrEnum):
    """What the user chose; `system` follows the desktop (light where it does not say)."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one scheme, as `#rrggbb`."""

    dark: bool
    ground: str
    """Behind cards and panels."""
    surface: str
    """Cards, panels, fields."""
    raised: str
    """A header on a surface, hover."""
    line: str
    edge: str
    """Of what is told by its outline alone, such as an empty check box: 3:1 on every ground."""
    text: str
    quiet: str
    """Secondary text: still 4.5:1."""
    accent: str
    """Parallel, running, links, focus."""
    accent_soft: str
    """Ground of a parallel header and of a selection."""
    on_accent: str
    succeeded: str
    failed: str
    other: str
    """Reasoning and notes that are neither good nor bad."""
    disabled: str
    terminal: tuple[str, ...] = ()
    """The sixteen colours of terminal programs; black and white are what can be read on the ground."""
    terminal_grays: tuple[str, ...] = ()
    """Black, white, bright black and bright white where a terminal program paints them behind text."""

    def color(self, name: str) -> QColor:
        """A token as QColor."""
        return QColor(getattr(self, name))

    def status_color(self, status: TurnStatus | None) -> QColor:
        """The colour of a turn's status; None: no run yet."""
        names = {
            TurnStatus.RUNNING: self.accent,
            TurnStatus.SUCCEEDED: self.succeeded,
            TurnStatus.FAILED: self.failed,
        }
        return QColor(names.get(status, self.quiet) if status else self.quiet)


LIGHT = Theme(
    dark=False,
    ground="#f3f4f6",
    surface="#ffffff",
    raised="#f7f8fa",
    line="#d6d9de",
    edge="#7c8188",
    text="#1b1d21",
    quiet="#5f6368",
    accent="#0072b2",
    accent_soft="#e6f1f9",
    on_accent="#ffffff",
    succeeded="#00795a",
    failed="#c03a00",
    other="#9a4f80",
    disabled="#a2a7ae",
    terminal=(
        *("#1b1d21", "#b3261e", "#1a6b2f", "#7a5300", "#1a4fc0", "#8c2f86", "#00616b", "#4a4d52"),
        *("#5a5e63", "#c0281f", "#1d7434", "#855a00", "#1f5bd8", "#a0369a", "#006a75", "#1b1d21"),
    ),
    terminal_grays=("#1b1d21", "#d6d9de", "#5f6368", "#ffffff"),
)
DARK = Theme(
    dark=True,
    ground="#17181b",
    surface="#1e1f23",
    raised="#26282d",
    line="#3a3d43",
    edge="#83888f",
    text="#e8eaed",
    quiet="#a8adb3",
    accent="#56b4e9",
    accent_soft="#1c2d3c",
    on_accent="#0d1720",
    succeeded="#33c29a",
    failed="#ff8a4c",
    other="#cc79a7",
    disabled="#6b7077",
    terminal=(
        *("#a8adb3", "#f0776c", "#5fc97a", "#d9b44a", "#74a7f7", "#d489d0", "#4cc3cf", "#d3d6da"),
        *("#a8adb3", "#ff9086", "#7fdd96", "#eccb6b", "#93bdff", "#e6a3e2", "#74dbe6", "#ffffff"),
    ),
    terminal_grays=("#000000", "#c4c8ce", "#4a4d54", "#ffffff"),
)


STATUS_ICONS: dict[TurnStatus, str] = {
    TurnStatus.WAITING: "circle-dashed",
    TurnStatus.RUNNING: "loader-circle",
    TurnStatus.SUCCEEDED: "circle-check",
    TurnStatus.FAILED: "circle-alert",
    TurnStatus.STOPPED: "circle-stop",
}
"""A shape of its own for every status, so that none is told by colour alone."""


class Appearance(QObject):
    """The application's look: one object for the whole process, owned by the application.

    Signals: `changed()` after the theme changed and the palette is set; painted views repaint on it.
    """

    changed = Signal()

    def __init__(self, application: QApplication, scheme: Scheme = Scheme.SYSTEM) -> None:
        super().__init__(application)
        self._application = application
        self._scheme = scheme
        application.setStyle("Fusion")
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._apply()

    @property
    def scheme(self) -> Scheme:
        """What was chosen."""
        return self._scheme

    def choose(self, scheme: Scheme) -> None:
        """Switch the look."""
        self._scheme = scheme
        self._apply()

    @Slot()
    def _follow_system(self) -> None:
        if self._scheme is Scheme.SYSTEM:
            self._apply()

    def _apply(self) -> None:
        system_dark = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
        dark = self._scheme is Scheme.DARK or (self._scheme is Scheme.SYSTEM and system_dark)
        _current[0] = DARK if dark else LIGHT
        self._application.setPalette(palette(_current[0]))
        self.changed.emit()


_current: list[Theme] = [LIGHT]


def theme() -> Theme:
    """The theme in force."""
    return _current[0]


def palette(colors: Theme) -> QPalette:
    """The Qt palette of a theme, for native widgets."""
    result = QPalette()
    role = QPalette.ColorRole
    for which, color in {
        role.Window: colors.ground,
        role.WindowText: colors.text,
        role.Base: colors.surface,
        role.AlternateBase: colors.raised,
        role.Text: colors.text,
        role.Button: colors.surface,
        role.ButtonText: colors.text,
        role.BrightText: colors.failed,
        role.Highlight: colors.accent,
        role.HighlightedText: colors.on_accent,
        role.Link: colors.accent,
        role.LinkVisited: colors.accent,
        role.ToolTipBase: colors.surface,
        role.ToolTipText: colors.text,
        role.PlaceholderText: colors.quiet,
        role.Light: colors.raised,
        role.Midlight: colors.line,
        role.Mid: colors.line,
        role.Dark: colors.line,
        role.Shadow: colors.ground,
        role.Accent: colors.accent,
    }.items():
        result.setColor(which, QColor(color))
    group = QPalette.ColorGroup.Disabled
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText, role.PlaceholderText):
        result.setColor(group, which, QColor(colors.disabled))
    result.setColor(group, role.Highlight, QColor(colors.line))
    return result


class TextSize(StrEnum):
    """The sizes of text: labels, what is beside a text, text, titles."""

    LABEL = "label"
    SMALL = "small"
    TEXT = "text"
    TITLE = "title"


_PIXELS = {TextSize.LABEL: 11, TextSize.SMALL: 12, TextSize.TEXT: 13, TextSize.TITLE: 14}


def font(size: TextSize = TextSize.TEXT, *, bold: bool = False, tabular: bool = False) -> QFont:
    """The interface font. `tabular`: digits of one width, for numbers that change while one looks."""
    result = QFont(QGuiApplication.font())
    result.setPixelSize(_PIXELS[size])
    result.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    if tabular:
        result.setFeature(QFont.Tag("tnum"), 1)
    return result


def mono_font(zoom: int = 0) -> QFont:
    """The fixed-width font of logs and code; `zoom` in pixels more or less than 12."""
    result = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    result.setPixelSize(max(6, 12 + zoom))
    result.setStyleHint(QFont.StyleHint.Monospace)
    return result


class SvgIconEngine(QIconEngine):
    """Paints a Lucide icon in a colour of the theme in force, sharp at any scale."""

    def __init__(self, name: str, token: str) -> None:
        super().__init__()
        self._name = name
        self._token = token

    @paint_method
    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        del state
        color = theme().color("disabled" if mode is QIcon.Mode.Disabled else self._token)
        paint_icon(painter, self._name, QRectF(rect), color)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        result = QPixmap(size)
        result.fill(Qt.GlobalColor.transparent)
        with QPainter(result) as painter:
            self.paint(painter, result.rect(), mode, state)
        return result

    def clone(self) -> QIconEngine:
        return SvgIconEngine(self._name, self._token)


@lru_cache(maxsize=256)
def _renderer(name: str, color: str) -> QSvgRenderer:
    source = (files("resources") / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(QByteArray(source.replace("currentColor", color).encode()))


def paint_icon(painter: QPainter, name: str, rect: QRectF, color: QColor) -> None:
    """Paint an icon of `resources/icons` (name without `.svg`) into `rect`."""
    _renderer(name, color.name()).render(painter, rect)


def icon(name: str, token: str = "text") -> QIcon:
    """An icon that follows the theme. `token`: a colour of `Theme`."""
    return QIcon(SvgIconEngine(name, token))


def is_appearance_event(event: QEvent) -> bool:
    """Whether a changeEvent means that painted colours or fonts are out of date."""
    return event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange)
