"""What views remember of their shape between two starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QSplitter, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.right_side import RightSide
from app.settings_store import SettingsStore
from app.side import Side
from app.view_memory import ViewMemory

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Page(QWidget):
    """A page with a splitter that has a name, and one that has none."""

    def __init__(self) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        self.named, self.nameless = QSplitter(), QSplitter()
        self.named.setObjectName("page")
        for splitter in (self.named, self.nameless):
            splitter.setChildrenCollapsible(False)
            splitter.addWidget(QPlainTextEdit())
            splitter.addWidget(QPlainTextEdit())
            layout.addWidget(splitter)


def open_page(qtbot: QtBot, path: Path) -> tuple[RightSide, Page, SettingsStore]:
    store = SettingsStore(path)
    right = RightSide(QWidget())
    qtbot.addWidget(right)
    ViewMemory(right, store, right)
    right.provide(Side.AGENT, Page)
    right.resize(600, 400)
    right.show()
    right.show_side(Side.AGENT)
    page = right.page(Side.AGENT)
    assert isinstance(page, Page)
    qtbot.waitExposed(right)
    return right, page, store


def drag(splitter: QSplitter, by: int) -> None:
    handle = splitter.handle(1)
    centre = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=centre)
    QTest.mouseMove(handle, centre + QPoint(by, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=centre + QPoint(by, 0))


def test_a_border_that_was_dragged_is_there_at_the_next_start(qtbot: QtBot, tmp_path: Path) -> None:
    right, page, store = open_page(qtbot, tmp_path / "window.ini")
    before = page.named.sizes()
    drag(page.named, -80)
    sizes = page.named.sizes()
    assert sizes[0] < before[0]
    assert store.write()
    right.close()
    second, again, _ = open_page(qtbot, tmp_path / "window.ini")
    assert again.named.sizes() == sizes
    assert again.nameless.sizes() == before
    second.close()


def test_a_remembered_shape_that_makes_no_sense_is_passed_over(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_text('[shapes]\npage="@ByteArray(nonsense)"\n', "utf-8")
    right, page, store = open_page(qtbot, path)
    assert store.set_aside is None
    assert page.named.sizes() == page.nameless.sizes()
    assert not page.named.childrenCollapsible()
    right.close()
