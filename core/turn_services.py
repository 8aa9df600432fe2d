"""What all turns of a run share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.events import Event
from core.runner import Supervisor
from core.transcript import TurnTranscript


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What all turns of a run share.

    `starts` caps concurrent starts of costly CLIs. `is_spent`: nothing is left of the budget.
    `read_pause`: seconds to rest after each read, so that the window gets its share. `nice`: priority
    of agents.
    """

    supervisor: Supervisor
    publish: Callable[[Event], None]
    sync: Callable[[], None]
    overview: Callable[[str], TurnTranscript]
    workdir: Path
    starts: threading.Semaphore
    is_spent: Callable[[], bool] = lambda: False
    max_prompt_bytes: int | None = None
    read_pause: float = 0.0
    nice: int = 0
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """OpenLoop's own, read once: decoding all of it again for every agent costs as much as a start."""
