"""Topics of the sensors in a bag: the given ones, else the suite's, else the one of the right type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from proving_ground.interfaces import topics
from proving_ground.interfaces.sample_synchroniser import ROLES as SENSOR_ROLES
from proving_ground.interfaces.topic import Topic

TRUTH = "truth"  # role of the odometry that estimates are compared with
OF_TRUTH = f"/{topics.TRUTH_ODOM.name.partition('/')[0]}/"  # prefix of all topics of the truth


class Role(NamedTuple):
    """Message type and names of the topics that can fill a role, such as fix or wheels."""

    message_type: str
    defaults: tuple[str, ...]  # the suite's topics, best first
    hints: tuple[str, ...]  # one of these must be in the name of another topic; empty: any of the type


def _role(*defaults: Topic, hints: tuple[str, ...] = ()) -> Role:
    return Role(defaults[0].type, tuple(topic.absolute for topic in defaults), hints)


_GPS_HINTS = ("gps", "gnss", "fix", "ublox", "novatel")
_HINTS = {"velocity": _GPS_HINTS, "wheels": ("wheel",), "actuation": ("actuation",), TRUTH: ("truth",)}
_TOPICS = {role: (topic,) for role, topic in SENSOR_ROLES.items()} | {
    "imu": (topics.IMU_RAW, topics.IMU_DATA),
    TRUTH: (topics.TRUTH_ODOM,),
}
WANTED: dict[str, Role] = {role: _role(*found, hints=_HINTS.get(role, ())) for role, found in _TOPICS.items()}
ROLES = tuple(WANTED)


def choose_topics(there: Mapping[str, str], given: Mapping[str, str], say: Callable[[str], None]) -> dict[str, str]:
    """Topics by role; there: types by topic; given: requested topics by role. Missing ones are reported."""
    chosen: dict[str, str] = {}
    for role in ROLES:
        topic = _given(role, given[role], there, say) if given.get(role) else _found(role, there, say)
        if topic:
            chosen[role] = topic
    return chosen


def _given(role: str, topic: str, there: Mapping[str, str], say: Callable[[str], None]) -> str:
    wanted = WANTED[role].message_type
    name = topic if topic.startswith("/") else f"/{topic}"
    if name not in there:
        say(f"{role}: the bag has no {topic}")
    elif there[name] != wanted:
        say(f"{role}: {topic} is of type {there[name]}, not {wanted}; it is not used")
    else:
        return name
    return ""


def _found(role: str, there: Mapping[str, str], say: Callable[[str], None]) -> str:
    wanted = WANTED[role]
    of_type = sorted(
        topic
        for topic, kind in there.items()
        if kind == wanted.message_type and (role == TRUTH or not topic.startswith(OF_TRUTH))
    )
    for topic in wanted.defaults:
        if topic in there and there[topic] != wanted.message_type:
            say(f"{role}: {topic} is of type {there[topic]}, not {wanted.message_type}; it is not used")
        elif topic in there:
            return topic
    fitting = [topic for topic in of_type if not wanted.hints or any(hint in topic.lower() for hint in wanted.hints)]
    if not fitting:
        others = f"; of its type are {', '.join(of_type)}, choose with --{role}" if of_type else ""
        say(f"{role}: the bag has no {wanted.defaults[0]}{others}")
        return ""
    others = f", not {', '.join(fitting[1:])}" if fitting[1:] else ""
    say(f"{role}: using {fitting[0]}{others}")
    return fitting[0]
