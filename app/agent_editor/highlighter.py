"""Colours for Markdown, and for the YAML above it where a whole file is edited."""

from __future__ import annotations

import re
from enum import IntEnum

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.theme import mono_font, theme

LONGEST_LINE = 4_000
"""Characters of a line that is looked through; a longer one is nobody's prose."""
ALL_AT_ONCE = 1_500
"""Lines of a document that is coloured as a whole; of a longer one only what comes into view."""


class _State(IntEnum):
    """What a line leaves open for the next one. Fences have the number of their signs in the higher bits."""

    TEXT = 0
    BEFORE_MATTER = 1
    MATTER = 2
    FENCE = 3
    TILDES = 4


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
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
_DASHES = re.compile(r"-{3,}\s*")


class AgentHighlighter(QSyntaxHighlighter):
    """Colours a document from the theme. `has_matter`: it begins with front matter.

    Of a long document only lines that were in view are coloured, and the fences of all: `color_lines`.
    """

    def __init__(self, document: QTextDocument, *, has_matter: bool = False) -> None:
        super().__init__(document)
        self._has_matter = has_matter
        self._view = range(0)
        """The lines that are in view."""
        self._is_colouring = False
        self._lazy = document.blockCount() > ALL_AT_ONCE
        self._make_formats()

    def _make_formats(self) -> None:
        colors = theme()

        def make(
            token: str, *, bold: bool = False, italic: bool = False, mono: bool = False
        ) -> QTextCharFormat:
            form = QTextCharFormat()
            form.setForeground(colors.color(token))
            if bold:
                form.setFontWeight(QFont.Weight.DemiBold)
            form.setFontItalic(italic)
            if mono:
                form.setFontFamilies(mono_font().families())
            return form

        self._heading = make("text", bold=True)
        self._mark = make("quiet")
        self._code = make("other", mono=True)
        self._bold = make("text", bold=True)
        self._italic = make("text", italic=True)
        self._link = make("accent")
        self._tag = make("succeeded", bold=True, mono=True)
        self._key = make("accent", mono=True)
        self._yaml_key = make("accent")

    def follow_theme(self) -> None:
        """The colours are other ones now."""
        self._make_formats()
        self._lazy = self.document().blockCount() > ALL_AT_ONCE
        self.rehighlight()

    def color_lines(self, first: int, last: int) -> None:
        """These lines came into view (numbers from 0, both included)."""
        if not self._lazy or self._is_colouring:
            # Colouring a line tells the editor at once, which asks again.
            return
        self._is_colouring = True
        self._view = range(first, last + 1)
        block = self.document().findBlockByNumber(first)
        while block.isValid() and block.blockNumber() <= last:
            if block.length() > 1 and not block.layout().formats():
                self.rehighlightBlock(block)
            block = block.next()
        self._is_colouring = False

    # --- one line --------------------------------------------------------------------------------------

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        before = self.previousBlockState()
        if before < 0:
            before = _State.BEFORE_MATTER if self._has_matter else _State.TEXT
        kind, signs = before & 7, before >> 3
        if kind in (_State.BEFORE_MATTER, _State.MATTER):
            self._matter_line(text, kind)
            return
        fence = _FENCE.fullmatch(text) if text[:4].lstrip(" ")[:1] in ("`", "~") else None
        if kind in (_State.FENCE, _State.TILDES):
            sign = "`" if kind == _State.FENCE else "~"
            ends = (
                fence is not None and fence[1][0] == sign and len(fence[1]) >= signs and not fence[2].strip()
            )
            self.setCurrentBlockState(_State.TEXT if ends else before)
            if self._is_wanted():
                self.setFormat(0, len(text), self._mark if ends else self._code)
            return
        if fence is not None and not (fence[1][0] == "`" and "`" in fence[2]):
            kind = _State.FENCE if fence[1][0] == "`" else _State.TILDES
            self.setCurrentBlockState(kind | len(fence[1]) << 3)
            if self._is_wanted():
                self.setFormat(0, len(text), self._mark)
            return
        self.setCurrentBlockState(_State.TEXT)
        if text and len(text) <= LONGEST_LINE and self._is_wanted():
            self._prose(text)

    def _is_wanted(self) -> bool:
        return not self._lazy or self.currentBlock().blockNumber() in self._view

    def _matter_line(self, text: str, kind: int) -> None:
        dashes = _DASHES.fullmatch(text) is not None
        if kind == _State.BEFORE_MATTER:
            blank = not text.strip()
            self.setCurrentBlockState(
                _State.MATTER if dashes else _State.BEFORE_MATTER if blank else _State.TEXT
            )
            if not dashes and not blank:
                self._prose(text)
        else:
            self.setCurrentBlockState(_State.TEXT if dashes else _State.MATTER)
        if dashes:
            self.setFormat(0, len(text), self._mark)
        elif kind == _State.MATTER and len(text) <= LONGEST_LINE:
            key = _YAML_KEY.match(text)
            if key is not None:
                self.setFormat(_units(text, key.start(1)), len(key[1]), self._yaml_key)
            for comment in _YAML_COMMENT.finditer(text):
                self._paint(text, comment.start(), comment.end(), self._mark)

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
            self._paint(text, found.start(), found.end(), self._key)
        for found in _TAG.finditer(text):
            self._paint(text, found.start(), found.end(), self._tag)

    def _paint(self, text: str, start: int, end: int, form: QTextCharFormat) -> None:
        first = _units(text, start)
        self.setFormat(first, _units(text, end) - first, form)


def _units(text: str, at: int) -> int:
    """A place in a text as Qt counts it: a character beyond the first 65,536 is two."""
    return at if text.isascii() else len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
