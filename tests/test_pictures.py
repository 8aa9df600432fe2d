"""The pictures of README and guide: each is made by the script, and the script makes no other."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtGui import QImage

from app.theme import DARK, LIGHT
from tests.scenes.every import SCENES
from tests.scenes.stage import commonest_colour, is_plain

PROJECT = Path(__file__).resolve().parents[1]
SCRIPT = PROJECT / "docs" / "make_screenshots.py"
PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")])


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_screenshots", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shown_pictures() -> set[str]:
    """Every PNG that a page shows."""
    found = set()
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]+\]\(([^)\s]+\.png)\)", page.read_text("utf-8")):
            path = (page.parent / target).resolve()
            assert path.parent == PROJECT / "docs" / "images", target
            found.add(path.stem)
    return found


def test_the_pages_show_exactly_what_the_script_makes(script: ModuleType) -> None:
    made = [picture.name for picture in script.PICTURES]
    assert len(set(made)) == len(made)
    assert shown_pictures() == set(made)
    assert {path.stem for path in (PROJECT / "docs" / "images").glob("*.png")} == set(made)


def test_every_picture_is_of_a_scene_that_is_tested(script: ModuleType) -> None:
    assert {picture.scene for picture in script.PICTURES} <= set(SCENES)


def test_the_pictures_in_the_repository_have_the_size_and_the_look_that_the_script_says(
    script: ModuleType,
) -> None:
    for picture in script.PICTURES:
        image = QImage(str(PROJECT / "docs" / "images" / f"{picture.name}.png"))
        assert (image.width(), image.height()) == picture.size, picture.name
        rgb = image.convertToFormat(QImage.Format.Format_RGB32)
        assert not is_plain(rgb), picture.name
        theme = DARK if picture.dark else LIGHT
        assert commonest_colour(rgb).name() in (theme.ground, theme.surface), picture.name


def make(words: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Call the script as one calls it, without what the tests set up."""
    environment = {key: value for key, value in os.environ.items() if key != "QT_QPA_PLATFORM"}
    environment |= {"TMPDIR": str(cwd)}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pictures, as they are made now."""
    folder = tmp_path_factory.mktemp("pictures")
    done = make(["--out", str(folder / "all")], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "all"


def test_the_script_makes_the_same_picture_twice_and_leaves_nothing_else(
    script: ModuleType, made: Path, tmp_path: Path
) -> None:
    names = [f"{picture.name}.png" for picture in script.PICTURES]
    assert sorted(path.name for path in made.iterdir()) == sorted([*names, script.WORDS])
    assert list(made.parent.iterdir()) == [made]
    done = make(["--only", "running-dark", "--out", str(tmp_path / "again")], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = (QImage(str(folder / "running-dark.png")) for folder in (made, tmp_path / "again"))
    assert first.size() == second.size()
    assert first == second, "what is seen of the run depends on when it was recorded"


@pytest.mark.skipif(sys.platform != "linux", reason="keys and menus have other names on other systems")
def test_the_pictures_in_the_repository_say_what_the_application_says_now(
    script: ModuleType, made: Path
) -> None:
    kept, now = (script.read_words(folder) for folder in (PROJECT / "docs" / "images", made))
    assert set(kept) == set(now) == {picture.name for picture in script.PICTURES}
    # What is installed differs from computer to computer.
    outdated = {
        name: sorted(set(kept[name]) ^ set(now[name]))
        for name in now
        if name != "doctor" and kept[name] != now[name]
    }
    assert outdated == {}, "call docs/make_screenshots.py"


def test_an_unknown_picture_is_refused(tmp_path: Path) -> None:
    done = make(["--only", "nothing", "--out", str(tmp_path / "out")], tmp_path)
    assert done.returncode == 2
    assert "no picture called nothing" in done.stderr
    assert not (tmp_path / "out").exists()
