"""The quick executor, with real entities: it must do all that rclpy's own does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from std_msgs.msg import Int64
from std_srvs.srv import Trigger

from proving_ground.ros_support.domain import private_domain
from proving_ground.ros_support.executor import QuickExecutor
from proving_ground.ros_support.polled import PolledGroup

WAIT_S = 60.0


class Spinner:
    """A node with an executor of its own."""

    def __init__(self, context: Context) -> None:
        self.executor = QuickExecutor(context=context)
        self.node = Node("listener", context=context)
        self.executor.add_node(self.node)

    def until(self, condition: Callable[[], Any]) -> None:
        deadline = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < deadline, "it never happened"
            self.executor.spin_once(0.1)

    def passes(self, count: int) -> None:
        for _ in range(count):
            self.executor.spin_once(0.05)

    def listen(self, topic: str, call: Callable[[Any], None], **options: Any) -> Any:
        return self.node.create_subscription(Int64, topic, call, 10, **options)


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    with private_domain() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        found = Context()
        rclpy.init(args=[], context=found)
        yield found
        rclpy.try_shutdown(context=found)


@pytest.fixture
def spinner(context: Context) -> Iterator[Spinner]:
    found = Spinner(context)
    yield found
    found.executor.shutdown()
    found.node.destroy_node()


@pytest.fixture
def sender(context: Context) -> Iterator[Node]:
    node = Node("sender", context=context)
    yield node
    node.destroy_node()


def send(spinner: Spinner, sender: Node, topic: str, *values: int) -> Any:
    """Publish once a listener is there."""
    publisher = sender.create_publisher(Int64, topic, 10)
    spinner.until(publisher.get_subscription_count)
    for value in values:
        publisher.publish(Int64(data=value))
    return publisher


def test_messages_of_a_topic_arrive_once_and_in_order(spinner: Spinner, sender: Node) -> None:
    received: list[int] = []
    spinner.listen("numbers", lambda message: received.append(message.data))

    send(spinner, sender, "numbers", 1, 2, 3)
    spinner.until(lambda: len(received) == 3)
    spinner.passes(3)

    assert received == [1, 2, 3]


def test_lazy_messages_are_received_before_the_one_that_wakes(spinner: Spinner, sender: Node) -> None:
    received: list[str] = []
    spinner.listen("wakes", lambda message: received.append("wakes"))
    spinner.listen("lazy", lambda message: received.append("lazy")).is_lazy = True
    lazy, wakes = (send(spinner, sender, topic, 0) for topic in ("lazy", "wakes"))
    spinner.until(lambda: len(received) == 2)  # both are connected
    received.clear()

    lazy.publish(Int64())
    lazy.publish(Int64())
    wakes.publish(Int64())
    spinner.until(lambda: len(received) == 3)

    assert received == ["lazy", "lazy", "wakes"]


def test_messages_that_are_not_awaited_are_received_with_those_that_are(spinner: Spinner, sender: Node) -> None:
    received: list[str] = []
    awaited = {"one": True, "other": True}
    for name in awaited:
        subscription = spinner.listen(name, lambda message, name=name: received.append(name))
        subscription.is_awaited = lambda name=name: awaited[name]
    one, other = (send(spinner, sender, topic, 0) for topic in awaited)
    spinner.until(lambda: len(received) == 2)  # both are connected
    received.clear()

    awaited["one"] = False
    one.publish(Int64())
    one.publish(Int64())
    other.publish(Int64())
    spinner.until(lambda: len(received) == 3)
    assert sorted(received) == ["one", "one", "other"]

    awaited["other"] = False
    one.publish(Int64())
    spinner.until(lambda: len(received) == 4)  # looked at now and then


def test_a_message_that_comes_during_a_pass_is_received_before_the_report_that_follows_it(
    spinner: Spinner, sender: Node
) -> None:
    received: list[str] = []

    def publish_both(message: Int64) -> None:
        received.append("second")
        data.publish(Int64())
        report.publish(Int64())

    spinner.listen("data", lambda message: received.append("data")).is_lazy = True
    spinner.listen("report", lambda message: received.append("report")).is_awaited = lambda: True
    data, report = (send(spinner, sender, topic, 0) for topic in ("data", "report"))
    spinner.until(lambda: received == ["data", "report"])
    second = spinner.listen("second", publish_both)  # after "data", which this pass has looked at already
    second.is_lazy = True
    send(spinner, sender, "second", 0)
    spinner.until(lambda: len(received) == 5)

    assert received[2:] == ["second", "data", "report"]


def test_lazy_message_alone_is_received_too(spinner: Spinner, sender: Node) -> None:
    received: list[int] = []
    spinner.listen("lazy", lambda message: received.append(message.data)).is_lazy = True

    send(spinner, sender, "lazy", 7)
    spinner.until(lambda: received == [7])


def test_polled_subscriptions_are_left_to_their_owner(spinner: Spinner, sender: Node) -> None:
    received: list[int] = []
    polled = spinner.listen("polled", lambda message: received.append(message.data), callback_group=PolledGroup())
    others: list[int] = []
    spinner.listen("other", lambda message: others.append(message.data))

    send(spinner, sender, "polled", 1)
    send(spinner, sender, "other", 2)
    spinner.until(lambda: others == [2])
    spinner.passes(3)

    assert received == []
    with polled.handle:
        assert polled.handle.take_message(Int64, False)[0].data == 1


def test_a_callback_may_destroy_its_subscription(spinner: Spinner, sender: Node) -> None:
    received: list[int] = []

    def once(message: Int64) -> None:
        received.append(message.data)
        spinner.node.destroy_subscription(subscription)

    subscription = spinner.listen("once", once)
    send(spinner, sender, "once", 1, 2, 3)
    spinner.until(lambda: received)
    spinner.passes(5)

    assert received == [1]


def test_a_callback_may_destroy_subscriptions_that_have_messages_while_others_are_ready(
    spinner: Spinner, sender: Node
) -> None:
    received: list[str] = []

    def destroy(message: Int64) -> None:
        received.append("first")
        for subscription in subscriptions:
            spinner.node.destroy_subscription(subscription)

    subscriptions = [spinner.listen("first", destroy), spinner.listen("second", lambda message: None)]
    publishers = [send(spinner, sender, topic) for topic in ("first", "second")]
    for _ in range(5):
        for publisher in publishers:
            publisher.publish(Int64())
    spinner.executor.wake()  # as from another thread
    spinner.until(lambda: received)
    spinner.passes(5)

    assert received == ["first"]


def test_timers_services_clients_and_new_entities_run(spinner: Spinner, sender: Node) -> None:
    ticks: list[None] = []
    spinner.node.create_timer(0.01, lambda: ticks.append(None))
    spinner.until(lambda: len(ticks) > 3)

    def answer(request: Any, response: Any) -> Any:
        response.success = True
        return response

    spinner.node.create_service(Trigger, "answer", answer)  # while the executor runs
    client = spinner.node.create_client(Trigger, "answer")
    spinner.until(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    spinner.until(future.done)

    assert future.result().success


def test_timers_and_services_run_while_messages_arrive_without_a_pause(spinner: Spinner, sender: Node) -> None:
    received, ticks = [], []
    spinner.listen("numbers", lambda message: (received.append(message.data), publisher.publish(message)))
    publisher = sender.create_publisher(Int64, "numbers", 10)
    spinner.node.create_timer(0.2, lambda: ticks.append(None))
    spinner.node.create_service(Trigger, "answer", lambda request, response: response)
    client = spinner.node.create_client(Trigger, "answer")
    spinner.until(client.service_is_ready)
    spinner.until(publisher.get_subscription_count)

    publisher.publish(Int64(data=1))  # each message is answered by the next
    spinner.until(lambda: received)
    ticks.clear()
    future = client.call_async(Trigger.Request())
    spinner.until(lambda: len(ticks) > 2 and future.done())

    assert len(received) > 100


def test_service_that_waits_lets_messages_pass(spinner: Spinner, sender: Node) -> None:
    received: list[int] = []
    spinner.listen("release", lambda message: (received.append(message.data), gate.set_result(None)))
    gate = Future(executor=spinner.executor)

    async def answer(request: Any, response: Any) -> Any:
        await gate
        response.success = bool(received)
        return response

    spinner.node.create_service(Trigger, "answer", answer, callback_group=ReentrantCallbackGroup())
    client = spinner.node.create_client(Trigger, "answer")
    spinner.until(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    spinner.passes(3)
    assert not future.done()

    send(spinner, sender, "release", 1)
    spinner.until(future.done)

    assert future.result().success


def test_guard_conditions_and_tasks_of_other_threads_wake_it(spinner: Spinner) -> None:
    called: list[str] = []
    guard = spinner.node.create_guard_condition(lambda: called.append("guard"))

    threading.Timer(0.05, guard.trigger).start()
    spinner.until(lambda: called == ["guard"])
    threading.Timer(0.05, lambda: spinner.executor.create_task(lambda: called.append("task"))).start()
    spinner.until(lambda: called == ["guard", "task"])


def test_qos_events_are_reported(spinner: Spinner, sender: Node, capfd: pytest.CaptureFixture[str]) -> None:
    spinner.listen("mismatch", lambda message: None)  # reliable
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    sender.create_publisher(Int64, "mismatch", best_effort)

    output: list[str] = []

    def is_reported() -> bool:
        output.append(capfd.readouterr().err)
        return "incompatible QoS" in "".join(output)

    spinner.until(is_reported)


def test_error_of_a_callback_ends_the_spin(spinner: Spinner, sender: Node) -> None:
    def fail(message: Int64) -> None:
        raise KeyError("lost")

    spinner.listen("fails", fail)
    send(spinner, sender, "fails", 1)

    with pytest.raises(KeyError, match="lost"):
        spinner.passes(100)


def test_shutdown_of_the_context_ends_the_spin(spinner: Spinner, context: Context) -> None:
    threading.Timer(0.1, lambda: rclpy.shutdown(context=context)).start()

    with pytest.raises(ExternalShutdownException):
        spinner.passes(1000)
