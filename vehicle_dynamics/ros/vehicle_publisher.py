"""Publishes all messages of a vehicle (vehicle_messages.py), each at its own rate."""

from __future__ import annotations

from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.frames import Frames
from proving_ground.ros_support.fixed_layout import as_published, fixed
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode
from proving_ground.ros_support.packed import PackedTransforms
from proving_ground.ros_support.tf import StaticTransformBroadcaster
from terrain.ruts import Ruts
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.stepper import Instant
from vehicle_dynamics.vehicle import Vehicle
from vehicle_dynamics.vehicle_messages import VehicleMessages

PUBLISHED = (
    topics.CLOCK, topics.TRUTH_ODOM, topics.TRUTH_ACCEL, topics.JOINT_STATES, topics.TRUTH_ACTUATION,
    topics.TRUTH_WHEELS, topics.RUTS, topics.COLLISION, topics.TRANSFORMS, topics.ROBOT_DESCRIPTION,
)  # fmt: skip


class VehiclePublisher:
    """Publishes snapshots; one thread at a time."""

    def __init__(
        self,
        node: SuiteNode[Any],
        vehicle: Vehicle,
        parameters: VehicleParameters,
        frames: Frames,
        *,
        has_base: bool,
        has_body: bool,
        ruts: Ruts,
    ) -> None:
        """Arguments as for VehicleMessages."""
        self._publishers = {topic.name: node.advertise(topic) for topic in PUBLISHED}
        self.counts = dict.fromkeys(self._publishers, 0)  # messages published, by topic
        self._wheels = self._publishers[topics.TRUTH_WHEELS.name]
        self._static = StaticTransformBroadcaster(node)
        self._messages = VehicleMessages(
            new_message,
            vehicle,
            parameters,
            frames,
            has_base=has_base,
            has_body=has_body,
            ruts=ruts,
            pack=PackedTransforms,
            fix=fixed,
        )

    def publish_once(self, time_ns: int) -> None:
        """Publish the description and the fixed frames."""
        topic, message = self._messages.description
        self._publishers[topic.name].publish(message)
        self._static.send_messages(self._messages.fixed_frames(time_ns))

    def publish(self, instant: Instant) -> None:
        """Publish what is due; /clock first, so that its time is known to receivers of the rest."""
        time_ns, due, seen, has_jumped, is_whole = instant
        if has_jumped:
            self._messages.forget()
        elif is_whole:
            self._messages.begin_again()
        if "clock" in due:
            topic, message = self._messages.clock(time_ns)
            self._send(topic.name, message)
        if seen is None:
            return
        with_wheels = "joints" in due and self._wheels.get_subscription_count() > 0  # recorders need it, few others
        for topic, message in self._messages.at(time_ns, due, seen, with_wheels=with_wheels):
            self._send(topic.name, message)

    def _send(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(as_published(message))
        self.counts[topic] += 1
