"""A kind of sensor from another package: two files and one line of its metadata suffice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rosbags.highlevel import AnyReader

COMPASS = '''"""A compass: the heading of the vehicle, with noise."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from proving_ground.interfaces.topic import Topic
from proving_ground.settings import setting
from sensors.kinds import SensorKind
from sensors.publication import Publication
from sensors.sensor import Sensor, SensorSettings
from sensors.streams import stream


@dataclass(frozen=True, kw_only=True)
class CompassSettings(SensorSettings):
    """Settings of the compass."""

    presets: ClassVar[str] = str(Path(__file__).parent / "presets")
    channels: ClassVar[tuple[str, ...]] = ("heading",)
    noise_deg: float = setting(1.0, "Standard deviation of the heading", unit="deg", minimum=0.0, maximum=90.0)


class Heading(NamedTuple):
    time_ns: int
    heading: float  # [rad]


class Compass(Sensor):
    def update(self, time_ns, motion):
        if self.is_due(time_ns):
            x, y, z, w = motion.attitude
            noise = stream(self.seed, self.name, f"noise {time_ns}").normal() * math.radians(self.settings.noise_deg)
            self.send(time_ns, Heading(time_ns, math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z)) + noise))
        return self.arrived(time_ns)


def fills(sample, settings):
    def fill(message):
        message.data = sample.heading

    yield fill


HEADING = Topic(
    name="compass/heading", type="std_msgs/msg/Float64", publishers=("compass",), rate="100 Hz", sensor="compass",
    pattern="{sensor}/heading", text="heading of the vehicle [rad]",
)
KIND = SensorKind(
    name="compass",
    settings=CompassSettings,
    make=lambda settings, seen, **common: Compass(settings, **common),
    frame="compass_link",
    usual_preset="plain",
    publishes=(Publication(HEADING, fills),),
)
'''
PRESET = "/**/compass:\n  ros__parameters:\n    noise_deg: 0.5\n"
LINE = "compass = compass:KIND\n"
SCENARIO = """version: 1
description: by the compass
world: {flat: {}}
driver: {straight: {speed_mps: 3.0}}
duration_s: 1.0
sensors: [{compass: {preset: plain}}, {name: spare, compass: {rate_hz: 10.0}}]
"""


@pytest.fixture
def package(tmp_path: Path) -> dict[str, str]:
    """The environment in which the package is installed."""
    (tmp_path / "compass/presets").mkdir(parents=True)
    (tmp_path / "compass/__init__.py").write_text(COMPASS)
    (tmp_path / "compass/presets/plain.yaml").write_text(PRESET)
    info = tmp_path / "compass-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: compass\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[proving_ground.sensors]\n{LINE}")
    (tmp_path / "own.yaml").write_text(SCENARIO)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}


def _said(package: dict[str, str], folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", *words]
    result = subprocess.run(command, cwd=folder, env=package, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_a_sensor_of_another_package_is_in_commands_bags_nodes_and_pages(
    package: dict[str, str], tmp_path: Path
) -> None:
    assert "compass: plain" in _said(package, tmp_path, "proving_ground", "sensors")
    assert "compass:=plain" in _said(package, tmp_path, "proving_ground", "launch")
    assert "compass" in _said(package, tmp_path, "proving_ground", "node").split()
    assert "spare: " in _said(package, tmp_path, "proving_ground", "sensors", "show", "./own.yaml")
    page = "from proving_ground.interfaces.page import table_of; print(table_of('published'))"
    result = subprocess.run([sys.executable, "-c", page], env=package, capture_output=True, text=True, timeout=60)
    assert "| `compass/heading` | std_msgs/Float64 | compass |" in result.stdout

    _said(package, tmp_path, "proving_ground", "run", "./own.yaml", "--bag", "bag", "--no-pictures")

    with AnyReader([tmp_path / "bag"]) as reader:
        counts = {item.topic: item.msgcount for item in reader.connections}
    assert counts["/compass/heading"] == pytest.approx(100, abs=2)
    assert counts["/spare/heading"] == pytest.approx(10, abs=2)


@pytest.mark.ros
def test_its_node_publishes_over_ros(package: dict[str, str], tmp_path: Path) -> None:
    from proving_ground.ros_support.domain import private_domain

    with private_domain() as domain:
        said = _said({**package, **domain}, tmp_path, "proving_ground", "launch", "./own.yaml")

    assert "own: PASSED" in said or "own: NOT JUDGED" in said
    with AnyReader([next((tmp_path / "runs/own_ros").glob("bag*"))]) as reader:
        counts = {item.topic: item.msgcount for item in reader.connections}
    assert counts["/compass/heading"] > 50
    assert counts["/spare/heading"] > 5
