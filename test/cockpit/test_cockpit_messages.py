"""Messages in the cockpit: poses, clouds, trails, plots and words, and rejection of invalid ones."""

from __future__ import annotations

import math
from types import SimpleNamespace as Fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.cockpit import reading
from proving_ground.cockpit.cloud_view import Mount, cloud_view
from proving_ground.cockpit.ellipse import confidence_ellipse
from proving_ground.cockpit.replay_state import replay_state
from proving_ground.cockpit.stage import filled_up
from proving_ground.cockpit.tracks import Pace, Poses, Strip, Trail
from proving_ground.cockpit.view_model import ViewModel
from proving_ground.cockpit.words import GONE_AFTER_S, NodeWords, nodes_html, speed_words
from proving_ground.recording.figures import rotated

NS = 1_000_000_000
NOON = 1_767_268_800 * NS
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


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
