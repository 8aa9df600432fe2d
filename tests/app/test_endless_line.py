"""A line of a prompt that has no end costs nothing while another one is edited."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor, QTextLayout
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.agent_editor.highlighter import LONGEST_LINE
from app.agent_editor.plain_document import PlainDocument
from app.agent_editor.prompt_edit import PromptEdit

ENDLESS = "word and " * LONGEST_LINE


def test_a_change_in_the_line_above_leaves_the_layout_of_an_endless_line_alone(qtbot: QtBot) -> None:
    edit = PromptEdit()
    qtbot.addWidget(edit)
    document = PlainDocument(edit)
    document.setPlainText(f"# Title\n{ENDLESS}\n# last\n")
    edit.resize(600, 400)
    edit.show_document(document)
    edit.show()
    qtbot.waitExposed(edit)
    endless = document.findBlockByNumber(1)
    qtbot.waitUntil(lambda: endless.layout().lineCount() > 100)
    # Else the editor would lay it out again before one can look.
    edit.blockSignals(True)
    document.markContentsDirty(0, len("# Title"))
    assert endless.layout().lineCount() > 100
    QTextCursor(document).insertText("Another ")
    assert endless.layout().lineCount() > 100
    document.undo()
    assert document.shown().startswith("# Title")
    assert endless.layout().lineCount() > 100
    edit.blockSignals(False)
    QTest.keyClicks(edit, "x ")
    assert document.shown().startswith("x # Title")
    edit.show_document(None)


def test_what_changed_is_laid_out_also_over_several_lines(qtbot: QtBot) -> None:
    edit = PromptEdit()
    qtbot.addWidget(edit)
    document = PlainDocument(edit)
    document.setPlainText("one\ntwo\nthree\nfour\n")
    edit.resize(600, 400)
    edit.show_document(document)
    edit.show()
    qtbot.waitExposed(edit)
    document.become("one\n" + "wrapped words " * 40 + "\nand\nmore\nfour\n")
    edit.grab()
    layouts: list[QTextLayout] = []
    block = document.firstBlock()
    while block.isValid():
        layouts.append(block.layout())
        block = block.next()
    assert [layout.lineCount() > 1 for layout in layouts] == [False, True, False, False, False, False]
    assert all(layout.lineCount() for layout in layouts)
    document.become("one\nfour\n")
    edit.grab()
    assert document.findBlockByNumber(1).layout().lineCount() == 1
    assert edit.blockBoundingGeometry(document.findBlockByNumber(1)).top() == (
        edit.blockBoundingRect(document.firstBlock()).height()
        + edit.blockBoundingGeometry(document.firstBlock()).top()
    )
    edit.show_document(None)
