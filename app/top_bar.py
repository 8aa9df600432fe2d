"""The one toolbar: the file, Run and Stop, the search for actions, and what the right side shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QColor,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QMenu, QWidget

from app.buttons import Button, ButtonLook
from app.labels import ElidedLabel
from app.painting import paint_method, saved
from app.plain_text import plain_tool_tip
from app.platform_keys import native_keys
from app.side import Side
from app.theme import paint_icon, theme
from app.why_not import tell_why_off

if TYPE_CHECKING:
    from app.window_actions import WindowActions

_GAP = 28
"""Pixels between the words of the search and its keys."""


class TopBar(QWidget):
    """Signals: `side_chosen(Side)`: what the user wants to see on the right."""

    accessible_role = QAccessible.Role.ToolBar

    side_chosen = Signal(object)

    def __init__(self, actions: WindowActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.file_name = ElidedLabel("", bold=True, parent=self)
        self.run_button = Button(self.tr("Run"), ButtonLook.FILLED, "play", self)
        self.run_button.follow_action(actions.run)
        self.stop_button = Button(self.tr("Stop"), ButtonLook.OUTLINED, "square", self)
        self.stop_button.setAccessibleDescription(self.tr("Opens a menu with two ways to stop"))
        self.stop_menu = QMenu(self)
        self.stop_menu.addActions([actions.stop_after, actions.stop_now])
        self.stop_button.set_drop_down(self.stop_menu)
        self.resume_button = Button(self.tr("Resume"), ButtonLook.OUTLINED, "rotate-ccw", self)
        self.resume_button.follow_action(actions.resume_run)
        self.settings_button = Button(self.tr("Settings"), ButtonLook.FLAT, "settings", self)
        tip = self._tip(self.tr("Settings of the workflow and the selection"), actions.show_settings)
        self.settings_button.setToolTip(tip)
        self.run_side_button = Button(self.tr("Last run"), ButtonLook.FLAT, "rows-3", self)
        self.search_button = SearchButton(actions.palette, self)
        self.runs_button = Button(self.tr("History"), ButtonLook.FLAT, "history", self)
        self.runs_button.setToolTip(self._tip(self.tr("All runs of this work folder"), actions.show_runs))
        self._show_run = actions.show_run
        self._running = self._paused = False
        self._run_words = ""
        self._side = Side.SETTINGS
        self.side_buttons = {
            Side.SETTINGS: self.settings_button,
            Side.RUN: self.run_side_button,
            Side.RUNS: self.runs_button,
        }
        self.sides = QButtonGroup(self)
        for side, button in self.side_buttons.items():
            button.setCheckable(True)
            self.sides.addButton(button, side)
        self.settings_button.setChecked(True)
        self.sides.idClicked.connect(self._chosen)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 7, 12, 8)
        layout.setSpacing(8)
        layout.addWidget(self.file_name)
        layout.addSpacing(12)
        layout.addWidget(self.run_button)
        layout.addWidget(self.stop_button)
        layout.addWidget(self.resume_button)
        layout.addStretch(1)
        layout.addWidget(self.search_button)
        layout.addWidget(self.settings_button)
        layout.addWidget(self.run_side_button)
        layout.addWidget(self.runs_button)
        tell_why_off(self.stop_button, self.tr("No run goes on."))
        self.show_running(False)
        self.offer_run(False)

    def show_file(self, title: str, *, modified: bool) -> None:
        """The file's name, with a dot where there are unsaved changes."""
        self.file_name.set_text(f"{title} •" if modified else title)
        self._fit()

    def show_running(self, running: bool) -> None:
        """The important button is the only filled one: Stop while a run goes on, else Run."""
        gone, left = (self.run_button, self.stop_button) if running else (self.stop_button, self.run_button)
        if gone.hasFocus():
            # Else the focus would wander off when the button is switched off.
            left.setEnabled(True)
            reasons = Qt.FocusReason
            left.setFocus(reasons.TabFocusReason if gone.shows_focus else reasons.MouseFocusReason)
        self.stop_button.setEnabled(running)
        self.run_side_button.setText(self.tr("Live run") if running else self.tr("Last run"))
        self._running = running
        self._show_looks()

    def show_paused(self, paused: bool) -> None:
        """Whether the run waits to be resumed."""
        self._paused = paused
        self._show_looks()

    def _show_looks(self) -> None:
        """One filled button at most: among the recorded runs it is that which resumes one."""
        important = self.stop_button if self._running else self.run_button
        if self._paused:
            important = self.resume_button
        for button in (self.run_button, self.stop_button, self.resume_button):
            filled = button is important and (self._running or self._side is not Side.RUNS)
            button.set_look(ButtonLook.FILLED if filled else ButtonLook.OUTLINED)

    @staticmethod
    def _tip(about: str, action: QAction) -> str:
        return f"{about} ({native_keys(action.shortcut())})"

    def offer_run(self, there_is_one: bool) -> None:
        """Whether there is a run to look at."""
        self.run_side_button.setEnabled(there_is_one)
        tip = self.tr("No run yet")
        if there_is_one:
            tip = self._tip(self.tr("The run, live or the last one"), self._show_run)
        if there_is_one and self._run_words:
            tip = plain_tool_tip(f"{tip}\n{self._run_words}")
        self.run_side_button.setToolTip(tip)

    @Slot(str)
    def tell_run(self, words: str) -> None:
        """Whose run it is that one can turn to."""
        self._run_words = words
        self.offer_run(self.run_side_button.isEnabled())

    def mark_run(self, waits: bool) -> None:
        """Whether the run waits for the user."""
        if waits:
            self.run_side_button.set_icon_name("circle-alert", "failed")
            self.run_side_button.setAccessibleDescription(self.tr("It waits for you"))
        else:
            self.run_side_button.set_icon_name("rows-3")
            self.run_side_button.setAccessibleDescription("")

    @Slot(object)
    def show_side(self, side: Side) -> None:
        """What the right side shows at present."""
        self._side = side
        shown = self.side_buttons.get(side)
        # A side without a button of its own (an agent's editor): none is pressed.
        self.sides.setExclusive(shown is not None)
        for button in self.side_buttons.values():
            button.setChecked(button is shown)
        self._show_looks()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The search shows its words only where there is room for them beside everything else."""
        layout = self.layout()
        if layout is None:
            return
        self.search_button.set_compact(False)
        layout.invalidate()
        self.search_button.set_compact(layout.sizeHint().width() > self.width())

    @Slot(int)
    def _chosen(self, number: int) -> None:
        self.side_chosen.emit(Side(number))

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("line"))


class SearchButton(Button):
    """Looks like a field and opens the search for actions; a sign alone where there is little room."""

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__("", ButtonLook.OUTLINED, "search", parent)
        self._words = self.tr("Search actions…")
        self._keys = native_keys(action.shortcut())
        self._compact = True
        self.follow_action(action)
        self.setAccessibleName(self._words)

    def set_compact(self, compact: bool) -> None:
        """Without words, or with them."""
        if compact != self._compact:
            self._compact = compact
            self.setText("" if compact else self._words)
            self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802
        size = super().sizeHint()
        if not self._compact:
            size.setWidth(size.width() + QFontMetrics(self.font()).horizontalAdvance(self._keys) + _GAP)
        return size

    def _paint_content(self, painter: QPainter, color: QColor) -> None:
        if self._compact:
            super()._paint_content(painter, color)
            return
        quiet = theme().color("quiet")
        with saved(painter):
            painter.setFont(self.font())
            painter.setPen(quiet)
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(self.rect().adjusted(0, 0, -10, 0), right, self._keys)
        paint_icon(painter, "search", QRectF(10, self.height() / 2 - 7, 14, 14), quiet)
        painter.setFont(self.font())
        painter.setPen(quiet)
        painter.drawText(self.rect().adjusted(30, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._words)
