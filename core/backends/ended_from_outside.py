"""A process that was ended, but not by OpenLoop: who did it, in words for a user."""

from __future__ import annotations

from signal import Signals

from core.backends.base import Failure
from core.words import say


def ended_from_outside(who: str, signal: int | None, stderr: str) -> Failure:
    """The failure of an attempt that a signal ended. `who`: such as `opencode`, for the start of a sentence.

    Signal 9 that OpenLoop did not send is the system's way to get memory back, and it says nothing of it.
    """
    if signal is None:
        return Failure(say("{who} was ended in an unknown way.", who=who), stderr)
    if signal == 9:
        return Failure(
            say(
                "{who} was ended by the system, often for lack of memory. Let fewer agents run at once.",
                who=who,
            ),
            stderr,
            transient=True,
        )
    try:
        name = Signals(signal).name
    except ValueError:
        name = say("signal {number}", number=signal)
    return Failure(say("{who} was ended from outside ({name}).", who=who, name=name), stderr)
