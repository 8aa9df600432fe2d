"""Tells which end-to-end tests really ran, from pytest's JUnit file; fails when one of them did not.

Call: `python .ci/end_to_end.py RESULTS.xml`. The markers are those of pyproject.toml.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

MARKERS = ("opencode", "needs_display", "browser")


def main(results: Path) -> int:
    """Print a line for each end-to-end test. Gives 1 when there is one that did not run."""
    outcomes = read_outcomes(results)
    absent = 0
    for marker in MARKERS:
        tests = tests_with(marker)
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


def tests_with(marker: str) -> list[str]:
    """The names of all tests with a marker, as pytest collects them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marker],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )
    if listing.returncode not in (0, 5):
        say(listing.stdout + listing.stderr)
        return []
    return [line for line in listing.stdout.splitlines() if re.match(r"tests/\S+\.py::", line)]


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
