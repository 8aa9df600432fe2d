"""The problems of an agent's file, below its editor: a click goes to the place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QSizePolicy, QVBoxLayout, QWidget

from app.focus_line import FocusLine
from app.painting import paint_method
from app.problem_text import problem_line
from app.reading_text import harmless
from app.scroll_bar import use_thin_scroll_bars
from app.severity import SIGNS, severity_name
from app.theme import icon, theme
from core.problems import Problem, Severity

_MOST_HEIGHT = 112


class ProblemList(QWidget):
    """Signals: `chosen(Problem)`: the user wants to see its place."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._problems: Sequence[Problem] = ()
        self.list = QListWidget(self)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setIconSize(QSize(16, 16))
        self.list.setSpacing(2)
        self.list.setAccessibleName(self.tr("Problems of this agent"))
        use_thin_scroll_bars(self.list, QPalette.ColorRole.Base)
        FocusLine(self.list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 5, 0, 4)
        layout.addWidget(self.list)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.list.itemClicked.connect(self._choose)
        self.list.itemActivated.connect(self._choose)
        self.hide()

    @property
    def problems(self) -> Sequence[Problem]:
        """What is shown."""
        return self._problems

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show these, errors first."""
        ordered = sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)
        if list(ordered) == list(self._problems):
            return
        self._problems = ordered
        self.list.clear()
        for problem in ordered:
            item = QListWidgetItem(icon(*SIGNS[problem.severity]), harmless(problem_line(problem)))
            kind = severity_name(problem.severity)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{kind}: {item.text()}")
            self.list.addItem(item)
        self.setVisible(bool(ordered))
        self._fit()

    @Slot(QListWidgetItem)
    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(self._problems[self.list.row(item)])

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        self.list.doItemsLayout()
        rows = [self.list.visualItemRect(self.list.item(row)) for row in range(self.list.count())]
        needed = (rows[-1].bottom() - rows[0].top() + 1 if rows else 0) + 16
        self.setFixedHeight(min(_MOST_HEIGHT, max(32, needed)))

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.fillRect(0, 0, self.width(), 1, theme().color("line"))
