"""Buttons painted in the theme's own way: one filled button at most is the important one."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QFocusEvent, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.painting import paint_method
from app.platform_keys import native_keys
from app.theme import GRID, RADIUS, font, paint_icon, theme

_ICON = 14


class ButtonLook(StrEnum):
    """How much a button asks to be pressed."""

    FILLED = "filled"
    OUTLINED = "outlined"
    LINK = "link"
    FLAT = "flat"


class Button(QPushButton):
    """A push button with a look. `menu`: it opens this menu below itself instead of doing something."""

    def __init__(
        self,
        text: str,
        look: ButtonLook = ButtonLook.OUTLINED,
        icon_name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._look = look
        self._icon_name = icon_name
        self._icon_token = ""
        self._drop_down: QMenu | None = None
        self._shows_menu = False
        self.followed: QAction | None = None
        """The action that it triggers, if it is there for one."""
        self._ring = False
        self.setFont(font(bold=look is ButtonLook.FILLED))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)

    @property
    def look(self) -> ButtonLook:
        """How it looks at present."""
        return self._look

    @property
    def shows_focus(self) -> bool:
        """Whether it has the focus, and shows it: it came by keys."""
        return self.hasFocus() and self._ring

    def set_look(self, look: ButtonLook) -> None:
        """Look otherwise, with the same size."""
        if look is not self._look:
            self._look = look
            self.update()

    def set_icon_name(self, name: str, token: str = "") -> None:
        """Another icon of `resources/icons`. `token`: its colour of the theme; empty: that of the text."""
        self._icon_name = name
        self._icon_token = token
        self.update()

    @property
    def icon_name(self) -> str:
        """Its icon of `resources/icons`; empty: none."""
        return self._icon_name

    @property
    def drop_down(self) -> QMenu | None:
        """The menu that it opens instead of doing something."""
        return self._drop_down

    def set_drop_down(self, menu: QMenu) -> None:
        """Open this menu when pressed, and show that it does so."""
        self.opens(menu)
        self._shows_menu = True
        self.updateGeometry()

    def opens(self, menu: QMenu) -> None:
        """Open this menu when pressed; the button's own icon says so."""
        self._drop_down = menu
        self.clicked.connect(self._open_drop_down)

    def follow_action(self, action: QAction) -> None:
        """Be enabled as the action is, and trigger it."""
        self.followed = action
        self.clicked.connect(action.trigger)
        action.enabledChanged.connect(self.setEnabled)
        self.setEnabled(action.isEnabled())
        shortcut = native_keys(action.shortcut())
        self.setToolTip(f"{action.toolTip()} ({shortcut})" if shortcut else action.toolTip())

    def _open_drop_down(self) -> None:
        if self._drop_down is not None:
            # Not exec: a nested loop would hold up every coroutine of a run.
            self._drop_down.popup(self.mapToGlobal(self.rect().bottomLeft()))

    # --- geometry --------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:  # noqa: N802
        # A link stays one, and begins where the text above it does.
        is_link = self._look is ButtonLook.LINK
        metrics = QFontMetrics(self.font() if is_link else _bold(self.font()))
        padding = 2 if is_link else 3 * GRID
        width = metrics.horizontalAdvance(_shown(self.text())) + 2 * padding
        if self._icon_name:
            width += _ICON + (6 if self.text() else 0)
        if self._shows_menu:
            width += _ICON
        return QSize(width, max(28, metrics.height() + 10))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    # --- painting --------------------------------------------------------------------------------------

    def _colors(self) -> tuple[QColor | None, QColor | None, QColor]:
        """Ground, edge and text."""
        colors = theme()
        enabled, pressed, over = self.isEnabled(), self.isDown(), self.underMouse()
        if self._look is ButtonLook.FILLED:
            ground = colors.color("accent")
            if not enabled:
                ground = mix(ground, colors.color("surface"), 0.5)
            elif pressed or over:
                ground = mix(ground, colors.color("text"), 0.2 if pressed else 0.1)
            return ground, None, colors.color("on_accent")
        text = colors.color("text" if enabled else "disabled")
        lit = colors.color("raised") if enabled and (over or pressed) else None
        if self._look is ButtonLook.LINK:
            return None, None, colors.color("accent" if enabled else "disabled")
        if self._look is ButtonLook.FLAT:
            chosen = colors.color("accent_soft") if self.isChecked() else lit
            return chosen, None, text if self.isChecked() or over or not enabled else colors.color("quiet")
        if self.isChecked():
            lit = colors.color("accent_soft")
        return lit or colors.color("surface"), colors.color("line"), text

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        ground, edge, text_color = self._colors()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(QPen(edge, 1) if edge is not None else Qt.PenStyle.NoPen)
            if ground is not None:
                painter.setBrush(ground)
            painter.drawRoundedRect(box, RADIUS, RADIUS)
            self._paint_content(painter, text_color)
            if self.shows_focus:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                # Inside a filled button: around it the ring would be hard to tell from the ground.
                on, by = self._look is ButtonLook.FILLED, 2.5 if self._look is ButtonLook.FILLED else 0.5
                painter.setPen(QPen(theme().color("on_accent" if on else "accent"), 1.5 if on else 2))
                painter.drawRoundedRect(box.adjusted(by, by, -by, -by), RADIUS - by / 2, RADIUS - by / 2)

    def _paint_content(self, painter: QPainter, color: QColor) -> None:
        painter.setFont(self.font())
        text = _shown(self.text())
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(text)
        extra = (_ICON + (6 if text else 0)) if self._icon_name else 0
        tail = _ICON if self._shows_menu else 0
        left = max(2.0, (self.width() - width - extra - tail) / 2)
        middle = self.height() / 2
        if self._icon_name:
            tone = theme().color(self._icon_token) if self._icon_token and self.isEnabled() else color
            paint_icon(painter, self._icon_name, QRectF(left, middle - _ICON / 2, _ICON, _ICON), tone)
            left += extra
        painter.setPen(color)
        box = QRectF(left, 0, self.width() - left - tail, self.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        if self._look is ButtonLook.LINK and (self.underMouse() or self.hasFocus()):
            y = middle + metrics.ascent() / 2 + 2
            painter.drawLine(int(left), int(y), int(left + width), int(y))
        if tail:
            chevron = QRectF(self.width() - tail - 8, middle - 6, 12, 12)
            paint_icon(painter, "chevron-down", chevron, color)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        # A ring helps who walks with keys; after a click it is only noise.
        self._ring = event.reason() is not Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        self.update()


def mix(first: QColor, second: QColor, part: float) -> QColor:
    """`first` with so much of `second` in it (0 to 1)."""
    return QColor.fromRgbF(
        first.redF() * (1 - part) + second.redF() * part,
        first.greenF() * (1 - part) + second.greenF() * part,
        first.blueF() * (1 - part) + second.blueF() * part,
    )


def _shown(text: str) -> str:
    """The text without the marks of mnemonics."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def _bold(normal: QFont) -> QFont:
    """The widest that the text may become when the look changes."""
    result = QFont(normal)
    result.setWeight(QFont.Weight.DemiBold)
    return result
