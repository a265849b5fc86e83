"""Asynchronous service calls to nodes that come and go; missing answers are reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

PATIENCE_S = 3.0


@dataclass(eq=False)
class _Asked:
    name: str
    request: Any
    at: float  # [s] of a steady clock
    words: str
    then: Callable[[Any], None] | None
    future: Any = None  # once it is sent


class Services:
    """Clients by service name. `say` gets a text for users and whether it is bad news."""

    def __init__(self, node: Node, say: Callable[[str, bool], None]) -> None:
        self._node, self._say = node, say
        self._clients: dict[str, Any] = {}
        self._asked: list[_Asked] = []

    def meet(self, wanted: Mapping[str, type]) -> None:
        """Create clients now, so that servers are found before the first call."""
        for name, kind in wanted.items():
            if name not in self._clients:
                self._clients[name] = self._node.create_client(kind, name)

    def is_there(self, name: str) -> bool:
        """Whether a server of the service is available."""
        return name in self._clients and bool(self._clients[name].service_is_ready())

    def ask(
        self, name: str, request: Any, now: float, words: str = "", then: Callable[[Any], None] | None = None
    ) -> None:
        """Call the service, or do so as soon as there is a server.

        words: what to say when it is done, if the answer has no text; then: gets the answer, and nothing is said.
        """
        self._asked.append(_Asked(name, request, now, words, then))
        self.look(now)

    def look(self, now: float) -> None:
        """Send calls that wait for a server; give up on those that wait too long."""
        for item in self._asked[:]:
            if item.future is not None and item.future.done():
                self._asked.remove(item)
                self._report(item)
            elif now - item.at > PATIENCE_S:
                self._asked.remove(item)
                if item.future is not None:
                    self._clients[item.name].remove_pending_request(item.future)
                if item.then is None:
                    self._say(f"{item.name}: {'no server' if item.future is None else 'no answer'}", True)
            elif item.future is None and self.is_there(item.name):
                item.future = self._clients[item.name].call_async(item.request)

    def _report(self, item: _Asked) -> None:
        answer = item.future.result()
        if item.then is not None:
            item.then(answer)
        elif hasattr(answer, "results"):  # of parameters
            rejected = [result.reason for result in answer.results if not result.successful]
            self._say(f"{item.name}: {rejected[0]}" if rejected else item.words, bool(rejected))
        else:
            self._say(answer.message or item.words or item.name, not answer.success)
