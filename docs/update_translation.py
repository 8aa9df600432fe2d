"""Collect every text of OpenLoop for a translation: `python docs/update_translation.py de`.

Writes `resources/translations/openloop_<locale>.ts` with all texts in one context, and keeps what is
translated there already. Translate it with `pyside6-linguist`, then call this with `--release`: it writes the
`.qm` beside it, which the application loads where the system speaks this language.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
FOLDER = PROJECT / "resources" / "translations"
CONTEXT = "OpenLoop"
"""As in `app/translations.py`."""
SPEAKING = {"say": slice(0, 1), "say_both": slice(0, 1), "say_number": slice(1, 3)}
"""Functions of `core/words.py`, and which of their arguments are texts."""


def tool(name: str) -> str:
    """A tool of PySide6, beside this interpreter."""
    return str(Path(sys.executable).with_name(name))


def texts() -> list[str]:
    """Every text of the application and of the core, in the order of the files, each once."""
    return list(dict.fromkeys([*texts_of_widgets(), *texts_without_qt()]))


def texts_without_qt() -> list[str]:
    """What comes through the functions of `core/words.py`, also in the pages of reports."""
    found: list[str] = []
    for path in sorted(path for folder in ("core", "app") for path in (PROJECT / folder).rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SPEAKING:
                found += [
                    text.value
                    for text in call.args[SPEAKING[call.func.id]]
                    if isinstance(text, ast.Constant) and isinstance(text.value, str)
                ]
    for path in sorted((PROJECT / "resources" / "report").glob("*.html")):
        found += re.findall(r'\bsay\("([^"]+)"', path.read_text("utf-8"))
    return found


def texts_of_widgets() -> list[str]:
    """What comes through `tr`."""
    sources = sorted(str(path) for path in (PROJECT / "app").rglob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.ts"
        subprocess.run(
            [tool("pyside6-lupdate"), "-tr-function-alias", "tr+=_tr", *sources, "-ts", str(found)],
            check=True,
            capture_output=True,
        )
        root = ElementTree.parse(found).getroot()
    return [source.text for source in root.iter("source") if source.text]


def write_ts(path: Path, locale: str) -> int:
    """Write the texts for a language, with the translations that the file had; gives how many lack one."""
    known = {}
    if path.is_file():
        for message in ElementTree.parse(path).getroot().iter("message"):
            translation = message.find("translation")
            if translation is not None and translation.text:
                known[message.findtext("source")] = translation.text
    root = ElementTree.Element("TS", version="2.1", language=locale, sourcelanguage="en")
    context = ElementTree.SubElement(root, "context")
    ElementTree.SubElement(context, "name").text = CONTEXT
    missing = 0
    for text in texts():
        message = ElementTree.SubElement(context, "message")
        ElementTree.SubElement(message, "source").text = text
        translation = ElementTree.SubElement(message, "translation")
        if text in known:
            translation.text = known[text]
        else:
            translation.set("type", "unfinished")
            missing += 1
    ElementTree.indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    return missing


def release(path: Path) -> Path:
    """Write the file that the application loads; gives its path."""
    made = path.with_suffix(".qm")
    subprocess.run([tool("pyside6-lrelease"), str(path), "-qm", str(made)], check=True, capture_output=True)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Do as told; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("locale", help="the language, such as de or pt_BR")
    parser.add_argument("--release", action="store_true", help="write the .qm that the application loads")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="default: resources/translations")
    options = parser.parse_args(arguments)
    path = options.folder / f"openloop_{options.locale}.ts"
    if options.release:
        sys.stdout.write(f"{release(path)}\n")
        return 0
    missing = write_ts(path, options.locale)
    sys.stdout.write(f"{path}: {missing} texts have no translation yet.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
