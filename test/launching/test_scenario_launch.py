"""Nodes of a scenario over ROS: the same settings as in lock-step, from the same file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from node_settings import settings_type

from planner.node_settings import PlannerNodeSettings
from planner.planning import _BUILT_IN
from planner.settings import PLANNERS
from proving_ground.cockpit.settings import cockpit_settings
from proving_ground.launching.bring_up import bring_up
from proving_ground.launching.node_process import node_process
from proving_ground.launching.node_spec import NodeSpec
from proving_ground.launching.scenario_launch import scenario_launch, scenario_nodes
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.refereeing import RefereeSettings
from proving_ground.scenarios.scenario import load_scenario, scenario_file, scenario_files
from proving_ground.settings import SettingsError, as_parameters, build, changed_parameters, nested
from proving_ground.settings.nested import load_preset
from sensors.gps import LocalFrame
from sensors.imu import ImuSettings
from sensors.kinds import GPS, LIDAR, SeenWorld
from state_observer.kinds import VEHICLE
from state_observer.node_settings import ObserverNodeSettings
from terrain.surroundings import GroundSettings, Surroundings
from terrain.world_ground import SoilPlane
from terrain.worlds import load_world
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.standing import EndSettings

HEAD = "version: 1\ndescription: a test\nduration_s: 5.0\n"


def _nodes(name: str, **given: str) -> dict[str, NodeSpec]:
    return {spec.name: spec for spec in scenario_launch(name).nodes(given)}


@pytest.mark.parametrize(
    ("sync", "names"), [("true", {"gps", "lidar", "terrain", "recorder", "cockpit", "referee"}), ("false", set())]
)
def test_nodes_that_nobody_waits_for_at_each_instant_run_in_the_background(sync: str, names: set[str]) -> None:
    nodes = _nodes("urban", record="true", cockpit="true", sync=sync)

    assert {name for name, spec in nodes.items() if spec.is_background} == names
    assert {name for name, spec in nodes.items() if node_process(spec).is_background} == names


@pytest.mark.parametrize("name", scenario_files())
def test_every_node_of_a_launch_accepts_its_parameters(name: str) -> None:
    for spec in _nodes(name, record="true", cockpit="true").values():
        given = {key: value for key, value in spec.params.items() if key != "use_sim_time"}  # which every node has
        settings = build(settings_type(spec.executable), given)

        assert changed_parameters(settings).items() <= given.items()


def _own(tmp_path: Path, text: str, **given: str) -> dict[str, NodeSpec]:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD + text)
    return {spec.name: spec for spec in scenario_nodes(path, load_scenario(path), given)}


def _settings(kind: Any, spec: NodeSpec) -> Any:
    """Settings of the node from its parameters."""
    return build(kind, {name: value for name, value in spec.params.items() if name != "use_sim_time"})


def test_a_scripted_scenario_needs_vehicle_script_recorder_and_referee() -> None:
    assert list(_nodes("j_turn")) == ["vehicle", "script", "recorder", "referee"]
    assert list(_nodes("j_turn", record="false")) == ["vehicle", "script", "referee"]


def test_the_town_needs_all_parts() -> None:
    nodes = _nodes("urban")
    wanted = {"vehicle", "terrain", "imu", "gps", "encoders", "lidar", "observer", "planner", "recorder", "referee"}
    assert set(nodes) == wanted
    assert nodes["vehicle"].params["tf_source"] == "observer"
    assert nodes["planner"].params["sensing"] == "lidar"
    assert nodes["planner"].params["pose_source"] == "observer"
    assert set(nodes["referee"].params["wait_for"]) == wanted - {"referee"}  # type: ignore[arg-type]


def test_the_vehicle_starts_as_in_lock_step_and_waits() -> None:
    scenario = load_scenario(scenario_file("urban"))
    params = _nodes("urban")["vehicle"].params
    assert params["start_paused"] is True
    assert _settings(VehicleNodeSettings, _nodes("urban")["vehicle"]).start == scenario.start
    assert _nodes("lane_change_reference")["vehicle"].params["start.gear"] == 6


def test_a_start_at_zero_in_a_world_is_not_the_one_the_world_suggests(tmp_path: Path) -> None:
    nodes = _own(tmp_path, "world: {named: {name: off_road}}\ndriver: {straight: {}}\n")
    world = load_world("off_road")
    assert _settings(VehicleNodeSettings, nodes["vehicle"]).start.origin(world)[:3] == (0.0, 0.0, 0.0)
    assert VehicleNodeSettings().start.origin(world).x == world.start.x


def test_an_observer_begins_with_pose_and_speed_of_the_vehicle_and_knows_the_bias_of_the_imu(tmp_path: Path) -> None:
    nodes = _own(
        tmp_path,
        "world: {flat: {}}\ndriver: {straight: {}}\nstart: {x_m: 3.0, heading_deg: 90.0, speed_mps: 12.0}\n"
        "sensors: [{gps: {}}, {imu: {preset: consumer_mems}}, {encoders: {}}]\nobserver: {kind: vehicle}\n",
    )
    settings = _settings(ObserverNodeSettings, nodes["observer"])
    start = settings.start.origin(None)
    assert start == (3.0, 0.0, pytest.approx(math.pi / 2.0), 12.0)
    assert start.rolled(0.5) == (pytest.approx(3.0), pytest.approx(6.0), start.heading, 12.0)
    assert settings.start == _settings(VehicleNodeSettings, nodes["vehicle"]).start
    errors = load_preset(ImuSettings, "consumer_mems").accel_errors()
    completed = VEHICLE.load().informed(settings.known(LocalFrame(None)))
    assert completed.start.force_bias_std_mps2 == errors.constant_bias > VEHICLE.load().start.force_bias_std_mps2


@pytest.mark.parametrize("kind", [VehicleNodeSettings, ObserverNodeSettings, LIDAR.node_settings, GPS.node_settings])
def test_ground_is_a_worlds_or_flat_but_not_both(kind: Any) -> None:
    with pytest.raises(ValueError, match="urban has its own ground; leave `ground` as it is"):
        build(kind, {"world": "urban", "ground.slope_x": 0.1})


def test_an_observer_that_may_not_know_its_start_is_not_given_it(tmp_path: Path) -> None:
    text = "world: {flat: {}}\ndriver: {straight: {}}\nsensors: [{gps: {}}, {imu: {}}, {encoders: {}}]\n"
    nodes = _own(tmp_path, text + "observer: {kind: vehicle, knows_start: false}\n")
    settings = _settings(ObserverNodeSettings, nodes["observer"])
    assert settings.origin(Surroundings(settings)) is None


def test_the_vehicle_publishes_its_motion_at_the_rate_of_the_fastest_sensor(tmp_path: Path) -> None:
    text = "world: {flat: {}}\ndriver: {straight: {}}\nsensors: [{imu: {rate_hz: 200.0}}, {gps: {}}]\n"
    settings = _settings(VehicleNodeSettings, _own(tmp_path, text)["vehicle"])
    assert settings.odom_rate_hz == settings.joints_rate_hz == pytest.approx(200.0)


@pytest.mark.parametrize("name", sorted(scenario_files()))
def test_parameters_of_every_part_of_every_scenario_lead_back_to_its_settings(name: str) -> None:
    run, nodes = compiled(load_scenario(scenario_file(name))), _nodes(name)

    for part, (_, settings) in run.items():
        assert build(type(settings), as_parameters(settings)) == settings
        if part != "vehicle":  # it starts paused, and paced
            assert _settings(type(settings), nodes[part]) == settings
    vehicle = _settings(VehicleNodeSettings, nodes["vehicle"])
    assert replace(vehicle, start_paused=False, end=EndSettings()) == run["vehicle"].settings


def test_sensors_get_what_differs_from_their_defaults_and_the_seed() -> None:
    scenario = load_scenario(scenario_file("urban"))
    encoders = next(item.encoders for item in scenario.sensors if item.encoders is not None)
    params = _nodes("urban", seed="7")["encoders"].params
    assert params["seed"] == 7
    assert params["wheel_pulses"] == encoders.wheel_pulses
    assert params["knows_direction"] == encoders.knows_direction


def test_faults_become_a_script_of_their_sensor(tmp_path: Path) -> None:
    nodes = _own(
        tmp_path,
        "world: {flat: {}}\ndriver: {straight: {}}\nsensors: [{gps: {}}, {imu: {}}]\n"
        "faults: [{sensor: gps, kind: bias, start_s: 1234.5678, length_s: 1.0, value: 3.0, channel: east}]\n",
    )
    assert nodes["gps"].params["fault_script"] == ("bias 1234.5678 1.0 3.0 east",)
    assert "fault_script" not in nodes["imu"].params
    assert "fault_script" not in nodes["vehicle"].params


def test_faults_of_actuators_become_a_script_of_the_vehicle(tmp_path: Path) -> None:
    nodes = _own(
        tmp_path,
        "world: {flat: {}}\ndriver: {straight: {}}\nsensors: [{gps: {}}]\n"
        "faults: [{actuator: brake, kind: offset, start_s: 1.5, length_s: 1.0, value: -0.25}]\n",
    )
    assert nodes["vehicle"].params["fault_script"] == ("offset 1.5 1.0 -0.25 brake",)
    assert "fault_script" not in nodes["gps"].params


def test_a_slippery_slope_with_a_bump_is_that_of_the_vehicle_the_observer_and_the_lidar(tmp_path: Path) -> None:
    nodes = _own(
        tmp_path,
        "world: {flat: {friction: 0.3, slope_x: 0.1, bump_height_m: 0.1, bump_start_m: 20.0}}\ndriver: {straight: {}}\n"
        "sensors: [{gps: {}}, {imu: {}}, {encoders: {}}, {lidar: {}}]\nobserver: {kind: vehicle}\n",
    )
    expected = GroundSettings(friction=0.3, slope_x=0.1, bump_height_m=0.1, bump_start_m=20.0)
    kinds = {"vehicle": VehicleNodeSettings, "observer": ObserverNodeSettings, "lidar": LIDAR.node_settings}
    for name, kind in kinds.items():
        assert _settings(kind, nodes[name]).ground == expected
    assert "terrain" not in nodes


def test_targets_of_a_scenario_are_seen_by_the_nodes_at_their_current_position(tmp_path: Path) -> None:
    nodes = _own(
        tmp_path,
        "world: {flat: {slope_x: 0.1}}\ndriver: {straight: {}}\nsensors: [{gps: {}}, {imu: {}}, {lidar: {}}]\n"
        "targets:\n"
        "- {cylinder: {radius_m: 0.3, height_m: 1.8}, x_m: 10.0, y_m: -4.0, heading_deg: 90.0, speed_mps: 1.0}\n",
    )
    assert "targets" not in nodes["imu"].params
    for kind in (LIDAR, GPS):
        settings = _settings(kind.node_settings, nodes[kind.name])
        seen = SeenWorld.of(Surroundings(settings), [settings])
        reaches = []
        for time_s in (0.0, 4.0, 8.0):
            seen.move_to(time_s)
            found = seen.scene.cast([[0.0, 0.0, 2.0]], [[1.0, 0.0, 0.0]], 50.0)  # a metre above the ground at x = 10
            reaches.append(float(found.ranges[0]))
        assert reaches == pytest.approx([20.0, 9.7, 20.0])  # at 20 m the slope is as high


def test_a_plane_of_soil_is_under_the_wheels_over_ros_too() -> None:
    settings = _settings(VehicleNodeSettings, _nodes("soft_soil")["vehicle"])
    assert isinstance(settings.ground.model(), SoilPlane)
    assert settings.ground.soil == "dry_sand"


def test_two_lidars_have_nodes_of_their_own(tmp_path: Path) -> None:
    nodes = _own(
        tmp_path,
        "world: {flat: {}}\ndriver: {straight: {}}\n"
        "sensors: [{lidar: {}}, {name: rear, lidar: {mount: {xyz_m: [-0.5, 0.0, 2.0]}}}]\n",
    )
    assert [(spec.executable, name) for name, spec in nodes.items() if spec.executable == "lidar"] == [
        ("lidar", "lidar"), ("lidar", "rear"),
    ]  # fmt: skip
    assert nodes["rear"].params["mount.xyz_m"] == (-0.5, 0.0, 2.0)
    assert nodes["lidar"].params["mount.xyz_m"] == (2.0, 0.0, 2.0)  # from the vehicle's file


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seed": "x"}, "seed: must be a whole number"),
        ({"seed": "-1"}, "seed: must be a whole number from 0 to 2147483647"),
        ({"seed": "99999999999"}, "seed: must be a whole number from 0 to 2147483647"),
        ({"planner": "dstar"}, "planner: unknown.*did you mean dstar_lite.*or your own as module:Class"),
        ({"planner": "no_such_module:Class"}, "planner: no_such_module:Class cannot be loaded: there is no module"),
        ({"planner": "no.such:Class"}, "planner: no.such:Class cannot be loaded: ModuleNotFoundError"),
        ({"planner": ":Class"}, "planner: :Class cannot be loaded"),
        ({"rate": "fast"}, "rate: must be a number"),
        ({"observer": "none"}, "a pose of the observer needs an observer"),
        ({"cockpit": "yes"}, "must be one of true, false, open"),
        ({"colour": "red"}, "colour: unknown"),
    ],
)
def test_wrong_arguments_are_reported_in_one_line(given: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        bring_up("urban").nodes(given)


def test_a_name_that_is_neither_launch_nor_scenario_is_reported() -> None:
    with pytest.raises(SettingsError, match="did you mean urban"):
        bring_up("urbn")


def test_planners_can_be_named_as_in_the_planner_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(PLANNERS) == set(_BUILT_IN)
    (tmp_path / "slow_planner.py").write_text("raise RuntimeError('is not imported by a launch')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in (*PLANNERS, "slow_planner:Mine"):
        assert _settings(PlannerNodeSettings, _nodes("urban", planner=name)["planner"]).planner == name


def test_a_wrong_planner_in_the_scenario_is_reported_too(tmp_path: Path) -> None:
    text = "world: {named: {name: flat}}\ndriver: {to_goal: {planner: {planner: nosuch}}}\n"
    with pytest.raises(SettingsError, match=r"planner: .*got 'nosuch'"):
        _own(tmp_path, text)


def test_times_and_hashes_are_written_into_the_folder_of_a_run_that_has_one() -> None:
    assert _nodes("j_turn", out="here")["referee"].params["out"] == "here"
    assert _nodes("j_turn", out="here", record="false")["referee"].params["out"] == "here"
    assert "out" not in _nodes("j_turn", record="false")["referee"].params


def test_time_waits_for_the_parts_of_a_scenario_unless_it_runs_free() -> None:
    synchronous, free = _nodes("urban"), _nodes("urban", sync="false")

    assert synchronous["vehicle"].params["sync.nodes"] == ("imu", "gps", "encoders", "lidar", "observer", "planner")
    assert synchronous["planner"].params["sync_with"] == ("observer", "lidar")
    assert not any(name.startswith("sync") for spec in free.values() for name in spec.params)


def test_a_driver_from_outside_takes_the_place_of_the_scripted_one() -> None:
    nodes = _nodes("lane_change", wait_for="cmd_vel", max_age="0.1")

    assert "script" not in nodes
    assert nodes["vehicle"].params["sync.wait_for"] == "cmd_vel"
    assert nodes["vehicle"].params["sync.max_age_s"] == 0.1
    assert nodes["referee"].params["driver_topic"] == "cmd_vel"


def test_a_run_may_begin_before_its_driver_from_outside_is_there() -> None:
    nodes = _nodes("lane_change", wait_for="cmd_vel", without_command="run")

    assert nodes["vehicle"].params["sync.without_command"] == "run"
    assert "driver_topic" not in nodes["referee"].params


@pytest.mark.parametrize(("cockpit", "is_attended"), [("false", False), ("true", True), ("open", True)])
def test_a_run_with_a_cockpit_is_attended(cockpit: str, is_attended: bool) -> None:
    referee = _settings(RefereeSettings, _nodes("j_turn", cockpit=cockpit, standstill="7")["referee"])

    assert referee.is_attended is is_attended
    assert referee.standstill_s == 7.0


def test_rviz_may_be_closed_and_gets_signals_like_any_foreign_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rviz2").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    nodes = _nodes("j_turn", rviz="true")
    rviz, vehicle = node_process(nodes["rviz2"]), node_process(nodes["vehicle"])
    assert (rviz.is_ours, rviz.is_optional) == (False, True)
    assert (vehicle.is_ours, vehicle.is_optional) == (True, False)
    assert rviz.command[-3:] == ["--ros-args", "-p", "use_sim_time:=true"]
    assert "rviz2" not in nodes["referee"].params["wait_for"]  # type: ignore[operator]


def test_the_cockpit_starts_when_requested() -> None:
    assert _nodes("urban", cockpit="true")["cockpit"].params["world"] == "urban"


def test_an_edited_cockpit_file_acts_in_a_launch_and_in_lock_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited = {"max_speed_mps": 4.0, "port": 8123}
    monkeypatch.setattr(nested, "default_values", lambda file: edited if "cockpit" in file else {})

    launched = _nodes("j_turn", cockpit="open")["cockpit"].params
    vehicle = compiled(load_scenario(scenario_file("j_turn")))["vehicle"].settings

    assert launched == {**edited, "open_browser": True}
    assert changed_parameters(cockpit_settings(vehicle, opens=True)) == launched
    assert cockpit_settings(vehicle, opens=True, port=8200).port == 8200
    with pytest.raises(SettingsError, match="port: must be a whole number from 1 to 65535"):
        cockpit_settings(vehicle, opens=True, port=0)


def test_the_referee_sends_the_start_that_the_compiled_observer_knows() -> None:
    assert _nodes("urban")["referee"].params["sends_start"]
    assert "sends_start" not in _nodes("low_cost_gps")["referee"].params  # it initialises itself
