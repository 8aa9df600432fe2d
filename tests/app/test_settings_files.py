"""Files with settings beside a workflow: what is wrong in them is said, and what they say is followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.builder.problem_rows import PROBLEM_ROLE
from app.builder.workflow_view import WorkflowView
from app.document import WorkflowDocument
from app.other_settings import SettingsSource
from core.agent import AgentLibrary
from core.settings import resolve_settings
from tests.app.settings_support import two_agents

BROKEN = '{"agent_timeout": "abc", "max_lops":'
ODD = '{"max_lops": 3, "name": "x", "agent_timeout": 300}'


@pytest.fixture
def document(qapp: object, tmp_path: Path) -> WorkflowDocument:
    del qapp
    (tmp_path / ".git").mkdir()
    document = two_agents(tmp_path)
    document.set_library(AgentLibrary(tmp_path), ("demo", "opencode"))
    document.save_as(tmp_path / "audit.json")
    return document


@pytest.fixture
def source(document: WorkflowDocument) -> Iterator[SettingsSource]:
    source = SettingsSource(document)
    yield source
    source.close()


def put(file: Path, text: str) -> None:
    """Write a file as a whole: it may be read at any moment."""
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def told_of(document: WorkflowDocument, file: Path) -> list[str]:
    return [problem.text() for problem in document.problems if problem.file == file]


def test_what_is_wrong_in_a_file_with_settings_is_a_problem_while_editing(
    document: WorkflowDocument, source: SettingsSource, tmp_path: Path, qtbot: QtBot
) -> None:
    del source
    file = tmp_path / "openloop.json"
    put(file, BROKEN)
    qtbot.waitUntil(lambda: bool(told_of(document, file)))
    assert told_of(document, file)[0].startswith(f"{file}:1:")

    put(file, ODD)
    qtbot.waitUntil(lambda: len(told_of(document, file)) == 2)
    assert any("Did you mean max_loops?" in line for line in told_of(document, file))
    assert any("here it has no effect" in line for line in told_of(document, file))

    file.unlink()
    qtbot.waitUntil(lambda: not told_of(document, file))


def test_its_line_names_the_file_and_has_a_link_that_opens_it(
    document: WorkflowDocument, source: SettingsSource, tmp_path: Path, qtbot: QtBot
) -> None:
    del source
    file = tmp_path / "openloop.json"
    put(file, BROKEN)
    view = WorkflowView(document)
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    qtbot.waitExposed(view)
    problems = view.problem_list.list
    qtbot.waitUntil(lambda: bool(told_of(document, file)))
    model = problems.model()
    row = next(
        model.index(at, 0)
        for at in range(model.rowCount())
        if model.index(at, 0).data(PROBLEM_ROLE).file == file
    )
    assert row.data().startswith(f"{file}, line 1")
    assert row.data().endswith("Open openloop.json")
    box = problems.visualRect(row)
    link = next(
        QPoint(x, y)
        for y in range(box.bottom(), box.top(), -2)
        for x in range(box.left(), box.right(), 2)
        if problems.link_at(QPoint(x, y)).isValid()
    )

    with qtbot.waitSignal(view.problem_opened) as opened:
        QTest.mouseClick(problems.viewport(), Qt.MouseButton.LeftButton, pos=link)

    assert opened.args[0].file == file


def test_a_value_that_cannot_be_in_this_workflow_is_told_where_it_stands(
    document: WorkflowDocument, source: SettingsSource, tmp_path: Path, qtbot: QtBot
) -> None:
    del source
    file = tmp_path / "openloop.json"
    put(file, '{\n  "backend": "nope"\n}')
    qtbot.waitUntil(lambda: bool(told_of(document, file)))
    assert told_of(document, file)[0].startswith(f"{file}:2:")
    assert "nope" in told_of(document, file)[0]
    assert set(document.problems_elsewhere) <= set(document.problems)

    document.update_settings("backend", {"backend": "demo"})

    assert not told_of(document, file)


def test_settings_that_another_program_writes_hold_at_once(
    document: WorkflowDocument, source: SettingsSource, tmp_path: Path, qtbot: QtBot
) -> None:
    del source
    file = tmp_path / "openloop.json"
    put(file, '{"on_parallel_error": "continue"}')
    qtbot.waitUntil(lambda: document.settings_in_force.on_parallel_error == "continue")

    put(file, '{"on_parallel_error": "abort"}')

    qtbot.waitUntil(lambda: document.settings_in_force.on_parallel_error == "abort")


def test_while_a_run_goes_on_the_settings_shown_are_those_that_it_began_with(
    document: WorkflowDocument, source: SettingsSource, tmp_path: Path, qtbot: QtBot
) -> None:
    file = tmp_path / "openloop.json"
    put(file, '{"on_parallel_error": "continue"}')
    taken = resolve_settings(document.snapshot(), tmp_path, environ={}).effective.settings

    source.run_goes_on(True)
    source.take_from_run(taken)
    assert document.settings_in_force.on_parallel_error == "continue"
    assert document.in_force("on_parallel_error").source == str(file)
    put(file, '{"on_parallel_error": "abort"}')
    source.refresh()
    qtbot.waitUntil(lambda: not source.reading)
    assert document.settings_in_force.on_parallel_error == "continue"

    source.run_goes_on(False)
    qtbot.waitUntil(lambda: document.settings_in_force.on_parallel_error == "abort")
