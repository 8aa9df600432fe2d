"""Links in a log: files and addresses that a line names, under the mouse and by keys.

As in a terminal, a plain click selects; with Ctrl (on macOS Command) it opens. What is under the mouse is
underlined once it is known to be there; nothing is looked for in lines that nobody points at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPointF, Qt, QUrl, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from app.editor import FilePlace
from app.plain_text import plain_tool_tip
from app.run_view.log_finding import FindingLog
from app.run_view.log_host import LogHost
from app.run_view.log_links import Link, links_in
from app.run_view.log_overlays import RowMarks
from app.run_view.log_page import Place, PlacedRow
from app.theme import icon

_CONTROL = Qt.KeyboardModifier.ControlModifier
_SHOWN = 60
"""Characters of a link that a menu shows."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """A link in a line of the file."""

    line: int
    link: Link


class LinkedLog(FindingLog):
    """A log whose files and addresses can be opened. `host`: shared by the logs of a window."""

    def __init__(self, host: LogHost | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.host = host if host is not None else LogHost(self)
        self._hovered: _Spot | None = None
        self._chosen: _Spot | None = None
        self._armed: _Spot | None = None
        self._step_wanted = 0
        self._mouse: QPointF | None = None
        """Where the mouse is in the viewport; None: elsewhere."""
        self.host.files.learned.connect(self._learned)

    def _forget_places(self) -> None:
        super()._forget_places()
        self._hovered = self._chosen = self._armed = None

    # --- which links there are --------------------------------------------------------------------------

    def _is_there(self, link: Link) -> bool:
        if link.is_address:
            return _url(link) is not None
        return self.host.files.find(link.target) is not None

    def _spot_at(self, point: QPointF) -> _Spot | None:
        """The link under a point of the viewport, also one that is not known to be there yet."""
        placed = self._placed_at(point.y())
        if placed is None:
            return None
        row = placed.laid.row
        x = point.x() + self.horizontalScrollBar().value() - self._painter.text_left
        if x < 0:
            return None
        character = self._painter.character_under(placed.laid, x, point.y() - self._top_of(placed))
        if character is None or not row.searchable[0] <= character < row.searchable[1]:
            return None
        for link in links_in(row.text[: row.searchable[1]]):
            if link.start <= character < link.end:
                return _Spot(row.line, link)
        return None

    def _spots(self) -> list[_Spot]:
        """The links on the screen."""
        return [
            _Spot(placed.laid.row.line, link)
            for placed in self._rows()
            for link in links_in(placed.laid.row.text[: placed.laid.row.searchable[1]])
        ]

    @Slot()
    def _learned(self) -> None:
        self._repaint()
        self._show_cursor(self._mouse)
        if self._step_wanted:
            self._to_link(self._step_wanted)

    def _has_marks(self) -> bool:
        return self._chosen is not None or self._hovered is not None or super()._has_marks()

    def _marks_in(self, placed: PlacedRow) -> RowMarks:
        marks = super()._marks_in(placed)
        chosen = self._chosen if self.hasFocus() else None
        for spot in (chosen, self._hovered):
            if spot is not None and spot.line == placed.laid.row.line and self._is_there(spot.link):
                place = (spot.link.start, spot.link.end)
                return replace(marks, link=place, link_focused=spot is chosen)
        return marks

    # --- mouse ------------------------------------------------------------------------------------------

    def _hover(self, point: QPointF | None) -> None:
        spot = self._spot_at(point) if point is not None else None
        if spot != self._hovered:
            self._hovered = spot
            self._repaint()

    @property
    def _hovers_link(self) -> bool:
        return self._hovered is not None and self._is_there(self._hovered.link)

    def _show_cursor(self, point: QPointF | None) -> None:
        self._mouse = point
        self._hover(point)
        if point is None:
            return
        held = QGuiApplication.keyboardModifiers() & _CONTROL
        self._set_cursor(hand=self._points_at_row(point) or bool(held and self._hovers_link))

    def _points_at_row(self, point: QPointF) -> bool:
        """Whether a click there does something to the row."""
        del point
        return False

    def _set_cursor(self, *, hand: bool) -> None:
        shape = Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.IBeamCursor
        if self.viewport().cursor().shape() is not shape:
            self.viewport().setCursor(shape)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._armed = None
        if event.button() is Qt.MouseButton.LeftButton and event.modifiers() & _CONTROL:
            spot = self._spot_at(event.position())
            if spot is not None and self._is_there(spot.link):
                self._armed = spot

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        armed, self._armed = self._armed, None
        if armed is not None and self._spot_at(event.position()) == armed:
            self._open(armed.link)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self._show_cursor(None)
        super().leaveEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Control:
            self._show_cursor(self._mouse)
        super().keyReleaseEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            spot = self._spot_at(QPointF(event.pos()))
            if spot is not None and self._is_there(spot.link):
                QToolTip.showText(event.globalPos(), plain_tool_tip(self._about(spot.link)), self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def _about(self, link: Link) -> str:
        if link.is_address:
            address = _url(link) or ""
            return self.tr("{address}\nCtrl+click opens it in the browser").format(address=address)
        path = str(self.host.files.find(link.target) or link.target)
        if link.line is not None:
            path = self.tr("{path}, line {line}").format(path=path, line=link.line)
        return self.tr("{path}\nCtrl+click opens it in your editor").format(path=path)

    def _go(self, place: Place) -> None:
        super()._go(place)
        # Something else is under the mouse now.
        self._show_cursor(self._mouse)

    # --- opening ----------------------------------------------------------------------------------------

    def _open(self, link: Link) -> None:
        if link.is_address:
            address = _url(link)
            if address is not None:
                self.host.address_requested.emit(address)
            return
        path = self.host.files.find(link.target)
        if path is not None:
            self.host.open_file(FilePlace(path, link.line, link.column, link.target))

    def _add_link_actions(self, menu: QMenu, spot: _Spot | None) -> None:
        """What can be done with a link, at the top of the context menu."""
        if spot is None or not self._is_there(spot.link):
            return
        link = spot.link
        target = link.target if len(link.target) <= _SHOWN else f"…{link.target[-_SHOWN:]}"
        if link.line is not None:
            target = f"{target}:{link.line}"
        target = target.replace("&", "&&")
        menu.addAction(
            icon("external-link", "quiet"),
            self.tr("Open {target}").format(target=target),
            lambda: self._open(link),
        )
        path = self.host.files.find(link.target)
        copied = _url(link) or "" if link.is_address else str(path)
        words = self.tr("Copy address") if link.is_address else self.tr("Copy path")
        menu.addAction(icon("copy", "quiet"), words, lambda: QGuiApplication.clipboard().setText(copied))
        menu.addSeparator()

    # --- keys -------------------------------------------------------------------------------------------

    @Slot()
    def _next_link(self) -> None:
        self._to_link(1)

    @Slot()
    def _previous_link(self) -> None:
        self._to_link(-1)

    def _to_link(self, step: int) -> None:
        """Make the next link on the screen the current one; at the end, the first again."""
        spots = self._spots()
        files = self.host.files
        for spot in spots:
            if not spot.link.is_address:
                files.find(spot.link.target)
        if files.folder is not None and any(
            not spot.link.is_address and not files.is_known(spot.link.target) for spot in spots
        ):
            self._step_wanted = step
            return
        self._step_wanted = 0
        there = [spot for spot in spots if self._is_there(spot.link)]
        if not there:
            self.say_no_link()
            return
        if self._chosen in there:
            at = (there.index(self._chosen) + step) % len(there)
        else:
            at = 0 if step > 0 else len(there) - 1
        self._chosen = there[at]
        self._current_header = None
        self._set_follow(False)
        self._pointed = self._chosen.line
        if QAccessible.isActive():
            said = self.tr("Link: {target}").format(target=self._chosen.link.target)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said))
        self._repaint()

    def say_no_link(self) -> None:
        """There is no link on the screen."""

    def _open_chosen(self) -> bool:
        """Open the link that the keys are at, if it is on the screen."""
        if self._chosen is None or self._chosen not in self._spots():
            return False
        self._open(self._chosen.link)
        return True


def _url(link: Link) -> str | None:
    """The address as a browser gets it, with the host's name as it is really asked for."""
    url = QUrl(link.target, QUrl.ParsingMode.StrictMode)
    if not url.isValid() or url.scheme() not in ("http", "https") or not url.host():
        return None
    return url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
