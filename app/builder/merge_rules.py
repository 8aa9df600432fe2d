"""Rules of the merge, by path: a short table with a row to add one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app.builder.payload_words import Keys, of_path
from app.buttons import Button, ButtonLook
from app.completion import FieldCompletion, Suggestions
from app.fields import FIELD_HEIGHT, OutlinedField
from app.form_rows import Choice, ChoiceRow
from app.labels import ElidedLabel, QuietLabel
from app.theme import TextSize, font, icon, mono_font
from app.why_not import tell_why_off
from core.state import MergeRule

Elsewhere = Mapping[str, tuple[MergeRule, str]]
"""By path: the rule of another place, and that place in words."""


_NARROW = 520
"""Pixels; with less, a path stands above its rule."""


class MergeRules(QWidget):
    """Which rule holds for which path of the state.

    Signals: `changed_to(dict)` with all own rules, path to MergeRule, after an edit.
    """

    changed_to = Signal(object)

    def __init__(self, known: Callable[[], Mapping[Keys, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._known = known
        self._rules: dict[str, MergeRule] = {}
        self._elsewhere: Elsewhere = {}
        self._rows_of_rules: list[tuple[QWidget, ...]] = []
        """Path, rule, and what stands behind it, of each rule that is shown."""
        self._narrow = False
        self._rows = QWidget(self)
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(3, 1)
        self._none = QLabel(
            self.tr("The last listed agent wins; objects are merged. Name a path to have it otherwise."), self
        )
        self._none.setWordWrap(True)
        self._none.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.path_field = OutlinedField(self)
        self.path_field.setPlaceholderText("payload.findings")
        self.path_field.setFont(mono_font())
        self.path_field.setAccessibleName(self.tr("Path of the state"))
        self.path_field.setAccessibleDescription(self.tr("Ctrl+Space shows the paths that are known."))
        self.path_field.setMinimumHeight(FIELD_HEIGHT)
        self.path_field.setMaximumWidth(360)
        self.completion = FieldCompletion(self.path_field, self._suggest, free=True)
        self.add_button = Button(self.tr("Add a rule"), ButtonLook.OUTLINED, "plus", self)
        tell_why_off(self.add_button, self.tr("Write a path that has no rule yet."))
        self.add_button.setEnabled(False)
        adding = QHBoxLayout()
        adding.setSpacing(12)
        adding.setContentsMargins(0, 0, 0, 0)
        adding.addWidget(self.path_field, 2)
        adding.addWidget(self.add_button)
        adding.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self._none)
        layout.addWidget(self._rows)
        layout.addLayout(adding)
        self._rows.hide()
        self.path_field.textChanged.connect(self._offer)
        self.path_field.returnPressed.connect(self._add)
        self.add_button.clicked.connect(self._add)

    def show_rules(self, rules: Mapping[str, MergeRule], elsewhere: Elsewhere | None = None) -> None:
        """Show these rules without telling that they were edited. `elsewhere`: rules that hold, too, and that
        other places give."""
        others = dict(elsewhere or {})
        if dict(rules) == self._rules and others == self._elsewhere:
            return
        self._rules, self._elsewhere = dict(rules), others
        self._rows_of_rules.clear()
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for path, rule in self._rules.items():
            self._add_row(path, rule)
        for path, (rule, place) in others.items():
            self._add_other(path, rule, place)
        self._rows.setVisible(bool(self._rows.findChildren(QWidget)) and bool(self._rules or others))
        self._offer(self.path_field.text())

    @property
    def elsewhere(self) -> Elsewhere:
        """The rules of other places that are shown."""
        return self._elsewhere

    def _path_label(self, path: str) -> ElidedLabel:
        label = ElidedLabel(parent=self._rows)
        label.setFont(mono_font())
        label.set_text(path)
        return label

    def _add_row(self, path: str, rule: MergeRule) -> None:
        row = ChoiceRow(path, self._rows, [Choice(self._in_words(each), each) for each in MergeRule])
        row.label.hide()
        row.note.hide()
        row.show_value(rule)
        row.edited.connect(lambda value: self._change(path, value))
        remove = QToolButton(self._rows)
        remove.setIcon(icon("x", "quiet"))
        remove.setAutoRaise(True)
        remove.setToolTip(self.tr("Remove this rule"))
        remove.setAccessibleName(self.tr("Remove the rule of {0}").format(path))
        remove.clicked.connect(lambda: self._change(path, None))
        self._place(self._path_label(path), row.box, remove)

    def _add_other(self, path: str, rule: MergeRule, place: str) -> None:
        words = QuietLabel(self._in_words(rule), self._rows)
        words.setWordWrap(True)
        where = QuietLabel(place, self._rows)
        where.setFont(font(TextSize.SMALL))
        where.setWordWrap(True)
        self._place(self._path_label(path), words, where)

    def _place(self, *parts: QWidget) -> None:
        self._rows_of_rules.append(parts)
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        narrow = event.size().width() < _NARROW
        if narrow != self._narrow:
            self._narrow = narrow
            self._lay_out()

    def _lay_out(self) -> None:
        """A path beside its rule, or above it where there is little room."""
        while self._grid.takeAt(0) is not None:
            pass
        for number, (path, rule, last) in enumerate(self._rows_of_rules):
            at, first = 2 * number, 0 if self._narrow else 1
            self._grid.addWidget(path, at, 0, 1, 3 if self._narrow else 1)
            self._grid.addWidget(rule, at + (1 if self._narrow else 0), first)
            self._grid.addWidget(last, at + (1 if self._narrow else 0), first + 1)
        self._grid.setColumnStretch(3, 0 if self._narrow else 1)
        self._grid.setColumnStretch(0, 1 if self._narrow else 0)

    def _in_words(self, rule: MergeRule) -> str:
        return {
            MergeRule.LAST: self.tr("last: the last listed wins"),
            MergeRule.FIRST: self.tr("first: the first listed wins"),
            MergeRule.APPEND: self.tr("append: lists one after another"),
            MergeRule.UNION: self.tr("union: lists without doubles"),
            MergeRule.SUM: self.tr("sum"),
            MergeRule.MAX: self.tr("max: the greatest"),
            MergeRule.MIN: self.tr("min: the least"),
            MergeRule.ALL: self.tr("all: true when all say so"),
            MergeRule.ANY: self.tr("any: true when one says so"),
            MergeRule.ERROR: self.tr("error: end the run"),
        }[rule]

    def _change(self, path: str, rule: object) -> None:
        rules = dict(self._rules)
        if isinstance(rule, MergeRule):
            rules[path] = rule
        else:
            rules.pop(path, None)
        self.changed_to.emit(rules)

    def _suggest(self, text: str, caret: int, asked: bool) -> Suggestions:
        del caret
        return of_path(self._known(), self._rules, text, asked)

    @Slot(str)
    def _offer(self, text: str) -> None:
        self.add_button.setEnabled(bool(text.strip()) and text.strip() not in self._rules)

    @Slot()
    def _add(self) -> None:
        path = self.path_field.text().strip()
        if self.add_button.isEnabled():
            self.path_field.clear()
            self._change(path, MergeRule.ALL if path == "is_complete" else MergeRule.APPEND)
