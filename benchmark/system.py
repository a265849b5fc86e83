"""How fast whole scenarios run: in lock-step, and with all nodes over DDS, paced and as fast as possible.

Lock-step factors are simulated time over CPU time of one process; factors over ROS are over the machine's time, from
the instant that all nodes were ready. [Cameron] reports about 0.5 for its own system.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from benchmark.launches import launch
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Driver, Scenario, load_scenario, scenario_file
from proving_ground.settings.nested import load_preset
from proving_ground.settings.text_table import text_table
from sensors.lidar.settings import LidarSettings
from sensors.rig import SensorChoice
from vehicle_dynamics.control.helm import PERIOD_S

PACED_S, UNPACED_S = 120.0, 60.0
WARM_S, LOCK_STEP_S = 2.0, 30.0
GOALS = {
    "ros_rtf": 0.98,
    "ros_sync_rtf": 2.0,
    "sync_overhead_ms": 2.0,
    "lockstep_lidar_rtf": 2.5,
    "lockstep_loop_rtf": 10.0,
    "lockstep_rtf": 30.0,
}
WORDS = {
    "ros_rtf": "all nodes over DDS, LIDAR 32 x 2170, recording, no cockpit; paced at 1",
    "ros_sync_rtf": "the same, as fast as everybody keeps up",
    "sync_overhead_ms": "the vehicle's wait for all others, per control period of 10 ms [ms]",
    "ros_unpaced_rtf": "the same, running free: late messages are lost",
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
    say(WORDS["ros_rtf"])
    figures["ros_rtf"] = ros_timing(1.0, PACED_S)["real_time_factor"]
    say(WORDS["ros_sync_rtf"])
    timing = ros_timing(0.0, PACED_S)
    figures["ros_sync_rtf"] = timing["real_time_factor"]
    figures["sync_overhead_ms"] = 1e3 * timing["waited_s"] / (timing["simulated_s"] / PERIOD_S)
    say(WORDS["ros_unpaced_rtf"])
    figures["ros_unpaced_rtf"] = ros_timing(0.0, UNPACED_S, sync=False)["real_time_factor"]
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


def ros_timing(rate: float, seconds: float, *, sync: bool = True) -> dict[str, float]:
    """`proving-ground launch urban` for some simulated seconds, recorded, without a browser."""
    words = (f"rate:={rate}", f"duration:={seconds}", "record:=all", f"sync:={str(sync).lower()}")
    return launch("urban", *words, seconds=seconds).timing


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
