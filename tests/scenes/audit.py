"""Looks at what is on the screen as a careful eye does: what is cut off, overlaps, or cannot be read.

`cut_off` and `overlaps` go by the widgets' sizes and metrics; `unreadable` by the pixels of the picture, so
that text which is painted counts as well. Each gives findings as sentences; none: all is well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QStackedWidget,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QTreeView,
    QWidget,
)

from app.run_view.tab_scroller import _Window
from core.visible_text import visible

READABLE = 4.5
"""WCAG 2.1, success criterion 1.4.3, for text of usual size."""
ROUNDING = 1
"""Pixels."""
OVERLAYS = (
    "LogPill",
    "CommandPalette",
    "FindBar",
    "FocusLine",
    "QRubberBand",
    "QSizeGrip",
    "QSplitterHandle",
)
"""What stands over other things on purpose, or takes clicks beside itself."""


def is_seen(widget: QWidget) -> bool:
    """Whether a widget is on the screen, at least in part."""
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def widgets_in(tops: Iterable[QWidget]) -> Iterator[QWidget]:
    """Everything that is seen in these windows."""
    for top in tops:
        for widget in (top, *top.findChildren(QWidget)):
            if is_seen(widget) and widget.window() is top:
                yield widget


def name_of(widget: QWidget) -> str:
    """A widget as a finding names it: its kind, the panel that it is in, and what it says."""
    owners = []
    parent = widget.parentWidget()
    while parent is not None and len(owners) < 3:
        if type(parent).__module__.startswith("app."):
            owners.append(type(parent).__name__)
        parent = parent.parentWidget()
    text = ""
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        text = widget.text() or (widget.placeholderText() if isinstance(widget, QLineEdit) else "")
    text = text or widget.accessibleName()
    return f"{type(widget).__name__} “{text[:60]}” in {' < '.join(owners) or 'a window'}"


def plain(text: str) -> str:
    """Text without mnemonics and mark-up, in one line."""
    if "<" in text:
        document = QTextDocument()
        document.setHtml(text)
        text = document.toPlainText()
    return re.sub(r"\s+", " ", text.replace("&&", "\0").replace("&", "").replace("\0", "&")).strip()


def _tip_has(widget: QWidget, text: str) -> bool:
    """Whether a tool tip of the widget, or of what it stands in, tells the whole text."""
    wanted = plain(text)
    at: QWidget | None = widget
    while at is not None:
        if wanted and (wanted in plain(at.toolTip()) or plain(visible(wanted)) in plain(at.toolTip())):
            return True
        at = at.parentWidget()
    return False


# --- cut off ------------------------------------------------------------------------------------------


def cut_off(tops: Iterable[QWidget]) -> list[str]:
    """Texts that have not the room they need, and widgets that are smaller than they can be."""
    return _cut_off_of(widgets_in(tops))


def _cut_off_of(widgets: Iterable[QWidget]) -> list[str]:
    return sorted({finding for widget in widgets for finding in _cut_off(widget)})


def _cut_off(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _cut_label(widget)
    elif isinstance(widget, QAbstractButton):
        yield from _cut_button(widget)
    elif isinstance(widget, QTabBar):
        yield from _cut_tabs(widget)
    elif isinstance(widget, QLineEdit):
        yield from _cut_field(widget)
    elif isinstance(widget, QComboBox):
        yield from _cut_combo(widget)
    elif isinstance(widget, QHeaderView):
        yield from _cut_header(widget)
    elif isinstance(widget, QMenuBar):
        for action in widget.actions():
            if action.isVisible() and not widget.rect().contains(widget.actionGeometry(action)):
                yield f"{name_of(widget)}: “{action.text()}” is outside"
    elif isinstance(widget, QMenu):
        for action in widget.actions():
            if action.isVisible() and widget.actionGeometry(action).width() > widget.width():
                yield f"{name_of(widget)}: “{action.text()}” is cut off"
    yield from _squeezed(widget)


def _cut_label(label: QLabel) -> Iterator[str]:
    text = label.text()
    if not text:
        return
    room = label.contentsRect().size() + QSize(ROUNDING, ROUNDING)
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        if needed > label.height() + ROUNDING:
            yield f"{name_of(label)} needs a height of {needed}, has {label.height()}"
        box = QRect(0, 0, room.width(), 100_000)
        widest = label.fontMetrics().boundingRect(box, Qt.TextFlag.TextWordWrap, text).width()
        if "<" not in text and widest > room.width() and not _tip_has(label, text):
            yield f"{name_of(label)}: a word needs a width of {widest}, has {room.width()}"
        return
    margins = label.contentsMargins()
    extra = QSize(margins.left() + margins.right(), margins.top() + margins.bottom())
    needed_size = QLabel.sizeHint(label) - extra
    elides = type(label).paintEvent is not QLabel.paintEvent
    if needed_size.width() > room.width() and not (elides and _tip_has(label, text)):
        yield f"{name_of(label)} needs a width of {needed_size.width()}, has {room.width()}"
    if label.fontMetrics().height() > room.height():
        yield f"{name_of(label)} needs a height of {label.fontMetrics().height()}, has {room.height()}"


def _cut_button(button: QAbstractButton) -> Iterator[str]:
    own = type(button).__module__.startswith("app.")
    if not own and not isinstance(button, QCheckBox | QRadioButton | QPushButton):
        return  # the arrows of bars and views lay themselves out
    if button.layout() is not None:
        return  # a card: what is in it is looked at on its own
    needed = button.sizeHint() if button.text() else button.iconSize()
    short = button.width() + ROUNDING < needed.width()
    if short and not (button.text() and _tip_has(button, button.text())):
        yield f"{name_of(button)} needs a width of {needed.width()}, has {button.width()}"
    if button.height() + ROUNDING < min(needed.height(), button.fontMetrics().height()):
        yield f"{name_of(button)} needs a height of {needed.height()}, has {button.height()}"


def _cut_tabs(bar: QTabBar) -> Iterator[str]:
    for index in range(bar.count()):
        if not bar.isTabVisible(index):
            continue
        box = bar.tabRect(index)
        text = bar.tabText(index)
        width = bar.fontMetrics().horizontalAdvance(plain(text)) + (
            bar.iconSize().width() if not bar.tabIcon(index).isNull() else 0
        )
        if width > box.width() + ROUNDING and plain(text) not in plain(bar.tabToolTip(index)):
            yield f"{name_of(bar)}: the tab “{text}” needs {width}, has {box.width()}"
        if "…" in text and not plain(bar.tabToolTip(index)):
            yield f"{name_of(bar)}: the tab “{text}” is shortened and has no tool tip"
        if not bar.usesScrollButtons() and not bar.rect().contains(box):
            yield f"{name_of(bar)}: the tab “{text}” is outside"


def _cut_field(field: QLineEdit) -> Iterator[str]:
    metrics = field.fontMetrics()
    if metrics.height() > field.height():
        yield f"{name_of(field)} needs a height of {metrics.height()}, has {field.height()}"
    text = field.placeholderText()
    if field.text() or not text:
        return
    margins = field.textMargins()
    room = field.contentsRect().width() - margins.left() - margins.right() - 4
    if metrics.horizontalAdvance(text) > room + ROUNDING and not _tip_has(field, text):
        needed = metrics.horizontalAdvance(text)
        yield f"{name_of(field)}: its placeholder needs {needed}, has {room}"


def _cut_combo(combo: QComboBox) -> Iterator[str]:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    part = QStyle.SubControl.SC_ComboBoxEditField
    box = combo.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, combo)
    needed = combo.fontMetrics().horizontalAdvance(combo.currentText())
    if needed > box.width() + ROUNDING and not _tip_has(combo, combo.currentText()):
        yield f"{name_of(combo)}: “{combo.currentText()}” needs {needed}, has {box.width()}"


def _cut_header(header: QHeaderView) -> Iterator[str]:
    model = header.model()
    if model is None or header.orientation() is Qt.Orientation.Vertical:
        return
    for section in range(header.count()):
        text = str(model.headerData(section, header.orientation()) or "")
        if header.isSectionHidden(section) or not text:
            continue
        needed = QFontMetrics(header.font()).horizontalAdvance(text)
        tip = model.headerData(section, header.orientation(), Qt.ItemDataRole.ToolTipRole)
        if needed > header.sectionSize(section) and text not in plain(str(tip or "")):
            yield f"{name_of(header)}: “{text}” needs {needed}, has {header.sectionSize(section)}"


_LOOKED_AT = QAbstractScrollArea | QLabel | QTabBar | QAbstractButton | QStackedWidget
"""Looked at in another way, or with pages that are not shown."""


def _squeezed(widget: QWidget) -> Iterator[str]:
    """Smaller than its layout and its content can be: something in it is cut off or painted over another."""
    if widget.isWindow() or isinstance(widget, _LOOKED_AT):
        return
    if not type(widget).__module__.startswith("app.") or widget.findChild(QStackedWidget) is not None:
        return
    least = widget.minimumSizeHint()
    layout = widget.layout()
    if layout is not None and layout.hasHeightForWidth():
        height = layout.totalMinimumHeightForWidth(widget.width())
        fixed = widget.minimumHeight() == widget.maximumHeight()
        if widget.height() + ROUNDING < height and not fixed and not _scrolls(widget):
            yield f"{name_of(widget)} needs a height of {height} for its width, has {widget.height()}"
    if widget.width() + ROUNDING < least.width() and not _scrolls(widget):
        yield f"{name_of(widget)} needs a width of {least.width()}, has {widget.width()}"
    fixed = widget.minimumHeight() == widget.maximumHeight()
    if widget.height() + ROUNDING < least.height() and not fixed and not _scrolls(widget):
        yield f"{name_of(widget)} needs a height of {least.height()}, has {widget.height()}"


def _scrolls(widget: QWidget) -> bool:
    """Whether a widget is the content of a scroll area, which shows a part of it."""
    parent = widget.parentWidget()
    area = parent.parentWidget() if parent is not None else None
    return isinstance(area, QScrollArea) and area.widget() is widget and not area.widgetResizable()


# --- overlaps -----------------------------------------------------------------------------------------


def overlaps(tops: Iterable[QWidget]) -> list[str]:
    """Siblings that stand over each other, and widgets that stand out of what they are in."""
    return _overlaps_of(widgets_in(tops))


def _overlaps_of(widgets: Iterable[QWidget]) -> list[str]:
    found: set[str] = set()
    by_parent: dict[QWidget, list[QWidget]] = {}
    for widget in widgets:
        parent = widget.parentWidget()
        if parent is None or widget.isWindow() or _is_overlay(widget):
            continue
        by_parent.setdefault(parent, []).append(widget)
    for parent, children in by_parent.items():
        clips = _is_clipping(parent)
        for number, child in enumerate(children):
            if not clips and not parent.rect().adjusted(-1, -1, 1, 1).contains(child.geometry()):
                found.add(
                    f"{name_of(child)} at {_words(child.geometry())} stands out of {_words(parent.rect())}"
                )
            for other in children[number + 1 :]:
                common = child.geometry().intersected(other.geometry())
                if min(common.width(), common.height()) > ROUNDING:
                    found.add(f"{name_of(child)} overlaps {name_of(other)} by {_words(common)}")
    return sorted(found)


def _words(rect: QRect) -> str:
    return f"{rect.x()},{rect.y()} {rect.width()}×{rect.height()}"


def _is_overlay(widget: QWidget) -> bool:
    kinds = {kind.__name__.lstrip("_") for kind in type(widget).__mro__}
    return bool(kinds & set(OVERLAYS))


def _is_clipping(parent: QWidget) -> bool:
    """Whether it shows a part of what is in it on purpose."""
    above = parent.parentWidget()
    is_viewport = isinstance(above, QAbstractScrollArea) and above.viewport() is parent
    return is_viewport or isinstance(parent, QAbstractScrollArea | QTabBar | QHeaderView | _Window)


# --- can it be read -----------------------------------------------------------------------------------


def luminance(color: QColor) -> float:
    """Relative luminance as WCAG 2.1 defines it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(first: QColor, second: QColor) -> float:
    """Contrast ratio of WCAG 2.1, from 1 to 21."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@dataclass(frozen=True)
class TextBox:
    """Where a text stands on a window, in its pixels."""

    name: str
    rect: QRect


def unreadable(top: QWidget) -> list[str]:
    """Texts of a window whose colour is too near to that of their ground. What is off may be pale."""
    image = top.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    found = set()
    for box in text_boxes(top):
        ratio = _ratio(image, box.rect)
        if ratio is not None and ratio < READABLE:
            found.add(f"{box.name}: contrast {ratio:.1f}")
    return sorted(found)


def text_boxes(top: QWidget) -> Iterator[TextBox]:
    """Every place of a window with a text of its own that can be used."""
    for widget in widgets_in([top]):
        if not widget.isEnabled():
            continue
        corner = widget.mapTo(top, QPoint())
        region = widget.visibleRegion().boundingRect()

        def box(rect: QRect, text: str, owner: QWidget = widget, at: QPoint = corner, seen: QRect = region):  # type: ignore[no-untyped-def]
            part = rect.intersected(seen)
            # Of a text that is scrolled out of view but for an edge, no letter need be seen.
            whole = 2 * part.width() >= rect.width() and 2 * part.height() >= rect.height()
            return TextBox(f"{name_of(owner)}: “{text[:40]}”", part.translated(at) if whole else QRect())

        if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
            text = widget.text() or (widget.placeholderText() if isinstance(widget, QLineEdit) else "")
            if plain(text):
                yield box(widget.rect().adjusted(2, 2, -2, -2), text)
        elif isinstance(widget, QComboBox):
            yield box(widget.rect().adjusted(4, 4, -24, -4), widget.currentText())
        elif isinstance(widget, QTabBar):
            for index in range(widget.count()):
                if widget.isTabEnabled(index) and widget.isTabVisible(index):
                    yield box(widget.tabRect(index).adjusted(4, 4, -4, -4), widget.tabText(index))
        elif isinstance(widget, QMenu | QMenuBar):
            for action in widget.actions():
                if action.isEnabled() and action.isVisible() and action.text():
                    yield box(widget.actionGeometry(action), action.text())
        elif isinstance(widget, QAbstractItemView):
            yield from _rows(widget, top)


def _rows(view: QAbstractItemView, top: QWidget) -> Iterator[TextBox]:
    model = view.model()
    if model is None:
        return
    corner = view.viewport().mapTo(top, QPoint())
    index = view.indexAt(QPoint(4, 4))
    seen = 0
    while index.isValid() and seen < 60:
        seen += 1
        whole = view.visualRect(index)
        rect = whole.intersected(view.viewport().rect())
        text = str(index.data() or "")
        if (
            text
            and 4 * rect.height() > 3 * whole.height()
            and rect.width() > 8
            and index.flags() & Qt.ItemFlag.ItemIsEnabled
        ):
            yield TextBox(f"{name_of(view)}: row “{text[:40]}”", rect.translated(corner))
        index = _below(view, index)


def _below(view: QAbstractItemView, index: QModelIndex) -> QModelIndex:
    if isinstance(view, QTreeView):
        return view.indexBelow(index)
    return index.sibling(index.row() + 1, index.column())


def _ratio(image: QImage, rect: QRect) -> float | None:
    """The contrast between the commonest colour of a part of a picture and the one that differs most from it;
    None: the part has one colour, or is off the picture.
    """
    ratio = image.devicePixelRatio()
    box = QRect(
        round(rect.x() * ratio),
        round(rect.y() * ratio),
        round(rect.width() * ratio),
        round(rect.height() * ratio),
    ).intersected(image.rect())
    if box.width() < 4 or box.height() < 4:
        return None
    bits, line = memoryview(image.constBits()).cast("B"), image.bytesPerLine()
    starts = (y * line + 4 * box.left() for y in range(box.top(), box.bottom() + 1))
    pixels = b"".join(bits[start : start + 4 * box.width()] for start in starts)
    colours = Counter(memoryview(pixels).cast("I").tolist())
    if len(colours) < 2:
        return None
    ground = _luminance_of(colours.most_common(1)[0][0])
    others = [_luminance_of(colour) for colour in colours]
    lighter, darker = (max(others) + 0.05) / (ground + 0.05), (ground + 0.05) / (min(others) + 0.05)
    return max(lighter, darker)


@lru_cache(maxsize=65536)
def _luminance_of(rgb: int) -> float:
    return luminance(QColor.fromRgb(rgb & 0xFFFFFF))


# --- all of it ----------------------------------------------------------------------------------------


def findings(tops: Iterable[QWidget]) -> list[str]:
    """Whatever is cut off or overlaps in these windows."""
    QApplication.sendPostedEvents()
    widgets = list(widgets_in(tops))
    return _cut_off_of(widgets) + _overlaps_of(widgets)


def too_large(tops: Iterable[QWidget]) -> list[str]:
    """Dialogs and menus that have no room on a screen of the size of the first of these windows."""
    main, *others = tops
    found = []
    for top in others:
        if top.width() > main.width() or top.height() > main.height():
            found.append(f"{name_of(top)} of {top.width()}×{top.height()} is larger than the window")
    return found
