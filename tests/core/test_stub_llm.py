"""The tests' own model: what agents' tests lean on has to be right, and to leave nothing behind."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests import stub_llm
from tests.stub_llm import Reply, Rule, StubModel, Tokens, ToolCall


@pytest.fixture
def no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def _connect(base_url: str) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=20)
    connection.connect()
    return connection


def _post(base_url: str, prompt: str, *, stream: bool) -> tuple[int, bytes]:
    connection = _connect(base_url)
    body = {"model": "x", "stream": stream, "messages": [{"role": "user", "content": prompt}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


def _events(body: bytes) -> list[Any]:
    lines = [line.removeprefix(b"data: ") for line in body.split(b"\n\n") if line]
    return [line.decode() if line == b"[DONE]" else json.loads(line) for line in lines]


@pytest.mark.usefixtures("no_thread_left")
def test_a_streamed_answer_comes_in_pieces_with_usage_and_an_end() -> None:
    text = "An answer that is longer than one piece – and not ASCII."
    with StubModel([Rule([Reply(text, reasoning="hm", tokens=Tokens(7, 3, cached=2, reasoning=1))])]) as stub:
        status, body = _post(stub.base_url, "hello", stream=True)
    events = _events(body)
    choices = [event["choices"][0] for event in events[:-1] if event["choices"]]
    said = [choice["delta"].get("content", "") for choice in choices]
    assert status == 200
    assert "".join(said) == text
    assert len([piece for piece in said if piece]) > 1
    assert "".join(choice["delta"].get("reasoning_content", "") for choice in choices) == "hm"
    assert choices[-1]["finish_reason"] == "stop"
    assert events[-2]["usage"]["prompt_tokens_details"] == {"cached_tokens": 2}
    assert events[-1] == "[DONE]"


@pytest.mark.usefixtures("no_thread_left")
def test_rules_choose_by_the_prompt_and_replies_follow_one_another() -> None:
    call = ToolCall("bash", {"command": "echo hi"})
    rules = [Rule([Reply(tools=[call]), Reply("second")], user="go"), Rule([Reply(status=429, error="slow")])]
    with StubModel(rules) as stub:
        first = json.loads(_post(stub.base_url, "go", stream=False)[1])
        later = [json.loads(_post(stub.base_url, "go", stream=False)[1]) for _ in range(2)]
        status, refused = _post(stub.base_url, "other", stream=True)
        asked = [request.last_user for request in stub.requests]
    asked_tool = first["choices"][0]["message"]["tool_calls"][0]["function"]
    assert json.loads(asked_tool["arguments"]) == call.arguments
    assert first["choices"][0]["finish_reason"] == "tool_calls"
    assert [answer["choices"][0]["message"]["content"] for answer in later] == ["second", "second"]
    assert (status, json.loads(refused)["error"]["message"]) == (429, "slow")
    assert asked == ["go", "go", "go", "other"]


@pytest.mark.usefixtures("no_thread_left")
def test_a_cut_answer_has_neither_a_finish_reason_nor_an_end() -> None:
    with StubModel([Rule([Reply("part", cut=True)])]) as stub:
        events = _events(_post(stub.base_url, "x", stream=True)[1])
    assert {event["choices"][0]["finish_reason"] for event in events} == {None}


@pytest.mark.usefixtures("no_thread_left")
def test_closing_ends_requests_that_hang() -> None:
    stub = StubModel([Rule([Reply(hang=True)])])
    stub.start()
    connection = _connect(stub.base_url)
    body = json.dumps({"model": "x", "messages": [{"role": "user", "content": "x"}]})
    connection.request("POST", "/v1/chat/completions", body)
    assert stub.wait_for_requests(1)
    stub.close()
    stub.close()
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
    connection.close()


def test_as_a_program_it_says_where_it_serves() -> None:
    script = Path(stub_llm.__file__)
    with subprocess.Popen(
        [sys.executable, str(script), "--text", "from the program"], stdout=subprocess.PIPE
    ) as program:
        try:
            assert program.stdout is not None
            base_url = program.stdout.readline().decode().strip()
            answer = json.loads(_post(base_url, "x", stream=False)[1])
        finally:
            program.kill()
    assert answer["choices"][0]["message"]["content"] == "from the program"
