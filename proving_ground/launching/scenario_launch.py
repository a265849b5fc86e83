"""A scenario over ROS: its nodes, each a process, with the same settings as the cores in lock-step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from planner.node_settings import GoalChoice
from proving_ground.launching.bring_up import (
    BOOLEAN,
    COCKPIT,
    FASTEST,
    BringUp,
    LaunchArgument,
    cockpit_nodes,
    number,
    planner_of,
    rviz_nodes,
    seed_of,
)
from proving_ground.launching.node_spec import NodeSpec
from proving_ground.launching.run_nodes import nodes_of
from proving_ground.recording.parts import BAG
from proving_ground.recording.recorder_settings import RecorderSettings
from proving_ground.scenarios.choices import ObserverChoice
from proving_ground.scenarios.parts import Compiled, compiled
from proving_ground.scenarios.refereeing import RefereeSettings
from proving_ground.scenarios.scenario import Driver, Scenario, load_scenario, scenario_file, scenario_files
from proving_ground.settings import SettingsError, changed_parameters
from proving_ground.settings.units import LONGEST_RUN_S
from state_observer.kinds import OBSERVER_KINDS
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.participants import WITHOUT_COMMAND
from vehicle_dynamics.standing import EndSettings

AS_SCENARIO, NO_OBSERVER = "scenario", "none"
OVER_ROS = "_ros"  # suffix of folders in runs/, after the scenario's name
RECORD = (*BOOLEAN, "all")
CLOUDS = ".*/points"  # 10 MB a second


def _arguments() -> tuple[LaunchArgument, ...]:
    observers = (AS_SCENARIO, *OBSERVER_KINDS, NO_OBSERVER)
    return (
        LaunchArgument("seed", "", "Seed of all random numbers; empty: the scenario's"),
        LaunchArgument("planner", "", "arcs, dstar_lite, or your own as module:Class; empty: the scenario's"),
        LaunchArgument("observer", AS_SCENARIO, "Which observer", observers),
        LaunchArgument("rate", "1.0", "Simulated time over real time; 0 is as fast as possible"),
        LaunchArgument(
            "sync", "true", "Time waits for all nodes: the same run on any machine; false: it runs free", BOOLEAN
        ),
        LaunchArgument(
            "wait_for", "", "Topic of your own driver's commands, which time waits for; ours is not started"
        ),
        LaunchArgument("max_age", "0", "Seconds that your commands may be old, and after which they act"),
        LaunchArgument(
            "per_message_of", "", "Topic that your driver answers one by one, if its commands have no stamps"
        ),
        LaunchArgument(
            "without_command", WITHOUT_COMMAND[0], "What time does before your driver's first command", WITHOUT_COMMAND
        ),
        LaunchArgument(
            "standstill", "60", "Seconds of real time that a run without cockpit may stand still before it is given up"
        ),
        LaunchArgument("record", "true", "Write a bag into the run's folder, and judge by it; all: clouds too", RECORD),
        COCKPIT,
        LaunchArgument("rviz", "false", "Start RViz too, where it is installed", BOOLEAN),
        LaunchArgument("out", "", "Folder of the run; empty: runs/NAME_ros"),
        LaunchArgument("duration", "", "Simulated seconds; empty: the scenario's"),
    )


def scenario_launches() -> dict[str, BringUp]:
    """A launch for each scenario in config/scenarios, by name."""
    return {name: scenario_launch(name) for name in scenario_files()}


def scenario_launch(name: str) -> BringUp:
    """The launch of a scenario, by its name or by a path to its file."""
    path = scenario_file(name)
    scenario = load_scenario(path)

    def nodes(values: Mapping[str, str]) -> list[NodeSpec]:
        return scenario_nodes(path, scenario, values)

    return BringUp(path.stem, scenario.description, _arguments(), nodes)


def run_folder(path: Path, values: Mapping[str, str]) -> Path:
    """Folder of the bag and report of a run; path: of the scenario's file; values: of the launch arguments."""
    return Path(values.get("out") or Path("runs") / f"{path.stem}{OVER_ROS}")


def scenario_nodes(path: Path, scenario: Scenario, values: Mapping[str, str]) -> list[NodeSpec]:
    """Nodes of a scenario; the vehicle stays paused until the referee finds all others ready."""
    given = {argument.name: argument.default for argument in _arguments()} | dict(values)
    scenario = _as_asked(path, scenario, given)
    run = compiled(scenario)
    vehicle = _vehicle(run, scenario, given)
    run |= {"vehicle": run["vehicle"]._replace(settings=vehicle)}
    is_synchronous = given["sync"] == "true"
    nodes = nodes_of(run, is_synchronous=is_synchronous)
    if given["record"] != "false":
        recorder = RecorderSettings(
            out=str(run_folder(path, given) / BAG),
            log_time="clock",
            next_free=True,
            exclude=CLOUDS if given["record"] == "true" else "",
        )
        nodes.append(NodeSpec("recorder", (), changed_parameters(recorder), respawn=True, is_background=is_synchronous))
    cockpit = cockpit_nodes(given["cockpit"], vehicle)
    nodes += [replace(spec, is_background=is_synchronous) for spec in cockpit]
    nodes += rviz_nodes(given["rviz"])
    referee = _referee(path, run, nodes, given)
    return [*nodes, NodeSpec("referee", (), changed_parameters(referee), is_background=is_synchronous)]


def _vehicle(run: Mapping[str, Compiled], scenario: Scenario, given: Mapping[str, str]) -> VehicleNodeSettings:
    """The vehicle of a launch: paused at first; it stops time itself when the run is over."""
    settings: VehicleNodeSettings = run["vehicle"].settings
    sync = replace(
        settings.sync,
        wait_for=given["wait_for"],
        max_age_s=number("max_age", given["max_age"], 0.0, 10.0),
        per_message_of=given["per_message_of"],
        without_command=given["without_command"],
    )
    return replace(
        settings,
        real_time_factor=number("rate", given["rate"], 0.0, FASTEST),
        start_paused=True,
        sync=sync,
        end=EndSettings(duration_s=_duration(scenario, given), with_drive="planner" in run),
    )


def _duration(scenario: Scenario, given: Mapping[str, str]) -> float:
    return number("duration", given["duration"] or str(scenario.duration_s), 0.01, LONGEST_RUN_S)


def _as_asked(path: Path, scenario: Scenario, given: Mapping[str, str]) -> Scenario:
    """The scenario with the launch's arguments in place of its own values."""
    if given["seed"]:
        scenario = replace(scenario, seed=seed_of(given["seed"]))
    if given["observer"] != AS_SCENARIO:
        scenario = replace(scenario, observer=_observer(scenario, given["observer"]))
    if given["wait_for"]:
        return replace(scenario, driver=Driver())
    to_goal = scenario.driver.to_goal
    if to_goal is None:
        if given["planner"]:
            raise SettingsError(f"planner: {path.stem} has no planner to choose: its driver is a script")
        return scenario
    planner = planner_of(given["planner"] or to_goal.planner.planner)
    to_goal = replace(to_goal, planner=replace(to_goal.planner, planner=planner))
    return replace(scenario, driver=Driver(to_goal=to_goal))


def _observer(scenario: Scenario, kind: str) -> ObserverChoice | None:
    """Observer of another kind, without the settings file, which is for one kind only."""
    if kind == NO_OBSERVER:
        return None
    own = scenario.observer or ObserverChoice(knows_start=False)
    return own if own.kind == kind else replace(own, kind=kind, settings="")


def _referee(
    path: Path, run: Mapping[str, Compiled], nodes: list[NodeSpec], given: Mapping[str, str]
) -> RefereeSettings:
    """The referee of the compiled parts, which waits for all nodes of ours."""
    vehicle: VehicleNodeSettings = run["vehicle"].settings
    is_written = given["record"] != "false" or bool(given["out"])
    return RefereeSettings(
        name=path.stem,
        world=vehicle.world,
        goal=run["planner"].settings.goal if "planner" in run else GoalChoice(),
        sends_start="observer" in run and run["observer"].settings.knows_start,
        wait_for=tuple(spec.name for spec in nodes if spec.is_ours),
        driver_topic=given["wait_for"] if vehicle.sync.is_driver_needed else "",
        duration_s=vehicle.end.duration_s,
        is_synchronous=given["sync"] == "true",
        standstill_s=number("standstill", given["standstill"], 1.0, 1e5),
        is_attended=given["cockpit"] != "false",
        out=str(run_folder(path, given)) if is_written else "",
    )
