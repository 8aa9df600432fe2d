"""Colours for Markdown, and for the YAML above it where a whole file is edited."""

from __future__ import annotations

import bisect
import re
from enum import Enum

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QTextCharFormat, QTextLayout

from app.agent_editor.plain_document import PlainDocument
from app.theme import theme
from core.front_matter import split_text

LONGEST_LINE = 4_000
"""Characters of a line that is looked through; a longer one is nobody's prose."""


class _Kind(Enum):
    """What a line is part of. MARK: the signs around front matter or code."""

    PROSE = "prose"
    MATTER = "matter"
    CODE = "code"
    MARK = "mark"


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,6}(?=\s|$).*")
_LIST = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?=\s)(?:\s+\[[ xX]\](?=\s))?")
_QUOTE = re.compile(r" {0,3}>")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_ITALIC = re.compile(r"(?<![*\w])(\*|_)(?![*_\s])([^*_]+?)(?<![\s*_])\1(?![*\w])")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(([^)\s]*)[^)]*\)|<https?://[^>\s]+>|https?://[^\s)>\]]+")
_TAG = re.compile(r"</?(?:state_update|workflow_state)>")
_STATE_KEY = re.compile(
    r"\b(?:payload(?:\.\w+)*|is_complete|termination_reason|current_phase|meta(?:\.\w+)+)\b"
)
_YAML_KEY = re.compile(r"\s*(?:-\s+)*([^\s#:'\"][^#:]*)(:)(?=\s|$)")
_YAML_COMMENT = re.compile(r"(?:^|\s)#.*")


class AgentHighlighter(QObject):
    """Colours the lines of a document that are in view: `color_lines`. `has_matter`: it begins with YAML.

    Not a QSyntaxHighlighter, which colours all lines before the first is shown.
    """

    def __init__(self, document: PlainDocument, *, has_matter: bool = False) -> None:
        super().__init__(document)
        self._document = document
        self._has_matter = has_matter
        self._is_colouring = False
        self._coloured: dict[int, tuple[str, _Kind]] = {}
        """The lines in view that have their colours, as they were then."""
        self._kinds: tuple[int, list[tuple[int, _Kind]]] = (-1, [])
        """By the document's revision: from which lines on there is which kind of text."""
        self._ranges: list[QTextLayout.FormatRange] = []
        self._make_formats()

    def _make_formats(self) -> None:
        colors = theme()

        def make(token: str, *, bold: bool = False, italic: bool = False) -> QTextCharFormat:
            form = QTextCharFormat()
            form.setForeground(colors.color(token))
            if bold:
                form.setFontWeight(QFont.Weight.DemiBold)
            form.setFontItalic(italic)
            return form

        self._heading = make("text", bold=True)
        self._mark = make("quiet")
        self._code = make("other")
        self._bold = make("text", bold=True)
        self._italic = make("text", italic=True)
        self._link = make("accent")
        self._tag = make("succeeded", bold=True)

    def follow_theme(self) -> None:
        """The colours are other ones now."""
        self._make_formats()
        self._coloured.clear()

    def color_lines(self, first: int, last: int) -> None:
        """These lines are in view (numbers from 0, both included)."""
        if self._is_colouring:
            # Colouring a line tells the editor at once, which asks again.
            return
        self._is_colouring = True
        coloured: dict[int, tuple[str, _Kind]] = {}
        block = self._document.findBlockByNumber(first)
        for number in range(first, last + 1):
            if not block.isValid():
                break
            text = block.text()
            now = (text, self._kind_of(number))
            if self._coloured.get(number) != now:
                self._ranges = []
                self._line(*now)
                # To tell of no change would make the editor lay out a line of a million characters again.
                if self._ranges or block.layout().formats():
                    block.layout().setFormats(self._ranges)
                    self._document.markContentsDirty(block.position(), block.length())
            coloured[number] = now
            block = block.next()
        self._coloured = coloured
        self._is_colouring = False

    # --- what a line is in -----------------------------------------------------------------------------

    def _kind_of(self, number: int) -> _Kind:
        revision = self._document.revision()
        if self._kinds[0] != revision:
            self._kinds = (revision, kinds_of_lines(self._document.shown(), has_matter=self._has_matter))
            self._coloured.clear()
        starts = self._kinds[1]
        return starts[bisect.bisect_right(starts, number, key=lambda start: start[0]) - 1][1]

    # --- one line --------------------------------------------------------------------------------------

    def _line(self, text: str, kind: _Kind) -> None:
        if len(text) > LONGEST_LINE:
            return
        if kind is _Kind.MARK:
            self._paint(text, 0, len(text), self._mark)
        elif kind is _Kind.CODE:
            self._paint(text, 0, len(text), self._code)
        elif kind is _Kind.MATTER:
            key = _YAML_KEY.match(text)
            if key is not None:
                self._paint(text, key.start(1), key.end(1), self._link)
            for comment in _YAML_COMMENT.finditer(text):
                self._paint(text, comment.start(), comment.end(), self._mark)
        else:
            self._prose(text)

    def _prose(self, text: str) -> None:
        if _RULE.fullmatch(text):
            self._paint(text, 0, len(text), self._mark)
            return
        if _HEADING.fullmatch(text):
            self._paint(text, 0, len(text), self._heading)
        for pattern in (_LIST, _QUOTE):
            found = pattern.match(text)
            if found is not None:
                self._paint(text, 0, found.end(), self._link)
        for found in _BOLD.finditer(text):
            self._paint(text, found.start(), found.end(), self._bold)
        for found in _ITALIC.finditer(text):
            self._paint(text, found.start(), found.end(), self._italic)
        for found in _LINK.finditer(text):
            self._paint(text, found.start(), found.end(), self._link)
        for found in _CODE.finditer(text):
            self._paint(text, found.start(), found.end(), self._code)
        for found in _STATE_KEY.finditer(text):
            self._paint(text, found.start(), found.end(), self._link)
        for found in _TAG.finditer(text):
            self._paint(text, found.start(), found.end(), self._tag)

    def _paint(self, text: str, start: int, end: int, form: QTextCharFormat) -> None:
        part = QTextLayout.FormatRange()
        part.start = _units(text, start)
        part.length = _units(text, end) - part.start
        part.format = form
        self._ranges.append(part)


def kinds_of_lines(text: str, *, has_matter: bool) -> list[tuple[int, _Kind]]:
    """From which lines on (numbers from 0) there is which kind of text; the first is 0."""
    found: list[tuple[int, _Kind]] = [(0, _Kind.PROSE)]
    matter = _matter_lines(text) if has_matter else None
    if matter is not None:
        first, last = matter
        found += [(first, _Kind.MARK), (first + 1, _Kind.MATTER), (last, _Kind.MARK), (last + 1, _Kind.PROSE)]
    open_sign, open_length = "", 0
    counted, line = 0, 0
    for fence in _FENCE.finditer(text):
        line += text.count("\n", counted, fence.start())
        counted = fence.start()
        if matter is not None and line <= matter[1]:
            continue
        sign, rest = fence[1][0], fence[2]
        if open_sign:
            if sign == open_sign and len(fence[1]) >= open_length and not rest.strip():
                found += [(line, _Kind.MARK), (line + 1, _Kind.PROSE)]
                open_sign = ""
        elif sign == "~" or "`" not in rest:
            found += [(line, _Kind.MARK), (line + 1, _Kind.CODE)]
            open_sign, open_length = sign, len(fence[1])
    return found


def _matter_lines(text: str) -> tuple[int, int] | None:
    """The lines of the dashes around front matter."""
    parts = split_text(text)
    if parts.matter is None:
        return None
    first = parts.opening.rstrip().count("\n")
    return first, f"{parts.opening}{parts.matter}".count("\n")


def _units(text: str, at: int) -> int:
    """A place in a text as Qt counts it: a character beyond the first 65,536 is two."""
    return at if text.isascii() else len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
