"""Scripts that a command names: files of the project whose content is as much a part of it as its words."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

READ_LIMIT = 1024 * 1024
"""Bytes up to which a script's content counts; of a larger one its size and time of change do."""

_SUFFIXES = frozenset(
    {
        *(".py", ".pyw", ".pyz", ".sh", ".bash", ".zsh", ".fish", ".ksh", ".ps1", ".psm1", ".bat", ".cmd"),
        *(".exe", ".com", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rb", ".pl", ".php"),
        *(".lua", ".r", ".jl", ".jar", ".awk", ".sed", ".tcl", ".groovy", ".kts", ".vbs", ".wsf", ".scpt"),
        *(".mk", ".nix", ".go", ".rs", ".scm", ".el", ".exs", ".swift"),
    }
)
_MAGIC = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How scripts and programs begin, whatever they are called."""
_INTERPRETER = re.compile(
    r"(?:.*[\\/])?(?:python|pypy|sh|bash|dash|zsh|fish|ksh|source|node|deno|bun|tsx|ruby|perl|php|lua|pwsh"
    r"|powershell|osascript|rscript|java|julia|tclsh|uv|run|make|\.)[\d.]*(?:\.exe)?",
    re.IGNORECASE,
)
"""Words after which the next one that is no flag names a script."""
_BETWEEN_SHELL_WORDS = re.compile(r"""[\s;&|<>()`'"$={}]+""")


def shell_words(script: str) -> list[str]:
    """Whatever in a shell's script may be the name of a file."""
    return [word for word in _BETWEEN_SHELL_WORDS.split(script) if word]


def named_scripts(
    words: Sequence[str], workdir: Path, folders: Iterable[Path], *, program_first: bool = False
) -> tuple[Path, ...]:
    """The scripts and programs among these words that are there and stand in one of the folders.

    What agents only read is left out: it may be other data each time. `program_first`: the first word is a
    program, whatever it looks like.
    """
    roots = {root for folder in folders for root in (folder.absolute(), Path(os.path.realpath(folder)))}
    found: dict[Path, None] = {}
    before = ""
    for number, word in enumerate(words):
        is_program = (number == 0 and program_first) or bool(_INTERPRETER.fullmatch(before))
        for name in dict.fromkeys((word, word.partition("=")[2])):
            path = _file_in(name, workdir, roots)
            if path is not None and (is_program or _looks_like_script(path)):
                found[path] = None
        if not word.startswith("-"):
            before = word
    return tuple(found)


def script_state(path: Path) -> list[str]:
    """What the script is at this moment: its path, and its content's hash or what stands for it."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            return [name, "no file"]
        if facts.st_size > READ_LIMIT:
            return [name, f"{facts.st_size} bytes of {facts.st_mtime_ns}"]
        return [name, hashlib.sha256(path.read_bytes()).hexdigest()]
    except OSError as error:
        return [name, f"unreadable: {error.errno}"]


def _file_in(name: str, workdir: Path, roots: set[Path]) -> Path | None:
    """The regular file that the name means in the working folder, if it stands in one of the roots."""
    if not name or "\0" in name:
        return None
    # By its name alone: only to look for a file on another machine would tell that machine who we are.
    path = Path(os.path.normpath(Path(workdir, name)))
    if not any(path.is_relative_to(root) for root in roots):
        return None
    try:
        # Never a pipe or a device: opening one may wait for ever.
        return path if stat.S_ISREG(path.stat().st_mode) else None
    except OSError:
        return None


def _looks_like_script(path: Path) -> bool:
    if path.suffix.lower() in _SUFFIXES:
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(4).startswith(_MAGIC)
    except OSError:
        return False
