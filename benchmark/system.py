"""How fast whole scenarios run: in lock-step, and with all nodes over DDS, paced and as fast as possible.

Lock-step factors are simulated time over CPU time of one process; factors over ROS are over the machine's time, from
the instant that all nodes were ready. [Cameron] reports about 0.5 for its own system.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from proving_ground.ros_support.domain import private_domain
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.refereeing import TIMING
from proving_ground.scenarios.scenario import Driver, Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError
from proving_ground.settings.nested import load_preset
from proving_ground.settings.text_table import text_table
from sensors.lidar.settings import LidarSettings
from sensors.rig import SensorChoice

PACED_S, UNPACED_S = 120.0, 60.0
WARM_S, LOCK_STEP_S = 2.0, 30.0
GOALS = {
    "ros_rtf": 0.98,
    "lockstep_lidar_rtf": 2.5,
    "lockstep_loop_rtf": 10.0,
    "lockstep_rtf": 30.0,
}
WORDS = {
    "ros_rtf": "all nodes over DDS, LIDAR 32 x 2170, recording, no cockpit; paced at 1",
    "ros_unpaced_rtf": "the same, as fast as it goes",
    "lockstep_lidar_rtf": "lock-step: LIDAR 64 x 1024 at 10 Hz, observer, planner",
    "lockstep_loop_rtf": "lock-step: observer and planner on terrain truth",
    "lockstep_rtf": "lock-step: vehicle, sensors but LIDAR, scripted driver",
}


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Factors by name; 1 is real time."""
    figures = {}
    town = load_scenario(scenario_file("urban"))
    for name, scenario in {
        "lockstep_rtf": _scripted(town),
        "lockstep_loop_rtf": _on_truth(town),
        "lockstep_lidar_rtf": _with_large_lidar(town),
    }.items():
        say(WORDS[name])
        figures[name] = lock_step_factor(scenario)
    for name, rate, seconds in (("ros_rtf", 1.0, PACED_S), ("ros_unpaced_rtf", 0.0, UNPACED_S)):
        say(WORDS[name])
        figures[name] = ros_factor(rate, seconds)
    return figures


def show(figures: Mapping[str, float]) -> str:
    """The figures as a table."""
    rows = [
        [words, f"{figures[name]:.3f}", f"{GOALS[name]:g}" if name in GOALS else "-"] for name, words in WORDS.items()
    ]
    return text_table(["times real time", "measured", "goal"], rows)


def lock_step_factor(scenario: Scenario, seconds: float = LOCK_STEP_S) -> float:
    """Simulated over CPU time, with kernels compiled."""
    LockStep(replace(scenario, duration_s=WARM_S)).run()
    runner = LockStep(replace(scenario, duration_s=seconds))
    begin = time.process_time()
    result = runner.run()
    return float(result.time[-1]) / (time.process_time() - begin)


def ros_factor(rate: float, seconds: float) -> float:
    """`proving-ground launch urban` for some simulated seconds, recorded, without a browser."""
    with tempfile.TemporaryDirectory() as folder, private_domain() as domain:
        environment = {**os.environ, **domain}
        environment.pop("FASTDDS_BUILTIN_TRANSPORTS", None)  # the users' default, with shared memory
        words = (f"rate:={rate}", f"duration:={seconds}", f"out:={folder}/run", "record:=all")
        command = [sys.executable, "-m", "proving_ground", "launch", "urban", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20.0 * seconds + 600.0)
        try:
            return float(json.loads((Path(folder) / "run" / TIMING).read_text())["real_time_factor"])
        except (OSError, ValueError, KeyError):
            lines = (done.stdout + done.stderr).strip().splitlines()
            raise SettingsError(f"bench system: the run did not complete: {lines[-1] if lines else '?'}") from None


def _scripted(town: Scenario) -> Scenario:
    """A drive with IMU, GPS and encoders on the flat."""
    drive = load_scenario(scenario_file("lane_change"))
    sensors = tuple(item for item in town.sensors if item.lidar is None)
    return replace(drive, sensors=sensors, criteria=(), reference="")


def _on_truth(town: Scenario) -> Scenario:
    assert town.driver.to_goal is not None
    to_goal = replace(town.driver.to_goal, sensing="terrain", pose="observer")
    sensors = tuple(item for item in town.sensors if item.lidar is None)
    return replace(town, driver=Driver(to_goal=to_goal), sensors=sensors, criteria=())


def _with_large_lidar(town: Scenario) -> Scenario:
    large = load_preset(LidarSettings, "spinning_64")
    sensors = tuple(
        SensorChoice(name=item.name, lidar=replace(large, mount=item.lidar.mount)) if item.lidar is not None else item
        for item in town.sensors
    )
    return replace(town, sensors=sensors, criteria=())
