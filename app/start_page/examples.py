"""The examples that ship with OpenLoop, as a newcomer reads about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication

import resources
from app.start_page.shape import Shape, shape_of
from core.problems import UserFileError
from core.workflow_file import load_workflow


@dataclass(frozen=True, slots=True)
class Example:
    """One example: its file, what it is called, what happens in it in a sentence or two, its shape."""

    path: Path
    title: str
    text: str
    shape: Shape


def _tr(text: str) -> str:
    return QCoreApplication.translate("start_page", text)


_ORDER = ("author_and_auditor", "audit", "pipeline")


def _words(name: str) -> tuple[str, str]:
    """Title and text of an example by the name of its file; empty for one that is not known here."""
    return {
        "author_and_auditor": (
            _tr("Author and auditor"),
            _tr(
                "An author writes a text, an auditor reads it as its reader would. They take turns until "
                "the auditor would publish it."
            ),
        ),
        "audit": (
            _tr("Three auditors and a consolidator"),
            _tr(
                "After every round of changes three auditors look at them at the same time: correctness, "
                "style, security. In the end a consolidator sums up."
            ),
        ),
        "pipeline": (
            _tr("Pipeline with a budget"),
            _tr(
                "A planner cuts the task into steps, a builder builds them one by one, tester and reviewer "
                "check side by side, a reporter hands over. A budget caps the cost."
            ),
        ),
    }.get(name, ("", ""))


def examples() -> list[Example]:
    """The examples, the simplest first. Reads some small files of the package."""
    found: list[Example] = []
    known = {name: number for number, name in enumerate(_ORDER)}
    for path in sorted(resources.example_workflows(), key=lambda path: known.get(path.stem, len(known))):
        try:
            workflow = load_workflow(path).workflow
        except UserFileError:
            # Somebody changed the installed files: what cannot be opened is not offered.
            continue
        title, text = _words(path.stem)
        found.append(Example(path, title or workflow.name, text, shape_of(workflow)))
    return found
