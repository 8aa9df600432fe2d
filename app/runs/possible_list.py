"""What can be done with several selected runs, and what cannot and why: a line for each action."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAccessible, QAction, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.runs.back_bar import IconMark
from app.runs.run_actions import RunActions
from app.theme import font


class PossibleList(QWidget):
    """A small table: a sign, the action, and what it will do or why it cannot."""

    accessible_role = QAccessible.Role.Grouping

    def __init__(self, actions: RunActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("What can be done with the selected runs"))
        self._about = actions.about
        self._actions: Sequence[QAction] = (
            actions.compare,
            actions.export_html,
            actions.export_json,
            actions.delete,
            actions.open,
            actions.resume,
        )
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(2, 1)
        self.rows: list[tuple[IconMark, QLabel, QLabel]] = []
        for number in range(len(self._actions)):
            mark, name, words = IconMark(self), _label(self), _label(self)
            name.setSizePolicy(name.sizePolicy().Policy.Fixed, name.sizePolicy().Policy.Preferred)
            words.setWordWrap(True)
            words.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(mark, number, 0, top)
            grid.addWidget(name, number, 1, top)
            grid.addWidget(words, number, 2, top)
            self.rows.append((mark, name, words))
        actions.followed.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        # What can be done is read first.
        actions = sorted(self._actions, key=lambda action: not action.isEnabled())
        for action, (mark, name, words) in zip(actions, self.rows, strict=True):
            able = action.isEnabled()
            mark.show_icon(("check", "succeeded") if able else ("minus", "quiet"))
            title = action.text().replace("&", "").removesuffix("…")
            name.setText(title)
            name.setForegroundRole(
                QPalette.ColorRole.WindowText if able else QPalette.ColorRole.PlaceholderText
            )
            about = self._about(action)
            words.setText(about)
            state = self.tr("{0}: possible. {1}") if able else self.tr("{0}: not possible. {1}")
            words.setAccessibleName(state.format(title, about).strip())


def _label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font(tabular=True))
    return label
