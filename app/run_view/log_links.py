"""Files and addresses that a line of a log names: what looks like one, and where in the file it points.

Only a look at the text; whether such a file exists is `log_host`'s to find out. Linear in the text's length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FOUND = re.compile(
    r"""(?P<address>https?://[^\s<>"'`\\^{}|]+)
      | (?P<uri>file:///?[^\s<>"'`]+)
      | File\ "(?P<python>[^"\n]{1,300})",\ line\ (?P<python_line>\d{1,7})
      | (?P<mark>["'`])(?P<quoted>[^"'`\n]{1,300})(?P=mark)
        (?: :(?P<line_behind>\d{1,7}) (?: :(?P<column_behind>\d{1,6}) )? )?
      | (?P<bare>(?:\b[A-Za-z]:[\\/]
                   |(?: \[{1,2}[\w.-]{1,60}\]{1,2} | \([\w.-]{1,60}\) )(?=[\\/]) )?
                 (?: [^\s"'`<>|*?:;,()\[\]{}=…·]++
                   | (?<=[^\s"'`<>|*?:;,()\[\]{}=…·])
                     (?: \[{1,2}[\w.-]{1,60}\]{1,2} | \([\w.-]{1,60}\) ) (?=[\w\\/(\[-]|\.\w) )++)
        (?: :(?P<line>\d{1,7}) (?: :(?P<column>\d{1,6}) )?
          | \((?P<line_in>\d{1,7}) (?: ,\s?(?P<column_in>\d{1,6}) )? \)
          | \|(?P<line_vim>\d{1,7}) (?: \ col\ (?P<column_vim>\d{1,6}) )? [^|\n]{0,20}\| )?
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"[\w.+()\[\]-]{1,120}\.[A-Za-z]\w{0,9}")
_NAME_IN_QUOTES = re.compile(r"[\w .,&@~#+(){}\[\]-]{1,120}\.[A-Za-z]\w{0,9}")
_IN_QUOTES = re.compile(r"(.+?)(?::(\d{1,7})(?::(\d{1,6}))?)?")
_ON_THE_WEB = re.compile(r"(.+)#L(\d{1,7})(?:C(\d{1,6}))?(?:-L?\d{1,7}(?:C\d{1,6})?)?")
"""As pages that show source files name a line of them."""
_MOST = 40
"""Links of one line; who prints more of them means no one to click."""
_AFTER = ".,;:!?"


@dataclass(frozen=True, slots=True)
class Link:
    """Characters `start` to `end` of a line name a file or an address.

    `line` and `column` count from 1; None: the text says none.
    """

    start: int
    end: int
    target: str
    line: int | None = None
    column: int | None = None
    is_address: bool = False


def links_in(text: str) -> list[Link]:
    """What looks like a file or an address, from left to right."""
    links: list[Link] = []
    for match in _FOUND.finditer(text):
        link = _link(match)
        if link is not None:
            links.append(link)
            if len(links) == _MOST:
                break
    return links


def _link(match: re.Match[str]) -> Link | None:
    if match["address"]:
        target = _trimmed(match["address"])
        return Link(match.start(), match.start() + len(target), target, is_address=True)
    if match["uri"]:
        shown = _trimmed(match["uri"])
        web = _ON_THE_WEB.fullmatch(shown)
        target = _of_uri(shown)
        line, column = (web[2], web[3]) if web is not None else (None, None)
        end = match.start() + len(shown)
        return Link(match.start(), end, target, _number(line), _number(column)) if target else None
    if match["python"]:
        return Link(match.start("python"), match.end("python"), match["python"], int(match["python_line"]))
    if match["quoted"]:
        return _quoted(match)
    bare = match["bare"]
    line = match["line"] or match["line_in"] or match["line_vim"]
    column = match["column"] or match["column_in"] or match["column_vim"]
    end = match.end()
    if line is None:
        bare = bare.rstrip(_AFTER)
        end = match.start() + len(bare)
        web = _ON_THE_WEB.fullmatch(bare)
        if web is not None:
            bare, line, column = web.groups()
    if not _looks_like_file(bare):
        return None
    return Link(match.start(), end, bare, _number(line), _number(column))


def _quoted(match: re.Match[str]) -> Link | None:
    """A name in quotes may hold blanks; its line is said within them or behind."""
    inner = _ON_THE_WEB.fullmatch(match["quoted"]) or _IN_QUOTES.fullmatch(match["quoted"])
    if inner is None or not (_looks_like_file(inner[1]) or _NAME_IN_QUOTES.fullmatch(inner[1])):
        return None
    start, end = match.span("quoted")
    line, column = inner[2], inner[3]
    if line is None and match["line_behind"]:
        line, column, end = match["line_behind"], match["column_behind"], match.end()
    return Link(start, end, inner[1], _number(line), _number(column))


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _looks_like_file(text: str) -> bool:
    if text.startswith(("\\\\", "//")):
        # A share of another computer: only to ask for it would tell that computer who asks.
        return False
    parts = text.replace("\\", "/").split("/")
    if len(parts) > 1:
        return any(part.strip(".") for part in parts) and len(text) < 400
    return _NAME.fullmatch(text) is not None


def _trimmed(text: str) -> str:
    """An address without what ends the sentence that it stands in."""
    while text and (
        text[-1] in _AFTER
        or (text[-1] == ")" and text.count("(") < text.count(")"))
        or (text[-1] == "]" and text.count("[") < text.count("]"))
    ):
        text = text[:-1]
    return text


def _of_uri(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    if parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    # file:///C:/x is C:/x.
    return path[1:] if re.match(r"/[A-Za-z]:/", path) else path


def candidates(target: str, folder: Path) -> list[Path]:
    """Where the file may be that a text names, the likeliest first. `folder`: where relative ones begin."""
    try:
        path = Path(target).expanduser()
    except RuntimeError:
        return []
    if path.is_absolute():
        return [path]
    found = [folder / path]
    if path.parts[:1] in (("a",), ("b",)) and len(path.parts) > 1:
        # As git names the two sides of a change.
        found.append(folder.joinpath(*path.parts[1:]))
    return found
