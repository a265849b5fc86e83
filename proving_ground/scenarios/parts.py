"""The one list: what a run is made of. A scenario is compiled, once, into the settings of its parts.

Lock-step makes cores from these settings, a launch makes nodes from the same ones: a node's parameters are its part's
settings. No other code derives a part's settings from a scenario's fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from planner.kinds import PLANNER_NODE, SCRIPT_NODE
from planner.node_settings import PlannerNodeSettings, SeenLidar
from proving_ground.interfaces.faults import fault_words
from proving_ground.scenarios.scenario import Scenario
from proving_ground.scenarios.script import ScriptSettings
from proving_ground.settings import SettingsError, as_parameters, build
from proving_ground.settings.nested import configured, settings_text
from sensors.kinds import SENSOR_KINDS, SensorKind
from sensors.rig import SensorChoice, steps_between_ticks
from state_observer.node_settings import KnownEncoders, KnownGps, KnownImu, ObserverNodeSettings
from terrain.node_settings import TerrainNodeSettings
from vehicle_dynamics.choices import TF_SOURCES
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.participants import SyncSettings
from vehicle_dynamics.stepper import steps_per_control

Found = Iterator[tuple[str, Any]]  # names and settings


class Context(NamedTuple):
    """Further inputs of the settings, besides the scenario."""

    parameters: VehicleParameters  # of the vehicle that carries the sensors


@dataclass(frozen=True)
class Part:
    """A kind of participant in a run."""

    node: str  # executable
    settings_of: Callable[[Scenario, Context], Found]  # by name of node, process and random stream
    rejoins: bool = True  # can rejoin a running graph when restarted
    uses_sim_time: bool = False  # its own clock must be simulation time
    takes_part: bool = True  # in every instant of a run


class Compiled(NamedTuple):
    """One participant of a run: its part and its settings."""

    part: Part
    settings: Any

    @property
    def is_background(self) -> bool:
        """Whether its results are due later than at the next control period, as scans, or not at all."""
        return not self.part.takes_part or getattr(self.settings, "rate_hz", math.inf) * PERIOD_S < 1.0


def compiled(scenario: Scenario, parameters: VehicleParameters | None = None) -> dict[str, Compiled]:
    """All parts of a run with their settings, by name; raises SettingsError.

    parameters: in place of the scenario's vehicle file.
    """
    context = Context(parameters or scenario.vehicle.parameters())
    return {
        name: Compiled(part, settings) for part in parts() for name, settings in part.settings_of(scenario, context)
    }


def parts() -> tuple[Part, ...]:
    """All parts that a run can have, in the order in which nodes are started."""
    sensors = (Part(kind.name, _sensor_settings(kind)) for kind in SENSOR_KINDS.values())
    return (VEHICLE, TERRAIN, *sensors, OBSERVER, PLANNER, SCRIPT)


def _vehicle(scenario: Scenario, context: Context) -> Found:
    settings: VehicleNodeSettings = configured("vehicle", VehicleNodeSettings)
    site, rate_hz, kind = scenario.world.site(), _truth_rate(scenario), scenario.driver.kind
    yield (
        "vehicle",
        replace(
            settings,
            world=site.world,
            ground=site.ground,
            vehicle=scenario.vehicle,
            start=scenario.start,
            fault_script=tuple(fault_words(fault) for fault in scenario.actuator_faults),
            change_script=tuple(change.words for change in scenario.changes),
            levers=scenario.levers,
            tf_source=TF_SOURCES[0] if scenario.observer is None else TF_SOURCES[1],
            odom_rate_hz=max(settings.odom_rate_hz, rate_hz),
            joints_rate_hz=max(settings.joints_rate_hz, rate_hz),
            sync=SyncSettings(nodes=_participants(scenario), inner=_inner(scenario, context)),
            cmd_vel_type="twist_stamped" if kind is not None and kind.node == PLANNER_NODE else settings.cmd_vel_type,
        ),
    )


def _participants(scenario: Scenario) -> tuple[str, ...]:
    """Names of the nodes that time waits for."""
    names = [choice.called for choice in scenario.sensors]
    if scenario.observer is not None:
        names.append("observer")
    if scenario.driver.kind is not None:
        names.append(scenario.driver.kind.node)
    return tuple(names)


def _inner(scenario: Scenario, context: Context) -> tuple[str, ...]:
    """Names of the nodes that other nodes wait for."""
    waiting = [settings for find in (_observer, _planner) for _, settings in find(scenario, context)]
    found = {name for settings in waiting for name in settings.sync_with}
    return tuple(name for name in _participants(scenario) if name in found)


def free_running(run: Mapping[str, Compiled]) -> dict[str, Compiled]:
    """The parts of a run with the settings of a free run, in which no node waits for others."""
    found = {}
    for name, item in run.items():
        s = item.settings
        if isinstance(s, VehicleNodeSettings):
            s = replace(s, sync=SyncSettings())
        elif hasattr(s, "sync_with"):
            s = replace(s, sync_with=())
        found[name] = item._replace(settings=s)
    return found


def _truth_rate(scenario: Scenario) -> float:
    """Rate at which sensors need the truth [Hz]."""
    step_s = scenario.vehicle.step_s
    steps = steps_between_ticks(scenario.sensors, step_s, steps_per_control(step_s))
    return 1.0 / (steps * step_s)


def _terrain(scenario: Scenario, context: Context) -> Found:
    site = scenario.world.site()
    if site.world:
        settings: TerrainNodeSettings = configured("terrain", TerrainNodeSettings)
        yield "terrain", replace(settings, world=site.world)


def _sensor_settings(kind: SensorKind) -> Callable[[Scenario, Context], Found]:
    def settings_of(scenario: Scenario, context: Context) -> Found:
        for choice in scenario.sensors:
            if choice.kind == kind.name:
                yield choice.called, _sensor(kind, choice, scenario, context)

    return settings_of


def _sensor(kind: SensorKind, choice: SensorChoice, scenario: Scenario, context: Context) -> Any:
    faults = [fault for fault in scenario.sensor_faults if fault.sensor == choice.called]
    own = choice.settings.fitted(kind.name, context.parameters.equipment)
    values: dict[str, Any] = {
        **as_parameters(own),
        "seed": scenario.seed,
        "start_date": scenario.start.date,
        "sync_with": ("vehicle",),
        "vehicle": scenario.vehicle.model,
        "fault_script": tuple(fault_words(fault) for fault in faults),
    }
    if kind.looks_around:
        values |= as_parameters(scenario.world.site())
        values["targets"] = tuple(settings_text(target) for target in scenario.targets)
    return build(kind.node_settings, values)


def _observer(scenario: Scenario, context: Context) -> Found:
    choice, site = scenario.observer, scenario.world.site()
    if choice is None:
        return
    gps, imu, encoders = (_first(scenario, kind, context) for kind in ("gps", "imu", "encoders"))
    yield (
        "observer",
        ObserverNodeSettings(
            kind=choice.kind,
            observer_file=choice.settings,
            vehicle=scenario.vehicle.model,
            knows_start=choice.knows_start,
            start=scenario.start,
            world=site.world,
            ground=site.ground,
            gps=KnownGps.of(*gps),
            imu=KnownImu.of(*imu),
            encoders=KnownEncoders.of(*encoders),
            sync_with=(gps[0], imu[0], encoders[0]),
        ),
    )


def _first(scenario: Scenario, kind: str, context: Context) -> tuple[str, Any]:
    """Name and settings of the first sensor of a kind, fitted to the vehicle."""
    for choice in scenario.sensors:
        if choice.kind == kind:
            return choice.called, choice.settings.fitted(kind, context.parameters.equipment)
    raise SettingsError(f"observer: needs a sensor of kind {kind}")


def _planner(scenario: Scenario, context: Context) -> Found:
    choice, site = scenario.driver.to_goal, scenario.world.site()
    if choice is None:
        return
    if not site.world:
        raise SettingsError("driver.to_goal: needs a named world")
    if choice.pose == "observer" and scenario.observer is None:
        raise SettingsError("driver.to_goal: a pose of the observer needs an observer")
    lidar = _seen_lidar(scenario, context) if choice.sensing == "lidar" else SeenLidar()
    yield (
        "planner",
        build(
            PlannerNodeSettings,
            {
                **as_parameters(choice.planner.fitted(context.parameters.equipment)),
                **as_parameters(choice.lidar_map),
                "world": site.world,
                "vehicle": scenario.vehicle.model,
                "sensing": choice.sensing,
                "pose_source": choice.pose,
                "goal": as_parameters(choice.goal_choice()),
                "lidar": as_parameters(lidar),
                "start_date": scenario.start.date,
                "sync_with": (
                    "observer" if choice.pose == "observer" else "vehicle",
                    *((lidar.name,) if choice.sensing == "lidar" else ()),
                ),
            },
        ),
    )


def _seen_lidar(scenario: Scenario, context: Context) -> SeenLidar:
    """Mount and timing of the first LIDAR, whose clouds the planner uses."""
    for choice in scenario.sensors:
        if choice.kind == "lidar":
            own = choice.settings.fitted("lidar", context.parameters.equipment)
            frame = SENSOR_KINDS["lidar"].frame_of(choice.called)
            return SeenLidar(
                name=choice.called, frame=frame, mount=own.mount, is_deskewed=own.deskew, sweep_s=1.0 / own.rate_hz
            )
    raise SettingsError("driver.to_goal: sensing by LIDAR needs a sensor of kind lidar")


def _script(scenario: Scenario, context: Context) -> Found:
    site, kind = scenario.world.site(), scenario.driver.kind
    if kind is not None and kind.node == SCRIPT_NODE:
        yield (
            "script",
            ScriptSettings(
                driver=settings_text(scenario.driver),
                vehicle=scenario.vehicle,
                start=scenario.start,
                world=site.world,
                ground=site.ground,
                sync_with=("vehicle",),
            ),
        )


VEHICLE = Part("vehicle", _vehicle, rejoins=False)  # all others depend on its time and position
TERRAIN = Part("terrain", _terrain, takes_part=False)  # it shows the world
OBSERVER = Part("observer", _observer)
PLANNER = Part("planner", _planner, uses_sim_time=True)
SCRIPT = Part("script", _script)
