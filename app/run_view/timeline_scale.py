"""Which second of a run is at which pixel of its timeline: fitting, zoom, panning, following, ticks."""

from __future__ import annotations

from dataclasses import dataclass

from core.progress_words import duration_words

_STEPS = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(60.0 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3600.0 * hours for hours in (1, 2, 3, 6, 12, 24, 48, 120, 240, 480, 960)),
)
"""Seconds between two ticks that one can add up in one's head."""
_LIVE_LENGTHS = (5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0)
_CLOSEST = 400.0
"""Pixels of a second, at least, when one has zoomed in as far as it goes."""
_WIDEST = 1.5e9
"""Pixels of a whole run at most: scroll bars count in 32 bits."""
_SHORTEST = 0.05
"""Seconds that fill the width at least."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the time axis. `x`: pixels from the left edge of the plot."""

    x: float
    words: str


class TimelineScale:
    """The visible part of a run. Times are seconds of the run, `x` pixels from the left edge of the plot."""

    def __init__(self) -> None:
        self.width = 1.0
        """Of the plot, in pixels."""
        self.length = 0.0
        """Of the run so far."""
        self.left = 0.0
        """The time at the left edge."""
        self.fits = True
        """The whole run is shown, however long it becomes."""
        self.follows = True
        """The end of a run that goes on stays in view."""
        self._live = False
        self._scale = 1.0

    @property
    def scale(self) -> float:
        """Pixels of a second."""
        return self._scale

    @property
    def shown(self) -> float:
        """How many seconds fit into the width."""
        return self.width / self._scale

    @property
    def span(self) -> float:
        """How many seconds there are to see, room for what comes included."""
        return roomy(self.length) if self._live else max(self.length, _SHORTEST)

    def x_of(self, seconds: float) -> float:
        """Where a time is."""
        return (seconds - self.left) * self._scale

    def seconds_at(self, x: float) -> float:
        """Which time is there."""
        return self.left + x / self._scale

    # --- changes ---------------------------------------------------------------------------------------

    def resize(self, width: float) -> None:
        """The plot has another width."""
        self.width = max(1.0, width)
        self._settle()

    def grow(self, length: float, *, live: bool) -> None:
        """The run has become so long; `live`: it goes on."""
        self.length = max(0.0, length)
        self._live = live
        self._settle()

    def fit(self) -> None:
        """Show the whole run, and follow it."""
        self.fits = self.follows = True
        self._settle()

    def zoom(self, factor: float, x: float) -> None:
        """Show so many times more of detail; the time at `x` stays there."""
        fitting = self._fitting()
        scale = min(self._most(), max(fitting, self._scale * factor))
        if scale <= fitting:
            self.fit()
            return
        held = self.seconds_at(x)
        self.fits = False
        self._scale = scale
        self.left = held - x / scale
        self._keep_inside()
        self.follows = self._sees_end()

    def pan(self, pixels: float) -> None:
        """Move to the right, or with a negative number to the left."""
        self.left += pixels / self._scale
        self._keep_inside()
        self.follows = self._sees_end()

    def go(self, left: float) -> None:
        """Have this time at the left edge."""
        self.pan((left - self.left) * self._scale)

    def reveal(self, began: float, ended: float) -> None:
        """Move as little as needed to see a stretch of time; its begin where it is too long."""
        margin = min(24.0, self.width / 8) / self._scale
        if ended + margin > self.left + self.shown:
            self.go(ended + margin - self.shown)
        if began - margin < self.left:
            self.go(began - margin)

    def _fitting(self) -> float:
        return self.width / self.span

    def _most(self) -> float:
        return min(_WIDEST / self.span, max(_CLOSEST, self._fitting() * 64))

    def _settle(self) -> None:
        """Bring the visible part in line with a new width or length."""
        if self.fits:
            self._scale, self.left = self._fitting(), 0.0
            return
        self._scale = max(self._scale, self._fitting())
        if self.follows and self._live and not self._sees_end():
            # A step, so that the bars stand still in between.
            self.left = self.length - self.shown * 0.8
        self._keep_inside()

    def _sees_end(self) -> bool:
        return self.length <= self.left + self.shown * (1 + 1e-9)

    def _keep_inside(self) -> None:
        self.left = max(0.0, min(self.left, self.span - self.shown))

    # --- ticks -----------------------------------------------------------------------------------------

    def ticks(self, room: float) -> list[Tick]:
        """The marks of the axis; each has `room` pixels at least for its words."""
        step = next((step for step in _STEPS if step * self._scale >= room), _STEPS[-1])
        while step * self._scale < room:
            step *= 2
        first = max(0, int(self.left // step))
        last = int((self.left + self.shown) // step)
        return [
            Tick(self.x_of(number * step), tick_words(number * step, step))
            for number in range(first, min(last, first + int(self.width / room) + 2) + 1)
        ]


def roomy(length: float) -> float:
    """A length for a run that goes on: with room to grow, and the same for a while, so that bars stand."""
    if length <= _LIVE_LENGTHS[-1] * 0.97:
        return next(step for step in _LIVE_LENGTHS if length <= step * 0.97)
    size = _LIVE_LENGTHS[-1]
    while length > size * 0.97:
        size *= 4 / 3
    return size


def tick_words(seconds: float, step: float) -> str:
    """What stands at a mark: `0:30`, and below a second `0.25 s`."""
    if step >= 1:
        return duration_words(seconds + 0.001)
    digits = 1 if step >= 0.1 else 2
    return f"{seconds:.{digits}f} s"
