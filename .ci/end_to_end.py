"""Tells which end-to-end tests really ran, from pytest's JUnit file; fails when one of them did not.

Call: `python .ci/end_to_end.py RESULTS.xml`. The markers are those of pyproject.toml.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

MARKERS = ("opencode", "needs_display", "browser")


def main(results: Path) -> int:
    """Print a line for each end-to-end test. Gives 1 when there is one that did not run."""
    outcomes = read_outcomes(results)
    absent = 0
    for marker, tests in tests_by_marker().items():
        say(f"{marker}: {len(tests)} tests")
        if not tests:
            say("  none exists: the marker is wrong, or its tests could not be collected")
            absent += 1
        for test in tests:
            outcome = outcomes.get(test, "not run")
            say(f"  {outcome:8} {test}")
            absent += outcome in ("not run", "skipped")
    if absent:
        say(f"{absent} end-to-end tests did not run; here they must.")
    return 1 if absent else 0


class _Marked:
    """A plug-in of pytest: the tests with each marker, by their names."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {marker: [] for marker in MARKERS}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for marker in MARKERS:
                if item.get_closest_marker(marker) is not None:
                    self.tests[marker].append(item.nodeid)


def tests_by_marker() -> dict[str, list[str]]:
    """The names of all tests with a marker, as pytest collects them; what it says, where it fails."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    marked, listing = _Marked(), io.StringIO()
    with contextlib.redirect_stdout(listing):
        code = pytest.main(["--collect-only", "-q", "-n", "0"], plugins=[marked])
    if code != pytest.ExitCode.OK:
        say(listing.getvalue())
        return {marker: [] for marker in MARKERS}
    return marked.tests


def read_outcomes(results: Path) -> dict[str, str]:
    """What became of each test: passed, failed or skipped, by its name as pytest prints it."""
    outcomes: dict[str, str] = {}
    if not results.exists():
        return outcomes
    for case in ElementTree.parse(results).iter("testcase"):
        outcome = "passed"
        if case.find("skipped") is not None:
            outcome = "skipped"
        elif case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        outcomes[node_name(case.get("classname", ""), case.get("name", ""))] = outcome
    return outcomes


def node_name(class_name: str, name: str) -> str:
    """`tests.app.test_x.TestY` and `test_z[1]` make `tests/app/test_x.py::TestY::test_z[1]`."""
    parts = class_name.split(".")
    module = next((index for index, part in enumerate(parts) if part.startswith("test_")), len(parts) - 1)
    path = "/".join(parts[: module + 1]) + ".py"
    return "::".join([path, *parts[module + 1 :], name])


def say(text: str) -> None:
    """Print a line at once, in order with what other programs print."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
