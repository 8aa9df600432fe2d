"""Check this computer: a dialog that fills in while the computer is looked at, and blocks nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QListView, QMenu, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.doctor.delegate import MARGIN, FindingDelegate
from app.doctor.model import ENTRY_ROLE, FindingModel, Found
from app.doctor.work import DoctorWork
from app.doctor_text import finding_lines, summary
from app.focus_line import FocusLine
from app.labels import QuietLabel
from app.painting import paint_method
from app.scroll_bar import use_thin_scroll_bars
from app.tab_order import ReadingOrder
from app.theme import TextSize, font, is_appearance_event, paint_icon, theme
from core.backends.registry import backend_names
from core.doctor import Checkup, Told
from core.health import Finding, FindingStatus

_HEADER_ICON = 20
_COMMAND = re.compile(r"`([^`]+)`")
_OF_THE_COMPUTER = ("python", "machine", "processes", "git")


class DoctorDialog(ReadingOrder, QDialog):
    """Looks at the computer as soon as it opens, and again when asked. `make_checkup`: a new look each time.

    `about` says what for. Closing it cancels a look that goes on.
    """

    def __init__(
        self, work: DoctorWork, make_checkup: Callable[[], Checkup], about: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._make_checkup = make_checkup
        self._number = 0
        self.setWindowTitle(self.tr("Check this computer"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.model = FindingModel(self)
        self.header = _Header(about, self)
        self.list = _FindingList(self.model, self)
        self.copy_button = Button(self.tr("&Copy as text"), ButtonLook.OUTLINED, "copy", self)
        self.again_button = Button(self.tr("Check &again"), ButtonLook.OUTLINED, "refresh-cw", self)
        self.close_button = Button(self.tr("Close"), ButtonLook.OUTLINED, "", self)
        self.again_button.setToolTip(
            self.tr("Look again, after something was mended ({0})").format(
                QKeySequence(QKeySequence.StandardKey.Refresh).toString(
                    QKeySequence.SequenceFormat.NativeText
                )
            )
        )
        self._arrange()
        self.copy_button.clicked.connect(self.copy_all)
        self.again_button.clicked.connect(self.look)
        self.close_button.clicked.connect(self.close)
        refresh = QAction(self)
        refresh.setShortcut(QKeySequence.StandardKey.Refresh)
        refresh.triggered.connect(self.again_button.click)
        self.addAction(refresh)
        work.told.connect(self._take)
        work.ended.connect(self._end)
        self.look()

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        buttons.setContentsMargins(MARGIN, 12, MARGIN, 12)
        buttons.setSpacing(8)
        buttons.addWidget(self.copy_button)
        buttons.addWidget(self.again_button)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.list, 1)
        layout.addWidget(_Line(self))
        layout.addLayout(buttons)
        self.setMinimumSize(420, 320)
        window = self.parentWidget()
        self.resize(720, 680 if window is None else max(320, min(680, window.window().height() - 40)))
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- looking ---------------------------------------------------------------------------------------

    @Slot()
    def look(self) -> None:
        """Look at the computer, from the beginning."""
        checkup = self._make_checkup()
        self.model.begin(self._sections(checkup.topics))
        self.again_button.setEnabled(False)
        self.copy_button.setEnabled(False)
        self._number = self._work.start(checkup)
        self._show_state()

    def _sections(self, topics: tuple[str, ...]) -> Mapping[str, list[str]]:
        clis = backend_names()
        return {
            self.tr("This computer"): [topic for topic in topics if topic in _OF_THE_COMPUTER],
            self.tr("Folders and files"): [
                topic for topic in topics if topic not in _OF_THE_COMPUTER and topic not in clis
            ],
            self.tr("Agents"): [topic for topic in topics if topic in clis],
        }

    @Slot(int, object)
    def _take(self, number: int, news: Told) -> None:
        if number == self._number:
            self.model.tell(news)
            self.copy_button.setEnabled(True)
            self._show_state()

    @Slot(int, object)
    def _end(self, number: int, error: BaseException | None) -> None:
        if number != self._number:
            return
        self.model.give_up()
        self.again_button.setEnabled(True)
        self._show_state()
        self._lead_to_trouble()
        if error is not None:
            self.header.show_state("circle-alert", "failed", self.tr("OpenLoop could not look to the end."))
            raise error

    def _lead_to_trouble(self) -> None:
        """Bring the first finding that is in the way into view, unless the user is looking at something."""
        if self.list.selectionModel().hasSelection():
            return
        for row, entry in enumerate(self.model.entries):
            if isinstance(entry, Found) and entry.finding.status is FindingStatus.ERROR:
                self.list.setCurrentIndex(self.model.index(row))
                return

    def _show_state(self) -> None:
        findings = self.model.findings
        errors, warnings = (
            sum(finding.status is status for finding in findings)
            for status in (FindingStatus.ERROR, FindingStatus.WARNING)
        )
        if self.model.awaited:
            self.header.show_state("loader-circle", "accent", self.tr("Looking at this computer…"))
        elif errors:
            self.header.show_state("circle-alert", "failed", self._summary(errors, warnings))
        else:
            self.header.show_state("circle-check", "succeeded", self._summary(errors, warnings))

    def _summary(self, errors: int, warnings: int) -> str:
        if errors == 1:
            words = self.tr("{0} thing is in the way of runs")
        elif errors:
            words = self.tr("{0} things are in the way of runs")
        else:
            words = self.tr("Nothing is in the way of runs")
        words = words.format(errors)
        if not warnings:
            return f"{words}."
        if errors:
            more, many = self.tr("{0} more is worth knowing"), self.tr("{0} more are worth knowing")
        else:
            more, many = self.tr("{0} thing is worth knowing"), self.tr("{0} things are worth knowing")
        more = more if warnings == 1 else many
        return f"{words}; {more.format(warnings)}."

    # --- copying ---------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """What is shown, as on the command line."""
        findings = self.model.findings
        counts = [
            sum(finding.status is status for finding in findings)
            for status in (FindingStatus.ERROR, FindingStatus.WARNING)
        ]
        return "".join(finding_lines(finding) for finding in findings) + f"\n{summary(*counts)}\n"

    @Slot()
    def copy_all(self) -> None:
        """Put everything that is shown into the clipboard."""
        QGuiApplication.clipboard().setText(self.text)

    def done(self, result: int) -> None:
        """Whatever way it closes, nobody waits for an answer any more."""
        self._number = 0
        self._work.cancel()
        super().done(result)


class _Header(QWidget):
    """How it stands, and what was looked for."""

    accessible_role = QAccessible.Role.Grouping

    def __init__(self, about: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon = ("loader-circle", "accent")
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setFont(font(TextSize.TITLE, bold=True))
        self.title.setWordWrap(True)
        self.about = QuietLabel(about, self)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN + _HEADER_ICON + 10, 14, MARGIN, 14)
        layout.setSpacing(2)
        layout.addWidget(self.title)
        layout.addWidget(self.about)

    def show_state(self, icon_name: str, token: str, words: str) -> None:
        """Say how it stands."""
        self._icon = (icon_name, token)
        if self.title.text() != words:
            self.title.setText(words)
            self.setAccessibleName(words)
        self.update()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), colors.color("ground"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, colors.color("line"))
            name, token = self._icon
            middle = self.title.geometry().center().y()
            top = min(middle, self.title.y() + 10) - _HEADER_ICON / 2 + 0.5
            paint_icon(
                painter, name, QRectF(MARGIN - 2, top, _HEADER_ICON, _HEADER_ICON), colors.color(token)
            )


class _Line(QWidget):
    """A line between the list and the buttons."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedHeight(1)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("line"))


class _FindingList(QListView):
    """The findings, to walk through with keys; Ctrl+C and the context menu copy."""

    def __init__(self, model: FindingModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(FindingDelegate(self))
        self.setAccessibleName(self.tr("What was found"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        use_thin_scroll_bars(self)
        FocusLine(self)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Base)
        self.customContextMenuRequested.connect(self._open_menu)
        copy = QAction(self.tr("&Copy"), self)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_current)
        self.addAction(copy)
        self._copy_action = copy

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(640, 480)

    @property
    def current_finding(self) -> Finding | None:
        """The finding that is chosen, if one is."""
        entry = self.currentIndex().data(ENTRY_ROLE)
        return entry.finding if isinstance(entry, Found) else None

    @Slot()
    def copy_current(self) -> None:
        """Put the chosen finding into the clipboard."""
        finding = self.current_finding
        if finding is not None:
            parts = (f"{finding.subject}: {finding.message}", finding.advice)
            QGuiApplication.clipboard().setText("\n".join(part for part in parts if part))

    @Slot(QPoint)
    def _open_menu(self, at: QPoint) -> None:
        menu = self.menu_of(self.current_finding)
        if menu is not None:
            # Not exec: a nested loop would hold up every coroutine of a run.
            menu.popup(self.viewport().mapToGlobal(at))

    def menu_of(self, finding: Finding | None) -> QMenu | None:
        """What can be done with a finding: copy it, or one of the commands in its advice."""
        if finding is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._copy_action)
        for command in dict.fromkeys(_COMMAND.findall(finding.advice)):
            action = menu.addAction(self.tr("Copy “{0}”").format(command.replace("&", "&&")))
            action.triggered.connect(lambda _=False, text=command: QGuiApplication.clipboard().setText(text))
        return menu

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        # Rows are as high as their text at this width.
        self.scheduleDelayedItemsLayout()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event):
            self.viewport().update()
