"""The log view: real files, a real widget, real keys and mouse."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QGuiApplication,
    QImage,
    QMouseEvent,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.editor import FilePlace
from app.run_view import log_finder
from app.run_view.log_ansi import Look, Span, Token, ansi_spans
from app.run_view.log_colors import DEFAULT_GROUND, DEFAULT_TEXT, RGB, behind, contrast, readable
from app.run_view.log_finder import LogSieve
from app.run_view.log_folds import FoldMap
from app.run_view.log_host import LogHost
from app.run_view.log_links import Link, links_in
from app.run_view.log_rows import row_of
from app.run_view.log_source import BackgroundJob
from app.run_view.log_view import LogView
from app.theme import DARK, LIGHT, Theme, theme
from core.backends.base import NoiseSeen, TextSaid, ToolUsed
from core.line_index import LineIndex, LogLine
from core.line_kinds import LineKind
from core.transcript import FOLD_HEADER, Kind, TranscriptWriter

NOW = 1_700_000_000.0
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[LogView]:
    widget = LogView()
    widget.resize(700, 400)
    qtbot.addWidget(widget)
    with qtbot.waitExposed(widget):
        widget.show()
    yield widget
    widget.close()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def numbered(count: int, start: int = 0) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(start, start + count))


def wait(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    qtbot.waitUntil(condition)


def settle(qtbot: QtBot, view: LogView, lines: int) -> None:
    wait(qtbot, lambda: view.line_count == lines)


def row_point(view: LogView, text: str, character: int = 0) -> QPoint:
    """Where a visible row (that is not wrapped) is, in the viewport."""
    at = view.visible_text().index(text)
    painter = view._painter
    y = 8 + (at + 0.5) * painter.row_height
    return QPoint(int(painter.text_left + character * painter._character + 1), int(y))


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


# --- following ----------------------------------------------------------------------------------------


def test_a_file_that_does_not_exist_yet_is_shown_as_soon_as_it_grows(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    view.set_source(log, raw=True)
    assert view.visible_text() == []
    append(log, b"first\nsec")
    wait(qtbot, lambda: view.visible_text() == ["first", "sec"])
    append(log, b"ond\n")
    wait(qtbot, lambda: view.visible_text() == ["first", "second"])


def test_the_view_sticks_to_the_end_until_one_scrolls_up(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(1000))
    view.set_source(log, raw=True)
    settle(qtbot, view, 1000)
    assert view.visible_text()[-1] == "line 999"
    append(log, numbered(10, 1000))
    wait(qtbot, lambda: view.visible_text()[-1] == "line 1009")

    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert not view.following
    paused = view.visible_text()
    append(log, numbered(1234, 1010))
    settle(qtbot, view, 2244)
    assert view.visible_text() == paused
    assert view._pill.isVisible()
    assert view._pill.text() == "↓ Follow · 1,234 new lines"

    QTest.mouseClick(view._pill, LEFT)
    assert view.following
    assert view._pill.isHidden()
    assert view.visible_text()[-1] == "line 2243"

    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.visible_text()[0] == "line 0"
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.following
    assert view.visible_text()[-1] == "line 2243"


def test_the_wheel_pauses_and_scrolling_back_to_the_end_resumes(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(numbered(1000))
    view.set_source(log, raw=True)
    settle(qtbot, view, 1000)

    def turn(delta: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        point = QPointF(100, 100)
        event = QWheelEvent(
            point,
            view.viewport().mapToGlobal(point),
            QPoint(),
            QPoint(0, delta),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(view.viewport(), event)

    turn(240)
    assert not view.following
    assert "line 999" not in view.visible_text()
    turn(-240)
    assert view.following
    before = len(view.visible_text())
    turn(360, Qt.KeyboardModifier.ControlModifier)
    turn(360, Qt.KeyboardModifier.ControlModifier)
    assert len(view.visible_text()) < before
    assert view.visible_text()[-1] == "line 999"


def end_is_in_view(view: LogView) -> bool:
    last = view._rows()[-1]
    below = view._top_of(last) + last.laid.heights * view._painter.row_height
    return last.laid.row.line == view.line_count - 1 and below <= view.viewport().height()


def show_otherwise(view: LogView) -> Iterator[str]:
    """Each way in which rows become larger or smaller, or fewer fit."""
    host = view.host
    for zoom in (1, 2, 3, 8, 0, -4, 0, 5):
        host.show_as(zoom=zoom)
        yield f"zoom {zoom}"
    for wrap in (False, True):
        host.show_as(wrap=wrap)
        yield f"wrap {wrap}"
    for shown in (True, False):
        host.show_as(line_numbers=shown)
        yield f"line numbers {shown}"
    for size in ((400, 200), (900, 700), (300, 150)):
        view.resize(*size)
        yield f"size {size}"


def long_lines(count: int) -> bytes:
    return b"".join(b"line %d %s\n" % (number, b"word " * (number * 37 % 90)) for number in range(count))


@pytest.mark.parametrize("count", [4, 100])
def test_who_follows_the_end_follows_it_however_the_log_is_shown(
    view: LogView, log: Path, qtbot: QtBot, count: int
) -> None:
    log.write_bytes(long_lines(count))
    view.set_source(log, raw=True)
    settle(qtbot, view, count)
    for how in show_otherwise(view):
        assert view.following, how
        assert end_is_in_view(view), how
        assert view._pill.isHidden(), how


@pytest.mark.parametrize("count", [4, 100])
def test_the_last_line_that_keys_went_to_stays_in_view_however_the_log_is_shown(
    view: LogView, log: Path, qtbot: QtBot, count: int
) -> None:
    log.write_bytes(long_lines(count))
    view.set_source(log, raw=True)
    settle(qtbot, view, count)
    QTest.keyClick(
        view, Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
    )
    assert not view.following, "what is selected does not move away"
    for how in show_otherwise(view):
        assert end_is_in_view(view), how
        assert view._pill.isHidden(), how


def test_a_match_stays_in_view_when_the_text_gets_larger_rather_than_the_end(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(b"needle\n" + numbered(10))
    view.set_source(log, raw=True)
    settle(qtbot, view, 11)
    view.open_find()
    QTest.keyClicks(view._bar._field, "needle")
    wait(qtbot, lambda: not view.following)
    for zoom in (4, 12, 24):
        view.host.show_as(zoom=zoom)
        assert view.visible_text()[0] == "needle"
    assert not end_is_in_view(view)
    assert view._pill.isVisible()


def test_the_end_that_a_larger_window_brought_into_view_stays_there(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(numbered(100))
    view.set_source(log, raw=True)
    settle(qtbot, view, 100)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert not end_is_in_view(view)
    view.resize(700, 700)
    for size in ((700, 700), (700, 400), (700, 300)):
        view.resize(*size)
        assert end_is_in_view(view), size
        assert view._pill.isHidden(), size


def test_a_text_that_does_not_grow_stays_at_its_beginning_when_it_gets_larger(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(numbered(12))
    view.set_still(True)
    view.set_source(log, raw=True)
    settle(qtbot, view, 12)
    view.host.show_as(zoom=24)
    assert view.visible_text()[0] == "line 0"
    assert not end_is_in_view(view)


def test_the_scroll_bar_reaches_every_line_of_a_big_file(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(1_000_000))
    view.set_source(log, raw=True)
    settle(qtbot, view, 1_000_000)
    bar = view.verticalScrollBar()
    bar.setValue(500_000)
    assert view.visible_text()[0] == "line 500000"
    assert not view.following
    bar.setValue(bar.maximum())
    assert view.visible_text()[-1] == "line 999999"
    assert view.following


def test_a_truncated_file_starts_anew(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(500))
    view.set_source(log, raw=True)
    settle(qtbot, view, 500)
    QTest.keyClick(view, Qt.Key.Key_Home)
    view.select_all()
    log.write_bytes(b"new\n")
    settle(qtbot, view, 1)
    assert view.visible_text() == ["new"]
    assert view.selected_text() == ""
    log.unlink()
    wait(qtbot, lambda: view.visible_text() == [])


def test_a_hidden_view_does_nothing(view: LogView, log: Path, qtbot: QtBot) -> None:
    view.set_source(log, raw=True)
    view.hide()
    assert not view._timer.isActive()
    append(log, b"meanwhile\n")
    view.show()
    assert view.visible_text() == ["meanwhile"]
    assert view._timer.isActive()


def test_a_big_file_shows_its_beginning_until_its_end_is_known(
    view: LogView, log: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.run_view.log_area._MUCH", 1_000_000)
    log.write_bytes(numbered(3_000_000))
    tops: set[str] = set()
    view.set_source(log, raw=True)
    assert view._pill.text().startswith("Reading… ")

    def is_read() -> bool:
        if view._reading:
            tops.update(view.visible_text()[:1])
        return not view._reading and view.line_count == 3_000_000

    wait(qtbot, is_read)
    assert tops == {"line 0"}, "it does not rush by"
    assert view.visible_text()[-1] == "line 2999999"
    assert view._pill.isHidden()


# --- looks --------------------------------------------------------------------------------------------


def test_odd_bytes_are_shown_as_something(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(
        b"bad \xff\xfe\nnul \x00\n10%\r100%\r\ncrlf\r\n\x1b]0;title\x07\x1b[2Kplain \x1b[31mred\x1b[0m\n"
    )
    view.set_source(log, raw=True)
    wait(qtbot, lambda: view.visible_text() == ["bad ��", "nul ␀", "100%", "crlf", "plain red"])


def test_a_line_of_a_million_characters_is_clipped_and_says_so(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(b"x" * 1_000_000 + b"\nend\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 2)
    assert view.visible_text()[-1] == "end"
    assert view.visible_text()[0] == "x" * 4096 + "… 995.9 KB more"


def test_long_lines_wrap_and_are_scrolled_by_screen_row(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(b"word " * 800 + b"\nend\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 2)
    top = view._page.place
    assert (top.line, top.part > 0) == (0, True)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view._page.place == type(top)(0, top.part - 1)
    view.set_wrap(False)
    assert view._page.place == type(top)(0, 0)
    view.grab()
    assert view.horizontalScrollBar().maximum() > 0
    view.set_wrap(True)
    assert view.horizontalScrollBar().maximum() == 0


ANSI_LOOKS = [
    (b"a\x1b[31mb\x1b[0mc", ["a", "b:1", "c"]),
    (b"\x1b[1;32mb\x1b[22mc\x1b[m.", ["b:2 bold", "c:2", "."]),
    (b"\x1b[91mb\x1b[90mc\x1b[39md", ["b:9", "c:8", "d"]),
    (b"\x1b[38;5;196mb\x1b[38;2;0;200;10mc", ["b:196", "c:#00c80a"]),
    (b"\x1b[38:2::1:2:3mb\x1b[38:5:7mc", ["b:#010203", "c:7"]),
    (b"\x1b[48;5;21mb\x1b[49mc", ["b on 21", "c"]),
    (b"\x1b[37;104mb", ["b:7 on 12"]),
    (b"\x1b[7mb\x1b[31mc\x1b[27md", ["b:ground on text", "c:ground on 1", "d:1"]),
    (b"\x1b[41;7mb", ["b:1 on text"]),
    (b"\x1b[2mb\x1b[22mc", ["b quiet", "c"]),
    (b"\x1b[3;4;9mb\x1b[23;24;29mc", ["b italic underline struck", "c"]),
    (b"\x1b[4:3mb\x1b[4:0mc", ["b underline", "c"]),
    (b"\x1b[38mb\x1b[38;9;1mc", ["b", "c bold"]),
    (b"\x1b[38;5;999mb\x1b[38;2;999;0;0mc\x1b[38;5md", ["b:255", "c:#ff0000", "d:#ff0000"]),
]


def in_words(text: str, span: Span) -> str:
    def color(ink: int) -> str:
        named = {DEFAULT_TEXT: "text", DEFAULT_GROUND: "ground"}
        return f"#{ink - RGB:06x}" if ink >= RGB else named.get(ink, str(ink))

    look = span.look
    words = text[span.start : span.end] + (f":{color(look.ink)}" if look.ink is not None else "")
    words += f" on {color(look.ground)}" if look.ground is not None else ""
    words += " quiet" if look.token is Token.QUIET else ""
    return words + "".join(
        f" {name}" for name in ("bold", "italic", "underline", "struck") if getattr(look, name)
    )


@pytest.mark.parametrize(("data", "looks"), ANSI_LOOKS)
def test_what_a_terminal_program_asks_for_is_understood(data: bytes, looks: list[str]) -> None:
    text, spans = ansi_spans(data, Token.TEXT, 0)
    assert [in_words(text, span) for span in spans] == looks


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_can_be_read_on_whatever_is_behind_it(
    colors: Theme, view: LogView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.theme._current", [colors])
    painter = view._painter
    painter.restyle()
    for index in range(16):
        assert contrast(QColor(colors.terminal[index]), QColor(colors.ground)) >= 4.5, "as it was chosen"
    true_colors = [
        RGB | red << 16 | green << 8 | blue for red, green, blue in product((0, 77, 128, 200, 255), repeat=3)
    ]
    for ink in (*range(256), *true_colors, None):
        for token in (Token.TEXT, Token.QUIET):
            shown = painter.ink(Look(token, ink=ink))
            for ground in ("ground", "accent_soft") if ink is not None else ("ground",):
                assert contrast(shown, QColor(getattr(colors, ground))) >= 4.5, (ink, ground)
    inks = (None, 0, 7, 8, 15, 240, 244, 21, 226, RGB | 0x808080)
    grounds = (*range(0, 256, 5), DEFAULT_TEXT, RGB | 0x777777)
    for ink, below in product(inks, grounds):
        shown = painter.ink(Look(ink=ink, ground=below))
        assert contrast(shown, behind(below, colors)) >= 4.5, (ink, below)


def test_a_colour_that_must_change_keeps_its_hue() -> None:
    yellow = readable(QColor(255, 255, 0), QColor(LIGHT.ground))
    assert contrast(yellow, QColor(LIGHT.ground)) < 5.5, "no darker than it must be"
    assert abs(yellow.hslHueF() - 1 / 6) < 0.01


def test_after_a_carriage_return_the_colours_before_it_stay_on() -> None:
    line = LogLine(0, 0, b"\x1b[31m10%\r\x1b[1m 50%\r100%\x1b[0m done\r")
    row = row_of(line, structured=False)
    assert [in_words(row.text, span) for span in row.spans] == ["100%:1 bold", " done"]


def test_a_colour_goes_on_in_the_next_lines_and_ends_where_openloop_speaks(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    writer = TranscriptWriter(log)
    writer.event(NoiseSeen(b"\x1b[1;31mTraceback\n  in main\n"), NOW)
    writer.event(NoiseSeen(b"\x1b[22mValueError\x1b[0m\nplain\n\x1b[32mleft on\n"), NOW + 2)
    writer.note("OpenLoop ended it.", NOW + 2)
    writer.event(NoiseSeen(b"after it\n"), NOW + 9)
    writer.close()
    view.set_source(log)
    settle(qtbot, view, 7)
    rows = [placed.laid.row for placed in view._rows()]
    assert [[in_words(row.text, span) for span in row.spans] for row in rows] == [
        ["Traceback:1 bold"],
        ["  in main:1 bold"],
        ["ValueError:1"],
        ["plain"],
        ["left on:2"],
        ["OpenLoop ended it. quiet"],
        ["after it"],
    ]


def test_colours_are_painted(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes("\x1b[32m███\x1b[0m\n\x1b[44m   \x1b[0m\n".encode())
    view.set_source(log, raw=True)
    settle(qtbot, view, 2)
    for text, color in (("███", 2), ("   ", 4)):
        point = row_point(view, text, 1) + QPoint(3, 0)
        image = view.viewport().grab().toImage()
        assert image.pixelColor(point * image.devicePixelRatio()) == QColor(theme().terminal[color])


def margin_colors(view: LogView, text: str) -> set[str]:
    """The colours in the margin beside a row."""
    row = row_point(view, text)
    image = view.viewport().grab().toImage()
    return {image.pixelColor(x, row.y()).name() for x in range(10)}


def test_what_an_agent_prints_never_looks_like_what_openloop_says(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    writer = TranscriptWriter(log)
    writer.update("score 1", NOW)
    writer.event(NoiseSeen(b"\x1b[34mstate update\x1b[0m  score 100\n"), NOW)
    writer.note("vera wrote \x1b[31m7\x1b[0m", NOW, Kind.WARNING)
    writer.close()
    view.set_source(log)
    settle(qtbot, view, 3)
    mark = theme().color("succeeded").name()
    assert mark in margin_colors(view, "state update  score 1")
    forged = margin_colors(view, "state update  score 100")
    assert mark not in forged
    assert forged == {theme().ground}
    index = LineIndex(log, FOLD_HEADER)
    index.advance()
    quoted = row_of(index.read(2, 1)[0], structured=True)
    assert quoted.text == "warning  vera wrote 7"
    assert [span.look.token for span in quoted.spans] == [Token.FAILED, Token.TEXT]


def test_marks_stacked_on_a_letter_stay_within_their_row(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(b"above\n" + ("Z" + "\u0301\u0323" * 60).encode() + b"\nbelow\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 3)
    stacked = view.viewport().grab().toImage()
    log.write_bytes(b"above\n-\nbelow\n")
    view.set_source(None)
    view.set_source(log, raw=True)
    settle(qtbot, view, 3)
    plain = view.viewport().grab().toImage()
    height = view._painter.row_height
    # Where the view begins its rows.
    for top in (8, 8 + 2 * height):
        row = QRect(0, top, plain.width(), height)
        assert stacked.copy(row) == plain.copy(row)


def test_the_focus_shows_where_keys_brought_it(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(3))
    view.set_source(log, raw=True)
    settle(qtbot, view, 3)

    def line_on_top() -> bool:
        return view.viewport().grab().toImage().pixelColor(200, 0) == theme().color("accent")

    view.clearFocus()
    assert not line_on_top()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert line_on_top()
    view.clearFocus()
    QTest.mouseClick(view.viewport(), LEFT, pos=QPoint(100, 200))
    view.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not line_on_top()


def test_an_empty_log_says_so(view: LogView) -> None:
    blank = view.viewport().grab().toImage()
    view.set_empty_text("")
    assert view.viewport().grab().toImage() != blank


def test_a_screen_reader_is_told_of_a_document_and_its_visible_lines(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(b"one\ntwo\n")
    view.setAccessibleName("Log of vera")
    view.set_source(log, raw=True)
    settle(qtbot, view, 2)
    QAccessible.setActive(True)
    try:
        view.viewport().grab()
        interface = QAccessible.queryAccessibleInterface(view)
        assert interface.role() is QAccessible.Role.Document
        assert interface.text(QAccessible.Text.Name) == "Log of vera"
        assert interface.text(QAccessible.Text.Description) == "one\ntwo"
    finally:
        QAccessible.setActive(False)


# --- folds --------------------------------------------------------------------------------------------


@pytest.fixture
def transcript(log: Path) -> Iterator[TranscriptWriter]:
    writer = TranscriptWriter(log)
    writer.event(TextSaid("hello"), NOW)
    writer.event(ToolUsed("read", "a.py", "one\ntwo\nthree"), NOW)
    writer.event(ToolUsed("bash", "true"), NOW)
    writer.event(ToolUsed("bash", "ls", "x\ny", seconds=2.1, exit_code=0), NOW)
    writer.event(TextSaid("bye"), NOW)
    yield writer
    writer.close()


FOLDED = ["hello", "▸ read  a.py  3 lines", "  bash  true", "▸ bash  ls  2.1 s · exit 0 · 2 lines", "bye"]
RESULT = ["    one", "    two", "    three"]


@pytest.mark.usefixtures("transcript")
def test_results_are_folded_and_a_click_or_a_key_toggles_them(view: LogView, log: Path, qtbot: QtBot) -> None:
    view.set_source(log)
    wait(qtbot, lambda: view.visible_text() == FOLDED)
    QTest.mouseClick(view.viewport(), LEFT, pos=row_point(view, FOLDED[1], 3))
    assert view.visible_text() == ["hello", "▾ read  a.py", *RESULT, *FOLDED[2:]]
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert view.visible_text() == FOLDED
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert view.visible_text() == [*FOLDED[:3], "▾ bash  ls  2.1 s · exit 0", "    x", "    y", "bye"]
    view.unfold_all()
    assert len(view.visible_text()) == len(FOLDED) + 5
    view.fold_all()
    assert view.visible_text() == FOLDED


def test_what_comes_later_is_folded_too(
    view: LogView, log: Path, transcript: TranscriptWriter, qtbot: QtBot
) -> None:
    view.set_source(log)
    wait(qtbot, lambda: view.visible_text() == FOLDED)
    transcript.event(ToolUsed("grep", "x", "hit\n" * 500), NOW)
    transcript.event(NoiseSeen(b"plain\n"), NOW)
    wait(qtbot, lambda: view.visible_text() == [*FOLDED, "▸ grep  x  500 lines", "plain"])


def test_the_fold_map_agrees_with_a_list_of_lines(log: Path) -> None:
    writer = TranscriptWriter(log)
    for number in range(40):
        writer.event(TextSaid("text\n" * (number % 3 + 1)), NOW)
        writer.event(ToolUsed("bash", "x", "r\n" * (number % 4)), NOW)
    writer.close()
    index = LineIndex(log, FOLD_HEADER)
    index.advance()
    snapshot = index.snapshot()
    folds = FoldMap()
    folds.extend(snapshot)
    for step in range(12):
        if step == 6:
            folds.set_all(folded=False)
        folds.toggle(step * 2)
        hidden = {
            line
            for fold in range(snapshot.mark_count)
            if folds.is_folded(fold)
            for line in range(
                snapshot.marks.lines[fold] + 1,
                snapshot.marks.lines[fold] + 1 + snapshot.marks.values[fold],
            )
        }
        expected = [line for line in range(snapshot.lines) if line not in hidden]
        assert folds.shown == len(expected)
        assert [folds.line_of(shown) for shown in range(folds.shown)] == expected
        assert [folds.shown_of(line) for line in expected] == list(range(len(expected)))
        assert [folds.after(line) for line in expected[:-1]] == expected[1:]


# --- selection ----------------------------------------------------------------------------------------


def drag(view: LogView, start: QPoint, end: QPoint) -> None:
    QTest.mousePress(view.viewport(), LEFT, pos=start)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(end),
        view.viewport().mapToGlobal(QPointF(end)),
        LEFT,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), move)
    QTest.mouseRelease(view.viewport(), LEFT, pos=end)


def test_text_is_selected_by_character_over_lines_and_copied(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_text("alpha beta\n\n😀😀 gamma delta\n", encoding="utf-8")
    view.set_source(log, raw=True)
    settle(qtbot, view, 3)
    drag(view, row_point(view, "alpha beta", 6), row_point(view, "", 0))
    assert view.selected_text() == "beta\n"
    QTest.mouseDClick(view.viewport(), LEFT, pos=row_point(view, "alpha beta", 7))
    assert view.selected_text() == "beta"
    laid = view._page.laid(2)
    assert laid is not None
    x = view._painter.text_left + laid.layout.lineAt(0).cursorToX(5)[0]
    point = QPoint(int(x) + 2, row_point(view, "😀😀 gamma delta").y())
    QTest.mouseDClick(view.viewport(), LEFT, pos=point)
    assert view.selected_text() == "gamma"
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard() == "alpha beta\n\n😀😀 gamma delta"


def test_copying_a_whole_big_log_does_not_block_and_leaves_folded_lines_out(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    writer = TranscriptWriter(log)
    for number in range(1_500):
        writer.event(ToolUsed("bash", f"run {number}", "r\n" * 20), NOW)
        writer.event(TextSaid(f"text {number}"), NOW)
    writer.close()
    view.set_source(log)
    settle(qtbot, view, 1_500 * 22)
    view.select_all()
    view.copy()
    expected = [
        part for number in range(1_500) for part in (f"bash  run {number}  20 lines", f"text {number}")
    ]
    wait(qtbot, lambda: clipboard().endswith("text 1499"))
    assert clipboard().split("\n") == expected


def test_the_context_menu_offers_what_can_be_done(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(b"one\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 1)
    menu = view.make_menu()
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert list(actions) == [
        "Copy",
        "Select all",
        "Find…",
        "Filter lines…",
        "Fold all",
        "Unfold all",
        "Wrap lines",
        "Line numbers",
        "Open raw file",
        "Editor for files…",
    ]
    assert not actions["Copy"].isEnabled()
    with qtbot.waitSignal(view.raw_file_requested):
        actions["Open raw file"].trigger()
    actions["Wrap lines"].trigger()
    assert not view._painter.wrap
    menu.close()


# --- find ---------------------------------------------------------------------------------------------


def test_find_counts_steps_wraps_round_and_unfolds(view: LogView, log: Path, qtbot: QtBot) -> None:
    writer = TranscriptWriter(log)
    writer.event(TextSaid("Score one, score two"), NOW)
    writer.event(NoiseSeen(numbered(300_000)), NOW)
    writer.event(ToolUsed("bash", "x", "a\nthe score\nb"), NOW)
    writer.event(NoiseSeen(numbered(300_000)), NOW)
    writer.close()
    view.set_source(log)
    settle(qtbot, view, 600_005)
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    needle = view._bar._field
    wait(qtbot, needle.hasFocus)
    QTest.keyClicks(needle, "score")
    wait(qtbot, lambda: view._bar.count_text == "1 of 3")
    QTest.keyClick(needle, Qt.Key.Key_Return)
    assert view._bar.count_text == "2 of 3"
    assert view._found == (0, 1)
    QTest.keyClick(needle, Qt.Key.Key_Return)
    assert view._bar.count_text == "3 of 3"
    assert "    the score" in view.visible_text()
    assert not view.following
    QTest.keyClick(needle, Qt.Key.Key_Return)
    assert view._bar.count_text == "1 of 3"
    assert view.visible_text()[0] == "Score one, score two"
    QTest.keyClick(needle, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert view._bar.count_text == "3 of 3"
    QTest.keyClicks(needle, "zzz")
    wait(qtbot, lambda: view._bar.count_text == "no match")
    QTest.keyClick(needle, Qt.Key.Key_Escape)
    assert view._bar.isHidden()
    wait(qtbot, view.hasFocus)


def test_find_hears_of_matches_that_come_later(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(b"nothing\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 1)
    view.open_find()
    QTest.keyClicks(view._bar._field, "late")
    wait(qtbot, lambda: view._bar.count_text == "no match")
    append(log, b"too late\n")
    wait(qtbot, lambda: view._bar.count_text == "1 found")
    view.find_next(1)
    assert view._bar.count_text == "1 of 1"


def test_find_tells_case_words_and_expressions_apart(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(b"Error one\nerrors\nerror\nerr0r\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 4)
    view.open_find()
    field = view._bar._field
    QTest.keyClicks(field, "error")
    wait(qtbot, lambda: view._bar.count_text == "1 of 3")
    QTest.keyClick(field, Qt.Key.Key_C, Qt.KeyboardModifier.AltModifier)
    wait(qtbot, lambda: view._bar.count_text == "1 of 2")
    QTest.keyClick(field, Qt.Key.Key_W, Qt.KeyboardModifier.AltModifier)
    wait(qtbot, lambda: view._bar.count_text == "1 of 1")
    QTest.mouseClick(view._bar._word, LEFT)
    QTest.mouseClick(view._bar._expression, LEFT)
    field.selectAll()
    QTest.keyClicks(field, "err[o0]r$")
    wait(qtbot, lambda: view._bar.count_text.endswith("of 2"))
    QTest.keyClicks(field, "(")
    assert view._bar.count_text == "not understood"
    assert "regular expression" in field.accessibleDescription()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    wait(qtbot, lambda: view._bar.count_text.endswith("of 2"))
    assert field.accessibleDescription() == ""


def test_the_find_bar_covers_no_line(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(3))
    view.set_source(log, raw=True)
    settle(qtbot, view, 3)
    view.open_find()
    bar = QRect(view._bar.mapToGlobal(QPoint()), view._bar.size())
    text = QRect(view.viewport().mapToGlobal(QPoint()), view.viewport().size())
    assert not bar.intersects(text)
    view.close_find()
    assert view.viewport().y() == 0


def test_matches_are_marked_in_the_scroll_bar(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(500) + b"needle\n" + numbered(499, 501))
    view.set_source(log, raw=True)
    settle(qtbot, view, 1000)
    view.open_find()
    QTest.keyClicks(view._bar._field, "needle")
    wait(qtbot, lambda: view._scroll_marks.marks == [0.5])
    bar = view.verticalScrollBar()
    image = bar.grab().toImage()
    here = image.pixelColor(bar.width() - 3, round(0.5 * (bar.height() - 2)) + 1).name()
    assert here in (theme().accent, theme().text)
    view.close_find()
    assert view._scroll_marks.marks == []


# --- filter -------------------------------------------------------------------------------------------


def test_only_lines_that_match_are_shown_with_the_numbers_of_the_file(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(b"".join(b"%s %d\n" % (b"even" if n % 2 == 0 else b"odd", n) for n in range(300_000)))
    view.set_source(log, raw=True)
    settle(qtbot, view, 300_000)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(view, Qt.Key.Key_F, both)
    field = view._bar._field
    wait(qtbot, field.hasFocus)
    QTest.keyClicks(field, "ven 2999")
    wait(qtbot, lambda: view._bar.lines_text == "55 of 300,000 lines")
    assert view._page.map.shown == 55
    shown = view.visible_text()
    assert shown[-1] == "even 299998"
    assert view._page.rows(400)[-1].laid.row.line == 299_998
    assert view._painter.number_width > 0, "without their numbers nobody knows where they are"
    append(log, b"seven 2999\nodd\n")
    wait(qtbot, lambda: view._bar.lines_text == "56 of 300,002 lines")
    assert view.visible_text()[-1] == "seven 2999", "it follows the end of what matches"
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert view.visible_text()[-1] == "odd"
    assert view._painter.number_width == 0, "as it was chosen"


def test_the_place_is_kept_when_lines_are_left_out_and_come_back(
    view: LogView, log: Path, qtbot: QtBot
) -> None:
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(50_000)))
    view.set_source(log, raw=True)
    settle(qtbot, view, 50_000)
    view.verticalScrollBar().setValue(20_003)
    view.open_filter()
    QTest.keyClicks(view._bar._field, "7")
    wait(qtbot, lambda: view.visible_text()[:1] == ["line 20007"])
    view.close_find()
    assert view.visible_text()[0] == "line 20007"
    assert not view.following


def test_the_place_is_kept_when_the_search_ends_while_its_map_is_taken(
    view: LogView, log: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The filter's thread stops behind its first part, is seen there, and ends before anything else."""
    first, go_on = threading.Event(), threading.Event()

    class Held:
        """Lets the filter's first part pass."""

        def wait(self) -> None:
            if threading.current_thread().name != "log-filter":
                return
            if first.is_set():
                go_on.wait()
            first.set()

    poll = LogSieve.poll

    def poll_and_end(sieve: LogSieve, size: int, lines: int) -> bool:
        first.wait()
        more = poll(sieve, size, lines)
        if sieve.shown:
            go_on.set()
            while sieve.searching:
                time.sleep(0.001)
        return more

    monkeypatch.setattr(log_finder, "COURTESY", Held())
    monkeypatch.setattr(LogSieve, "poll", poll_and_end)
    log.write_bytes(numbered(50_000))
    view.set_source(log, raw=True)
    settle(qtbot, view, 50_000)
    view.verticalScrollBar().setValue(20_003)
    view._bar.set_only(True)
    view.open_find()
    QTest.keyClicks(view._bar._field, "7")
    wait(qtbot, lambda: view._bar.lines_text == "17,195 of 50,000 lines")
    assert view.visible_text()[0] == "line 20007"


def test_lines_are_filtered_by_what_they_are(view: LogView, log: Path, qtbot: QtBot) -> None:
    writer = TranscriptWriter(log)
    writer.event(TextSaid("hello"), NOW)
    writer.event(ToolUsed("read", "a.py", "one\ntwo"), NOW)
    writer.stderr(b"oh no\n", NOW)
    writer.update("score 1", NOW)
    writer.close()
    view.set_source(log)
    settle(qtbot, view, 6)
    view.open_filter()
    chips = view._bar._chips
    QTest.mouseClick(chips[LineKind.ERRORS], LEFT)
    wait(qtbot, lambda: view.visible_text() == ["stderr  oh no"])
    QTest.mouseClick(chips[LineKind.TOOLS], LEFT)
    wait(qtbot, lambda: view._bar.lines_text == "4 of 6 lines")
    assert view.visible_text() == ["  read  a.py  2 lines", "    one", "    two", "stderr  oh no"]
    QTest.keyClicks(view._bar._field, "o")
    wait(qtbot, lambda: view._bar.lines_text == "3 of 6 lines")
    view.select_all()
    view.copy()
    assert clipboard() == "one\ntwo\nstderr  oh no", "what is shown is what is copied"
    menu = view.make_menu(QPointF(row_point(view, "    two")))
    {action.text(): action for action in menu.actions()}["Show among all lines"].trigger()
    menu.close()
    assert view._bar.isHidden()
    assert "stderr  oh no" in view.visible_text()


def test_where_a_filter_shows_nothing_stands_why(
    view: LogView, log: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(log_finder, "COURTESY", SimpleNamespace(wait=go_on.wait))
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(50_000)))
    view.set_empty_text("It printed nothing.")
    view.set_source(log, raw=True)
    settle(qtbot, view, 50_000)
    view.open_filter()
    field = view._bar._field
    QTest.keyClicks(field, "absent")
    assert view.words_for_nothing() == "Searching…"
    go_on.set()
    wait(qtbot, lambda: view._bar.lines_text == "0 of 50,000 lines")
    assert view.visible_text() == []
    assert view.words_for_nothing() == "No line matches “absent”."
    field.clear()
    QTest.keyClicks(field, "([")
    wait(qtbot, lambda: view._bar.lines_text == "0 of 50,000 lines")
    view._bar.toggle("expression")
    assert view.words_for_nothing().startswith("This is no regular expression: ")
    view.refresh()
    assert view._bar.lines_text == "", "what is shown is not what is asked for"
    assert view._bar.count_text == "not understood"
    field.clear()
    QTest.keyClicks(field, "7$")
    wait(qtbot, lambda: view._bar.lines_text == "5,000 of 50,000 lines")
    view.close_find()
    view.set_source(None)
    assert view.words_for_nothing() == "It printed nothing."


def test_a_filter_that_takes_too_long_ends_and_says_so(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(b"a" * 60 + b"\n")
    view.set_source(log, raw=True)
    settle(qtbot, view, 1)
    view._bar.toggle("expression")
    view.open_filter()
    view._bar._field.setText("(?:a|a?)+(?:a|aa)+b|(a+)+$x")
    wait(qtbot, lambda: view._bar.count_text == "too slow")
    sieve = view._sieve
    assert sieve is not None
    wait(qtbot, lambda: not sieve.searching)
    view.refresh()
    assert not sieve.searching, "it is not tried again and again"
    assert view._bar.lines_text == ""
    assert view.words_for_nothing().startswith("This expression takes too long")


def test_a_filter_of_ten_million_bytes_leaves_the_window_alone(
    view: LogView, log: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(log_finder, "COURTESY", SimpleNamespace(wait=go_on.wait))
    log.write_bytes(b"needle\n" * 1_500_000)
    view.set_source(log, raw=True)
    settle(qtbot, view, 1_500_000)
    view.open_filter()
    QTest.keyClicks(view._bar._field, "n")
    sieve = view._sieve
    assert sieve is not None
    assert sieve.searching, "a thread is at it while the window goes on"
    go_on.set()
    wait(qtbot, lambda: view._bar.lines_text == "1,500,000 of 1,500,000 lines")
    view.verticalScrollBar().setValue(700_000)
    assert view._page.rows(400)[0].laid.row.line == 700_000


# --- links --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("edit src/orders/pricing.py now", ["src/orders/pricing.py"]),
        ("tests/a.py:12:3: error", ["tests/a.py@12:3"]),
        ("see README.md, and docs/a.md.", ["README.md", "docs/a.md"]),
        ('  File "/home/me/my app/x.py", line 7, in f', ["/home/me/my app/x.py@7"]),
        ("`src/with space/a.py:4`", ["src/with space/a.py@4"]),
        ("a.ts(12,5): TS2304", ["a.ts@12:5"]),
        (r"C:\work\a.py:9 and D:/x/y.rs", [r"C:\work\a.py@9", "D:/x/y.rs"]),
        ("file:///home/me/a%20b.py and file:///C:/x.txt", ["/home/me/a b.py", "C:/x.txt"]),
        ("file://evil.example/share/x", []),
        (r"\\\\evil\share\x.txt //evil/share", []),
        (
            "go to https://example.org/a_(b)?q=1. Or (http://x.org/y)",
            ["https://example.org/a_(b)?q=1", "http://x.org/y"],
        ),
        ("--config=conf/app.toml;x", ["conf/app.toml"]),
        ("src/br[1].ts:4 app/[id]/page.tsx:12", ["src/br[1].ts@4", "app/[id]/page.tsx@12"]),
        ("[[...slug]]/page.tsx:1 (shop)/a.ts", ["[[...slug]]/page.tsx@1", "(shop)/a.ts"]),
        ("src/par(2).ts:1, par(2).ts(3)", ["src/par(2).ts@1", "par(2).ts@3"]),
        ("src/a.py(3) (src/a.py:3) [src/a.py:3] [a.py]", ["src/a.py@3"] * 3 + ["a.py"]),
        ("f(a.py) f(src/a.py). a[b.py]", ["a.py", "src/a.py", "b.py"]),
        ('"a file (x) [y].py":12:3', ["a file (x) [y].py@12:3"]),
        ("src/a.py#L5 `src/a.py#L5-L9`, a.py#L5C2.", ["src/a.py@5", "src/a.py@5", "a.py@5:2"]),
        ("src/a.py|3 col 5| error, src/a.py|7| x", ["src/a.py@3:5", "src/a.py@7"]),
        ("+++ b/src/a.py", ["b/src/a.py"]),
        ("1.5 e.g. 3/4 // ... and/or", ["e.g", "3/4", "and/or"]),
        ("plain words only", []),
    ],
)
def test_what_looks_like_a_file_or_an_address_is_seen(text: str, found: list[str]) -> None:
    def said(link: Link) -> str:
        place = f"@{link.line}" if link.line else ""
        return link.target + place + (f":{link.column}" if link.column else "")

    links = links_in(text)
    assert [said(link) for link in links] == found
    for link in links:
        if not link.target.startswith(("C:/", "/home/me/a b")):
            assert text[link.start : link.end].startswith(link.target)


def test_a_line_of_nothing_but_beginnings_of_links_takes_no_time() -> None:
    for sign in (
        '"',
        "/",
        "a/",
        "http://",
        "`a",
        "x:1",
        'File "',
        "C:\\",
        "(1,",
        "a[",
        "a(b",
        "[[a",
        "a[b].",
        "#L1",
    ):
        links_in(sign * 4096)


@pytest.fixture
def linked(view: LogView, log: Path, tmp_path: Path, qtbot: QtBot) -> LogView:
    """A log that names two files that are there, one that is not, and an address."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    (tmp_path / "b.md").touch()
    os.mkfifo(tmp_path / "src" / "pipe.py")
    log.write_bytes(b"see src/a.py:12:3 now\ngone.py src/pipe.py src\nhttps://example.org/x and b.md\n")
    view.host.files.set_folder(tmp_path)
    view.set_source(log, raw=True)
    settle(qtbot, view, 3)
    return view


def hover(view: LogView, point: QPoint) -> None:
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(point),
        view.viewport().mapToGlobal(QPointF(point)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), event)
    view.viewport().grab()


def test_a_file_is_underlined_under_the_mouse_and_opens_with_control(
    linked: LogView, tmp_path: Path, qtbot: QtBot
) -> None:
    view = linked
    first = view.visible_text()[0]
    plain = view.viewport().grab().toImage()
    point = row_point(view, first, 8)
    hover(view, point)
    wait(qtbot, lambda: view.viewport().grab().toImage() != plain)
    places: list[FilePlace] = []
    view.host.file_requested.connect(places.append)
    QTest.mouseClick(view.viewport(), LEFT, pos=point)
    assert places == [], "a plain click selects"
    QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ControlModifier, point)
    assert places == [FilePlace(tmp_path / "src" / "a.py", 12, 3, "src/a.py")]
    assert view.selected_text() == ""
    hover(view, row_point(view, first, 1))
    assert view.viewport().grab().toImage() == plain


def test_what_is_no_file_is_no_link(linked: LogView, qtbot: QtBot) -> None:
    view = linked
    text = view.visible_text()[1]
    plain = view.viewport().grab().toImage()
    files = view.host.files
    for name in ("gone.py", "src/pipe.py"):
        point = row_point(view, text, text.index(name) + 2)
        hover(view, point)
        wait(qtbot, lambda name=name: files.is_known(name))
        assert files.find(name) is None
        assert view.viewport().grab().toImage() == plain
        QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ControlModifier, point)
    menu = view.make_menu(QPointF(row_point(view, text, 2)))
    assert menu.actions()[0].text() == "Copy"
    menu.close()


def test_a_menu_opens_and_copies_what_is_under_it(linked: LogView, tmp_path: Path, qtbot: QtBot) -> None:
    view = linked
    text = view.visible_text()[2]
    at = row_point(view, text, text.index("b.md") + 1)
    hover(view, at)
    wait(qtbot, lambda: view.host.files.find("b.md") is not None)
    menu = view.make_menu(QPointF(at))
    assert [action.text() for action in menu.actions()[:2]] == ["Open b.md", "Copy path"]
    menu.actions()[1].trigger()
    assert clipboard() == str(tmp_path / "b.md")
    menu.close()
    menu = view.make_menu(QPointF(row_point(view, text, 4)))
    with qtbot.waitSignal(view.host.address_requested) as asked:
        menu.actions()[0].trigger()
    assert asked.args == ["https://example.org/x"]
    menu.close()


def test_links_are_reached_and_opened_by_keys(linked: LogView, tmp_path: Path, qtbot: QtBot) -> None:
    view = linked
    alt = Qt.KeyboardModifier.AltModifier

    def chosen() -> str | None:
        return view._chosen.link.target if view._chosen is not None else None

    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Down, alt)
    wait(qtbot, lambda: chosen() == "src/a.py")
    QTest.keyClick(view, Qt.Key.Key_Down, alt)
    assert chosen() == "https://example.org/x"
    QTest.keyClick(view, Qt.Key.Key_Down, alt)
    assert chosen() == "b.md"
    QTest.keyClick(view, Qt.Key.Key_Down, alt)
    QTest.keyClick(view, Qt.Key.Key_Up, alt)
    assert chosen() == "b.md", "round the end"
    with qtbot.waitSignal(view.host.file_requested) as asked:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert asked.args == [FilePlace(tmp_path / "b.md", shown="b.md")]


def test_a_file_that_comes_later_is_found_then(
    view: LogView, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.run_view.log_host._FRESH", 0.0)
    files = view.host.files
    files.set_folder(tmp_path)
    assert files.find("late.py") is None
    wait(qtbot, lambda: files.is_known("late.py"))
    (tmp_path / "late.py").touch()
    wait(qtbot, lambda: files.find("late.py") == tmp_path / "late.py")
    files.set_folder(None)
    assert files.find("late.py") is None
    wait(qtbot, lambda: files._thread is None)


# --- line numbers, wrap, keys -------------------------------------------------------------------------


def test_line_numbers_and_wrap_are_shared_by_all_logs(qtbot: QtBot, log: Path) -> None:
    host = LogHost()
    first, second = LogView(host=host), LogView(host=host)
    for view in (first, second):
        qtbot.addWidget(view)
    log.write_bytes(numbered(12_345))
    first.set_source(log, raw=True)
    with qtbot.waitExposed(first):
        first.show()
    settle(qtbot, first, 12_345)
    left = first._painter.text_left
    with qtbot.waitSignal(host.changed):
        QTest.keyClick(first, Qt.Key.Key_L, Qt.KeyboardModifier.AltModifier)
    assert first._painter.text_left > left
    assert second._painter.show_numbers
    assert first._number_action.isChecked()
    with qtbot.waitSignal(host.changed):
        QTest.keyClick(first, Qt.Key.Key_Z, Qt.KeyboardModifier.AltModifier)
    assert not host.wrap
    assert not second._painter.wrap
    third = LogView(host=host)
    qtbot.addWidget(third)
    assert third._painter.show_numbers
    assert not third._painter.wrap
    first.close()


def test_the_numbers_make_room_as_the_log_grows(view: LogView, log: Path, qtbot: QtBot) -> None:
    view.set_line_numbers(True)
    log.write_bytes(numbered(9_999))
    view.set_source(log, raw=True)
    settle(qtbot, view, 9_999)
    before = view._painter.text_left
    append(log, b"one more\n")
    settle(qtbot, view, 10_000)
    assert view._painter.text_left > before


def test_shift_and_the_keys_that_move_select(view: LogView, log: Path, qtbot: QtBot) -> None:
    log.write_bytes(numbered(200))
    view.set_source(log, raw=True)
    settle(qtbot, view, 200)
    shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_Down, shift)
    QTest.keyClick(view, Qt.Key.Key_Right, shift)
    assert view.selected_text() == "line 0\nl"
    QTest.keyClick(view, Qt.Key.Key_End, shift)
    assert view.selected_text() == "line 0\nline 1"
    QTest.keyClick(view, Qt.Key.Key_Up, shift)
    QTest.keyClick(view, Qt.Key.Key_Home, shift)
    assert view.selected_text() == ""
    QTest.keyClick(view, Qt.Key.Key_PageDown, shift)
    QTest.keyClick(view, Qt.Key.Key_PageDown, shift)
    caret = view._selection.caret
    assert caret is not None
    assert f"line {caret.line}" in view.visible_text(), "what is selected last can be seen"
    QTest.keyClick(view, Qt.Key.Key_End, shift | control)
    QTest.keyClick(view, Qt.Key.Key_C, control)
    assert clipboard() == numbered(200).decode().strip()
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.selected_text() == ""


def test_a_copy_that_is_cut_says_so(
    view: LogView, log: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.run_view.log_selection.LIMIT", 3_000)
    log.write_bytes(numbered(5_000))
    view.set_source(log, raw=True)
    settle(qtbot, view, 5_000)
    view.select_all()
    with qtbot.waitSignal(view.message) as said:
        view.copy()
    assert said.args == ["Copied the first 3,000 of 5,000 lines. Open the raw file to have all of it."]
    assert clipboard().split("\n")[-1] == "line 2999"


# --- nothing is left behind ---------------------------------------------------------------------------


def test_closing_while_a_big_file_is_read_ends_the_threads(view: LogView, log: Path, qtbot: QtBot) -> None:
    size = 4_000_000_000
    with log.open("wb") as file:
        os.truncate(file.fileno(), size)
    view.set_source(log, raw=True)
    source = view._page.source
    assert source is not None
    assert source._job.running
    view.open_find()
    QTest.keyClicks(view._bar._field, "x")
    view.close()
    finder = view._finder
    assert finder is not None
    # The window waits a tenth of a second, which a busy machine may not give to them.
    wait(qtbot, lambda: not source._job.running and not finder.searching)
    assert source.behind > 0, "they ended before they were through"
    assert finder._search.scanned < size


# --- what is painted of what comes by itself -------------------------------------------------------------


class _Painted(QObject):
    """Which parts of a viewport were painted."""

    def __init__(self, area: QWidget) -> None:
        super().__init__(area)
        self.parts: list[QRect] = []
        area.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QPaintEvent):
            self.parts.append(event.rect())
        return super().eventFilter(watched, event)


def on_screen(view: LogView) -> QImage:
    """What stands there, as it was painted in whatever parts."""
    shown = view.screen().grabWindow(view.winId()).toImage()
    return shown.convertToFormat(QImage.Format.Format_RGB32)


def painted_anew(view: LogView) -> QImage:
    """What it looks like painted in one go."""
    return view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def test_a_page_of_new_lines_is_painted_part_by_part_and_in_the_end_stands_there_whole(
    qtbot: QtBot, view: LogView, log: Path
) -> None:
    append(log, numbered(100))
    view.set_source(log, raw=True)
    wait(qtbot, lambda: on_screen(view) == painted_anew(view))
    painted = _Painted(view.viewport())

    append(log, numbered(5_000, 100))
    settle(qtbot, view, 5_100)
    wait(qtbot, lambda: not view._bands.pending and on_screen(view) == painted_anew(view))

    assert view.visible_text()[-1] == "line 5099"
    page = view.viewport().rect()
    parts = [part for part in painted.parts if not part.contains(page)]
    assert len(parts) >= 2
    assert max(part.height() for part in parts) < page.height() * 2 / 3


def test_a_page_goes_on_when_a_part_of_it_is_covered(qtbot: QtBot, view: LogView, log: Path) -> None:
    append(log, numbered(100))
    view.set_source(log, raw=True)
    settle(qtbot, view, 100)
    cover = QWidget(view)
    cover.setAutoFillBackground(True)
    cover.setGeometry(view.rect())
    cover.show()
    wait(qtbot, lambda: on_screen(view) == painted_anew(view))

    append(log, numbered(5_000, 100))
    settle(qtbot, view, 5_100)
    append(log, numbered(5_000, 5_100))
    settle(qtbot, view, 10_100)
    cover.hide()
    wait(qtbot, lambda: not view._bands.pending and on_screen(view) == painted_anew(view))
    assert view.visible_text()[-1] == "line 10099"


def test_who_reads_far_above_the_end_has_nothing_repainted_by_new_lines(
    qtbot: QtBot, view: LogView, log: Path
) -> None:
    append(log, numbered(1_000))
    view.set_source(log, raw=True)
    settle(qtbot, view, 1_000)
    view.verticalScrollBar().setValue(10)
    assert not view.following
    append(log, numbered(10, 1_000))
    settle(qtbot, view, 1_010)
    wait(qtbot, lambda: on_screen(view) == painted_anew(view))
    painted = _Painted(view.viewport())

    append(log, numbered(200, 1_010))
    settle(qtbot, view, 1_210)
    wait(qtbot, lambda: "210" in view._pill.text())

    assert view.visible_text()[0] == "line 10"
    page = view.viewport().rect()
    assert not [part for part in painted.parts if part.contains(page)]


def test_a_thread_that_is_asked_again_at_once_does_the_new_work_and_ends_when_it_is_asked_to() -> None:
    job = BackgroundJob("log-index")
    done: list[int | None] = []
    for number in range(200):
        over = threading.Event()

        def work(number: int = number, over: threading.Event = over) -> None:
            done.append(number)
            over.set()

        while job.running:
            time.sleep(0)
        job.start(work)
        assert over.wait(60)
        if number % 20 == 19:
            job.stop()
            assert not job.running
    assert done == list(range(200))
    job.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "log-index"]
