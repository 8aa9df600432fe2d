"""Keeps what Python compiles from texts at each start, as it keeps what it compiles from modules.

A dataclass writes its methods as texts, which are compiled each time its module is imported: of a start's
hundred dataclasses, half of them pydantic's, that took 70 ms. The compiled methods are kept beside the
compiled modules, in `__pycache__`, by their whole text; where no file can be written there, they are
compiled again. The modules that PySide6 brings as texts are kept, too (see `app.plain_imports`).
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, TypeAlias

_MOST = 5000
"""Texts. Those of earlier versions stay, until there are so many."""

_Known: TypeAlias = dict[tuple[str, str | bytes], CodeType]
_compile = builtins.compile
_kept: KeptCode | None = None
"""What is kept while modules are imported in `kept_code`."""


class KeptCode:
    """The texts of one file and what they are compiled to. `save` writes it where there are new ones."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _read(path)
        self._has_new = False

    def code(self, text: str | bytes, file: str = "<string>") -> CodeType:
        """What a module's text is compiled to; `file` is what tracebacks call it. Raises SyntaxError."""
        code = self._known.get((file, text))
        if code is None:
            code = self._known[file, text] = _compile(text, file, "exec", dont_inherit=True)
            self._has_new = True
        return code

    def execute(self, text: str, *names: Any) -> None:
        """As `exec` does."""
        builtins.exec(self.code(text), *names)

    def save(self) -> None:
        """Keep what is new. A file that cannot be written is not: the next start compiles again."""
        if not self._has_new or sys.dont_write_bytecode:
            return
        texts = self._known if len(self._known) <= _MOST else {}
        part = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(importlib.util.MAGIC_NUMBER + marshal.dumps(texts))
            part.replace(self._path)


def _read(path: Path) -> _Known:
    with contextlib.suppress(OSError, EOFError, ValueError, TypeError):  # none yet, or half of one
        data = path.read_bytes()
        magic = importlib.util.MAGIC_NUMBER
        if data.startswith(magic):
            known: _Known = marshal.loads(data[len(magic) :])
            return known
    return {}


@contextlib.contextmanager
def kept_code(kind: str = "window") -> Iterator[None]:
    """While modules are imported here, their dataclasses are made of what is kept.

    `kind`: what is started. Each has a file of its own, so that none reads what only another needs.
    """
    global _kept
    kept = _kept = KeptCode(Path(importlib.util.cache_from_source(__file__)).with_suffix(f".{kind}.texts"))
    # As a name of the module it comes before the builtin one; nothing else of the module is changed.
    dataclasses.exec = kept.execute  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del dataclasses.exec  # type: ignore[attr-defined]
        _kept = None
    kept.save()


def code_of(text: str | bytes, file: str) -> CodeType:
    """What a module's text is compiled to; of what is kept, where that is used now. Raises SyntaxError."""
    return _kept.code(text, file) if _kept is not None else _compile(text, file, "exec", dont_inherit=True)
