"""A process that has imported what nodes need, and starts each node as a copy of itself (fork).

Importing takes a second for each node, and a launch has ten. No ROS is initialised here and no thread of ours runs, so
that a copy is as good as a process of its own. Requests and answers are JSON, one packet each.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final, NoReturn

from numba.core.registry import cpu_target
from setproctitle import setproctitle

from proving_ground.ros_support.signals import SIGNALS

PROGRAM: Final = "proving-ground"  # processes have the titles PROGRAM-NAME
NODES: Final = "nodes"  # name of this process
PACKET_BYTES: Final = 1 << 18
_PR_SET_PDEATHSIG: Final = 1

Task = Callable[[], int]


def serve(descriptor: int) -> int:
    """Serve requests on a socket until it is closed. A copy runs its node and ends with the node's exit status."""
    setproctitle(f"{PROGRAM}-{NODES}")
    with socket.socket(fileno=descriptor) as channel:
        task = _Server(channel).run()
    if task is not None:
        _end(task())
    return 0


def _end(status: int) -> NoReturn:
    """End the process of a node that has cleaned up, without finalising Python.

    Daemon threads of libraries may still wind down, such as the page server's on a busy machine, and one that runs
    while the interpreter is taken down can crash it.
    """
    with contextlib.suppress(OSError):  # nobody reads any more
        sys.stdout.flush()
        sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)  # what C has printed, as logs of ROS
    os._exit(status)


class _Server:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._process = os.getpid()
        self._woken, self._wake = socket.socketpair()
        self._wake.setblocking(False)
        self._imported: set[str] = set()

    def run(self) -> Task | None:
        """None at the end; the task of the copy in a copy."""
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._woken in ready:
                    self._woken.recv(64)
                    self._report_ended()
                if self._channel in ready:
                    packet, descriptors, _, _ = socket.recv_fds(self._channel, PACKET_BYTES, 3)
                    if not packet:  # the other end is closed
                        return None
                    if (task := self._answer(json.loads(packet), descriptors)) is not None:
                        return task

    def _answer(self, request: dict[str, Any], descriptors: list[int]) -> Task | None:
        self._import(request["module"])
        if not descriptors:  # only to import
            self._send({})
            return None
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # a node unblocks them once it can end cleanly
        process = os.fork()
        if process == 0:
            return self._become(request, descriptors)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for descriptor in descriptors:
            os.close(descriptor)
        self._send({"process": process})
        return None

    def _import(self, module: str) -> None:
        """A module that cannot be imported fails in its node, where the traceback belongs."""
        if module in self._imported:
            return
        self._imported.add(module)
        try:
            importlib.import_module(module)
        except Exception:
            return
        cpu_target.target_context.refresh()  # numba's own registries, which the first kernel would load in each node
        gc.collect()
        gc.freeze()  # copies share these objects, and need not look at them again

    def _become(self, request: dict[str, Any], descriptors: list[int]) -> Task:
        """Turn this copy into the process of a node."""
        os.setsid()
        end_with_parent(signal.SIGINT)
        if os.getppid() != self._process:  # it ended before the line above
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for own in (self._channel, self._woken, self._wake):
            own.close()
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
            os.close(descriptor)
        known = _python_path()
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[:0] = [folder for folder in _python_path() if folder not in known]
        os.chdir(request["folder"])
        if request["is_background"]:
            run_in_background()
        sys.argv = [request["name"], *request["arguments"]]
        setproctitle(f"{PROGRAM}-{request['name']}")  # rcl names its log file so
        return lambda: _run(request["module"], request["function"], request["values"])

    def _report_ended(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            self._send({"ended": process, "status": os.waitstatus_to_exitcode(status)})

    def _send(self, answer: dict[str, Any]) -> None:
        try:
            self._channel.send(json.dumps(answer).encode())
        except BrokenPipeError:
            os._exit(0)  # the kernel ends the nodes with this process


def run_in_background() -> None:
    """Let the kernel not interrupt others when this process wakes: nobody waits for its next result."""
    with contextlib.suppress(OSError):  # a matter of speed only
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _python_path() -> list[str]:
    return list(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))


def end_with_parent(number: int) -> None:
    """Let the kernel send this process a signal when its parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def _run(module: str, function: str, values: list[Any]) -> int:
    try:
        return int(getattr(importlib.import_module(module), function)(*values) or 0)
    except Exception:
        traceback.print_exc()
        return 1
