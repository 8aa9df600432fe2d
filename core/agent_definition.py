"""What an agent is, as a model. Files: `core.agent_file`; folders of them: `core.agent_library`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

COMPLETING_ROLES = frozenset({"auditor", "approver", "finalizer", "finalization"})
"""Roles whose `is_complete: true` counts without `can_complete` (DESIGN, run semantics 5)."""

SUGGESTED_ROLES = (*sorted(COMPLETING_ROLES), "analyst", "author", "reviewer", "tester")
"""Roles that are offered; any other word is as good."""


class AgentDefinition(BaseModel):
    """One agent: who it is (front matter) and its system prompt (the Markdown body).

    Keys that OpenLoop does not know are kept (`model_extra`) and named in a warning.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    role: str = ""
    description: str = ""
    backend: str | None = None
    model: str | None = None
    variant: str | None = None
    timeout: float | None = Field(default=None, ge=0)
    can_complete: bool | None = None
    prompt: str = ""
    path: Path | None = None
    folder: str = ""
    """Sub-folder of the agents folder, with `/`; empty at the top."""

    @property
    def may_complete(self) -> bool:
        """Whether `is_complete: true` of this agent counts. An explicit `can_complete` beats the role."""
        if self.can_complete is not None:
            return self.can_complete
        return self.role.strip().lower() in COMPLETING_ROLES
