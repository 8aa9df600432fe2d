"""Opening files that agents name in the user's editor: which editor, and what it is told.

A path comes from what an agent printed. It reaches the editor as one argument of its own program, never
through a shell, and nothing is opened in a way that could run it: without an editor, only what the desktop
shows or edits is opened, and of everything else the folder is shown.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

_WORD = re.compile(r"""(?:[^\s"']+|"[^"]*"|'[^']*')+""")
_FIELD = re.compile(r"\{(\w*)\}")
_FIELDS = frozenset({"file", "line", "column"})
_BATCH_SIGNS = frozenset('&|<>^%!"`\n\r')
"""Signs in arguments that `cmd.exe` takes for orders where a program is a batch file."""


class EditorError(Exception):
    """A file cannot be opened; the message says why, in a sentence for the user."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in a file; lines and columns count from 1. `shown`: as the log names it."""

    path: Path
    line: int | None = None
    column: int | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """An editor that can be told where to go. `programs`: what it is called, the usual name first."""

    name: str
    programs: tuple[str, ...]
    arguments: str

    def command(self, program: str) -> str:
        """The command to be kept for it."""
        return f"{_quoted(program)} {self.arguments}"


_JETBRAINS = "--line {line} --column {column} {file}"
_COLONS = "{file}:{line}:{column}"
_PLUS = "+{line} {file}"
PRESETS = (
    Preset("Visual Studio Code", ("code",), f"--goto {_COLONS}"),
    Preset("VSCodium", ("codium", "vscodium"), f"--goto {_COLONS}"),
    Preset("Cursor", ("cursor",), f"--goto {_COLONS}"),
    Preset("Windsurf", ("windsurf",), f"--goto {_COLONS}"),
    Preset("Zed", ("zed", "zeditor"), _COLONS),
    Preset("Sublime Text", ("subl", "sublime_text"), _COLONS),
    Preset("PyCharm", ("pycharm", "pycharm64", "charm"), _JETBRAINS),
    Preset("IntelliJ IDEA", ("idea", "idea64"), _JETBRAINS),
    Preset("WebStorm", ("webstorm", "webstorm64"), _JETBRAINS),
    Preset("GoLand", ("goland", "goland64"), _JETBRAINS),
    Preset("CLion", ("clion", "clion64"), _JETBRAINS),
    Preset("RustRover", ("rustrover", "rustrover64"), _JETBRAINS),
    Preset("Kate", ("kate",), "--line {line} --column {column} {file}"),
    Preset("gedit", ("gedit",), "+{line}:{column} {file}"),
    Preset("GNOME Text Editor", ("gnome-text-editor",), "{file}"),
    Preset("Mousepad", ("mousepad",), "--line {line} {file}"),
    Preset("Xed", ("xed",), _PLUS),
    Preset("Pluma", ("pluma",), _PLUS),
    Preset("Geany", ("geany",), "--line {line} --column {column} {file}"),
    Preset("GVim", ("gvim", "mvim"), _PLUS),
    Preset("Emacs", ("emacs",), "+{line}:{column} {file}"),
    Preset("TextMate", ("mate",), "--line {line}:{column} {file}"),
    Preset("BBEdit", ("bbedit",), _PLUS),
    Preset("Notepad++", ("notepad++",), "-n{line} -c{column} {file}"),
)
"""Editors with a window of their own; one that needs a terminal would start unseen."""


def words_of(template: str) -> list[str]:
    """A command taken apart at its spaces; quotes keep a word together, and a backslash is a backslash.

    Raises EditorError for quotes that do not end, fields that are not known, and no command at all.
    """
    rest = _WORD.sub("", template)
    if rest.strip():
        raise EditorError("A quotation mark in the command has no partner.")
    words = [re.sub(r""""([^"]*)"|'([^']*)'""", r"\1\2", word) for word in _WORD.findall(template)]
    if not words or not words[0]:
        raise EditorError("The command is empty.")
    for name in _FIELD.findall(template):
        if name not in _FIELDS:
            raise EditorError(f"{{{name}}} is not known. There are {{file}}, {{line}} and {{column}}.")
    return words


def command_for(template: str, place: FilePlace) -> list[str]:
    """The program and arguments that open a place. Raises EditorError.

    A command that does not say where the file goes has it as its last argument.
    """
    words = words_of(template)
    values = {"file": str(place.path), "line": str(place.line or 1), "column": str(place.column or 1)}
    filled = [_FIELD.sub(lambda field: values[field[1]], word) for word in words[1:]]
    if not any("{file}" in word for word in words[1:]):
        filled.append(values["file"])
    program = find_program(words[0])
    if program is None:
        raise EditorError(f"“{words[0]}” was not found, so the file was not opened.")
    if PureWindowsPath(program).suffix.lower() in (".cmd", ".bat"):
        program = _behind_batch(program)
        if PureWindowsPath(program).suffix.lower() != ".exe" and _BATCH_SIGNS & set("".join(filled)):
            raise EditorError("The file’s name has signs in it that Windows could take for an order.")
    return [program, *filled]


def find_program(name: str) -> str | None:
    """Where a program is: never in the folder that one happens to be in."""
    if os.path.dirname(name):  # noqa: PTH120 - of a name that may be of another system
        return name if Path(name).is_absolute() and os.access(name, os.X_OK) else None
    found = shutil.which(name)
    return found if found is not None and Path(found).is_absolute() else None


def _behind_batch(program: str) -> str:
    """The real program behind a batch file of editors that are made like Visual Studio Code."""
    path = Path(program)
    for name in (f"{path.stem}.exe", f"{path.stem.title()}.exe"):
        real = path.parent.parent / name
        if real.is_file():
            return str(real)
    return program


def _quoted(program: str) -> str:
    return f'"{program}"' if " " in program else program


def installed() -> list[tuple[Preset, str]]:
    """Editors that are there, and the program of each. Looks through the folders of PATH: not for the
    window's thread."""
    found: list[tuple[Preset, str]] = []
    for preset in PRESETS:
        program = next((name for name in preset.programs if find_program(name)), None)
        if program is not None:
            found.append((preset, program))
    return found


def of_environment(environment: Mapping[str, str] = os.environ) -> str | None:
    """The command of $VISUAL, told to go to a line, where it is an editor with a window of its own."""
    try:
        words = words_of(environment.get("VISUAL", "").replace("{", "").replace("}", ""))
    except EditorError:
        return None
    name = re.split(r"[\\/]", words[0])[-1].lower().removesuffix(".exe").removesuffix(".cmd")
    if "-nw" in words or "-t" in words or "--no-window-system" in words:
        return None
    preset = next((preset for preset in PRESETS if name in preset.programs), None)
    if preset is None or find_program(words[0]) is None:
        return None
    # It would wait for the file to be closed, and so would nobody.
    options = [_quoted(word) for word in words[1:] if word not in ("-w", "--wait")]
    return " ".join([_quoted(words[0]), *options, preset.arguments])


def command_in_force(chosen: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The command that opens files: the user's, $VISUAL's, that of an editor that is there; None: no editor.

    Looks for programs: not for the window's thread.
    """
    if chosen.strip():
        return chosen
    visual = of_environment(environment)
    if visual is not None:
        return visual
    for preset in PRESETS:
        program = next((name for name in preset.programs if find_program(name)), None)
        if program is not None:
            return preset.command(program)
    return None


_SHOWN_NAMES = (
    ".txt .md .markdown .rst .log .json .jsonl .toml .yaml .yml .csv .tsv .xml .ini .cfg .conf .diff .patch "
    ".png .jpg .jpeg .gif .webp .bmp .pdf"
)
_SHOWN = frozenset(_SHOWN_NAMES.split())
"""What every desktop shows or edits, and runs nowhere."""
_SOURCE_NAMES = (
    ".py .pyi .rs .go .c .h .cc .cpp .hpp .java .kt .swift .ts .tsx .js .jsx .css .scss .sql .tex .lua .zig "
    ".ex .exs .hs .ml .scala .cs .dart .vue .svelte .proto .graphql .tf"
)
_SOURCES = frozenset(_SOURCE_NAMES.split())
"""What Linux opens in an editor. Windows and macOS hand some of these to the program that runs them."""


def is_safe_for_desktop(path: Path, platform: str = sys.platform) -> bool:
    """Whether the desktop may be asked to open a file, without any chance that it runs it."""
    suffix = path.suffix.lower()
    if suffix not in _SHOWN and not (platform == "linux" and suffix in _SOURCES):
        return False
    if platform == "win32":
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and not mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


@dataclass(frozen=True, slots=True)
class Opening:
    """How a file is opened: a command, else by the desktop, else its folder is shown."""

    place: FilePlace
    command: Sequence[str] = ()
    by_desktop: bool = False


def plan_opening(place: FilePlace, chosen: str) -> Opening:
    """How a file is opened. `chosen`: the user's command, empty where he chose none. Raises EditorError.

    Asks disk and PATH: not for the window's thread.
    """
    try:
        regular = stat.S_ISREG(place.path.stat().st_mode)
    except (OSError, ValueError):
        raise EditorError(f"{place.shown or place.path} is not there any more.") from None
    if not regular:
        raise EditorError(f"{place.shown or place.path} is not a file that can be edited.")
    template = command_in_force(chosen)
    if template is not None:
        return Opening(place, tuple(command_for(template, place)))
    return Opening(place, by_desktop=is_safe_for_desktop(place.path))
