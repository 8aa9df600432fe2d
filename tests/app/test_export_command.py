"""`openloop export`: a run as HTML or JSON, by its id or its folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import resources
from app.theme import DARK, LIGHT, STATUS_ICONS, Theme
from core.report_parts import STATUS_ICONS as REPORT_ICONS
from tests.app.cli_support import openloop
from tests.core.report_support import JournalOf

RUN = "20250101-000000-abcd"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with one run in it."""
    journal = JournalOf(tmp_path / ".openloop" / RUN)
    journal.start()
    journal.group(["vera", "linter"], [{"score": 84}, None])
    journal.finish({"score": 84})
    journal.read()
    return tmp_path


def test_a_run_is_exported_by_its_id_under_a_name_of_its_own(folder: Path) -> None:
    done = openloop("export", RUN, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"audit-{RUN}.html\n", "")
    assert "<h1>audit</h1>" in (folder / f"audit-{RUN}.html").read_text(encoding="utf-8")


def test_a_run_is_exported_by_its_folder_to_the_files_that_are_named(folder: Path) -> None:
    run = folder / ".openloop" / RUN
    (folder / "elsewhere").mkdir()
    done = openloop("export", run, "--html", "a.html", "--json", "a.json", cwd=folder / "elsewhere")
    assert (done.returncode, done.stdout) == (0, "a.html\na.json\n")
    assert json.loads((folder / "elsewhere" / "a.json").read_bytes())["run_id"] == RUN
    assert sorted(path.name for path in (folder / "elsewhere").iterdir()) == ["a.html", "a.json"]


def test_a_run_is_found_in_the_log_folder_that_is_named(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = openloop("export", RUN, "--log-dir", folder / ".openloop", "--json", "-", cwd=elsewhere)
    assert done.returncode == 0
    assert json.loads(done.stdout)["workflow"] == "audit"


def test_json_on_standard_output_is_all_that_stands_there(folder: Path) -> None:
    done = openloop("export", RUN, "--html", "a.html", "--json", "-", cwd=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)["format"] == "openloop-report"
    assert (folder / "a.html").is_file()


@pytest.mark.parametrize("words", [["20990101-000000-ffff"], [RUN, "--html", "no/such/folder/a.html"]])
def test_what_cannot_be_exported_is_refused_with_a_reason(folder: Path, words: list[str]) -> None:
    done = openloop("export", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert [path.name for path in folder.iterdir()] == [".openloop"]


def test_a_run_that_was_only_looked_at_is_as_it_was(folder: Path) -> None:
    run = folder / ".openloop" / RUN
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    openloop("export", RUN, cwd=folder)
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_the_schema_of_reports_is_printed(folder: Path) -> None:
    done = openloop("schema", "--report", cwd=folder)
    assert done.stdout == resources.report_schema_file().read_text(encoding="utf-8")


def test_the_report_has_the_colours_and_signs_of_the_window() -> None:
    style = (resources.folder() / "report" / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)

    def colours(theme: Theme) -> dict[str, str]:
        return {
            name.replace("_", "-"): getattr(theme, name)
            for name in Theme.__dataclass_fields__
            if isinstance(getattr(theme, name), str)
        }

    for theme, block in ((LIGHT, light), (DARK, dark)):
        assert dict(re.findall(r"--([\w-]+): (#\w+);", block)) == colours(theme)
    # All others are mixed of these.
    assert not re.search(r"#[0-9a-f]{3,8}\b", style.replace(light, "").replace(dark, ""))
    assert REPORT_ICONS == STATUS_ICONS
