"""tf over DDS, and what a node sees when /clock jumps: a small node on the suite's base in a separate process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from proving_ground.ros_support import qos
from proving_ground.ros_support.time import ns_to_stamp

PROBE = Path(__file__).with_name("probe_node.py")
SECOND = 10**9


@pytest.fixture
def probe(graph: Any) -> Any:
    return graph.start_command([sys.executable, str(PROBE), "--ros-args", "-p", "use_sim_time:=true"])


def test_late_joiner_gets_every_static_frame_and_moving_ones_arrive(graph: Any, probe: Any) -> None:
    moving = graph.collect(TFMessage, "/tf", qos.TF)
    graph.wait_until(lambda: moving, "a moving frame")

    static = graph.collect(TFMessage, "/tf_static", qos.LATCHED)
    graph.wait_until(lambda: static, "the latched frames")

    frames = {(item.header.frame_id, item.child_frame_id) for item in static[-1].transforms}
    assert frames == {("base_link", "imu_link"), ("base_link", "gps_link")}
    assert moving[-1].transforms[0].header.frame_id == "odom"
    assert moving[-1].transforms[0].transform.rotation.w == pytest.approx(1.0)


def test_jump_back_resets_and_jump_ahead_is_a_gap(graph: Any, probe: Any) -> None:
    events = graph.collect(String, "/events")
    clock = graph.node.create_publisher(Clock, "/clock", qos.CLOCK)
    graph.wait_until(clock.get_subscription_count, "the probe to listen to /clock")
    graph.wait_until(lambda: "started" in [event.data for event in events], "the probe to be received")
    now = [100 * SECOND]

    def tick(step: int) -> None:
        now[0] += step
        clock.publish(Clock(clock=ns_to_stamp(now[0])))

    def tick_until(step: int, what: str) -> None:
        def is_seen() -> bool:
            tick(step)
            return bool(events) and events[-1].data == what

        graph.wait_until(is_seen, what)

    tick_until(SECOND // 100, "time 100")
    for expected, jump in (("gap", 50 * SECOND), ("reset", -20 * SECOND), ("reset", -SECOND // 2)):
        events.clear()

        def is_seen(expected: str = expected, jump: int = jump) -> bool:
            tick(jump)
            graph.spin_for(0.2)  # /clock is best effort, so it jumps again if this one was lost
            return expected in [event.data for event in events]

        graph.wait_until(is_seen, f"{expected} after a jump of {jump} ns")
