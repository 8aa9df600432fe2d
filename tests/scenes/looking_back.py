"""Scenes of what was: history, an opened run, a comparison, reports; and of what can be called anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

import resources
from app.command_palette import CommandPalette
from app.file_actions import DISK
from app.runs.runs_page import RunsPage
from core.events import QuestionAsked, TurnStatus
from core.example_agents import bring_agents
from core.journal import JOURNAL_NAME, Journal
from core.open_runs import RunLock
from core.recorded_run import read_run
from core.words import say
from core.workflow_file import load_workflow
from tests.core.fake_clis import CLAUDE_OUT, OF_THE_USER, OPENCODE, write_cli
from tests.scenes.building import open_audit
from tests.scenes.catalogue import scene
from tests.scenes.stage import Stage


def open_own_audit(stage: Stage) -> None:
    """Open the audit example as somebody saved it into the project, whose runs the history shows."""
    path = stage.folder / "audit.json"
    path.write_bytes(resources.example_workflow("audit").read_bytes())
    bring_agents(load_workflow(path))
    stage.open(path)


def history_of(stage: Stage) -> RunsPage:
    """The history of a project with runs of today, yesterday and last week."""
    stage.past_run("short_audit", 170.5)
    stage.past_run("pipeline", 27.2)
    stage.past_run("audit", 26.4)
    stage.past_run("pipeline", 4.1)
    # What was cut off: its journal ends in the middle.
    stage.past_run("audit", 2.3, until=170.0)
    stage.past_run("audit", 0.4)
    open_own_audit(stage)
    stage.window.right.show_runs()
    page = stage.window.history.page
    stage.until(lambda: len(page.runs.known) == 6, "the runs were never read")
    stage.until(lambda: "reading" not in page.count.text(), "the runs were never read")
    stage.settle()
    return page


@scene(needs_runs=True)
def history(stage: Stage) -> None:
    """All runs of the project, the newest first, with one looked at."""
    history_of(stage)


@scene(needs_runs=True)
def history_of_a_run_that_goes_on(stage: Stage) -> None:
    """A run that was cut off, and what may be changed before it goes on."""
    page = history_of(stage)
    row = next(at for at, entry in enumerate(page.runs.entries) if entry.resumable)
    page.list.choose(page.runs.index(row, 0))
    stage.settle()


@scene()
def empty_history(stage: Stage) -> None:
    """The history before the first run."""
    open_audit(stage)
    stage.window.right.show_runs()
    page = stage.window.history.page
    stage.until(lambda: "no runs here" in page.empty.text() or not page.runs.known, "it was never read")
    QTest.qWait(100)
    stage.settle()


@scene(needs_runs=True)
def many_runs(stage: Stage) -> None:
    """Many runs, searched."""
    for number in range(24):
        stage.past_run("pipeline" if number % 3 else "audit", 3.1 + number * 5.3)
    open_own_audit(stage)
    stage.window.right.show_runs()
    page = stage.window.history.page
    stage.until(lambda: len(page.runs.known) == 24, "the runs were never read")
    page.field.setFocus()
    QTest.keyClicks(page.field, "audit")
    stage.settle()


@scene(needs_runs=True)
def opened_run(stage: Stage) -> None:
    """A run of the past in the live view."""
    page = history_of(stage)
    page.actions_of_runs.open.trigger()
    stage.until(lambda: stage.window.history.side.shown_run_view is not None, "the run was never opened")
    view = stage.window.history.side.shown_run_view
    assert view is not None
    stage.until(view.tabs.overview.visible_text, "its log stayed empty")
    stage.settle()


@scene(needs_runs=True)
def several_runs(stage: Stage) -> None:
    """All runs of the project selected, and what can be done with them."""
    page = history_of(stage)
    page.list.setFocus()
    page.list.selectAll()
    stage.settle()


@scene(needs_runs=True)
def followed_run(stage: Stage) -> None:
    """A run that goes on in another process and waits for an answer there, in the live view."""
    page = history_of(stage)
    entry = next(each for each in page.runs.entries if each.was_cut_off)
    run = read_run(entry.folder)
    asks = next(turn for turn in run.progress.turns.values() if turn.status is TurnStatus.STOPPED)
    words = say("{agent} did not answer with a state update.", agent=asks.label)
    journal = Journal(entry.folder / JOURNAL_NAME)
    journal.append(QuestionAsked(time=run.events[-1].time, turn=asks.id, message=words))
    journal.close()
    lock = RunLock(entry.folder)
    lock.acquire()
    # Not the method itself: Qt would not keep the lock for its sake, and it is let go when it is forgotten.
    stage.window.closed.connect(lambda: lock.release())
    page.list.choose(page.runs.index_of(entry.folder))
    page.actions_of_runs.open.trigger()
    side = stage.window.history.side
    stage.until(lambda: side.shown_run_view is not None, "the run was never opened")
    view = side.shown_run_view
    assert view is not None
    stage.until(lambda: view.origin.isVisible() and view.strip.pills, "nobody is at work in it")
    stage.until(view.questions.isVisible, "its question is not seen")
    stage.until(view.tabs.overview.visible_text, "its log stayed empty")
    stage.settle()


@scene(needs_runs=True)
def comparison(stage: Stage) -> None:
    """Two runs beside each other."""
    page = history_of(stage)
    page.list.setFocus()
    names = [entry.workflow for entry in page.runs.entries]
    last = len(names) - 1 - names[::-1].index(names[0])
    page.list.choose(page.runs.index(0, 0))
    selection = page.list.selectionModel()
    flag = selection.SelectionFlag
    selection.select(page.runs.index(last, 0), flag.Select | flag.Rows)
    page.actions_of_runs.compare.trigger()
    side = stage.window.history.side
    stage.until(
        lambda: side.compared is not None and side.currentWidget() is side.compared, "nothing was compared"
    )
    stage.settle()


@scene(needs_runs=True)
def delete_runs(stage: Stage) -> None:
    """The question whether runs go to the trash, with their sizes."""
    page = history_of(stage)
    page.list.selectAll()
    page.list.setFocus()
    page.actions_of_runs.delete.trigger()
    QTest.qWait(150)
    stage.settle()


@scene(needs_runs=True)
def exported(stage: Stage) -> None:
    """A run was exported; the notice opens it."""
    page = history_of(stage)
    page.actions_of_runs.export_html.trigger()
    stage.settle()
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(stage.folder / "audit.html"))
    dialog.reject()
    stage.until(lambda: stage.window.notices.names, "nothing was written")
    stage.settle()


# --- everywhere ---------------------------------------------------------------------------------------


@scene()
def command_palette(stage: Stage) -> None:
    """All actions, searched."""
    open_audit(stage)
    stage.window.actions_of_window.palette.trigger()
    (palette,) = stage.window.findChildren(CommandPalette)
    QTest.keyClicks(palette.field, "run")
    stage.settle()


def clis_are(stage: Stage, **clis: Mapping[str, str]) -> None:
    """Only these CLIs are installed; they give these answers at once. Nothing of the user's is asked."""
    root = stage.folder.parent
    home, programs = root / "user", root / "bin"
    for folder in (home, programs):
        folder.mkdir()
    for name, answers in clis.items():
        write_cli(programs, name, answers)
    for name in OF_THE_USER:
        os.environ.pop(name, None)
    os.environ.update(PATH=str(programs), HOME=str(home), USERPROFILE=str(home))


@scene()
def doctor(stage: Stage) -> None:
    """Whether this computer has what runs need: one of the CLIs is logged in, one is not, two are missing."""
    clis_are(
        stage,
        opencode=OPENCODE,
        claude={"--version": "2.1.197 (Claude Code)\n", "auth status": CLAUDE_OUT},
    )
    open_audit(stage)
    stage.window.doctor.open()
    dialog = stage.window.doctor.dialog
    assert dialog is not None
    stage.until(dialog.again_button.isEnabled, "it looked for ever")
    stage.settle()


@scene()
def unsaved_question(stage: Stage) -> None:
    """The question when a workflow with unsaved changes is closed."""
    stage.agent("author")
    stage.open_new("nightly", loop_agents=["author"])
    stage.select("author")
    stage.window.workflow_view.setFocus()
    stage.press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    stage.window.close()
    stage.settle()
    assert QApplication.activeModalWidget() is not None


@scene()
def about(stage: Stage) -> None:
    """What this is."""
    open_audit(stage)
    stage.window.actions_of_window.about.trigger()
    stage.settle()


@scene()
def changed_on_disk(stage: Stage) -> None:
    """Notices above everything: the file was changed by another program, and more."""
    stage.agent("author")
    path = stage.workflow("nightly", loop_agents=["author"])
    stage.open(path)
    stage.window.workflow_view.add_agents(["author"])
    path.write_text(path.read_text("utf-8").replace("nightly", "daily"), "utf-8")
    stage.until(lambda: DISK in stage.window.notices.names, "the change was never noticed")
    stage.settle()
