"""What is wrong with a workflow's own settings: folders, numbers, texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from core.agent import AgentLibrary
from core.config import Workflow, WorkflowFile
from core.findings import Finding
from core.fixes import ChangeSetting
from core.jsonc import JsonPath
from core.problems import Severity
from core.run_folders import workdir_of
from core.words import say

_MANY_RETRIES = 20
_USUAL_RETRIES, _USUAL_PROMPT = 3, 100_000
_SMALL_PROMPT = 4_000
"""Bytes; what agents are told about the workflow alone comes near this."""


def setting_findings(file: WorkflowFile, library: AgentLibrary, workdir: Path | None) -> Iterator[Finding]:
    """What is found in them. `workdir`: the working folder that replaces the workflow's own."""
    yield from _folders(file, library, workdir)
    yield from _numbers(file.workflow)
    yield from _texts(file.workflow)


def _folders(file: WorkflowFile, library: AgentLibrary, workdir: Path | None) -> Iterator[Finding]:
    workflow = file.workflow
    folder = workdir or (workdir_of(file) if workflow.workdir else None)
    if folder is not None and not folder.is_dir():
        yield Finding(
            ("workdir",),
            say("The working folder {folder} is a file.", folder=folder)
            if folder.exists()
            else say("The working folder {folder} does not exist.", folder=folder),
            say("Name a folder.") if folder.exists() else say("Create it, or name another one."),
            fix=ChangeSetting("workdir", None) if workdir is None else None,
        )
    agents = library.folders[0] if library.folders else None
    if workflow.agents_dir and agents is not None and not agents.is_dir():
        yield Finding(
            ("agents_dir",),
            say("The agents folder {agents} does not exist.", agents=agents),
            say("Create it, or name another one."),
            fix=ChangeSetting("agents_dir", None),
        )


def _numbers(workflow: Workflow) -> Iterator[Finding]:
    budget = workflow.budget
    if workflow.retries > _MANY_RETRIES:
        yield Finding(
            ("retries",),
            say(
                "{count} retries may wait for hours: every wait is longer than the one before.",
                count=workflow.retries,
            ),
            say("{number} is usual.", number=_USUAL_RETRIES),
            fix=ChangeSetting("retries", _USUAL_RETRIES),
            severity=Severity.WARNING,
        )
    for key in ("max_cost_usd", "max_cost_usd_per_group", "max_tokens"):
        if getattr(budget, key) == 0:
            yield Finding(
                ("budget", key),
                say("With {key} 0 the run ends before its first agent.", key=key),
                say("Remove it for no limit."),
                fix=ChangeSetting(f"budget.{key}", None),
            )
    total, per_group = budget.max_cost_usd, budget.max_cost_usd_per_group
    if total is not None and per_group is not None and per_group > total:
        yield Finding(
            ("budget", "max_cost_usd_per_group"),
            say("A group may cost more than the whole run, so its own limit is never reached."),
            fix=ChangeSetting("budget.max_cost_usd_per_group", None),
            severity=Severity.WARNING,
        )
    if workflow.max_prompt_bytes is not None and workflow.max_prompt_bytes < _SMALL_PROMPT:
        yield Finding(
            ("max_prompt_bytes",),
            say(
                "Hardly any prompt fits into {count} bytes.",
                count=workflow.max_prompt_bytes,
            ),
            say("{number} is a usual limit.", number=_USUAL_PROMPT),
            fix=ChangeSetting("max_prompt_bytes", _USUAL_PROMPT),
            severity=Severity.WARNING,
        )
    try:
        orjson.dumps(workflow.initial_payload)
    except orjson.JSONEncodeError as error:
        yield Finding(
            ("initial_payload",), say("The payload cannot be given to agents: {error}.", error=error)
        )


def _texts(workflow: Workflow) -> Iterator[Finding]:
    """No command, argument or path can have a NUL: starting it would fail."""
    defaults = workflow.opencode_defaults
    texts: dict[JsonPath, str | None] = {
        ("init_script",): workflow.init_script,
        ("log_dir",): workflow.log_dir,
        ("opencode_defaults", "model"): defaults.model,
        ("opencode_defaults", "agent"): defaults.agent,
        ("opencode_defaults", "variant"): defaults.variant,
        ("opencode_defaults", "extra_args"): "".join(defaults.extra_args),
    }
    for path, text in texts.items():
        if "\0" in (text or ""):
            yield Finding(
                path,
                say("{key} has a NUL character, which no command or path can have.", key=path[-1]),
                say("Remove it."),
            )
