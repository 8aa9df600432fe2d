"""What a turn was sent: its prompt and corrections, as they are kept in its folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from core.run_files import PROMPT_NAME, correction_name

_CORRECTION = re.compile(re.escape(correction_name(0)).replace("0", r"(\d{1,9})"))

NEAR = 0.8
"""Part of `max_prompt_bytes` from which on a prompt is nearly too large."""
_BYTES_PER_TOKEN = 4
"""About, for English text and code; other languages take more tokens."""


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """One file. `after`: the number of the attempt that a correction was about; 0: the prompt itself."""

    path: Path
    size: int
    """Bytes."""
    after: int = 0

    @property
    def about_tokens(self) -> int:
        """A rough guess; only the model's own counting is right."""
        return -(-self.size // _BYTES_PER_TOKEN)


def sent_prompts(folder: Path) -> list[SentPrompt]:
    """What is kept in a turn's folder: the prompt, then corrections in their order; [] where nothing is."""
    found: list[SentPrompt] = []
    try:
        for path in folder.iterdir():
            correction = _CORRECTION.fullmatch(path.name)
            if path.name == PROMPT_NAME:
                found.append(SentPrompt(path, path.stat().st_size))
            elif correction is not None:
                found.append(SentPrompt(path, path.stat().st_size, int(correction[1])))
    except OSError:
        pass  # it has not begun, or its folder is gone; what was found before that is told
    return sorted(found, key=lambda prompt: prompt.after)
