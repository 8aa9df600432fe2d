"""Every view in a language with words 40 % longer: nothing is cut off or overlaps, and all is translated.

Words of agents and files, numbers and keys stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

import app
from app.theme import Scheme
from core.words import translate_with
from tests.scenes import audit
from tests.scenes.every import SCENES, Scene
from tests.scenes.fixtures import application, recorded  # noqa: F401  they are used by name
from tests.scenes.pseudo import PseudoTranslator, pseudo
from tests.scenes.recording import RecordedEvents
from tests.scenes.said import said_in, untranslated
from tests.scenes.stage import SMALL, USUAL, stage


@pytest.fixture(scope="module", autouse=True)
def longer_words_of_the_core() -> Iterator[None]:
    """Also while the runs are recorded that scenes look back at."""
    translate_with(pseudo)
    yield
    translate_with(None)


@pytest.fixture
def longer_words(application: QApplication) -> Iterator[PseudoTranslator]:  # noqa: F811
    translator = PseudoTranslator()
    application.installTranslator(translator)
    yield translator
    application.removeTranslator(translator)


@pytest.mark.usefixtures("longer_words")
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_view_has_room_for_longer_words_and_says_nothing_untranslated(
    scene: Scene,
    tmp_path: Path,
    recorded: Mapping[str, RecordedEvents],  # noqa: F811
) -> None:
    with stage(tmp_path, recorded) as open_stage:
        open_stage.show(Scheme.LIGHT, SMALL)
        scene.play(open_stage)
        assert audit.too_large(open_stage.tops()) == []
        assert audit.findings(open_stage.tops()) == []
        open_stage.show(Scheme.LIGHT, USUAL)
        assert audit.findings(open_stage.tops()) == []
        said = set(said_in(open_stage.tops()))
        assert len(said) > 5
        assert {words: each for each in said if (words := untranslated(each.text))} == {}


# --- the language -------------------------------------------------------------------------------------


def test_it_is_longer_and_keeps_what_no_translator_may_change() -> None:
    text = "Stop &after {0} of {count:,} agents (Ctrl+Shift+F5)…\n“max_loops” is `10`"
    made = pseudo(text)
    for part in ("&", "{0}", "{count:,}", "(Ctrl+Shift+F5)…\n", "“max_loops”", "`10`"):
        assert part in made, part
    for word in ("Stop", "after", "agents", "is"):
        assert word not in made, word
    for words in ("Properties", "Stop now", "Choose an agent to see what it is told."):
        assert len(pseudo(words)) >= 1.35 * len(words), words


@pytest.mark.usefixtures("longer_words")
def test_a_text_that_did_not_come_through_tr_is_found(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    # A sentence of the application's sources, once as it should be and once as it should not.
    sentence = "Show what the agents share after the last merge"
    known = "Go on with a run that is paused, or ended before it was complete"
    right, wrong = QLabel(window.tr(known), window), QLabel(known, window)
    right.resize(400, 20)
    wrong.setGeometry(0, 30, 400, 20)
    window.show()
    assert [untranslated(said.text) for said in said_in([window])] == ["", known]
    assert untranslated("score 94 · review 0 items") == ""
    assert untranslated(sentence) == ""


# --- texts that no translator can reach ---------------------------------------------------------------

SOURCES = sorted(Path(app.__path__[0]).rglob("*.py"))


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def calls_of_tr(source: str) -> Iterator[tuple[ast.Call, bool]]:
    """Every call of `tr` or `_tr`, and whether it happens inside of a function."""
    if "tr(" not in source:
        return
    inside_of = {ast.parse(source): False}
    while inside_of:
        node, inside = inside_of.popitem()
        inside = inside or isinstance(node, FUNCTIONS)
        for child in ast.iter_child_nodes(node):
            inside_of[child] = inside
            if isinstance(child, ast.Call):
                of = child.func
                name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
                if name in ("tr", "_tr"):
                    yield child, inside


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_texts_are_asked_for_when_they_are_shown_and_whole(path: Path) -> None:
    for call, inside in calls_of_tr(path.read_text("utf-8")):
        where = f"{path}:{call.lineno}"
        assert inside, f"{where}: at import there is no translation yet"
        for argument in call.args:
            assert not isinstance(argument, ast.JoinedStr), f"{where}: an f-string is another text each time"
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                assert argument.value == argument.value.strip(" "), f"{where}: a piece of a sentence"


def test_a_translation_is_found_whoever_asks(longer_words: PseudoTranslator, qtbot: QtBot) -> None:
    assert QObject().tr("Run again") == QCoreApplication.translate("runs", "Run again") == pseudo("Run again")
    assert ("runs", "Run again") in longer_words.asked
