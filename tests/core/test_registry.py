"""Which backends there are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from core.backends.registry import UnknownBackendError, backend, backend_names


def test_every_backend_is_found_by_its_own_name() -> None:
    assert backend_names()[0] == "opencode"
    assert {"opencode", "demo", "command", "claude", "codex", "gemini"} <= set(backend_names())
    for name in backend_names():
        assert backend(name).name == name
        assert backend(name) is backend(name)


def test_an_unknown_name_is_told_what_is_near() -> None:
    with pytest.raises(UnknownBackendError) as error:
        backend("open-code")
    assert isinstance(error.value, KeyError)
    assert str(error.value) == "There is no backend called open-code. Did you mean opencode?"


def test_a_name_like_no_other_is_told_all_names() -> None:
    with pytest.raises(KeyError, match=r"There are: opencode, demo, .*command\."):
        backend("xyz")


def test_the_names_cost_no_import_of_a_backend() -> None:
    program = (
        "import sys; from core.backends.registry import backend_names; backend_names(); "
        "print([name for name in sys.modules if name.startswith('core.backends.')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert result.stdout.strip() == "['core.backends.registry']"
