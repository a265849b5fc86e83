"""Speed of whole scenarios: in lock-step, and with all nodes over DDS, paced and as fast as possible.

Lock-step factors are simulated time over CPU time of one process; factors over ROS are over the machine's time, from
the instant that all nodes were ready. [Cameron] reports about 0.5 for its own system.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from benchmark.launches import Launched, launch
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import Driver, Scenario, load_scenario, scenario_file
from proving_ground.settings.nested import load_preset
from proving_ground.settings.text_table import text_table
from sensors.lidar.settings import LidarSettings
from sensors.rig import SensorChoice
from vehicle_dynamics.control.helm import PERIOD_S

PACED_S, UNPACED_S = 120.0, 60.0
WARM_S, LOCK_STEP_S = 2.0, 30.0
CPU = "cpu_ms_"  # before a node's name
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
    "sync_wait_ms": "the vehicle's wait for all others, who compute meanwhile, per control period of 10 ms [ms]",
    "sync_overhead_ms": "what a period takes longer than in lock-step, whose parts do not wait for each other [ms]",
    "ros_unpaced_rtf": "the same, running free: late messages are lost",
    "lockstep_urban_rtf": "lock-step: the same scenario, LIDAR 32 x 2170",
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
        "lockstep_urban_rtf": replace(town, criteria=()),
        "lockstep_lidar_rtf": _with_large_lidar(town),
    }.items():
        say(WORDS[name])
        figures[name] = lock_step_factor(scenario)
    say(WORDS["ros_rtf"])
    figures["ros_rtf"] = over_ros(1.0, PACED_S).timing["real_time_factor"]
    say(WORDS["ros_sync_rtf"])
    figures |= synchronous_figures(over_ros(0.0, PACED_S), figures["lockstep_urban_rtf"])
    say(WORDS["ros_unpaced_rtf"])
    figures["ros_unpaced_rtf"] = over_ros(0.0, UNPACED_S, sync=False).timing["real_time_factor"]
    return figures


def synchronous_figures(launched: Launched, lock_step_factor: float) -> dict[str, float]:
    """Speed of an unpaced synchronous run, cost of its waiting, and CPU time of each node per period [ms].

    lock_step_factor: of the same scenario. Its time per period is the computing alone; with two cores or more a run
    over ROS can be faster than that, and its overhead negative.
    """
    timing, period_ms = launched.timing, 1e3 * PERIOD_S
    periods = timing["simulated_s"] / PERIOD_S
    factor = timing["real_time_factor"]
    return {
        "ros_sync_rtf": factor,
        "sync_wait_ms": 1e3 * timing["waited_s"] / periods,
        "sync_overhead_ms": period_ms / factor - period_ms / lock_step_factor,
        **{f"{CPU}{name}": 1e3 * seconds / periods for name, seconds in launched.cpu_s.items()},
    }


def show(figures: Mapping[str, float]) -> str:
    """The figures as a table."""
    rows = [
        [words, f"{figures[name]:.3f}", f"{GOALS[name]:g}" if name in GOALS else "-"] for name, words in WORDS.items()
    ]
    nodes = [[name.removeprefix(CPU), f"{figures[name]:.3f}"] for name in figures if name.startswith(CPU)]
    return (
        text_table(["times real time", "measured", "goal"], rows)
        + "\n\nCPU of each node of the unpaced synchronous run, per control period of 10 ms\n\n"
        + text_table(["node", "ms"], nodes)
    )


def lock_step_factor(scenario: Scenario, seconds: float = LOCK_STEP_S) -> float:
    """Simulated over CPU time, with kernels compiled."""
    LockStep(replace(scenario, duration_s=WARM_S)).run()
    runner = LockStep(replace(scenario, duration_s=seconds))
    begin = time.process_time()
    result = runner.run()
    return float(result.time[-1]) / (time.process_time() - begin)


def over_ros(rate: float, seconds: float, *, sync: bool = True) -> Launched:
    """`proving-ground launch urban` for some simulated seconds, recorded, without a browser."""
    words = (f"rate:={rate}", f"duration:={seconds}", "record:=all", f"sync:={str(sync).lower()}")
    return launch("urban", *words, seconds=seconds)


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
