"""The base of every node of the suite, and the function that runs one as a process."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import rclpy
from diagnostic_msgs.msg import KeyValue
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from proving_ground.interfaces import topics
from proving_ground.interfaces.faults import TimedFault, active_words
from proving_ground.interfaces.topic import Service, Topic
from proving_ground.kernels.compilations import COMPILATIONS, Compilation
from proving_ground.ros_support.arguments import check_environment, check_ros_arguments, rcl_complaint, settings_help
from proving_ground.ros_support.diagnostics import health_to_msg
from proving_ground.ros_support.executor import QuickExecutor
from proving_ground.ros_support.fixed_layout import Reader
from proving_ground.ros_support.health import Health, Level, LogLimit
from proving_ground.ros_support.messages import class_of
from proving_ground.ros_support.names import full_name
from proving_ground.ros_support.parameters import NODE_OPTIONS, ParameterBridge, rejected
from proving_ground.ros_support.qos import to_rclpy
from proving_ground.ros_support.respawn import RESPAWNED, was_respawned
from proving_ground.ros_support.signals import StopSignals
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file

Settings = TypeVar("Settings")

DIAGNOSTICS_PERIOD_S = 1.0
EXIT_BAD_SETTINGS = 2
LATE = "kernels_compiled_late"  # after the node was ready; those that are loaded from disk then count, too
# If one of these is set, the user has configured Fast DDS; we leave it alone.
TRANSPORT_CHOICES = {"FASTDDS_BUILTIN_TRANSPORTS", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"}


class SuiteNode(Node, Generic[Settings]):
    """A node whose parameters are the settings dataclass named in `settings_type`.

    It publishes its health once a second, lets users override the QoS of every topic (`qos_overrides`), and rejects
    bad parameters with a reason while it keeps the old ones.
    """

    default_name: ClassVar[str]
    settings_type: ClassVar[type]
    sends_large_messages: ClassVar[bool] = False  # of a megabyte and more

    def __init__(self) -> None:
        self.stopped = Future()
        super().__init__(self.default_name, **NODE_OPTIONS)
        self.health = Health()
        self._log_limit = LogLimit()
        self._bridge: ParameterBridge[Settings] = ParameterBridge(
            self, self.settings_type, self.on_settings, self.check_settings
        )
        # Human input and health run on the machine's time: a paused or fast simulation must not delay a stop or
        # silence a report. Everything simulated uses self.get_clock().
        self.wall_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._diagnostics = self.advertise(topics.DIAGNOSTICS)
        self.create_timer(DIAGNOSTICS_PERIOD_S, self.publish_health, clock=self.wall_clock)

    @property
    def settings(self) -> Settings:
        """The present, validated settings."""
        return self._bridge.settings

    def stop(self) -> None:
        """End the node's process as a signal would; any thread may call it."""
        self.stopped.set_result(None)

    def on_settings(self, old: Settings, new: Settings) -> None:
        """Called after a change of parameters; override to apply it."""

    def check_settings(self, new: Settings) -> None:
        """Called before a change of parameters; override to raise SettingsError for what this node cannot have."""

    def wall_time(self) -> float:
        """Seconds on a steady clock, for watchdogs over human input."""
        return time.monotonic()

    def report(self, check: str, level: Level, message: str) -> None:
        """Set a health finding and log changes, rate-limited."""
        if not self.health.report(check, level, message) or not self._log_limit.allows(check, self.wall_time()):
            return
        # One call each: rclpy rejects a call site whose severity changes.
        if level == Level.OK:
            self.get_logger().info(message)
        elif level == Level.WARN:
            self.get_logger().warning(message)
        else:
            self.get_logger().error(message)

    def report_faults(self, faults: Sequence[TimedFault]) -> None:
        """Report the faults that are active on purpose; that there are none is logged only after one."""
        if faults or "fault" in self.health.checks:
            self.report("fault", Level.WARN if faults else Level.OK, active_words(faults))
        else:
            self.health.report("fault", Level.OK, active_words(()))

    def count_late_compilations(self) -> None:
        """From now on, count kernels that are used for the first time: called before a node's first report.

        On another machine, one that is loaded from disk here would be compiled.
        """
        self.health.counters[LATE] = 0

        def on_done(compilation: Compilation) -> None:
            if compilation.depth == 0:
                self.health.count(LATE)
                self.get_logger().warning(f"compiled {compilation.name} late, in {compilation.total_s:.1f} s")

        def on_load(name: str) -> None:
            self.health.count(LATE)
            self.get_logger().warning(f"loaded {name} late")

        COMPILATIONS.on_done, COMPILATIONS.on_load = on_done, on_load

    def publish_health(self) -> None:
        """Publish on /diagnostics now; override to add findings first."""
        self.publish_figures(self.get_clock().now().to_msg(), {})

    def publish_figures(self, stamp: Any, figures: Mapping[str, str]) -> None:
        """Publish on /diagnostics with a stamp and further values."""
        message = health_to_msg(self.health, self.get_fully_qualified_name(), stamp)
        values = {**figures, **({RESPAWNED: "true"} if was_respawned() else {})}
        message.status[0].values += [KeyValue(key=key, value=value) for key, value in values.items()]
        self._diagnostics.publish(message)

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Reject with our own message (key, allowed range, value) before rclpy checks types and ranges."""
        try:
            return super().set_parameters_atomically(self._bridge.checked(parameter_list))
        except SettingsError as error:
            return rejected(error)

    def advertise(self, topic: Topic, message_type: type | None = None) -> Any:
        """A publisher of a topic of the table; message_type: where the topic has several."""
        return self.open_publisher(message_type or class_of(topic.type), topic.name, to_rclpy(topic.qos))

    def listen(
        self,
        topic: Topic,
        callback: Callable[[Any], None],
        profile: QoSProfile | None = None,
        message_type: type | None = None,
        *,
        is_lazy: bool = False,
        group: Any = None,
        is_fixed: bool = False,
    ) -> Any:
        """A subscription to a topic of the table; profile: instead of the topic's; message_type: as `advertise`.

        is_lazy: its messages are needed only when one of another subscription arrives (see QuickExecutor).
        group: of callbacks. is_fixed: the callback gets views of messages whose layout seldom changes (fixed_layout).
        """
        kind, qos_profile = message_type or class_of(topic.type), profile or to_rclpy(topic.qos)
        call = self._reading(topic.name, Reader(kind), callback) if is_fixed else callback
        subscription = self.open_subscription(kind, topic.name, call, qos_profile, group, raw=is_fixed)
        subscription.is_lazy = is_lazy
        return subscription

    def _reading(self, topic: str, read: Reader, callback: Callable[[Any], None]) -> Callable[[bytes], None]:
        def process(data: bytes) -> None:
            try:
                message = read(data)
            except ValueError as error:
                self.health.count(f"{topic} rejected")
                self.report("messages", Level.WARN, f"{topic} rejected: {error}")
                return
            callback(message)

        return process

    def serve(self, service: Service, callback: Callable[[Any, Any], Any], group: Any = None) -> Any:
        """Offer a service of the table; group: of callbacks, for one that waits for other callbacks."""
        return self.create_service(class_of(service.type), service.name, callback, callback_group=group)

    def open_publisher(self, message_type: type, topic: str, profile: QoSProfile) -> Any:
        """A publisher whose QoS users can override by `qos_overrides` parameters."""
        options = QoSOverridingOptions.with_default_policies()
        return self.create_publisher(message_type, topic, profile, qos_overriding_options=options)

    def open_subscription(
        self,
        message_type: type,
        topic: str,
        callback: Callable[[Any], None],
        profile: QoSProfile,
        group: Any = None,
        *,
        raw: bool = False,
    ) -> Any:
        """A subscription whose QoS users can override by `qos_overrides` parameters; group and raw: as `listen`."""
        options = QoSOverridingOptions.with_default_policies()
        return self.create_subscription(
            message_type, topic, callback, profile, qos_overriding_options=options, callback_group=group, raw=raw
        )


def other_publishers(node: Node, topic: str) -> list[str]:
    """Full names of the other nodes that publish the topic; a second node of this node's name included."""
    endpoints = node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
    names = [full_name(endpoint.node_namespace, endpoint.node_name) for endpoint in endpoints]
    own = node.get_fully_qualified_name()
    if own in names:
        names.remove(own)
    return sorted(f"{name} (a second node of this name)" if name == own else name for name in names)


def run_node(node_type: type[SuiteNode[Any]], arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM and return the exit status: 0 clean, 2 bad settings.

    Bad settings print one line on stderr. Discovery stays on this machine unless the environment says otherwise.
    """
    argv = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with StopSignals() as signals:
        try:
            if {"-h", "--help"} & set(argv):
                print(settings_help(node_type.default_name, node_type.settings_type))
                return 0
            check_environment(os.environ)
            for warning in check_ros_arguments(argv, node_type.default_name, node_type.settings_type):
                print(f"{node_type.default_name}: {warning}", file=sys.stderr)
            if node_type.sends_large_messages and not TRANSPORT_CHOICES & set(os.environ):
                os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(share_file("config/dds/large_messages.xml"))
            if not signals.requested:
                _spin(_start(node_type, argv), signals)
            return 0
        except SettingsError as error:
            print(f"{node_type.default_name}: {error}", file=sys.stderr)
            return EXIT_BAD_SETTINGS
        finally:
            rclpy.try_shutdown()
            gc.freeze()  # a final collection would take 0.3 s for nothing


def _start(node_type: type[SuiteNode[Any]], argv: Iterable[str]) -> SuiteNode[Any]:
    node = node_type.__new__(node_type)
    try:
        rclpy.init(args=[sys.argv[0], *argv], signal_handler_options=SignalHandlerOptions.NO)
        node_type.__init__(node)
        gc.collect()
        gc.freeze()  # objects that exist now stay: later collections skip them
        node.count_late_compilations()
        node.publish_health()  # ready: at once, not after a period
        return node
    except BaseException as error:
        if hasattr(node, "health"):  # partially constructed: DDS threads must end before the process, or it may crash
            Node.destroy_node(node)
        if type(error).__module__.partition(".")[0] != "rclpy":  # ours: bad settings, a stop, or a bug that must show
            raise
        raise rcl_complaint(error) from None  # unreadable arguments, bad QoS overrides: many exception types


def _spin(node: SuiteNode[Any], signals: StopSignals) -> None:
    """Spin; rclpy's spin_until_future_complete leaks a callback for each message, 200 MB in an hour."""
    executor = QuickExecutor()
    node.stopped.add_done_callback(lambda _: executor.create_task(lambda: None))  # so that spin_once returns
    signals.on_stop(node.stop)
    try:
        executor.add_node(node)
        while executor.context.ok() and not node.stopped.done():
            executor.spin_once()
    except ExternalShutdownException:
        pass
    finally:
        executor.shutdown()
        node.destroy_node()
