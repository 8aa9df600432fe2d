"""A run's report in a real browser without a network: all is there, and nothing comes from elsewhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.recorded_run import RecordedRun, read_run
from core.report import write_html
from tests.core.report_support import HOSTILE, hostile_run, large_run
from tests.core.run_support import Workshop
from tests.e2e.browser import Tab, opened_browser

pytestmark = pytest.mark.browser

LEAVES_RUNNING = ("chrom", "crashpad")
"""One browser for all tests here. At its end the fixture makes sure that nothing of it is left."""


@pytest.fixture(scope="module")
def only_tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """One browser with one tab: what it starts for the first page is there before the first test looks."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "warm.html").write_text("<!DOCTYPE html><title>warm</title>", encoding="utf-8")
    with opened_browser(folder) as browser:
        tab = browser.new_tab()
        tab.show(folder / "warm.html")
        tab.picture()
        yield tab


@pytest.fixture
def tab(only_tab: Tab) -> Tab:
    only_tab.begin()
    return only_tab


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    """A real run: two iterations, a parallel group, a correction, a failure, a conflict."""
    workshop = Workshop(tmp_path_factory.mktemp("workshop"))
    workshop.agent("amala", writes={"draft": "tests/test_auth.py"})
    workshop.agent("vera", role="auditor", writes={"score": 84, "notes": ["no test of the empty password"]})
    workshop.agent("linter", writes={"score": 91}, bad_update={"kind": "missing", "first": 1})
    workshop.agent("flaky", fail={"exit_code": 3, "error": "The model refused."})
    auditors = {
        "agents": ["vera", "linter", "flaky"],
        "mode": "parallel",
        "name": "auditors",
        "on_parallel_error": "continue",
    }
    finished = workshop.run(
        {
            "name": "audit",
            "loop_agents": [{"agents": ["amala"], "mode": "sequential"}, auditors],
            "max_loops": 2,
            "end_state_condition": "False",
        }
    )
    return read_run(finished.folder)


@pytest.fixture(scope="module")
def page(run: RecordedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(run, path)
    return path


def text(tab: Tab, selector: str = "body") -> str:
    said = tab.ask(f"document.querySelector({selector!r}).innerText")
    assert isinstance(said, str)
    return said


def count(tab: Tab, selector: str) -> int:
    found = tab.ask(f"document.querySelectorAll({selector!r}).length")
    assert isinstance(found, int)
    return found


def assert_alone(tab: Tab, page: Path) -> None:
    """Nothing but the file was asked for, and the browser had nothing to complain about."""
    assert tab.requests == [page.as_uri()]
    assert tab.complaints == []


@pytest.mark.parametrize("scripts", [True, False])
def test_timeline_turns_and_state_are_there_with_and_without_scripts(
    tab: Tab, page: Path, scripts: bool
) -> None:
    tab.begin(scripts=scripts)
    tab.show(page)
    assert text(tab, "h1") == "audit"
    assert "Ended at a limit." in text(tab, ".outcome")
    assert count(tab, ".bars a") == 8
    assert count(tab, ".bars .piece.failed") == 2
    assert count(tab, ".bars .piece.lacking") == 2
    assert count(tab, "tr.turn") == 8
    assert "The model refused." in text(tab, "#failures")
    assert "payload.score" in text(tab, "#conflicts")
    state = text(tab, "#state .tree")
    assert "draft" in state
    assert "no test of the empty password" in state
    bars = tab.ask(
        "[...document.querySelectorAll('.bars .piece')].map(each => each.getBoundingClientRect().width)"
    )
    assert all(width >= 1 for width in bars)
    assert tab.ask("document.querySelector('[data-tools]').hidden") is not scripts
    assert_alone(tab, page)


def test_what_a_turn_answered_unfolds_without_a_script(tab: Tab, page: Path) -> None:
    tab.begin(scripts=False)
    tab.show(page)
    assert tab.ask("document.querySelector('#t2 + .more pre').checkVisibility()") is False
    tab.click("#t2 + .more summary")
    assert tab.ask("document.querySelector('#t2 + .more pre').checkVisibility()") is True
    assert '"score": 84' in text(tab, "#t2 + .more pre")


def test_a_click_on_a_bar_leads_to_its_turn_and_unfolds_it(tab: Tab, page: Path) -> None:
    tab.show(page)
    tab.click(".bars a[href='#t7'] rect.piece:last-of-type")
    tab.until("location.hash === '#t7'")
    tab.until("document.querySelector('#t7 + .more details').open")
    assert text(tab, "#t7 th") == "linter"
    assert_alone(tab, page)


def test_turns_are_found_and_filtered_under_the_content_policy(tab: Tab, page: Path) -> None:
    tab.show(page)
    tab.click("#turns .find input")
    tab.type("empty password")
    shown = "[...document.querySelectorAll('tr.turn')].filter(row => row.checkVisibility()).length"
    tab.until(f"{shown} === 2")
    assert "2 of 8 turns" in text(tab, "#turns output")
    tab.click("#state [data-fold=close]")
    assert count(tab, "#state details[open]") == 0
    tab.click("#state .find input")
    tab.type("password")
    tab.until("document.querySelectorAll('#state .found').length === 1")
    assert tab.ask("document.querySelector('#state .found').checkVisibility()") is True
    assert_alone(tab, page)


def test_whatever_agents_wrote_stays_text(tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "hostile.html"
    write_html(hostile_run(tmp_path / "20250101-000000-abcd"), page)
    tab.show(page)
    tab.click("#turns [data-fold=open]")
    tab.click("#state [data-fold=open]")
    assert tab.ask("document.title").startswith("</script><script>")
    assert count(tab, "script") == 1
    assert count(tab, "img, iframe, object, embed, link, base, form, image, foreignObject, textarea") == 0
    attributes = tab.ask(
        "[...document.querySelectorAll('*')].flatMap(each => [...each.attributes])"
        ".map(each => each.name + '=' + each.value)"
    )
    assert not [each for each in attributes if re.match(r"on\w+=|style=", each)]
    targets = [each for each in attributes if re.match(r"(xlink:)?(href|src|action)=", each)]
    assert targets
    assert all(re.fullmatch(r"href=#[\w-]+", each) for each in targets), targets
    said = tab.ask("document.body.textContent")
    for hostile in HOSTILE[:6]:
        assert hostile in said
    assert "⟨U+202E⟩txt.exe" in said
    assert "nul⟨NUL⟩ esc⟨escape⟩" in said
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", said)
    assert_alone(tab, page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_phones_and_large_screens_in_both_schemes(tab: Tab, page: Path, scheme: str) -> None:
    tab.prefer(scheme)
    pictures = set()
    for width in (360, 1280, 3840):
        tab.resize(width)
        tab.show(page)
        wide = tab.ask(
            "[document.documentElement.scrollWidth,"
            "...[...document.querySelectorAll('section, .chart, .tiles')]"
            ".map(each => each.getBoundingClientRect().right)]"
        )
        assert max(wide) <= width
        ground = tab.ask("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(243, 244, 246)" if scheme == "light" else "rgb(23, 24, 27)")
        pictures.add(hashlib.sha256(tab.picture()).digest())
    assert len(pictures) == 3


def test_paper_is_white_and_has_no_buttons(tab: Tab, page: Path) -> None:
    tab.show(page)
    tab.prefer("dark", media="print")
    assert (
        tab.ask("getComputedStyle(document.documentElement).getPropertyValue('--surface').trim()")
        == "#ffffff"
    )
    for selector in ("nav", ".zoom", "[data-tools]"):
        assert tab.ask(f"document.querySelector({selector!r}).checkVisibility()") is False
    assert tab.ask("document.querySelector('tr.turn').checkVisibility()") is True


def test_a_thousand_turns_and_a_state_of_ten_megabytes_can_be_looked_at(tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "large.html"
    write_html(large_run(tmp_path / "20250101-000000-abcd"), page)
    assert page.stat().st_size < 8_000_000
    tab.show(page)
    assert count(tab, "tr.turn") == 1_000
    assert count(tab, ".bars a") == 1_000
    tab.click("#turns .find input")
    tab.type("agent_7")
    tab.until("document.querySelector('#turns output').textContent === '100 of 1000 turns'")
    assert "more are not shown here" in tab.ask("document.querySelector('#state').textContent")
    assert_alone(tab, page)
