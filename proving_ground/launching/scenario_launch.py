"""A scenario over ROS: its nodes, each a process of its own, from the same file that the lock-step runner reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from proving_ground.launching.bring_up import (
    BOOLEAN,
    COCKPIT,
    FASTEST,
    BringUp,
    LaunchArgument,
    NodeSpec,
    Value,
    cockpit_nodes,
    number,
    planner_of,
    rviz_nodes,
    seed_of,
)
from proving_ground.recording.parts import BAG
from proving_ground.scenarios.observing import sensor_params
from proving_ground.scenarios.scenario import (
    LONGEST_S,
    Flat,
    NamedWorld,
    Scenario,
    SoilField,
    load_scenario,
    scenario_file,
    scenario_files,
)
from proving_ground.settings import SettingsError
from proving_ground.settings.one_of import one_of
from proving_ground.settings.share import share_file
from sensors.rig import SensorChoice
from vehicle_dynamics.choices import TF_SOURCES

OBSERVERS = ("scenario", "vehicle", "ins", "none")
OVER_ROS = "_ros"  # behind the scenario's name, of folders in runs/
RECORD = (*BOOLEAN, "all")
TRUTH_HZ = 100.0  # odom_rate_hz of config/vehicle.yaml
CLOUDS = ".*/points"  # 10 MB a second
_ARGUMENTS = (
    LaunchArgument("seed", "", "Of all random numbers; none: the scenario's"),
    LaunchArgument("planner", "", "arcs, dstar_lite, or your own as module:Class; none: the scenario's"),
    LaunchArgument("observer", "scenario", "Which observer", OBSERVERS),
    LaunchArgument("rate", "1.0", "Simulated time over real time; 0 is as fast as it can"),
    LaunchArgument("record", "true", "Write a bag into the run's folder, and judge by it; all: clouds too", RECORD),
    COCKPIT,
    LaunchArgument("rviz", "false", "Start RViz too, where it is installed", BOOLEAN),
    LaunchArgument("out", "", "Folder of the run; none: runs/NAME_ros"),
    LaunchArgument("duration", "", "Simulated seconds; none: the scenario's"),
)


def scenario_launches() -> dict[str, BringUp]:
    """A launch for each scenario in config/scenarios that can be run over ROS, by name."""
    return {name: scenario_launch(name) for name in scenario_files()}


def scenario_launch(name: str) -> BringUp:
    """The launch of a scenario, by its name or by a path to its file."""
    path = scenario_file(name)
    scenario = load_scenario(path)

    def nodes(values: Mapping[str, str]) -> list[NodeSpec]:
        return scenario_nodes(path, scenario, values)

    return BringUp(path.stem, scenario.description, _ARGUMENTS, nodes)


def run_folder(path: Path, values: Mapping[str, str]) -> Path:
    """Where a run leaves its bag and report."""
    return Path(values.get("out") or Path("runs") / f"{path.stem}{OVER_ROS}")


def scenario_nodes(path: Path, scenario: Scenario, values: Mapping[str, str]) -> list[NodeSpec]:
    """The vehicle waits paused until the referee has seen all others ready."""
    given = {argument.name: argument.default for argument in _ARGUMENTS} | dict(values)
    seed = seed_of(given["seed"]) if given["seed"] else scenario.seed
    folder = path.resolve().parent
    world = _world(scenario, folder)
    observer = _observer_kind(scenario, given["observer"])
    nodes = [_vehicle(scenario, folder, world, observer, number("rate", given["rate"], 0.0, FASTEST))]
    if world:
        nodes.append(NodeSpec("terrain", (share_file("config/terrain.yaml"),), {"use_sim_time": True, "world": world}))
    nodes += [_sensor(path, scenario, choice, seed, world) for choice in scenario.sensors]
    if observer:
        nodes.append(_observer(scenario, folder, world, observer))
    nodes.append(_driver(path, scenario, world, observer, given["planner"]))
    if given["record"] != "false":
        recorder: dict[str, Value] = {"out": str(run_folder(path, given) / BAG), "log_time": "clock", "next_free": True}
        if given["record"] == "true":
            recorder["exclude"] = CLOUDS
        nodes.append(NodeSpec("recorder", (), recorder))
    nodes += cockpit_nodes({"cockpit": given["cockpit"], "world": world, "vehicle": _model(scenario, folder)})
    nodes += rviz_nodes(given["rviz"])
    referee: dict[str, Value] = {
        "scenario": str(path.resolve()),
        "wait_for": tuple(spec.name for spec in nodes if spec.is_ours),
    }
    if given["record"] != "false":
        referee["out"] = str(run_folder(path, given))
    if given["duration"]:
        referee["duration_s"] = number("duration", given["duration"], 0.01, LONGEST_S)
    return [*nodes, NodeSpec("referee", (), referee)]


def _world(scenario: Scenario, folder: Path) -> str:
    """The world as nodes name it; empty: flat ground."""
    kind = one_of(scenario.world)[1]
    if isinstance(kind, SoilField):
        raise SettingsError("world: a plane of soil is for the lock-step runner only; name a world of config/worlds")
    if not isinstance(kind, NamedWorld):
        return ""
    is_path = "/" in kind.name or kind.name.endswith((".yaml", ".yml"))
    return str(folder / kind.name) if is_path else kind.name


def _model(scenario: Scenario, folder: Path) -> str:
    """The vehicle as nodes name it."""
    model = scenario.vehicle.model
    return str(folder / model) if "/" in model or model.endswith((".yaml", ".yml")) else model


def _vehicle(scenario: Scenario, folder: Path, world: str, observer: str, factor: float) -> NodeSpec:
    start, choice = scenario.start, scenario.vehicle
    params: dict[str, Value] = {
        "vehicle": _model(scenario, folder),
        "fidelity": choice.fidelity,
        "powertrain": choice.powertrain,
        "integrator": choice.integrator,
        "step_s": choice.step_s,
        "real_time_factor": factor,
        "tf_source": TF_SOURCES[1] if observer else TF_SOURCES[0],
        "start_paused": True,
        "start_x_m": start.x_m,
        "start_y_m": start.y_m,
        "start_heading_deg": start.heading_deg,
        "start_speed_mps": start.speed_mps,
        "start_gear": start.gear,
        "start_at_world": False,
        "start_date": start.date,
        **_ground(scenario, world),
    }
    return NodeSpec("vehicle", (share_file("config/vehicle.yaml"),), params)


def _ground(scenario: Scenario, world: str) -> dict[str, Value]:
    """What wheels meet and LIDAR sees, as parameters of nodes."""
    kind = one_of(scenario.world)[1]
    return {"world": world} if world else _changed(kind) if isinstance(kind, Flat) else {}


def _sensor(path: Path, scenario: Scenario, choice: SensorChoice, seed: int, world: str) -> NodeSpec:
    kind, settings = one_of(choice, "name")
    faults = tuple(
        f"{fault.kind} {fault.start_s!r} {fault.length_s!r} {fault.value!r} {fault.channel}".strip()
        for fault in scenario.faults
        if fault.sensor == choice.called
    )
    if settings.rate_hz > TRUTH_HZ:
        raise SettingsError(
            f"sensors: {kind}: rate_hz: over ROS at most {TRUTH_HZ:g}, as often as the vehicle tells its motion, "
            f"got {settings.rate_hz:g}; lock-step (`proving-ground run`) has no such limit"
        )
    params: dict[str, Value] = {"seed": seed, "start_date": scenario.start.date, **_changed(settings)}
    if faults:
        params["fault_script"] = faults
    if kind in ("gps", "lidar"):
        params |= _ground(scenario, world)
        if scenario.targets:
            params["targets"] = str(path.resolve())
    if choice.name and choice.name != kind:
        raise SettingsError(f"sensors: {choice.name}: over ROS each kind of sensor has one node, called {kind}")
    return NodeSpec(kind, (), params)


def _observer_kind(scenario: Scenario, asked: str) -> str:
    if asked == "none" or (asked == "scenario" and scenario.observer is None):
        return ""
    if asked == "scenario" and scenario.observer is not None:
        return scenario.observer.kind
    return asked


def _observer(scenario: Scenario, folder: Path, world: str, kind: str) -> NodeSpec:
    params: dict[str, Value] = {"kind": kind, **_ground(scenario, world), **sensor_params(scenario.sensors)}
    choice, start = scenario.observer, scenario.start
    if choice is not None and choice.knows_start:
        params |= {
            "knows_start": True,
            "start_at_world": False,
            "start_x_m": start.x_m,
            "start_y_m": start.y_m,
            "start_heading_deg": start.heading_deg,
            "start_speed_mps": start.speed_mps,
            "start_date": start.date,
        }
    if choice is not None and choice.settings and choice.kind == kind:
        params["observer_file"] = str(folder / choice.settings)
    return NodeSpec("observer", (), params)


def _driver(path: Path, scenario: Scenario, world: str, observer: str, planner: str) -> NodeSpec:
    choice = scenario.driver.to_goal
    if choice is None:
        if planner:
            raise SettingsError(f"planner: {path.stem} has a scripted driver; there is none to choose")
        return NodeSpec("script", (), {"scenario": str(path.resolve())})
    if choice.pose == "observer" and not observer:
        raise SettingsError("observer: the scenario's driver believes the observer; it needs one")
    params: dict[str, Value] = {
        **_changed(choice.planner),
        "world": world,
        "vehicle": _model(scenario, path.resolve().parent),
        "sensing": choice.sensing,
        "pose_source": choice.pose,
        "to_world_goal": False,  # the referee tells the goal
        "use_sim_time": True,
    }
    if planner:
        params["planner"] = planner
    planner_of(planner or choice.planner.planner)
    lidar = next((item.lidar for item in scenario.sensors if item.lidar is not None), None)
    if choice.sensing == "lidar" and lidar is not None:
        params |= {"lidar_xyz_m": lidar.mount_xyz_m, "lidar_rpy_deg": lidar.mount_rpy_deg}
        params |= {"lidar_sweep_s": 1.0 / lidar.rate_hz, "lidar_deskewed": lidar.deskew}
    return NodeSpec("planner", (share_file("config/planner.yaml"),), params)


def _changed(settings: Any) -> dict[str, Value]:
    """What differs from the defaults of a settings object, as parameters."""
    found: dict[str, Value] = {}
    for item in fields(settings):
        value = getattr(settings, item.name)
        if item.default is not MISSING and value == item.default:
            continue
        if isinstance(value, (bool, int, float, str)):
            if isinstance(value, float) and not math.isfinite(value):
                continue
            found[item.name] = value
        elif isinstance(value, tuple):
            found[item.name] = value
    return found
