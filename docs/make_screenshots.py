"""Make the pictures of the README and the guide from the real application: `python docs/make_screenshots.py`.

It needs no display, account or network, only what the application itself needs. The views are the scenes of
`tests/scenes`, which the tests go through as well; runs in them have times of their own, so that a second
call makes nearly the same pictures. `--only NAME` makes one; `--out FOLDER` puts them elsewhere.

What each picture says is written beside them, to `words.json`: a test compares it with what the application
says now, and fails when pictures have to be made anew.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))
IMAGES = PROJECT / "docs" / "images"
WORDS = "words.json"
PROGRAMS = ("opencode", "claude", "codex", "gemini")
SMALLEST = 0
"""Quality of a PNG: it costs time, not looks."""
WHOLE = (1280, 800)
SCREEN = {"x": 0, "y": 0, "width": 1920, "height": 1200, "logicalDpi": 96, "dpr": 1}


@dataclass(frozen=True)
class Picture:
    """One picture: which scene, in which look, in which size in pixels."""

    name: str
    scene: str
    dark: bool = False
    size: tuple[int, int] = WHOLE


PICTURES = (
    # The README.
    Picture("builder-light", "workflow"),
    Picture("running-dark", "running", dark=True),
    # The guide.
    Picture("start-page", "start_page_with_recent"),
    Picture("dragging", "dragging", size=(1024, 640)),
    Picture("several-agents", "several_agents", size=(1024, 640)),
    Picture("completion", "completion", size=(1024, 640)),
    Picture("problems", "problems", size=(1024, 640)),
    Picture("agent-editor", "agent_editor"),
    Picture("log-filter", "filtered_log"),
    Picture("state", "earlier_state"),
    Picture("cost", "cost"),
    Picture("prompt", "prompt"),
    Picture("question", "question", size=(1024, 640)),
    Picture("failed", "failed", size=(1024, 640)),
    Picture("trust", "trust_question", size=(1024, 640)),
    Picture("history", "history_of_a_run_that_goes_on"),
    Picture("comparison", "comparison"),
    Picture("palette", "command_palette", size=(1024, 640)),
    Picture("doctor", "doctor"),
)


def make(pictures: list[Picture], out: Path) -> None:
    """Make these pictures in a folder."""
    with _folder() as root:
        _without_display(root)
        # Only now: what is imported with Qt takes the platform as it is then.
        from PySide6.QtWidgets import QApplication

        from app.theme import Scheme
        from tests.scenes.every import SCENES
        from tests.scenes.recording import record_examples
        from tests.scenes.said import said_in
        from tests.scenes.stage import stage

        application = QApplication.instance() or QApplication(sys.argv[:1])
        needed = any(SCENES[picture.scene].needs_runs for picture in pictures)
        runs = record_examples(root / "orders") if needed else {}
        out.mkdir(parents=True, exist_ok=True)
        said = read_words(out)
        for picture in pictures:
            # One folder after another of the same name, which some pictures show.
            shutil.rmtree(root / "home", ignore_errors=True)
            shutil.rmtree(root / "shop", ignore_errors=True)
            with stage(root, runs, project="shop") as open_stage:
                scheme = Scheme.DARK if picture.dark else Scheme.LIGHT
                open_stage.show(scheme, picture.size)
                SCENES[picture.scene].play(open_stage)
                open_stage.show(scheme, picture.size)
                path = out / f"{picture.name}.png"
                if not with_few_colours(open_stage.picture()).save(str(path), "PNG", SMALLEST):
                    raise OSError(f"{path} cannot be written.")
                said[picture.name] = lasting_words((one.text for one in said_in(open_stage.tops())), root)
            sys.stdout.write(f"{path}\n")
        known = {each.name for each in PICTURES}
        kept = {name: said[name] for name in sorted(said) if name in known}
        (out / WORDS).write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        application.processEvents()


def read_words(folder: Path) -> dict[str, list[str]]:
    """What the pictures in a folder say, by their names; nothing where none were made."""
    try:
        return dict(json.loads((folder / WORDS).read_text("utf-8")))
    except FileNotFoundError:
        return {}


def lasting_words(texts: Iterable[str], root: Path) -> list[str]:
    """The texts that are the same whenever and wherever the picture is made.

    Those without a number, and without what is known of an installed program, which may be known later.
    """
    where = str(root)
    return sorted(
        {
            text
            for text in texts
            if where not in text and not re.search(r"\d", text) and not text.startswith(PROGRAMS)
        }
    )


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder with a name that a reader may see; another one where that is taken."""
    folder = Path(tempfile.gettempdir()) / "projects"
    try:
        folder.mkdir()
    except FileExistsError:
        folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_COMMON, _NEAR = 160, 16
"""So many colours are kept for being common; the rest of the 256 are this far apart from all others."""


def with_few_colours(image: QImage) -> QImage:
    """The picture with 256 colours, the commonest and those that stand apart: nobody sees it, and the file
    is a quarter of the size."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage

    pixels = Counter(memoryview(image.constBits()).cast("B").cast("I").tolist())
    colours = sorted(pixels, key=lambda colour: (-pixels[colour], colour))
    table = colours[:_COMMON]
    for colour in colours[_COMMON:]:
        # A small icon has few pixels, and a colour that nothing else comes near to.
        if len(table) < 256 and all(_distance(colour, known) > _NEAR for known in table):
            table.append(colour)
    return image.convertToFormat(QImage.Format.Format_Indexed8, table, Qt.ImageConversionFlag.ThresholdDither)


def _distance(one: int, other: int) -> int:
    """How far apart two colours are: in the channel in which they differ most."""
    return max(abs((one >> shift & 0xFF) - (other >> shift & 0xFF)) for shift in (0, 8, 16))


def _without_display(root: Path) -> None:
    """A screen in memory, of the size of a usual one, and a home of its own."""
    screens = root / "screens.json"
    screens.write_text(json.dumps({"screens": [{"name": "memory", **SCREEN}]}), encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("OPENLOOP_")]:
        del os.environ[name]
    # Whether an agent's program is installed must not be seen.
    folders = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(
        folder for folder in folders if not any(shutil.which(program, path=folder) for program in PROGRAMS)
    )
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={screens}"
    os.environ["OPENLOOP_HOME"] = str(root / "home")
    os.environ["OPENLOOP_DEMO_SPEED"] = "0"


def main(arguments: list[str] | None = None) -> int:
    """Make all pictures, or some; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", metavar="NAME", action="append", help="make this one; may be repeated")
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=IMAGES, help="default: docs/images")
    options = parser.parse_args(arguments)
    wanted = [each for each in PICTURES if options.only is None or each.name in options.only]
    unknown = set(options.only or ()) - {each.name for each in PICTURES}
    if unknown:
        parser.error(f"There is no picture called {', '.join(sorted(unknown))}.")
    make(wanted, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
