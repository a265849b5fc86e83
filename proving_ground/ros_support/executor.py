"""A single-threaded executor that is quick with messages: the speed of a run over ROS depends on it."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor, TimeoutException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription import Subscription

EVENTS_EVERY_S: Final = 0.5  # wall time between checks of QoS events
LAZY_S: Final = 0.02  # wall time after which lazy subscriptions are looked at even if nothing else is ready ...
RESTS_AFTER_S: Final = 0.5  # ... unless nothing has arrived for this long, then ...
RESTING_S: Final = 0.05  # ... after this time
KINDS: Final = ("subscription", "guard_condition", "timer", "client", "service")  # in the order of a wait set


class _Listener(NamedTuple):
    """A subscription, with what is needed to take a message."""

    handle: Any
    message_type: type
    is_raw: bool
    callback: Callable[..., Any]
    has_info: bool  # the callback gets the message's info too


class QuickExecutor(SingleThreadedExecutor):
    """Keeps its wait set until entities change, and calls subscriptions directly.

    rclpy's own executor gathers all entities, QoS events included, and makes a task for each message, which costs more
    than most callbacks. Here it only runs what is rare: timers, services, clients, guard conditions, and events now
    and then. A subscription with the attribute `is_lazy` does not wake the node by itself: its messages are taken
    before those of the next other message, for which they only prepare.
    """

    def __init__(self, *, context: Context | None = None) -> None:
        super().__init__(context=context)
        self._held = ExitStack()  # keeps the entities of the wait set alive
        self._wait_set: Any = None  # None: entities have changed
        self._adds: list[tuple[Callable[[Any], Any], Any]] = []  # calls that fill the wait set
        self._listeners: dict[int, _Listener] = {}  # by pointer
        self._lazy: list[_Listener] = []
        self._node_guards: dict[int, Any] = {}
        self._is_in_pass = False
        self._looked_at = self._received_at = time.monotonic()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait, then run the callbacks of all that is ready: of each topic, one message."""
        if self._tasks:  # a coroutine that waits may keep a callback group closed: rclpy's way knows about it
            super().spin_once(timeout_sec)
            self._drop_done_tasks()
            return
        if self._wait_set is None:
            self._gather()
        longest_s = self._longest_wait(time.monotonic())
        ready = self._wait(longest_s if timeout_sec is None or timeout_sec < 0.0 else min(longest_s, timeout_sec))
        now = time.monotonic()
        for listener in self._lazy:
            while _receive(listener):
                self._received_at = now
        for listener in ready:
            _receive(listener)
            self._received_at = now
        if self._wait_set is None or now - self._looked_at > EVENTS_EVERY_S:
            self._run_others()

    def _longest_wait(self, now: float) -> float:
        if not self._lazy:
            return EVENTS_EVERY_S
        return LAZY_S if now - self._received_at < RESTS_AFTER_S else RESTING_S

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Release the entities first."""
        self._release()
        return bool(super().shutdown(timeout_sec))

    def _gather(self) -> None:
        """Make a wait set of all entities but events."""
        nodes = self.get_nodes()
        adds: list[tuple[str, Any]] = []

        def hold(kind: str, entities: list[Any]) -> list[Any]:
            found = [item for item in entities if self._is_held(item)]
            adds.extend((f"add_{kind}", item.handle) for item in found)
            return found

        def of_nodes(kind: str) -> list[Any]:
            return [item for node in nodes for item in getattr(node, kind) if self.can_execute(item)]

        subscriptions = of_nodes("subscriptions")
        lazy = [item for item in subscriptions if getattr(item, "is_lazy", False) and self._is_held(item)]
        subscriptions = hold("subscription", [item for item in subscriptions if item not in lazy])
        guards = hold("guard_condition", of_nodes("guards"))
        hold("guard_condition", [self._guard, self._sigint_gc])
        for kind in ("timer", "client", "service"):
            hold(kind, of_nodes(f"{kind}s"))
        self._held.enter_context(self.context.handle)
        counts = [sum(name == f"add_{kind}" for name, _ in adds) for kind in KINDS]
        self._wait_set = rclpy_implementation.WaitSet(*counts, 0, self.context.handle)
        self._adds = [(getattr(self._wait_set, name), handle) for name, handle in adds]
        self._node_guards = {item.handle.pointer: item for item in guards}
        self._lazy = [_listener(item) for item in lazy]
        self._listeners = {item.handle.pointer: _listener(item) for item in subscriptions if _is_quick(item)}

    def _is_held(self, entity: Any) -> bool:
        """Whether the entity still exists; if so it does until `_release`."""
        try:
            self._held.enter_context(entity.handle)
        except rclpy_implementation.InvalidHandle:
            return False
        return True

    def _release(self) -> None:
        self._wait_set, self._adds, self._listeners, self._lazy, self._node_guards = None, [], {}, [], {}
        self._held.close()

    def _wait(self, seconds: float) -> list[_Listener]:
        """Subscriptions that have a message. Releases the wait set when something else is ready."""
        wait_set = self._wait_set
        wait_set.clear_entities()
        for add, handle in self._adds:
            add(handle)
        wait_set.wait(int(seconds * 1e9))
        if not self.context.ok():
            raise ExternalShutdownException
        pointers = wait_set.get_ready_entities("subscription")
        ready = [self._listeners[pointer] for pointer in pointers if pointer in self._listeners]
        guards = wait_set.get_ready_entities("guard_condition")
        for pointer in guards:
            if pointer in self._node_guards:
                self._node_guards[pointer]._executor_triggered = True  # waiting has reset it
        others = (wait_set.get_ready_entities(kind) for kind in KINDS[2:])
        if guards or len(ready) < len(pointers) or any(others):
            self._release()
        return ready

    def can_execute(self, entity: Any) -> bool:
        """As rclpy's; but its own way leaves subscriptions to the quick one."""
        if self._is_in_pass and isinstance(entity, Subscription) and _is_quick(entity):
            return False
        return bool(super().can_execute(entity))

    def _run_others(self) -> None:
        """One pass of rclpy's own way over all entities but quick subscriptions."""
        self._looked_at = time.monotonic()
        self._is_in_pass = True
        try:
            self._pass()
        finally:
            self._is_in_pass = False
        self._drop_done_tasks()

    def _pass(self) -> None:
        while not self._is_shutdown:
            try:
                handler, _, _ = self.wait_for_ready_callbacks(0, None, _never)
            except (ShutdownException, TimeoutException):
                return
            handler()
            if handler.done():
                handler.result()  # raises what the callback has raised

    def _drop_done_tasks(self) -> None:
        with self._tasks_lock:
            self._tasks[:] = [item for item in self._tasks if not item[0].done()]


def _never() -> bool:
    return False


def _receive(listener: _Listener) -> bool:
    """Take a message and call its callback; whether there was one."""
    taken = listener.handle.take_message(listener.message_type, listener.is_raw)
    if taken is None:
        return False
    listener.callback(*(taken if listener.has_info else taken[:1]))
    return True


def _is_quick(item: Subscription) -> bool:
    return not inspect.iscoroutinefunction(item.callback)


def _listener(item: Subscription) -> _Listener:
    has_info = item._callback_type is not Subscription.CallbackType.MessageOnly
    return _Listener(item.handle, item.msg_type, item.raw, item.callback, has_info)
