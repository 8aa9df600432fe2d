"""The question whether the commands that files bring may run, asked before anything of a run is started.

It is asked in place, where the run is going to be shown, and blocks nothing else of the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QRectF, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QAccessible, QKeyEvent, QPainter, QPaintEvent, QPalette, QTextOption
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.focus_line import FocusLine
from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.painting import paint_method
from app.scroll_bar import use_thin_scroll_bars
from app.side import Side
from app.theme import font, mono_font, paint_icon, theme
from core.visible_text import visible

if TYPE_CHECKING:
    from app.right_side import RightSide
    from core.trust import BroughtCommand

_MARGIN, _ICON = 16, 18
NOTICE = "trust"


class TrustPage(QWidget):
    """Shows every command in full.

    Signals: `answered(bool)`: whether they may run. Escape and Enter say no.
    """

    accessible_role = QAccessible.Role.Grouping

    answered = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = _label(bold=True, parent=self)
        self.explanation = _label(bold=False, parent=self)
        self.where = _label(bold=False, parent=self)
        self.where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.list = self._make_list()
        self.deny_button = Button(self.tr("Do not run"), ButtonLook.FILLED, "", self)
        self.allow_button = Button("", ButtonLook.OUTLINED, "", self)
        self.deny_button.setAccessibleDescription(self.tr("The run ends before anything was started"))
        self.deny_button.clicked.connect(self._deny)
        self.allow_button.clicked.connect(self._allow)
        row = FlowLayout()
        row.addWidget(self.deny_button)
        row.addWidget(self.allow_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGIN + _ICON + 10, _MARGIN, _MARGIN, _MARGIN)
        layout.setSpacing(10)
        layout.addWidget(self.title)
        layout.addWidget(self.explanation)
        layout.addWidget(self.where)
        layout.addWidget(self.list, 1)
        layout.addLayout(row)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setMinimumWidth(280)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        # The safe answer has the focus, whoever turns to the page.
        self.setFocusProxy(self.deny_button)

    def ask(self, commands: Sequence[BroughtCommand], workdir: Path | None) -> None:
        """Show these commands, which would run in this folder."""
        # Not before there is a question: the window opens without the backends, and sooner.
        from core.trust import commands_text

        if len(commands) == 1:
            text = self.tr("This run brings a command that you have not allowed before.")
            explanation = self.tr(
                "It comes with the files of the workflow and runs with all of your rights. Allow it only if "
                "you know what it does. OpenLoop asks again when it changes."
            )
            self.allow_button.setText(self.tr("Run this command"))
        else:
            text = self.tr("This run brings {0} commands that you have not allowed before.")
            text = text.format(len(commands))
            explanation = self.tr(
                "They come with the files of the workflow and run with all of your rights. Allow them only "
                "if you know what they do. OpenLoop asks again when one of them changes."
            )
            self.allow_button.setText(self.tr("Run these commands"))
        self.title.setText(text)
        self.setAccessibleName(text)
        self.explanation.setText(explanation)
        where = self.tr("Working folder: {0}").format(visible(str(workdir))) if workdir is not None else ""
        self.where.setText(where)
        self.where.setVisible(workdir is not None)
        self.list.setPlainText(commands_text(commands))

    @Slot()
    def _deny(self) -> None:
        self.answered.emit(False)

    @Slot()
    def _allow(self) -> None:
        self.answered.emit(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """In haste one presses Enter or Escape: that starts nothing."""
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.answered.emit(False)
        else:
            super().keyPressEvent(event)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            top = self.title.y() + (self.title.fontMetrics().height() - _ICON) / 2
            paint_icon(painter, "circle-alert", QRectF(_MARGIN, top, _ICON, _ICON), theme().color("failed"))

    def _make_list(self) -> QPlainTextEdit:
        """The commands as plain text, of which nothing lies out of reach at the right."""
        view = QPlainTextEdit(self)
        use_thin_scroll_bars(view)
        FocusLine(view)
        view.setReadOnly(True)
        view.setTabChangesFocus(True)
        view.setFont(mono_font())
        option = view.document().defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        view.document().setDefaultTextOption(option)
        view.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        view.setAccessibleName(self.tr("Commands, and the files that bring them"))
        return view


def _label(*, bold: bool, parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font(bold=bold))
    label.setWordWrap(True)
    return label


class TrustAsker(Protocol):
    """Who asks: the controller of runs. `trust_workdir`: where the commands would run."""

    trust_workdir: Path | None
    trust_asked: SignalInstance
    trust_answered: SignalInstance

    def allow(self, allowed: bool) -> None:
        """Answer."""


class TrustQuestion(QObject):
    """Asks in the window whenever the controller does, and passes the answer on.

    A bar says that a question waits, wherever the user has turned to meanwhile.
    """

    def __init__(
        self, controller: TrustAsker, right: RightSide, notices: NoticeArea, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._right = right
        self._notices = notices
        self._built: TrustPage | None = None
        self._before = Side.SETTINGS
        self.asking = False
        """A question waits for its answer."""
        right.provide(Side.TRUST, self._build)
        controller.trust_asked.connect(self._ask)
        controller.trust_answered.connect(self._settled)

    @property
    def page(self) -> TrustPage | None:
        """The question that waits; None: there is none."""
        return self._built if self.asking else None

    def _build(self) -> TrustPage:
        self._built = TrustPage(self._right)
        self._built.answered.connect(self._answered)
        return self._built

    @Slot(object)
    def _ask(self, commands: Sequence[BroughtCommand]) -> None:
        page = self._right.page(Side.TRUST)
        assert isinstance(page, TrustPage)
        page.ask(commands, self._controller.trust_workdir)
        self.asking = True
        if self._right.side is not Side.TRUST:
            self._before = self._right.side
        show = NoticeAction(self.tr("Show"), self._show, stays=True)
        deny = NoticeAction(self.tr("Do not run"), lambda: self._answered(allowed=False))
        text = self.tr("The run waits: may it start the commands that its files bring?")
        self._notices.tell(NOTICE, Notice(text, Tone.WARNING, actions=(show, deny), dismissible=False))
        self._show()

    def _show(self) -> None:
        self._right.turn_to(Side.TRUST)

    @Slot(bool)
    def _answered(self, allowed: bool) -> None:
        if self.asking:
            self._controller.allow(allowed)

    @Slot(bool)
    def _settled(self, allowed: bool) -> None:
        """Answered, or without an answer: the window is closed, or Stop was pressed."""
        del allowed
        self.asking = False
        self._notices.dismiss(NOTICE)
        if self._right.side is Side.TRUST:
            self._right.turn_to(self._before)
