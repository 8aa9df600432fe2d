"""The real opencode for tests: which file to start, and an environment of its own to start it in."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).resolve().parents[1]
REQUIRED = "OPENLOOP_REQUIRE_OPENCODE"
"""Set to 1 where opencode must be there: its absence is then a failure, not a skip."""


def opencode_program() -> str:
    """The opencode to test with: OPENLOOP_OPENCODE, else PATH, else `.cache`; skips without."""
    named = os.environ.get("OPENLOOP_OPENCODE")
    if named:
        return (
            named
            if shutil.which(named)
            else _missing(f"OPENLOOP_OPENCODE names {named}, which cannot be run")
        )
    modules = PROJECT / ".cache" / "opencode" / "node_modules"
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    for candidate in (
        "opencode",
        # The program itself; the file of opencode-ai is whole only where npm ran that package's own script.
        str(modules / f"opencode-{system}-{machine}" / "bin" / "opencode"),
        str(modules / "opencode-ai" / "bin" / "opencode.exe"),
    ):
        found = shutil.which(candidate)
        if found is not None:
            return found
    return _missing(
        "opencode is neither in PATH nor in .cache/opencode "
        "(`npm install --prefix .cache/opencode opencode-ai` puts it there)"
    )


def _missing(why: str) -> NoReturn:
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{why}, and {REQUIRED}=1")
    pytest.skip(why)


@dataclass(frozen=True)
class ScratchOpencode:
    """An opencode that knows nothing of the user's: `environment` to start it with, its model `stub/x`."""

    program: str
    environment: dict[str, str]

    def apply(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make it the opencode of this process: what the backend finds, and the configuration it inherits."""
        for name in [name for name in os.environ if name.startswith("OPENCODE")]:
            monkeypatch.delenv(name)
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)


def scratch_opencode(folder: Path, base_url: str) -> ScratchOpencode:
    """An opencode with its home in `folder` and one provider, `stub`, at `base_url`."""
    program = opencode_program()
    for name in ("home", "data", "config", "state", "cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    # Without the built-in catalogue a start needs half the time and two thirds of the memory.
    (folder / "models.json").write_text("{}", encoding="utf-8")
    config = folder / "opencode.json"
    config.write_text(json.dumps(_configuration(base_url)), encoding="utf-8")
    return ScratchOpencode(
        program,
        {
            "OPENLOOP_OPENCODE": program,
            "HOME": str(folder / "home"),
            "USERPROFILE": str(folder / "home"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "OPENCODE_CONFIG": str(config),
            "OPENCODE_MODELS_PATH": str(folder / "models.json"),
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        },
    )


def _configuration(base_url: str) -> dict[str, object]:
    return {
        "enabled_providers": ["stub"],
        "model": "stub/x",
        "small_model": "stub/x",
        "provider": {
            "stub": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Stub",
                "options": {
                    "baseURL": base_url,
                    "apiKey": "stub",
                    "headerTimeout": 60000,
                    "chunkTimeout": 60000,
                },
                "models": {
                    "x": {
                        "name": "Stub X",
                        "tool_call": True,
                        "reasoning": True,
                        "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
                        "limit": {"context": 128000, "output": 8192},
                    }
                },
            }
        },
    }
