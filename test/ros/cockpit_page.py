"""A browser at the cockpit's page, beside a vehicle and a cockpit over DDS."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

from proving_ground.cockpit.reading import euler
from proving_ground.ros_support import qos
from proving_ground.ros_support.convert import quaternion_from_msg

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
START_WAIT_S = 120.0  # includes compilation with a cold cache
PAGE_WAIT_S = 60.0  # software rendering on a busy machine
SMALL = {"width": 760, "height": 400}  # the panel is at the right, the vehicle in the middle
# Nobody sees the pictures: two or three a second are enough, where each takes a core's time.
FEW_PICTURES = "window.requestAnimationFrame = call => setTimeout(() => call(performance.now()), 400)"


class Looker:
    """A browser at the page; the test's own node spins while it waits."""

    def __init__(self, browser: Any, graph: Any, address: str) -> None:
        self._graph = graph
        self.page = browser.new_page(viewport=SMALL)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._held: list[str] = []
        self.positions: dict[str, list[tuple[float, ...]]] = {}  # of the scene's nodes, as received [m]
        self.sent: list[tuple[float, ...]] = []  # where the camera was sent [m]
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("websocket", self._listen)
        self.page.add_init_script(FEW_PICTURES)
        self.page.goto(address)
        self.wait_for("Real-time factor")

    def _listen(self, socket: Any) -> None:
        self.requests.append(socket.url)
        socket.on("framereceived", self._record)

    def _record(self, frame: bytes) -> None:
        size = int.from_bytes(frame[8:16], "little")
        for message in msgspec.msgpack.decode(zstandard.decompress(frame[16 : 16 + size]))["messages"]:
            if message["type"] == "SetPositionMessage":
                self.positions.setdefault(message["name"], []).append(tuple(message["position"]))
            elif message["type"] == "SetCameraPositionMessage":
                self.sent.append(tuple(message["position"]))

    def wait_until(self, condition: Callable[[], Any], what: str) -> None:
        """Let both the page's events and the graph's messages arrive."""

        def holds() -> Any:
            for key in self._held:
                self.page.keyboard.down(key)
            self.page.wait_for_timeout(60)
            return condition()

        try:
            self._graph.wait_until(holds, what, PAGE_WAIT_S)
        except pytest.fail.Exception:
            print(f"the page shows:\n{self.text()}")
            raise

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.text(), f"{text!r} on the page")

    @contextlib.contextmanager
    def held(self, key: str) -> Iterator[None]:
        """A key that repeats while the test waits, as a held one does."""
        self._held.append(key)
        yield
        self._held.remove(key)
        self.page.keyboard.up(key)

    def text(self) -> str:
        return str(self.page.evaluate("() => document.body.innerText"))

    def press(self, name: str) -> None:
        """Click by script: a mouse click waits for two frames, which take seconds with software rendering."""
        self._do("button", "found => found.click()", "found => found.innerText.trim() === words", name)

    def show(self, tab: str) -> None:
        """Click by mouse: tabs can be dragged, and ignore clicks by script."""
        position = self.page.evaluate(
            """tab => {
                const found = [...document.querySelectorAll('[role=tab]')].find(t => t.innerText.trim() === tab);
                found.scrollIntoView({block: 'center'});
                const box = found.getBoundingClientRect();
                return [box.x + 0.5 * box.width, box.y + 0.5 * box.height];
            }""",
            tab,
        )
        self.page.mouse.click(*position)

    def tick(self, label: str) -> None:
        self._do("input[type=checkbox]", "found => found.click()", LABELLED, label)

    def drive_from_here(self) -> None:
        """Show the driving buttons, whatever was shown before."""
        self.show("Control")
        self.wait_for("Drive from here")
        if "Ahead" not in self.text():
            self.tick("Drive from here")
            self.wait_for("Ahead")

    def type_number(self, label: str, value: float) -> None:
        """Type into the field beside a slider."""
        self._do("input[type=text]", "found => found.select()", LABELLED, label)
        self.page.keyboard.type(f"{value:g}")
        self.page.keyboard.press("Enter")

    def choose(self, label: str, option: str) -> None:
        self._do("input[role=combobox]", "found => found.click()", LABELLED, label)
        self.wait_until(lambda: self.page.query_selector("[role=option]"), f"choices of {label!r}")
        self._do("[role=option]", "found => found.click()", "found => found.innerText.trim() === words", option)

    def _do(self, selector: str, act: str, is_meant: str, words: str) -> None:
        script = f"""words => {{
            const found = [...document.querySelectorAll('{selector}')].find({is_meant});
            if (found) ({act})(found);
            return Boolean(found);
        }}"""
        assert self.page.evaluate(script, words), f"no {selector} {words!r}"

    def close(self) -> None:
        assert self.errors == []
        self.page.close()


# The largest element around the field that has no other field: its text is the label.
LABELLED = """found => {
    let around = found;
    while (around.parentElement.querySelectorAll('input:not([type=hidden])').length
           === found.parentElement.querySelectorAll('input:not([type=hidden])').length) around = around.parentElement;
    return around.innerText.includes(words);
}"""


class Bench:
    """One graph, one cockpit, one browser, one page, and a vehicle until it is stopped."""

    def __init__(self, graph: Any, browser: Any) -> None:
        self.graph, self.browser = graph, browser
        self.vehicle = graph.start("vehicle")
        self.odometry = graph.collect(Odometry, "/ground_truth/odom")
        self.clock = graph.collect(Clock, "/clock", qos.CLOCK)
        self.diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
        self.cockpit, self.address = start_cockpit(graph)
        graph.wait_until(lambda: self.odometry, "the vehicle", START_WAIT_S)
        self.had_topics = self.topics()
        self.looker = self.look()

    def look(self) -> Looker:
        return Looker(self.browser, self.graph, self.address)

    def look_again(self) -> Looker:
        """Replace the page by a new one."""
        self.looker.page.close()  # closing what is closed does nothing
        self.looker = self.look()
        return self.looker

    def topics(self) -> list[str]:
        """Topics that the cockpit subscribes to."""
        wanted = ("/ground_truth/odom", "/joint_states", "/clock", "/lidar/points")
        return [
            topic
            for topic in wanted
            for info in self.graph.node.get_subscriptions_info_by_topic(topic)
            if info.node_name == "cockpit"
        ]

    @property
    def speed(self) -> float:
        return float(self.odometry[-1].twist.twist.linear.x)

    @property
    def position(self) -> tuple[float, float, float]:
        """x, y [m] and heading [rad] of the vehicle."""
        pose = self.odometry[-1].pose.pose
        return pose.position.x, pose.position.y, euler(np.array(quaternion_from_msg(pose.orientation)))[2]

    @property
    def figures(self) -> dict[str, str]:
        """Latest values of the cockpit's health."""
        statuses = [status for message in self.diagnostics for status in message.status if status.name == "/cockpit"]
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
