"""A topic published as Twist or as TwistStamped: subscribes to the type in use, and reports publishers of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped

from proving_ground.interfaces.topic import Topic
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.names import full_name, type_name
from proving_ground.ros_support.node import SuiteNode

TYPES: dict[str, type] = {"twist": Twist, "twist_stamped": TwistStamped}
UNKNOWN_NODE = "_NODE_NAME_UNKNOWN_"  # the graph's name for a publisher whose node is not yet discovered
_TYPE_OF_NAME = {type_name(item): item for item in TYPES.values()}


class TwistInput:
    """Subscribes to a given type at once; with `auto`, to the published type, and later to the other one if
    only that is left. DDS allows one type per topic in a process, so both at a time are impossible.
    """

    def __init__(
        self, node: SuiteNode[Any], topic: Topic, kind: str, callback: Callable[[Any], None], **options: Any
    ) -> None:
        """kind: auto, twist or twist_stamped; options: of the node's `listen`."""
        self._node, self._topic, self._callback, self._options = node, topic, callback, options
        self._full_topic = node.resolve_topic_name(topic.name)
        self._is_free = kind not in TYPES
        self._type: type | None = None
        self.subscription: Any = None  # None: no type is known yet
        if not self._is_free:
            self._subscribe(TYPES[kind])

    def look(self) -> None:
        """Check the publishers: choose a type if that is open, and report mismatches."""
        users: dict[str, list[str]] = {}  # publishers by type
        for info in self._node.get_publishers_info_by_topic(self._full_topic):
            users.setdefault(info.topic_type, []).append(full_name(info.node_namespace, info.node_name))
        known = sorted(name for name in users if name in _TYPE_OF_NAME)
        if self._is_free and known and self._name not in known:
            self._subscribe(_TYPE_OF_NAME[known[0]])
        if UNKNOWN_NODE not in str(users):  # else its name arrives shortly
            self._report(users)

    @property
    def _name(self) -> str:
        return "" if self._type is None else type_name(self._type)

    def _subscribe(self, message_type: type) -> None:
        if self.subscription is not None:
            self._node.destroy_subscription(self.subscription)
        self._type = message_type
        self.subscription = self._node.listen(self._topic, self._callback, message_type=message_type, **self._options)
        self._node.get_logger().info(f"{self._topic.name} is received as {self._name}")

    def _report(self, users: dict[str, list[str]]) -> None:
        topic, publishers = self._topic.name, sorted(users.get(self._name, []))
        deaf = {kind: names for kind, names in users.items() if kind != self._name}
        others = [f"{', '.join(sorted(names))} as {kind}" for kind, names in sorted(deaf.items())]
        if others:
            words = f"{topic} is not received from {'; '.join(others)}"
            received_as = f"it is received as {self._name}" + (f" from {', '.join(publishers)}" if publishers else "")
            self._node.report(topic, Level.WARN, f"{words}: {received_as}" if self._name else words)
        elif len(publishers) > 1:
            self._node.report(topic, Level.WARN, f"{topic} has {len(publishers)} publishers: {', '.join(publishers)}")
        else:
            self._node.health.report(topic, Level.OK, f"{topic} from {', '.join(publishers) or 'nobody'}")
