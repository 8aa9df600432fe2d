"""All scenes by name. A scene brings the window into one view, for tests and for the guide's pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.scenes.stage import Stage

Play = Callable[[Stage], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """One view of the window."""

    name: str
    about: str
    """What is seen, in a line."""
    play: Play
    needs_runs: bool = False
    """Whether it wants finished runs of the examples in `Stage.recorded`."""


SCENES: dict[str, Scene] = {}


def scene(*, needs_runs: bool = False) -> Callable[[Play], Play]:
    """Put a function into the catalogue, under its name; its first line says what is seen."""

    def add(play: Play) -> Play:
        assert play.__doc__, play.__name__
        assert play.__name__ not in SCENES, play.__name__
        SCENES[play.__name__] = Scene(play.__name__, play.__doc__.splitlines()[0], play, needs_runs)
        return play

    return add
