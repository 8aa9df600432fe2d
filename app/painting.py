"""What each method that paints stands behind: no failure leaves it, and no painter outlives it.

Qt gives what is painted on to others when such a method returns. An exception that leaves it keeps the
method's names alive, in its traceback, and with them a QPainter that was not ended: the process then dies in
the next thing that paints, with a run in it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

_P = ParamSpec("_P")


def paint_method(method: Callable[_P, None]) -> Callable[_P, None]:
    """Of each override of Qt's that paints (`paintEvent`, a delegate's `paint`, `drawRow` …).

    What it raises goes to `sys.excepthook`, as what a slot raises does: in the application, `app.unexpected`
    tells the user once. The rest of it stays unpainted. It makes its painter by `with QPainter(…) as
    painter`, and changes that of another by `with saved(painter)`.
    """

    @functools.wraps(method)
    def guarded(*given: _P.args, **named: _P.kwargs) -> None:
        try:
            method(*given, **named)
        except Exception as error:  # noqa: BLE001 - told by the hook
            sys.excepthook(type(error), error, error.__traceback__)

    return guarded


def saved(painter: QPainter) -> _Saved:
    """What is set on the painter in the `with` block is taken back at its end, however it is left."""
    return _Saved(painter)


class _Saved:
    """A class, not a generator: rows are painted by the hundred."""

    __slots__ = ("_painter",)

    def __init__(self, painter: QPainter) -> None:
        self._painter = painter

    def __enter__(self) -> None:
        self._painter.save()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._painter.restore()
