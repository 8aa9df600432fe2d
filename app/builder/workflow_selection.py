"""What was selected before an edit, and what is to be selected after it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeptSelection:
    """The rows of a moment, by node id, from top to bottom; `generation` is the document's."""

    order: Sequence[int] = ()
    selected: Sequence[int] = ()
    current: int | None = None
    scroll: int = 0
    generation: int = -1

    def after_edit(self, order: Sequence[int], agents: Collection[int]) -> list[int]:
        """The agents that the edit added; else what was selected; else the neighbour of what it removed.

        `order`: ids of all rows now; `agents`: those that are agents.
        """
        added = [node_id for node_id in order if node_id not in self.order and node_id in agents]
        chosen = added or [node_id for node_id in self.selected if node_id in order]
        if chosen or not self.selected:
            return chosen
        at = self.order.index(self.selected[0]) if self.selected[0] in self.order else 0
        behind = [node_id for node_id in self.order[at:] if node_id in agents]
        before = [node_id for node_id in self.order[:at] if node_id in agents]
        return behind[:1] or before[-1:]
