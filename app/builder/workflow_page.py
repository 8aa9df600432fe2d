"""The page of the workflow's own settings, with its end condition checked while it is typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app import field_text
from app.builder import words
from app.builder.bound_field import bind_field
from app.builder.choices import backend_choices, isolation_choices, known_models, merge_strategy_choices
from app.builder.form_page import FormPage
from app.builder.payload_row import PayloadRow, PayloadState, mistake_in_words
from app.builder.payload_words import known_words, of_condition, of_list
from app.completion import FieldCompletion, Suggestions
from app.first_paint import after_first_paint
from app.form_rows import CheckRow, Choice, ChoiceRow, Row, TextRow
from core.condition import NAMES, ConditionError, compile_condition, condition_in_words
from core.config import DEFAULT_CONDITION, Workflow
from core.run_folders import unfit_current_folder
from core.settings_keys import Origin, is_content
from core.state import MergeRule

if TYPE_CHECKING:
    from app.document import WorkflowDocument


_CONDITION = "end_state_condition"
"""No other place has a say in it, but a file may leave it out."""


class WorkflowPage(FormPage):
    """The workflow's own settings."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._choices: list[tuple[ChoiceRow, Callable[[], list[Choice]]]] = []
        """Rows whose first choice is to say nothing, and their choices at present."""
        self._telling: set[str] = set()
        """What holds where nobody says anything, in words that tell where it comes from."""
        self._is_whole = False
        self._add_end()
        self._add_turns()
        # At the start of the application a file is opened before it, and has the page shown, whose window
        # is that high only on large screens. The longest labels are above, so no column moves.
        after_first_paint(self._add_rest)

    def _add_rest(self) -> None:
        from app.builder.merge_rules import MergeRules

        self._add_places()
        self._add_opencode()
        self.section(self.tr("When two agents write the same"))
        # Last, so that Tab comes to it last.
        self.merge_rules = MergeRules(lambda: known_words(self._document), self.body)
        self.merge_rules.changed_to.connect(self._set_merge)
        self.add_widget(self.merge_rules)
        self._is_whole = True
        self.refresh()

    # --- rows ------------------------------------------------------------------------------------------

    def _text(
        self,
        label: str,
        key: str,
        parse: Callable[[str], object] = field_text.parse_text,
        write: Callable[[object], str] = field_text.write_plain,
        *,
        hint: str = "",
        note: Callable[[], str] = str,
        steps: bool = False,
        mono: bool = False,
        wide: bool = False,
    ) -> TextRow:
        if not is_content(key) or key == _CONDITION:
            parse = _or_nothing(parse)
        row = TextRow(label, self.body, parse, write, steps=steps, mono=mono)
        self._bind_text(row, key, write, lambda: hint, note, wide=wide)
        return row

    def _folder(self, label: str, key: str, hint: Callable[[], str], note: Callable[[], str]) -> None:
        """A folder, relative to the one that the file stands in where it is below that."""
        from app.builder.folder_row import FolderRow

        row = FolderRow(label, self.body, lambda: self._document.default_workdir)
        self._bind_text(row, key, field_text.write_plain, hint, note)

    def _bind_text(
        self,
        row: TextRow,
        key: str,
        write: Callable[[object], str],
        hint: Callable[[], str],
        note: Callable[[], str],
        *,
        wide: bool = False,
    ) -> None:
        if key == _CONDITION:
            row.placeholder(lambda: self.tr("{0} (usual)").format(DEFAULT_CONDITION)).explain(note)
        elif is_content(key):
            row.placeholder(hint).explain(note)
        else:
            row.placeholder(lambda: self._held(key, write, hint()))
            row.explain(lambda: self._note(key, write, note))
        self._bind(row, key, wide=wide)

    def _choice(self, label: str, key: str, choices: list[Choice], note: Callable[[], str] = str) -> None:
        named = {str(choice.value): choice.label for choice in choices}

        def write(value: object) -> str:
            return named.get(str(value), "")

        row = ChoiceRow(label, self.body, choices)
        row.explain(lambda: self._note(key, write, note))
        own = [choice for choice in choices if choice.value is not None]
        unsaid = named.get(str(None), "")
        self._choices.append((row, lambda: [Choice(self._held(key, write, unsaid), None), *own]))
        self._bind(row, key)

    def _bind(self, row: Row, key: str, *, wide: bool = False) -> None:
        def read() -> object:
            if not is_content(key) or key == _CONDITION:
                return self._document.own(key)
            value: object = self._document.settings
            for part in key.split("."):
                value = getattr(value, part)
            return value

        label = row.label.text().lower()
        bind_field(
            self, row, self._document, key, tuple, read,
            lambda value: self._document.update_settings(label, {key: value}), wide=wide,
        )  # fmt: skip

    def _add_end(self) -> None:
        self._text(
            self.tr("Name"),
            "name",
            lambda text: text.strip() or "workflow",
        )
        self._text(
            self.tr("Loops, at most"), "max_loops", field_text.parse_required_count, steps=True,
            note=lambda: self.tr("one pass over all steps of the loop is one"),
        )  # fmt: skip
        self.condition = self._text(
            self.tr("The loop ends when"),
            _CONDITION,
            lambda text: text,
            mono=True,
            wide=True,
            note=self._condition_note,
        )
        self.condition.edited.connect(self._check_condition)
        self.completion = FieldCompletion(self.condition.field, self._suggest, below=self.condition.error)
        self._finalize = CheckRow(self.tr("Finalization"), self.body, "")
        self.add(
            self._finalize,
            lambda: self._document.in_force("finalize_on_abort").value,
            lambda value: self._document.update_settings(
                self.tr("finalization"), {"finalize_on_abort": value}
            ),
        )
        self._finalize.finished.connect(self._document.end_merging)
        self._finalize.setObjectName("finalize_on_abort")
        self._add_payload()

    def _add_payload(self) -> None:
        self.payload = PayloadRow(self.tr("Initial payload"), self.body)
        self.payload.placeholder(lambda: self.tr("{0} (usual)").format("{}"))
        self.payload.explain(
            lambda: self.tr("JSON that the first agents get, such as {0}; every agent may add to it").format(
                '{"goal": "…"}'
            )
        )
        self.payload.setObjectName("initial_payload")
        self.payload.finished.connect(self._document.end_merging)
        self.add(
            self.payload,
            lambda: PayloadState(self._document.settings.initial_payload, self._document.outline.unfinished),
            self._write_payload,
            wide=True,
        )

    def _write_payload(self, read: object) -> None:
        # Not needed for the first paint of the window.
        from core.payload_text import PayloadText

        if isinstance(read, PayloadText):
            with self._document.typing():
                self._document.write_payload(read.text, read.payload, mistake_in_words(read))

    def _add_turns(self) -> None:
        self.section(self.tr("Agents at work"))
        processors = self.tr("{0} (processors)").format(Workflow().parallel_cap)
        self._telling.add(processors)
        self._text(
            self.tr("At once"), "max_parallel_agents", field_text.parse_count, steps=True,
            hint=processors,
            note=lambda: self.tr("agents of a parallel step, where it has no number of its own"),
        )  # fmt: skip
        self._text(
            self.tr("Time for an agent"),
            "agent_timeout",
            lambda text: field_text.parse_duration(text) or 0.0,
            field_text.write_duration,
            hint=self.tr("none"),
            note=lambda: self.tr("then it is stopped; “none” lets it work as long as it takes"),
        )
        self._text(
            self.tr("Silence, at most"),
            "agent_idle_timeout",
            lambda text: field_text.parse_duration(text) or 0.0,
            field_text.write_duration,
            hint=self.tr("none"),
            note=lambda: self.tr("then it is stopped; silence is always shown"),
        )
        self._text(
            self.tr("Warn after silence"),
            "agent_idle_warning",
            lambda text: field_text.parse_duration(text) or 0.0,
            field_text.write_duration,
            hint=self.tr("none"),
            note=lambda: self.tr("nothing is stopped by it; “none” for no warning"),
        )
        self._choice(
            self.tr("When one fails"),
            "on_parallel_error",
            [
                Choice(self.tr("Stop the others"), "abort"),
                Choice(self.tr("Let the others finish"), "continue"),
            ],
            lambda: self.tr("in parallel groups; finished results are kept either way"),
        )
        self._text(
            self.tr("Try again"), "retries", field_text.parse_number, field_text.write_plain, steps=True,
            note=lambda: self.tr("times, after an overload or a broken connection"),
        )  # fmt: skip
        self._choice(
            self.tr("No state update"),
            "on_missing_state",
            [
                Choice(self.tr("Ask me"), "ask"),
                Choice(self.tr("Go on without it"), "continue"),
                Choice(self.tr("End the run"), "abort"),
            ],
            lambda: self.tr("when an agent does not answer with one after two corrections"),
        )
        self._text(
            self.tr("Budget"), "budget.max_cost_usd", field_text.parse_money, field_text.write_money,
            hint=self.tr("none"), note=lambda: self.tr("US dollars for a run"),
        )  # fmt: skip
        self._text(
            self.tr("Budget of a group"), "budget.max_cost_usd_per_group", field_text.parse_money,
            field_text.write_money, hint=self.tr("none"), note=lambda: self.tr("US dollars for one pass"),
        )  # fmt: skip
        self._text(
            self.tr("Tokens, at most"), "budget.max_tokens", field_text.parse_optional_number,
            hint=self.tr("none"), note=lambda: self.tr("of all agents together, for a run"),
        )  # fmt: skip
        self._choice(
            self.tr("When a cap is reached"),
            "budget.when_reached",
            [
                Choice(self.tr("Stop the agents at work"), "stop"),
                Choice(self.tr("Let them finish"), "finish"),
            ],
            lambda: self.tr("nothing new starts either way, and the run can go on with a higher cap"),
        )

    def _about_workdir(self) -> str:
        unfit = unfit_current_folder() if self._document.path is None else None
        if unfit is None or self._document.own("workdir") is not None:
            return self.tr("where agents read and write files")
        words = self.tr("where agents read and write files until this is saved; OpenLoop was started in {0}")
        return words.format(unfit)

    def _add_places(self) -> None:
        self.section(self.tr("Where"))
        self._folder(
            self.tr("Work folder"),
            "workdir",
            lambda: str(self._document.default_workdir),
            self._about_workdir,
        )
        self._choice(self.tr("Each agent works in"), "isolation", isolation_choices())
        self._choice(
            self.tr("Work is merged"),
            "merge_strategy",
            merge_strategy_choices(),
            lambda: self.tr("how what agents wrote in worktrees of their own comes together"),
        )
        self._folder(
            self.tr("Log folder"),
            "log_dir",
            lambda: ".openloop",
            lambda: self.tr("in the work folder, where nothing else is said"),
        )
        self._folder(
            self.tr("Agents folder"),
            "agents_dir",
            lambda: self.tr("agents, beside the file"),
            lambda: self.tr("where this workflow’s agents are found"),
        )
        self._text(
            self.tr("Prepare with"), "init_script", hint=self.tr("nothing"), mono=True,
            note=lambda: self.tr("a command, run once in the work folder before the first agent"),
        )  # fmt: skip
        self._text(
            self.tr("Prompt, at most"), "max_prompt_bytes", field_text.parse_count, steps=True,
            hint=self.tr("no limit"), note=lambda: self.tr("bytes; a larger prompt is not sent"),
        )  # fmt: skip
        self.backend = ChoiceRow(self.tr("Agents run with"), self.body, [])
        self.backend.explain(lambda: self.tr("where an agent does not say otherwise"))
        self._bind(self.backend, "backend")

    def _add_opencode(self) -> None:
        self.section(self.tr("opencode"))
        hint = self.tr("as opencode is set up")
        self._telling.add(hint)
        model = self._text(self.tr("Model"), "opencode_defaults.model", hint=hint)
        self.models = FieldCompletion(model.field, self._suggest_model, free=True)
        self._text(self.tr("Agent"), "opencode_defaults.agent", hint=hint)
        self._text(self.tr("Variant"), "opencode_defaults.variant", hint=hint)
        self._choice(
            self.tr("Plug-ins"),
            "opencode_defaults.pure",
            [
                Choice(hint, None),
                Choice(self.tr("Without plug-ins (pure)"), True),
                Choice(self.tr("With plug-ins"), False),
            ],
        )
        self._choice(
            self.tr("Its own log"),
            "opencode_defaults.log_level",
            [Choice(hint, None), *(Choice(level, level) for level in ("DEBUG", "INFO", "WARN", "ERROR"))],
        )
        self._text(
            self.tr("More arguments"), "opencode_defaults.extra_args", field_text.parse_arguments,
            field_text.write_arguments, mono=True,
        )  # fmt: skip

    # --- what other places say -------------------------------------------------------------------------

    def _held(self, key: str, write: Callable[[object], str], nothing: str) -> str:
        """What holds where the workflow says nothing, and where from. `nothing`: no value at all."""
        setting = self._document.in_force(key)
        text = nothing if setting.value is None else write(setting.value)
        if setting.origin is Origin.WORKFLOW:
            return text
        if setting.origin is Origin.DEFAULT and setting.value is None and text in self._telling:
            return text
        return self.tr("{0} ({1})").format(text or self.tr("none"), words.where_from(setting))

    def _note(self, key: str, write: Callable[[object], str], note: Callable[[], str]) -> str:
        """The note of a field; where the environment overrules what the field says, that."""
        setting = self._document.in_force(key)
        if setting.origin is Origin.WORKFLOW or self._document.own(key) is None:
            return note()
        return self.tr("overruled: {0}, by {1}").format(
            write(setting.value) or self.tr("none"), words.where_from(setting)
        )

    def _show_finalization(self) -> None:
        setting = self._document.in_force("finalize_on_abort")
        text = self.tr("also when all loops are used up")
        if setting.origin not in (Origin.WORKFLOW, Origin.DEFAULT):
            text = self.tr("{0} ({1})").format(text, words.where_from(setting))
        self._finalize.box.set_words(text)
        self._finalize.box.setAccessibleName(f"{self._finalize.label.text()}: {text}")

    # --- the condition ---------------------------------------------------------------------------------

    def _condition_note(self) -> str:
        if condition_error(self._document.settings.end_state_condition):
            return self.tr("It may use: {0}.").format(", ".join(NAMES))
        in_words = condition_in_words(self._document.settings.end_state_condition)
        return self.tr("Ends when {0}. It may use: {1}.").format(in_words, ", ".join(NAMES))

    @Slot()
    def _check_condition(self) -> None:
        self.condition.show_error(condition_error(self._document.settings.end_state_condition))
        self.condition.refresh_note()

    def _suggest(self, text: str, caret: int, asked: bool) -> Suggestions:
        return of_condition(known_words(self._document), text, caret, asked)

    def _suggest_model(self, text: str, caret: int, asked: bool) -> Suggestions:
        del caret
        return Suggestions(0, len(text), of_list(known_models(self._document), text, asked))

    @Slot(object)
    def _set_merge(self, rules: object) -> None:
        self._document.update_settings(self.tr("merge rules"), {"merge": rules})
        self._document.end_merging()

    def refresh(self) -> None:
        for row, choices in self._choices:
            row.set_choices(choices())
        self._show_finalization()
        if self._is_whole:
            self._refresh_rest()
        super().refresh()
        self._check_condition()

    def _refresh_rest(self) -> None:
        held = self._held("backend", field_text.write_plain, "opencode")
        own = self._document.settings.backend
        self.backend.set_choices(backend_choices(self._document, held, [own] if own is not None else []))
        elsewhere = {
            path: (MergeRule(str(setting.value)), words.inherited_from(setting))
            for path, setting in self._document.rules_elsewhere().items()
        }
        self.merge_rules.show_rules(self._document.settings.merge, elsewhere)


def condition_error(source: str) -> str:
    """What is wrong with an end condition, in a sentence with its column; empty: nothing."""
    try:
        compile_condition(source)
    except ConditionError as error:
        if error.column is None:
            return str(error)
        return words.tr("Column {0}: {1}").format(error.column, error)
    return ""


def _or_nothing(parse: Callable[[str], object]) -> Callable[[str], object]:
    """The same for a setting that other places have a say in: an empty field says nothing."""
    return lambda text: parse(text) if text.strip() else None
