"""The catalogue with every scene in it."""

from __future__ import annotations

from tests.scenes import building, looking_back, running  # noqa: F401  they fill the catalogue
from tests.scenes.catalogue import SCENES, Scene

__all__ = ["SCENES", "Scene"]
