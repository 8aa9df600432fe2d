"""Imports pydantic without its search for plug-ins.

pydantic asks all packages that are installed whether one of them wants to watch how models are made and
values are validated. That takes 40 ms before the first model is made, most of them to import what reads the
packages, and OpenLoop has nothing to watch.

Where pydantic looked for them before, nothing changes.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_NAME = "pydantic.plugin._loader"
"""The part that pydantic imports at its first model. Where it is called otherwise, it finds its plug-ins."""


class _NoPlugins(ModuleType):
    """Says that there are none, and is the real module in everything else."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        return ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
        if sys.modules.get(_NAME) is self:
            del sys.modules[_NAME]
        return getattr(importlib.import_module(_NAME), name)


sys.modules.setdefault(_NAME, _NoPlugins(_NAME))
