"""Thin scroll bars, and what lies where they meet."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.run_view.log_view import LogView
from app.scroll_bar import use_thin_scroll_bars

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def area(qtbot: QtBot) -> QPlainTextEdit:
    area = QPlainTextEdit()
    use_thin_scroll_bars(area)
    area.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    qtbot.addWidget(area)
    area.resize(300, 200)
    area.show()
    qtbot.waitExposed(area)
    return area


def test_nothing_lies_over_the_text_where_no_bars_meet(area: QPlainTextEdit) -> None:
    corner = area.cornerWidget()
    assert corner is not None
    area.setPlainText("short")
    QApplication.processEvents()
    assert corner.size().isEmpty()


def test_the_corner_is_where_the_bars_meet_and_goes_with_one_of_them(area: QPlainTextEdit) -> None:
    corner = area.cornerWidget()
    assert corner is not None
    area.setPlainText("\n".join(["a long line " * 40] * 60))
    QApplication.processEvents()
    bars = area.verticalScrollBar(), area.horizontalScrollBar()
    assert all(bar.isVisible() for bar in bars)
    assert not corner.size().isEmpty()
    assert corner.mapTo(area, corner.rect().topLeft()).y() >= bars[0].geometry().bottom()
    area.setPlainText("short")
    QApplication.processEvents()
    assert corner.size().isEmpty()


def test_a_log_that_does_not_wrap_has_both_bars_and_the_corner_between_them(
    qtbot: QtBot, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_bytes((b"a long line " * 40 + b"\n") * 60)
    view = LogView()
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.set_wrap(False)
    view.set_source(log, raw=True)
    view.show()
    qtbot.waitUntil(lambda: view.verticalScrollBar().isVisible() and view.horizontalScrollBar().isVisible())
    corner = view.cornerWidget()
    assert corner is not None
    assert not corner.size().isEmpty()
    view.set_source(None)
    view.set_wrap(True)
    qtbot.waitUntil(lambda: not view.horizontalScrollBar().isVisible())
    assert view.verticalScrollBar().isVisible() or corner.size().isEmpty()
