"""Codecs fill and read messages of rclpy and of rosbags alike, and both give the same bytes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"  # before message classes are imported: they then check what is set

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import serialize_message

from planner.maps.grid import LocalGrid, Window
from planner.planning import Arcs
from proving_ground.interfaces import joints, topics
from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.diagnostics_codec import add_figures, fill_health
from proving_ground.interfaces.fields import read_stamp, set_stamp
from proving_ground.interfaces.map_codec import fill_arcs, fill_grid, fill_local_grid, fill_path, fill_shapes
from proving_ground.interfaces.motion_codec import (
    describe_forces,
    fill_accel,
    fill_estimate,
    fill_forces,
    fill_odometry,
    fill_truth_actuation,
    fill_truth_wheels,
    make_exact,
    read_accel,
    read_odometry,
    read_truth_actuation,
)
from proving_ground.interfaces.sensor_codec import (
    UNKNOWN_VARIANCE,
    encoder_sample,
    fill_actuation,
    fill_cloud,
    fill_datum,
    fill_fix,
    fill_gps_velocity,
    fill_imu,
    fill_scan,
    fill_wheels,
    lidar_cloud,
    read_actuation,
    read_gps,
    read_gps_velocity,
    read_imu,
    read_wheels,
)
from proving_ground.recording.types import empty, from_bytes, to_bytes
from proving_ground.ros_support.health import Health, Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.point_cloud import cloud_to_points
from sensors.gps import DEFAULT_DATUM
from sensors.lidar.planar import PlanarScan
from sensors.samples import LIDAR_POINT
from sensors.streams import stream
from some_samples import NOW_NS, assert_same, encoders, gps, imu
from state_observer.vehicle.forces import Forces
from state_observer.vehicle.layout import ESTIMATE
from terrain.map_messages import Shape
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.driving.snapshot import SNAPSHOT

WORLDS: list[Any] = [pytest.param(new_message, id="rclpy"), pytest.param(empty, id="rosbags")]
MOTION = BaseMotion(
    (1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8), (4.0, 0.1, 0.0), (0.0, 0.1, 0.2), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)
)
Make = Callable[..., Any]


def filled(make: Make, type_name: str, fill: Callable[..., None], *values: Any, **options: Any) -> Any:
    message = make(type_name)
    fill(message, *values, **options)
    return message


def named(make: Make, names: tuple[str, ...], fill: Callable[..., None], *values: Any) -> Any:
    message = make(types.JOINTS)
    message.name = list(names)
    fill(message, *values)
    return message


def snapshot() -> Any:
    seen = np.zeros(1, SNAPSHOT)[0]
    seen["spin"], seen["spin_rate"], seen["load"] = np.arange(4.0), np.arange(4.0) + 20.0, np.arange(4.0) + 5e3
    seen["drive_torque"], seen["brake_torque"] = np.arange(4.0) + 10.0, -np.ones(4)
    seen["pitman_angle"], seen["throttle"], seen["brake"], seen["engine_speed"], seen["gear"] = -0.1, 0.2, 0.3, 99.0, 2
    return seen


# Round trips


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("has_attitude", [True, False])
def test_an_imu_sample_comes_back_from_its_message(make: Make, has_attitude: bool) -> None:
    back = read_imu(filled(make, types.IMU, fill_imu, imu(), has_attitude=has_attitude))

    nothing = {"attitude": None, "attitude_variance": 0.0, "heading_variance": 0.0}
    assert_same(back, imu() if has_attitude else imu()._replace(**nothing))


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("quality", [1, 2, 4])
def test_a_fix_and_its_velocity_come_back_as_one_sample(make: Make, quality: int) -> None:
    fix = filled(make, types.FIX, fill_fix, gps(quality))
    velocity = filled(make, types.VELOCITY, fill_gps_velocity, gps(quality))

    assert_same(read_gps(fix, read_gps_velocity(velocity)), gps(quality))


@pytest.mark.parametrize("make", WORLDS)
def test_a_fix_without_velocity_has_one_that_observers_leave_out(make: Make) -> None:
    back = read_gps(filled(make, types.FIX, fill_fix, gps()), None)

    assert (back.velocity_variance == UNKNOWN_VARIANCE).all()
    assert back.course is None
    np.testing.assert_array_equal(back.variance, gps().variance)


@pytest.mark.parametrize("make", WORLDS)
def test_a_message_that_is_filled_again_keeps_no_old_values(make: Make) -> None:
    message = filled(make, types.FIX, fill_fix, gps())
    fill_fix(message, gps(0))
    attitude = filled(make, types.IMU, fill_imu, imu(), has_attitude=True)
    fill_imu(attitude, imu(), has_attitude=False)

    assert bytes_of(message) == bytes_of(filled(make, types.FIX, fill_fix, gps(0)))
    assert bytes_of(attitude) == bytes_of(filled(make, types.IMU, fill_imu, imu(), has_attitude=False))
    assert read_gps(message, None).quality == 0


@pytest.mark.parametrize("make", WORLDS)
def test_wheels_and_actuation_come_back_as_one_sample(make: Make) -> None:
    wheels = named(make, joints.WHEELS, fill_wheels, encoders())
    actuation = named(make, joints.ACTUATION, fill_actuation, encoders())

    assert_same(encoder_sample(read_wheels(wheels), read_actuation(actuation)), encoders())


@pytest.mark.parametrize("make", WORLDS)
def test_joints_in_another_order_are_found_by_name(make: Make) -> None:
    message = named(make, joints.WHEELS, fill_wheels, encoders())
    for name in ("position", "velocity", "effort"):
        setattr(message, name, getattr(message, name)[::-1])
    message.name = message.name[::-1]

    np.testing.assert_array_equal(read_wheels(message).angle, encoders().wheel_angle)


@pytest.mark.parametrize("make", WORLDS)
def test_truth_comes_back(make: Make) -> None:
    odometry = filled(make, types.ODOMETRY, fill_odometry, NOW_NS, MOTION)
    accel = filled(make, types.ACCEL, fill_accel, NOW_NS, MOTION)
    drive = read_truth_actuation(named(make, joints.TRUTH_ACTUATION, fill_truth_actuation, NOW_NS, snapshot()))

    assert read_odometry(odometry) == (NOW_NS, *MOTION[:4])
    assert read_accel(accel) == (MOTION.acceleration, MOTION.angular_acceleration)
    assert (drive.steering, drive.throttle, drive.brake, drive.engine_speed) == (0.1, 0.2, 0.3, 99.0)
    np.testing.assert_array_equal(drive.wheel_torque, np.arange(4.0) + 9.0)


FINITE = st.floats(-1e3, 1e3)
TRIPLES = st.tuples(FINITE, FINITE, FINITE)


@pytest.mark.parametrize("make", WORLDS)
@given(st.integers(0, 2**31 * 10**9 - 1), TRIPLES, TRIPLES, TRIPLES)
def test_any_motion_comes_back_to_the_bit(
    make: Make, time_ns: int, position: Any, velocity: Any, angular_velocity: Any
) -> None:
    motion = MOTION._replace(position=position, velocity=velocity, angular_velocity=angular_velocity)

    assert read_odometry(filled(make, types.ODOMETRY, fill_odometry, time_ns, motion)) == (time_ns, *motion[:4])


@pytest.mark.parametrize("make", WORLDS)
@given(st.integers(-(2**31) * 10**9, 2**31 * 10**9 - 1))
def test_stamps_are_integers_all_the_way(make: Make, time_ns: int) -> None:
    message = make("builtin_interfaces/msg/Time")
    set_stamp(message, time_ns)

    assert read_stamp(message) == time_ns


@pytest.mark.parametrize("make", WORLDS)
@given(st.lists(st.floats(-1e6, 1e6, width=32), max_size=40))
def test_points_come_back_from_a_cloud(make: Make, values: list[float]) -> None:
    points = np.zeros(len(values), LIDAR_POINT)
    points["x"] = values
    cloud = lidar_cloud(make(types.CLOUD), make)
    for count in (len(values), 0, len(values)):  # also when it is filled again
        fill_cloud(cloud, NOW_NS, points[:count])

    np.testing.assert_array_equal(cloud_to_points(cloud).reshape(-1)["x"], points["x"])


# Rejections


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda m: setattr(m.header.stamp, "nanosec", 2_000_000_000), "stamp has nanosec 2000000000"),
        (lambda m: m.angular_velocity_covariance.__setitem__(0, -1.0), "has no rates"),
    ],
)
def test_an_invalid_imu_message_is_rejected(make: Make, spoil: Callable[[Any], None], words: str) -> None:
    message = filled(make, types.IMU, fill_imu, imu(), has_attitude=False)
    spoil(message)
    with pytest.raises(ValueError, match=words):
        read_imu(message)


@pytest.mark.parametrize("make", WORLDS)
def test_joints_with_a_missing_wheel_are_rejected_by_its_name(make: Make) -> None:
    message = named(make, joints.WHEELS, fill_wheels, encoders())
    message.name = [*message.name[:2], "spare", message.name[3]]
    with pytest.raises(ValueError, match="has no rear_left_wheel"):
        read_wheels(message)


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e9])
@pytest.mark.parametrize("part", ["pose.pose.position", "twist.twist.linear", "twist.twist.angular"])
def test_implausible_odometry_is_rejected(make: Make, bad: float, part: str) -> None:
    message = filled(make, types.ODOMETRY, fill_odometry, NOW_NS, MOTION)
    vector: Any = message
    for name in part.split("."):
        vector = getattr(vector, name)
    vector.y = bad
    with pytest.raises(ValueError, match=r"not finite|must be within"):
        read_odometry(message)


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("w", [0.0, 3.0, float("nan")])
def test_an_attitude_that_is_not_a_rotation_is_rejected(make: Make, w: float) -> None:
    message = filled(make, types.ODOMETRY, fill_odometry, NOW_NS, MOTION)
    message.pose.pose.orientation.z, message.pose.pose.orientation.w = 0.0, w
    with pytest.raises(ValueError, match="quaternion"):
        read_odometry(message)


# rclpy and rosbags


def bytes_of(message: Any) -> bytes:
    """CDR, read and written once more by one library: padding is unspecified."""
    if hasattr(message, "__msgtype__"):
        return bytes(to_bytes(message))
    name = f"{type(message).__module__.split('.')[0]}/msg/{type(message).__name__}"
    data = serialize_message(message)
    for spare in (0, 4, 8):  # rmw leaves room for the padding of empty arrays
        with contextlib.suppress(ValueError):
            return bytes(to_bytes(from_bytes(data[: len(data) - spare], name)))
    raise AssertionError(f"{name} cannot be read")


def _messages(make: Make) -> dict[str, Any]:
    """One of each message that nodes and bags write."""
    points = np.zeros(3, LIDAR_POINT)
    points["x"], points["ring"] = (1.0, 2.0, 3.0), (0, 1, 2)
    scan = PlanarScan(NOW_NS, -1.0, 1.0, 0.5, 0.01, 0.1, 0.5, 100.0, np.array([1.0, np.inf, -np.inf], np.float32))
    exact = filled(make, types.ODOMETRY, fill_odometry, NOW_NS, MOTION)
    make_exact(exact)
    exact.header.frame_id, exact.child_frame_id = "map", "base_link"
    cloud = lidar_cloud(make(types.CLOUD), make)
    fill_cloud(cloud, NOW_NS, points)
    return {
        "imu": filled(make, types.IMU, fill_imu, imu(), has_attitude=True),
        "raw": filled(make, types.IMU, fill_imu, imu(), has_attitude=False),
        "fix": filled(make, types.FIX, fill_fix, gps()),
        "no fix": filled(make, types.FIX, fill_fix, gps(0)),
        "datum": filled(make, types.FIX, fill_datum, 0, DEFAULT_DATUM),
        "velocity": filled(make, types.VELOCITY, fill_gps_velocity, gps()),
        "wheels": named(make, joints.WHEELS, fill_wheels, encoders()),
        "actuation": named(make, joints.ACTUATION, fill_actuation, encoders()),
        "truth": named(make, joints.TRUTH_ACTUATION, fill_truth_actuation, NOW_NS, snapshot()),
        "truth of wheels": named(make, joints.TRUTH_WHEELS, fill_truth_wheels, NOW_NS, snapshot()),
        "cloud": cloud,
        "scan": filled(make, types.SCAN, fill_scan, scan),
        "odometry": exact,
        "accel": filled(make, types.ACCEL, fill_accel, NOW_NS, MOTION),
        **_maps(make),
        **_findings(make),
    }


def _maps(make: Make) -> dict[str, Any]:
    cells = np.array([[0, 100, -1], [0, 0, 100]], np.int8)
    heights = np.zeros(cells.shape, np.float32)
    grid = LocalGrid(Window(-4, 7, 3, 2, 0.5), cells, heights, heights, 0.0)
    line = np.array([[0.0, 1.0, 0.1], [1.0, 2.0, 0.2], [2.0, 4.0, 0.3]])
    local, path = make(types.GRID), make(types.PATH)
    path.header.frame_id = "map"
    fill_local_grid(local, NOW_NS, grid)
    fill_path(path, NOW_NS, line[:, :2], 0.7, make)
    corners = {"points": line, "order": np.array([0, 1, 2, 0], np.int32)}
    shapes = [
        Shape(group="posts", number=3, kind="cylinder", position=(1.0, 2.0, 3.0), yaw=0.3, size=(1.0, 1.0, 2.0)),
        Shape(group="ground", number=0, kind="triangles", colours=np.full((3, 3), 0.25), **corners),
    ]
    return {
        "map": filled(make, types.GRID, fill_grid, cells, 0.5, -2.0, 3.0),
        "local map": local,
        "path": path,
        "no path": filled(make, types.PATH, fill_path, NOW_NS, np.zeros((0, 2)), 0.7, make),
        "arcs": filled(make, types.MARKERS, fill_arcs, path.header, Arcs(line, (line, line)), 0.7, make),
        "shapes": filled(make, types.MARKERS, fill_shapes, path.header, shapes, make),
    }


def _findings(make: Make) -> dict[str, Any]:
    estimate = np.zeros(1, ESTIMATE)[0]
    draw = stream(1, "test", "estimate")
    for name in ("position", "attitude", "velocity", "angular_velocity", "covariance"):
        estimate[name] = draw.normal(size=estimate[name].shape)
    table = make(types.TABLE)
    describe_forces(table, 4, make)
    fill_forces(table, Forces(*(np.arange(4.0) + k for k in range(9))))
    health = Health()
    health.report("status", Level.WARN, "starting")
    health.count("rejected")
    diagnostics = make(types.DIAGNOSTICS)
    fill_health(diagnostics, health, "/observer", NOW_NS, make)
    add_figures(diagnostics, {"status": "starting"}, make)
    return {
        "estimate": filled(make, types.ODOMETRY, fill_estimate, estimate),
        "forces": table,
        "diagnostics": diagnostics,
    }


def test_messages_are_value_for_value_those_of_the_nodes() -> None:
    nodes, bags = _messages(new_message), _messages(empty)

    assert {name: bytes_of(message) for name, message in nodes.items()} == {
        name: bytes_of(message) for name, message in bags.items()
    }


@pytest.mark.parametrize("topic", topics.TOPICS, ids=lambda topic: topic.name)
def test_empty_messages_of_both_kinds_are_the_same(topic: Any) -> None:
    if topic.type != types.ACKERMANN:  # which rosbags does not know
        assert bytes_of(new_message(topic.type)) == bytes_of(empty(topic.type))


def test_fields_of_rclpy_are_checked_in_these_tests() -> None:
    with pytest.raises(AssertionError):
        new_message(types.TEXT).data = 3
