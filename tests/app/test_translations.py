"""Languages: texts are collected, translated, released and loaded with the tools that a translator has."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication, QWidget

from app.translations import CONTEXT, install_translations
from core.progress_words import agent_words
from core.words import language, say, translate_with

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """docs/update_translation.py."""
    path = PROJECT / "docs" / "update_translation.py"
    spec = importlib.util.spec_from_file_location("update_translation", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def installed(qapp: QApplication) -> Iterator[list[QTranslator]]:
    translators: list[QTranslator] = []
    yield translators
    translate_with(None)
    for translator in translators:
        qapp.removeTranslator(translator)


def test_the_texts_of_every_panel_are_collected(script: ModuleType) -> None:
    texts = script.texts()
    assert len(texts) > 1000
    assert len(set(texts)) == len(texts)
    # By self.tr, by a panel's own tr, by a private _tr, by QCoreApplication.translate, and by the core.
    for text in (
        "There is one more problem.",
        "There are {count:,} more problems like these.",
        "Search &actions…",
        "Drop an agent here for a new step",
        "OpenLoop {0}",
        "changed {0}",
    ):
        assert text in texts, text


def test_a_new_language_is_collected_translated_and_loaded(
    script: ModuleType, tmp_path: Path, qapp: QApplication, installed: list[QTranslator]
) -> None:
    assert script.main(["de", "--folder", str(tmp_path)]) == 0
    path = tmp_path / "openloop_de.ts"
    tree = ElementTree.parse(path)
    assert [name.text for name in tree.getroot().iter("name")] == [CONTEXT]
    german_words = {
        "Run again": "Noch einmal",
        "There is no agent called {name}.": "Einen Agenten {name} gibt es nicht.",
        "{count:,} agents": "{count:,} Agenten",
    }
    for message in tree.getroot().iter("message"):
        text = message.findtext("source", "")
        if text in german_words:
            translation = message.find("translation")
            assert translation is not None
            translation.text = german_words.pop(text)
            del translation.attrib["type"]
    assert german_words == {}
    tree.write(path, encoding="utf-8")
    # Another look keeps what is translated.
    script.main(["de", "--folder", str(tmp_path)])
    assert script.main(["de", "--release", "--folder", str(tmp_path)]) == 0

    german = QLocale(QLocale.Language.German)
    installed += install_translations(qapp, german, tmp_path)
    assert installed
    widget = QWidget()
    assert widget.tr("Run again") == "Noch einmal"
    assert QCoreApplication.translate("runs", "Run again") == "Noch einmal"
    assert widget.tr("What has no translation") == "What has no translation"
    # The core asks from any thread.
    with ThreadPoolExecutor(1) as pool:
        words = pool.submit(say, "There is no agent called {name}.", name="vera").result()
    assert words == "Einen Agenten vera gibt es nicht."
    assert agent_words(3) == "3 Agenten"
    assert agent_words(1) == "1 agent"
    assert language() == "de"
    widget.deleteLater()


def test_without_a_translation_nothing_is_installed(tmp_path: Path, qapp: QApplication) -> None:
    assert install_translations(qapp, QLocale(QLocale.Language.Icelandic), tmp_path) == []
    assert install_translations(qapp, QLocale(QLocale.Language.German), tmp_path / "nowhere") == []
