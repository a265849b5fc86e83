"""A real ROS graph for each test: its own domain, on this machine only, with nodes in separate processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context

from proving_ground.launching.forked import ForkServer
from proving_ground.launching.node_process import node_entry
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain
from proving_ground.ros_support.executor import QuickExecutor

ANSWER_WAIT_S = 10.0
WAIT_S = 60.0  # for things that take far less; a bound for a busy machine


class ForkedNode:
    """A node started by a fork server, with the methods of subprocess.Popen that tests use."""

    def __init__(self, server: ForkServer, executable: str, arguments: list[str], output: int) -> None:
        self._server = server
        self._process = server.start(executable, node_entry(executable), arguments, dict(os.environ), output)
        self.pid = self._process.pid

    def poll(self) -> int | None:
        self._server.read()
        return self._process.returncode

    def wait(self, timeout: float) -> int:
        return self._server.wait(self._process, timeout)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Process:
    """A child process whose output is kept in a file."""

    def __init__(self, start: Callable[[Any], Any], log: Path) -> None:
        """start: with the file for its output; gives the process."""
        self._log = log
        with log.open("w") as output:
            self.popen = start(output)

    @property
    def output(self) -> str:
        return self._log.read_text()

    def is_running(self) -> bool:
        return self.popen.poll() is None

    def wait(self) -> int:
        """Exit status; the output is shown with a test that fails."""
        status = self.popen.wait(WAIT_S)
        print(self.output)
        return status


class Graph:
    """The test's own node in the domain, and the processes it started."""

    def __init__(self, folder: Path, server: ForkServer) -> None:
        self._folder, self._server = folder, server
        self._processes: list[Process] = []
        self._answered: set[Any] = set()  # clients
        self.context = Context()
        rclpy.init(args=[], context=self.context)
        self.node = rclpy.create_node("tester", context=self.context)
        self._executor = QuickExecutor(context=self.context)
        self._executor.add_node(self.node)

    def start(self, executable: str, *arguments: str) -> Process:
        """Start a node of the suite as a process, as a launch does."""
        return self._add(lambda output: ForkedNode(self._server, executable, list(arguments), output.fileno()))

    def start_command(self, command: list[str], **options: Any) -> Process:
        return self._add(lambda output: subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, **options))

    def _add(self, start: Callable[[Any], Any]) -> Process:
        process = Process(start, self._folder / f"process_{len(self._processes)}.log")
        self._processes.append(process)
        return process

    def collect(self, message_type: type, topic: str, profile: Any = qos.RELIABLE) -> list[Any]:
        """A list that fills with the messages of a topic while the test waits."""
        messages: list[Any] = []
        self.node.create_subscription(message_type, topic, messages.append, profile)
        return messages

    def wait_until(self, condition: Callable[[], Any], what: str, seconds: float = WAIT_S) -> None:
        """Spin until the condition holds; fails with the processes' output when it does not."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                outputs = "\n".join(process.output for process in self._processes)
                pytest.fail(f"waited {seconds:g} s for {what}; processes said:\n{outputs}")
            self._executor.spin_once(timeout_sec=0.02)

    def spin_for(self, seconds: float) -> None:
        """Spin for a while, to check that no message arrives."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def call(self, client: Any, request: Any) -> Any:
        """Answer of a service; asked again when none comes, because a server may get a request before it has found
        the way back to its client, and then drops the answer."""
        self.wait_until(client.service_is_ready, f"service {client.srv_name}")
        asked: list[Any] = []
        wait_s = WAIT_S if client in self._answered else ANSWER_WAIT_S  # one that has answered once finds its way
        for _ in range(round(WAIT_S / wait_s)):
            asked.append(client.call_async(request))
            deadline = time.monotonic() + wait_s
            # Not spin_until_future_complete: it leaves a callback for each cycle, which the next call must work off.
            while (left := deadline - time.monotonic()) > 0.0:
                self._executor.spin_once(timeout_sec=left)
                if answered := [
                    future for future in asked if future.done()
                ]:  # also a slow answer to an earlier request
                    self._answered.add(client)
                    return answered[0].result()
        return pytest.fail(f"no answer of {client.srv_name}")

    def close(self) -> None:
        for process in self._processes:
            if process.is_running():
                process.popen.terminate()
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.popen.wait(5.0)
            if process.is_running():
                process.popen.kill()
                process.popen.wait(WAIT_S)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, fork_server: ForkServer
) -> Iterator[Graph]:
    with private_domain() as domain:
        for name, value in domain.items():
            monkeypatch.setenv(name, value)
        if request.node.get_closest_marker("shared_memory"):
            monkeypatch.delenv("FASTDDS_BUILTIN_TRANSPORTS")
        graph = Graph(tmp_path, fork_server)
        try:
            yield graph
        finally:
            graph.close()
