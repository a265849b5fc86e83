"""The cockpit in real headless Chromium, over real DDS, with a real vehicle."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
import viser
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from std_msgs.msg import UInt32
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ros_support import qos

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
START_WAIT_S = 120.0  # compiles, where that was never done
PAGE_WAIT_S = 60.0  # software draws, on a machine that is busy with other work
SMALL = {"width": 760, "height": 420}  # the panel is at the right, the vehicle in the middle

playwright_api = pytest.importorskip("playwright.sync_api", reason="the page is tested by playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def program() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def chromium(program: Any) -> Iterator[Any]:
    """Its pages end with the test: one that is left would come back to the next test's cockpit."""
    context = program.new_context(viewport=SMALL)
    yield context
    context.close()


class Looker:
    """A browser at the page; what it waits for, the test's own node waits for with it."""

    def __init__(self, chromium: Any, graph: Any, address: str) -> None:
        self._graph = graph
        self.page = chromium.new_page()
        self.requests: list[str] = []
        self.pictures: list[float] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", self._count)
        self.page.goto(address)
        self.wait_for("Real-time factor")

    def _count(self, socket: Any) -> None:
        self.requests.append(socket.url)
        socket.on("framereceived", lambda _: self.pictures.append(time.monotonic()))

    def wait_until(self, condition: Any, what: str, seconds: float = PAGE_WAIT_S) -> None:
        """Let both the page's events and the graph's messages arrive."""

        def holds() -> Any:
            self.page.wait_for_timeout(20)
            return condition()

        self._graph.wait_until(holds, what, seconds)

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.text(), f"{text!r} on the page")

    def text(self) -> str:
        return str(self.page.evaluate("() => document.body.innerText"))

    def press(self, name: str) -> None:
        """By script: a click by mouse waits for two drawn pictures, which take seconds where software draws."""
        script = """name => {
            const found = [...document.querySelectorAll('button, [role=tab]')].find(b => b.innerText.trim() === name);
            if (found) found.click();
            return Boolean(found);
        }"""
        assert self.page.evaluate(script, name), f"no button {name!r}"

    def tick(self, label: str) -> None:
        script = """label => {
            for (const input of document.querySelectorAll('input[type=checkbox]')) {
                let around = input;
                while (around.parentElement.querySelectorAll('input[type=checkbox]').length === 1) {
                    around = around.parentElement;
                    if (around.innerText.includes(label)) { input.click(); return true; }
                }
            }
            return false;
        }"""
        assert self.page.evaluate(script, label), f"no box {label!r}"

    def close(self) -> None:
        self.page.close()


def figures(diagnostics: list[Any]) -> dict[str, str]:
    statuses = [status for message in diagnostics for status in message.status if status.name == "/cockpit"]
    return {item.key: item.value for item in statuses[-1].values} if statuses else {}


def start_cockpit(graph: Any, *parameters: str) -> tuple[Any, str]:
    arguments = [part for parameter in ("shadows:=false", *parameters) for part in ("-p", parameter)]
    cockpit = graph.start("cockpit", "--ros-args", *arguments)
    found: list[str] = []

    def is_open() -> bool:
        found[:] = re.findall(r"cockpit: open (http://127\.0\.0\.1:\d+)", cockpit.output)
        return bool(found)

    graph.wait_until(is_open, "the cockpit's address", START_WAIT_S)
    return cockpit, found[0]


def test_page_shows_pauses_resets_takes_goals_and_drives(graph: Any, chromium: Any) -> None:
    graph.start("vehicle")
    odometry, clock = graph.collect(Odometry, "/ground_truth/odom"), graph.collect(Clock, "/clock", qos.CLOCK)
    resets = graph.collect(UInt32, "/simulation/resets", qos.LATCHED)
    goals, commands = graph.collect(PoseStamped, "/goal_pose"), graph.collect(TwistStamped, "/cmd_vel")
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    cockpit, address = start_cockpit(graph)
    graph.wait_until(lambda: odometry, "the vehicle", START_WAIT_S)

    # Nobody looks: nothing is subscribed to.
    assert not [
        info.topic_type
        for topic in ("/ground_truth/odom", "/joint_states", "/clock", "/lidar/points")
        for info in graph.node.get_subscriptions_info_by_topic(topic)
        if info.node_name == "cockpit"
    ]

    looker = Looker(chromium, graph, address)
    looker.wait_until(lambda: "m/s (" in looker.text(), "the speed on the page")
    looker.wait_until(lambda: float(figures(diagnostics).get("pictures_hz", 0.0)) > 5.0, "pictures", PAGE_WAIT_S)
    assert all(re.match(r"(https?|ws)://127\.0\.0\.1[:/]|data:|blob:", url) for url in looker.requests)

    looker.press("Pause")
    looker.wait_for("paused")
    looker.wait_until(lambda: len(clock) > 6 and clock[-6].clock == clock[-1].clock, "the clock to stand still")
    stopped_at = clock[-1].clock
    looker.press("Step")
    looker.wait_until(lambda: clock[-1].clock != stopped_at, "a step")
    looker.press("Resume")
    looker.wait_for("running")

    # Drive: hold the button that goes ahead.
    looker.tick("Drive from here")
    looker.wait_for("Ahead")
    held = "() => [...document.querySelectorAll('button')].find(b => b.innerText.includes('Ahead'))"
    down = "b => b.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, button: 0, isPrimary: true}))"
    looker.page.evaluate_handle(held).evaluate(down)
    looker.wait_until(lambda: odometry[-1].twist.twist.linear.x > 1.0, "the vehicle to drive")

    # The browser goes in the middle of it: the vehicle stops, and the topic is free again.
    looker.close()
    graph.wait_until(lambda: abs(odometry[-1].twist.twist.linear.x) < 0.05, "the vehicle to stop")
    assert commands[-1].twist.linear.x == 0.0
    graph.wait_until(lambda: graph.node.count_publishers("/cmd_vel") == 0, "the cockpit to leave /cmd_vel")
    graph.wait_until(lambda: figures(diagnostics).get("topics") == "0", "the cockpit to listen to nothing")

    # Another comes: it resets, and clicks on the ground.
    driven = odometry[-1].pose.pose.position.x
    assert driven > 0.3
    looker = Looker(chromium, graph, address)
    looker.wait_until(lambda: "m/s (" in looker.text(), "the speed on the page again")
    assert "Ahead" not in looker.text()  # nobody drives any more
    before = resets[-1].data
    looker.press("Reset")
    looker.wait_until(lambda: resets[-1].data == before + 1, "a reset")
    looker.wait_until(lambda: odometry[-1].pose.pose.position.x < 0.5 * driven, "the vehicle back at its start")
    looker.press("Set goal by a click")
    looker.wait_for("Click on the ground")
    looker.page.mouse.click(150, 330)
    looker.wait_until(lambda: goals, "a goal")
    assert goals[-1].header.frame_id == "map"
    assert abs(goals[-1].pose.position.z) < 1e-6
    looker.close()

    cockpit.popen.terminate()
    assert cockpit.wait() == 0


def test_page_survives_nonsense_and_a_second_browser(graph: Any, chromium: Any) -> None:
    """The test is the vehicle: its numbers are none, its time goes back, it comes and goes."""
    cockpit, address = start_cockpit(graph)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    truth = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
    ticks = graph.node.create_publisher(Clock, "/clock", qos.CLOCK)
    graph.node.create_publisher(Twist, "/cmd_vel", qos.RELIABLE)
    lookers = [Looker(chromium, graph, address) for _ in range(2)]

    def tell(seconds: int, x: float) -> None:
        message = Odometry()
        message.header.stamp.sec = seconds
        message.pose.pose.position.x, message.pose.pose.orientation.w = x, 1.0
        truth.publish(message)
        tick = Clock()
        tick.clock.sec = seconds
        ticks.publish(tick)

    def told(seconds: int, x: float, words: str) -> None:
        for looker in lookers:
            looker.wait_until(lambda: tell(seconds, x) or words in looker.text(), words)  # noqa: B023

    told(1000, 12.5, "12.5, 0.0 m")
    told(1001, float("nan"), "12.5, 0.0 m")
    lookers[0].wait_until(
        lambda: tell(1001, float("inf")) or figures(diagnostics).get("ground_truth/odom refused"), "a count"
    )
    told(500, 42.0, "42.0, 0.0 m")  # time went back
    lookers[0].close()
    lookers = lookers[1:]
    told(600, 43.0, "43.0, 0.0 m")
    lookers[0].close()
    graph.wait_until(lambda: figures(diagnostics).get("browsers") == "0", "the last browser to be missed")
    assert "Traceback" not in cockpit.output
    cockpit.popen.terminate()
    assert cockpit.wait() == 0


def test_second_cockpit_takes_the_next_port_and_a_foreign_page_is_refused(graph: Any) -> None:
    _, first = start_cockpit(graph)
    cockpit, second = start_cockpit(graph, f"port:={first.rpartition(':')[2]}")
    assert second != first

    socket = second.replace("http", "ws")
    protocol = [f"viser-v{viser.__version__}"]
    with connect(socket, origin=second, subprotocols=protocol, max_size=None) as own:
        assert own.recv(timeout=PAGE_WAIT_S)
    with connect(socket, origin="http://elsewhere.example", subprotocols=protocol, max_size=None) as foreign:
        with pytest.raises(ConnectionClosed) as refusal:
            foreign.recv(timeout=PAGE_WAIT_S)
        assert refusal.value.rcvd is not None
        assert refusal.value.rcvd.code == 1008
    assert "Traceback" not in cockpit.output


def test_bad_settings_are_refused_in_one_line(graph: Any) -> None:
    for parameter, words in (("host:=203.0.113.7", "host: must be an address"), ("world:=twon", "world twon: unknown")):
        process = graph.start_command(
            [sys.executable, "-m", "scenarios.cockpit.cockpit_node", "--ros-args", "-p", parameter]
        )
        assert process.wait() == 2
        assert words in process.output
        assert "Traceback" not in process.output
