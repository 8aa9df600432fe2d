"""What a turn was sent: its prompts and corrections, as they are kept in its folder."""

from __future__ import annotations

import filecmp
import re
from dataclasses import dataclass, replace
from pathlib import Path

from core.run_files import PROMPT_NAME, correction_name, earlier_prompt_name

_NUMBER = r"(\d{1,9})"
_CORRECTION = re.compile(re.escape(correction_name(0)).replace("0", _NUMBER))
_EARLIER = re.compile(re.escape(earlier_prompt_name(0)).replace("0", _NUMBER))

NEAR = 0.8
"""Part of `max_prompt_bytes` from which on a prompt is nearly too large."""
_BYTES_PER_TOKEN = 4
"""About, for English text and code; other languages take more tokens."""


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """One file. `after`: the number of the attempt that a correction was about; 0: it is a prompt itself.

    `first` and `last`: of a prompt, the attempts that began with it; `last` 0: the latest one, which others
    may follow.
    """

    path: Path
    size: int
    """Bytes."""
    after: int = 0
    first: int = 1
    last: int = 0

    @property
    def about_tokens(self) -> int:
        """A rough guess; only the model's own counting is right."""
        return -(-self.size // _BYTES_PER_TOKEN)


def sent_prompts(folder: Path) -> list[SentPrompt]:
    """What is kept in a turn's folder: prompts and corrections in the order in which they were sent; []
    where nothing is. A turn that began again with the same prompt has one."""
    prompts: list[SentPrompt] = []
    corrections: list[SentPrompt] = []
    try:
        for path in folder.iterdir():
            correction, earlier = _CORRECTION.fullmatch(path.name), _EARLIER.fullmatch(path.name)
            if path.name == PROMPT_NAME:
                prompts.append(SentPrompt(path, path.stat().st_size))
            elif earlier is not None:
                prompts.append(SentPrompt(path, path.stat().st_size, last=int(earlier[1])))
            elif correction is not None:
                corrections.append(SentPrompt(path, path.stat().st_size, int(correction[1])))
    except OSError:
        pass  # it has not begun, or its folder is gone; what was found before that is told
    prompts.sort(key=lambda prompt: (prompt.last == 0, prompt.last))
    before = 0
    for number, prompt in enumerate(prompts):
        prompts[number] = replace(prompt, first=before + 1)
        before = prompt.last
    # A correction after attempt 2 is what attempt 3 began with.
    return sorted([*prompts, *corrections], key=lambda sent: sent.after + 1 if sent.after else sent.first)


def keep_earlier_prompt(folder: Path, attempts: int) -> Path | None:
    """Before a turn that began so many attempts is sent its prompt anew: set the old one aside, and give
    where it is now; None where there is none that was sent. Raises OSError."""
    prompt, kept = folder / PROMPT_NAME, folder / earlier_prompt_name(attempts)
    if not attempts or kept.exists() or not prompt.is_file():
        return None
    return prompt.rename(kept)


def forget_if_same(earlier: Path) -> None:
    """An earlier prompt that says what the new one says is that one. Raises OSError."""
    if filecmp.cmp(earlier, earlier.with_name(PROMPT_NAME), shallow=False):
        earlier.unlink()
