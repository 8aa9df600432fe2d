"""The workflow's view: driven through the real drop path, the real menus and the real keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QFontMetrics
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.builder import mime, words
from app.builder.drag_picture import drag_picture, hot_spot
from app.document import InGroup, NewStep, OnAgent, WorkflowDocument
from app.theme import Appearance, Scheme, font, theme
from app.turn_badge import TurnBadge
from app.why_not import why_not
from core.events import TurnStatus
from core.plan import Place
from core.state import PHASES
from tests.app.builder_support import NAMES, Builder, building

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def builder(qtbot: QtBot, tmp_path: Path) -> Iterator[Builder]:
    yield from building(qtbot, tmp_path)


# --- dropping ------------------------------------------------------------------------------------------


def test_a_pool_agent_dropped_on_an_agent_runs_in_parallel_with_it(builder: Builder) -> None:
    data = mime.agents_payload(["linter"])
    assert builder.hover(builder.at(builder.agent("amala")), data) == "in parallel with amala"
    assert builder.drop(builder.at(builder.agent("amala")), data)
    assert builder.shape()[0] == "par(amala linter)"
    builder.document.undo_stack.undo()
    assert builder.shape()[0] == "seq(amala)"
    builder.document.undo_stack.redo()
    assert builder.shape()[0] == "par(amala linter)"


def test_a_drop_between_agents_goes_there_and_a_gap_shows_it(builder: Builder) -> None:
    data = mime.agents_payload(["amala"])
    point = builder.at(builder.agent("linter"), 0.05)
    before = builder.view.tree.visualRect(builder.model.index_of(builder.agent("linter"))).height()
    assert builder.hover(point, data) == "in parallel with vera and 2 others"
    builder.qtbot.waitUntil(
        lambda: (
            builder.view.tree.visualRect(builder.model.index_of(builder.agent("linter"))).height()
            >= before + 30
        )
    )
    assert builder.drop(point, data)
    assert builder.shape()[1] == "par(vera amala linter security_auditor)"


def test_a_drop_between_groups_or_on_the_zone_is_a_new_step(builder: Builder) -> None:
    data = mime.agents_payload(["proteus"])
    above = builder.at(builder.group("vera"), 0.1)
    assert builder.hover(above, data) == "new step after amala"
    assert builder.drop(above, data)
    assert builder.drop(builder.zone(), mime.agents_payload(["consolidator"]))
    assert builder.shape() == [
        "seq(amala)",
        "seq(proteus)",
        "par(vera linter security_auditor)",
        "seq(consolidator)",
    ]


def test_words_of_a_drag_do_not_name_what_is_dragged(builder: Builder) -> None:
    vera = builder.dragged(builder.agent("vera"))
    below_linter = builder.at(builder.agent("linter"), 0.97)
    assert builder.hover(below_linter, vera) == "in parallel with linter and security_auditor"
    builder.leave()
    assert builder.hover(builder.zone(), vera) == "new step after linter and security_auditor"
    builder.leave()
    two = builder.dragged(builder.agent("vera"), builder.agent("linter"))
    assert builder.hover(builder.zone(), two) == "new step after security_auditor"
    assert builder.drop(builder.zone(), two)
    assert builder.shape() == ["seq(amala)", "par(security_auditor)", "seq(vera linter)"]


def test_words_of_a_drag_pass_over_steps_that_it_empties(builder: Builder) -> None:
    both = builder.dragged(*(builder.agent(name) for name in ("amala", "vera", "linter", "security_auditor")))
    assert builder.hover(builder.zone(), both) == "first step of the loop"


def test_words_of_a_drag_in_a_sequence_name_who_stays(builder: Builder) -> None:
    builder.document.insert_agents(["linter", "consolidator"], InGroup(builder.group("proteus"), 1))
    QApplication.processEvents()
    assert builder.shape("preparation") == ["seq(proteus linter consolidator)"]
    first, second, _ = builder.document.outline.preparation[0].agents
    assert builder.hover(builder.at(second.id, 0.97), builder.dragged(first.id)) == "after linter"
    builder.leave()
    assert builder.hover(builder.at(first.id, 0.03), builder.dragged(second.id)) == "before proteus"


def test_what_hangs_at_the_pointer_hides_no_words_about_the_landing(builder: Builder) -> None:
    data = builder.dragged(builder.agent("amala"))
    picture = drag_picture(builder.view, "amala", 1).deviceIndependentSize().toSize()
    point = builder.at(builder.agent("linter"), 0.05)
    builder.hover(point, data)
    builder.settle()
    box = QRect(point - hot_spot(drag_picture(builder.view, "amala", 1)), picture)
    assert not box.intersects(builder.open_gap())
    assert not box.contains(point)


def test_agents_move_between_phases_and_keep_their_ids(builder: Builder) -> None:
    vera = builder.agent("vera")
    assert builder.drop(builder.at(builder.agent("proteus"), 0.95), builder.dragged(vera))
    assert builder.shape("preparation") == ["seq(proteus vera)"]
    assert builder.document.place_of(vera) == Place("preparation", 0, 1)


def test_several_agents_are_dropped_together_in_their_order(builder: Builder) -> None:
    data = builder.dragged(builder.agent("security_auditor"), builder.agent("vera"))
    assert builder.drop(builder.at_phase("finalization"), data)
    assert builder.shape("finalization")[0] == "seq(vera security_auditor)"


def test_a_group_is_dragged_by_its_header_between_groups_only(builder: Builder) -> None:
    data = builder.dragged(builder.group("vera"))
    assert builder.hover(builder.at(builder.agent("amala")), data) == "", "it stands there already"
    assert builder.hover(builder.at(builder.group("amala")), data) == "first step of the loop"
    assert builder.drop(builder.at(builder.group("amala"), 0.2), data)
    assert builder.shape() == ["par(vera linter security_auditor)", "seq(amala)"]


def test_an_empty_phase_says_what_it_is_for_and_takes_a_drop(builder: Builder) -> None:
    builder.document.remove([builder.agent("proteus")])
    QApplication.processEvents()
    assert builder.hover(builder.at_phase("preparation"), mime.agents_payload(["vera"])) == (
        "first step of the preparation"
    )
    assert builder.drop(builder.at_phase("preparation"), mime.agents_payload(["vera"]))
    assert builder.shape("preparation") == ["seq(vera)"]


def test_a_drop_where_nothing_would_change_does_not_react(builder: Builder) -> None:
    vera = builder.agent("vera")
    for point in (builder.at(vera), builder.at(vera, 0.02), builder.at(vera, 0.98)):
        assert builder.hover(point, builder.dragged(vera)) == ""
        assert not builder.drop(point, builder.dragged(vera))
    assert builder.document.undo_stack.count() == 0


def _mime(kind: str, content: bytes) -> QMimeData:
    data = QMimeData()
    data.setData(kind, content)
    return data


@pytest.mark.parametrize(
    "data",
    [
        _mime(mime.NODES_MIME, b'["of another window", [1]]'),
        _mime(mime.NODES_MIME, b'{"ids": 1}'),
        _mime(mime.AGENTS_MIME, b'["", 3]'),
        _mime(mime.AGENTS_MIME, b"\xff\xfe"),
        _mime(mime.AGENTS_MIME, b"[" * 100_000),
        _mime("text/plain", b"vera"),
    ],
)
def test_odd_payloads_are_refused(builder: Builder, data: QMimeData) -> None:
    point = builder.at(builder.agent("amala"))
    assert builder.hover(point, data) == ""
    assert not builder.drop(point, data)
    assert not builder.model.dropMimeData(data, Qt.DropAction.CopyAction, 0, 0, builder.model.index(1, 0))
    assert builder.document.undo_stack.count() == 0


def test_unknown_node_ids_are_refused(builder: Builder) -> None:
    data = mime.nodes_payload(builder.model.token, [987_654])
    assert not builder.drop(builder.at(builder.agent("amala")), data)


def test_a_drag_that_leaves_or_is_cancelled_closes_the_gap(builder: Builder) -> None:
    tree = builder.view.tree
    before = [tree.visualRect(builder.model.index_of(builder.agent(name))) for name in NAMES]
    builder.hover(builder.at(builder.agent("linter"), 0.05), mime.agents_payload(["amala"]))
    builder.leave()
    assert tree.gap.landing_words == ""
    assert [tree.visualRect(builder.model.index_of(builder.agent(name))) for name in NAMES] == before


def test_what_is_aimed_at_stays_where_it_is_however_slowly_a_drag_moves(builder: Builder) -> None:
    """A gap that opens moves what is painted; the next target must not slide away under the pointer."""
    data = mime.agents_payload(["proteus"])
    heights = range(4, builder.at_phase("finalization").y() + 80, 7)
    at_rest = {}
    for y in heights:
        at_rest[y] = builder.hover(QPoint(150, y), data)
        builder.leave()
    builder.view.tree.gap.dwell.setInterval(0)
    opened = 0
    for y in heights:
        assert builder.hover(QPoint(150, y), data) == at_rest[y]
        builder.settle()
        opened += builder.open_gap().isValid()
        assert builder.hover(QPoint(150, y), data) == at_rest[y], "also when the gap has opened"
    assert opened > 10


def test_every_place_can_be_dropped_on(builder: Builder) -> None:
    data = mime.agents_payload(["proteus"])
    heights = range(4, builder.view.tree.viewport().height() - 4, 2)
    assert {builder.hover(QPoint(150, y), data) for y in heights} >= {
        "first step of the preparation",
        "in parallel with proteus",
        "after proteus",
        "new step after proteus",
        "first step of the loop",
        "in parallel with amala",
        "after amala",
        "new step after amala",
        "in parallel with vera and 2 others",
        "new step after vera and 2 others",
        "first step of the finalization",
        "before consolidator",
        "new step after consolidator",
    }
    builder.leave()


def test_when_a_phase_runs_takes_a_second_line_before_it_is_cut_short(builder: Builder) -> None:
    anatomy, loop = builder.view.tree.anatomy, builder.model.phase_index("loop")

    def lines(condition: str, width: int) -> list[str]:
        builder.document.update_settings("Change the condition", {"end_state_condition": condition})
        return anatomy.when_lines(loop, width)

    words = "up to 10 times, until an agent says it is complete"
    assert lines("is_complete", 600) == [words]
    assert " ".join(lines("is_complete", 200)) == words
    assert len(lines("is_complete", 200)) == 2
    long = lines(" and ".join(f"payload['{name}' * 3]['key_{name}'] > 1" for name in "abcdefgh"), 200)
    assert len(long) == 2
    assert long[1].endswith("…")
    before = builder.view.tree.visualRect(loop).height()
    builder.document.update_settings("Change the condition", {"end_state_condition": "is_complete"})
    builder.view.tree.doItemsLayout()
    assert builder.view.tree.visualRect(loop).height() <= before


def test_a_gap_closes_when_the_drag_is_aimed_at_an_agent(builder: Builder) -> None:
    data = mime.agents_payload(["amala"])
    point = builder.at(builder.agent("linter"), 0.05)
    builder.hover(point, data)
    builder.settle()
    assert builder.open_gap().height() >= 30
    builder.hover(builder.at_rest(builder.agent("linter")), data)
    builder.settle()
    assert builder.open_gap().isEmpty()
    assert builder.view.tree.gap.landing_words == "in parallel with vera and 2 others"


def test_agents_of_different_phases_are_not_grouped_and_it_is_said_why(builder: Builder) -> None:
    builder.select(builder.agent("proteus"), builder.agent("amala"))
    action = builder.view.commands.make_group
    assert "more than one agent of a phase" in why_not(action)
    before = builder.document.outline
    builder.press(Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert builder.document.outline == before
    builder.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    builder.press(Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert builder.shape("preparation") == ["seq(proteus)"]
    assert builder.shape() == ["par(amala vera linter security_auditor)"]
    assert builder.shape("finalization") == ["seq(consolidator)"]


def test_over_a_row_of_a_parallel_group_the_words_are_those_between_its_rows(builder: Builder) -> None:
    data = mime.agents_payload(["amala"])
    between = builder.hover(builder.at(builder.agent("linter"), 0.05), data)
    builder.leave()
    assert builder.hover(builder.at_rest(builder.agent("linter")), data) == between


def test_a_long_name_gives_way_within_the_words_about_a_drop(builder: Builder) -> None:
    long = "a_very_long_agent_name_that_goes_on_and_on_and_ends_in_security"
    builder.document.rename_agent("vera", long)
    data = mime.agents_payload(["amala"])
    builder.hover(builder.at(builder.agent("linter"), 0.05), data)
    landing = builder.view.tree.anatomy.landing
    assert landing is not None
    metrics = QFontMetrics(font())
    room = metrics.horizontalAdvance("in parallel with a_ver…urity and 2 others") + 8
    text = landing.fitting(room)
    assert metrics.horizontalAdvance(text) <= room
    assert text.startswith("in parallel with a_v")
    assert text.endswith("y and 2 others")
    assert "…" in text
    assert landing.fitting(3 * room) == landing.words


class _Still(QProxyStyle):
    """A system that asks for no motion."""

    def styleHint(  # noqa: N802
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returned: QStyleHintReturn | None = None,
    ) -> int:
        if hint is QStyle.StyleHint.SH_Widget_Animation_Duration:
            return 0
        return super().styleHint(hint, option, widget, returned)


def test_a_gap_opens_at_once_where_the_system_asks_for_no_motion(builder: Builder) -> None:
    still = _Still("Fusion")
    builder.view.tree.setStyle(still)
    gap = builder.view.tree.gap
    gap.dwell.setInterval(0)
    shares: set[float] = set()
    gap.dwell.timeout.connect(lambda: shares.update(builder.view.tree.anatomy.gaps.values()))
    builder.hover(builder.at(builder.agent("linter"), 0.05), mime.agents_payload(["amala"]))
    builder.qtbot.waitUntil(lambda: bool(shares))
    assert shares == {1.0}
    builder.leave()
    builder.view.tree.setStyle(None)


def test_a_drag_at_an_edge_scrolls_and_says_what_is_now_under_it(builder: Builder) -> None:
    builder.document.insert_agents([f"agent_{n}" for n in range(40)], NewStep("loop", 0))
    tree = builder.view.tree
    tree.verticalScrollBar().setValue(0)
    QApplication.processEvents()
    data = mime.agents_payload(["vera"])
    before = builder.hover(QPoint(150, tree.viewport().height() - 8), data)
    bar = tree.verticalScrollBar()
    builder.qtbot.waitUntil(lambda: bar.value() >= 300)
    builder.qtbot.waitUntil(lambda: tree.gap.landing_words not in ("", before))
    builder.leave()


def test_several_groups_are_dragged_together(builder: Builder) -> None:
    data = builder.dragged(builder.group("amala"), builder.group("vera"))
    assert builder.hover(builder.at_phase("finalization"), data) == "first step of the finalization"
    assert builder.drop(builder.at_phase("finalization"), data)
    assert builder.shape("finalization") == [
        "seq(amala)",
        "par(vera linter security_auditor)",
        "seq(consolidator)",
    ]
    assert builder.shape() == []


def test_a_range_of_agents_leaves_the_headers_between_them_out(builder: Builder) -> None:
    shift = Qt.KeyboardModifier.ShiftModifier
    builder.select(builder.agent("amala"))
    for _ in range(3):
        builder.press(Qt.Key.Key_Down, shift)
    assert builder.view.selected_nodes() == [builder.agent(name) for name in ("amala", "vera", "linter")]
    builder.press(Qt.Key.Key_Up, shift)
    assert builder.view.selected_nodes() == [builder.agent(name) for name in ("amala", "vera")]
    viewport = builder.view.tree.viewport()
    left = Qt.MouseButton.LeftButton
    builder.qtbot.mouseClick(viewport, left, pos=builder.at(builder.agent("linter")))
    builder.qtbot.mouseClick(viewport, left, shift, pos=builder.at(builder.agent("consolidator")))
    names = ("linter", "security_auditor", "consolidator")
    assert builder.view.selected_nodes() == [builder.agent(name) for name in names]
    builder.qtbot.mouseClick(
        viewport, left, Qt.KeyboardModifier.ControlModifier, pos=builder.at(builder.agent("linter"))
    )
    assert builder.view.selected_nodes() == [builder.agent(name) for name in names[1:]]
    builder.select(builder.group("amala"))
    builder.press(Qt.Key.Key_Down, shift)
    assert builder.view.selected_nodes() == [builder.group("amala")]
    builder.press(Qt.Key.Key_Down, shift)
    assert builder.view.selected_nodes() == [builder.group("amala"), builder.group("vera")]
    builder.qtbot.mouseClick(viewport, left, shift, pos=builder.at(builder.group("consolidator")))
    groups = ("amala", "vera", "consolidator")
    assert builder.view.selected_nodes() == [builder.group(name) for name in groups]


def test_a_rectangle_drawn_beside_the_cards_selects_the_agents_it_touches(builder: Builder) -> None:
    viewport, left = builder.view.tree.viewport(), Qt.MouseButton.LeftButton
    start = QPoint(4, builder.at(builder.agent("vera")).y())
    end = QPoint(60, builder.at(builder.agent("linter")).y())
    builder.qtbot.mousePress(viewport, left, pos=start)
    builder.qtbot.mouseMove(viewport, QPoint(30, start.y() + 10))
    builder.qtbot.mouseMove(viewport, end)
    assert builder.view.selected_nodes() == [builder.agent("vera"), builder.agent("linter")]
    builder.qtbot.mouseRelease(viewport, left, pos=end)
    builder.qtbot.mouseMove(viewport, QPoint(60, 4))
    assert builder.view.selected_nodes() == [builder.agent("vera"), builder.agent("linter")]
    builder.qtbot.mouseClick(viewport, left, pos=QPoint(4, 4))
    assert builder.view.selected_nodes() == []


def test_undo_and_redo_select_what_the_edit_was_about(builder: Builder) -> None:
    linter = builder.agent("linter")
    builder.document.move([linter], NewStep("finalization", 1))
    builder.select(builder.agent("proteus"))
    builder.document.undo_stack.undo()
    assert builder.view.selected_nodes() == [linter]
    builder.select(builder.agent("proteus"))
    builder.document.undo_stack.redo()
    assert builder.view.selected_nodes() == [linter]
    builder.document.remove([linter, builder.agent("vera")])
    builder.select(builder.agent("proteus"))
    builder.document.undo_stack.undo()
    assert builder.view.selected_nodes() == [builder.agent("vera"), linter]


def test_an_agent_added_from_the_pool_goes_where_the_selection_is(builder: Builder) -> None:
    assert builder.view.add_agents(["proteus"])
    assert builder.shape()[-1] == "seq(proteus)"
    builder.select(builder.agent("vera"))
    assert builder.view.add_agents(["consolidator"])
    assert builder.shape()[1] == "par(vera consolidator linter security_auditor)"
    assert builder.view.add_agents(["vera"], "finalization")
    assert builder.shape("finalization") == ["seq(consolidator)", "seq(vera)"]


# --- menus ---------------------------------------------------------------------------------------------


def test_the_context_menu_of_a_group_switches_between_sequential_and_parallel(builder: Builder) -> None:
    builder.choose(builder.menu(builder.group("vera")), "Run in sequence")
    assert builder.shape()[1] == "seq(vera linter security_auditor)"
    builder.choose(builder.menu(builder.group("vera")), "Run in parallel")
    assert builder.shape()[1] == "par(vera linter security_auditor)"
    builder.document.undo_stack.undo()
    assert builder.shape()[1] == "seq(vera linter security_auditor)"


def test_the_context_menu_of_an_agent_makes_groups(builder: Builder) -> None:
    builder.choose(builder.menu(builder.agent("amala")), "Run in parallel with next")
    assert builder.shape() == ["par(amala vera linter security_auditor)"]
    builder.choose(builder.menu(builder.agent("amala")), "Ungroup")
    assert builder.shape()[:2] == ["seq(amala)", "seq(vera)"]
    builder.select(builder.agent("amala"), builder.agent("linter"))
    builder.choose(builder.menu(builder.agent("linter")), "Make a group")
    assert builder.shape() == ["par(amala linter)", "seq(vera)", "seq(security_auditor)"]


def test_one_agent_is_taken_out_of_its_parallel_group_without_splitting_it(builder: Builder) -> None:
    builder.choose(builder.menu(builder.agent("linter")), "Take out of the group")
    assert builder.shape() == ["seq(amala)", "par(vera security_auditor)", "seq(linter)"]
    assert builder.document.undo_stack.undoText() == "Take linter out of the group"


def test_a_group_of_one_says_nothing_of_others(builder: Builder) -> None:
    vera = builder.agent("vera")
    builder.document.remove([builder.agent("linter"), builder.agent("security_auditor")])
    found = builder.document.outline.find_agent(vera)
    assert found is not None
    header = words.group_header(found[1], builder.document.settings)
    assert header.text == "∥ Parallel · 1 agent"


def test_agents_are_added_from_the_menus_of_groups_and_phases(builder: Builder) -> None:
    builder.choose(builder.menu(builder.group("amala")), "Add agent", "proteus")
    assert builder.shape()[0] == "seq(amala proteus)"
    builder.choose(builder.menu(phase="preparation"), "Add agent", "vera")
    assert builder.shape("preparation") == ["seq(proteus)", "seq(vera)"]


def test_agents_are_duplicated_disabled_moved_opened_and_removed_from_the_menu(builder: Builder) -> None:
    builder.choose(builder.menu(builder.agent("amala")), "Duplicate")
    assert builder.shape()[0] == "seq(amala amala)"
    builder.choose(builder.menu(builder.agent("vera")), "Disable")
    found = builder.document.outline.find_agent(builder.agent("vera"))
    assert found is not None
    assert not found[2].entry.enabled
    builder.choose(builder.menu(builder.agent("vera")), "Enable")
    builder.choose(builder.menu(builder.agent("vera")), "Move down")
    assert builder.shape()[1] == "par(linter vera security_auditor)"
    with builder.qtbot.waitSignal(builder.view.agent_open_requested) as opened:
        builder.choose(builder.menu(builder.agent("vera")), "Edit agent")
    assert opened.args == ["vera"]
    builder.choose(builder.menu(builder.agent("vera")), "Remove")
    assert builder.shape()[1] == "par(linter security_auditor)"


# --- keys ----------------------------------------------------------------------------------------------


def test_arrows_reach_every_row_and_the_menu_key_opens_the_menu_there(builder: Builder) -> None:
    tree = builder.view.tree
    builder.press(Qt.Key.Key_Home)
    seen = []
    for _ in range(13):
        seen.append(str(tree.currentIndex().data()))
        builder.press(Qt.Key.Key_Down)
    assert [text for text in seen if text in NAMES] == list(NAMES)
    assert "Preparation" in seen
    builder.select(builder.agent("amala"))
    where = builder.at(builder.agent("amala"))
    viewport = tree.viewport()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, where, viewport.mapToGlobal(where))
    QApplication.sendEvent(viewport, event)
    builder.choose(builder.open_menu(), "Remove")
    assert builder.shape() == ["par(vera linter security_auditor)"]


def test_everything_a_drag_can_do_is_on_keys(builder: Builder) -> None:
    alt, control, shift = (
        Qt.KeyboardModifier.AltModifier,
        Qt.KeyboardModifier.ControlModifier,
        Qt.KeyboardModifier.ShiftModifier,
    )
    builder.select(builder.agent("amala"))
    builder.press(Qt.Key.Key_Down, alt)
    assert builder.shape() == ["par(amala vera linter security_auditor)"]
    builder.press(Qt.Key.Key_Down, alt)
    assert builder.shape() == ["par(vera amala linter security_auditor)"]
    builder.press(Qt.Key.Key_Up, alt)
    builder.press(Qt.Key.Key_Up, alt)
    assert builder.shape()[0] == "seq(amala)"
    builder.press(Qt.Key.Key_Up, alt)
    assert builder.shape("preparation") == ["seq(proteus)", "seq(amala)"]
    builder.press(Qt.Key.Key_Down, alt)
    builder.select(builder.agent("amala"), builder.agent("vera"))
    builder.press(Qt.Key.Key_G, control)
    assert builder.shape() == ["par(amala vera)", "par(linter security_auditor)"]
    builder.press(Qt.Key.Key_P)
    assert builder.shape()[0] == "seq(amala vera)"
    builder.press(Qt.Key.Key_P)
    assert builder.shape()[0] == "par(amala vera)"
    builder.press(Qt.Key.Key_G, control | shift)
    assert builder.shape()[:2] == ["seq(amala)", "seq(vera)"]
    builder.press(Qt.Key.Key_Delete)
    assert builder.shape() == ["par(linter security_auditor)"]
    while builder.document.undo_stack.canUndo():
        builder.document.undo_stack.undo()
    assert builder.shape() == ["seq(amala)", "par(vera linter security_auditor)"]


def test_space_disables_and_f2_renames_a_group(builder: Builder) -> None:
    builder.select(builder.group("vera"))
    builder.press(Qt.Key.Key_Space)
    assert "disabled" in str(builder.model.index_of(builder.group("vera")).data())
    builder.press(Qt.Key.Key_Space)
    builder.press(Qt.Key.Key_F2)
    editor = builder.view.tree.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Review")
    builder.qtbot.keyClick(editor, Qt.Key.Key_Return)
    QApplication.processEvents()
    found = builder.document.outline.find_group(builder.group("vera"))
    assert found is not None
    assert found[2].settings.name == "Review"
    header = str(builder.model.index_of(builder.group("vera")).data())
    assert header == "∥ Parallel · Review · 3 agents, up to 4 at once · abort on error"


def test_what_an_edit_added_is_selected_and_after_a_removal_the_neighbour(builder: Builder) -> None:
    builder.document.insert_agents(["proteus"], InGroup(builder.group("vera"), 1))
    assert builder.view.selected_nodes() == [builder.document.outline.loop[1].agents[1].id]
    builder.press(Qt.Key.Key_Delete)
    assert builder.view.selected_nodes() == [builder.agent("linter")]
    builder.document.update_settings("loops", {"max_loops": 3})
    assert builder.view.selected_nodes() == [builder.agent("linter")]


def test_enter_opens_an_agent(builder: Builder) -> None:
    builder.select(builder.agent("linter"))
    with builder.qtbot.waitSignal(builder.view.agent_open_requested) as opened:
        builder.press(Qt.Key.Key_Return)
    assert opened.args == ["linter"]


# --- what is shown -------------------------------------------------------------------------------------


def test_headers_say_the_policy_in_words(builder: Builder) -> None:
    def header(name: str) -> str:
        return str(builder.model.index_of(builder.group(name)).data())

    assert header("vera") == "∥ Parallel · 3 agents, up to 4 at once · abort on error"
    assert header("amala") == "In sequence"
    for own, words_of_it in ((12, "up to 12 at once"), (2, "up to 2 at once"), (None, "up to 4 at once")):
        builder.document.update_group(builder.group("vera"), "x", max_parallel=own)
        assert words_of_it in header("vera"), "a group's own number is what the run goes by"
    builder.document.update_group(builder.group("vera"), "x", on_parallel_error="continue", timeout=600.0)
    assert header("vera") == "∥ Parallel · 3 agents, up to 4 at once · continue on error · at most 10 min"
    long = "the reviewers of everything that was written since the last release"
    builder.document.update_group(builder.group("vera"), "x", name=long)
    group = builder.document.outline.loop[1]
    forms = words.group_header(group, builder.document.settings_in_force).forms
    assert forms[0].startswith(long)
    assert forms[-2] == "the reviewers of eve… · continue on error", (
        "a long name does not push it out of sight"
    )
    assert forms[-1] == "continue on error"
    assert long in str(builder.model.index_of(builder.group("vera")).data(Qt.ItemDataRole.ToolTipRole))


def test_long_names_that_differ_at_their_end_look_different(builder: Builder) -> None:
    for name, number in (("vera", 1), ("linter", 2)):
        long = f"agent_with_a_rather_long_name_that_goes_on_and_on_number_{number}"
        builder.document.rename_agent(name, long)
    builder.view.tree.clearSelection()
    tree = builder.view.tree
    rows = builder.document.outline.loop[1].agents[:2]
    inside = [tree.visualRect(builder.model.index_of(row.id)).adjusted(20, 4, -4, -6) for row in rows]
    pictures = [tree.viewport().grab(room).toImage() for room in inside]
    assert pictures[0].size() == pictures[1].size()
    assert pictures[0] != pictures[1]
    dragged = [drag_picture(tree, row.entry.agent, 1).toImage() for row in rows]
    assert dragged[0] != dragged[1]


def test_rows_say_who_how_where_and_what_for(builder: Builder) -> None:
    """Through the interface that screen readers use."""
    tree = builder.view.tree
    names = {}
    interface = QAccessible.queryAccessibleInterface(tree)
    for child in range(interface.childCount()):
        cell = interface.child(child)
        if cell.role() is not QAccessible.Role.TreeItem:
            continue
        name = cell.text(QAccessible.Text.Name)
        names[name.split(",")[0]] = name
    assert names["vera"] == "vera, in parallel, step 2 of the loop, tester"
    assert names["amala"] == "amala, in sequence, step 1 of the loop, tester"
    assert names["Parallel"] == ("Parallel, 3 agents, up to 4 at once, abort on error, step 2 of the loop")
    assert names["Loop"] == "Loop, up to 10 times, until score >= 90"


def test_badges_of_a_run_are_said_and_only_their_rows_repainted(builder: Builder) -> None:
    changed: list[str] = []
    builder.model.dataChanged.connect(lambda first, _last: changed.append(str(first.data())))
    running = TurnBadge(TurnStatus.RUNNING, 42.0)
    builder.view.set_turn_badges({Place("loop", 1, 0): running, Place("loop", 1, 1): running})
    builder.view.set_turn_badges(
        {Place("loop", 1, 0): running, Place("loop", 1, 1): TurnBadge(TurnStatus.FAILED, 43.0)}
    )
    assert sorted(changed) == ["linter", "linter", "vera"]
    spoken = builder.model.index_of(builder.agent("linter")).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "failed 0:43" in str(spoken)


def test_an_unknown_agent_is_named_as_such(builder: Builder) -> None:
    builder.document.insert_agents(["nobody"], NewStep("loop", 0))
    index = builder.model.index_of(builder.agent("nobody"))
    assert "no agent called “nobody”" in str(index.data(Qt.ItemDataRole.ToolTipRole))
    assert "no agent of this name" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))


def test_while_locked_no_room_asks_for_an_agent(builder: Builder) -> None:
    zone = builder.zone()
    box = QRect(zone - QPoint(80, 8), zone + QPoint(80, 8))
    viewport = builder.view.tree.viewport()

    def colors() -> set[str]:
        picture = viewport.grab(box).toImage()
        return {
            picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())
        }

    assert len(colors()) > 1
    builder.view.set_locked("It runs.")
    QApplication.processEvents()
    moved = builder.zone() - zone
    box.translate(moved)
    assert len(colors()) == 1
    builder.view.set_locked("")


def test_while_locked_nothing_can_be_edited_but_everything_looked_at(builder: Builder) -> None:
    builder.view.set_locked("It runs.")
    builder.select(builder.agent("vera"))
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_P, Qt.Key.Key_Space, Qt.Key.Key_F2):
        builder.press(key)
    builder.press(Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert not builder.drop(builder.at(builder.agent("amala")), mime.agents_payload(["linter"]))
    assert builder.document.undo_stack.count() == 0
    builder.select(builder.agent("vera"))
    assert builder.view.selected_nodes() == [builder.agent("vera")]
    builder.view.set_locked("")
    builder.press(Qt.Key.Key_Delete)
    assert builder.document.undo_stack.count() == 1


def test_parallel_is_told_by_colour_in_both_schemes(builder: Builder, qapp: QApplication) -> None:
    appearance = Appearance(qapp)
    try:
        for scheme in (Scheme.LIGHT, Scheme.DARK):
            appearance.choose(scheme)
            QApplication.processEvents()
            picture = builder.view.tree.viewport().grab().toImage()
            edge = {
                name: picture.pixelColor(13, round(builder.at(builder.agent(name)).y())).name()
                for name in ("vera", "amala")
            }
            assert edge["vera"] == theme().accent
            assert edge["amala"] != theme().accent
    finally:
        appearance.choose(Scheme.LIGHT)
        appearance.setParent(None)


def test_forty_agents_scroll_to_the_selected_one(builder: Builder) -> None:
    builder.document.insert_agents([f"agent_{n}" for n in range(40)], NewStep("loop", 0))
    last = builder.agent("agent_39")
    builder.view.tree.select_nodes([last])
    builder.view.tree.scrollTo(builder.model.index_of(last))
    QApplication.processEvents()
    assert builder.view.tree.viewport().rect().contains(builder.at(last))


def test_a_problem_leads_to_its_place(builder: Builder) -> None:
    builder.document.insert_agents(["nobody"], OnAgent(builder.agent("amala")))
    problems = builder.view.problem_list
    assert problems.isVisible()
    index = next(
        problems.list.model().index(row, 0)
        for row in range(problems.list.model().rowCount())
        if "nobody" in str(problems.list.model().index(row, 0).data())
    )
    problems.list.clicked.emit(index)
    assert builder.view.selected_nodes() == [builder.agent("nobody")]


# --- the model -----------------------------------------------------------------------------------------


def test_indexes_lead_to_nodes_and_back(builder: Builder) -> None:
    def walk(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[QModelIndex]:
        for row in range(model.rowCount(parent)):
            index = model.index(row, 0, parent)
            yield index
            yield from walk(model, index)

    for index in walk(builder.model, QModelIndex()):
        node_id = builder.model.node_id(index)
        if node_id is not None:
            assert builder.model.index_of(node_id) == index
    for phase in PHASES:
        assert builder.model.phase(builder.model.phase_index(phase)) == phase


def test_the_saved_file_is_what_the_view_shows(builder: Builder, tmp_path: Path) -> None:
    builder.drop(builder.at(builder.agent("amala")), mime.agents_payload(["proteus"]))
    builder.choose(builder.menu(builder.group("vera")), "Run in sequence")
    target = tmp_path / "saved.json"
    builder.document.save_as(target)
    again = WorkflowDocument()
    again.open(target)
    assert again.workflow == builder.document.workflow
    assert json.loads(target.read_text(encoding="utf-8"))["loop_agents"][0]["mode"] == "parallel"
