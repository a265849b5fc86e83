"""The cockpit in real headless Chromium, over real DDS, with a real vehicle.

The first tests share one vehicle, one cockpit and one page, and leave them running for the next one.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import viser
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from rosbags.rosbag2 import StoragePlugin, Writer
from rosgraph_msgs.msg import Clock
from std_msgs.msg import UInt32
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from cockpit_page import ARGUMENTS, CHROMIUM, PAGE_WAIT_S, SMALL, Bench, start_cockpit
from proving_ground.cockpit.camera import CHASE, FREE, LOOK_AT, STARTS
from proving_ground.recording.types import STATE_QOS, store
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain

NS = 1_000_000_000
BAG_START_NS, BAG_LENGTH_S = 1_767_268_800 * NS, 300  # too long to reach the end, even on a busy machine

playwright_api = pytest.importorskip("playwright.sync_api", reason="the page is tested by playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, fork_server: Any
) -> Iterator[Bench]:
    conftest: Any = request.config.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    with (
        private_domain() as domain,
        pytest.MonkeyPatch.context() as patch,
        playwright_api.sync_playwright() as programs,
    ):
        for name, value in domain.items():
            patch.setenv(name, value)
        graph = conftest.Graph(tmp_path_factory.mktemp("cockpit"), fork_server)
        browser = programs.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield Bench(graph, browser)
        finally:
            browser.close()
            graph.close()


def test_page_shows_the_vehicle_and_loads_nothing_from_elsewhere(bench: Bench) -> None:
    looker = bench.looker
    assert bench.had_topics == []  # while no browser was connected
    looker.wait_for("m/s (")
    looker.wait_until(lambda: float(bench.figures.get("pictures_hz", 0.0)) > 5.0, "pictures")
    assert all(re.match(r"(https?|ws)://127\.0\.0\.1[:/]|data:|blob:", url) for url in looker.requests)


def test_time_is_paused_stepped_resumed_and_paced(bench: Bench) -> None:
    looker, clock = bench.looker, bench.clock

    looker.press("Pause")
    looker.wait_for("paused")
    looker.wait_until(lambda: len(clock) > 6 and clock[-6].clock == clock[-1].clock, "the clock to stand still")
    looker.wait_for("0 (paused)")
    stopped_at = clock[-1].clock
    looker.press("Step")
    looker.wait_until(lambda: clock[-1].clock != stopped_at, "a step")
    looker.press("Resume")
    looker.wait_for("running")

    looker.type_number("Pace", 0.5)
    looker.wait_for("pace 0.5")

    def is_slow() -> bool:
        found = re.search(r"Real-time factor\s+([\d.]+)", looker.text())
        return found is not None and abs(float(found[1]) - 0.5) < 0.1

    looker.wait_until(is_slow, "half of real time")
    looker.type_number("Pace", 1)
    looker.wait_for("pace 1")


def test_click_sets_the_goal_where_it_points(bench: Bench) -> None:
    looker, goals = bench.looker, bench.graph.collect(PoseStamped, "/goal_pose")
    looker.press("Set goal by a click")
    looker.wait_for("Click on the ground")

    looker.page.mouse.click(0.5 * SMALL["width"], 0.5 * SMALL["height"])
    looker.wait_until(lambda: goals, "a goal")

    # The middle of the picture is the line from the camera through its aim, down to the ground.
    camera, aim = np.array(STARTS[CHASE]), np.array(LOOK_AT)
    ahead = (camera + (aim - camera) * camera[2] / (camera[2] - aim[2]))[0]
    x, y, heading = bench.position
    goal = goals[-1].pose.position
    # A pixel there is 0.1 m long: the ray meets the ground at 20 degrees.
    assert math.hypot(goal.x - x - ahead * math.cos(heading), goal.y - y - ahead * math.sin(heading)) < 0.25
    assert abs(goal.z) < 1e-6
    assert goals[-1].header.frame_id == "map"
    looker.wait_for("goal: ")


def test_keys_drive_the_vehicle_and_stop_it_when_released(bench: Bench) -> None:
    looker = bench.looker
    looker.drive_from_here()
    looker.page.mouse.move(100, 300)

    with looker.held("i"):
        looker.wait_until(lambda: bench.speed > 1.0, "the vehicle to drive")
        with looker.held("j"):
            looker.wait_until(lambda: bench.position[2] > 0.05, "the vehicle to turn left")
    looker.wait_until(lambda: abs(bench.speed) < 0.05, "the vehicle to stop")


def test_camera_follows_or_stays(bench: Bench) -> None:
    looker = bench.looker

    def moved(node: str) -> int:
        return len(set(looker.positions.get(node, [])))

    def drive_until(condition: Callable[[], bool], what: str) -> None:
        with looker.held("i"):
            looker.wait_until(condition, what)
        looker.wait_until(lambda: abs(bench.speed) < 0.05, "the vehicle to stop")

    looker.drive_from_here()
    looker.show("View")
    looker.wait_for("Camera")
    looker.positions.clear()
    drive_until(lambda: moved("/world") > 10, "the world to move under the vehicle")

    looker.choose("Camera", FREE)
    looker.wait_until(lambda: looker.sent and looker.sent[-1][2] == STARTS[FREE][2], "the camera to be set free")
    looker.positions.clear()
    # Messages in flight when the camera was set free arrived before the vehicle began to move.
    drive_until(lambda: moved("/world/vehicle") > 3, "the vehicle to move in the world")
    looker.positions.clear()
    drive_until(lambda: moved("/world/vehicle") > 10, "the vehicle to move in a world that stands still")
    assert moved("/world") == 0

    looker.choose("Camera", CHASE)
    drive_until(lambda: moved("/world") > 3, "the world to move again")


def test_vehicle_stops_when_the_browser_leaves_in_the_middle_of_driving(bench: Bench) -> None:
    looker, graph = bench.looker, bench.graph
    commands = graph.collect(TwistStamped, "/cmd_vel")
    looker.drive_from_here()
    down = "found => found.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, button: 0, isPrimary: true}))"
    looker._do("button", down, "found => found.innerText.includes(words)", "Ahead")
    looker.wait_until(lambda: bench.speed > 1.0, "the vehicle to drive")

    looker.close()

    graph.wait_until(lambda: abs(bench.speed) < 0.05, "the vehicle to stop")
    assert commands[-1].twist.linear.x == 0.0
    graph.wait_until(lambda: graph.node.count_publishers("/cmd_vel") == 0, "the cockpit to leave /cmd_vel")
    graph.wait_until(lambda: bench.figures.get("topics") == "0", "the cockpit to listen to nothing")


def test_reset_brings_the_vehicle_back_and_ends_driving(bench: Bench) -> None:
    resets = bench.graph.collect(UInt32, "/simulation/resets", qos.LATCHED)
    driven = bench.position[0]
    assert driven > 1.0
    looker = bench.look_again()
    looker.wait_for("m/s (")
    assert "Ahead" not in looker.text()
    looker.wait_until(lambda: resets, "the count of resets")
    before = resets[-1].data

    looker.press("Reset")

    looker.wait_until(lambda: resets[-1].data == before + 1, "a reset")
    looker.wait_until(lambda: bench.position[0] < 0.5 * driven, "the vehicle back at its start")


def test_page_survives_nonsense_and_time_that_goes_back(bench: Bench) -> None:
    """The test acts as the vehicle now."""
    bench.vehicle.popen.terminate()
    bench.vehicle.wait()
    node, looker = bench.graph.node, bench.looker
    truth = node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
    ticks = node.create_publisher(Clock, "/clock", qos.CLOCK)
    looker.wait_for("no clock")

    def publish(seconds: int, x: float) -> None:
        truth.publish(odometry(seconds * NS, x))
        tick = Clock()
        tick.clock.sec = seconds
        ticks.publish(tick)

    def shows(seconds: int, x: float, words: str) -> None:
        looker.wait_until(lambda: publish(seconds, x) or words in looker.text(), words)

    shows(1000, 12.5, "12.5, 0.0 m")
    shows(1001, math.nan, "12.5, 0.0 m")
    looker.wait_until(lambda: publish(1001, math.inf) or bench.figures.get("ground_truth/odom rejected"), "a count")
    shows(500, 42.0, "42.0, 0.0 m")  # time went back
    assert "Traceback" not in bench.cockpit.output
    node.destroy_publisher(truth)
    node.destroy_publisher(ticks)


def test_replay_is_paused_sought_stepped_and_sped_up_from_the_page(bench: Bench, tmp_path: Path) -> None:
    looker = bench.looker
    bag = straight_drive(tmp_path / "drive")
    replayer = bench.graph.start("replayer", "--ros-args", "-p", f"bag:={bag}", "-p", "delay_s:=0.2")

    def position() -> float:
        found = re.search(r"([\d.]+) of 300\.0 s, playing", looker.text())
        return float(found[1]) if found else math.nan

    looker.wait_for("Replay")
    looker.wait_for("of 300.0 s, playing")
    looker.wait_until(lambda: "Pace" not in looker.text(), "a simulation's buttons to go: there is none")

    looker.press("Pause")
    looker.wait_for("of 300.0 s, paused")
    looker.type_number("Seconds", 30)
    looker.wait_for("30.0 of 300.0 s, paused")
    looker.wait_for("29.9, 0.0 m")  # the vehicle is shown as it was just before, though nothing plays
    looker.press("Step")
    looker.wait_for("30.0, 0.0 m")
    looker.type_number("Rate", 10)
    looker.wait_for("rate 10")
    looker.press("Resume")
    looker.wait_until(lambda: position() > 40.0, "the replay to go on")
    looker.type_number("Rate", 1)
    looker.wait_until(lambda: re.search(r"rate 1\b", looker.text()), "the old rate")
    looker.press("Restart")
    looker.wait_until(lambda: position() < 10.0, "the start")

    replayer.popen.terminate()
    assert replayer.wait() == 0
    looker.wait_until(lambda: "Replay" not in looker.text(), "the replay's buttons to go")


def test_second_cockpit_takes_the_next_port_and_a_foreign_page_is_rejected(bench: Bench) -> None:
    cockpit, second = start_cockpit(bench.graph, f"port:={bench.address.rpartition(':')[2]}")
    assert second != bench.address

    socket = second.replace("http", "ws")
    protocol = [f"viser-v{viser.__version__}"]
    with connect(socket, origin=second, subprotocols=protocol, max_size=None) as own:
        assert own.recv(timeout=PAGE_WAIT_S)
    with connect(socket, origin="http://elsewhere.example", subprotocols=protocol, max_size=None) as foreign:
        with pytest.raises(ConnectionClosed) as rejection:
            foreign.recv(timeout=PAGE_WAIT_S)
        assert rejection.value.rcvd is not None
        assert rejection.value.rcvd.code == 1008
    assert "Traceback" not in cockpit.output


def test_cockpit_ends_cleanly_while_a_browser_is_connected(bench: Bench) -> None:
    bench.cockpit.popen.terminate()
    assert bench.cockpit.wait() == 0
    assert "Traceback" not in bench.cockpit.output
    bench.looker.close()


def test_bad_settings_are_rejected_in_one_line(bench: Bench) -> None:
    process = bench.graph.start_command(
        [sys.executable, "-m", "proving_ground.cockpit.ros.cockpit_node", "--ros-args", "-p", "world:=twon"]
    )
    assert process.wait() == 2
    assert "world twon: unknown" in process.output
    assert "Traceback" not in process.output


def odometry(time_ns: int, x: float) -> Odometry:
    """The vehicle at x [m], level."""
    message = Odometry()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time_ns, NS)
    message.pose.pose.position.x, message.pose.pose.orientation.w = x, 1.0
    return message


def straight_drive(path: Path) -> Path:
    """A bag: one metre each second, published ten times a second."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        truth = writer.add_connection(
            "/ground_truth/odom", "nav_msgs/msg/Odometry", typestore=store(), offered_qos_profiles=[STATE_QOS]
        )
        for k in range(10 * BAG_LENGTH_S + 1):
            time_ns = BAG_START_NS + k * NS // 10
            writer.write(truth, time_ns, serialize_message(odometry(time_ns, 0.1 * k)))
    return path
