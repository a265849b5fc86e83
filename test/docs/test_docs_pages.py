"""The pages of concepts, topics and validation match the code."""

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
from rclpy.node import NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from proving_ground.cli.validate import add_parser
from proving_ground.interfaces import topics
from proving_ground.interfaces.message_types import message_class
from proving_ground.interfaces.page import PAGES, filled, main
from proving_ground.interfaces.topic import Service, Topic
from proving_ground.interfaces.topics import EVERY_NODE, SERVICES, TOPICS
from proving_ground.launching.node_process import node_command, node_modules
from proving_ground.ros_support.domain import private_domain
from proving_ground.settings import SettingsError
from proving_ground.validation.page import PARTS, validate
from proving_ground.validation.parts import Bound, Part, Row

ROOT = Path(__file__).parents[2]
TOPICS_PAGE = (ROOT / "docs/topics.md").read_text()
LITERAL = re.compile("|".join(rf'"/?{re.escape(item.name.strip("/"))}"' for item in (*TOPICS, *SERVICES)))
CODE = ("planner", "proving_ground", "sensors", "state_observer", "terrain", "vehicle_dynamics")
WORDS = {'"map"', '"plan"', '"tf"', '"joy"', '"clock"', '"cmd_vel"', '"diagnostics"'}  # also have other meanings


@pytest.mark.parametrize("page", PAGES)
def test_tables_of_a_page_are_those_of_the_topic_table(page: str) -> None:
    text = (ROOT / page).read_text()

    assert "<!-- topics: " in text
    assert filled(text) == text


def test_a_page_that_differs_is_named_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.setattr("proving_ground.interfaces.page.ROOT", tmp_path)
    page = tmp_path / "docs/topics.md"
    page.write_text(TOPICS_PAGE.replace("`ground_truth/odom`", "`truth/odom`"))

    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0
    assert page.read_text() == TOPICS_PAGE


def test_no_source_but_the_topic_table_names_a_topic() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for room in CODE
        for path in (ROOT / room).rglob("*.py")
        if path.name != "topics.py" or path.parent.name != "interfaces"
        for name in LITERAL.findall(path.read_text())
        if name not in WORDS
    }

    assert found == set()


def test_nodes_of_the_table_exist() -> None:
    named = {node for topic in TOPICS for node in (*topic.publishers, *topic.listeners)} | {
        service.node for service in SERVICES
    }

    assert named - {EVERY_NODE} <= set(node_modules())


def test_names_of_the_table_are_different_and_types_are_installed() -> None:
    names = [item.name for item in (*TOPICS, *SERVICES)]

    assert len(set(names)) == len(names)
    assert [item.name for item in (*TOPICS, *SERVICES) if message_class(item.type) is None] == []


@pytest.mark.parametrize("page", ["concepts.md", "topics.md", "scenarios.md", "validation.md"])
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()

    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)]
    assert [target for target in targets if target and not (ROOT / "docs" / target).exists()] == []


# A running graph

RUNNING: dict[str, list[str]] = {
    "vehicle": [],
    "imu": ["-p", "has_attitude:=true"],
    "gps": [],
    "encoders": [],
    "lidar": [],
    "observer": ["-p", "tf_rate_hz:=50.0"],
    "planner": ["-p", "world:=flat", "-p", "sensing:=lidar", "-p", "stamped:=true"],
    "terrain": ["-p", "world:=flat"],
}
OF_ROS = {"/rosout", "/parameter_events"}
UNHEARD = (topics.CMD_VEL, topics.ESTIMATE)  # it is not published here; the planner's pose is the truth's
Found = dict[str, dict[str, set[str]]]


@pytest.fixture(scope="module")
def graph() -> Iterator[Any]:
    """A node in a private domain, with nodes of the suite running."""
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


def test_a_running_graph_has_the_topics_and_services_of_the_table(graph: Any) -> None:
    wanted = {name: _of_table(name) for name in RUNNING}
    found: Found = {}
    deadline = time.monotonic() + 240.0

    while found != wanted and time.monotonic() < deadline:
        found = {name: _of_graph(graph, name) for name in RUNNING}
        time.sleep(0.2)

    assert found == wanted


def test_publishers_of_a_running_graph_have_the_profiles_of_the_table(graph: Any) -> None:
    for topic in TOPICS:
        for info in graph.get_publishers_info_by_topic(f"/{topic.name.lstrip('/~')}"):
            profile = info.qos_profile
            is_reliable = profile.reliability is ReliabilityPolicy.RELIABLE
            is_latched = profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
            assert (topic.name, is_reliable, is_latched) == (topic.name, topic.qos.is_reliable, topic.qos.is_latched)


def _of_table(node: str) -> dict[str, set[str]]:
    return {
        "published": {_line(item) for item in TOPICS if {node, EVERY_NODE} & set(item.publishers)},
        "heard": {_line(item) for item in TOPICS if node in item.listeners and item not in UNHEARD},
        "served": {_line(item) for item in SERVICES if item.node == node},
    }


def _of_graph(graph: Any, node: str) -> dict[str, set[str]]:
    try:
        published = graph.get_publisher_names_and_types_by_node(node, "/")
        heard = graph.get_subscriber_names_and_types_by_node(node, "/")
        served = graph.get_service_names_and_types_by_node(node, "/")
    except NodeNameNonExistentError:
        return {}
    # cmd_vel is subscribed when its publisher's type is known; /clock and parameter services are rclpy's own.
    unwanted = {f"/{topics.CMD_VEL.name}", topics.CLOCK.name} | OF_ROS
    return {
        "published": {f"{name} {kind}" for name, (kind,) in published if name not in OF_ROS},
        "heard": {f"{name} {kinds[0]}" for name, kinds in heard if name not in unwanted},
        "served": {f"{name} {kind}" for name, (kind,) in served if not name.startswith(f"/{node}/")}
        | {f"{name} {kind}" for name, (kind,) in served if name.startswith(f"/{node}/") and "std_srvs" in kind},
    }


def _line(item: Topic | Service) -> str:
    return f"/{item.name.lstrip('/')} {item.type}"


# Validation


def test_validation_writes_a_page_with_tables_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(tmp_path, is_full=False, only=["lane_change", "straight"]) == 0

    page = (tmp_path / "validation.md").read_text()
    assert "| yaw_rate_radps: peak over the reference's | 1.03" in page
    assert "| speed after 1 s | 3.25" in page  # outside its bounds, known, and stated
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


def test_an_unknown_part_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
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
