"""Imports pydantic without what only its developers need, which is a good part of what its import takes.

It asks all packages that are installed whether one of them wants to watch how models are made and values
are validated. That takes 40 ms before the first model is made, most of them to import what reads the
packages, and OpenLoop has nothing to watch.

And it describes its own structures for type checkers, in ninety classes of kinds of dicts whose making takes
25 ms. Nothing reads them while a program runs: they are plain dicts here.

Where pydantic was there before, nothing changes.
"""

from __future__ import annotations

import importlib
import sys
import typing
from types import ModuleType
from typing import Any

import typing_extensions

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


class _PlainDict(dict[str, object]):
    """In the place of `TypedDict`."""

    def __init_subclass__(cls, **_: object) -> None:
        super().__init_subclass__()


def _import_core() -> None:
    for_typing: tuple[Any, ...] = (typing, typing_extensions)
    before = [module.TypedDict for module in for_typing]
    try:
        for module in for_typing:
            module.TypedDict = _PlainDict
        import pydantic_core  # noqa: F401
    finally:
        for module, real in zip(for_typing, before, strict=True):
            module.TypedDict = real


sys.modules.setdefault(_NAME, _NoPlugins(_NAME))
if "pydantic_core" not in sys.modules:
    _import_core()
