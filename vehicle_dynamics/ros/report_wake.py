"""What the simulation's thread of a synchronous run waits for: reports and commands of the nodes of the suite.

The thread reads them itself. An executor that reads them in another thread and wakes this one takes half a millisecond
for each period.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from rclpy.guard_condition import GuardCondition
from rclpy.node import Node

from proving_ground.ros_support.executor import Listener, WaitSet, listener_of, receive


class ReportWake:
    """A simulation_loop.Wake that also reads messages. Only `set` may be called from other threads."""

    def __init__(self, node: Node) -> None:
        self._context = node.context
        self._guard = GuardCondition(None, None, context=node.context)
        self._waking: dict[int, Listener] = {}  # by pointer
        self._before: list[Listener] = []
        self._rare: list[Listener] = []
        self._held = ExitStack()  # keeps the entities alive
        self._held.enter_context(node.context.handle)
        self._held.enter_context(self._guard.handle)
        self._entities: list[tuple[str, Any]] = [("guard_condition", self._guard.handle)]
        self._set: WaitSet | None = None

    def add(self, subscription: Any, *, wakes: bool = False, is_rare: bool = False) -> None:
        """Add a subscription of a PolledGroup, before the thread starts.

        wakes: its messages end a wait. Those of the others are read before them, or, if is_rare, only when a wait
        times out.
        """
        self._held.enter_context(subscription.handle)
        listener = listener_of(subscription)
        if wakes:
            self._waking[subscription.handle.pointer] = listener
            self._entities.append(("subscription", subscription.handle))
        else:
            (self._rare if is_rare else self._before).append(listener)

    def set(self) -> None:
        """Wake the thread; any thread may call it."""
        self._guard.trigger()

    def clear(self) -> None:
        """Do nothing: `wait` clears the wake-up."""

    def wait(self, timeout: float) -> bool:
        """Wait for a message that wakes or for `set`, and read messages; False after the timeout [s]."""
        if self._set is None:
            self._set = WaitSet(self._entities, self._context)
        self._set.wait(timeout)
        ready = self._set.ready("subscription")
        if ready:
            receive([self._waking[pointer] for pointer in ready], self._before)
        elif not self._set.ready("guard_condition"):
            receive(self._rare, self._before)
            return False
        return True

    def close(self) -> None:
        """Release the entities; the thread must have ended."""
        self._set = None
        self._held.close()
