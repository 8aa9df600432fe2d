"""Imports PySide6 without what only its developers need, which is half of what its import takes.

PySide6 brings modules that describe its functions: for `help()`, for stub files, and for the message of a
call with wrong arguments. They come as text, so Python compiles them at each start, and they build large
patterns and tables: 70 ms. They are filled when somebody asks them for something.

It also puts itself between each `import` and Python: it reads the source of every module that is imported
from then on, to learn whether its classes may be spelled in snake_case there (`from __feature__ import …`).
Nothing of OpenLoop does that, and it took 60 ms of each start. So Python imports modules as it did before.

And it makes many enums; they are made in a third of the time (`app.quick_enums`).

Where PySide6 was there before, nothing changes.
"""

from __future__ import annotations

import builtins
import threading
from typing import Any

from app.kept_code import code_of
from app.quick_enums import make_enums_quickly

_DESCRIBING = frozenset(
    f"shibokensupport/signature/{name}.py"
    for name in ("errorhandler", "layout", "lib/enum_sig", "lib/pyi_generator", "parser")
)
"""PySide6 6.8 to 6.12 import these, and call them only through `loader`, which is asked as any module is."""
_STAND_IN = """
def __getattr__(name):
    from app.plain_imports import fill
    return fill(globals(), name)
"""

_compile: Any = builtins.compile
_import = builtins.__import__
_texts: dict[str, Any] = {}
"""Of those that have not been filled, by the name of the file."""
_filling = threading.RLock()


def _compile_later(source: Any, filename: Any, *others: Any, **more: Any) -> Any:
    if filename in _DESCRIBING:
        _texts[filename] = source
        return code_of(_STAND_IN, filename)
    if str(filename).startswith("shibokensupport/"):
        return code_of(source, filename)
    return _compile(source, filename, *others, **more)


def fill(module: dict[str, Any], name: str) -> object:
    """What a module has under a name that it was just asked for; from the first such call it is whole."""
    # Python itself looks at modules, too, and means nothing by it.
    if not (name.startswith("__") and name.endswith("__")):
        with _filling:
            text = _texts.pop(str(module.get("__file__")), None)
            if text is not None:
                exec(_compile(text, module["__file__"], "exec"), module)
                del module["__getattr__"]
            if name in module:
                value: object = module[name]
                return value
    raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")


make_enums_quickly()
builtins.compile = _compile_later
try:
    import PySide6.QtCore  # noqa: F401
finally:
    builtins.compile = _compile
    builtins.__import__ = _import
