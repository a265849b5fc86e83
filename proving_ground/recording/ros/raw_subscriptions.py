"""Raw subscriptions that one thread polls in cycles.

rclpy's executor takes 0.3 ms and more for each message and wakes up for each; here a wake-up takes all messages
of all topics, some 5 us each. Times of arrival are those of the middleware, so polling does not blur them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import QoSProfile

from proving_ground.ros_support.polled import PolledGroup

TURN_S = 0.05
MOST_A_TURN = 2000  # messages of one topic: a flood on one must not starve the others


class Received(NamedTuple):
    """A received message as bytes; times by the machine's clock [ns], 0 if unknown."""

    topic: str
    data: bytes
    arrival_ns: int
    sent_ns: int
    sequence: int  # at its publisher, from 1; 0 if unknown


class RawSubscriptions:
    """Passes on the messages of each cycle, topic by topic in the order in which they were added."""

    def __init__(self, node: Node, on_messages: Callable[[list[Received]], None]) -> None:
        """on_messages: called with the messages of a cycle, in the polling thread."""
        self._node, self._on_messages = node, on_messages
        self._group = PolledGroup()
        self._subscriptions: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="raw subscriptions")
        self._thread.start()

    def add(self, message_class: type, topic: str, profile: QoSProfile) -> None:
        """Subscribe to a topic, in place of an earlier subscription to it."""
        new = self._node.create_subscription(
            message_class, topic, _nothing, profile, callback_group=self._group, raw=True
        )
        with self._lock:
            old = self._subscriptions.get(topic)
            self._subscriptions[topic] = new
            if old is not None:
                self._node.destroy_subscription(old)

    @property
    def is_listening(self) -> bool:
        """Whether the polling thread is still running; False when it has failed."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End the polling thread after a last cycle."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._ending.wait(TURN_S)
            with self._lock:
                received = [
                    item
                    for topic, subscription in self._subscriptions.items()
                    for item in _emptied(topic, subscription)
                ]
            if received:
                self._on_messages(received)


def _emptied(topic: str, subscription: Any) -> list[Received]:
    received = []
    handle, message_class = subscription.handle, subscription.msg_type
    with handle:
        for _ in range(MOST_A_TURN):
            taken = handle.take_message(message_class, True)
            if taken is None:
                break
            data, info = taken
            arrival, sent = info["received_timestamp"] or 0, info["source_timestamp"] or 0
            received.append(Received(topic, data, arrival, sent, info["publication_sequence_number"] or 0))
    return received


def _nothing(message: Any) -> None:
    """Callback that the executor never calls."""
