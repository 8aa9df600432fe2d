"""Puts the user guide, what it links to and its pictures into the package.

Not into an editable installation: that finds them beside the code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = ("user-guide", "writing-agents", "file-format", "run-semantics", "settings")
"""Of `docs`: the user guide, and what it sends its readers to."""


class GuideHook(BuildHookInterface):
    """Called by hatchling when it builds the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """`version`: "standard" or "editable". Files keep their places to each other, so that links work."""
        if version == "standard":
            root = Path(self.root)
            files = [
                root / "README.md",
                *(root / "docs" / f"{page}.md" for page in PAGES),
                *sorted((root / "docs" / "images").glob("*.png")),
            ]
            for file in files:
                place = file.relative_to(root).as_posix()
                build_data["force_include"][str(file)] = f"resources/{place}"
