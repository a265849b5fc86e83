"""A row of the topic table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proving_ground.interfaces.profiles import RELIABLE, Profile


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic: what is sent on it, by which nodes, and how."""

    name: str  # relative to the vehicle's namespace; with a leading '/' shared by all; '~/' below its node's name
    type: str  # ROS type, as 'sensor_msgs/msg/Imu'
    qos: Profile = RELIABLE
    publishers: tuple[str, ...] = ()  # nodes of the suite
    listeners: tuple[str, ...] = ()  # nodes of the suite that act on it; those that show or record it are not listed
    rate: str = ""  # as text, for the shipped settings and per simulated second
    frame: str = ""  # of its header, without prefix
    text: str = ""  # what it is, for the page
    sensor: str = ""  # default name of the sensor whose topic this is
    pattern: str = ""  # name of the topic for a sensor with another name, with {sensor} in it
    other_type: str = ""  # alternative ROS type, sent and accepted

    @property
    def absolute(self) -> str:
        """Name in the root namespace, as in bags."""
        return "/" + self.name.removeprefix("/")

    def named(self, sensor: str) -> Topic:
        """The topic for a sensor of the given name, such as front_lidar/points.

        >>> from proving_ground.interfaces import topics
        >>> topics.POINTS.named("lidar").name, topics.POINTS.named("roof").name, topics.WHEELS.named("rear").name
        ('lidar/points', 'roof/points', 'rear/joint_states')
        """
        if sensor == self.sensor:
            return self
        frame = f"{sensor}_link" if self.frame == f"{self.sensor}_link" else self.frame
        return replace(self, name=self.pattern.format(sensor=sensor), frame=frame)

    def below(self, node: str) -> Topic:
        """The topic's name for other nodes; node: the node whose private topic it is."""
        return replace(self, name=self.name.replace("~", node, 1))


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service that a node of the suite offers."""

    name: str  # as of a topic
    type: str  # ROS type, as 'std_srvs/srv/Trigger'
    node: str
    text: str = ""
    features: tuple[str, ...] = ()  # constants of simulation_interfaces/SimulatorFeatures that it makes true

    def below(self, node: str) -> str:
        """Name of the service for other nodes; node: name of the node that offers it."""
        return self.name.replace("~", node, 1)


class Action(Service):
    """An action that a node of the suite offers."""
