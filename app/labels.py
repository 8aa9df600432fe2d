"""Small labels that follow the theme: sections, quiet text, numbers that do not jump, names that are cut."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.theme import TextSize, font, theme


def section_font() -> QFont:
    """The font of what stands in capitals over a section."""
    result = font(TextSize.LABEL, bold=True)
    result.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.6)
    return result


class SectionLabel(QLabel):
    """A small label in capitals over a section."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text.upper(), parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(section_font())
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)


class QuietLabel(QLabel):
    """Secondary text."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setFont(font())
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)


class NumberLabel(QLabel):
    """A live number with its words: digits of one width, and a width that only grows, so nothing jumps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font(tabular=True))
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show these words; none: take no room."""
        if text == self.text():
            return
        self.setText(text)
        self.setMinimumWidth(max(self.minimumWidth(), self.sizeHint().width()) if text else 0)
        self.setVisible(bool(text))


class ElidedLabel(QWidget):
    """One line of text that is cut where there is no room, with the whole as tool tip. `cut`: where; names
    differ at both ends, sentences begin with what matters."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(
        self,
        text: str = "",
        *,
        bold: bool = False,
        cut: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._text = text
        self._cut = cut
        self.setFont(font(TextSize.TITLE, bold=True) if bold else font())
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show another text."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.setToolTip(plain_tool_tip(text))
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(min(80, self.sizeHint().width()), self.sizeHint().height())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            quiet = self.foregroundRole() is QPalette.ColorRole.PlaceholderText
            painter.setPen(theme().color("quiet" if quiet else "text"))
            metrics = QFontMetrics(self.font())
            text = metrics.elidedText(self._text, self._cut, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class Line(QFrame):
    """A hairline between regions."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(1)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(QRect(0, 0, self.width(), 1), theme().color("line"))
