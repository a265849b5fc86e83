"""A single-threaded executor that is quick with messages: the speed of a run over ROS depends on it."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final, NamedTuple

from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor, TimeoutException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription import Subscription

EVENTS_EVERY_S: Final = 0.5  # wall time between checks of QoS events
LAZY_S: Final = 0.02  # wall time after which lazy subscriptions are looked at even if nothing else is ready ...
RESTS_AFTER_S: Final = 0.5  # ... unless nothing has arrived for this long, then ...
RESTING_S: Final = 0.05  # ... after this time
OTHERS_S: Final = 0.05  # wall time between looks at timers, clients and services while messages arrive ...
TIMER_SHARE: Final = 0.1  # ... or this share of the shortest period of a timer
KINDS: Final = ("subscription", "guard_condition", "timer", "client", "service")  # in the order of a wait set
QUICK: Final = KINDS[:2]


class Listener(NamedTuple):
    """A subscription: its handle, type and callback, as needed to take a message and to process it."""

    handle: Any
    message_type: type
    is_raw: bool
    callback: Callable[..., Any]
    has_info: bool  # the callback gets the message's info too


class WaitSet:
    """Entities that are waited for again and again."""

    def __init__(
        self,
        entities: Sequence[tuple[str, Any]],
        context: Context,
        conditions: Mapping[int, Callable[[], bool]] | None = None,
    ) -> None:
        """entities: handles with their kinds; conditions: by pointer, of entities that are only waited for if true."""
        counts = [sum(name == kind for name, _ in entities) for kind in KINDS]
        self._set = rclpy_implementation.WaitSet(*counts, 0, context.handle)
        adds = [(getattr(self._set, f"add_{kind}"), handle) for kind, handle in entities]
        conditions = conditions or {}
        self._adds = [(add, handle) for add, handle in adds if handle.pointer not in conditions]
        self._conditional = [
            (add, handle, conditions[handle.pointer]) for add, handle in adds if handle.pointer in conditions
        ]
        self.ready: Callable[[str], list[int]] = self._set.get_ready_entities  # pointers of a kind

    def wait(self, seconds: float) -> None:
        self._set.clear_entities()
        for add, handle in self._adds:
            add(handle)
        for add, handle, is_awaited in self._conditional:
            if is_awaited():
                add(handle)
        self._set.wait(int(seconds * 1e9))


class QuickExecutor(SingleThreadedExecutor):
    """Keeps its wait sets until entities change, and calls subscriptions directly.

    rclpy's own executor gathers all entities, QoS events included, and makes a task for each message, which costs more
    than most callbacks. Here it only runs what is rare: timers, services, clients, guard conditions, and events now
    and then. While messages arrive, only these and guard conditions are waited for; the rest is looked at now and then.
    A subscription with the attribute `is_lazy` does not wake the node by itself: its messages are taken before those of
    the next other message, for which they only prepare. One with the attribute `is_awaited`, a function, is as lazy
    while that returns False.
    """

    def __init__(self, *, context: Context | None = None) -> None:
        super().__init__(context=context)
        self._held = ExitStack()  # keeps the entities of the wait set alive
        self._wait_set: WaitSet | None = None  # of all entities; None: they have changed
        self._quick_set: WaitSet | None = None  # of those that messages and other threads wake
        self._others_s, self._others_at = OTHERS_S, 0.0
        self._listeners: dict[int, Listener] = {}  # by pointer
        self._lazy: list[Listener] = []
        self._awaited: list[Listener] = []  # those that are waited for at times
        self._node_guards: dict[int, Any] = {}
        self._is_in_pass = False
        self._has_others = False  # something else than messages is ready
        self._looked_at = self._received_at = time.monotonic()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait, then run the callbacks of all that is ready: of each topic that is always waited for, one message."""
        if self._tasks:  # a coroutine that waits may keep a callback group closed: rclpy's way knows about it
            super().spin_once(timeout_sec)
            self._drop_done_tasks()
            return
        if self._wait_set is None:
            self._gather()
        before = time.monotonic()
        longest_s = self._longest_wait(before)
        longest_s = longest_s if timeout_sec is None or timeout_sec < 0.0 else min(longest_s, timeout_sec)
        ready = self._wait(before, longest_s)
        if receive(self._awaited, self._lazy, one_of=ready):
            self._received_at = time.monotonic()
        if self._has_others:  # not before: a message cannot be taken from a subscription that nobody holds
            self._has_others = False
            self._release()
        if self._wait_set is None or time.monotonic() - self._looked_at > EVENTS_EVERY_S:
            self._run_others()

    def _longest_wait(self, now: float) -> float:
        if not self._lazy and not self._awaited:
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
            adds.extend((kind, item.handle) for item in found)
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
        conditional = [item for item in subscriptions if getattr(item, "is_awaited", None) is not None]
        conditions = {item.handle.pointer: item.is_awaited for item in conditional}
        self._wait_set = WaitSet(adds, self.context, conditions)
        self._quick_set = WaitSet([item for item in adds if item[0] in QUICK], self.context, conditions)
        periods_s = [timer.timer_period_ns * 1e-9 for timer in of_nodes("timers")]
        self._others_s = min([OTHERS_S, *(TIMER_SHARE * period_s for period_s in periods_s)])
        self._node_guards = {item.handle.pointer: item for item in guards}
        self._lazy = [listener_of(item) for item in lazy]
        self._listeners = {item.handle.pointer: listener_of(item) for item in subscriptions if _is_quick(item)}
        self._awaited = [self._listeners[pointer] for pointer in conditions if pointer in self._listeners]

    def _is_held(self, entity: Any) -> bool:
        """Whether the entity still exists; if so it does until `_release`."""
        try:
            self._held.enter_context(entity.handle)
        except rclpy_implementation.InvalidHandle:
            return False
        return True

    def _release(self) -> None:
        self._wait_set = self._quick_set = None
        self._listeners, self._lazy, self._node_guards, self._awaited = {}, [], {}, []
        self._held.close()

    def _wait(self, now: float, seconds: float) -> list[Listener]:
        """Subscriptions that have a message, and whether something else is ready."""
        assert self._wait_set is not None
        assert self._quick_set is not None
        is_quick = now - self._others_at < self._others_s and now - self._received_at < self._others_s
        wait_set = self._quick_set if is_quick else self._wait_set
        wait_set.wait(min(seconds, self._others_s) if is_quick else seconds)
        if not self.context.ok():
            raise ExternalShutdownException
        pointers = wait_set.ready("subscription")
        ready = [self._listeners[pointer] for pointer in pointers if pointer in self._listeners]
        guards = wait_set.ready("guard_condition")
        for pointer in guards:
            if pointer in self._node_guards:
                self._node_guards[pointer]._executor_triggered = True  # waiting has reset it
        has_others = False
        if not is_quick:
            self._others_at = time.monotonic()
            has_others = any(wait_set.ready(kind) for kind in KINDS[len(QUICK) :])
        if guards or has_others or len(ready) < len(pointers):
            self._has_others = True
            alive = {item.handle.pointer for node in self.get_nodes() for item in node.subscriptions}
            ready = [listener for listener in ready if listener.handle.pointer in alive]  # a callback may destroy one
        return ready

    def can_execute(self, entity: Any) -> bool:
        """Whether rclpy may execute an entity; subscriptions are left to the fast path of this executor."""
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


def receive(leading: Sequence[Listener], lazy: Sequence[Listener] = (), *, one_of: Sequence[Listener] = ()) -> bool:
    """Process the messages of leading and lazy subscriptions, the lazy ones first; whether there were any.

    Leading messages are taken first: what was published before them has then arrived, too.
    one_of: leading subscriptions of which only one message is processed, so that the others have their turn.
    """
    taken = [(listener, message) for listener in one_of for message in islice(_messages(listener), 1)]
    taken += [(listener, message) for listener in leading for message in _messages(listener)]
    found = bool(taken)
    for listener in lazy:
        for message in _messages(listener):
            listener.callback(*message)
            found = True
    for listener, message in taken:
        listener.callback(*message)
    return found


def _messages(listener: Listener) -> Iterator[tuple[Any, ...]]:
    """Take messages, as arguments for the callback."""
    while (taken := listener.handle.take_message(listener.message_type, listener.is_raw)) is not None:
        yield taken if listener.has_info else taken[:1]


def _is_quick(item: Subscription) -> bool:
    return not inspect.iscoroutinefunction(item.callback)


def listener_of(item: Subscription) -> Listener:
    has_info = item._callback_type is not Subscription.CallbackType.MessageOnly
    return Listener(item.handle, item.msg_type, item.raw, item.callback, has_info)
