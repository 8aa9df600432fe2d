"""The option `--fuzz-cases`. It is known when a path below this folder is named on the command line."""

from __future__ import annotations

import pytest

from tests.fuzz import fuzzing


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-cases",
        type=int,
        metavar="N",
        help="try N random cases for each fuzzer (default: 100, always the same)",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Not known where this file is only found while tests are collected.
    cases = config.getoption("--fuzz-cases", default=None)
    if cases:
        fuzzing.ask_for(cases)
