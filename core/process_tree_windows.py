"""Processes on Windows. Written from its documentation; only Linux has run in our tests so far.

Every turn is a job object, which no child can leave, and the supervisor's own job, whose only handle is the
supervisor's, ends everything when it dies.
"""

# ruff: noqa: PTH112, PTH123
# mypy: disable-error-code="attr-defined, unused-ignore"
# (the names of the other platform are checked with `mypy --platform win32`)

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import queue
import subprocess
import threading
import time
from ctypes import wintypes

from core.process_tree import Ending, ProcessEntry, ProcessTree, SpawnError, SpawnOrder, Wakeups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CREATE_SUSPENDED = 0x4
_JOB_BASIC_PROCESS_ID_LIST = 3
_JOB_EXTENDED_LIMIT_INFORMATION = 9
_JOB_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
_MOST_PIDS = 4096
_POLL_SECONDS = 0.03
_KILLED_EXIT_CODE = 0xDEAD


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
        ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_ulonglong * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class _ProcessIds(ctypes.Structure):
    _fields_ = (
        ("NumberOfAssignedProcesses", wintypes.DWORD),
        ("NumberOfProcessIdsInList", wintypes.DWORD),
        ("ProcessIdList", ctypes.c_size_t * _MOST_PIDS),
    )


_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel.CreateJobObjectW.restype = wintypes.HANDLE
_kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
_kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
_kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
_kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
_kernel.GetCurrentProcess.restype = wintypes.HANDLE
_kernel.SetInformationJobObject.argtypes = (
    wintypes.HANDLE,
    ctypes.c_int,
    ctypes.c_void_p,
    wintypes.DWORD,
)
_kernel.QueryInformationJobObject.argtypes = (
    wintypes.HANDLE,
    ctypes.c_int,
    ctypes.c_void_p,
    wintypes.DWORD,
    ctypes.c_void_p,
)
_ntdll = ctypes.WinDLL("ntdll")
_ntdll.NtResumeProcess.argtypes = (wintypes.HANDLE,)
_ntdll.NtResumeProcess.restype = ctypes.c_long


def _new_job() -> int:
    job = _kernel.CreateJobObjectW(None, None)
    if not job:
        raise ctypes.WinError(ctypes.get_last_error())
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _JOB_LIMIT_KILL_ON_JOB_CLOSE
    if not _kernel.SetInformationJobObject(
        job, _JOB_EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
    ):
        raise ctypes.WinError(ctypes.get_last_error())
    return int(job)


class WindowsWakeups(Wakeups):
    """A thread reads the pipe; deaths are looked for every 30 ms while it is silent."""

    def __init__(self) -> None:
        self._arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while data := os.read(0, 1 << 16):
            self._arrived.put(data)
        self._arrived.put(b"")

    def wait(self, timeout: float | None) -> bytes | None:
        try:
            limit = _POLL_SECONDS if timeout is None else min(timeout, _POLL_SECONDS)
            return self._arrived.get(timeout=limit) or None
        except queue.Empty:
            return b""


class WindowsTree(ProcessTree):
    """One job object per turn, inside the supervisor's own."""

    def __init__(self) -> None:
        self._own_job = _new_job()
        # Everything started from here on is in it; its only handle closes when this process dies.
        if not _kernel.AssignProcessToJobObject(self._own_job, _kernel.GetCurrentProcess()):
            raise ctypes.WinError(ctypes.get_last_error())
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._jobs: dict[int, int] = {}
        self._told: set[int] = set()

    def spawn(self, order: SpawnOrder) -> ProcessEntry:
        if not os.path.isdir(order.cwd):
            raise SpawnError("cwd", 2, order.cwd)
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW | _CREATE_SUSPENDED
        if order.nice:
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS
        with contextlib.ExitStack() as stack:
            try:
                stdin = stack.enter_context(open(order.stdin, "rb"))
                stdout = stack.enter_context(open(order.stdout, "ab"))
                stderr = stack.enter_context(open(order.stderr, "ab"))
            except OSError as error:
                raise SpawnError("files", error.errno or 0, str(error.filename)) from error
            try:
                process = subprocess.Popen(
                    list(order.argv),
                    executable=order.program,
                    cwd=order.cwd,
                    env=order.env,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    creationflags=flags,
                )
            except OSError as error:
                raise SpawnError("program", error.errno or 0, order.program) from error
        job = _new_job()
        # Suspended until it is in its job, so that not even its first child is outside.
        handle = int(process._handle)  # nothing public gives it
        if not _kernel.AssignProcessToJobObject(job, handle) or _ntdll.NtResumeProcess(handle) < 0:
            # Nobody could end what it starts, or it would wait for ever: it is not let loose.
            code = ctypes.get_last_error()
            process.kill()
            process.wait()
            _kernel.CloseHandle(job)
            raise SpawnError("program", ctypes.WinError(code).errno or errno.EAGAIN, order.program)
        self._running[process.pid] = process
        self._jobs[process.pid] = job
        return ProcessEntry(process.pid, time.time(), process.pid, process.pid)

    def exited(self) -> Iterator[int]:
        for pid, process in list(self._running.items()):
            if pid not in self._told and process.poll() is not None:
                self._told.add(pid)
                yield pid

    def reap(self, pid: int) -> Ending:
        code = self._running[pid].wait()
        self.abandon(pid)
        return Ending(None, 9) if code == _KILLED_EXIT_CODE else Ending(code, None)

    def abandon(self, pid: int) -> None:
        self._running.pop(pid, None)
        self._told.discard(pid)
        _kernel.CloseHandle(self._jobs.pop(pid))

    def subtree(self, pid: int) -> list[ProcessEntry]:
        job = self._jobs.get(pid)
        if job is None:
            return []
        ids = _ProcessIds()
        _kernel.QueryInformationJobObject(
            job, _JOB_BASIC_PROCESS_ID_LIST, ctypes.byref(ids), ctypes.sizeof(ids), None
        )
        return [
            ProcessEntry(int(member), 0.0, pid, pid)
            for member in ids.ProcessIdList[: ids.NumberOfProcessIdsInList]
            if not (member == pid and pid in self._told)
        ]

    def orphans(self) -> list[ProcessEntry]:
        return []

    def environment(self, pid: int) -> bytes:
        return b""

    def outputs(self, pid: int) -> set[tuple[int, int]]:
        return set()

    def terminate(self, entry: ProcessEntry) -> None:
        # There is no gentle signal for a process without a console of its own: the grace is all it gets.
        return

    def kill(self, entries: Sequence[ProcessEntry]) -> list[ProcessEntry]:
        for leader in {entry.group for entry in entries}:
            _kernel.TerminateJobObject(self._jobs[leader], _KILLED_EXIT_CODE)
        return []

    def end_all(self, patience: float) -> None:
        for job in self._jobs.values():
            _kernel.TerminateJobObject(job, _KILLED_EXIT_CODE)

    def epoch(self, entry: ProcessEntry) -> float:
        return entry.started
