"""Agents: Markdown files with YAML front matter (docs/writing-agents.md), and the library of them."""

from __future__ import annotations

from core.agent_definition import COMPLETING_ROLES, AgentDefinition
from core.agent_file import AgentFile, read_agent
from core.agent_folders import agent_folders
from core.agent_library import AgentLibrary

__all__ = [
    "COMPLETING_ROLES",
    "AgentDefinition",
    "AgentFile",
    "AgentLibrary",
    "agent_folders",
    "read_agent",
]
