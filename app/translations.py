"""The language of the window: `resources/translations/openloop_<locale>.qm`, where there is one.

All texts of OpenLoop are in one context there (`docs/update_translation.py` makes it so): a sentence that two
panels say has one translation, and it does not matter which class asks. What the core says is among them. The
command line, which has no Qt, speaks English.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

import resources
from core.words import translate_with

CONTEXT = "OpenLoop"


class AppTranslator(QTranslator):
    """The texts of OpenLoop, in whichever context they are asked for."""

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str | None:
        del context
        # None: not here, so that others are asked, and Qt in the end takes the text itself.
        return super().translate(CONTEXT, text, disambiguation, n) or None


def of_catalogue(text: str) -> str:
    """A text of the core in the language of the window. Any thread may ask."""
    return QCoreApplication.translate(CONTEXT, text)


def install_translations(
    application: QCoreApplication, locale: QLocale | None = None, folder: Path | None = None
) -> list[QTranslator]:
    """Have the application speak the user's language, if it is there; gives what was installed.

    `locale`: else the system's. `folder`: else `resources/translations`. Before any widget is made.
    """
    wanted = locale or QLocale.system()
    own = AppTranslator(application)
    own_folder = folder or resources.folder() / "translations"
    if not own.load(wanted, "openloop", "_", str(own_folder), ".qm"):
        # Qt's own words alone would be a second language in the window.
        own.deleteLater()
        return []
    application.installTranslator(own)
    translate_with(of_catalogue, wanted.bcp47Name())
    of_qt = QTranslator(application)
    if not of_qt.load(wanted, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        of_qt.deleteLater()
        return [own]
    application.installTranslator(of_qt)
    return [own, of_qt]
