"""The user's folders for OpenLoop, where each system wants them.

The environment variable OPENLOOP_HOME puts all of them into one folder: for tests, and for carrying an
installation around.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_APP = "openloop"


def config_folder() -> Path:
    """Settings that the user writes. Not created here, nor are the others."""
    return _folder("config", platformdirs.user_config_path(_APP, appauthor=False, roaming=True))


def data_folder() -> Path:
    """What the user would miss: own agents and the like."""
    return _folder("data", platformdirs.user_data_path(_APP, appauthor=False))


def cache_folder() -> Path:
    """What can be made again at any time."""
    return _folder("cache", platformdirs.user_cache_path(_APP, appauthor=False))


def state_folder() -> Path:
    """What is remembered between starts: recent files, window positions, logs of the application."""
    return _folder("state", platformdirs.user_state_path(_APP, appauthor=False))


def _folder(kind: str, default: Path) -> Path:
    home = os.environ.get("OPENLOOP_HOME")
    return Path(home).absolute() / kind if home else default
