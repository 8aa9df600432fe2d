"""The question whether the commands that files bring may run, asked before anything of a run is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QSize, Qt, SignalInstance, Slot
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.scroll_bar import use_thin_scroll_bars
from app.theme import font, mono_font
from core.visible_text import visible

if TYPE_CHECKING:
    from core.trust import BroughtCommand

_MARGIN = 16


class TrustDialog(QDialog):
    """Shows every command in full. Accepted: they may run; whatever else closes it says no."""

    def __init__(self, commands: Sequence[BroughtCommand], workdir: Path | None, parent: QWidget) -> None:
        # Not before there is a question: the window opens without the backends, and sooner.
        from core.trust import commands_text

        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("Run commands?"))
        self.setSizeGripEnabled(True)
        count = len(commands)
        if count == 1:
            text = self.tr("This run brings a command that you have not allowed before.")
            explanation = self.tr(
                "It comes with the files of the workflow and runs with all of your rights. Allow it only if "
                "you know what it does. OpenLoop asks again when it changes."
            )
        else:
            text = self.tr("This run brings {0} commands that you have not allowed before.").format(count)
            explanation = self.tr(
                "They come with the files of the workflow and run with all of your rights. Allow them only "
                "if you know what they do. OpenLoop asks again when one of them changes."
            )
        self.title = _label(text, bold=True, parent=self)
        self.explanation = _label(explanation, bold=False, parent=self)
        where = self.tr("Working folder: {0}").format(visible(str(workdir))) if workdir is not None else ""
        self.where = _label(where, bold=False, parent=self)
        self.where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.where.setVisible(workdir is not None)
        self.list = self._make_list(commands_text(commands))
        self.deny_button = Button(self.tr("Do not run"), ButtonLook.FILLED, "", self)
        words = self.tr("Run this command") if count == 1 else self.tr("Run these commands")
        self.allow_button = Button(words, ButtonLook.OUTLINED, "", self)
        self.deny_button.clicked.connect(self.reject)
        self.allow_button.clicked.connect(self.accept)
        # Enter says no, wherever the focus is; so does Escape.
        self.deny_button.setDefault(True)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.allow_button)
        row.addWidget(self.deny_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        layout.setSpacing(10)
        layout.addWidget(self.title)
        layout.addWidget(self.explanation)
        layout.addWidget(self.where)
        layout.addWidget(self.list, 1)
        layout.addLayout(row)
        self.deny_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_list(self, text: str) -> QPlainTextEdit:
        """The commands as plain text, of which nothing lies out of reach at the right."""
        view = QPlainTextEdit(self)
        use_thin_scroll_bars(view)
        view.setReadOnly(True)
        view.setTabChangesFocus(True)
        view.setFont(mono_font())
        option = view.document().defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        view.document().setDefaultTextOption(option)
        view.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        view.setPlainText(text)
        view.setAccessibleName(self.tr("Commands, and the files that bring them"))
        return view

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(680, 420)


def _label(text: str, *, bold: bool, parent: QWidget) -> QLabel:
    label = QLabel(text, parent)
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
    """Asks over a window whenever the controller does, and passes the answer on."""

    def __init__(self, controller: TrustAsker, window: QWidget) -> None:
        super().__init__(window)
        self._controller = controller
        self._window = window
        self.dialog: TrustDialog | None = None
        """The question that is open."""
        controller.trust_asked.connect(self._ask)
        controller.trust_answered.connect(self._close)

    @Slot(object)
    def _ask(self, commands: Sequence[BroughtCommand]) -> None:
        self.dialog = TrustDialog(commands, self._controller.trust_workdir, self._window)
        self.dialog.finished.connect(self._answered)
        # Never `exec`: it would hold up every coroutine.
        self.dialog.open()

    @Slot(int)
    def _answered(self, result: int) -> None:
        self.dialog = None
        self._controller.allow(result == QDialog.DialogCode.Accepted)

    @Slot(bool)
    def _close(self, allowed: bool) -> None:
        """Settled, also without the dialog: the window is closed, or Stop was pressed."""
        del allowed
        if self.dialog is not None:
            self.dialog.reject()
