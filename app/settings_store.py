"""What the window remembers between starts, in one ini file that may be broken without harm."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from app.theme import Scheme
from core.platform_paths import state_folder

_GEOMETRY = "window/geometry"
_SPLITTER = "window/splitter"
_SCHEME = "view/scheme"
_ZOOM = "view/log_zoom"
_WRAP = "view/log_wrap"
_NUMBERS = "view/log_line_numbers"
_EDITOR = "files/editor"
_RECENT = "files/recent"
_NOTICES = "run/notices"
_SHAPES = "shapes"
_TIMELINE = "view/timeline_collapsed"
_LAST_RUN = "run/last"
_LAST_PAGE = "run/last_page"
_LAST_TABS = "run/last_tabs"
_ZOOMS = range(-4, 25)


class SettingsStore:
    """Typed access to the remembered settings. A value that makes no sense counts as not there.

    `set_aside` is where a file that is broken or cannot be read was moved to; None: all was well with it.
    `refusal`: why nothing can be remembered, in the system's words; None: it can. Then there are the usual
    settings, and what changes holds until the end. `path` None: the user's folder.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else state_folder() / "window.ini"
        self.set_aside: Path | None = None
        self.refusal: str | None = None
        self._settings = QSettings(str(self.path), QSettings.Format.IniFormat)
        try:
            self._set_aside_if_broken()
            _ask_to_write(self.path)
        except OSError as error:
            self.refusal = error.strerror or str(error)

    def _set_aside_if_broken(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not _is_broken(self.path) and self._settings.status() is not QSettings.Status.FormatError:
            return
        aside = _free_name(self.path)
        self.path.replace(aside)
        self.set_aside = aside
        self._settings = QSettings(str(self.path), QSettings.Format.IniFormat)
        # QSettings shares what it read among objects of one file: forget it.
        self._settings.clear()

    # --- window ----------------------------------------------------------------------------------------

    @property
    def geometry(self) -> QByteArray | None:
        """Of the window, as `saveGeometry` gave it."""
        return self._bytes(_GEOMETRY)

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._settings.setValue(_GEOMETRY, value)

    @property
    def splitter(self) -> QByteArray | None:
        """Of the splitter between the regions, as `saveState` gave it."""
        return self._bytes(_SPLITTER)

    @splitter.setter
    def splitter(self, value: QByteArray) -> None:
        self._settings.setValue(_SPLITTER, value)

    def shape(self, name: str) -> QByteArray | None:
        """Of a splitter, by its object name, as `saveState` gave it."""
        return self._bytes(f"{_SHAPES}/{name}")

    def keep_shape(self, name: str, value: QByteArray) -> None:
        """Remember the shape of a splitter."""
        self._settings.setValue(f"{_SHAPES}/{name}", value)

    # --- view ------------------------------------------------------------------------------------------

    @property
    def timeline_collapsed(self) -> bool:
        """Whether only the head of the timeline is shown."""
        return str(self._settings.value(_TIMELINE, "false")) == "true"

    @timeline_collapsed.setter
    def timeline_collapsed(self, value: bool) -> None:
        self._settings.setValue(_TIMELINE, "true" if value else "false")

    @property
    def scheme(self) -> Scheme:
        """Light, dark, or as the system."""
        value = self._settings.value(_SCHEME)
        return Scheme(value) if value in list(Scheme) else Scheme.SYSTEM

    @scheme.setter
    def scheme(self, value: Scheme) -> None:
        self._settings.setValue(_SCHEME, value.value)

    @property
    def log_zoom(self) -> int:
        """Pixels that the text of logs is larger or smaller than usual."""
        value = str(self._settings.value(_ZOOM, "0"))
        number = int(value) if value.lstrip("-").isdecimal() else 0
        return number if number in _ZOOMS else 0

    @log_zoom.setter
    def log_zoom(self, value: int) -> None:
        self._settings.setValue(_ZOOM, value)

    # --- a run -----------------------------------------------------------------------------------------

    @property
    def notices(self) -> bool:
        """Whether the desktop tells when a run needs the user and the window is not in front."""
        return str(self._settings.value(_NOTICES, "true")) != "false"

    @notices.setter
    def notices(self, value: bool) -> None:
        self._settings.setValue(_NOTICES, "true" if value else "false")

    @property
    def last_run(self) -> Path | None:
        """The folder of the run that the window showed last."""
        value = self._settings.value(_LAST_RUN)
        return Path(value) if isinstance(value, str) and value else None

    @last_run.setter
    def last_run(self, value: Path) -> None:
        self._settings.setValue(_LAST_RUN, str(value))

    @property
    def last_page(self) -> str:
        """Which page of that run was shown, as its tabs name it; empty: none."""
        value = self._settings.value(_LAST_PAGE)
        return value if isinstance(value, str) else ""

    @last_page.setter
    def last_page(self, value: str) -> None:
        self._settings.setValue(_LAST_PAGE, value)

    @property
    def last_tabs(self) -> list[str] | None:
        """The turns of that run that had tabs; None: not known."""
        value = self._settings.value(_LAST_TABS)
        names = [value] if isinstance(value, str) else value
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else None

    @last_tabs.setter
    def last_tabs(self, value: list[str]) -> None:
        # An empty list would be read back as nothing at all.
        self._settings.setValue(_LAST_TABS, value or [""])

    @property
    def log_wrap(self) -> bool:
        """Whether long lines of logs wrap."""
        return str(self._settings.value(_WRAP, "true")).lower() != "false"

    @log_wrap.setter
    def log_wrap(self, value: bool) -> None:
        self._settings.setValue(_WRAP, value)

    @property
    def log_line_numbers(self) -> bool:
        """Whether lines of logs are numbered."""
        return str(self._settings.value(_NUMBERS, "false")).lower() == "true"

    @log_line_numbers.setter
    def log_line_numbers(self, value: bool) -> None:
        self._settings.setValue(_NUMBERS, value)

    # --- files -----------------------------------------------------------------------------------------

    @property
    def editor(self) -> str:
        """The command that opens files which logs name; empty: the user chose none."""
        value = self._settings.value(_EDITOR)
        return value if isinstance(value, str) else ""

    @editor.setter
    def editor(self, value: str) -> None:
        self._settings.setValue(_EDITOR, value)

    @property
    def recent(self) -> list[Path]:
        """Files that were open, the latest first."""
        value = self._settings.value(_RECENT)
        names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return [Path(name) for name in names if isinstance(name, str) and name]

    @recent.setter
    def recent(self, value: list[Path]) -> None:
        self._settings.setValue(_RECENT, [str(path) for path in value])

    def write(self) -> bool:
        """Bring everything to the disk; False where that is not possible."""
        self._settings.sync()
        return self._settings.status() is QSettings.Status.NoError

    def _bytes(self, key: str) -> QByteArray | None:
        value = self._settings.value(key)
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None


def _is_broken(path: Path) -> bool:
    """QSettings takes almost anything for an ini file; it writes text without control characters."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    except (PermissionError, IsADirectoryError):
        return True
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return any(ord(character) < 32 and character not in "\r\n\t" for character in text)


def _ask_to_write(path: Path) -> None:
    """Raises OSError where QSettings could not write: it would not say so before the end, nor why."""
    # It writes a new file beside the old one, and keeps a lock there.
    with tempfile.TemporaryFile(dir=path.parent):
        pass
    if path.exists():
        with path.open("r+b"):
            pass


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.broken{number or ''}") for number in itertools.count())
    return next(name for name in names if not name.exists())
