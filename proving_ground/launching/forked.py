"""Nodes as copies of a process that has imported what they need (fork_server): they start in a fraction of the time."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from errno import ECHILD
from pathlib import Path
from typing import Any, NamedTuple

from proving_ground.launching.fork_server import PACKET_BYTES, end_with_parent

# Without the current folder, from which Python would import modules of our names.
_CODE = (
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from proving_ground.launching.fork_server import serve; sys.exit(serve(int(sys.argv[1])))"
)
_LOST = 1  # exit status of a node whose server has ended


class Entry(NamedTuple):
    """The function that runs a node as a process."""

    module: str
    function: str
    values: tuple[str, ...] = ()  # its arguments


class ForkedProcess:
    """The process of a node; its exit status arrives with ForkServer.read."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ended: Future[int] = Future()

    @property
    def returncode(self) -> int | None:
        """Exit status as in `subprocess`: negative after a signal, None while it runs."""
        return self.ended.result() if self.ended.done() else None


class ForkServer:
    """Starts nodes as copies of one process; they end when it ends. All calls must come from one thread."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._running: dict[int, ForkedProcess] = {}
        self._preparing = 0
        self._started: int | None = None  # process id, the answer to the latest request
        self._is_closed = False
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-c", _CODE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # signals of the terminal reach nodes through their launch
                preexec_fn=lambda: end_with_parent(signal.SIGTERM),
            )

    def fileno(self) -> int:
        """Readable when there is something to `read`."""
        return self._channel.fileno()

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._server.pid

    @property
    def is_prepared(self) -> bool:
        """Whether all modules of `prepare` are imported, so that `start` does not wait; also when the server ended."""
        return self._preparing == 0 or self._is_closed

    def prepare(self, modules: Collection[str]) -> None:
        """Begin to import modules, which the nodes will need."""
        for module in modules:
            self._preparing += 1
            self._request({"module": module}, [])

    def start(
        self,
        name: str,
        entry: Entry,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: int,
        *,
        is_background: bool = False,
    ) -> ForkedProcess:
        """Start a node; arguments: its command line; output: descriptor of what it prints. Raises OSError.

        is_background: others do not wait for its every result.
        """
        request = {"name": name, **entry._asdict(), "arguments": list(arguments), "environment": dict(environment)}
        request["is_background"] = is_background
        with Path(os.devnull).open() as nothing:
            self._request({**request, "folder": str(Path.cwd())}, [nothing.fileno(), output, output])
        while self._started is None:
            if self._is_closed:
                raise OSError(ECHILD, "the process that starts nodes has ended")
            self._process_answer(self._channel.recv(PACKET_BYTES))
        process = self._running[self._started]
        self._started = None
        return process

    def read(self, timeout_s: float = 0.0) -> None:
        """Process all answers that have arrived; timeout_s: longest wait for the first of them."""
        while not self._is_closed and select.select([self._channel], [], [], timeout_s)[0]:
            self._process_answer(self._channel.recv(PACKET_BYTES))
            timeout_s = 0.0

    def wait(self, process: ForkedProcess, timeout_s: float) -> int:
        """Exit status of a node; raises subprocess.TimeoutExpired."""
        deadline = time.monotonic() + timeout_s
        while (status := process.returncode) is None:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise subprocess.TimeoutExpired(str(process.pid), timeout_s)
            self.read(left)
        return status

    def close(self) -> None:
        """End the server; nodes that still run are asked to stop."""
        self._channel.close()
        self._is_closed = True
        self._server.wait()

    def _request(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the server has ended: the answer says so
            socket.send_fds(self._channel, [json.dumps(request).encode()], descriptors)

    def _process_answer(self, packet: bytes) -> None:
        if not packet:
            self._is_closed = True
            for process in self._running.values():
                process.ended.set_result(_LOST)
            self._running.clear()
            return
        answer = json.loads(packet)
        if "ended" in answer:
            self._running.pop(answer["ended"]).ended.set_result(answer["status"])
        elif "process" in answer:
            self._started = answer["process"]
            self._running[answer["process"]] = ForkedProcess(answer["process"])
        else:
            self._preparing -= 1
