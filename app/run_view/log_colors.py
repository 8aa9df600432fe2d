"""The colours that terminal programs ask for, made readable on the ground of the log.

What they ask for is kept as a number (`Ink`), so that rows do not depend on the theme. A colour that would be
too close to what is behind it becomes lighter or darker until it reaches the contrast; its hue stays.
"""

from __future__ import annotations

from PySide6.QtGui import QColor

from app.theme import Theme

CONTRAST = 4.5
RGB = 1 << 24
"""Added to a colour of 24 bits; below are the 256 by number."""
DEFAULT_TEXT, DEFAULT_GROUND = -1, -2
"""What reversed text has where the program chose nothing."""
_GRAYS = (0, 7, 8, 15)
_LEVELS = (0, 95, 135, 175, 215, 255)


def luminance(color: QColor) -> float:
    """How bright a colour is, 0 to 1, as the contrast formula of WCAG wants it."""

    def linear(part: float) -> float:
        return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)

    red, green, blue = linear(color.redF()), linear(color.greenF()), linear(color.blueF())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: QColor, second: QColor) -> float:
    """The contrast of two colours, 1 to 21."""
    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def readable(color: QColor, *grounds: QColor) -> QColor:
    """The colour, or the nearest lighter or darker one that reaches the contrast on all these grounds."""

    def worst(candidate: QColor) -> float:
        return min(contrast(candidate, ground) for ground in grounds)

    if worst(color) >= CONTRAST:
        return color
    best = color
    for end in (0.0, 1.0):
        far = _with_lightness(color, end)
        if worst(far) < CONTRAST:
            best = far if worst(far) > worst(best) else best
            continue
        near_by, enough = color.lightnessF(), end
        for _ in range(8):
            middle = (near_by + enough) / 2
            if worst(_with_lightness(color, middle)) >= CONTRAST:
                enough = middle
            else:
                near_by = middle
        found = _with_lightness(color, enough)
        if worst(best) < CONTRAST or abs(enough - color.lightnessF()) < abs(
            best.lightnessF() - color.lightnessF()
        ):
            best = found
    return best


def _with_lightness(color: QColor, lightness: float) -> QColor:
    hue, saturation = max(0.0, color.hslHueF()), color.hslSaturationF()
    # In whole steps, as it is painted: a colour that is rounded later may miss what it was chosen for.
    return QColor(QColor.fromHslF(hue, saturation, lightness).rgb())


def behind(ground: int, colors: Theme) -> QColor:
    """What a program wants behind its text. There black is dark and white is light in both themes."""
    if ground in _GRAYS:
        return QColor(colors.terminal_grays[_GRAYS.index(ground)])
    return wished(ground, colors)


def wished(ink: int, colors: Theme) -> QColor:
    """What a program asked for, before anybody looks whether it can be read."""
    if ink >= RGB:
        return QColor(ink >> 16 & 255, ink >> 8 & 255, ink & 255)
    if ink >= 232:
        gray = 8 + 10 * (ink - 232)
        return QColor(gray, gray, gray)
    if ink >= 16:
        red, green, blue = (ink - 16) // 36, (ink - 16) // 6 % 6, (ink - 16) % 6
        return QColor(_LEVELS[red], _LEVELS[green], _LEVELS[blue])
    if ink >= 0:
        return QColor(colors.terminal[ink])
    return colors.color("text" if ink == DEFAULT_TEXT else "ground")
