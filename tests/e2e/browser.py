"""A real headless Chromium for tests, told what to do over its debugging pipe: no port, no driver."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

REQUIRED = "OPENLOOP_REQUIRE_BROWSER"
"""Set to 1 where a browser must be there: its absence is then a failure, not a skip."""
PATIENCE = 60.0
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # it refuses to run as root with one
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No processes beside those of the one page.
    "--renderer-process-limit=1",
    "--disable-features=SpareRendererForSitePerProcess",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    "--use-mock-keychain",
    # No name leads anywhere, so that nothing can come from the network unnoticed.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
# The browser reads commands from 3 and answers to 4; a shell may know no numbers of two digits.
_WITH_PIPES = """
import os, sys
given, taken = map(int, sys.argv[1:3])
os.dup2(given, 3), os.dup2(taken, 4)
os.close(given), os.close(taken)
os.execv(sys.argv[3], sys.argv[3:])
"""


def browser_program() -> str:
    """The browser to test with: OPENLOOP_BROWSER, else one of the usual names in PATH; skips without."""
    if sys.platform == "win32":
        _missing("the debugging pipe is only spoken on POSIX here")
    named = os.environ.get("OPENLOOP_BROWSER")
    for name in (named,) if named else _NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    return _missing(f"none of these browsers is there: {', '.join([named] if named else _NAMES)}")


def _missing(why: str) -> NoReturn:
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{why}, and {REQUIRED}=1")
    pytest.skip(why)


@dataclass
class Tab:
    """A page in the browser, and everything that it asked for and complained about."""

    browser: Browser
    session: str
    requests: list[str] = field(default_factory=list)
    """URLs, of the page itself too."""
    complaints: list[str] = field(default_factory=list)
    """Errors and warnings of the console, refusals of the content policy, exceptions, dialogs."""
    _loaded: bool = False

    def do(self, method: str, **arguments: object) -> dict[str, Any]:
        """Give a command of the DevTools protocol; its answer."""
        return self.browser.do(method, self.session, **arguments)

    def begin(self, *, scripts: bool = True) -> None:
        """As if it were new. `scripts` False: as if the user had switched JavaScript off."""
        self.do("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.do("Emulation.setEmulatedMedia", media="", features=[])
        self.resize(1280)
        self.requests.clear()
        self.complaints.clear()

    def show(self, page: Path) -> None:
        """Load a file, and wait until it is there."""
        self._loaded = False
        self.do("Page.navigate", url=page.as_uri())
        self.browser.until(lambda: self._loaded, f"{page.name} was not loaded")

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for a JavaScript expression to become true."""
        self.browser.until(lambda: bool(self.ask(expression)), f"never true: {expression}")

    def resize(self, width: int, height: int = 900) -> None:
        """Make it as wide and high, in CSS pixels."""
        self.do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str, media: str = "screen") -> None:
        """Have the system prefer `light` or `dark`; `media` may be `print`."""
        self.do(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def click(self, selector: str) -> None:
        """Click in the middle of an element, with the mouse."""
        x, y = self.ask(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)});"
            "it.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = it.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.do("Input.insertText", text=text)

    def picture(self) -> bytes:
        """What can be seen, as PNG."""
        return base64.b64decode(self.do("Page.captureScreenshot", format="png")["data"])

    def hear(self, method: str, said: dict[str, Any]) -> None:
        """Take in an event of the browser."""
        match method:
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(said["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(f"{said['entry']['source']}: {said['entry']['text']}")
            case "Runtime.consoleAPICalled":
                self.complaints.append(f"console: {said['args']}")
            case "Runtime.exceptionThrown":
                self.complaints.append(f"exception: {said['exceptionDetails']}")
            case "Page.javascriptDialogOpening":
                self.complaints.append(f"dialog: {said['message']}")
            case _:
                pass


class Browser:
    """A browser of its own, with everything that it writes in `folder`. Close it with `close`."""

    def __init__(self, program: str, folder: Path) -> None:
        import fcntl

        self._folder = folder
        self._tabs: dict[str, Tab] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._buffer = b""
        their_input, self._to = os.pipe()
        self._from, their_output = os.pipe()
        # Numbers that are not 3 and 4, which is where the browser looks for them.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (their_input, their_output)]
        for fd in (their_input, their_output):
            os.close(fd)
        for name in ("temp", "home", "profile"):
            (folder / name).mkdir()
        home = str(folder / "home")
        with (folder / "stderr.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    _WITH_PIPES,
                    *map(str, high),
                    program,
                    *_FLAGS,
                    f"--user-data-dir={folder / 'profile'}",
                    "about:blank",
                ],
                pass_fds=high,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={
                    **{
                        key: value for key, value in os.environ.items() if not key.startswith(("DBUS", "XDG"))
                    },
                    "HOME": home,
                    "XDG_CONFIG_HOME": home,
                    "XDG_CACHE_HOME": home,
                    "TMPDIR": str(folder / "temp"),
                },
                start_new_session=True,
            )
        for fd in high:
            os.close(fd)

    def new_tab(self) -> Tab:
        """An empty page."""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for part in ("Page", "Network", "Log", "Runtime"):
            tab.do(f"{part}.enable")
        return tab

    def do(self, method: str, session: str | None = None, **arguments: object) -> dict[str, Any]:
        """Give a command, and wait for its answer."""
        self._number += 1
        number = self._number
        order: dict[str, object] = {"id": number, "method": method, "params": arguments}
        if session is not None:
            order["sessionId"] = session
        data = json.dumps(order).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        self.until(lambda: number in self._answers, f"no answer to {method}")
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer}"
        result: dict[str, Any] = answer["result"]
        return result

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Listen until a condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, what
            self._listen(0.05)

    def _listen(self, seconds: float) -> None:
        if not select.select([self._from], [], [], seconds)[0]:
            return
        data = os.read(self._from, 1 << 20)
        assert data, f"The browser ended: {(self._folder / 'stderr.log').read_text(errors='replace')[-2000:]}"
        *messages, self._buffer = (self._buffer + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self._tabs:
                self._tabs[message["sessionId"]].hear(message["method"], message["params"])

    def close(self) -> None:
        """End it with everything that it started."""
        with contextlib.suppress(AssertionError, OSError):
            self.do("Browser.close")
        for fd in (self._to, self._from):
            os.close(fd)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        # Its helpers see that it is gone, and go; they are not our children, so nobody tells when.
        deadline = time.monotonic() + PATIENCE
        while left := self._left():
            if time.monotonic() > deadline:
                for process in left:
                    with contextlib.suppress(psutil.Error):
                        process.kill()
                raise AssertionError(f"The browser left processes behind: {left}")
            time.sleep(0.02)

    def _left(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if os.getsid(process.pid) == self._process.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


@contextlib.contextmanager
def opened_browser(folder: Path) -> Iterator[Browser]:
    """A browser that is closed at the end, whatever happens."""
    browser = Browser(browser_program(), folder)
    try:
        yield browser
    finally:
        browser.close()
