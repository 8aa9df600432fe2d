"""What ships with OpenLoop: example agents and workflows, icons, JSON Schemas.

The same in a checkout and installed: packages are always unpacked, so every path is a real file.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def folder() -> Path:
    """The folder of this package."""
    return Path(str(files(__name__)))


def agents_folder() -> Path:
    """The example agents: Markdown files in sub-folders."""
    return folder() / "agents"


def agent_template(name: str) -> str:
    """The text of a new agent: auditor, author, tester, finalizer or empty. `{name}` stands for its name."""
    return (folder() / "agent_templates" / f"{name}.md").read_text(encoding="utf-8")


def example_workflows() -> tuple[Path, ...]:
    """The example workflows, by name."""
    return tuple(sorted((folder() / "workflows").glob("*.json")))


def example_workflow(name: str = "audit") -> Path:
    """One example workflow by its file name without .json."""
    return folder() / "workflows" / f"{name}.json"


def schema_file() -> Path:
    """The JSON Schema of workflow files; `core.schema` makes it."""
    return folder() / "workflow.schema.json"


def report_schema_file() -> Path:
    """The JSON Schema of runs' reports; `core.report_schema` makes it."""
    return folder() / "report.schema.json"


def settings_schema_file() -> Path:
    """The JSON Schema of files with settings; `core.schema` makes it."""
    return folder() / "settings.schema.json"
