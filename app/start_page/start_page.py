"""What a newcomer sees first: examples that run without an account, recent workflows, ways to begin."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QKeyEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import QuietLabel, SectionLabel
from app.painting import paint_method
from app.scroll_bar import use_thin_scroll_bars
from app.start_page.example_card import ExampleCard
from app.start_page.examples import examples
from app.start_page.recent_list import RecentFile, RecentList, folder_in_words
from app.start_page.shape import shape_size
from app.theme import TextSize, font, is_appearance_event, paint_icon, theme
from core.run_folders import examples_folder

_WIDEST = 1040
"""Pixels of the column in the middle."""
_MARGIN, _GAP = 24, 16
_LEAST_CARD = 250
_LOGO = 36


class _Logo(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(_LOGO, _LOGO)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            paint_icon(painter, "openloop", QRectF(0, 0, _LOGO, _LOGO), theme().color("accent"))


class StartPage(QScrollArea):
    """Arrow keys go from card to card and on into the list, Enter opens, Escape goes back.

    Signals: `example_chosen(Path, bool)`: open an example, True: and run it; `file_chosen(Path)`;
    `forget_requested(Path)`: a recent file that is to be listed no longer; `new_requested()`;
    `open_requested()`; `guide_requested()`; `check_requested()`; `left()`: back to the open workflow.
    """

    accessible_role = QAccessible.Role.Grouping

    example_chosen = Signal(object, bool)
    file_chosen = Signal(object)
    forget_requested = Signal(object)
    new_requested = Signal()
    open_requested = Signal()
    guide_requested = Signal()
    check_requested = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None, *, has_guide: bool = True) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        use_thin_scroll_bars(self, QPalette.ColorRole.Window)
        self.setAccessibleName(self.tr("Start page"))
        self._columns = 0
        self._can_leave = False
        body = QWidget(self)
        body.setBackgroundRole(QPalette.ColorRole.Window)
        body.setAutoFillBackground(True)
        self._column = QWidget(body)
        around = QHBoxLayout(body)
        around.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        around.addStretch(1)
        around.addWidget(self._column, 1000)
        around.addStretch(1)
        self._column.setMaximumWidth(_WIDEST)
        layout = QVBoxLayout(self._column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        self._add_head(layout, has_guide)
        self._add_examples(layout)
        self._add_recent(layout)
        layout.addStretch(1)
        self.setWidget(body)
        self.show_recent([])

    # --- building --------------------------------------------------------------------------------------

    def _add_head(self, layout: QVBoxLayout, has_guide: bool) -> None:
        title = QLabel(self.tr("OpenLoop"), self._column)
        title.setFont(font(TextSize.TITLE, bold=True))
        about = QuietLabel(
            self.tr("Build workflows of coding agents, run them, and watch every agent live."), self._column
        )
        about.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(about)
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(_Logo(self._column), 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        layout.addLayout(head)
        self.new_button = Button(self.tr("New workflow"), ButtonLook.OUTLINED, "file-plus", self._column)
        self.open_button = Button(self.tr("Open…"), ButtonLook.OUTLINED, "folder-open", self._column)
        self.back_button = Button(self.tr("Back"), ButtonLook.LINK, "", self._column)
        self.guide_button = Button(self.tr("User guide"), ButtonLook.LINK, "", self._column)
        self.check_button = Button(self.tr("Check this computer"), ButtonLook.LINK, "", self._column)
        self.check_button.setAccessibleDescription(
            self.tr("Looks which agent programs are installed and logged in")
        )
        row = QWidget(self._column)
        flow = FlowLayout(row, _GAP)
        for button, signal in (
            (self.new_button, self.new_requested),
            (self.open_button, self.open_requested),
            (self.guide_button, self.guide_requested),
            (self.check_button, self.check_requested),
            (self.back_button, self.left),
        ):
            button.clicked.connect(signal)
            # A button takes the arrow keys for itself.
            button.installEventFilter(self)
            flow.addWidget(button)
        self.guide_button.setVisible(has_guide)
        layout.addSpacing(4)
        layout.addWidget(row)

    def _add_examples(self, layout: QVBoxLayout) -> None:
        layout.addSpacing(12)
        layout.addWidget(SectionLabel(self.tr("Examples"), self._column))
        note = QuietLabel(
            self.tr(
                "They run at once, without an account: demo agents play them, in {0}. For real work save one "
                "and change its agents’ backend."
            ).format(folder_in_words(examples_folder() / "…")),
            self._column,
        )
        note.setWordWrap(True)
        layout.addWidget(note)
        found = examples()
        height = max((shape_size(example.shape).height() for example in found), default=0)
        self.cards = [ExampleCard(example, height, self._column) for example in found]
        self._grid = QGridLayout()
        self._grid.setSpacing(_GAP)
        for number, card in enumerate(self.cards):
            card.clicked.connect(
                lambda _=False, path=card.example.path: self.example_chosen.emit(path, False)
            )
            card.run_requested.connect(lambda path=card.example.path: self.example_chosen.emit(path, True))
            card.step_requested.connect(lambda step, number=number: self._step(number + step))
        layout.addLayout(self._grid)
        self._place_cards(len(self.cards) or 1)

    def _add_recent(self, layout: QVBoxLayout) -> None:
        layout.addSpacing(12)
        layout.addWidget(SectionLabel(self.tr("Recent"), self._column))
        self.lesson = QuietLabel(self.tr("Workflows that you open or save are listed here."), self._column)
        self.lesson.setWordWrap(True)
        self.recent = RecentList(self._column)
        self.recent.chosen.connect(self.file_chosen)
        self.recent.forget_requested.connect(self.forget_requested)
        layout.addWidget(self.lesson)
        layout.addWidget(self.recent)

    # --- what is shown ---------------------------------------------------------------------------------

    def show_recent(self, files: Sequence[RecentFile]) -> None:
        """Show these files, the latest first."""
        had_focus = self.recent.hasFocus()
        self.recent.show_files(files)
        self.recent.setVisible(bool(files))
        self.lesson.setVisible(not files)
        if self.cards:
            # The one thing that a newcomer should try.
            first = ButtonLook.OUTLINED if files else ButtonLook.FILLED
            self.cards[0].run_button.set_look(first)
        if had_focus and not files:
            self.focus_first()

    def show_way_back(self, title: str) -> None:
        """Offer to go back to the open workflow; an empty title: there is none."""
        self._can_leave = bool(title)
        self.back_button.setVisible(self._can_leave)
        self.back_button.setText(self.tr("Back to {0}").format(title))

    def focus_first(self) -> None:
        """Give the focus to what is most likely wanted: the latest workflow, else the first example."""
        if self.recent.files():
            self.recent.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.cards:
            self.cards[0].setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.new_button.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- keys and room ---------------------------------------------------------------------------------

    def _step(self, number: int) -> None:
        if 0 <= number < len(self.cards):
            self.cards[number].setFocus(Qt.FocusReason.TabFocusReason)
            self.ensureWidgetVisible(self.cards[number])
        elif number >= len(self.cards) and self.recent.isVisible():
            self.recent.setFocus(Qt.FocusReason.TabFocusReason)
            self.ensureWidgetVisible(self.recent, 0, 0)
        elif number < 0:
            self.new_button.setFocus(Qt.FocusReason.BacktabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and self._can_leave:
            self.left.emit()
        elif event.key() == Qt.Key.Key_Up and self.recent.hasFocus() and self.cards:
            self._step(len(self.cards) - 1)
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(watched, Button) and isinstance(event, QKeyEvent) and self.cards:
            down = event.type() is QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down
            if down:
                self._step(0)
                return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As many cards beside each other as have room for their words, in whatever language."""
        if not self.cards:
            return
        room = min(self.viewport().width() - 2 * _MARGIN, _WIDEST)
        least = max(_LEAST_CARD, *(card.minimumSizeHint().width() for card in self.cards))
        self._place_cards(max(1, min(len(self.cards), (room + _GAP) // (least + _GAP))))

    def _place_cards(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for card in self.cards:
            self._grid.removeWidget(card)
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(len(self.cards)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(1000, 640)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "cards"):
            self._fit()
            self.update()

    @Slot()
    def scroll_to_top(self) -> None:
        """Show its beginning."""
        self.verticalScrollBar().setValue(0)
