"""The cockpit without ROS and without a browser: drawing, rejection of messages, driving."""

from __future__ import annotations

import math
import socket
from types import SimpleNamespace as Fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.cockpit import reading
from proving_ground.cockpit.camera import CHASE, STARTS, Chase, Zoom
from proving_ground.cockpit.cloud_view import Mount, cloud_view, rotated
from proving_ground.cockpit.driving import LAST_WORDS_S, PAD_HOLD_S, DrivePad
from proving_ground.cockpit.ellipse import confidence_ellipse
from proving_ground.cockpit.ground_view import ground_view, kept_lines
from proving_ground.cockpit.obstacle_view import obstacle_parts
from proving_ground.cockpit.picking import ray_on_ground
from proving_ground.cockpit.reading import Grid
from proving_ground.cockpit.replay_state import replay_state
from proving_ground.cockpit.server import free_port, is_own_page
from proving_ground.cockpit.settings import CockpitSettings
from proving_ground.cockpit.shapes import Solid, ball, box, cylinder, prism
from proving_ground.cockpit.stage import filled_up, grid_squares
from proving_ground.cockpit.tracks import Pace, Poses, Strip, Trail
from proving_ground.cockpit.vehicle_view import Links, body_parts
from proving_ground.cockpit.view_model import ViewModel
from proving_ground.cockpit.words import GONE_AFTER_S, NodeWords, nodes_html, speed_words
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from terrain.world import World
from terrain.worlds import load_world
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.parameters import VehicleParameters

NS = 1_000_000_000
NOON = 1_767_268_800 * NS
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
HMMWV = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@pytest.fixture(scope="module")
def town() -> World:
    return load_world("urban")


def xyz(x: float, y: float, z: float) -> Any:
    return Fields(x=x, y=y, z=z)


def odometry(time_ns: int = NOON, x: float = 1.0, speed: float = 2.0, variance: float = 0.04) -> Any:
    """Object with the fields of nav_msgs/Odometry."""
    covariance = np.zeros(36)
    covariance[[0, 7]] = variance
    pose = Fields(position=xyz(x, 2.0, 0.5), orientation=Fields(x=0.0, y=0.0, z=0.0, w=1.0))
    return Fields(
        header=Fields(stamp=Fields(sec=time_ns // NS, nanosec=time_ns % NS), frame_id="map"),
        pose=Fields(pose=pose, covariance=covariance),
        child_frame_id="base_link",
        twist=Fields(twist=Fields(linear=xyz(speed, 0.0, 0.0), angular=xyz(0.0, 0.0, 0.0))),
    )


def clock(time_ns: int) -> Any:
    return Fields(clock=Fields(sec=time_ns // NS, nanosec=time_ns % NS))


def volume(solid: Solid) -> float:
    """Volume by the divergence theorem; positive where all triangles face outwards."""
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


# Shapes


def test_triangles_of_all_shapes_face_outwards() -> None:
    assert volume(box((1.0, 3.0), (0.0, 1.0), (2.0, 5.0))) == pytest.approx(6.0)
    assert volume(prism([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)], 0.5)) == pytest.approx(2.0)
    # A polygon of 24 sides has 1.2 % less area than its circle.
    assert volume(cylinder((0.0, 0.0, 0.0), (0.0, 2.0, 0.0), 1.0)) == pytest.approx(2.0 * math.pi, rel=0.02)
    assert 0.0 < volume(ball((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))) < 4.0 / 3.0 * math.pi


def test_body_is_as_long_wide_and_high_as_the_real_one() -> None:
    corners = np.vstack([part.solid.vertices for part in body_parts(HMMWV)])
    length, width, height = np.ptp(corners, axis=0)
    assert 4.5 < length < 4.9  # 4.57 m without bumpers
    assert 2.0 < width < 2.6  # 2.16 m, and mirrors
    assert 1.2 < height < 1.6  # from the tub to the roof


def test_links_stand_where_the_vehicles_own_kinematics_put_them() -> None:
    links, joints = Links(HMMWV), JointPositions(HMMWV)
    angle = 0.2
    positions = dict(zip(joints.names, joints.of(np.full(4, angle), np.zeros(4), 0.1).tolist(), strict=True))

    placed, design = links.at(positions), links.at({})

    # The lower ball joint goes round the lower arm's pivots: the upright arm, which begins there, is carried along.
    p = HMMWV.front_suspension.hardpoints_left_m
    pivot, axis = np.array(p.lower_arm_pivot_rear), np.subtract(p.lower_arm_pivot_front, p.lower_arm_pivot_rear)
    axis = axis / np.linalg.norm(axis)
    rotation = np.append(axis * math.sin(0.5 * angle), math.cos(0.5 * angle))
    expected = pivot + rotated(rotation, np.array([p.lower_ball_joint]) - pivot)[0]
    assert_allclose(design["front_left_upright_arm"][0], p.lower_ball_joint, atol=1e-9)
    assert_allclose(placed["front_left_upright_arm"][0], expected, atol=1e-9)
    # The shock's two tubes stay in line, though each hangs on another body.
    along = rotated(placed["front_left_lower_shock"][1], np.array([np.subtract(p.shock_chassis, p.shock_lower_arm)]))[0]
    upper = np.array(p.shock_chassis) - placed["front_left_lower_shock"][0]
    assert_allclose(np.cross(along / np.linalg.norm(along), upper / np.linalg.norm(upper)), 0.0, atol=1e-9)


def test_a_joint_that_is_not_finite_is_rejected() -> None:
    with pytest.raises(ValueError, match="finite"):
        Links(HMMWV).at({"front_left_wheel": math.nan})


# The world


def test_ground_is_drawn_where_the_wheels_meet_it(town: World) -> None:
    view = ground_view(town, triangles=160_000)
    x, y, z = view.vertices.T.astype(float)
    # Positions are of single precision: 1e-5 m beside a kerb's slope of 1.5.
    assert_allclose(z, town.ground.height_at(x, y), atol=1e-4)
    # Along kerbs no triangle spans more than the step itself.
    corners = view.vertices[view.faces]
    steps = np.ptp(corners[..., 2], axis=1) > 0.1
    straight = steps & (np.ptp(corners[..., :2], axis=1).min(axis=1) < 0.11)
    assert straight.sum() > 0.6 * steps.sum()
    assert len(view.faces) < 170_000


def test_roads_kerbs_and_yards_of_a_town_have_colours_of_their_own(town: World) -> None:
    view = ground_view(town, triangles=2000)
    rows, columns = view.picture.shape[:2]
    (left, right), (low, high) = town.ground.x_limits, town.ground.y_limits

    def colour(x: float, y: float) -> Any:
        row, column = int((high - y) / (high - low) * rows), int((x - left) / (right - left) * columns)
        return view.picture[row, column].astype(int)

    road, yard = colour(36.0, 2.0), colour(36.0, 15.0)
    assert np.ptp(road) < 15  # grey
    assert yard[1] > yard[2] + 15  # green
    paint = colour(town.markings[3, [0, 2]].mean(), town.markings[3, [1, 3]].mean())
    assert paint.min() > road.max() + 100


@given(count=st.integers(5, 90), positions=st.lists(st.integers(2, 97), max_size=6))
def test_kept_lines_reach_both_ends_and_every_kink(count: int, positions: list[int]) -> None:
    bend = np.zeros(100)
    bend[positions] = 1.0
    kept = kept_lines(bend, count)
    assert kept[0] == 0
    assert kept[-1] == 99
    assert len(kept) <= count + 1
    if count - round(0.4 * count) > 3 * len(set(positions)):
        assert set(positions) <= set(kept.tolist())


def test_every_obstacle_of_a_world_is_drawn(town: World) -> None:
    corners = np.vstack([part.solid.vertices for part in obstacle_parts(town)])
    for item in (*town.obstacles.boxes[:20], *town.obstacles.cylinders[:20]):
        assert np.hypot(corners[:, 0] - item.x, corners[:, 1] - item.y).min() < 12.0


def test_a_click_finds_the_ground_it_points_at(town: World) -> None:
    target = np.array([40.0, -2.0, float(town.ground.height_at(40.0, -2.0))])
    eye = np.array([10.0, -2.0, 12.0])
    found = ray_on_ground(eye, target - eye, lambda x, y: np.asarray(town.ground.height_at(x, y)))
    assert found is not None
    assert_allclose(found, target, atol=1e-3)


@pytest.mark.parametrize("direction", [(0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (math.nan, 0.0, -1.0)])
def test_a_click_into_the_sky_finds_nothing(direction: tuple[float, float, float]) -> None:
    assert ray_on_ground((0.0, 0.0, 2.0), direction, lambda x, y: np.zeros_like(x)) is None


def test_only_occupied_cells_of_the_local_map_are_drawn() -> None:
    cells = np.array([[0, 100], [-1, 0]], np.int8)
    vertices, faces = grid_squares(Grid(cells, 0.5, np.array([10.0, 20.0, 0.0])), height=1.0)
    assert len(faces) == 2
    assert_allclose(vertices.min(axis=0), (10.5, 20.0, 1.0))
    assert_allclose(vertices.max(axis=0), (11.0, 20.5, 1.0))


# Messages


def test_truth_shows_as_pose_figures_trail_and_plot() -> None:
    model = ViewModel()
    for step in range(40):
        model.on_clock(clock(NOON + step * NS // 20), wall=0.05 * step)
        model.on_truth(odometry(NOON + step * NS // 20, x=0.1 * step))
    assert model.figures(0.0)["Speed"] == "2.0 m/s (7 km/h)"
    assert model.figures(0.0)["Real-time factor"] == "1.00"
    assert model.figures(0.0)["Time"] == "12:00:01.9"
    assert 9 <= len(model.truth_trail.segments()) <= 13  # of 3.9 m, at 0.3 m or a step more
    time, speed, *_ = model.plot.columns()
    assert_allclose(speed, 2.0)
    assert -2.0 < time[0] < -1.7
    assert time[-1] == 0.0


FIELDS = ("pose.pose.position.x", "pose.pose.orientation.w", "twist.twist.linear.x")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300])
def test_a_message_that_is_not_finite_changes_nothing_but_its_counter(field: str, value: float) -> None:
    model = ViewModel()
    model.on_truth(odometry())
    before = model.truth
    bad = odometry(NOON + NS)
    owner, *names = bad, *field.split(".")
    for name in names[:-1]:
        owner = getattr(owner, name)
    setattr(owner, names[-1], value)

    model.on_truth(bad)

    assert model.truth is before
    assert model.rejected == {"ground_truth/odom": 1}


def test_inconsistent_messages_are_counted_and_left_out() -> None:
    model = ViewModel()
    stamp = Fields(sec=1, nanosec=0)
    model.on_joints(Fields(name=["a", "b"], position=[1.0]))
    model.on_joints(Fields(name=["a"], position=[math.nan]))
    model.on_clock(Fields(clock=Fields(sec=1, nanosec=2 * NS)), wall=0.0)
    info = Fields(height=2, width=2, resolution=0.1, origin=Fields(position=xyz(0.0, 0.0, 0.0)))
    model.on_grid(Fields(header=Fields(stamp=stamp), info=info, data=bytes(3)))
    model.on_goal(Fields(pose=Fields(position=xyz(math.nan, 0.0, 0.0))))
    assert model.rejected == {"joint_states": 2, "clock": 1, "local_map": 1, "goal_pose": 1}
    assert (model.joints, model.time_ns, model.grid, model.goal) == ({}, None, None, None)


def test_a_reset_and_a_jump_back_of_time_clear_the_view() -> None:
    model = ViewModel()
    for forget in (
        lambda: model.on_clock(clock(NOON - 10 * NS), wall=9.0),
        lambda: model.on_resets(Fields(data=1)),
        lambda: model.on_truth(odometry(NOON - 5 * NS)),
    ):
        model.on_resets(Fields(data=0))
        model.on_clock(clock(NOON), wall=0.0)
        for step in range(20):
            model.on_truth(odometry(NOON + step * NS // 10, x=float(step)))
        assert len(model.truth_trail.segments()) > 10
        forget()
        assert len(model.truth_trail.segments()) == 0


def test_old_data_are_not_shown_but_do_not_age_during_a_pause() -> None:
    model = ViewModel()
    model.on_clock(clock(NOON), wall=0.0)
    for second in range(100):  # paused
        model.on_clock(clock(NOON), wall=float(second))
    assert model.is_fresh(NOON - NS)
    assert model.pace.factor == 0.0
    model.on_clock(clock(NOON + 5 * NS), wall=101.0)
    assert not model.is_fresh(NOON - NS)


def test_a_cloud_is_deskewed_by_the_poses_of_its_sweep() -> None:
    # A wall 10 m ahead of the start, seen by a vehicle that drives towards it at 10 m/s and turns meanwhile.
    poses, mount = Poses(), Mount(np.array([1.0, 0.0, 2.0]), LEVEL)
    layout = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("time", "f4")])
    cloud = np.zeros(11, layout)
    for k, delay in enumerate(np.linspace(0.0, 0.1, 11)):
        yaw = 0.5 * delay
        rotation = np.array([0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])
        position = np.array([100.0 + 10.0 * delay, 50.0, 0.0])
        poses.record(NOON + round(delay * NS), position, rotation)
        back = rotation * [-1.0, -1.0, -1.0, 1.0]
        seen = rotated(back, np.array([[110.0, 50.0 + k, 3.0]]) - position)[0] - mount.position
        cloud[k] = (*seen, delay)

    view = cloud_view(cloud, NOON, mount, poses, most=1000)

    world = view.points + view.anchor
    assert_allclose(world[:, 0], 110.0, atol=2e-3)
    assert_allclose(world[:, 1], 50.0 + np.arange(11), atol=2e-3)


def test_a_cloud_is_thinned_and_loses_invalid_points() -> None:
    poses = Poses()
    poses.record(NOON, np.zeros(3), LEVEL)
    cloud = np.zeros(50_000, np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]))
    cloud["x"] = np.arange(50_000)
    cloud["y"][::2] = np.nan
    view = cloud_view(cloud, NOON, Mount(np.zeros(3), LEVEL), poses, most=2000)
    assert 1000 < len(view.points) <= 2000
    assert np.isfinite(view.points).all()
    assert len(view.colours) == len(view.points)


def test_a_cloud_is_filled_up_with_a_point_that_it_has() -> None:
    points = np.arange(9.0).reshape(3, 3)
    assert_allclose(filled_up(points, 5), [*points, points[-1], points[-1]])
    assert_allclose(filled_up(points, 3), points)


def test_ellipse_holds_95_of_100_draws() -> None:
    covariance = np.array([[3.0, 1.2], [1.2, 1.0]])
    (large, small), rotation = confidence_ellipse(covariance)
    draws = np.random.default_rng(7).multivariate_normal(np.zeros(2), covariance, 20_000)
    cos, sin = math.cos(rotation), math.sin(rotation)
    along, across = cos * draws[:, 0] + sin * draws[:, 1], cos * draws[:, 1] - sin * draws[:, 0]
    share = np.mean((along / large) ** 2 + (across / small) ** 2 <= 1.0)
    # The share of 20 000 draws scatters by 0.0015; five times that is a bound that a correct ellipse fails in 1 of 1e6.
    assert abs(share - 0.95) < 0.008


def test_an_estimate_without_a_valid_covariance_has_no_ellipse() -> None:
    model = ViewModel()
    model.on_estimate(odometry(variance=-1.0))
    assert model.estimate is not None
    assert model.estimate.half_axes is None
    model.on_estimate(odometry(variance=0.04))
    assert model.estimate.half_axes == pytest.approx((0.4895, 0.4895), abs=1e-3)


# History


def test_a_long_trail_stays_short_in_memory() -> None:
    trail = Trail(most=100)
    for step in range(5000):
        trail.record(np.array([float(step), 0.0, 0.0]))
    assert len(trail.segments()) <= 100
    assert trail.segments()[-1, 1, 0] == 4999.0


def test_plots_keep_the_last_30_seconds_only() -> None:
    strip = Strip(("value",))
    for step in range(2000):
        strip.record(NOON + step * NS // 20, (float(step),))
    time, values = strip.columns()
    assert time[0] == pytest.approx(-30.0, abs=0.2)
    assert len(values) <= 301


def test_pace_is_simulated_over_real_time() -> None:
    pace = Pace()
    for step in range(100):
        pace.record(0.1 * step, NOON + step * NS // 20)
    assert pace.factor == pytest.approx(0.5, rel=1e-6)


def test_pace_says_paused_or_no_clock() -> None:
    pace = Pace()
    assert pace.words(0.0) == "no clock"
    for wall in (0.0, 1.0):
        pace.record(wall, NOON)
    assert pace.words(1.0) == "0 (paused)"
    pace.record(2.0, NOON + NS)
    assert pace.words(2.0) == "0.50"
    assert pace.words(9.0) == "no clock"


def test_poses_between_are_interpolated_and_beyond_are_the_last() -> None:
    poses = Poses(keep=3)
    for k in range(20):  # many more than it keeps; the sign of a quaternion does not matter
        poses.record(k * NS, np.array([float(k), 0.0, 0.0]), LEVEL if k % 2 else -LEVEL)
    positions, rotations = poses.at(np.array([int(18.5 * NS), 25 * NS]))
    assert_allclose(positions[:, 0], (18.5, 19.0))
    assert_allclose(np.abs(rotations @ LEVEL), 1.0)


def test_replay_position_is_extrapolated_between_reports() -> None:
    figures = {"position_s": "10.000", "length_s": "60.000", "rate": "2", "paused": "false"}
    playing = replay_state(figures, now=100.0)
    assert playing.position_at(103.0) == 16.0
    assert playing.position_at(200.0) == 60.0
    assert replay_state({**figures, "paused": "true"}, 100.0).position_at(103.0) == 10.0


@pytest.mark.parametrize("lie", [{"position_s": "nan"}, {"rate": "0"}, {"length_s": "5"}, {"length_s": "words"}])
def test_an_impossible_replay_state_is_rejected(lie: dict[str, str]) -> None:
    model = ViewModel()
    model.on_replay({"position_s": "10", "length_s": "60", "rate": "1", "paused": "false"} | lie, 0.0)
    assert model.replay is None
    assert model.rejected == {"replay": 1}


def test_nodes_that_fall_silent_are_marked_silent() -> None:
    nodes = NodeWords()
    nodes.record("/planner", 1, "boxed in; more", now=0.0)
    assert [node.level for node in nodes.all(now=1.0)] == ["warning"]
    assert [node.level for node in nodes.all(now=GONE_AFTER_S + 1.0)] == ["silent"]
    assert nodes.all(now=100.0) == []


def test_what_nodes_say_cannot_become_part_of_the_page() -> None:
    nodes = NodeWords()
    nodes.record("<img src=x onerror=alert(1)>", 2, '"><script>', now=0.0)
    text = nodes_html(nodes.all(0.0))
    assert "<img" not in text
    assert "<script" not in text


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_words_for_a_speed_are_never_nan(speed: float) -> None:
    assert "nan" not in speed_words(speed)
    assert "inf" not in speed_words(speed)


# Driving


SETTINGS = CockpitSettings(max_speed_mps=5.0, max_curvature_1pm=0.13)


def test_nothing_is_commanded_until_driving_is_switched_on() -> None:
    pad = DrivePad()
    pad.hold("ahead", now=0.0)
    assert pad.command(0.0, SETTINGS) is None


def test_vehicle_goes_ahead_while_held_and_stops_when_released() -> None:
    pad, now, speeds = DrivePad(), 0.0, []
    pad.switch(True, now)
    for step in range(120):
        now = 0.05 * step
        if now < 3.0 and step % 2 == 0:
            pad.hold("ahead", now)
            pad.hold("left", now)
        command = pad.command(now, SETTINGS)
        assert command is not None
        speeds.append(command.speed)
        if now == 2.5:
            assert command.yaw_rate > 0.1
    assert max(speeds) == SETTINGS.max_speed_mps
    released = round((3.0 + PAD_HOLD_S) / 0.05)
    assert speeds[released + 25] == 0.0  # 5 m/s at 6 m/s^2 takes 0.9 s


def test_switching_driving_off_sends_stops_for_a_moment_and_then_nothing() -> None:
    pad = DrivePad()
    pad.switch(True, 0.0)
    for step in range(20):
        pad.hold("ahead", 0.05 * step)
        pad.command(0.05 * step, SETTINGS)
    pad.switch(False, 1.0)
    first = pad.command(1.0, SETTINGS)
    assert first is not None
    assert first.is_stop
    assert first.speed == 0.0
    assert pad.command(1.0 + LAST_WORDS_S + 0.01, SETTINGS) is None


def test_switching_driving_on_again_does_not_keep_what_was_held() -> None:
    pad = DrivePad()
    pad.switch(True, 0.0)
    pad.hold("ahead", 0.0, seconds=100.0)
    pad.switch(False, 0.1)
    pad.switch(True, 0.2)
    command = pad.command(0.25, SETTINGS)
    assert command is not None
    assert command.speed == 0.0


# Camera and server


def test_chasing_camera_comes_round_the_short_way() -> None:
    chase = Chase()
    chase.heading(0.0, math.radians(170.0))
    for step in range(1, 100):
        heading = chase.heading(0.05 * step, math.radians(-170.0))
        assert 169.0 < math.degrees(heading) < 191.0
    assert math.degrees(heading) == pytest.approx(190.0, abs=0.1)


def test_chasing_camera_keeps_the_distance_and_height_that_it_was_zoomed_to() -> None:
    zoom = Zoom()
    zoom.record(np.array(STARTS[CHASE]))  # it has arrived
    zoom.record(np.array([3.0, 4.0, 2.0]))
    assert_allclose(zoom.chased(math.radians(90.0)), (0.0, -5.0, 2.0), atol=1e-12)


def test_chasing_camera_ignores_positions_from_before_it_arrived() -> None:
    zoom = Zoom()
    zoom.record(np.array([3.0, 3.0, 3.0]))  # initial position of browsers
    assert_allclose(zoom.chased(0.0), STARTS[CHASE], atol=1e-12)


def test_next_free_port_is_used() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) <= port + 100


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_an_address_that_is_not_ours_is_rejected_in_one_line(host: str) -> None:
    with pytest.raises(SettingsError, match="host: must be an address of this machine"):
        free_port(host, 8080)


def test_sockets_of_other_pages_are_rejected() -> None:
    assert is_own_page("http://127.0.0.1:8080", "127.0.0.1:8080", is_local=True)
    assert not is_own_page("https://elsewhere.example", "127.0.0.1:8080", is_local=True)
    assert not is_own_page("http://rebound.example:8080", "rebound.example:8080", is_local=True)
    assert is_own_page("http://lab-pc:8080", "lab-pc:8080", is_local=False)
    assert not is_own_page("http://elsewhere.example", "lab-pc:8080", is_local=False)


def test_heading_pitch_and_roll_come_back_out_of_a_quaternion() -> None:
    roll, pitch, yaw = 0.1, -0.2, 2.5
    half = [(math.sin(0.5 * angle), math.cos(0.5 * angle)) for angle in (roll, pitch, yaw)]
    (sr, cr), (sp, cp), (sy, cy) = half
    quaternion = np.array(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )
    assert_allclose(reading.euler(quaternion), (roll, pitch, yaw), atol=1e-12)
