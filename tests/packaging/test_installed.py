"""An installed copy, in another folder and with no clone in sight, works with all that it brings along."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 120
"""No step takes that long: a limit, so that a step that hangs is named."""

# The window opens as a user opens it, and is looked at from inside, because no other program can.
LOOK_AT_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
application = QApplication(sys.argv[:1])
from app.application import run_application
from app.main_window import MainWindow
from app.theme import icon

def look():
    for window in QApplication.topLevelWidgets():
        if isinstance(window, MainWindow) and window.isVisible() and window.document.library is not None:
            timer.stop()
            print("title:", window.windowTitle())
            print("agents:", len(window.document.library.agents))
            print("icon:", not icon("play").pixmap(16, 16).toImage().isNull())
            print("window icon:", not application.windowIcon().isNull())
            window.close()

timer = QTimer()
timer.timeout.connect(look)
timer.start(20)
import resources
print("code:", run_application(resources.example_workflow(), "light"))
"""


@dataclass(frozen=True)
class InstalledCopy:
    """OpenLoop in an environment of its own."""

    python: Path
    command: Path
    site_packages: Path

    def run(self, *words: str | Path, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in `cwd`, with the user's folders in `home`."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment |= {
            "OPENLOOP_HOME": str(home),
            "OPENLOOP_DEMO_SPEED": "0",
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONUTF8": "1",
        }
        return subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )

    def openloop(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the command `openloop` in `cwd`."""
        return self.run(self.command, *words, cwd=cwd, home=cwd / "home")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is built from this clone, without network."""
    folder = tmp_path_factory.mktemp("wheel")
    words = [
        "wheel",
        "-q",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(PROJECT),
    ]
    run_pip(words)
    [wheel] = folder.glob("openloop-*.whl")
    return wheel


@pytest.fixture(scope="module")
def copy(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> InstalledCopy:
    """An environment with the package in it; what it depends on comes from the environment of this test."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=SECONDS)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / ("python.exe" if sys.platform == "win32" else "python")
    run_pip(["--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)])
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = folder / (
        "Lib/site-packages" if sys.platform == "win32" else f"lib/{version}/site-packages"
    )
    # A plain path: the .pth files over there, and so a clone that is installed there, stay out.
    lenders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site_packages / "lent.pth").write_text("\n".join(sorted(lenders)), encoding="utf-8")
    command = scripts / ("openloop.exe" if sys.platform == "win32" else "openloop")
    return InstalledCopy(python, command, site_packages)


def run_pip(words: list[str]) -> None:
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_holds_the_code_and_the_resources_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name for name in names if ".dist-info/" not in name}

    # What a developer's tools leave behind does not ship, and nothing of the clone is missing.
    folders = (PROJECT / "app", PROJECT / "core", PROJECT / "resources")
    here = {
        path.relative_to(PROJECT).as_posix()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    # The guide, as it is beside the code, among the resources.
    guide = {name for name in inside if name.startswith(("resources/docs/", "resources/README.md"))}
    assert inside - guide == here
    assert {name.removeprefix("resources/") for name in guide} <= {
        path.relative_to(PROJECT).as_posix() for path in (*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*"))
    }
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_building_leaves_nothing_in_the_clone(wheel: Path) -> None:
    del wheel
    left = [*PROJECT.glob("*.egg-info"), PROJECT / "build", PROJECT / "dist"]
    assert [path.name for path in left if path.exists()] == []


def test_the_copy_is_not_the_clone(copy: InstalledCopy, tmp_path: Path) -> None:
    program = "import app.cli, core, resources; print(app.cli.__file__, resources.folder(), sep='\\n')"
    done = copy.run(copy.python, "-c", program, cwd=tmp_path, home=tmp_path)
    assert done.stdout.splitlines() == [
        str(copy.site_packages / "app" / "cli.py"),
        str(copy.site_packages / "resources"),
    ]


def test_the_command_validates_the_shipped_examples_from_another_folder(
    copy: InstalledCopy, tmp_path: Path
) -> None:
    examples = sorted((copy.site_packages / "resources" / "workflows").glob("*.json"))
    done = copy.openloop("validate", *examples, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{example}: no errors, no warnings" for example in examples]
    assert len(examples) >= 3


def test_the_command_finds_the_shipped_agents_and_the_schema(copy: InstalledCopy, tmp_path: Path) -> None:
    agents = copy.openloop("agents", cwd=tmp_path)
    assert agents.returncode == 0, agents.stderr
    assert any(line.startswith("vera ") for line in agents.stdout.splitlines())
    assert str(copy.site_packages / "resources" / "agents") in agents.stdout
    schema = copy.openloop("schema", cwd=tmp_path)
    shipped = copy.site_packages / "resources" / "workflow.schema.json"
    assert schema.stdout == shipped.read_text(encoding="utf-8")


def test_the_command_runs_a_shipped_example_to_its_end(copy: InstalledCopy, tmp_path: Path) -> None:
    example = copy.site_packages / "resources" / "workflows" / "audit.json"
    done = copy.openloop("run", example, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "consolidator: succeeded" in done.stdout
    assert done.stdout.rstrip().endswith("completed)")
    [run] = [path for path in (tmp_path / ".openloop").iterdir() if path.is_dir()]
    assert (run / "state.json").is_file()


def test_the_copy_brings_the_user_guide_with_its_pictures_and_the_pages_that_it_leads_to(
    copy: InstalledCopy, tmp_path: Path
) -> None:
    program = "from app.user_guide import user_guide; print(user_guide())"
    done = copy.run(copy.python, "-c", program, cwd=tmp_path, home=tmp_path)
    guide = Path(done.stdout.strip())
    assert guide == copy.site_packages / "resources" / "docs" / "user-guide.md", done.stderr
    text = guide.read_text(encoding="utf-8")
    links = {link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link}
    assert sum(link.endswith(".png") for link in links) > 10
    assert [link for link in sorted(links) if not (guide.parent / link).is_file()] == []


def test_the_version_is_the_packages(copy: InstalledCopy, wheel: Path, tmp_path: Path) -> None:
    done = copy.openloop("--version", cwd=tmp_path)
    assert done.stdout == f"openloop {wheel.name.split('-')[1]}\n"


def test_the_window_opens_with_the_example_its_agents_and_its_icons(
    copy: InstalledCopy, tmp_path: Path
) -> None:
    done = copy.run(copy.python, "-c", LOOK_AT_WINDOW, cwd=tmp_path, home=tmp_path / "home")
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said["title"].startswith("audit")
    assert int(said["agents"]) >= 13
    assert (said["icon"], said["window icon"], said["code"]) == ("True", "True", "0")
