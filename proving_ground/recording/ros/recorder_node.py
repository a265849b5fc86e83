"""The recorder node: writes what others publish into a rosbag2, unchanged. All behaviour is in recording."""

from __future__ import annotations

import re
import struct
import time
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from proving_ground.interfaces import topics
from proving_ground.interfaces.message_types import message_class
from proving_ground.recording.definitions import definition
from proving_ground.recording.live_writing import LiveBag, LiveMessage, Topic
from proving_ground.recording.log_time import SimulatedTime
from proving_ground.recording.parts import next_free
from proving_ground.recording.recorder_settings import RecorderSettings
from proving_ground.recording.ros.profiles import is_weaker, listening, offered
from proving_ground.recording.ros.raw_subscriptions import RawSubscriptions, Received
from proving_ground.recording.ros.topic_names import complaint
from proving_ground.recording.writer_thread import WriterThread, one_line
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.settings import SettingsError

LOOK_EVERY_S = 0.25
RARELY = 4  # one look of this many, once the clock has run for a while
STARTED_TICKS = 200
LOOK_CLOSER_EVERY = 8
NOISE = re.compile(r"/rosout|.*/parameter_events|.*/_.*|.*/finished")  # of no use in a replay
CLOCK = topics.CLOCK.name
MB = 1_000_000
EXIT_FAILED = 1


class RecorderNode(SuiteNode[RecorderSettings]):
    """Subscribes to topics as they appear and never deserialises messages."""

    default_name = "recorder"
    settings_type = RecorderSettings
    sends_large_messages = True  # receives them: the same buffers
    exit_status: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        self._exclude = _pattern(s.exclude)
        self._wanted = {self._resolved(topic) for topic in s.topics.split()}
        uses_sim_time = bool(self.get_parameter("use_sim_time").value)
        self._by_clock = uses_sim_time if s.log_time == "auto" else s.log_time == "clock"
        self._simulated = SimulatedTime()
        self._early: list[Received] = []  # arrived before the first /clock
        self._early_bytes = 0
        self._ticks = self._rejected_ticks = 0
        self._failure = ""  # one line when the polling thread has failed
        self._listening: dict[str, QoSProfile] = {}
        self._offers: dict[str, Any] = {}
        self._rejected: dict[str, str] = {}
        self._looks, self._numbers = 0, dict[str, int]()  # of publishers, by topic
        self._sequences: dict[str, int] = {}
        self.lost: dict[str, int] = {}  # lost in transport, by topic
        folder = Path(s.out or f"runs/rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}")
        if s.next_free:
            folder = next_free(folder)
        self.bag = LiveBag(folder, s.compression)
        self.writer = WriterThread(self.bag, s.queue_mb * MB, s.flush_s)
        self._raw = RawSubscriptions(self, self._write_received)
        if self._by_clock:
            self._raw.add(Clock, CLOCK, QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT))
        self._look()
        self.create_timer(LOOK_EVERY_S, self._look, clock=self.wall_clock)
        self.get_logger().info(f"recording into {folder}")

    def destroy_node(self) -> None:
        """Close the bag first, and log what is in it."""
        self._judge_subscriptions()
        self._raw.close()
        self.writer.close()
        if self.error:
            self.report("bag", Level.ERROR, self.error)
            self._publish_figures()
        type(self).exit_status = EXIT_FAILED if self.error else 0
        print(self._summary(), flush=True)
        super().destroy_node()

    @property
    def error(self) -> str:
        """One line when recording has failed, else empty."""
        return self.writer.error or self._failure

    def publish_health(self) -> None:
        """Report what was written, what waits and what was lost."""
        self._judge_subscriptions()
        if self.error:
            self.report("bag", Level.ERROR, self.error)
            self.stop()
        else:
            self.health.report("bag", Level.OK, f"recording into {self.bag.folder}")
        for check, counts, words in (
            ("queue", self.writer.dropped, "dropped, because the disk is too slow"),
            ("arrival", self.lost, "lost in transport"),
        ):
            if counts:
                worst = max(counts, key=lambda topic: counts[topic])
                self.report(check, Level.WARN, f"{sum(counts.values())} messages {words}, most of {worst}")
        if self._rejected_ticks:
            self.report("times of clock", Level.WARN, "/clock had times before 1970; they are not used")
        if self._by_clock and self._early:
            self.report("clock", Level.WARN, "no /clock yet; messages wait for it")
        elif self._by_clock:
            self.health.report("clock", Level.OK, "log times are those of /clock")
        self._publish_figures()

    def _publish_figures(self) -> None:
        figures = {
            "topics": len(self._listening),
            "messages": self.bag.count,
            "megabytes": f"{self.bag.size / MB:.1f}",
            "waiting_mb": f"{self.writer.waiting / MB:.1f}",
            "most_waiting_mb": f"{self.writer.most_waiting / MB:.1f}",
            "dropped": sum(self.writer.dropped.values()),
            "lost": sum(self.lost.values()),
            "rejected_times": self._rejected_ticks,
        }
        self.publish_figures(self.get_clock().now().to_msg(), {key: str(value) for key, value in figures.items()})

    def _judge_subscriptions(self) -> None:
        if not self._raw.is_listening:
            self._failure = self._failure or "nothing is received any more: a thread has failed"

    # Topics

    def _resolved(self, topic: str) -> str:
        why = complaint(self, topic)
        if why:
            raise SettingsError(f"topics: {topic} cannot be recorded: {why}")
        return str(self.resolve_topic_name(topic))

    def _is_wanted(self, topic: str) -> bool:
        if self._exclude is not None and self._exclude.search(topic):
            return False
        if self._wanted:
            return topic in self._wanted
        return self.settings.everything or not NOISE.fullmatch(topic)

    def _look(self) -> None:
        """Querying the publishers of a topic costs more than counting them; now and then all are queried."""
        self._looks += 1
        if self._ticks > STARTED_TICKS and self._looks % RARELY:
            return
        for topic, _ in self.get_topic_names_and_types():
            if topic in self._rejected or not self._is_wanted(topic):
                continue
            number = self.count_publishers(topic)
            if number != self._numbers.get(topic) or self._looks % LOOK_CLOSER_EVERY == 0:
                self._numbers[topic] = number
                self._follow(topic)

    def _follow(self, topic: str) -> None:
        """Subscribe, or subscribe again when a new publisher does not match the subscription."""
        publishers = self.get_publishers_info_by_topic(topic)
        if not publishers:
            return
        kind = publishers[0].topic_type if topic not in self._offers else self._offers[topic][0]
        offers = [item.qos_profile for item in publishers if item.topic_type == kind]
        others = sorted({item.topic_type for item in publishers} - {kind})
        if others:
            self.report(topic, Level.WARN, f"{topic}: {', '.join(others)} is not recorded, only {kind}")
        facts = (kind, tuple(sorted((offered(item) for item in offers), key=str)))
        known = self._offers.get(topic, (kind, ()))
        if not offers or facts == known or len(facts[1]) < len(known[1]):  # some have gone; the bag lists all
            return
        made, type_definition = message_class(kind), definition(kind)
        if made is None or type_definition is None:
            self._rejected[topic] = kind
            why = "its package is not installed" if made is None else "its definition is not found"
            self.report(topic, Level.WARN, f"{topic} is not recorded: {kind}: {why}")
            return
        self._offers[topic] = facts
        self.writer.announce(Topic(topic, kind, type_definition, facts[1]))
        profile = listening(offers)
        if topic not in self._listening or is_weaker(profile, self._listening[topic]):
            self._listening[topic] = profile
            self._sequences.pop(topic, None)
            self._raw.add(made, topic, profile)

    # Messages, in the polling thread

    def _write_received(self, received: list[Received]) -> None:
        if self._failure:
            return
        try:
            self._sort_in(received)
        except Exception as error:  # nothing else would report it
            self._failure = f"recording has failed: {type(error).__name__}: {one_line(error)}"

    def _sort_in(self, received: list[Received]) -> None:
        if not self._by_clock:
            self._put(received)
            return
        for item in received:
            if item.topic == CLOCK and len(item.data) >= 12:
                self._tick(item)
        if self._simulated.at(0) is None:
            for item in received:
                if self._early_bytes + len(item.data) > self.settings.queue_mb * MB:
                    self.writer.drop(item.topic)
                    continue
                self._early.append(item)
                self._early_bytes += len(item.data)
            return
        early, self._early = self._early, []
        self._put([*early, *received])

    def _tick(self, item: Received) -> None:
        """Advance time; bags cannot hold times before 1970."""
        self._ticks += 1
        seconds, rest = struct.unpack_from("<iI", item.data, 4)
        if seconds < 0:
            self._rejected_ticks += 1
        elif self._simulated.tick(item.arrival_ns, seconds * 1_000_000_000 + rest):
            self.health.count("clock went back")

    def _put(self, received: list[Received]) -> None:
        received = [item for item in received if item.topic in self._listening]
        received.sort(key=lambda item: item.arrival_ns)
        self.writer.put([self._message(item) for item in received])

    def _message(self, item: Received) -> LiveMessage:
        self._judge_sequence(item)
        arrival = item.arrival_ns if item.arrival_ns > 0 else time.time_ns()
        log_ns = self._simulated.at(arrival) if self._by_clock else arrival
        assert log_ns is not None
        sent_ns = item.sent_ns if item.sent_ns > 0 and not self._by_clock else log_ns
        return LiveMessage(item.topic, log_ns, sent_ns, item.sequence, item.data)

    def _judge_sequence(self, item: Received) -> None:
        """Publishers number their messages; with several on a topic the numbers cannot be attributed."""
        last = self._sequences.get(item.topic)
        self._sequences[item.topic] = item.sequence
        is_alone = len(self._offers[item.topic][1]) == 1
        if is_alone and last is not None and item.sequence > last + 1:
            self.lost[item.topic] = self.lost.get(item.topic, 0) + item.sequence - last - 1

    def _summary(self) -> str:
        bag, dropped, lost = self.bag, sum(self.writer.dropped.values()), sum(self.lost.values())
        if self.error:
            return f"the bag in {bag.folder} ends early; of {bag.count} messages the last may not be in it"
        words = (
            f"recorded {bag.count} messages of {len(self._listening)} topics, {bag.size / MB:.1f} MB, in {bag.folder}"
        )
        if self._early:
            words += f"; {len(self._early)} arrived before the first /clock and are not in it"
        if self._rejected_ticks:
            words += f"; {self._rejected_ticks} times of /clock before 1970 were rejected"
        if lost:
            words += f"; {lost} were lost in transport"
        return f"{words}; {dropped} were dropped" if dropped else words


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise SettingsError(f"exclude: is not a regular expression: {error}") from None


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(RecorderNode) or RecorderNode.exit_status


if __name__ == "__main__":
    raise SystemExit(main())
