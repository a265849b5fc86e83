"""The pages of concepts, topics and validation say what the code does."""

from __future__ import annotations

import argparse
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from proving_ground.cli.validate import add_parser
from proving_ground.launching.node_process import node_command, node_modules
from proving_ground.ros_support.domain import private_domain
from proving_ground.settings import SettingsError
from proving_ground.validation.page import PARTS, validate
from proving_ground.validation.parts import Bound, Part, Row

ROOT = Path(__file__).parents[2]
TOPICS = (ROOT / "docs/topics.md").read_text()
ROOMS = ("proving_ground/ros_support", "vehicle_dynamics", "terrain", "sensors", "state_observer", "planner")
SOURCE = "\n".join(path.read_text() for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
PUBLISHED = re.compile(r'advertise\((\w+), "([\w/]+)", (?:\w+\.)?(\w+)\)')
HEARD = re.compile(r'listen\((\w+), "([\w/]+)"')
SERVED = re.compile(r'create_service\((\w+), "([\w/]+)"')
NAMED = {"ImuMessage": "Imu"}  # under another name in the code


def rows(heading: str) -> list[list[str]]:
    """Cells of the table below a heading."""
    chapter = TOPICS.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in chapter.splitlines() if line.startswith("| `")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def test_every_topic_that_nodes_publish_is_on_the_page_with_its_type_and_qos() -> None:
    page = {row[0]: (row[1].split("/")[-1], row[3].upper()) for row in rows("What you hear")}
    code = {topic: (NAMED.get(kind, kind), profile) for kind, topic, profile in PUBLISHED.findall(SOURCE)}
    commands = {row[0] for row in rows("What you send")}

    assert {topic: what for topic, what in code.items() if topic not in commands} == page


def test_every_topic_that_nodes_hear_is_on_the_page() -> None:
    page = {row[0]: row[1].split("/")[-1] for row in rows("What you send")}
    told = {row[0] for row in rows("What you hear")}
    code = {topic: kind for kind, topic in HEARD.findall(SOURCE) if topic not in told}

    assert {topic: kind for topic, kind in page.items() if topic != "cmd_vel"} == code
    assert 'TwistInput(self, "cmd_vel"' in SOURCE


def test_every_service_is_on_the_page() -> None:
    page = {row[0]: row[1].split("/")[-1] for row in rows("Services")}

    assert page == {name: kind for kind, name in SERVED.findall(SOURCE)}


def test_nodes_of_the_page_exist() -> None:
    named = {node.strip() for row in rows("What you hear") for node in row[2].split(",")} | {"vehicle", "teleop"}

    assert named - {"every node", "sensors"} <= set(node_modules())


@pytest.mark.parametrize("page", ["concepts.md", "topics.md", "scenarios.md", "validation.md"])
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()

    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)]
    assert [target for target in targets if target and not (ROOT / "docs" / target).exists()] == []


# A running graph

RUNNING = {"vehicle": [], "imu": [], "gps": [], "encoders": [], "terrain": ["-p", "world:=flat"]}


@pytest.fixture(scope="module")
def graph() -> Iterator[Any]:
    """A node in a domain of its own, with the small nodes of the suite running."""
    with private_domain() as domain, pytest.MonkeyPatch.context() as environment, ExitStack() as processes:
        for name, value in domain.items():
            environment.setenv(name, value)
        for name, parameters in RUNNING.items():
            process = subprocess.Popen(node_command(name, ["--ros-args", *parameters]))
            processes.callback(process.wait, 20.0)
            processes.callback(process.terminate)
        context = Context()
        rclpy.init(args=[], context=context)
        node = rclpy.create_node("reader", context=context)
        try:
            yield node
        finally:
            node.destroy_node()
            rclpy.try_shutdown(context=context)


def test_a_running_graph_has_the_topics_of_the_page(graph: Any) -> None:
    wanted = {
        f"/{row[0].lstrip('/')}": (row[1], row[3])
        for row in rows("What you hear")
        if row[2].split(",")[0] in (*RUNNING, "every node") and row[0] != "imu/data"
    }
    found: dict[str, tuple[str, str]] = {}
    deadline = time.monotonic() + 90.0

    while set(found) != set(wanted) and time.monotonic() < deadline:
        for topic in wanted:
            for info in graph.get_publishers_info_by_topic(topic):
                package, _, kind = info.topic_type.split("/")
                found[topic] = (f"{package}/{kind}", _profile(info.qos_profile))
        time.sleep(0.2)

    loose = {topic: (kind, _kind_of(profile)) for topic, (kind, profile) in wanted.items()}
    assert found == loose


def _profile(profile: Any) -> str:
    if profile.durability is DurabilityPolicy.TRANSIENT_LOCAL:
        return "latched"
    return "reliable" if profile.reliability is ReliabilityPolicy.RELIABLE else "best effort"


def _kind_of(profile: str) -> str:
    """As the graph tells it: depths are not in it."""
    return {"sensor": "best effort", "clock": "best effort", "tf": "reliable"}.get(profile, profile)


# Validation


def test_validation_writes_a_page_with_tables_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(tmp_path, is_full=False, only=["lane_change", "straight"]) == 0

    page = (tmp_path / "validation.md").read_text()
    assert "| yaw_rate_radps: peak over the reference's | 1.03" in page
    assert "| speed after 1 s | 3.25" in page  # outside of what is asked, known, and told
    assert "**outside**: the carcass winds up" in page
    assert (tmp_path / "validation/lane_change.png").read_bytes().startswith(b"\x89PNG")
    assert "lane_change: ok" in capsys.readouterr().out


def test_a_figure_outside_its_bounds_is_marked_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    off = Row("way", 3.0, "1 m", Bound(0.9, 1.1), "m")
    not_there = Row("speed", float("nan"), "", Bound(most=1.0))
    monkeypatch.setitem(PARTS, "gps", lambda say: Part("Made", "up", [off, not_there, off._replace(known="a reason")]))

    assert validate(tmp_path, is_full=False, only=["gps"]) == 1

    page = (tmp_path / "validation.md").read_text()
    assert "| way | 3 m | 1 m | 0.9 to 1.1 **outside** |" in page
    assert "| speed | nan | - | at most 1 **outside** |" in page
    assert "**outside**: a reason |" in page


def test_a_part_that_is_unknown_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--only lane_chang: .*lane_change"):
        validate(tmp_path, is_full=False, only=["lane_chang"])


def test_the_page_of_validation_is_one_of_all_quick_parts() -> None:
    page = (ROOT / "docs/validation.md").read_text()

    for title in ("Double lane change", "Straight ahead", "Newton chord", "linkages", "cheap GPS", "Scenarios"):
        assert title in page
    outside = [line for line in page.splitlines() if "**outside** |" in line]
    assert outside == []


def test_validate_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    options = parser.parse_args(["validate", "--only", "list"])

    assert options.run(options) == 0

    assert "vehicle_observer (with --full)" in capsys.readouterr().out
