"""Which nodes a launch starts, with which parameters: one description for `ros2 launch` and `proving-ground launch`."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner.settings import PLANNERS
from proving_ground.cockpit.settings import cockpit_settings
from proving_ground.launching.node_spec import NodeSpec, Value
from proving_ground.launching.run_nodes import NO_SENSOR, nodes_of, scenario_from
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import Scenario, scenario_files
from proving_ground.settings import SettingsError, changed_parameters
from proving_ground.settings.fields import close_name
from proving_ground.settings.named_files import is_path
from proving_ground.settings.nested import preset_names
from proving_ground.settings.share import share_directory, share_file
from proving_ground.settings.units import LARGEST_SEED
from sensors.kinds import SENSOR_KINDS
from state_observer.kinds import OBSERVER_KINDS
from vehicle_dynamics.choices import FIDELITIES, TF_SOURCES
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE

BOOLEAN = ("true", "false")
FASTEST = 100.0  # real-time factor


@dataclass(frozen=True)
class LaunchArgument:
    """One `name:=value` argument of a launch."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()  # none: any text


@dataclass(frozen=True)
class BringUp:
    """A named launch: its arguments and the nodes for their values."""

    name: str
    description: str
    arguments: tuple[LaunchArgument, ...]
    make_nodes: Callable[[Mapping[str, str]], list[NodeSpec]]

    def nodes(self, given: Mapping[str, str]) -> list[NodeSpec]:
        """The nodes for these argument values; raises SettingsError for an unknown name or a value not allowed."""
        known = {argument.name: argument for argument in self.arguments}
        for name, value in given.items():
            if name not in known:
                raise SettingsError(f"{name}: {close_name(name, known)}")
            choices = known[name].choices
            if choices and value not in choices:
                raise SettingsError(f"{name}: must be one of {', '.join(choices)}, got {value!r}")
        return self.make_nodes({**{argument.name: argument.default for argument in self.arguments}, **given})


def pad_names() -> tuple[str, ...]:
    """The game pads that config/pads has a mapping for."""
    return tuple(sorted(path.stem for path in (share_directory() / "config" / "pads").glob("*.yaml")))


def _teleop_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    config = share_file("config/teleop.yaml")
    use_sim_time = values["use_sim_time"] == "true"
    return [
        NodeSpec("joystick", (config,), {"use_sim_time": use_sim_time}),
        NodeSpec(
            "teleop",
            (config, share_file(f"config/pads/{values['pad']}.yaml")),
            {"use_sim_time": use_sim_time, "stamped": values["stamped"] == "true", "vehicle": values["vehicle"]},
        ),
    ]


def number(name: str, text: str, least: float = -math.inf, most: float = math.inf) -> float:
    """The number in the text of the argument `name`; raises SettingsError if it is not from least to most."""
    try:
        value = float(text)
    except ValueError:
        raise SettingsError(f"{name}: must be a number, got {text!r}") from None
    if not (math.isfinite(value) and least <= value <= most):
        raise SettingsError(f"{name}: must be a number from {least:g} to {most:g}, got {text!r}")
    return value


def seed_of(text: str) -> int:
    """The seed in an argument's text; raises SettingsError if it is not a valid seed."""
    try:
        seed = int(text)
    except ValueError:
        raise SettingsError(f"seed: must be a whole number, got {text!r}") from None
    if not 0 <= seed <= LARGEST_SEED:
        raise SettingsError(f"seed: must be a whole number from 0 to {LARGEST_SEED}, got {text!r}")
    return seed


def planner_of(name: str) -> str:
    """The name of a planner, checked; raises SettingsError for an unknown name or module.

    A user's module is looked up, but not imported: that may take long, and its node does so anyway.
    """
    module, colon, _ = name.partition(":")
    if not colon and name not in PLANNERS:
        raise SettingsError(f"planner: {close_name(name, PLANNERS)}; or your own as module:Class, got {name!r}")
    try:
        is_there = not colon or importlib.util.find_spec(module) is not None
    except Exception as error:  # whatever a user's package does when it is imported
        raise SettingsError(f"planner: {name} cannot be loaded: {type(error).__name__}: {error}") from None
    if not is_there:
        raise SettingsError(f"planner: {name} cannot be loaded: there is no module {module}")
    return name


def cockpit_nodes(asked: str, vehicle: VehicleNodeSettings) -> list[NodeSpec]:
    """Node of the 3D page, if the argument `cockpit` asks for it; vehicle: whose run it shows."""
    if asked == "false":
        return []
    settings = cockpit_settings(vehicle, opens=asked == "open")
    return [NodeSpec("cockpit", (), changed_parameters(settings), respawn=True)]


def rviz_nodes(asked: str) -> list[NodeSpec]:
    """RViz with our view, if requested."""
    if asked != "true":
        return []
    view = share_file("config/rviz/vehicle.rviz")
    return [NodeSpec("rviz2", package="rviz2", arguments=("-d", str(view)), params={"use_sim_time": True})]


def _run_nodes(scenario: Scenario, values: Mapping[str, str], **vehicle: Any) -> list[NodeSpec]:
    """Nodes of a run without a referee; vehicle: settings of the vehicle in place of the compiled ones."""
    run = compiled(scenario)
    factor = number("real_time_factor", values["real_time_factor"], 0.0, FASTEST)
    settings = replace(run["vehicle"].settings, real_time_factor=factor, **vehicle)
    nodes = nodes_of(run | {"vehicle": run["vehicle"]._replace(settings=settings)})
    return [*nodes, *cockpit_nodes(values["cockpit"], settings)]


def _vehicle_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    return _run_nodes(scenario_from(values), values, tf_source=values["tf_source"])


def _terrain_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    params: dict[str, Value] = {"use_sim_time": values["use_sim_time"] == "true", "world": values["world"]}
    return [NodeSpec("terrain", (share_file("config/terrain.yaml"),), params, respawn=True)]


def _presets(values: Mapping[str, str]) -> dict[str, str]:
    return {kind: values[kind] for kind in SENSOR_KINDS}


def _sensor_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    scenario = scenario_from(values, sensors=_presets(values), seed=seed_of(values["seed"]))
    return _run_nodes(scenario, values, tf_source=values["tf_source"])


def _observer_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    """Nodes of the sensors, and of the observer, which then publishes base_link."""
    observer = {"kind": values["observer"], "knows_start": False}
    scenario = scenario_from(values, sensors=_presets(values), seed=seed_of(values["seed"]), observer=observer)
    return _run_nodes(scenario, values)


def _navigate_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    if not values["world"]:
        raise SettingsError("world: must be a name in config/worlds, or a path: a planner needs one")
    has_observer, has_lidar = values["pose_source"] == "observer", values["sensing"] == "lidar"
    wanted = {kind: has_lidar if kind == "lidar" else has_observer for kind in SENSOR_KINDS}
    more: dict[str, Any] = {"seed": seed_of(values["seed"])}
    if has_observer:  # give it the start: else it would wait for motion
        more["observer"] = {"kind": values["observer"], "knows_start": True}
    to_goal = {
        "sensing": values["sensing"],
        "pose": values["pose_source"],
        "planner": {"planner": planner_of(values["planner"])},
    }
    presets = {kind: preset for kind, preset in _presets(values).items() if wanted[kind]}
    scenario = scenario_from(values, sensors=presets, driver={"to_goal": to_goal}, **more)
    nodes = _run_nodes(scenario, values, **({} if has_observer else {"tf_source": values["tf_source"]}))
    if values["to_world_goal"] == "true":
        return nodes
    return [
        replace(spec, params={key: value for key, value in spec.params.items() if not key.startswith("goal.")})
        for spec in nodes
    ]


def _drive_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    return _vehicle_nodes(values) + _teleop_nodes({**values, "use_sim_time": "true"})


_STAMPED = LaunchArgument("stamped", "true", "/cmd_vel as TwistStamped, else as Twist", BOOLEAN)
COCKPIT = LaunchArgument("cockpit", "false", "Live 3D page; open: in the browser at once", (*BOOLEAN, "open"))
_VEHICLE = (
    LaunchArgument("vehicle", DEFAULT_VEHICLE, "Name in config/vehicles, or a path to a YAML file"),
    LaunchArgument("fidelity", "multibody", "Bodies and tyres, or a kinematic single track", FIDELITIES),
    LaunchArgument("real_time_factor", "1.0", "Simulated time over real time; 0 is as fast as possible"),
    LaunchArgument("world", "", "Name in config/worlds, or a path to a YAML file; none: flat ground"),
    LaunchArgument("tf_source", "truth", "Publisher of base_link: the vehicle, or an observer", TF_SOURCES),
    COCKPIT,
)


def _sensor_arguments() -> tuple[LaunchArgument, ...]:
    return (
        *(
            LaunchArgument(
                kind.name,
                kind.usual_preset,
                f"Preset of the {kind.name}, a file of {kind.settings.presets}",
                (*preset_names(kind.settings.presets), NO_SENSOR),
            )
            for kind in SENSOR_KINDS.values()
        ),
        LaunchArgument("seed", "0", "Seed of all random numbers"),
    )


def _observer_arguments() -> tuple[LaunchArgument, ...]:
    words = "; ".join(f"{kind.name}: {kind.description}" for kind in OBSERVER_KINDS.values())
    kind = LaunchArgument("observer", "vehicle", f"Kind of observer: {words}", tuple(OBSERVER_KINDS))
    return (*(argument for argument in _VEHICLE if argument.name != "tf_source"), *_sensor_arguments(), kind)


def _navigate_arguments() -> tuple[LaunchArgument, ...]:
    usual = {"world": "urban", "lidar": "spinning_32", "encoders": "quadrature"}  # a planner backs up
    return (
        *(replace(argument, default=usual.get(argument.name, argument.default)) for argument in _observer_arguments()),
        LaunchArgument("tf_source", "truth", "Publisher of base_link, unless the pose is the observer's", TF_SOURCES),
        LaunchArgument("planner", "dstar_lite", "arcs, dstar_lite, or your own as module:Class"),
        LaunchArgument("sensing", "terrain", "Obstacles by the world's truth, or by LIDAR", ("terrain", "lidar")),
        LaunchArgument("pose_source", "truth", "Pose by the truth, or by the observer", ("truth", "observer")),
        LaunchArgument("to_world_goal", "true", "Drive to the world's own goal at once", BOOLEAN),
    )


def bring_ups() -> dict[str, BringUp]:
    """All launches of the suite by name."""
    pad = LaunchArgument("pad", "xbox", "Mapping of axes and buttons, a file of config/pads", pad_names())
    sim_time = LaunchArgument("use_sim_time", "false", "Stamp with /clock instead of the machine's time", BOOLEAN)
    world = LaunchArgument("world", "urban", "Name in config/worlds, or a path to a YAML file")
    items = (
        BringUp(
            "teleop", "Drive with a game pad: /joy to /cmd_vel", (pad, sim_time, _STAMPED, _VEHICLE[0]), _teleop_nodes
        ),
        BringUp("terrain", "A world alone: /map and /terrain/markers", (world, sim_time), _terrain_nodes),
        BringUp("vehicle", "The vehicle alone: /cmd_vel to /ground_truth/odom", _VEHICLE, _vehicle_nodes),
        BringUp("sensors", "The vehicle with all its sensors", (*_VEHICLE, *_sensor_arguments()), _sensor_nodes),
        BringUp("observer", "The vehicle, its sensors and its observer", _observer_arguments(), _observer_nodes),
        BringUp("navigate", "The vehicle drives to /goal_pose by itself", _navigate_arguments(), _navigate_nodes),
        BringUp("drive", "The vehicle, driven with a game pad", (*_VEHICLE, pad, _STAMPED), _drive_nodes),
    )
    return {item.name: item for item in items}


def bring_up(name: str) -> BringUp:
    """One launch, or the one of a scenario by name or file; raises SettingsError with the nearest name."""
    known = bring_ups()
    if name in known:
        return known[name]
    from proving_ground.launching.scenario_launch import scenario_launch  # it imports this module

    scenarios = scenario_files()
    if name in scenarios or is_path(name):
        return scenario_launch(name)
    raise SettingsError(f"launch {name}: {close_name(name, [*known, *scenarios])}")
