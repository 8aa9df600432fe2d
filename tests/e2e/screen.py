"""An X server of the tests' own, a real mouse and real keys on it, and pictures of what it shows.

The server keeps its screen in a file (Xvfb's -fbdir), so that a picture needs no other program.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage

from tests.e2e.desk import MARK

REQUIRED = "OPENLOOP_REQUIRE_DISPLAY"
"""Set to 1 where the programs must be there: their absence is then a failure, not a skip."""
PICTURES = "OPENLOOP_SCREENSHOTS"
"""Folder that the pictures are copied to."""
PATIENCE = 60.0
_XWD_HEADER = struct.Struct(">25I")


class _ClientMessage(ctypes.Structure):
    """XClientMessageEvent of Xlib.h, as large as an XEvent."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("padding", ctypes.c_long * 24),
    )


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait until a condition holds in other processes."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@dataclass(frozen=True)
class Screen:
    """A display with nothing on it but what the test starts; `scale`: its pixels to one of the window's."""

    display: str
    picture_file: Path
    pictures: Path
    scale: int

    def xdotool(self, *words: str | int) -> str:
        """Run xdotool; gives what it prints, and nothing where it finds nothing."""
        done = subprocess.run(
            ["xdotool", *map(str, words)],
            env={**os.environ, "DISPLAY": self.display},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout.strip()

    def move(self, point: QPoint) -> None:
        """Move the mouse to a point, in the window's pixels."""
        self.xdotool("mousemove", "--sync", point.x() * self.scale, point.y() * self.scale)

    def click(self, point: QPoint) -> None:
        """Click with the left button."""
        # Where the mouse is already, `--sync` would wait 15 seconds for it to move.
        here = self.xdotool("getmouselocation", "--shell").split()
        if here[:2] != [f"X={point.x() * self.scale}", f"Y={point.y() * self.scale}"]:
            self.move(point)
        self.xdotool("click", 1)

    def drag(self, start: QPoint, end: QPoint, while_over: Callable[[], None]) -> None:
        """Press, move in steps as a hand does, do something while the mouse is over the end, and let go."""
        self.move(start)
        self.xdotool("mousedown", 1)
        steps = 12
        for step in range(1, steps + 1):
            self.move(start + (end - start) * step / steps)
        while_over()
        # A drag lands where it was told last: one more move, after whatever opened below it.
        self.move(end + QPoint(1, 0))
        self.xdotool("mouseup", 1)

    def press(self, keys: str) -> None:
        """Press keys, such as `ctrl+s`."""
        self.xdotool("key", "--clearmodifiers", keys)

    def close(self, window: str) -> None:
        """Ask a window to close, as a window manager does: here is none that could be told to."""
        x11 = ctypes.CDLL("libX11.so.6")
        x11.XOpenDisplay.restype = ctypes.c_void_p
        x11.XInternAtom.restype = ctypes.c_ulong
        display = ctypes.c_void_p(x11.XOpenDisplay(self.display.encode()))
        assert display.value, "the display cannot be opened"
        message = _ClientMessage(type=33, window=int(window), format=32)
        message.message_type = x11.XInternAtom(display, b"WM_PROTOCOLS", 0)
        message.data[0] = x11.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
        x11.XSendEvent(display, ctypes.c_ulong(int(window)), 0, ctypes.c_long(0), ctypes.byref(message))
        x11.XCloseDisplay(display)

    def image(self) -> QImage:
        """What is on the screen now."""
        data = self.picture_file.read_bytes()
        header = _XWD_HEADER.unpack_from(data)
        header_size, width, height, bytes_per_line, colours = (header[number] for number in (0, 4, 5, 12, 19))
        start = header_size + 12 * colours
        image = QImage(data[start:], width, height, bytes_per_line, QImage.Format.Format_RGB32)
        return image.copy()

    def colours(self, area: QRect | None = None) -> int:
        """How many colours there are in an area (in the window's pixels; default: all), of some pixels."""
        image = self.image()
        box = image.rect() if area is None else QRect(area.topLeft() * self.scale, area.size() * self.scale)
        box = box.intersected(image.rect())
        step = 2 if area is not None else 5 * self.scale
        return len(
            {
                image.pixel(x, y)
                for x in range(box.left(), box.right() + 1, step)
                for y in range(box.top(), box.bottom() + 1, step)
            }
        )

    def pixels(self, area: QRect) -> list[QColor]:
        """The pixels of an area that is given in the window's pixels."""
        image = self.image()
        box = QRect(area.topLeft() * self.scale, area.size() * self.scale).intersected(image.rect())
        return [
            image.pixelColor(x, y)
            for y in range(box.top(), box.bottom() + 1)
            for x in range(box.left(), box.right() + 1)
        ]

    def pixel(self, image: QImage, point: QPoint) -> int:
        """The colour of a picture at a point, in the window's pixels."""
        return image.pixel(point * self.scale)

    def take(self, name: str) -> QImage:
        """Keep a picture under a name; it has to show something."""
        image = self.image()
        self.pictures.mkdir(parents=True, exist_ok=True)
        assert image.save(str(self.pictures / f"{name}.png"))
        other = os.environ.get(PICTURES)
        if other:
            Path(other).mkdir(parents=True, exist_ok=True)
            assert image.save(str(Path(other) / f"{name}.png"))
        assert self.colours() > 20, f"{name} shows next to nothing"
        return image


@contextlib.contextmanager
def x_server(folder: Path, scale: int) -> Iterator[Screen]:
    """An Xvfb with a screen for a window of 1280×800; it is ended by its own id."""
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            _missing(f"{program} is not installed")
    frame = folder / "screen"
    frame.mkdir()
    read, write = os.pipe()
    with (folder / "xvfb.log").open("wb") as log:
        server = subprocess.Popen(
            [
                *("Xvfb", "-displayfd", str(write), "-screen", "0", f"{1280 * scale}x{800 * scale}x24"),
                *("-fbdir", str(frame), "-nolisten", "tcp", "-noreset", "-dpi", "96"),
            ],
            # Without the test's mark: it is there while nothing of the application may be.
            env={name: value for name, value in os.environ.items() if name != MARK},
            pass_fds=[write],
            stdout=log,
            stderr=log,
        )
    os.close(write)
    try:
        with os.fdopen(read) as numbers:
            number = numbers.readline().strip()
        assert number, f"Xvfb did not start: {(folder / 'xvfb.log').read_text('utf-8', 'replace')}"
        yield Screen(f":{number}", frame / "Xvfb_screen0", folder / "pictures", scale)
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _missing(why: str) -> NoReturn:
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{why}, and {REQUIRED}=1")
    pytest.skip(why)
