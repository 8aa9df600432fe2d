"""Whether one sees where the focus is: the picture of a control with it against that without it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QWidget

from app.tab_order import give_focus
from tests.app.keyboard_audit import name_of, stops

CONTRAST = 3.0
"""Of the sign of the focus against what is there without it (WCAG 2.2, 1.4.11 and 2.4.13)."""
LEAST = 24
"""Pixels of the sign, so that the caret of a field is not enough."""
AROUND = 3


def focus_complaints(top: QWidget) -> list[str]:
    """Controls of a window that look (nearly) the same with the focus and without it."""
    found = []
    for widget in stops(top):
        widget.clearFocus()
        give_focus(widget, Qt.FocusReason.TabFocusReason)
        QCoreApplication.sendPostedEvents()
        if not widget.hasFocus():
            # Who hands the focus on is looked at under that name.
            continue
        seen = _seen(widget, top)
        focused = _picture(top, seen)
        top.setFocus(Qt.FocusReason.OtherFocusReason)
        widget.clearFocus()
        QCoreApplication.sendPostedEvents()
        unfocused = _picture(top, seen)
        count = pixels_that_tell(focused, unfocused)
        if count < LEAST:
            found.append(f"{count} pixels tell the focus of {name_of(widget)}")
    return found


def _seen(widget: QWidget, top: QWidget) -> QRect:
    """What can be seen of a control, and a little around it."""
    box = QRect(widget.mapTo(top, QPoint(0, 0)), widget.size())
    return box.adjusted(-AROUND, -AROUND, AROUND, AROUND) & QRect(QPoint(0, 0), top.size())


def _picture(top: QWidget, box: QRect) -> QImage:
    if QGuiApplication.platformName() == "offscreen":
        # What stands there, without painting all of it once more.
        seen = top.screen().grabWindow(top.winId(), box.x(), box.y(), box.width(), box.height())
    else:
        seen = top.grab(box)
    return seen.toImage().convertToFormat(QImage.Format.Format_RGB32)


def pixels_that_tell(focused: QImage, unfocused: QImage) -> int:
    """Pixels that differ by enough contrast to be seen."""
    assert focused.size() == unfocused.size()
    if focused == unfocused:
        return 0
    width, height = focused.width(), focused.height()
    known: dict[tuple[int, int], bool] = {}
    count = 0
    first, second = _rows(focused), _rows(unfocused)
    for y in range(height):
        if first[y] == second[y]:
            continue
        for x in range(width):
            pair = (focused.pixel(x, y), unfocused.pixel(x, y))
            if pair[0] == pair[1]:
                continue
            if pair not in known:
                known[pair] = contrast(QColor(pair[0]), QColor(pair[1])) >= CONTRAST
            count += known[pair]
            if count >= LEAST:
                return count
    return count


def _rows(image: QImage) -> list[bytes]:
    data, step = bytes(image.constBits()), image.bytesPerLine()
    return [data[at * step : at * step + 4 * image.width()] for at in range(image.height())]


def contrast(first: QColor, second: QColor) -> float:
    """Ratio of two colours as WCAG counts it, 1 to 21."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (color.redF(), color.greenF(), color.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
