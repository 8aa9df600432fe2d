"""Loading a workflow file with comments: speed, and whether the place of a mistake is exact.

python benchmarks/load.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.report import Row, alone, milliseconds
from benchmarks.state import timed
from core.jsonc import parse_jsonc
from core.problems import UserFileError
from core.workflow_file import inspect_workflow

MEGABYTES = 4


def rows() -> Iterator[Row]:
    """All rows."""
    plain = _text(comments=False)
    for name, text in (("with comments and trailing commas", _text(comments=True)), ("plain JSON", plain)):
        took = timed(lambda text=text: parse_jsonc(text), 3)  # type: ignore[misc]
        json_took = timed(lambda: json.loads(plain), 3)
        speed = len(text) / took / 1e6
        yield Row(
            f"JSONC of {len(text) / 1e6:.1f} MB, {name}",
            f"{speed:.0f} MB/s",
            f"json.loads {len(plain) / json_took / 1e6:.0f} MB/s",
            took / json_took,
            ">= 8 MB/s",
            speed >= 8,
        )
    yield from _mistakes(_text(comments=True))
    yield from _workflow()


def _text(*, comments: bool) -> str:
    # Long enough that the file stays below the number of values that any workflow may hold.
    prompt = "Look through src/**/*.py and https://example.org/a//b, and write down what you find there"
    task = f'{{ "prompt": "{prompt}", "id": "task%d" }}'
    note = "  // what the next one is for\n" if comments else ""
    count = int(MEGABYTES * 1e6 / (len(task) + len(note) + 6))
    items = ",\n".join(f"{note}    {task % number}" for number in range(count))
    end = ",\n" if comments else "\n"
    return f'{{\n  "tasks": [\n{items}{end}  ]\n}}\n'


def _mistakes(text: str) -> Iterator[Row]:
    lines = text.split("\n")
    number = len(lines) - 10
    broken = lines[number].replace('"id": ', '"id": oops', 1)
    assert broken != lines[number]
    lines[number] = broken
    column = broken.index("oops") + 1
    wrong = "\n".join(lines)
    found: list[tuple[int | None, int | None]] = []

    def look() -> None:
        try:
            parse_jsonc(wrong)
        except UserFileError as error:
            found.append((error.problems[0].line, error.problems[0].column))

    took = timed(look, 3)
    exact = found[-1] == (number + 1, column)
    yield Row(
        "  a mistake near its end: found, line and column",
        milliseconds(took),
        f"at {found[-1][0]}:{found[-1][1]}, is at {number + 1}:{column}",
        None,
        "exact",
        exact,
    )


def _workflow() -> Iterator[Row]:
    groups = [{"agents": [f"agent{number}", "vera"], "mode": "parallel"} for number in range(500)]
    text = json.dumps({"name": "large", "loop_agents": groups, "max_lops": 3}, indent=2)
    took = timed(lambda: inspect_workflow(text), 5)
    yield Row("a workflow of 500 groups: read and checked against the models", milliseconds(took))


if __name__ == "__main__":
    alone(__doc__, rows)
