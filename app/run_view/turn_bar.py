"""Above a turn's page: whether output, prompt or answer is shown, and how large that is."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from app.buttons import Button, ButtonLook
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.segments import Segments
from app.theme import font, paint_icon, theme
from core.sent_prompts import NEAR, SentPrompt, sent_prompts

_SIGN = 14


class Part(IntEnum):
    """What of a turn is shown."""

    OUTPUT = 0
    PROMPT = 1
    ANSWER = 2


class TurnBar(QWidget):
    """Signals: `part_chosen(Part)`; `prompt_chosen(Path)`: one of several files that were sent;
    `copy_requested()`: all of what is shown.
    """

    part_chosen = Signal(object)
    prompt_chosen = Signal(object)
    copy_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prompts: list[SentPrompt] = []
        self.switch = Segments((self.tr("Output"), self.tr("Prompt"), self.tr("Answer")), self)
        self.switch.setAccessibleName(self.tr("What of the turn is shown"))
        tips = (
            self.tr("What the agent printed"),
            self.tr("Exactly what the agent was sent"),
            self.tr("The state update that the agent answered with"),
        )
        for number, tip in enumerate(tips):
            self.switch.button(number).setToolTip(tip)
        self.facts = _Facts(self)
        self.which = Button("", ButtonLook.FLAT, "", self)
        self.which.setAccessibleDescription(self.tr("Which of the texts that were sent is shown"))
        self.menu = QMenu(self)
        self.which.set_drop_down(self.menu)
        self.copy_button = Button("", ButtonLook.FLAT, "copy", self)
        self.copy_button.setAccessibleName(self.tr("Copy all"))
        self.copy_button.setToolTip(self.tr("Copy all of it"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.switch)
        row.addWidget(self.which)
        row.addWidget(self.facts, 1)
        row.addWidget(self.copy_button)
        self.switch.chosen.connect(self._choose)
        self.copy_button.clicked.connect(self.copy_requested)
        self.show_part(Part.OUTPUT, Path(), None, None)

    def show_part(self, part: Part, folder: Path, file: Path | None, limit: int | None) -> None:
        """Say what is shown of the turn in this folder. `file`: the one that is shown; `limit`: the most
        bytes that a prompt may have.
        """
        self.switch.choose(part)
        self._prompts = sent_prompts(folder) if part is Part.PROMPT else []
        shown = next((prompt for prompt in self._prompts if prompt.path == file), None)
        several = len(self._prompts) > 1
        self.which.setVisible(several)
        if several:
            self._fill_menu(shown)
        size = _size_of(file)
        self.copy_button.setVisible(part is not Part.OUTPUT and size is not None)
        if shown is not None:
            self.facts.show_text(self._size_words(shown, limit), warns=_is_near(shown, limit))
        elif part is Part.ANSWER and size is not None:
            self.facts.show_text(self.tr("{0} bytes").format(f"{size:,}"), warns=False)
        else:
            self.facts.show_text("", warns=False)

    def _fill_menu(self, shown: SentPrompt | None) -> None:
        self.menu.clear()
        for prompt in self._prompts:
            action = self.menu.addAction(self._name(prompt))
            action.setCheckable(True)
            action.setChecked(prompt is shown)
            action.setData(str(prompt.path))
            action.triggered.connect(self._choose_prompt)
        words = self._name(shown if shown is not None else self._prompts[0])
        self.which.setText(words)
        self.which.setAccessibleName(words)

    def _name(self, prompt: SentPrompt) -> str:
        if not prompt.after:
            return self._prompt_name(prompt)
        number = [each.after for each in self._prompts if each.after].index(prompt.after) + 1
        return self.tr("Correction {0}").format(number)

    def _prompt_name(self, prompt: SentPrompt) -> str:
        """Which attempts began with it, where a turn was sent several."""
        if sum(not each.after for each in self._prompts) < 2:
            return self.tr("Prompt")
        if not prompt.last:
            return self.tr("Prompt from attempt {0} on").format(prompt.first)
        if prompt.first == prompt.last:
            return self.tr("Prompt of attempt {0}").format(prompt.first)
        return self.tr("Prompt of attempts {0} to {1}").format(prompt.first, prompt.last)

    def _size_words(self, prompt: SentPrompt, limit: int | None) -> str:
        size = self.tr("{0} bytes").format(f"{prompt.size:,}")
        tokens = self.tr("roughly {0} tokens").format(_rounded(prompt.about_tokens))
        if limit is None:
            return self.tr("{0} · {1}").format(size, tokens)
        part = self.tr("{0} % of max_prompt_bytes ({1})").format(int(100 * prompt.size / limit), f"{limit:,}")
        return self.tr("{0} · {1} · {2}").format(size, part, tokens)

    @Slot(int)
    def _choose(self, number: int) -> None:
        self.part_chosen.emit(Part(number))

    @Slot()
    def _choose_prompt(self) -> None:
        action = self.sender()
        self.prompt_chosen.emit(Path(str(action.data())))  # type: ignore[attr-defined]

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("ground"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("line"))


class _Facts(QWidget):
    """A quiet line on the right, cut where there is no room; a warning has a sign and stands out."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self.warns = False
        self.setFont(font(tabular=True))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def show_text(self, text: str, *, warns: bool) -> None:
        """Show these words."""
        if (text, warns) != (self.text, self.warns):
            self.text, self.warns = text, warns
            self.setAccessibleName(text)
            self.setToolTip(plain_tool_tip(text))
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.fontMetrics().horizontalAdvance(self.text) + _SIGN + 6, 24)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, 24)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            tone = theme().color("failed" if self.warns else "quiet")
            room = self.width() - (_SIGN + 6 if self.warns else 0)
            text = self.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideRight, max(0, room))
            painter.setPen(tone)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)
            if self.warns and text:
                left = self.width() - self.fontMetrics().horizontalAdvance(text) - _SIGN - 6
                box = QRectF(left, (self.height() - _SIGN) / 2, _SIGN, _SIGN)
                paint_icon(painter, "triangle-alert", box, tone)


def _is_near(prompt: SentPrompt, limit: int | None) -> bool:
    return limit is not None and prompt.size >= limit * NEAR


def _rounded(count: int) -> str:
    """A guess with two digits that mean something."""
    if count < 100:
        return str(count)
    unit = 10 ** (len(str(count)) - 2)
    return f"{round(count / unit) * unit:,}"


def _size_of(file: Path | None) -> int | None:
    """Bytes of a file; None: there is none, or none any more."""
    try:
        return file.stat().st_size if file is not None and file.is_file() else None
    except OSError:
        return None
