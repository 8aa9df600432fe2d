"""A loopback model for tests: the OpenAI chat completions that agent CLIs speak, answered from a script.

In tests, `with StubModel([Rule(...), ...]) as stub:` serves on a free port of 127.0.0.1 from threads and
leaves none behind. The first rule that fits a request gives its reply; without one the text is
`DEFAULT_TEXT`. `stub.requests` is what was asked.

As a program: `python tests/stub_llm.py [--port N] [--text TEXT]` prints its base URL and serves until it is
interrupted.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

DEFAULT_TEXT = '<state_update>{"payload": {"stub": true}}</state_update>'
PIECE = 16
"""Characters of one streamed delta."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model asks for."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Tokens:
    """The usage that a reply tells, as providers count: input with cached, output with reasoning tokens."""

    input: int = 100
    output: int = 20
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Reply:
    """How one request is answered.

    `status` other than 200 is an error with `error` as its message. `delay`: seconds before the answer, cut
    short when the client goes or the server closes. `hang`: never answer, until then. `finish` overrides the
    finish reason; None together with `cut` ends the stream without one. `tokens` None: no usage is told.
    """

    text: str = ""
    tools: Sequence[ToolCall] = ()
    reasoning: str = ""
    status: int = 200
    error: str = "the stub refuses"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang: bool = False
    cut: bool = False
    finish: str | None = None
    tokens: Tokens | None = field(default_factory=Tokens)


@dataclass(frozen=True)
class Request:
    """One chat completion that was asked for."""

    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def roles(self) -> list[str]:
        return [str(message.get("role")) for message in self.body.get("messages", [])]

    @property
    def tools(self) -> list[str]:
        """Names of the tools that the model is offered."""
        return [str(tool["function"]["name"]) for tool in self.body.get("tools", [])]

    @property
    def last(self) -> str:
        """Text of the last message, whoever wrote it."""
        return _message_text(self.body["messages"][-1])

    @property
    def last_user(self) -> str:
        """Text of the last message of the user."""
        users = [message for message in self.body.get("messages", []) if message.get("role") == "user"]
        return _message_text(users[-1]) if users else ""


@dataclass(frozen=True)
class Rule:
    """A reply and the requests it is for: `user` is a pattern in the last user message, `role` the last role.

    Several replies are given one after another, the last one again and again.
    """

    replies: Sequence[Reply]
    user: str = ""
    role: str | None = None

    def fits(self, request: Request) -> bool:
        if self.role is not None and (request.roles or [""])[-1] != self.role:
            return False
        return re.search(self.user, request.last_user, re.DOTALL) is not None


class StubModel:
    """The server. `base_url` is for a provider's configuration; `requests` grows as they come."""

    def __init__(self, rules: Iterable[Rule] = (), *, port: int = 0, text: str = DEFAULT_TEXT) -> None:
        self.rules = list(rules)
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._default = Reply(text=text)
        self._given: dict[int, int] = {}
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="stub model")

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *rules: Rule) -> None:
        """Other rules from now on; what was asked before is forgotten."""
        with self._changed:
            self.rules = list(rules)
            self.requests.clear()
            self._given.clear()

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End all requests, the hanging ones too, and join every thread. May be called twice."""
        self.closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def wait_for_requests(self, count: int, seconds: float = 30.0) -> bool:
        """Wait until so many requests have come; whether they did."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.requests) >= count, seconds)

    def answer(self, request: Request) -> Reply:
        """Note the request and choose its reply."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            for index, rule in enumerate(self.rules):
                if rule.fits(request):
                    given = self._given.get(index, 0)
                    self._given[index] = given + 1
                    return rule.replies[min(given, len(rule.replies) - 1)]
        return self._default


class _Server(ThreadingHTTPServer):
    # Joined when the server closes: a test leaves no thread.
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], stub: StubModel) -> None:
        self.stub = stub
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        # A killed agent drops its connection in the middle of an answer; that is what tests do.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    # One request a connection: no thread then waits for a next one when the server closes.
    protocol_version = "HTTP/1.0"

    def log_message(self, format: str, *args: object) -> None:
        """Keeps quiet."""

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": "x", "object": "model"}]})
        else:
            self._send(404, {"error": {"message": f"nothing at {self.path}"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if not self.path.endswith("/chat/completions"):
            self._send(404, {"error": {"message": f"nothing at {self.path}"}})
            return
        reply = self.server.stub.answer(Request(body, {k.lower(): v for k, v in self.headers.items()}))
        if (reply.hang or reply.delay) and not self._wait(None if reply.hang else reply.delay):
            return
        if reply.status != 200:
            error = {"error": {"message": reply.error, "type": "stub_error", "code": None}}
            self._send(reply.status, error, reply.headers)
        elif body.get("stream"):
            self._stream(body, reply)
        else:
            self._send(200, _completion(body, reply), reply.headers)

    def _wait(self, seconds: float | None) -> bool:
        """Wait, for ever with None; False when the client went or the server closes."""
        step = 0.02
        while seconds is None or seconds > 0:
            if self.server.stub.closing.wait(step):
                return False
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return False
            if seconds is not None:
                seconds -= step
        return True

    def _send(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, content in (headers or {}).items():
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, body: dict[str, Any], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for chunk in _chunks(body, reply):
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        if not reply.cut:
            self.wfile.write(b"data: [DONE]\n\n")


# --- the wire format ----------------------------------------------------------------------------------


def _chunks(body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    """The server-sent events of one streamed answer."""
    head = {"id": "stub", "object": "chat.completion.chunk", "created": 0, "model": body.get("model", "")}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant"})
    for start in range(0, len(reply.reasoning), PIECE):
        yield chunk({"reasoning_content": reply.reasoning[start : start + PIECE]})
    for start in range(0, len(reply.text), PIECE):
        yield chunk({"content": reply.text[start : start + PIECE]})
    for call in _tool_calls(reply):
        yield chunk({"tool_calls": [call]})
    if reply.cut:
        return
    yield chunk({}, _finish(reply))
    if reply.tokens is not None:
        yield {**head, "choices": [], "usage": _usage(reply.tokens)}


def _completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """The same answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tools:
        message["tool_calls"] = _tool_calls(reply)
    answer: dict[str, Any] = {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply)}],
    }
    if reply.tokens is not None:
        answer["usage"] = _usage(reply.tokens)
    return answer


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.tools)
    ]


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.tools else "stop")


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _message_text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A loopback model that answers from a script.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--text", default=DEFAULT_TEXT, help="what it answers")
    arguments = parser.parse_args()
    with StubModel(port=arguments.port, text=arguments.text) as stub:
        sys.stdout.write(f"{stub.base_url}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
