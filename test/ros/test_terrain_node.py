"""The terrain node in a separate process, over real DDS."""

from __future__ import annotations

import array
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import OccupancyGrid, Odometry
from visualization_msgs.msg import Marker, MarkerArray

from proving_ground.ros_support import qos
from terrain.worlds import load_world


def words(diagnostics: list[Any]) -> str:
    return str([status.values for message in diagnostics for status in message.status])


def test_late_joiner_gets_map_and_markers_of_the_town(graph: Any) -> None:
    world = load_world("urban")
    process = graph.start("terrain", "--ros-args", "-p", "world:=urban", "-p", "frames.prefix:=truck/")
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    graph.wait_until(lambda: "obstacles" in words(diagnostics), "health, after all is published")

    maps = graph.collect(OccupancyGrid, "/map", qos.LATCHED)
    arrays = graph.collect(MarkerArray, "/terrain/markers", qos.LATCHED)
    graph.wait_until(lambda: maps and arrays, "map and markers")

    info = maps[0].info
    assert maps[0].header.frame_id == "truck/map"
    assert (info.width, info.height, info.resolution) == (486, 486, 0.5)
    assert (info.origin.position.x, info.origin.position.y, info.origin.orientation.w) == (-12.0, -12.0, 1.0)
    assert isinstance(maps[0].data, array.array)
    cells = np.reshape(maps[0].data, (info.height, info.width))

    def at(x: float, y: float) -> int:
        return int(cells[int((y + 12.0) / 0.5), int((x + 12.0) / 0.5)])

    assert {at(x, 4.05) for x in np.arange(15.0, 55.0, 0.5)} == {100}  # the kerb of the first block
    assert {at(item.x, item.y) for item in world.obstacles} == {100}
    road = [(x, y) for x in np.arange(-3.0, 222.0) for y in (-2.0, 2.0) if world.obstacles.distance(x, y) > 1.0]
    assert len(road) > 400
    assert {at(x, y) for x, y in road} == {0}

    first, *markers = arrays[0].markers
    assert first.action == Marker.DELETEALL
    assert {marker.header.frame_id for marker in arrays[0].markers} == {"truck/map"}
    kinds = [marker.type for marker in markers]
    assert kinds.count(Marker.CUBE) == len(world.obstacles.boxes)
    assert kinds.count(Marker.CYLINDER) == len(world.obstacles.cylinders)
    ground = markers[kinds.index(Marker.TRIANGLE_LIST)]
    assert len(ground.points) == len(ground.colors) <= 180_000
    assert len(markers[kinds.index(Marker.LINE_LIST)].points) == 2 * len(world.markings)
    assert len({(marker.ns, marker.id) for marker in markers}) == len(markers)
    assert "world urban: 243 x 243 m" in words(diagnostics)
    assert "map: 486 x 486 cells" in words(diagnostics)

    process.popen.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert "Traceback" not in process.output


def test_survey_is_unknown_beyond_its_outline_and_a_cropped_map_is_reported(graph: Any) -> None:
    graph.start("terrain", "--ros-args", "-p", "world:=survey", "-p", "map_size_m:=60.0")
    maps = graph.collect(OccupancyGrid, "/map", qos.LATCHED)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")

    graph.wait_until(lambda: maps and "WARN: map: 120 x 120 cells" in words(diagnostics), "the cut map")

    assert {-1, 0} <= set(maps[0].data)


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("world:=urbn", "world urbn: unknown; did you mean urban?"),
        ("world:={folder}/bad.yaml", "bad.yaml"),
        ("frames.map:=/map", "frames.map: must not begin with '/'"),
    ],
)
def test_bad_world_or_parameter_is_rejected_in_one_line(graph: Any, tmp_path: Path, argument: str, reason: str) -> None:
    (tmp_path / "bad.yaml").write_text("version: 1\ndescription: none\nbuild: {ramp: {slope_deg: steep}}\n")

    process = graph.start("terrain", "--ros-args", "-p", argument.format(folder=tmp_path))

    assert process.wait() == 2
    assert reason in process.output
    assert process.output.count("\n") == 1


def test_launch_of_a_vehicle_in_a_world_starts_both_nodes(graph: Any) -> None:
    command = [sys.executable, "-m", "proving_ground", "launch", "vehicle", "world:=kerb", "fidelity:=single_track"]
    launch = graph.start_command(command)
    maps = graph.collect(OccupancyGrid, "/map", qos.LATCHED)

    odometry = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: maps and odometry, "the map, and the vehicle on it")
    assert "world kerb: starts at" in launch.output
    launch.popen.send_signal(signal.SIGINT)

    assert launch.wait() == 0
