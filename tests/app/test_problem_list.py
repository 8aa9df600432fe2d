"""The problems panel: read it, go to the place, make the edit that is offered, by mouse, keyboard and ear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app import open_workflow
from app.builder.problem_list import ProblemList
from app.document import NewStep, WorkflowDocument
from app.main_window import MainWindow
from app.problem_text import ProblemPlace, place_of
from app.settings_store import SettingsStore
from core.fixes import ChangeSetting
from core.problems import Problem, Severity
from core.state import MergeRule
from tests.app.test_main_window import ScriptedController, make_window
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

WORKFLOW = {
    "name": "audit",
    "loop_agents": ["amala", {"agents": ["vera", "judge"], "mode": "parallel"}],
    "max_loops": 10,
}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path)
    shop.agent("amala", role="author", writes={"found": ["a"]})
    shop.agent("vera", role="auditor", writes={"found": ["b"]}, text="I judge.")
    shop.agent("judge", role="approver", writes={"verdict": 1}, text="I judge, too.")
    return shop


@pytest.fixture
def window(qtbot: QtBot, shop: Workshop) -> Iterator[MainWindow]:
    path = shop.folder / "audit.json"
    path.write_text(json.dumps(WORKFLOW), encoding="utf-8")
    store = SettingsStore(shop.folder / "state" / "window.ini")
    document = WorkflowDocument()
    window = make_window(qtbot, ScriptedController(), document, store)
    window.files.load(path)
    window.resize(1280, 800)
    window.show()
    qtbot.waitUntil(lambda: document.library is not None and document.library.get("vera") is not None)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield window
    window.closing.may_close = True
    window.close()


def panel(window: MainWindow) -> ProblemList:
    return window.workflow_view.problem_list


def sentences(window: MainWindow) -> list[str]:
    model = panel(window).list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def row_of(window: MainWindow, words: str) -> int:
    return next(row for row, sentence in enumerate(sentences(window)) if words in sentence)


def link_point(window: MainWindow, row: int, number: int | None = None) -> QPoint:
    """A point on a link of a row (`number` None: the last), looked for as the eye does."""
    view = panel(window).list
    index = view.model().index(row, 0)
    view.scrollTo(index)
    box = view.visualRect(index)
    for y in range(box.bottom(), box.top(), -2):
        for x in range(box.left(), box.right(), 2):
            if view.link_at(QPoint(x, y)).isValid() and number in (None, view.link_number_at(QPoint(x, y))):
                return QPoint(x + 4, y - 2)
    raise AssertionError("there is no link")


def go(window: MainWindow, row: int, key: Qt.Key = Qt.Key.Key_Return) -> None:
    view = panel(window).list
    view.setFocus()
    view.setCurrentIndex(view.model().index(row, 0))
    QTest.keyClick(view, key)


# --- what it says -------------------------------------------------------------------------------------


def test_it_is_hidden_while_nothing_is_wrong_and_live_while_editing(window: MainWindow) -> None:
    document = window.document
    assert "vera and judge may both say" in sentences(window)[0]
    group = document.outline.loop[1].id
    document.update_group(group, "merge", merge={"is_complete": MergeRule.ALL})
    assert not panel(window).isVisible()
    document.update_settings("condition", {"end_state_condition": "is_complete =="})
    assert panel(window).isVisible()
    assert len(sentences(window)) == 1
    document.undo_stack.undo()
    assert not panel(window).isVisible()


def test_a_large_workflow_is_checked_when_the_user_pauses(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    document._check_seconds = 2 * open_workflow.QUICK_CHECK_SECONDS
    told: list[bool] = []
    document.problems_changed.connect(lambda: told.append(True))

    document.update_settings("condition", {"end_state_condition": "is_complete ="})
    assert told == []
    qtbot.waitUntil(lambda: told == [True])

    document._check_seconds = 2 * open_workflow.QUICK_CHECK_SECONDS
    document.update_settings("condition", {"end_state_condition": "is_complete =="})
    # Who asks, such as Run, never gets an old answer.
    assert "can" in document.problems[0].message


def test_errors_come_before_warnings_and_each_has_a_sign_of_its_own(window: MainWindow) -> None:
    window.document.insert_agents(["verra"], NewStep("loop", 0))
    assert "verra" in sentences(window)[0]
    view = panel(window).list
    first = QAccessible.queryAccessibleInterface(view).child(0)
    said = first.text(QAccessible.Text.Name)
    assert said.startswith("Error: There is no agent called verra.")
    assert "Offered: Use “vera” (" in said


def test_fifty_problems_scroll_and_leave_the_workflow_its_room(window: MainWindow) -> None:
    long = "In der Gruppe „Sicherheitsüberprüfungsausschuss“ schreiben alle denselben Pfad. "
    many = [Problem(f"{number}: {long * 3}", severity=Severity.WARNING) for number in range(50)]
    panel(window).show_problems(many)
    QApplication.processEvents()
    view = panel(window).list
    assert view.verticalScrollBar().maximum() > 0
    assert panel(window).height() < window.workflow_view.height() / 2
    for row in range(50):
        assert view.sizeHintForRow(row) >= 3 * view.fontMetrics().height()


def test_what_a_file_says_is_shown_as_text(window: MainWindow) -> None:
    panel(window).show_problems([Problem("There is no agent called <b>x</b>\u202eevil.")])
    assert "<b>x</b>" in sentences(window)[0]
    assert "\u202e" not in sentences(window)[0]


# --- the fix ------------------------------------------------------------------------------------------


def test_a_click_on_the_link_makes_one_named_edit_that_can_be_undone(window: MainWindow) -> None:
    document = window.document
    row = row_of(window, "may both say")
    QTest.mouseClick(panel(window).list.viewport(), Qt.MouseButton.LeftButton, pos=link_point(window, row))
    settings = document.outline.loop[1].settings
    assert settings.merge == {"is_complete": MergeRule.ALL}
    assert document.undo_stack.undoText() == "Use “all must agree”"
    assert not panel(window).isVisible()
    document.undo_stack.undo()
    assert document.outline.loop[1].settings.merge is None
    assert panel(window).isVisible()


def test_the_key_makes_the_edit_and_the_focus_stays_in_the_list(window: MainWindow) -> None:
    document = window.document
    document.insert_agents(["verra", "amalla"], NewStep("loop", 0))
    view = panel(window).list
    go(window, row_of(window, "verra"), Qt.Key.Key_F2)
    QTest.keyClick(view, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert [node.entry.agent for node in document.outline.loop[0].agents] == ["vera", "amalla"]
    assert view.hasFocus()
    assert "amalla" in str(view.currentIndex().data())
    QTest.keyClick(view, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert [node.entry.agent for node in document.outline.loop[0].agents] == ["vera", "amala"]


def test_the_menu_has_the_edit_the_place_and_a_copy(window: MainWindow) -> None:
    view = panel(window).list
    row = row_of(window, "may both say")
    view.setCurrentIndex(view.model().index(row, 0))
    point = view.visualRect(view.currentIndex()).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, point, view.viewport().mapToGlobal(point))
    QApplication.sendEvent(view.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    by_text: dict[str, QAction] = {action.text(): action for action in menu.actions()}
    assert list(by_text) == ["Use “all must agree”", "Go to its place", "Copy"]
    by_text["Copy"].trigger()
    assert "may both say" in QGuiApplication.clipboard().text()
    by_text["Use “all must agree”"].trigger()
    menu.close()
    assert not panel(window).isVisible()


def test_a_fix_for_a_workflow_that_is_another_one_by_now_changes_nothing(window: MainWindow) -> None:
    document = window.document
    fix = next(problem.fix for problem in document.problems if problem.fix is not None)
    document.insert_agents(["amala"], NewStep("loop", 0))
    before = document.outline
    assert not document.apply_fix(fix)
    assert document.outline is before


def test_while_a_run_goes_on_nothing_is_offered(window: MainWindow) -> None:
    window.workflow_view.set_locked("Running. Editing waits until it ends.")
    assert "all must agree" not in sentences(window)[0]
    view = panel(window).list
    view.setCurrentIndex(view.model().index(0, 0))
    QTest.keyClick(view, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert window.document.outline.loop[1].settings.merge is None
    window.workflow_view.set_locked("")
    assert "all must agree" in sentences(window)[0]


@pytest.mark.parametrize(
    ("changes", "words", "fix"),
    [
        ({"workdir": "/nowhere/at/all"}, "does not exist", "Use the usual folder"),
        ({"agents_dir": "nowhere"}, "agents folder", "Use the usual folder"),
        ({"retries": 99}, "99 retries", "Use “3”"),
        ({"budget.max_tokens": 0}, "before its first agent", "Remove the limit"),
        ({"backend": "demoo"}, "no backend called demoo", "Use “demo”"),
        ({"end_state_condition": "iteration >= 20"}, "no further than 10", "Allow 20 loops"),
        ({"isolation": "worktree"}, "worktrees", "Use “shared”"),
    ],
)
def test_obvious_fixes_solve_their_problem(
    window: MainWindow, qtbot: QtBot, changes: dict[str, object], words: str, fix: str
) -> None:
    document = window.document
    document.update_group(document.outline.loop[1].id, "merge", merge={"is_complete": MergeRule.ALL})
    document.update_settings("x", changes)
    # Another agents folder is read on a worker.
    qtbot.waitUntil(lambda: any(words in sentence for sentence in sentences(window)))
    row = row_of(window, words)
    assert sentences(window)[row].endswith(fix)
    view = panel(window).list
    view.setFocus()
    view.setCurrentIndex(view.model().index(row, 0))
    QTest.keyClick(view, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert document.undo_stack.undoText() == fix
    qtbot.waitUntil(lambda: not any(words in problem.message for problem in document.problems))


def test_an_empty_group_and_a_fan_out_group_are_taken_out_of_the_way(window: MainWindow) -> None:
    path = window.document.path
    assert path is not None
    fan_out = {"mode": "fan_out", "agent": "amala", "tasks": ["x"]}
    path.write_text(json.dumps({"loop_agents": ["vera", {"agents": []}, fan_out]}), encoding="utf-8")
    window.files.load(path)
    for words in ("cannot run fan-out", "has no agents"):
        go(window, row_of(window, words), Qt.Key.Key_F2)
        view = panel(window).list
        QTest.keyClick(view, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert sentences(window) == []
    assert [group.settings.enabled for group in window.document.outline.loop] == [True, False]


# --- the place ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("", ProblemPlace()),
        ("budget.max_tokens", ProblemPlace(field="budget.max_tokens")),
        ("loop_agents", ProblemPlace("loop")),
        ("loop_agents[2]", ProblemPlace("loop", 2)),
        ("loop_agents[2].agents[0]", ProblemPlace("loop", 2, 0)),
        ("loop_agents[2].agents[0].backend", ProblemPlace("loop", 2, 0, "backend")),
        ('loop_agents[2].merge["payload[0].x"]', ProblemPlace("loop", 2, None, 'merge["payload[0].x"]')),
        ("finalization_agents[0].isolation", ProblemPlace("finalization", 0, None, "isolation")),
        ("agents_dir", ProblemPlace(field="agents_dir")),
    ],
)
def test_a_place_is_read(place: str, expected: ProblemPlace) -> None:
    found = place_of(Problem("x", place))
    if expected.group is not None and expected.entry is None and expected.field.startswith("merge"):
        assert (found.phase, found.group, found.entry) == ("loop", 2, None)
        return
    assert found == expected


def test_enter_selects_the_group_or_the_agent(window: MainWindow) -> None:
    document = window.document
    go(window, row_of(window, "may both say"))
    assert window.workflow_view.selected_nodes() == [document.outline.loop[1].id]
    document.insert_agents(["verra"], NewStep("loop", 0))
    go(window, row_of(window, "verra"))
    assert window.workflow_view.selected_nodes() == [document.outline.loop[0].agents[0].id]


def test_a_click_beside_the_link_goes_to_the_place_and_changes_nothing(window: MainWindow) -> None:
    view = panel(window).list
    index = view.model().index(row_of(window, "may both say"), 0)
    point = view.visualRect(index).topLeft() + QPoint(60, 10)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert window.workflow_view.selected_nodes() == [window.document.outline.loop[1].id]
    assert window.document.undo_stack.count() == 0


def test_a_broken_condition_gives_the_focus_to_its_field(window: MainWindow) -> None:
    window.document.update_settings("x", {"end_state_condition": "is_complete =="})
    go(window, row_of(window, "end condition"))
    assert QApplication.focusWidget() is window.settings_panel.workflow_page.condition.control


def test_an_unknown_backend_of_one_place_leads_to_its_field(window: MainWindow) -> None:
    document = window.document
    node = document.outline.loop[0].agents[0]
    document.update_agent(node.id, "x", backend="demoo")
    go(window, row_of(window, "no backend called demoo"))
    assert window.workflow_view.selected_nodes() == [node.id]
    assert QApplication.focusWidget() is window.settings_panel.agent_page.backend.control


def test_the_count_in_the_status_line_leads_to_the_list(window: MainWindow) -> None:
    window.status.problems.click()
    assert panel(window).list.hasFocus()
    assert panel(window).list.currentIndex().row() == 0


# --- from earlier runs --------------------------------------------------------------------------------


def test_what_a_run_shows_is_told_when_it_has_ended(window: MainWindow, shop: Workshop, qtbot: QtBot) -> None:
    document = window.document
    document.update_group(document.outline.loop[1].id, "x", merge={"is_complete": MergeRule.ALL})
    assert sentences(window) == []
    shop.run({"loop_agents": ["amala", "vera", "judge"], "max_loops": 1})
    document.make_group([node.id for _, _, node in document.outline.all_agents()][:2])
    window.earlier.refresh()
    qtbot.waitUntil(lambda: bool(sentences(window)))

    row = row_of(window, "payload.found")
    assert sentences(window)[row].endswith("Keep every entry once")
    go(window, row, Qt.Key.Key_F2)
    QTest.keyClick(panel(window).list, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert document.outline.loop[0].settings.merge == {"payload.found": MergeRule.UNION}
    assert sentences(window) == []


@pytest.mark.parametrize(
    ("typed", "link", "corrected"),
    [
        ("iteration = 3", "Use “==”", "iteration == 3"),
        ("is_complete&&iteration > 1", "Use “and”", "is_complete and iteration > 1"),
        ("payload.get('a') = 1 and iteration = 2", "", ""),
        ("payload.get('=') = 1", "", ""),
    ],
)
def test_a_sign_of_another_language_is_corrected_where_it_is_the_only_one(
    typed: str, link: str, corrected: str, window: MainWindow
) -> None:
    window.document.update_settings("x", {"end_state_condition": typed})
    (problem,) = [each for each in window.document.problems if each.place == "end_state_condition"]
    row = row_of(window, problem.message)
    if not link:
        assert problem.fix is None
        return
    assert sentences(window)[row].endswith(link)
    go(window, row, Qt.Key.Key_F2)
    QTest.keyClick(panel(window).list, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert window.document.settings.end_state_condition == corrected


def test_a_condition_is_corrected_to_what_agents_write(
    window: MainWindow, shop: Workshop, qtbot: QtBot
) -> None:
    document = window.document
    document.update_settings("x", {"end_state_condition": "len(payload.get('fuond', [])) > 3"})
    shop.run({"loop_agents": ["amala", "vera", "judge"], "max_loops": 1})
    window.earlier.refresh()
    qtbot.waitUntil(lambda: document.known.runs == 1)
    # What an empty list comes to is not worked out, so it is not said.
    assert sentences(window) == []
    document.update_settings("x", {"end_state_condition": "payload.get('fuond') == 'x'"})
    assert any(isinstance(problem.fix, ChangeSetting) for problem in document.problems)
    assert "Use “payload.get('found') == 'x'”" in sentences(window)[0]


def test_an_unknown_key_is_renamed_as_one_step_and_the_warning_goes_with_it(
    window: MainWindow, shop: Workshop
) -> None:
    document = window.document
    path = document.path
    assert path is not None
    text = json.loads(path.read_text(encoding="utf-8")) | {"retrie": 3}
    path.write_text(json.dumps(text), encoding="utf-8")
    document.open(path)
    row = row_of(window, "The key retrie is not known")
    assert "Rename it to retries" in sentences(window)[row]
    QTest.mouseClick(panel(window).list.viewport(), Qt.MouseButton.LeftButton, pos=link_point(window, row))
    assert document.settings.retries == 3
    assert not any("retrie " in sentence for sentence in sentences(window))
    document.undo_stack.undo()
    assert row_of(window, "The key retrie is not known") >= 0
    document.undo_stack.redo()
    document.save()
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert saved["retries"] == 3
    assert "retrie" not in saved


def test_an_agent_that_is_not_there_is_made_from_its_problem(window: MainWindow, qtbot: QtBot) -> None:
    window.document.insert_agents(["xyzzy"], NewStep("loop", 0))
    row = row_of(window, "There is no agent called xyzzy")
    assert sentences(window)[row].endswith("Make “xyzzy”… · Remove “xyzzy”")
    click_link(window, row, 0)
    dialog = window.agents.dialog
    assert dialog is not None
    assert dialog.rows["name"].control.text() == "xyzzy"
    QTest.mouseClick(dialog.make_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not any("xyzzy" in sentence for sentence in sentences(window)))


def test_an_agent_that_is_not_there_is_removed_by_the_link_beside(window: MainWindow) -> None:
    before = window.document.outline
    window.document.insert_agents(["xyzzy"], NewStep("loop", 0))
    row = row_of(window, "There is no agent called xyzzy")
    QTest.mouseClick(panel(window).list.viewport(), Qt.MouseButton.LeftButton, pos=link_point(window, row, 1))
    assert window.document.outline == before
    assert window.document.undo_stack.undoText() == "Remove “xyzzy”"


def test_a_second_click_after_a_fix_does_not_hit_the_problem_that_moved_there(window: MainWindow) -> None:
    document = window.document
    document.insert_agents(["xyzzy", "yzzyx"], NewStep("loop", 0))
    row = row_of(window, "There is no agent called xyzzy")
    point, steps = link_point(window, row, 1), document.undo_stack.count()
    viewport = panel(window).list.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=point)
    assert panel(window).list.link_at(point).isValid()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=point)
    assert document.undo_stack.count() == steps + 1


def test_the_page_of_an_agent_that_is_not_there_makes_or_removes_it(window: MainWindow) -> None:
    before = window.document.outline
    window.document.insert_agents(["xyzzy"], NewStep("loop", 0))
    settings = window.settings_panel
    window.workflow_view.tree.select_nodes([window.document.outline.loop[0].agents[0].id])
    assert settings.edit_agent_button.text() == "Make this agent…"
    QTest.mouseClick(settings.edit_agent_button, Qt.MouseButton.LeftButton)
    assert window.agents.dialog is not None
    window.agents.dialog.reject()
    QTest.mouseClick(settings.remove_agent_button, Qt.MouseButton.LeftButton)
    assert window.document.outline == before
    window.workflow_view.tree.select_nodes([window.document.outline.loop[0].agents[0].id])
    assert settings.edit_agent_button.text() == "Edit agent…"
    assert not settings.remove_agent_button.isVisible()


# --- fixes that are no edits of the workflow ----------------------------------------------------------


def click_link(window: MainWindow, row: int, number: int | None = None) -> None:
    point = link_point(window, row, number)
    QTest.mouseClick(panel(window).list.viewport(), Qt.MouseButton.LeftButton, pos=point)


def leave_only_the_author(window: MainWindow) -> None:
    others = [node.id for _, _, node in window.document.outline.all_agents() if node.entry.agent != "amala"]
    window.document.remove(others)


def test_an_agent_is_let_end_the_loop_by_the_link_that_offers_it(
    window: MainWindow, shop: Workshop, qtbot: QtBot
) -> None:
    path = shop.folder / "agents" / "amala.md"
    path.write_text("---\nrole: author  # hers\nbackend: demo\n---\nWrite.\n", encoding="utf-8")
    leave_only_the_author(window)
    said: list[str] = []
    window.agents.message.connect(said.append)
    click_link(window, row_of(window, "No agent may end the loop"))
    qtbot.waitUntil(lambda: not any("may end the loop" in each for each in sentences(window)))
    text = "---\nrole: author  # hers\nbackend: demo\ncan_complete: true\n---\nWrite.\n"
    assert path.read_text(encoding="utf-8") == text
    assert said == ["amala may end the loop now: amala.md says can_complete: true."]


def test_a_file_of_an_agent_that_cannot_be_edited_by_field_is_opened_instead(
    window: MainWindow, shop: Workshop
) -> None:
    before = (shop.folder / "agents" / "amala.md").read_bytes()
    leave_only_the_author(window)
    click_link(window, row_of(window, "No agent may end the loop"))
    assert (shop.folder / "agents" / "amala.md").read_bytes() == before
    bar = window.notices.bar("agent")
    assert bar is not None
    assert "Write can_complete: true into it" in bar.notice.text
    assert "Edit it" in bar.buttons


def test_a_demonstration_that_stands_in_is_said_and_an_own_agent_is_made_in_its_place(
    window: MainWindow, shop: Workshop, qtbot: QtBot
) -> None:
    (shop.folder / "agents" / "amala.md").unlink()
    qtbot.waitUntil(lambda: any("does no work" in each for each in sentences(window)))
    row = row_of(window, "does no work")
    card = window.workflow_view.model.index_of(window.document.outline.loop[0].agents[0].id)
    assert "demo agent" in str(card.data(Qt.ItemDataRole.AccessibleTextRole))
    assert "Make “amala”…" in sentences(window)[row]
    assert "Let it play" in sentences(window)[row]
    click_link(window, row, 0)
    dialog = window.agents.dialog
    assert dialog is not None
    assert dialog.make_button.isEnabled()
    assert dialog.path == shop.folder / "agents" / "amala.md"
    dialog.close()


def test_a_demonstration_is_played_where_that_is_wanted(
    window: MainWindow, shop: Workshop, qtbot: QtBot
) -> None:
    (shop.folder / "agents" / "amala.md").unlink()
    qtbot.waitUntil(lambda: any("does no work" in each for each in sentences(window)))
    click_link(window, row_of(window, "does no work"), 1)
    (entry,) = [
        each.entry for _, _, each in window.document.outline.all_agents() if each.entry.agent == "amala"
    ]
    assert entry.backend == "demo"
    assert not any(each.severity is Severity.ERROR for each in window.document.problems)


def test_rows_have_room_for_their_words_in_whatever_width_and_beside_a_scroll_bar(
    window: MainWindow, qtbot: QtBot
) -> None:
    view = panel(window)
    shown = view.list
    words = "The end condition cannot be read: something is missing at its end, and a word is not known."
    view.show_problems([Problem(message=f"{words} {number}") for number in range(9)])

    def in_order() -> bool:
        rows = range(shown.model().rowCount())
        boxes = [shown.visualRect(shown.model().index(row, 0)) for row in rows]
        return all(box.height() == shown.sizeHintForRow(row) for row, box in zip(rows, boxes, strict=True))

    qtbot.waitUntil(in_order)
    heights = []
    for left in (200, 520, 260):
        window.splitter.setSizes([left, 640 - left, 640])
        QApplication.processEvents()
        at_once = shown.grab().toImage()
        # To ask where rows are has them measured again, if that was put off.
        assert in_order()
        assert shown.grab().toImage() == at_once, "rows lie over each other until they are measured again"
        heights.append(shown.sizeHintForRow(0))
    assert heights[0] < heights[1] > heights[2], "the words never needed more lines"
    assert shown.verticalScrollBar().isVisible()
