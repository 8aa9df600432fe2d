"""Imports PySide6, and then lets Python import modules as it did before.

PySide6 puts itself between each `import` and Python: it reads the source of every module that is imported
from then on, to learn whether its classes may be spelled in snake_case there (`from __feature__ import …`).
Nothing of OpenLoop does that, and it took 60 ms of each start. Where PySide6 was there before, nothing
changes.
"""

from __future__ import annotations

import builtins

_import = builtins.__import__

import PySide6.QtCore  # noqa: E402, F401

builtins.__import__ = _import
