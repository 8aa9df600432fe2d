"""The timeline of a run: what it shows, and what mouse, wheel and keys do with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QColor, QHelpEvent, QImage, QPalette, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.run_view.run_view import RunView
from app.run_view.timeline import Timeline
from app.run_view.timeline_area import TimelineArea
from app.run_view.timeline_bars import BarPainter
from app.run_view.timeline_plot import Spot
from app.run_view.timeline_scale import TimelineScale, roomy
from app.theme import theme
from core.events import (
    AttemptKind,
    Event,
    Merged,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    TurnFinished,
    TurnStatus,
)
from core.json_types import JsonObject
from core.progress import RunProgress
from tests.core.run_story import START, Story
from tests.core.run_support import Workshop

# The offscreen platform says so about sizes of windows and about popups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

AMALA, VERA, LINTER, SECURITY = "loop/1/0/0", "loop/1/1/0", "loop/1/1/1", "loop/1/1/2"


class Shown:
    """A timeline and the progress behind it, fed as the run view feeds it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.timeline = Timeline()
        qtbot.addWidget(self.timeline)
        self.timeline.resize(684, 170)
        self.timeline.show()
        self.opened: list[str] = []
        self.timeline.turn_requested.connect(self.opened.append)
        self.progress = RunProgress()
        self.timeline.begin(self.progress)

    @property
    def area(self) -> TimelineArea:
        return self.timeline.area

    def tell(self, events: Sequence[Event], now: float) -> None:
        """These happened up to `now`, in seconds of the run; the view is up to date at once."""
        self.progress.apply_all(events)
        self.timeline.take(events, START + now)
        # Not at most four times a second: a test is not to wait for that.
        self.area.refresh(None, START + now)
        QApplication.processEvents()

    def spot(self, turn: str) -> Spot:
        spot = self.area.plot.spot_of(turn)
        assert spot is not None
        return spot

    def middle(self, turn: str) -> QPoint:
        return self.area.rect_of(self.spot(turn)).center()

    def picture(self) -> QImage:
        return self.area.viewport().grab().toImage()

    def wheel(
        self, at: QPoint, notches: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        view = self.area.viewport()
        event = QWheelEvent(
            QPointF(at),
            QPointF(view.mapToGlobal(at)),
            QPoint(),
            QPoint(0, notches * 120),
            Qt.MouseButton.NoButton,
            modifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(view, event)

    def drag(self, begin: QPoint, end: QPoint) -> None:
        view = self.area.viewport()
        QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=begin)
        for step in (0.3, 0.7, 1.0):
            QTest.mouseMove(view, begin + (end - begin) * step)
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)

    def tip(self, at: QPoint) -> str:
        view = self.area.viewport()
        QApplication.sendEvent(view, QHelpEvent(QEvent.Type.ToolTip, at, view.mapToGlobal(at)))
        return QToolTip.text()


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Shown]:
    yield Shown(qtbot)
    QToolTip.hideText()


def finished(status: TurnStatus = TurnStatus.SUCCEEDED) -> Story:
    """amala, then vera, linter and security at the same time; security ended as `status` says."""
    story = Story()
    story.group(0, "amala", parallel=False)
    story.turn(AMALA, 0, 20)
    story.add(Merged(time=START + 20, phase="loop", iteration=1, group=0))
    story.group(20, "vera", "linter", "security", index=1)
    story.turn(VERA, 20, 60)
    story.turn(LINTER, 20, 40)
    story.begin(SECURITY, 20)
    story.end(SECURITY, 50, status)
    story.finish(60)
    return story


def running() -> Story:
    """vera and linter are at work since 0."""
    story = Story()
    story.group(0, "vera", "linter", index=1)
    story.begin(VERA, 0)
    story.begin(LINTER, 0)
    return story


# --- what it shows ------------------------------------------------------------------------------------


def test_every_agent_has_a_row_and_its_bars_stand_where_it_worked(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    assert [row.label for row in shown.area.plot.rows] == ["amala", "vera", "linter", "security"]
    amala, vera, linter = (shown.area.rect_of(shown.spot(turn)) for turn in (AMALA, VERA, LINTER))
    assert amala.right() == pytest.approx(vera.left(), abs=2), "vera began when amala had ended"
    assert vera.left() == linter.left(), "at the same time as linter"
    assert vera.width() == pytest.approx(2 * amala.width(), abs=2), "and worked twice as long as amala"
    assert amala.top() < vera.top() < linter.top()


def test_it_says_what_working_at_the_same_time_saved(shown: Shown) -> None:
    assert shown.timeline.savings.text == "No agent has worked yet"
    events = finished().events
    shown.progress.apply_all(events)
    shown.timeline.take(events, START + 60)
    words = "1:50 of work in 1:00 · 1.8 times faster than in sequence · longest chain 1:00"
    assert shown.timeline.savings.text == words
    assert shown.timeline.savings.accessibleName() == shown.timeline.savings.text
    assert shown.timeline.savings_tip() == [
        "All turns one after another: 1:50",
        "The run took: 1:00",
        "It cannot take less than: 1:00, the longest chain of turns that wait for each other",
        "At most 3 agents worked at the same time",
    ]


def test_the_tool_tip_of_the_savings_says_how_they_are_meant(shown: Shown) -> None:
    events = finished().events
    shown.progress.apply_all(events)
    shown.timeline.take(events, START + 60)
    label = shown.timeline.savings
    at = label.rect().center()
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, at, label.mapToGlobal(at)))
    assert "All turns one after another: 1:50" in QToolTip.text()


def test_where_there_is_little_room_the_savings_are_said_in_fewer_words(shown: Shown) -> None:
    events = finished().events
    shown.progress.apply_all(events)
    shown.timeline.take(events, START + 60)
    assert shown.timeline.savings.shown_text() == shown.timeline.savings.text
    shown.timeline.resize(560, 170)
    QApplication.processEvents()
    shorter = "1:50 in 1:00 · 1.8 times faster · longest chain 1:00"
    assert shown.timeline.savings.shown_text() == shorter
    shown.timeline.resize(420, 170)
    QApplication.processEvents()
    assert shown.timeline.savings.shown_text() == "1:50 in 1:00 · 1.8 times faster"
    shown.timeline.resize(200, 170)
    QApplication.processEvents()
    assert shown.timeline.savings.shown_text().endswith("…")


@pytest.mark.parametrize(
    ("status", "color", "height"),
    [
        (TurnStatus.SUCCEEDED, theme().succeeded, 14),
        (TurnStatus.FAILED, theme().failed, 18),
        (TurnStatus.STOPPED, theme().quiet, 8),
    ],
)
def test_an_outcome_is_told_by_colour_and_by_height(
    shown: Shown, status: TurnStatus, color: str, height: int
) -> None:
    shown.tell(finished(status).events, 60)
    picture, box = shown.picture(), shown.area.rect_of(shown.spot(SECURITY))
    colors = [picture.pixelColor(box.right() - 6, y) for y in range(box.top() - 2, box.bottom() + 3)]
    own = sum(_near(each, QColor(color)) for each in colors)
    # The bar of who was stopped is hatched: some of it is ground.
    assert own >= (3 if status is TurnStatus.STOPPED else height - 2)
    assert own <= height


def _near(one: QColor, other: QColor) -> bool:
    return all(
        abs(a - b) < 12
        for a, b in zip(
            (one.red(), one.green(), one.blue()), (other.red(), other.green(), other.blue()), strict=True
        )
    )


def test_a_retry_shows_what_failed_the_wait_and_what_came_then(shown: Shown) -> None:
    story = Story()
    story.group(0, "vera", index=1)
    story.begin(VERA, 0)
    story.attempt_ends(VERA, 20, "overloaded", retry_in=20)
    story.attempt(VERA, 40, 2, AttemptKind.RETRY)
    story.end(VERA, 60)
    story.finish(60)
    shown.tell(story.events, 60)
    picture, box = shown.picture(), shown.area.rect_of(shown.spot(VERA))
    y = box.center().y() + 6
    colors = [picture.pixelColor(box.left() + int(box.width() * part), y) for part in (0.3, 0.5, 0.97)]
    assert _near(colors[0], QColor(theme().failed))
    assert not _near(colors[1], QColor(theme().failed))
    assert not _near(colors[1], QColor(theme().succeeded))
    assert _near(colors[2], QColor(theme().succeeded))
    assert shown.tip(box.center()).count("overloaded") == 1


def test_what_a_retry_waited_for_a_slot_is_told_apart_from_the_wait_before_it(shown: Shown) -> None:
    story = Story()
    story.group(0, "vera", index=1)
    story.begin(VERA, 0)
    story.attempt_ends(VERA, 20, "overloaded", retry_in=10)
    story.attempt(VERA, 40, 2, AttemptKind.RETRY)
    story.end(VERA, 60)
    story.finish(60)
    shown.tell(story.events, 60)
    box = shown.area.rect_of(shown.spot(VERA))
    assert "overloaded (then waited 0:10, and 0:10 more for a slot)" in shown.tip(box.center())
    picture, y = shown.picture(), box.center().y()

    def colors(begin: float, end: float, below: int) -> set[int]:
        places = range(box.left() + int(box.width() * begin), box.left() + int(box.width() * end))
        return {picture.pixel(x, y + below) for x in places}

    around = range(-3, 4)
    assert any(len(colors(0.36, 0.48, below)) > 1 for below in around), "dots"
    line = [colors(0.53, 0.64, below) for below in around]
    assert all(len(each) == 1 for each in line), "no dots"
    assert len(set.union(*line)) > 1, "but a line"


@pytest.mark.parametrize("ending", ["tried again", "stopped", "went on"])
def test_an_answer_without_an_update_looks_the_same_whatever_came_of_it(shown: Shown, ending: str) -> None:
    story = Story()
    story.group(0, "vera", index=1)
    story.begin(VERA, 0)
    story.attempt_ends(VERA, 20)
    if ending == "tried again":
        story.attempt(VERA, 40, 2, AttemptKind.RETRY)
        story.end(VERA, 60)
    elif ending == "stopped":
        story.add(TurnFinished(time=START + 60, turn=VERA, status=TurnStatus.STOPPED, message="Stopped."))
    else:
        story.add(TurnFinished(time=START + 60, turn=VERA, message="No update. The run went on."))
    story.finish(60)
    shown.tell(story.events, 60)
    box = shown.area.rect_of(shown.spot(VERA))
    picture = shown.picture()
    # As high as an answer is, not as low as what was stopped.
    across = range(box.left() + 2, box.left() + box.width() // 4)
    colors = [picture.pixelColor(x, box.center().y() - 5) for x in across]
    assert any(_near(color, QColor(theme().other)) for color in colors)
    assert not any(_near(color, QColor(theme().succeeded)) for color in colors)
    said = {"tried again": "succeeded", "stopped": "stopped", "went on": "succeeded without a state update"}
    assert shown.tip(box.center()).splitlines()[0] == f"vera 1 · {said[ending]}"


@pytest.mark.parametrize("many", [False, True])
def test_a_wait_for_the_user_that_ended_the_turn_is_no_work(
    shown: Shown, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if many:
        monkeypatch.setattr("app.run_view.timeline_painter._MOST_IN_DETAIL", 0)
    story = Story()
    story.group(0, "vera", "linter", index=1)
    story.begin(VERA, 0)
    story.begin(LINTER, 0)
    story.attempt_ends(VERA, 12)
    story.end(LINTER, 60)
    story.add(TurnFinished(time=START + 60, turn=VERA, status=TurnStatus.FAILED, message="No update."))
    story.finish(60)
    shown.tell(story.events, 60)
    picture, box = shown.picture(), shown.area.rect_of(shown.spot(VERA))
    y = box.center().y() + 5
    colors = [picture.pixelColor(box.left() + int(box.width() * part), y) for part in (0.12, 0.4, 0.97)]
    assert _near(colors[0], QColor(theme().failed))
    assert not any(_near(color, QColor(theme().failed)) for color in colors[1:])
    dotted = {picture.pixel(x, box.center().y()) for x in range(box.left() + box.width() // 2, box.right())}
    assert many or len(dotted) > 1, "the wait is drawn"
    tip = shown.tip(box.center())
    assert "vera 1 · failed" in tip
    assert "At work for 0:12, waited 0:48 for you" in tip


def test_the_tool_tip_tells_all_about_a_bar(shown: Shown) -> None:
    story = finished(TurnStatus.FAILED)
    last = next(event for event in story.events if isinstance(event, TurnFinished) and event.turn == SECURITY)
    story.events[story.events.index(last)] = TurnFinished(
        time=last.time, turn=SECURITY, status=TurnStatus.FAILED, message="The model is not known."
    )
    shown.tell(story.events, 60)
    tip = shown.tip(shown.middle(SECURITY))
    for words in (
        "security 1 · failed",
        "Loop, iteration 1, in parallel",
        "0:30, from",
        "The model is not known.",
    ):
        assert words in tip


def test_what_agents_are_called_and_say_stays_text_in_tool_tips(shown: Shown) -> None:
    story = Story()
    story.group(0, "<b>bold</b>\u202egnp.exe", index=1)
    story.begin(VERA, 0)
    story.add(TurnFinished(time=START + 5, turn=VERA, status=TurnStatus.FAILED, message="<img src='x'>"))
    story.finish(5)
    shown.tell(story.events, 5)
    tip = shown.tip(shown.middle(VERA))
    assert "&lt;b&gt;" in tip
    assert "&lt;img" in tip
    assert "\u202e" not in tip
    assert "&lt;b&gt;" in shown.tip(QPoint(20, shown.middle(VERA).y())), "nor at its name"


def test_passes_that_are_too_narrow_for_their_names_are_still_numbered(shown: Shown) -> None:
    def inked(passes: int) -> int:
        """Pixels above the rows that are of a text."""
        story = Story()
        for number in range(passes):
            (turn,) = story.group(number, "vera", iteration=number + 1)
            story.turn(turn, number, number + 1)
        story.finish(passes)
        shown.timeline.begin(RunProgress())
        shown.progress = RunProgress()
        shown.timeline.begin(shown.progress)
        shown.tell(story.events, passes)
        picture, left = shown.picture(), int(shown.area.painter.plot_left)
        ink = QColor(theme().quiet)
        return sum(
            _near(picture.pixelColor(x, y), ink)
            for x in range(left, picture.width())
            for y in range(int(shown.area.painter.top) - 2)
        )

    assert inked(50) > 40
    assert inked(1000) > 40


def test_names_phases_and_breaks_have_tool_tips_too(shown: Shown) -> None:
    story = running()
    story.add(RunStarted(time=START + 3600, run_id="r", resumed=True))
    story.group(3600, "vera", "linter", index=1)
    story.begin(VERA, 3600)
    shown.tell(story.events, 3660)
    area = shown.area
    assert "vera" in shown.tip(QPoint(20, shown.middle(VERA).y()))
    (cut,) = area.plot.clock.breaks
    x = int(area.painter.plot_left + area.plot.scale.x_of(area.plot.clock.seconds(cut.began)))
    below = area.viewport().height() - int(area.painter.bottom) + 2
    assert "resumed here" in shown.tip(QPoint(x, below))
    assert "Iteration 1" in shown.tip(QPoint(x + 10, 4))


def test_the_time_between_two_lives_takes_no_room(shown: Shown) -> None:
    story = running()
    story.end(VERA, 30)
    a_day = 86_400
    story.add(TurnFinished(time=START + 30, turn=LINTER, status=TurnStatus.STOPPED))
    story.add(RunStarted(time=START + a_day, run_id="r", resumed=True))
    story.group(a_day, "vera", "linter", index=1)
    story.turn(LINTER, a_day, a_day + 30)
    story.finish(a_day + 30)
    shown.tell(story.events, a_day + 30)
    first, second = shown.area.plot.chart.bars_of(LINTER)
    boxes = [
        shown.area.rect_of(spot)
        for bar in (first, second)
        if (spot := shown.area.plot.spot_of(LINTER, bar.start_number)) is not None
    ]
    assert len(boxes) == 2
    assert boxes[0].width() == pytest.approx(boxes[1].width(), abs=2)
    assert boxes[0].right() == pytest.approx(boxes[1].left(), abs=2)


def test_nothing_at_all_is_said_and_a_run_without_bars_can_be_walked_through(shown: Shown) -> None:
    picture = shown.picture()
    colors = {picture.pixelColor(x, picture.height() // 2).name() for x in range(picture.width())}
    assert len(colors) > 1, "a sentence stands there"
    shown.area.setFocus(Qt.FocusReason.TabFocusReason)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_Return, Qt.Key.Key_Plus, Qt.Key.Key_0):
        QTest.keyClick(shown.area, key)
    assert shown.opened == []
    assert shown.area.current is None


# --- the mouse ----------------------------------------------------------------------------------------


def test_a_click_opens_the_turn_and_a_click_beside_opens_nothing(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    view = shown.area.viewport()
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=shown.middle(LINTER))
    assert shown.opened == [LINTER]
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(view.width() - 20, shown.middle(AMALA).y()))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(20, shown.middle(AMALA).y()))
    assert shown.opened == [LINTER]


def test_bars_that_are_narrower_than_a_pixel_can_be_clicked(shown: Shown) -> None:
    story = Story()
    story.group(0, "amala", parallel=False)
    story.turn(AMALA, 0, 0.01)
    story.group(1, "vera", index=1)
    story.turn(VERA, 1, 100_000)
    story.finish(100_000)
    shown.tell(story.events, 100_000)
    where = shown.middle(AMALA) + QPoint(3, 0)
    QTest.mouseClick(shown.area.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert shown.opened == [AMALA]


def test_the_wheel_with_ctrl_zooms_around_the_pointer(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    scale, left = shown.area.plot.scale, shown.area.painter.plot_left
    at = QPoint(400, 60)
    held, before = scale.seconds_at(at.x() - left), scale.scale
    for _ in range(5):
        shown.wheel(at, 1, Qt.KeyboardModifier.ControlModifier)
    assert scale.scale > 2 * before
    assert scale.seconds_at(at.x() - left) == pytest.approx(held)
    assert shown.area.horizontalScrollBar().maximum() > 0
    assert not shown.timeline.fit_button.isHidden()
    for _ in range(9):
        shown.wheel(at, -1, Qt.KeyboardModifier.ControlModifier)
    assert scale.scale == pytest.approx(before), "not smaller than all of it"
    assert shown.area.horizontalScrollBar().maximum() == 0
    assert shown.timeline.fit_button.isHidden()


def test_a_drag_moves_the_view_and_opens_nothing(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    shown.area.zoom(4, 400)
    scale = shown.area.plot.scale
    began = scale.left
    shown.drag(shown.middle(VERA), shown.middle(VERA) - QPoint(100, 0))
    assert scale.left == pytest.approx(began + 100 / scale.scale)
    assert shown.opened == []
    shown.drag(QPoint(300, 60), QPoint(3000, 60))
    assert scale.left == 0, "not beyond the begin"
    shown.drag(QPoint(300, 60), QPoint(-30_000, 60))
    assert scale.left + scale.shown == pytest.approx(scale.span), "nor beyond the end"


def test_the_wheel_scrolls_rows_where_there_are_more_and_else_time(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    shown.area.zoom(4, 400)
    scale, down = shown.area.plot.scale, shown.area.verticalScrollBar()
    shown.timeline.resize(684, 400)
    assert down.maximum() == 0
    began = scale.left
    shown.wheel(QPoint(400, 60), -1)
    assert scale.left > began
    shown.timeline.resize(684, 110)
    assert down.maximum() > 0
    began = scale.left
    shown.wheel(QPoint(400, 40), -1)
    assert down.value() > 0
    assert scale.left == began
    shown.wheel(QPoint(400, 40), 1, Qt.KeyboardModifier.ShiftModifier)
    assert scale.left < began


def test_the_row_at_work_is_in_view_until_the_user_scrolls_rows_himself(shown: Shown) -> None:
    story = Story()
    turns = story.group(0, *(f"agent {number}" for number in range(12)), parallel=False, index=1)
    story.turn(turns[0], 0, 10)
    story.begin(turns[1], 10)
    shown.tell(story.events, 20)
    down = shown.area.verticalScrollBar()
    later = Story()
    later.events.clear()
    later.end(turns[1], 21)
    for number in range(2, 9):
        later.turn(turns[number], 20 + number, 21 + number)
    later.begin(turns[9], 30)
    shown.tell(later.events, 31)
    assert down.maximum() > 0
    rows = shown.area.viewport().rect().adjusted(0, int(shown.area.painter.top), 0, 0)
    assert rows.contains(shown.middle(turns[9]))
    assert rows.bottom() - shown.area.painter.bottom > shown.middle(turns[9]).y()
    shown.wheel(QPoint(400, 60), 9)
    assert down.value() == 0
    shown.tell((), 40)
    assert down.value() == 0, "who looks at something else is left alone"
    QTest.keyClick(shown.area, Qt.Key.Key_0)
    assert rows.contains(shown.middle(turns[9]))


@pytest.mark.parametrize("dark", [False, True])
def test_where_the_scroll_bars_meet_their_ground_goes_on(shown: Shown, dark: bool) -> None:
    shown.tell(finished().events, 60)
    shown.timeline.resize(684, 110)
    shown.area.zoom(4, 400)
    palette = shown.timeline.palette()
    palette.setColor(QPalette.ColorRole.Base, QColor("#101418" if dark else "#fafafa"))
    shown.timeline.setPalette(palette)
    QApplication.processEvents()
    picture = shown.area.grab().toImage()
    corner = {
        picture.pixel(x, y)
        for x in range(picture.width() - 12, picture.width())
        for y in range(picture.height() - 12, picture.height())
    }
    assert corner == {palette.color(QPalette.ColorRole.Base).rgb()}


def test_the_scroll_bar_moves_the_view(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    shown.area.zoom(4, 400)
    bar, scale = shown.area.horizontalScrollBar(), shown.area.plot.scale
    bar.setValue(0)
    assert scale.left == 0
    bar.setValue(bar.maximum())
    assert scale.left + scale.shown == pytest.approx(scale.span, rel=0.01)


def test_the_column_of_names_can_be_made_wider_and_takes_no_more_than_its_share(shown: Shown) -> None:
    story = Story()
    story.group(0, "n" * 500, index=1)
    story.begin(VERA, 0)
    shown.tell(story.events, 10)
    painter, view = shown.area.painter, shown.area.viewport()
    assert painter.names_width <= view.width() * 0.35 + 1
    edge = QPoint(int(painter.plot_left) - 1, 50)
    shown.drag(edge, edge - QPoint(80, 0))
    assert painter.names_width < view.width() * 0.35 - 60
    assert shown.opened == []
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(int(painter.plot_left) - 1, 50))
    assert painter.names_width == pytest.approx(view.width() * 0.35, abs=2)


# --- keys ---------------------------------------------------------------------------------------------


def test_arrows_walk_from_bar_to_bar_and_enter_opens(shown: Shown) -> None:
    story = Story()
    for iteration in (1, 2):
        at = 60.0 * (iteration - 1)
        story.group(at, "vera", "linter", index=1, iteration=iteration)
        story.turn(f"loop/{iteration}/1/0", at, at + 30)
        story.turn(f"loop/{iteration}/1/1", at, at + 50)
    story.finish(120)
    shown.tell(story.events, 120)
    shown.area.show_turn("loop/1/1/0")
    shown.area.setFocus(Qt.FocusReason.TabFocusReason)
    assert _walked(shown) == "loop/1/1/0", "from the turn of the tab"
    for key, turn in (
        (Qt.Key.Key_Right, "loop/2/1/0"),
        (Qt.Key.Key_Right, "loop/2/1/0"),
        (Qt.Key.Key_Down, "loop/2/1/1"),
        (Qt.Key.Key_Left, "loop/1/1/1"),
        (Qt.Key.Key_Up, "loop/1/1/0"),
        (Qt.Key.Key_End, "loop/2/1/0"),
        (Qt.Key.Key_Home, "loop/1/1/0"),
    ):
        QTest.keyClick(shown.area, key)
        assert _walked(shown) == turn, key
    QTest.keyClick(shown.area, Qt.Key.Key_Return)
    assert shown.opened == ["loop/1/1/0"]


def _walked(shown: Shown) -> str:
    assert shown.area.current is not None
    return shown.area.current.bar.turn


def test_keys_zoom_and_pan_and_show_all_again(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    shown.area.setFocus(Qt.FocusReason.TabFocusReason)
    scale = shown.area.plot.scale
    before = scale.scale
    QTest.keyClick(shown.area, Qt.Key.Key_Plus)
    QTest.keyClick(shown.area, Qt.Key.Key_Plus)
    assert scale.scale > before * 2
    QTest.keyClick(shown.area, Qt.Key.Key_Minus)
    assert before < scale.scale < before * 2
    scale.go(0)
    QTest.keyClick(shown.area, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert scale.left > 0
    QTest.keyClick(shown.area, Qt.Key.Key_0)
    assert scale.scale == before
    assert scale.left == 0


def test_the_bar_one_walks_to_comes_into_view(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    shown.timeline.resize(684, 100)
    shown.area.setFocus(Qt.FocusReason.TabFocusReason)
    shown.area.zoom(30, 200)
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down):
        QTest.keyClick(shown.area, key)
    box, painter = shown.area.rect_of(shown.spot(SECURITY)), shown.area.painter
    assert _walked(shown) == SECURITY
    assert painter.plot_left <= box.left() < shown.area.viewport().width()
    assert box.bottom() <= shown.area.viewport().height() - painter.bottom + 1


def test_screen_readers_are_told_of_the_bar(shown: Shown) -> None:
    QAccessible.setActive(True)
    try:
        shown.tell(finished(TurnStatus.FAILED).events, 60)
        shown.area.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(shown.area, Qt.Key.Key_Home)
        interface = QAccessible.queryAccessibleInterface(shown.area)
        assert interface.role() is QAccessible.Role.Chart
        assert interface.text(QAccessible.Text.Name) == "Timeline"
        assert interface.text(QAccessible.Text.Description).startswith(
            "amala 1 · succeeded, Loop, iteration 1"
        )
        for _ in range(3):
            QTest.keyClick(shown.area, Qt.Key.Key_Down)
        assert interface.text(QAccessible.Text.Description).startswith("security 1 · failed")
    finally:
        QAccessible.setActive(False)


# --- live ---------------------------------------------------------------------------------------------


def test_a_running_bar_grows_and_what_is_over_stands_still(shown: Shown) -> None:
    story = running()
    story.end(LINTER, 20)
    shown.tell(story.events, 40)
    linter = shown.area.rect_of(shown.spot(LINTER))
    vera = shown.area.rect_of(shown.spot(VERA))
    shown.tell((), 42)
    assert shown.area.rect_of(shown.spot(LINTER)) == linter
    assert shown.area.rect_of(shown.spot(VERA)).width() > vera.width()


def test_it_follows_the_end_until_the_user_pans_and_again_when_all_is_shown(shown: Shown) -> None:
    shown.tell(running().events, 60)
    scale, now = shown.area.plot.scale, 60.0
    shown.area.zoom(4, 100)
    shown.area.plot.scale.go(scale.span)
    assert scale.follows
    for now in (90.0, 200.0, 400.0):
        shown.tell((), now)
        assert 0 <= scale.x_of(now) <= scale.width, "the end is in view"
    shown.drag(QPoint(300, 60), QPoint(560, 60))
    began = scale.left
    shown.tell((), 900)
    assert scale.left == began, "who looks at something is not taken away from it"
    assert scale.x_of(900) > scale.width
    QTest.mouseClick(shown.timeline.fit_button, Qt.MouseButton.LeftButton)
    assert 0 <= scale.x_of(900) <= scale.width


def test_events_that_come_in_a_flood_are_shown_at_most_four_times_a_second(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    refreshed: list[float] = []
    refresh = TimelineArea.refresh

    def counted(area: TimelineArea, turns: Sequence[str] | None, now: float) -> None:
        refreshed.append(now)
        refresh(area, turns, now)

    monkeypatch.setattr(TimelineArea, "refresh", counted)
    story = running()
    shown.progress.apply_all(story.events)
    for number in range(500):
        shown.timeline.take(story.events if number == 0 else (), START + number / 100)
    assert len(refreshed) <= 2
    qtbot.waitUntil(lambda: refreshed[-1] == START + 4.99)
    assert [row.label for row in shown.area.plot.rows] == ["vera", "linter"]


def test_what_happened_while_it_was_hidden_is_there_when_it_is_shown(shown: Shown) -> None:
    shown.timeline.hide()
    events = finished().events
    shown.progress.apply_all(events)
    shown.timeline.take(events, START + 60)
    assert shown.area.plot.rows == []
    shown.timeline.show()
    assert len(shown.area.plot.rows) == 4
    assert shown.timeline.savings.text.startswith("1:50 of work")


def test_while_all_wait_for_the_user_the_time_of_the_run_stands_still(shown: Shown) -> None:
    story = Story()
    story.group(0, "vera", index=1)
    story.begin(VERA, 0)
    story.attempt_ends(VERA, 20, "The quota is used up.")
    story.add(RunPaused(time=START + 20, message="The quota is used up."))
    shown.tell(story.events, 30)
    length = shown.area.plot.scale.length
    shown.tell((), 3000)
    assert shown.area.plot.scale.length == length == pytest.approx(20)


def test_a_turn_that_waits_for_a_slot_shows_since_when(shown: Shown) -> None:
    story = Story()
    story.group(0, "vera", "linter", index=1)
    story.begin(VERA, 0)
    shown.tell(story.events, 40)
    tip = shown.tip(shown.middle(LINTER))
    assert "linter 1 · waiting for a slot" in tip
    assert "Waited 0:40 for a slot" in tip


def test_who_was_stopped_and_waits_again_in_a_resumed_run_shows_both(shown: Shown) -> None:
    story = running()
    story.end(LINTER, 20, TurnStatus.STOPPED)
    story.end(VERA, 20)
    story.finish(20)
    shown.progress.apply_all(story.events)
    shown.timeline.begin(shown.progress)
    again = Story([RunStarted(time=START + 500, run_id="r", resumed=True)])
    again.group(500, "vera", "linter", index=1)
    for event in again.events:
        shown.progress.apply(event)
        shown.timeline.take([event], START + 500)
        shown.timeline._refresh()
    bars = shown.area.plot.chart.bars_of(LINTER)
    assert [bar.status for bar in bars] == [TurnStatus.STOPPED, TurnStatus.WAITING]


def test_a_new_run_replaces_the_old_one(shown: Shown) -> None:
    shown.tell(finished().events, 60)
    shown.area.zoom(8, 300)
    shown.area.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(shown.area, Qt.Key.Key_Home)
    shown.progress = RunProgress()
    shown.timeline.begin(shown.progress)
    assert shown.area.plot.rows == []
    assert shown.area.current is None
    assert shown.area.plot.scale.fits
    assert shown.timeline.savings.text == "No agent has worked yet"


# --- many bars ----------------------------------------------------------------------------------------


def test_of_thousands_of_bars_few_are_painted_one_by_one(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story()
    agents = [f"agent {number}" for number in range(40)]
    for iteration in range(1, 101):
        at = 60.0 * iteration
        turns = story.group(at, *agents, iteration=iteration)
        for number, turn in enumerate(turns):
            story.begin(turn, at)
            failed = iteration == 50 and number == 0
            story.end(turn, at + 30 + number % 7, TurnStatus.FAILED if failed else TurnStatus.SUCCEEDED)
    story.finish(60 * 101)
    shown.tell(story.events, 60 * 101)
    painted = 0
    paint_bar = BarPainter.paint

    def counted(painter: BarPainter, *arguments: object) -> None:
        nonlocal painted
        painted += 1
        paint_bar(painter, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(BarPainter, "paint", counted)
    picture = shown.picture()
    assert painted < 300
    row = shown.area.rect_of(shown.spot("loop/50/0/0"))
    x = row.center().x()
    colors = [picture.pixelColor(x + by, row.center().y() + 7) for by in (-1, 0, 1)]
    assert any(each.red() > each.green() for each in colors), "what failed is seen among all that did not"
    shown.timeline.resize(684, 900)
    shown.area.zoom(64, 300)
    painted = 0
    shown.picture()
    assert 0 < painted < 300, "only what is in view"


# --- folding ------------------------------------------------------------------------------------------


def test_its_body_can_be_hidden_and_the_tabs_get_the_room(qtbot: QtBot) -> None:
    view = RunView()
    qtbot.addWidget(view)
    view.resize(684, 600)
    view.show()
    timeline = view.timeline
    told: list[bool] = []
    timeline.collapsed_changed.connect(told.append)
    height, tabs = timeline.height(), view.tabs.height()
    QTest.mouseClick(timeline.fold_button, Qt.MouseButton.LeftButton)
    assert timeline.height() < 40
    assert view.tabs.height() > tabs
    QTest.keyClick(timeline.fold_button, Qt.Key.Key_Space)
    assert timeline.height() == height
    assert told == [True, False]
    assert not timeline.collapsed
    assert timeline.fold_button.accessibleDescription() == "Hide the timeline"


# --- in the run view ----------------------------------------------------------------------------------


def test_the_turn_of_the_tab_is_marked_and_a_click_on_another_opens_its_tab(
    qtbot: QtBot, tmp_path: Path
) -> None:
    view = RunView()
    qtbot.addWidget(view)
    view.resize(684, 600)
    view.show()
    progress = RunProgress()
    events = finished().events
    view.begin(progress)
    progress.apply_all(events)
    view.take(events, START + 60)
    area = view.timeline.area

    def edge(turn: str) -> QColor:
        spot = area.plot.spot_of(turn)
        assert spot is not None
        box = area.rect_of(spot)
        return area.viewport().grab().toImage().pixelColor(box.center().x(), box.top() + 1)

    view.tabs.show_turn(VERA)
    text = QColor(theme().text)
    assert _near(edge(VERA), text)
    assert not _near(edge(LINTER), text)
    spot = area.plot.spot_of(LINTER)
    assert spot is not None
    QTest.mouseClick(area.viewport(), Qt.MouseButton.LeftButton, pos=area.rect_of(spot).center())
    assert view.tabs.current_turn == LINTER
    assert _near(edge(LINTER), text)
    assert not _near(edge(VERA), text)
    view.tabs.show_overview()
    assert not _near(edge(LINTER), text)


def test_a_real_run_is_shown_as_it_was(qtbot: QtBot, tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    workshop.agent("first", seconds=0.05, writes={"a": 1})
    for name in ("left", "right"):
        workshop.agent(name, seconds=0.2, writes={name: 1})
    together: JsonObject = {"agents": ["left", "right"], "mode": "parallel"}
    run = workshop.run({"loop_agents": ["first", together], "max_loops": 2, "max_parallel_agents": 2})
    view = RunView()
    qtbot.addWidget(view)
    view.resize(684, 600)
    view.show()
    progress = RunProgress()
    progress.apply(run.events[0])
    view.begin(progress)
    for begin in range(1, len(run.events), 5):
        batch = run.events[begin : begin + 5]
        progress.apply_all(batch)
        view.take(batch, batch[-1].time)
    plot = view.timeline.area.plot
    assert [row.label for row in plot.rows] == ["first", "left", "right"]
    assert [[bar.iteration for bar in row.bars] for row in plot.rows] == [[1, 2]] * 3
    assert {bar.status for row in plot.rows for bar in row.bars} == {TurnStatus.SUCCEEDED}
    assert " of work in " in view.timeline.savings.text
    assert isinstance(run.events[-1], RunFinished)
    assert run.finished.status is RunStatus.ENDED


# --- the scale ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0.0, 0.003, 0.4, 7.0, 61.0, 3_700.0, 90_000.0, 4e6])
@pytest.mark.parametrize("width", [60.0, 550.0, 3_000.0])
@pytest.mark.parametrize("zoom", [1.0, 13.0, 1e6])
def test_marks_of_the_axis_have_room_and_tell_different_times(
    length: float, width: float, zoom: float
) -> None:
    scale = TimelineScale()
    scale.resize(width)
    scale.grow(length, live=False)
    scale.zoom(zoom, width / 2)
    ticks = scale.ticks(60)
    assert len(ticks) <= width / 60 + 3
    assert all(after.x - before.x >= 59.9 for before, after in itertools.pairwise(ticks))
    words = [tick.words for tick in ticks]
    assert len(set(words)) == len(words)


def test_a_run_that_goes_on_has_room_to_grow_that_stays_the_same_for_a_while() -> None:
    lengths = [step / 10 for step in range(0, 30_000)]
    rooms = [roomy(length) for length in lengths]
    assert all(length < room for length, room in zip(lengths, rooms, strict=True))
    assert rooms == sorted(rooms)
    assert len(set(rooms)) < 30
