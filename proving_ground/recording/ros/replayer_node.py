"""The replayer node: publishes the messages of a bag, unchanged, and /clock. The timing is in recording.playback."""

from __future__ import annotations

import re
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from diagnostic_msgs.msg import KeyValue
from rclpy.duration import Duration
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64

from proving_ground.interfaces import topics
from proving_ground.interfaces.message_types import message_class
from proving_ground.recording.playback import (
    CLOCK,
    BagSource,
    Playback,
    PlaybackOptions,
    has_own_clock,
    progress_line,
)
from proving_ground.recording.reading import Bag, open_bag
from proving_ground.recording.ros.profiles import is_latched, sending
from proving_ground.recording.ros.topic_names import complaint
from proving_ground.ros_support.diagnostics import health_to_msg
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, other_publishers, run_node
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings import SettingsError, setting

ACKNOWLEDGED_WITHIN_S = 2.0
SENT_WITHIN_S = 0.2  # for messages that nobody acknowledges
LINES_EVERY_S = 10.0
DRAWN_EVERY_S = 0.2
EXIT_DAMAGED = 1


@dataclass(frozen=True, kw_only=True)
class ReplayerSettings:
    """Settings of a replay: the bag, and how it is played."""

    bag: str = setting("", "Folder of the bag, or one of its files", read_only=True)
    rate: float = setting(1.0, "Playback speed: bag time over real time", minimum=0.001, maximum=1000.0)
    start_offset_s: float = setting(
        0.0, "Time after the bag's start at which playback begins", unit="s", minimum=0.0, maximum=1e9, read_only=True
    )
    delay_s: float = setting(
        1.0, "Delay before the first message, so that subscribers can find the publishers",
        unit="s", minimum=0.0, maximum=600.0, read_only=True,
    )  # fmt: skip
    loop: bool = setting(False, "Whether to restart at the end; /clock then jumps back", read_only=True)
    start_paused: bool = setting(False, "Start paused and wait for ~/resume or ~/step", read_only=True)
    topics: str = setting("", "Topics to play, separated by spaces; empty: all", read_only=True)
    exclude: str = setting("", "Regular expression; topics whose name contains a match are left out", read_only=True)
    publish_clock: str = setting(
        "auto", "Source of /clock: made = from log times, bag = as recorded, none = not published; "
        "auto: bag if log times are wall time, else made",
        choices=("auto", "made", "bag", "none"), read_only=True,
    )  # fmt: skip
    clock_hz: float = setting(
        100.0, "Messages on /clock per second of bag time, if publish_clock is made",
        unit="Hz", minimum=1.0, maximum=1000.0, read_only=True,
    )  # fmt: skip
    progress: bool = setting(False, "Whether to show progress on the terminal", read_only=True)


class ReplayerNode(SuiteNode[ReplayerSettings]):
    """Plays a bag; ends after the last message, with status 1 if the bag was damaged."""

    default_name = "replayer"
    settings_type = ReplayerSettings
    sends_large_messages = True
    exit_status: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        if not s.bag:
            raise SettingsError("bag: say which, as in --ros-args -p bag:=FOLDER")
        self._bag = open_bag(Path(s.bag))
        for line in self._bag.remarks:
            self.get_logger().warning(f"{s.bag}: {line}")
        self._said = len(self._bag.remarks)
        clock = s.publish_clock
        if clock == "auto":
            clock = "bag" if has_own_clock(self._bag) else "made"
        chosen = _chosen(self._bag, s.topics, s.exclude, clock == "bag")
        self._outlets, latched = self._advertise(chosen)
        self._ticker = self.advertise(topics.CLOCK) if clock == "made" else None
        source = BagSource(self._bag, set(self._outlets), latched)
        if round(s.start_offset_s * 1e9) > source.end_ns - source.start_ns:
            length_s = (source.end_ns - source.start_ns) * 1e-9
            raise SettingsError(f"start_offset_s: {s.bag} has {length_s:.1f} s, got {s.start_offset_s:g}")
        options = PlaybackOptions(
            rate=s.rate,
            start_offset_s=s.start_offset_s,
            clock_hz=s.clock_hz if clock == "made" else 0.0,
            is_paused=True,
            loops=s.loop,
        )
        self._changed = threading.Condition()
        self._playback = Playback(source, self._send, self._publish_time, options, self.wall_time())
        self._is_ending = False
        self._offer_services()
        if s.progress:
            period_s = DRAWN_EVERY_S if sys.stderr.isatty() else LINES_EVERY_S
            self.create_timer(period_s, self._show, clock=self.wall_clock)
        self._thread = threading.Thread(target=self._play, name="playback")
        self._thread.start()

    def destroy_node(self) -> None:
        """End the thread, then the publishers."""
        with self._changed:
            self._is_ending = True
            self._changed.notify()
        self._thread.join()
        if self.settings.progress:
            self._show()
            print(file=sys.stderr, flush=True)
        for line in self._bag.remarks[self._said :]:  # found while it was read
            print(f"{self.settings.bag}: {line}", file=sys.stderr, flush=True)
        type(self).exit_status = EXIT_DAMAGED if self._bag.remarks else 0
        self._bag.close()
        super().destroy_node()

    def on_settings(self, old: ReplayerSettings, new: ReplayerSettings) -> None:
        """Apply a changed rate."""
        with self._changed:
            self._playback.set_rate(new.rate, self.wall_time())
            self._changed.notify()
        self.publish_health()

    def publish_health(self) -> None:
        """Report the position in the bag, the rate, and whether the replay is paused."""
        playback = self._playback
        position_s = playback.position_s(self.wall_time())
        words = progress_line(position_s, playback.length_s, playback.rate, playback.is_paused)
        self.health.report("playback", Level.OK, words)
        others = other_publishers(self, CLOCK) if self._ticker is not None else []
        if others:
            self.report("clock", Level.ERROR, f"/clock is also published by {', '.join(others)}")
        else:
            self.health.report("clock", Level.OK, "nobody else publishes /clock")
        message = health_to_msg(self.health, self.get_fully_qualified_name(), self.get_clock().now().to_msg())
        figures = {
            "position_s": f"{position_s:.3f}",
            "length_s": f"{playback.length_s:.3f}",
            "rate": f"{playback.rate:g}",
            "paused": str(playback.is_paused).lower(),
            "published": str(playback.published),
            "subscribers": str(sum(outlet.get_subscription_count() for outlet in self._outlets.values())),
        }
        message.status[0].values += [KeyValue(key=key, value=value) for key, value in figures.items()]
        self._diagnostics.publish(message)

    # Topics

    def _advertise(self, chosen: list[str]) -> tuple[dict[str, Any], dict[str, int]]:
        """Publishers by topic, and the depth of latched ones; topics that ROS rejects are logged and left out."""
        publishers: dict[str, Any] = {}
        latched: dict[str, int] = {}
        for topic in chosen:
            kind = self._bag.topics[topic]
            made, why = message_class(kind), complaint(self, topic)
            if why:
                self.report(topic, Level.WARN, f"{topic} is not played: {why}")
                continue
            if made is None:
                self.report(topic, Level.WARN, f"{topic} is not played: the package of {kind} is not installed")
                continue
            offers = self._bag.offered.get(topic, [])
            profile = sending(topic, offers, self._bag.counts[topic])
            publishers[topic] = self.open_publisher(made, topic, profile)
            if is_latched(offers):
                latched[topic] = profile.depth
        if not publishers:
            raise SettingsError(f"{self.settings.bag}: no topic is left to play")
        return publishers, latched

    def _send(self, topic: str, data: bytes) -> None:
        self._outlets[topic].publish(data)

    def _publish_time(self, time_ns: int) -> None:
        if self._ticker is not None:
            self._ticker.publish(Clock(clock=ns_to_stamp(time_ns)))

    # Playing, in a thread of its own

    def _play(self) -> None:
        try:
            if self._play_all():
                for publisher in self._outlets.values():
                    if publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE:
                        publisher.wait_for_all_acked(Duration(seconds=ACKNOWLEDGED_WITHIN_S))
        finally:
            self.stop()

    def _play_all(self) -> bool:
        """Play all; returns whether the end was reached."""
        with self._changed:
            begins_at = self.wall_time() + self.settings.delay_s
            while not self._is_ending and (left_s := begins_at - self.wall_time()) > 0.0:
                self._changed.wait(min(self._playback.advance(self.wall_time()), left_s))  # publishes the time
            if not self.settings.start_paused:
                self._playback.pause(False, self.wall_time())
            while not self._is_ending and not self._playback.has_ended:
                self._changed.wait(self._playback.advance(self.wall_time()))
            if not self._is_ending:
                self._changed.wait(SENT_WITHIN_S)
            return not self._is_ending

    # Requests of users

    def _offer_services(self) -> None:
        self.serve(topics.REPLAY_PAUSE, self._on_pause)
        self.serve(topics.REPLAY_RESUME, lambda request, response: self._answer(response, False))
        self.serve(topics.REPLAY_TOGGLE, lambda request, response: self._answer(response, not self._playback.is_paused))
        self.serve(topics.REPLAY_STEP, self._on_step)
        self.listen(topics.SEEK, self._on_seek)

    def _on_pause(self, request: Any, response: Any) -> Any:
        return self._answer(response, request.data)

    def _answer(self, response: Any, is_paused: bool) -> Any:
        with self._changed:
            self._playback.pause(is_paused, self.wall_time())
            self._changed.notify()
        self.publish_health()  # viewers need not wait for a second
        response.success, response.message = True, "paused" if is_paused else "playing"
        return response

    def _on_step(self, request: Any, response: Any) -> Any:
        with self._changed:
            response.success = self._playback.step(self.wall_time())
            self._changed.notify()
        response.message = "one message played" if response.success else "rejected: only a paused replay can be stepped"
        return response

    def _on_seek(self, message: Float64) -> None:
        if not 0.0 <= message.data <= self._playback.length_s:  # NaN fails too
            self.report(
                "seek", Level.WARN, f"~/seek rejected: 0 to {self._playback.length_s:.1f} s, got {message.data}"
            )
            return
        with self._changed:
            self._playback.seek(message.data, self.wall_time())
            self._changed.notify()
        self.publish_health()

    def _show(self) -> None:
        playback = self._playback
        line = progress_line(
            playback.position_s(self.wall_time()), playback.length_s, playback.rate, playback.is_paused
        )
        if sys.stderr.isatty():
            print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


def _chosen(bag: Bag, topics: str, exclude: str, with_clock: bool) -> list[str]:
    """Topics to play; raises SettingsError for one that the bag does not have."""
    wanted = [name if name.startswith("/") else f"/{name}" for name in topics.split()]
    for name in wanted:
        if name not in bag.topics:
            raise SettingsError(f"topics: {bag.name} has no {name}; it has {', '.join(sorted(bag.topics))}")
    try:
        pattern = re.compile(exclude) if exclude else None
    except re.error as error:
        raise SettingsError(f"exclude: is not a regular expression: {error}") from None
    chosen = [
        name for name in (wanted or bag.topics) if name != CLOCK and not (pattern is not None and pattern.search(name))
    ]
    return [*chosen, CLOCK] if with_clock and CLOCK in bag.topics else chosen


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(ReplayerNode) or ReplayerNode.exit_status


if __name__ == "__main__":
    raise SystemExit(main())
