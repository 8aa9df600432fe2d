"""What agents of a parallel group can do to each other: completion, the same payload path, the same file.

Paths and files are those of earlier runs. Who already ran side by side and agreed is not warned of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from core.agent import AgentLibrary
from core.condition_outcomes import names_in, parsed
from core.config import AgentGroup, FanOutGroup, Workflow
from core.findings import Finding
from core.fixes import ChangeGroup, Fix, SetMergeRule
from core.jsonc import JsonPath
from core.known_payload import KnownPayload, PathUse, ValueKind, pair_of
from core.loop_checks import agents_of
from core.problems import Severity
from core.state import PHASES, MergeRule, Phase
from core.state_path import parse_path
from core.words import say, say_number
from core.workflow_layout import PHASE_KEYS

_MOST_TOLD = 4
"""Paths, and files, of one group that are told one by one."""
_MOST_NAMED = 3


def parallel_findings(
    workflow: Workflow, in_force: Workflow, library: AgentLibrary, known: KnownPayload | None
) -> Iterator[Finding]:
    """What is found in the parallel groups. `in_force`: the settings as a run would have them."""
    for phase in PHASES:
        for index, group in enumerate(workflow.groups(phase)):
            agents = agents_of(group)
            if isinstance(group, FanOutGroup) or group.mode != "parallel" or len(agents) < 2:
                continue
            checked = _Group(phase, index, group, agents, in_force)
            if phase == "loop":
                yield from checked.completion(workflow, library, known)
            if known is not None:
                yield from checked.paths(known)
                yield from checked.files(known)


class _Group:
    """One parallel group with at least two agents."""

    def __init__(
        self, phase: Phase, index: int, group: AgentGroup, agents: Sequence[str], in_force: Workflow
    ) -> None:
        self._phase = phase
        self._index = index
        self._agents = agents
        self._count = Counter(agents)
        self._all = tuple(entry.agent for entry in group.agents)
        self._rules: Mapping[str, MergeRule] = {**in_force.merge, **(group.merge or {})}
        self._isolation = group.isolation or in_force.isolation

    @property
    def _path(self) -> JsonPath:
        return (PHASE_KEYS[self._phase], self._index)

    def _warn(self, message: str, suggestion: str, fix: Fix | None) -> Finding:
        return Finding(self._path, message, suggestion, Severity.WARNING, fix=fix)

    def _rule(self, path: str, rule: MergeRule) -> SetMergeRule:
        return SetMergeRule(self._phase, self._index, self._all, path, rule)

    # --- completion ------------------------------------------------------------------------------------

    def completion(
        self, workflow: Workflow, library: AgentLibrary, known: KnownPayload | None
    ) -> Iterator[Finding]:
        tree = parsed(workflow.end_state_condition)
        if "is_complete" in self._rules or tree is None or "is_complete" not in names_in(tree):
            return
        completing = [
            name for name in self._agents if (agent := library.get(name)) is not None and agent.may_complete
        ]
        if len(completing) > 1:
            yield self._warn(
                say(
                    "{agents} may both say that the work is complete; the last one listed decides.",
                    agents=_list(completing),
                )
                if len(completing) == 2
                else say(
                    "{agents} may all say that the work is complete; the last one listed decides.",
                    agents=_list(completing),
                ),
                say('Add "merge": {"is_complete": "all"} to ask all of them.'),
                self._rule("is_complete", MergeRule.ALL),
            )
            return
        if not completing or known is None:
            return
        behind = self._agents[self._agents.index(completing[0]) + 1 :]
        denying = [name for name in behind if name in known.denying]
        if denying:
            yield self._warn(
                say(
                    "{agent} may end the loop, {denying} may not, but always said that it is not "
                    "done: the last one listed wins.",
                    agent=completing[0],
                    denying=_list(denying),
                ),
                say('Add "merge": {"is_complete": "any"}, so that one is enough.'),
                self._rule("is_complete", MergeRule.ANY),
            )

    # --- the same path ---------------------------------------------------------------------------------

    def paths(self, known: KnownPayload) -> Iterator[Finding]:
        by_path: dict[str, list[PathUse]] = defaultdict(list)
        for name, count in self._count.items():
            for use in known.uses.get(name, ()):
                by_path[use.path].extend([use] * min(count, 2))
        found = [
            (path, list(dict.fromkeys(uses)))
            for path, uses in sorted((path, uses) for path, uses in by_path.items() if len(uses) > 1)
            if self._clash(path, [use.agent for use in uses if use.is_place], known)
            and not self._is_ruled(path)
        ]
        for path, uses in found[:_MOST_TOLD]:
            rule = _fitting_rule(uses)
            yield self._warn(
                say(
                    "{agents} write {path} at the same time: the last one listed wins, and what the others "
                    "wrote is lost.",
                    agents=_list(self._labels(use.agent for use in uses)),
                    path=path,
                ),
                say(
                    'Add "merge": {{"{path}": "{rule}"}} to keep what all of them wrote.',
                    path=path,
                    rule=rule,
                )
                if rule is not None
                else say("Give the path a merge rule, or let them write to paths of their own."),
                self._rule(path, rule) if rule is not None else None,
            )
        if len(found) > _MOST_TOLD:
            more = len(found) - _MOST_TOLD
            yield self._warn(
                say_number(
                    more,
                    "They write 1 more path at the same time: {paths}.",
                    "They write {count} more paths at the same time: {paths}.",
                    paths=_list([path for path, _ in found[_MOST_TOLD:]]),
                ),
                say("Give each agent a part of the payload of its own."),
                None,
            )

    def _is_ruled(self, path: str) -> bool:
        """Whether a rule says what happens there, also one for everything around it."""
        keys = parse_path(path)
        for ruled in self._rules:
            try:
                around = parse_path(ruled)
            except ValueError:
                # That is a problem of its own.
                continue
            if keys[: len(around)] == around:
                return True
        return False

    def _clash(self, path: str, writers: Sequence[str], known: KnownPayload) -> bool:
        """Whether two of the writers are likely to write different values."""
        return any(known.met.get((path, pair_of(*pair)), True) for pair in combinations(writers, 2))

    # --- the same file ---------------------------------------------------------------------------------

    def files(self, known: KnownPayload) -> Iterator[Finding]:
        if self._isolation != "shared":
            return
        by_file: dict[str, list[str]] = defaultdict(list)
        for name in self._agents:
            for file in known.edits.get(name, ()):
                by_file[file].append(name)
        by_agents: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for file, editors in by_file.items():
            if len(editors) > 1:
                by_agents[tuple(editors)].append(file)
        for agents, files in list(by_agents.items())[:_MOST_TOLD]:
            all_of_them = sorted(agents) == sorted(self._agents)
            yield self._warn(
                say(
                    "{agents} edited {files} in earlier runs: at the same time in one folder, each may "
                    "undo what the other did.",
                    agents=_list(self._labels(dict.fromkeys(agents))),
                    files=_list(files),
                ),
                say("Run them in sequence, or let only one of them edit files."),
                ChangeGroup(self._phase, self._index, self._all, "mode", "sequential")
                if all_of_them
                else None,
            )

    def _labels(self, names: Iterable[str]) -> list[str]:
        """Agents as a run calls them: `vera`, `vera 2`."""
        return [
            name if number == 1 else f"{name} {number}"
            for name in names
            for number in range(1, self._count[name] + 1)
        ]


def _fitting_rule(uses: Sequence[PathUse]) -> MergeRule | None:
    """The rule that keeps what everybody wrote; None: there is none that is surely meant."""
    kinds = {kind for use in uses for kind in use.kinds} - {ValueKind.NOTHING}
    if not kinds or not kinds <= {ValueKind.LIST, ValueKind.TEXTS}:
        return None
    # Texts that several found are told once; objects hardly ever are the same.
    return MergeRule.UNION if kinds == {ValueKind.TEXTS} else MergeRule.APPEND


def _list(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 more`."""
    shown = list(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        return say("{names} and {more} more", names=", ".join(shown), more=len(names) - _MOST_NAMED)
    if len(shown) < 2:
        return "".join(shown)
    return say("{names} and {last}", names=", ".join(shown[:-1]), last=shown[-1])
