"""Scripts that a command names: files of the project whose content is as much a part of it as its words."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Sequence
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
_OWN_TEXT = frozenset({"-c", "-e", "-m", "--eval", "-Command", "-command"})
"""Options of interpreters after which no file comes, but the program itself."""
_OF_A_SHELL = re.compile(r"""[\s;&|<>()`'"$\\]""")
_PATTERN = re.compile(r"[*?\[]")
_MOST_WORDS, _MOST_FOLDERS, _MOST_FILES = 2000, 20, 200
"""What is looked at of a command that names more than any person would."""
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
    spoken = list(itertools.islice(_spoken(words), _MOST_WORDS))
    bases = [workdir, *_folders_among(spoken, workdir, roots)]
    found: dict[Path, None] = {}
    wanted = program_first
    for number, word in enumerate(spoken):
        for name in dict.fromkeys((word, word.partition("=")[2])):
            for path in (path for base in bases for path in _files_in(name, base, roots)):
                if wanted or _looks_like_script(path):
                    found[path] = None
                    wanted = False
        if _INTERPRETER.fullmatch(word):
            # Whatever options and their values come first, the next file is what it runs.
            wanted = True
        elif number == 0 or word in _OWN_TEXT:
            wanted = False
    return tuple(found)


def _spoken(words: Sequence[str]) -> Iterator[str]:
    """The words, and what a shell would make of those that are a shell's script themselves."""
    for word in words:
        yield word
        if _OF_A_SHELL.search(word):
            text = word.replace("${PWD}/", "").replace("$PWD/", "")
            # Quotes that do not end: then the plain words are what there is.
            with contextlib.suppress(ValueError):
                yield from shlex.split(text.replace(";", " ; ").replace("&", " & ").replace("|", " | "))
            yield from shell_words(text)


def _folders_among(words: Sequence[str], workdir: Path, roots: set[Path]) -> list[Path]:
    """Folders that are named: a `cd` may lead there before a script is called by its name alone."""
    found: dict[Path, None] = {}
    for word in words:
        if word and "\0" not in word:
            path = Path(os.path.normpath(Path(workdir, word)))
            if any(path.is_relative_to(root) for root in roots) and os.path.isdir(path):  # noqa: PTH112 - never raises
                found[path] = None
    return list(found)[:_MOST_FOLDERS]


def _files_in(name: str, base: Path, roots: set[Path]) -> Iterator[Path]:
    """The files that a name or a pattern means below a folder."""
    if _PATTERN.search(name) and ".." not in name and not Path(name).is_absolute() and "\0" not in name:
        try:
            names = [str(path) for path in itertools.islice(base.glob(name), _MOST_FILES)]
        except (ValueError, OSError, NotImplementedError):
            names = []
    else:
        names = [name]
    for each in names:
        path = _file_in(each, base, roots)
        if path is not None:
            yield path


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
