"""Bars in place that say what happened and what can be done, and block nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QAccessible, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.accessible import announce
from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.painting import paint_method
from app.settling import Settling
from app.theme import GRID, font, paint_icon, theme

_MOST_LINES = 6
_ICON = 16
_LEFT = 3 * GRID


class Tone(StrEnum):
    """What kind of news it is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_ICONS = {Tone.INFO: "info", Tone.WARNING: "triangle-alert", Tone.ERROR: "circle-alert"}
_COLORS = {Tone.INFO: "accent", Tone.WARNING: "other", Tone.ERROR: "failed"}


@dataclass(frozen=True, slots=True)
class NoticeAction:
    """A button of a notice. The notice goes when it is pressed, unless `stays`."""

    text: str
    run: Callable[[], object]
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """What a bar says: a sentence, further lines (such as problems with their places), and what to do."""

    text: str
    tone: Tone = Tone.INFO
    lines: tuple[str, ...] = ()
    actions: tuple[NoticeAction, ...] = ()
    dismissible: bool = True


class NoticeBar(QWidget):
    """One notice. Its text can be selected and copied."""

    accessible_role = QAccessible.Role.AlertMessage

    def __init__(self, notice: Notice, on_dismiss: Callable[[], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.notice = notice
        self._on_dismiss = on_dismiss
        self._settling: Settling | None = None
        self.setAccessibleName(notice.text)
        # Not Maximum: of what wraps, a layout takes the height of one line for the most.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_LEFT + _ICON + 8, 6, 8, 6)
        layout.setSpacing(8)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        self.label = _text_label(notice.text, bold=bool(notice.lines), parent=self)
        texts.addWidget(self.label)
        shown = notice.lines[:_MOST_LINES]
        if len(notice.lines) > len(shown):
            shown = (*shown, self.tr("and {0} more").format(len(notice.lines) - len(shown)))
        if shown:
            texts.addWidget(_text_label("\n".join(shown), bold=False, parent=self))
        layout.addLayout(texts, 1)
        self.buttons: dict[str, Button] = {}
        self._links = QWidget(self)
        FlowLayout(self._links)
        self._beside, self._below = layout, texts
        self._is_below = False
        for action in notice.actions:
            self._add_button(action)
        if notice.lines:
            self._add_button(NoticeAction(self.tr("Copy"), self._copy, stays=True))
        self._links.setVisible(bool(self.buttons))
        layout.addWidget(self._links, 0, Qt.AlignmentFlag.AlignTop)
        if notice.dismissible:
            close = Button("", ButtonLook.FLAT, "x", self)
            close.setAccessibleName(self.tr("Dismiss"))
            close.setToolTip(self.tr("Dismiss"))
            close.clicked.connect(self.dismiss)
            layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons[""] = close

    def _add_button(self, action: NoticeAction) -> None:
        button = Button(action.text, ButtonLook.LINK, "", self)
        box = self._links.layout()
        assert box is not None
        box.addWidget(button)
        self.buttons[action.text] = button
        # Gone first: what the action does may show the next notice under the same name.
        button.clicked.connect(lambda: (action.stays or self.dismiss(), action.run()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place_links()

    def _place_links(self) -> None:
        """Beside the text, or below it where they would leave it less than half of the room."""
        gap = 2 * GRID
        needed = sum(button.sizeHint().width() + gap for button in self._links.findChildren(Button)) - gap
        below = needed > self.width() * 0.45
        self._links.setMinimumWidth(0 if below else max(0, needed))
        if below is not self._is_below:
            self._is_below = below
            self._beside.removeWidget(self._links)
            self._below.removeWidget(self._links)
            if below:
                self._below.addWidget(self._links)
            else:
                self._beside.insertWidget(1, self._links, 0, Qt.AlignmentFlag.AlignTop)

    @Slot()
    def dismiss(self) -> None:
        """The user has read it."""
        self._on_dismiss()

    def settle(self) -> None:
        """It is about to slide to where another was: a second click there was not meant for it."""
        if self._settling is None:
            self._settling = Settling((self,), tuple(self.buttons.values()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and self.notice.dismissible:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join((self.notice.text, *self.notice.lines)))

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            info = self.notice.tone is Tone.INFO
            painter.fillRect(self.rect(), colors.color("accent_soft" if info else "raised"))
            tone = colors.color(_COLORS[self.notice.tone])
            painter.fillRect(0, 0, 3, self.height(), tone)
            painter.fillRect(0, self.height() - 1, self.width(), 1, colors.color("line"))
            paint_icon(painter, _ICONS[self.notice.tone], QRectF(_LEFT, 12, _ICON, _ICON), tone)


def _text_label(text: str, *, bold: bool, parent: QWidget) -> QLabel:
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font(bold=bold))
    label.setWordWrap(True)
    label.setMinimumHeight(28 if bold or "\n" not in text else 0)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    # Keyboard selection takes the focus by a click only: the buttons come first with Tab.
    label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    return label


class NoticeArea(QWidget):
    """Notices below each other, at most one of a name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: dict[str, NoticeBar] = {}
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self.hide()

    def tell(self, name: str, notice: Notice) -> NoticeBar:
        """Show a notice; an older one of this name goes."""
        self.dismiss(name)
        bar = NoticeBar(notice, lambda: self.dismiss(name), self)
        self._bars[name] = bar
        self._rows.addWidget(bar)
        bar.show()
        self.show()
        announce(bar, " ".join((notice.text, *notice.lines)), urgent=notice.tone is Tone.ERROR)
        return bar

    def dismiss(self, name: str) -> None:
        """Take a notice away, if it is there."""
        names = list(self._bars)
        bar = self._bars.pop(name, None)
        if bar is not None:
            for below in names[names.index(name) + 1 :]:
                self._bars[below].settle()
            self._rows.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        self.setVisible(bool(self._bars))

    def bar(self, name: str) -> NoticeBar | None:
        """The notice of this name, if it is there."""
        return self._bars.get(name)

    @property
    def names(self) -> Sequence[str]:
        """What is shown, from top to bottom."""
        return tuple(self._bars)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(400, super().sizeHint().height())
