"""The demo agent: a program that behaves like an agent CLI, and as badly as it is told to.

Started by `core/backends/demo.py` as `python -I -S demo_agent.py JSON [--session ID]`. It needs no account
and no network, changes no file of the project, and uses nothing but the standard library.

It reads its prompt from standard input up to the end, and prints one JSON object a line, each with a `type`:
`session`, `step_start`, `text`, `reasoning`, `tool_use`, `step_finish` and `error`. What it says comes from
`demo_scenes.txt` beside it, chosen by the agent's name or role and by the iteration in the prompt's state:
the same agent with the same state always says the same.

The environment variable OPENLOOP_DEMO_SPEED multiplies every pause: 0 does not wait at all, 2 takes twice as
long. Exit code 75 means a failure that may pass (EX_TEMPFAIL), 77 one of all agents of the provider
(EX_NOPERM), 76 a start that lost a race and did not begin to work.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
import zlib
from pathlib import Path

TYPE_CHECKING = False  # `typing` costs time at every start
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

SCENES = Path(__file__).with_name("demo_scenes.txt")
MEMORY = "demo.json"
CHILD = "demo_child.pid"

FAMILIES = {
    "proteus": ("analyst", "planner", "researcher", "architect", "explorer", "preparation"),
    "amala": ("author", "writer", "coder", "developer", "programmer", "engineer", "builder", "worker"),
    "vera": ("auditor", "approver", "judge", "evaluator"),
    "linter": ("reviewer", "critic", "linter", "checker"),
    "tester": ("tester", "qa"),
    "consolidator": ("finalizer", "finalization", "reporter", "summarizer", "consolidator"),
}
"""Whose scenes an agent plays that has none of its own, by role."""
BY_PHASE = {"preparation": "proteus", "loop": "amala", "finalization": "consolidator"}
"""… and by phase, when the role says nothing either."""

STATE_TAGS = ("<workflow_state>", "</workflow_state>")
FINISHERS = ("consolidator", "reporter")
GOOD_ENOUGH = 90


# --- what it says -------------------------------------------------------------------------------------


def read_scenes(text: str) -> dict:
    """`{name: [round, ...]}`; a round is `(beats, payload)`. The form is told at the top of the file."""
    scenes = {}
    for chapter in ("\n" + text).split("\n## ")[1:]:
        title, _, body = chapter.partition("\n")
        name, _, _ = title.partition(" ")
        story, _, answer = body.partition("\n= ")
        scenes.setdefault(name, []).append((read_beats(story), json.loads(answer)))
    return scenes


def read_beats(story: str) -> list:
    """Events without their usual fields; None is the end of a step."""
    beats = []
    for line in story.split("\n"):
        mark, rest = line[:2], line[2:]
        if mark == "  " and beats and beats[-1] and beats[-1]["type"] == "tool_use":
            beats[-1]["output"] += rest + "\n"
        elif mark in ("$ ", "! "):
            tool, _, title = rest.partition(" ")
            failed = mark == "! "
            code = int(failed) if tool == "bash" else None
            beat = {"type": "tool_use", "tool": tool, "title": title, "output": "", "failed": False}
            beats.append({**beat, "failed": failed, "exit_code": code})
        elif mark == "? ":
            beats.append({"type": "reasoning", "text": rest})
        elif line == "---":
            beats.append(None)
        elif line.strip():
            if beats and beats[-1] and beats[-1]["type"] == "text":
                beats[-1]["text"] += "\n" + line
            else:
                beats.append({"type": "text", "text": line})
        elif beats and beats[-1] and beats[-1]["type"] == "text":
            beats[-1]["text"] += "\n"
    for beat in beats:
        if beat and beat["type"] == "text":
            beat["text"] = beat["text"].strip()
    return beats


def state_in(prompt: str) -> dict:
    """The state in the last pair of tags of the prompt; an empty one when there is none."""
    end = prompt.rfind(STATE_TAGS[1])
    start = prompt.rfind(STATE_TAGS[0], 0, max(end, 0))
    if start == -1:
        return {}
    try:
        state = json.loads(prompt[start + len(STATE_TAGS[0]) : end])
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def actor_of(agent: dict, state: dict, scenes: dict) -> str:
    """Whose scenes this agent plays."""
    if agent["name"] in scenes:
        return agent["name"]
    role = agent["role"].strip().lower()
    for actor, roles in FAMILIES.items():
        if role in roles:
            return actor
    return BY_PHASE.get(state.get("current_phase"), "amala")


def act(agent: dict, state: dict, scenes: dict) -> tuple[list, dict]:
    """The beats and the update of this turn."""
    actor = actor_of(agent, state, scenes)
    rounds = scenes[actor]
    iteration = state.get("iteration")
    iteration = iteration if isinstance(iteration, int) else 0
    beats, payload = rounds[min(max(iteration, 1), len(rounds)) - 1]
    demo = agent["demo"]
    if actor == agent["name"] and not agent["may_complete"]:
        # In its own example somebody else judges it; the score is for those who play its part alone.
        payload = {key: value for key, value in payload.items() if key != "score"}
    update = {"payload": payload}
    if demo["writes"] is not None:
        update["payload"] = nested(demo["writes"])
    if demo["is_complete"] is not None:
        update["is_complete"] = demo["is_complete"]
    elif agent["may_complete"]:
        update["is_complete"] = is_done(actor, iteration, update["payload"])
    if demo["termination_reason"] is not None:
        update["termination_reason"] = demo["termination_reason"]
    elif update.get("is_complete"):
        update["termination_reason"] = "The work is done and checked."
    if demo["text"] is not None:
        beats = [{"type": "text", "text": demo["text"]}]
    return beats, update


def is_done(actor: str, iteration: int, payload: dict) -> bool:
    """Whether an agent that may complete says so: by its score, else a finalizer at once, others in time."""
    score = payload.get("score")
    if isinstance(score, (int, float)):
        return score >= GOOD_ENOUGH
    return actor in FINISHERS or iteration >= 3


def nested(writes: dict) -> dict:
    """`{"review.score": 3}` as `{"review": {"score": 3}}`; a leading `payload.` may stand there or not."""
    payload = {}
    for path, value in writes.items():
        keys = path.removeprefix("payload.").split(".")
        place = payload
        for key in keys[:-1]:
            inner = place.get(key)
            if not isinstance(inner, dict):
                inner = place[key] = {}
            place = inner
        place[keys[-1]] = value
    return payload


def answer_text(update: dict, kind: str | None) -> str:
    """The end of the final text; `kind` is what is wrong with it, or None."""
    block = json.dumps(update, indent=2, ensure_ascii=False)
    if kind is None:
        return f"<state_update>\n{block}\n</state_update>"
    if kind == "missing":
        return "That is all I found."
    if kind == "bad_json":
        return f"<state_update>\n{block[:-1].rstrip()},,\n  'note': undefined\n</state_update>"
    if kind == "truncated":
        return f"<state_update>\n{block[: max(1, len(block) // 2)]}"
    if kind == "fenced":
        bare = json.dumps(update["payload"], indent=2, ensure_ascii=False)
        return f"```json\n{bare}\n```"
    if kind == "file":
        return "I have saved the state update to the file state_update.json."
    return f"<state_update>\n{json.dumps([update])}\n</state_update>"  # wrong_type


# --- how it says it -----------------------------------------------------------------------------------


class Output:
    """Standard output: JSON lines, each out at once, with pauses between them."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._pauses = []

    def spread(self, seconds: float, count: int, name: str) -> None:
        """Let the next `count` pauses take `seconds` together, each its own part of them."""
        weights = [40 + zlib.crc32(f"{name} {n}".encode("utf-8", "replace")) % 120 for n in range(count)]
        self._pauses = [seconds * weight / sum(weights) for weight in weights]

    def wait(self) -> None:
        pause = self._pauses.pop() if self._pauses else 0.0
        if self._speed > 0:
            time.sleep(pause * self._speed)

    def rest(self, seconds: float, least: float) -> None:
        """A pause of its own, at least so many seconds long whatever the speed."""
        if pause := max(seconds * self._speed, least):
            time.sleep(pause)

    def event(self, kind: str, **fields: object) -> None:
        line = json.dumps({"type": kind, "timestamp": int(time.time() * 1000), **fields}, ensure_ascii=False)
        self.raw(line.encode("utf-8", "replace") + b"\n")

    def raw(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(1, rest) :]


def speed_in(environment: Mapping[str, str]) -> float:
    """What every pause is multiplied with: 1, unless the environment has another number."""
    try:
        return min(max(float(environment.get("OPENLOOP_DEMO_SPEED", "1")), 0.0), 1000.0)
    except ValueError:
        return 1.0


def steps_of(beats: list, count: int | None) -> list[list]:
    """The beats as steps: as the scene has them, or exactly `count`."""
    if count is None:
        steps, step = [], []
        for beat in beats:
            if beat is None:
                steps.append(step)
                step = []
            else:
                step.append(beat)
        return [*steps, step]
    flat = [beat for beat in beats if beat is not None]
    return [flat[len(flat) * n // count : len(flat) * (n + 1) // count] for n in range(count)]


def shares(total: int, count: int) -> list[int]:
    """A whole number in `count` parts."""
    return [total * (n + 1) // count - total * n // count for n in range(count)]


def usage_of(agent: dict, prompt_size: int, steps: list[list], answer_size: int) -> list[tuple]:
    """Tokens and cost of each step: as told, or like those of a model that reads 4 bytes a token."""
    demo, count = agent["demo"], len(steps)
    told = demo["usage"]
    if told is not None:
        parts = {key: shares(value, count) for key, value in told.items()}
        tokens = [{key: parts[key][n] for key in parts} for n in range(count)]
    else:
        tokens = []
        for n, step in enumerate(steps):
            said = sum(len(beat.get("text", "")) + len(beat.get("title", "")) for beat in step)
            said += answer_size if n == count - 1 else 0
            heard = 1800 + prompt_size // 4
            tokens.append(
                {
                    "input": heard if n == 0 else 350 + 90 * len(steps[n - 1]),
                    "output": 40 + said // 4,
                    "reasoning": sum(len(b["text"]) // 4 for b in step if b["type"] == "reasoning"),
                    "cache_read": 0 if n == 0 else heard,
                    "cache_write": 0,
                }
            )
    if demo["no_price"]:
        costs = [None] * count
    elif demo["cost_usd"] is not None:
        costs = [demo["cost_usd"] / count] * count
    else:
        prices = {"input": 3, "output": 15, "reasoning": 15, "cache_read": 0.3, "cache_write": 3.75}
        costs = [round(sum(step[key] * prices[key] for key in step) / 1e6, 6) for step in tokens]
    return list(zip(tokens, costs, strict=True))


# --- what it remembers between attempts -----------------------------------------------------------------


class Memory:
    """A small file in the turn's folder: attempts and answers so far, the session and its state."""

    def __init__(self, folder: str) -> None:
        self._path = Path(folder, MEMORY)
        try:
            self.facts = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            self.facts = {"attempts": 0, "answers": 0, "session": "", "state": {}}

    def save(self) -> None:
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self.facts), "utf-8")
        new.replace(self._path)


# --- how it misbehaves ----------------------------------------------------------------------------------


def hang() -> None:
    while True:
        time.sleep(3600)


def flood(output: Output, order: dict) -> None:
    """Lines as fast as they can be written: noise, then text events."""
    noise = b"".join(b"[%07d] compiling module %d of the demo flood\n" % (n, n % 97) for n in range(1500))
    left = order["noise_bytes"]
    while left > 0 or order["endless"]:
        piece = noise if order["endless"] else noise[:left]
        if len(piece) < len(noise):
            piece = piece[:-1] + b"\n"
        output.raw(piece)
        left -= len(piece)
    for first in range(0, order["text_lines"], 1000):
        last = min(first + 1000, order["text_lines"])
        lines = (json.dumps({"type": "text", "text": f"Flooded line {n + 1}."}) for n in range(first, last))
        output.raw(("\n".join(lines) + "\n").encode())


def leave_child(order: dict, folder: str) -> None:
    """Start a process that outlives this one, and wait until it runs; its pid is in a file of the turn."""
    pid_file = Path(folder, CHILD)
    pid_file.unlink(missing_ok=True)
    role = "--spawn" if order["kind"] == "double_fork" else "--sleep"
    child = json.dumps(
        {"seconds": order["seconds"], "ignore": order["ignore_sigterm"], "file": str(pid_file)}
    )
    process = start_self(role, child, own_session=order["kind"] != "plain")
    if role == "--spawn":
        process.wait()
    while not pid_file.exists():
        time.sleep(0.005)
    process.returncode = 0  # it is meant to be left alone


def start_self(role: str, child: str, *, own_session: bool) -> subprocess.Popen:
    """Start this program in another role. It keeps standard output and error open, as careless tools do."""
    import subprocess  # a third of the time that starting takes, and hardly ever needed

    options = {"start_new_session": True}
    if os.name == "nt":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).resolve()), role, child],
        stdin=subprocess.DEVNULL,
        **(options if own_session else {}),
    )


def sleep_as_child(order: dict) -> None:
    if order["ignore"]:
        ignore_sigterm()
    pid_file = Path(order["file"])
    new = pid_file.with_suffix(".new")
    new.write_text(str(os.getpid()))
    new.replace(pid_file)
    time.sleep(order["seconds"])


def ignore_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def spend(output: Output, order: dict, model: str) -> None:
    """Steps that say nothing and use tokens."""
    endless = order["steps"] is None
    least = 0.02 if endless else 0.0
    tokens = {"input": order["tokens"], "output": 0, "reasoning": 0, "cache_read": 0, "cache_write": 0}
    for _ in itertools.count() if endless else range(order["steps"]):
        output.event("step_start", model=model)
        output.rest(order["seconds"], least)
        output.event("step_finish", reason="tool-calls", tokens=tokens, cost=order["cost_usd"])


def fail(output: Output, order: dict) -> None:
    code = order["exit_code"]
    if order["error"] is not None:
        words = {"transient": order["transient"], "provider_wide": order["provider_wide"]}
        output.event("error", message=order["error"], **words)
    elif order["provider_wide"]:
        code = 77
    elif order["transient"]:
        code = 75
    raise SystemExit(code)


# --- the program ----------------------------------------------------------------------------------------


def main(arguments: list[str]) -> None:
    if arguments[0] == "--sleep":
        sleep_as_child(json.loads(arguments[1]))
        return
    if arguments[0] == "--spawn":
        start_self("--sleep", arguments[1], own_session=True)
        return
    agent = json.loads(arguments[0])
    wanted_session = arguments[2] if arguments[1:2] == ["--session"] else None
    demo = agent["demo"]
    if demo["ignore_sigterm"]:
        ignore_sigterm()
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    output = Output(speed_in(os.environ))
    memory = Memory(agent["turn_folder"])
    facts = memory.facts
    if wanted_session is not None and wanted_session != facts["session"]:
        sys.stderr.write(f"Error: Session not found: {wanted_session}\n")
        raise SystemExit(1)
    facts["attempts"] += 1
    if wanted_session is None:
        mark = f"{agent['turn_folder']} {agent['name']} {facts['attempts']}"
        facts["session"] = f"demo_{zlib.crc32(mark.encode('utf-8', 'replace')):08x}"
        facts["state"] = state_in(prompt)
    memory.save()
    perform(agent, prompt, output, memory, correcting=wanted_session is not None)


def perform(agent: dict, prompt: str, output: Output, memory: Memory, *, correcting: bool) -> None:
    demo, facts = agent["demo"], memory.facts
    failing = demo["fail"]
    if failing is not None and failing["first"] is not None and facts["attempts"] > failing["first"]:
        failing = None
    if not is_time_for(failing, facts["state"]):
        failing = None
    for line in demo["stderr"]:
        sys.stderr.write(line + "\n")
    sys.stderr.flush()
    if demo["leave_child"] is not None and not correcting:
        leave_child(demo["leave_child"], agent["turn_folder"])
    if demo["hang_silent"]:
        hang()
    if failing is not None and failing["before_work"]:
        raise SystemExit(76)
    if failing is not None and failing["silent"]:
        fail(output, failing)

    beats, update = act(agent, facts["state"], read_scenes(SCENES.read_text("utf-8")))
    bad = demo["bad_update"] if is_time_for(demo["bad_update"], facts["state"]) else None
    wrong = bad["kind"] if bad and (bad["first"] is None or facts["answers"] < bad["first"]) else None
    answer = answer_text(update, wrong)
    if correcting:
        beats = []
    steps = steps_of(beats, None if correcting else demo["steps"])
    usage = usage_of(agent, len(prompt), steps, len(answer))
    seconds = demo["seconds"] * (0.3 if correcting else 1)
    output.spread(seconds, sum(map(len, steps)) + len(steps) + 1, agent["name"])

    output.event("session", session=facts["session"])
    if demo["spend"] is not None and not correcting:
        spend(output, demo["spend"], agent["model"])
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        output.wait()
        output.event("step_start", model=agent["model"])
        tail = ""
        if last and step and step[-1]["type"] == "text":
            tail = step[-1]["text"] + "\n\n"
            step = step[:-1]
        for beat in step:
            output.wait()
            fields = {key: value for key, value in beat.items() if key != "type"}
            if beat["type"] == "tool_use":
                chance = zlib.crc32(beat["title"].encode()) % 100
                fields["seconds"] = (80 + chance) / 100 if beat["tool"] == "bash" else (2 + chance // 8) / 100
            output.event(beat["type"], **fields)
        if number == 0:
            misbehave(agent, output, failing)
        if last:
            output.wait()
            if wrong == "file":
                title = "state_update.json"
                output.event("tool_use", tool="write", title=title, output="", failed=False, exit_code=None)
            output.event("text", text=tail + answer)
            facts["answers"] += 1
            memory.save()
        finish(output, demo, usage[number], last)
        if failing is not None and (last or number + 1 == failing["after_steps"]):
            fail(output, failing)


def is_time_for(order: dict | None, state: dict) -> bool:
    """Whether an order is for this iteration of the loop."""
    return order is not None and order["iteration"] in (None, state.get("iteration", 0))


def misbehave(agent: dict, output: Output, failing: dict | None) -> None:
    """What happens in the middle of the work."""
    demo = agent["demo"]
    if demo["invalid_utf8"]:
        output.raw(b"caf\xe9 \xff\xfe \xc3\x28 \xf0\x9f\x98\n")
        output.raw(b'{"type": "text", "text": "half a sign: \xf0\x9f\x98"}\n')
    if demo["flood"] is not None:
        flood(output, demo["flood"])
    if demo["hang"]:
        hang()
    if failing is not None and not failing["after_steps"]:
        fail(output, failing)
    if demo["crash"]:
        raise RuntimeError("the demo agent was told to crash")


def finish(output: Output, demo: dict, usage: tuple, last: bool) -> None:
    tokens, cost = usage
    reason = (demo["stop_reason"] if last else "tool-calls") or "stop"
    if last and demo["partial_last_line"]:
        output.raw(b'{"type": "step_finish", "reason": "st')
    else:
        output.event("step_finish", reason=reason, tokens=tokens, cost=cost)


if __name__ == "__main__":
    main(sys.argv[1:])
