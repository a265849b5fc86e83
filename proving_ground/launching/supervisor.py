"""Runs a group of processes as one: when any ends, all are stopped, and the status says which one and how.

Processes that can rejoin are restarted when they crash, a few times; those that nobody
needs may end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from proving_ground.launching.fork_server import end_with_parent
from proving_ground.launching.forked import Entry, ForkedProcess, ForkServer
from proving_ground.ros_support.respawn import RESPAWN
from proving_ground.ros_support.signals import SIGNALS

# A busy machine needs time for a clean end; all are stopped within 3 s.
STOP_STAGES = ((signal.SIGINT, 2.0), (signal.SIGTERM, 0.6), (signal.SIGKILL, 0.4))
EXIT_FAILED = 1
EXIT_BAD_SETTINGS = 2  # a restart would fail again
RESPAWN_AFTER_S = 1.0
MOST_RESPAWNS = 5  # of each process


@dataclass(frozen=True)
class ProcessSpec:
    """A process to run, by name."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    respawn: bool = False
    finishes: bool = False  # its successful end ends all
    is_ours: bool = True  # a node of the suite, whose status counts; it unblocks signals once it can end cleanly
    is_optional: bool = False  # its end is reported, and the others continue
    is_background: bool = False  # others do not wait for its every result, and are scheduled first
    entry: Entry | None = None  # of a node that is started as a copy of one process that has imported it


class _Process(Protocol):
    """As asyncio has them."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    @property
    def stdout(self) -> asyncio.StreamReader | None: ...
    async def wait(self) -> int: ...


class _Forked:
    def __init__(self, process: ForkedProcess, stdout: asyncio.StreamReader) -> None:
        self._process, self.stdout = process, stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def wait(self) -> int:
        return await asyncio.shield(asyncio.wrap_future(self._process.ended))  # its end outlives who waits for it


class Supervisor:
    """Starts processes, relays their output line by line with their names, and ends them together."""

    def __init__(self, specs: Sequence[ProcessSpec], write: Callable[[str, str], None]) -> None:
        """`write` gets the process name ('' for the supervisor itself) and a line."""
        self._specs = specs
        self._output: Callable[[str, str], None] | None = write
        self._processes: dict[str, _Process] = {}
        self._server: ForkServer | None = None
        self._interrupted = asyncio.Event()
        self._relays: list[asyncio.Task[None]] = []
        self._respawns: dict[str, int] = {}

    async def run(self) -> int:
        """Run until a process ends or a signal comes; 0 after a signal and a clean stop, else 1."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._interrupted.set)
        self._write("", f"starting {', '.join(spec.name for spec in self._specs)}; Ctrl-C stops all")
        try:
            await self._prepare([spec.entry.module for spec in self._specs if spec.entry is not None])
            for spec in self._specs:
                try:
                    await self._start(spec)
                except OSError as error:
                    self._write("", f"node {spec.name} could not be started: {error.strerror}")
                    if not spec.is_optional:
                        return EXIT_FAILED
            first_ended = await self._wait_for_end()
        finally:
            await self._stop_all()
            if self._server is not None:
                loop.remove_reader(self._server)
                self._server.close()
        await asyncio.wait(self._relays, timeout=1.0)  # a grandchild may keep the pipe open
        return self._status(first_ended)

    def _write(self, name: str, line: str) -> None:
        """Pass a line on; when nobody can read it any more, stop the nodes rather than run on unseen."""
        if self._output is not None:
            try:
                self._output(name, line)
            except OSError:
                self._output = None
                self._interrupted.set()

    async def _prepare(self, modules: Sequence[str]) -> None:
        """Import what nodes need, in the process that they are copies of; a signal ends the wait."""
        if not modules:
            return
        server = self._server = ForkServer()
        prepared = asyncio.Event()

        def read() -> None:
            server.read()
            if server.is_prepared:
                prepared.set()

        asyncio.get_running_loop().add_reader(server, read)
        server.prepare(modules)
        waits = [asyncio.create_task(event.wait()) for event in (prepared, self._interrupted)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()

    async def _start(self, spec: ProcessSpec) -> None:
        process = await (self._execute(spec) if spec.entry is None else self._fork(spec, spec.entry))
        self._processes[spec.name] = process
        self._relays.append(asyncio.create_task(self._relay(spec.name, process)))

    async def _fork(self, spec: ProcessSpec, entry: Entry) -> _Process:
        assert self._server is not None
        reading, writing = os.pipe()
        try:
            process = self._server.start(
                spec.name, entry, spec.command, spec.environment, writing, is_background=spec.is_background
            )
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return _Forked(process, await _reader(reading))

    async def _execute(self, spec: ProcessSpec) -> _Process:
        return await asyncio.create_subprocess_exec(
            *spec.command,
            env=dict(spec.environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches a child once, through us, and not again from the terminal
            preexec_fn=_prepare_node if spec.is_ours else _prepare_program,
        )

    async def _relay(self, name: str, process: _Process) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # a line longer than the buffer; asyncio has dropped it
                line = b"(a very long line was left out)\n"
            if not line:
                return
            self._write(name, line.decode("utf-8", "replace").rstrip())

    async def _wait_for_end(self) -> str:
        """Name of the process whose end ends all; '' when a signal asked us to stop."""
        interrupt: asyncio.Task[Any] = asyncio.create_task(self._interrupted.wait())
        waits: dict[asyncio.Task[Any], str] = {
            asyncio.create_task(item.wait()): name for name, item in self._processes.items()
        }
        try:
            return await self._first_end(waits, interrupt)
        finally:
            for task in (*waits, interrupt):  # nothing is restarted from here on
                task.cancel()

    async def _first_end(self, waits: dict[asyncio.Task[Any], str], interrupt: asyncio.Task[Any]) -> str:
        while True:
            done, _ = await asyncio.wait([*waits, interrupt], return_when=asyncio.FIRST_COMPLETED)
            if interrupt in done:
                return ""
            for task in done:
                name = waits.pop(task)
                spec = next(spec for spec in self._specs if spec.name == name)
                error = task.exception()
                if isinstance(error, OSError):
                    self._write("", f"node {name} could not be restarted: {error.strerror}; stopping the others")
                    return name
                if error is not None:
                    raise error
                ending = _ending(self._processes[name].returncode)
                if spec.finishes and self._processes[name].returncode == 0:
                    return ""
                may_respawn = self._may_respawn(spec)
                if not may_respawn and not spec.is_optional:
                    self._write("", f"node {name} {ending}; stopping the others")
                    return name
                self._write("", f"node {name} {ending}; {'restarting it' if may_respawn else 'the others go on'}")
                dead = self._processes.pop(name)
                _signal_group(dead.pid, signal.SIGKILL)  # what it may have left behind
                if may_respawn:
                    waits[asyncio.create_task(self._start_again(spec))] = name

    async def _start_again(self, spec: ProcessSpec) -> None:
        """Restart after a delay; returns when it has ended once more."""
        await asyncio.sleep(RESPAWN_AFTER_S)
        await self._start(replace(spec, environment={**spec.environment, RESPAWN: "1"}))
        await self._processes[spec.name].wait()

    def _may_respawn(self, spec: ProcessSpec) -> bool:
        self._respawns[spec.name] = self._respawns.get(spec.name, 0) + 1
        has_crashed = self._processes[spec.name].returncode not in (0, EXIT_BAD_SETTINGS)
        return spec.respawn and has_crashed and self._respawns[spec.name] <= MOST_RESPAWNS

    async def _stop_all(self) -> None:
        for number, patience in STOP_STAGES:
            running = [item for item in self._processes.values() if item.returncode is None]
            if not running:
                break
            for process in running:
                _signal_group(process.pid, number)
            await asyncio.wait([asyncio.create_task(item.wait()) for item in running], timeout=patience)
        for process in self._processes.values():
            _signal_group(process.pid, signal.SIGKILL)  # what a node may have started and left behind

    def _status(self, first_ended: str) -> int:
        ours = {spec.name for spec in self._specs if spec.is_ours}
        for name, item in self._processes.items():
            clean = (0,) if name in ours else (0, -signal.SIGINT, -signal.SIGTERM)
            if name != first_ended and item.returncode not in clean:
                self._write("", f"node {name} {_ending(item.returncode)} while stopping")
        codes = {name: item.returncode for name, item in self._processes.items() if name in ours}
        if first_ended:
            code = codes.get(first_ended)  # None: it could not be restarted
            return code if code is not None and code > 0 else EXIT_FAILED
        return EXIT_FAILED if any(codes.values()) else 0


def _ending(code: int | None) -> str:
    if code is None:
        return "did not end"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return "ended" if code == 0 else f"failed with exit status {code}"


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def _reader(descriptor: int) -> asyncio.StreamReader:
    """The lines that come through a pipe."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb")
    )
    return reader


def _prepare_node() -> None:
    """Let the kernel end the child with the supervisor, and block signals until it is ready; called before exec.

    A node unblocks the signals once it can end cleanly (ros_support.signals); one that never does is killed.
    """
    end_with_parent(signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _prepare_program() -> None:
    """The same for a foreign program, with signals unblocked, as it would never do that."""
    end_with_parent(signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
