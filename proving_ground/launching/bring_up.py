"""Which nodes a launch starts, with which parameters: one description for `ros2 launch` and `proving-ground launch`."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from planner.settings import PLANNERS
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.nested import load_preset, preset_names, preset_values
from proving_ground.settings.share import share_directory, share_file
from vehicle_dynamics.choices import FIDELITIES, TF_SOURCES

PACKAGE = "proving_ground"
# Kinds of sensors, and the presets that are usual.
SENSOR_KINDS = {"imu": "industrial_mems", "gps": "low_cost", "encoders": "seed", "lidar": "spinning_16"}
SENSORS_IN_WORLDS = ("gps", "lidar")
NO_SENSOR = "none"
Value = bool | int | float | str | tuple[Any, ...]  # of a parameter
BOOLEAN = ("true", "false")
FASTEST = 100.0  # real-time factor
# Nodes that find their way back into a running graph. Not the vehicle, whose time and place others go by, nor drivers
# by hand: nobody shall wonder why a vehicle drives again.
REJOINING = (*SENSOR_KINDS, "terrain", "planner", "observer", "cockpit", "recorder", "script", "monitor")
VIEWERS = ("rviz2",)  # who closes its window does not mean to end the drive
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class LaunchArgument:
    """One `name:=value` argument of a launch."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()  # none: any text


@dataclass(frozen=True)
class NodeSpec:
    """One process: an executable of this package, its node name and its parameters (later ones win).

    A node that crashes ends the launch, unless it is one that can rejoin: then it is started again.
    """

    executable: str
    params_files: tuple[Path, ...] = ()
    params: Mapping[str, Value] = field(default_factory=dict)
    package: str = PACKAGE
    arguments: tuple[str, ...] = ()  # of a program of another package

    @property
    def is_ours(self) -> bool:
        """Whether it is a node of the suite, which tells when it is ready."""
        return self.package == PACKAGE

    @property
    def respawn(self) -> bool:
        """Whether it is started again when it crashes."""
        return self.executable in REJOINING

    @property
    def is_optional(self) -> bool:
        """Whether the others go on when it ends."""
        return self.executable in VIEWERS

    @property
    def finishes(self) -> bool:
        """Whether its own good end is that of the launch."""
        return self.executable == "referee"

    @property
    def name(self) -> str:
        """The node's name, which is also the process's name in logs."""
        return self.executable


@dataclass(frozen=True)
class BringUp:
    """A named launch: its arguments and the nodes that their values give."""

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
            {"use_sim_time": use_sim_time, "stamped": values["stamped"] == "true"},
        ),
    ]


def number(name: str, text: str, least: float = -math.inf, most: float = math.inf) -> float:
    """The number that an argument's text is; raises SettingsError for one that is none or out of bounds."""
    try:
        value = float(text)
    except ValueError:
        raise SettingsError(f"{name}: must be a number, got {text!r}") from None
    if not (math.isfinite(value) and least <= value <= most):
        raise SettingsError(f"{name}: must be a number from {least:g} to {most:g}, got {text!r}")
    return value


def seed_of(text: str) -> int:
    """The seed that an argument's text is; raises SettingsError for one that no sensor would take."""
    try:
        seed = int(text)
    except ValueError:
        raise SettingsError(f"seed: must be a whole number, got {text!r}") from None
    if not 0 <= seed <= MOST_SEED:
        raise SettingsError(f"seed: must be a whole number from 0 to {MOST_SEED}, got {text!r}")
    return seed


def planner_of(name: str) -> str:
    """The planner's name; raises SettingsError where there is none of that name, or no such module.

    A module of somebody's own is looked for, and not imported: it may take long, and its node does so anyway.
    """
    module, colon, _ = name.partition(":")
    if not colon and name not in PLANNERS:
        raise SettingsError(f"planner: {close_name(name, PLANNERS)}; or your own as module:Class, got {name!r}")
    try:
        is_there = not colon or importlib.util.find_spec(module) is not None
    except Exception as error:  # whatever a user's package does when it is imported
        raise SettingsError(f"planner: {name} cannot be had: {type(error).__name__}: {error}") from None
    if not is_there:
        raise SettingsError(f"planner: {name} cannot be had: there is no module {module}")
    return name


def cockpit_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    """The 3D page, if `cockpit` asks for it."""
    if values["cockpit"] == "false":
        return []
    params: dict[str, Value] = {key: values[key] for key in ("world", "vehicle") if values[key]}
    if values["cockpit"] == "open":
        params["open_browser"] = True
    return [NodeSpec("cockpit", (share_file("config/cockpit.yaml"),), params)]


def rviz_nodes(asked: str) -> list[NodeSpec]:
    """RViz with our view, if it is asked for."""
    if asked != "true":
        return []
    view = share_file("config/rviz/vehicle.rviz")
    return [NodeSpec("rviz2", package="rviz2", arguments=("-d", str(view)), params={"use_sim_time": True})]


def _vehicle_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    factor = number("real_time_factor", values["real_time_factor"], 0.0, FASTEST)
    params: dict[str, Value] = {
        "vehicle": values["vehicle"],
        "fidelity": values["fidelity"],
        "real_time_factor": factor,
        "tf_source": values["tf_source"],
    }
    cockpit = cockpit_nodes(values)
    if not values["world"]:
        return [NodeSpec("vehicle", (share_file("config/vehicle.yaml"),), params), *cockpit]
    vehicle = NodeSpec("vehicle", (share_file("config/vehicle.yaml"),), {**params, "world": values["world"]})
    return [vehicle, *_terrain_nodes({**values, "use_sim_time": "true"}), *cockpit]


def _terrain_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    use_sim_time = values["use_sim_time"] == "true"
    config = share_file("config/terrain.yaml")
    return [NodeSpec("terrain", (config,), {"use_sim_time": use_sim_time, "world": values["world"]})]


def _sensor_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    seed = seed_of(values["seed"])
    nodes = _vehicle_nodes(values)
    for kind in SENSOR_KINDS:
        if values[kind] == NO_SENSOR:
            continue
        params: dict[str, Value] = {"seed": seed}
        if kind in SENSORS_IN_WORLDS and values["world"]:
            params["world"] = values["world"]
        nodes.append(NodeSpec(kind, (share_file(f"config/sensors/{kind}/{values[kind]}.yaml"),), params))
    return nodes


def _observer_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    """Sensors, and the observer, which then places base_link; with what it must know of the sensors' presets."""
    nodes = _sensor_nodes({**values, "tf_source": "observer"})
    params: dict[str, Value] = {"kind": values["observer"], "world": values["world"]}
    if values["encoders"] != NO_SENSOR:
        preset = preset_values("sensors/encoders", values["encoders"])
        params |= {key: preset[key] for key in ("wheel_pulses", "knows_direction") if key in preset}
    if values["imu"] != NO_SENSOR:
        from sensors.imu import ImuSettings  # slow to import, and other launches need no more than names

        unit = load_preset(ImuSettings, values["imu"])
        gyro, accel = unit.gyro_errors(), unit.accel_errors()
        params |= {"gyro_std_radps": gyro.noise, "force_std_mps2": accel.noise}
        params |= {"gyro_bias_std_radps": gyro.constant_bias, "force_bias_std_mps2": accel.constant_bias}
    return [*nodes, NodeSpec("observer", (), params)]


def _navigate_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    if not values["world"]:
        raise SettingsError("world: must be a name in config/worlds, or a path: a planner needs one")
    given = {**values} if values["sensing"] == "lidar" else {**values, "lidar": NO_SENSOR}
    if values["pose_source"] == "observer":
        *nodes, observer = _observer_nodes(given)
        nodes.append(
            replace(observer, params={**observer.params, "knows_start": True})
        )  # else it would wait for a drive
    else:
        nodes = _sensor_nodes({**given, "imu": NO_SENSOR, "gps": NO_SENSOR, "encoders": NO_SENSOR})
    params: dict[str, Value] = {key: values[key] for key in ("world", "vehicle", "sensing", "pose_source")}
    params["planner"] = planner_of(values["planner"])
    params["to_world_goal"] = values["to_world_goal"] == "true"
    params["use_sim_time"] = True  # the age of its odometry is that by /clock
    return [*nodes, NodeSpec("planner", (share_file("config/planner.yaml"),), params)]


def _drive_nodes(values: Mapping[str, str]) -> list[NodeSpec]:
    return _vehicle_nodes(values) + _teleop_nodes({**values, "use_sim_time": "true"})


_STAMPED = LaunchArgument("stamped", "true", "/cmd_vel as TwistStamped, else as Twist", BOOLEAN)
COCKPIT = LaunchArgument("cockpit", "false", "Live 3D page; open: in the browser at once", (*BOOLEAN, "open"))
_VEHICLE = (
    LaunchArgument("vehicle", "hmmwv", "Name in config/vehicles, or a path to a YAML file"),
    LaunchArgument("fidelity", "multibody", "Bodies and tyres, or a kinematic single track", FIDELITIES),
    LaunchArgument("real_time_factor", "1.0", "Simulated time over real time; 0 is as fast as it can"),
    LaunchArgument("world", "", "Name in config/worlds, or a path to a YAML file; none: flat ground"),
    LaunchArgument("tf_source", "truth", "Who places base_link: the vehicle, or an observer", TF_SOURCES),
    COCKPIT,
)


def _sensor_arguments() -> tuple[LaunchArgument, ...]:
    presets = {kind: preset_names(f"sensors/{kind}") for kind in SENSOR_KINDS}
    return (
        *(
            LaunchArgument(kind, usual, f"A file of config/sensors/{kind}", (*presets[kind], NO_SENSOR))
            for kind, usual in SENSOR_KINDS.items()
        ),
        LaunchArgument("seed", "0", "Of all random numbers"),
    )


def _observer_arguments() -> tuple[LaunchArgument, ...]:
    kinds = ("vehicle", "ins")
    kind = LaunchArgument("observer", "vehicle", "errorEKF around the vehicle's model, or a strapdown INS", kinds)
    return (*(argument for argument in _VEHICLE if argument.name != "tf_source"), *_sensor_arguments(), kind)


def _navigate_arguments() -> tuple[LaunchArgument, ...]:
    usual = {"world": "urban", "lidar": "spinning_32", "encoders": "quadrature"}  # a planner backs up
    return (
        *(replace(argument, default=usual.get(argument.name, argument.default)) for argument in _observer_arguments()),
        LaunchArgument("tf_source", "truth", "Who places base_link, unless the pose is the observer's", TF_SOURCES),
        LaunchArgument("planner", "dstar_lite", "arcs, dstar_lite, or your own as module:Class"),
        LaunchArgument("sensing", "terrain", "Obstacles by the world's truth, or by LIDAR", ("terrain", "lidar")),
        LaunchArgument("pose_source", "truth", "Pose by the truth, or by the observer", ("truth", "observer")),
        LaunchArgument("to_world_goal", "true", "Drive to the world's own goal at once", BOOLEAN),
    )


def bring_ups() -> dict[str, BringUp]:
    """All launches by name."""
    pad = LaunchArgument("pad", "xbox", "Mapping of axes and buttons, a file of config/pads", pad_names())
    sim_time = LaunchArgument("use_sim_time", "false", "Stamp with /clock instead of the machine's time", BOOLEAN)
    world = LaunchArgument("world", "urban", "Name in config/worlds, or a path to a YAML file")
    items = (
        BringUp("teleop", "Drive with a game pad: /joy to /cmd_vel", (pad, sim_time, _STAMPED), _teleop_nodes),
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
    from proving_ground.launching.scenario_launch import scenario_launch  # which is made of parts of this
    from proving_ground.scenarios.scenario import scenario_files  # slow to import

    scenarios = scenario_files()
    if name in scenarios or "/" in name or name.endswith((".yaml", ".yml")):
        return scenario_launch(name)
    raise SettingsError(f"launch {name}: {close_name(name, [*known, *scenarios])}")
