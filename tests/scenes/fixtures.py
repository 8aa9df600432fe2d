"""Fixtures of the tests that go through all scenes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from app.theme import Appearance, Scheme
from tests.scenes.recording import RecordedEvents, record_examples


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, RecordedEvents]]:
    """The runs of the examples that scenes look back at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENLOOP_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("OPENLOOP_DEMO_SPEED", "0")
        yield record_examples(tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def application(qapp: QApplication) -> Iterator[QApplication]:
    """The application, which is as it was afterwards."""
    style, palette = qapp.style().objectName(), qapp.palette()
    quits = qapp.quitOnLastWindowClosed()
    yield qapp
    Appearance(qapp, Scheme.LIGHT).deleteLater()
    qapp.setStyle(style)
    qapp.setPalette(palette)
    qapp.setQuitOnLastWindowClosed(quits)


@pytest.fixture
def listening() -> Iterator[None]:
    """A screen reader is there."""
    before = QAccessible.isActive()
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(before)
