"""The record of a run from a bag of its topics: the channels that the bag has data for, at the truth's instants.

/ground_truth/odom is needed; /ground_truth/accel, /ground_truth/actuation, /joint_states, /odometry/filtered and
/diagnostics add what they hold. Callers that know more (scenario, verdict, world) add it with dataclasses.replace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.joints import CORNERS
from proving_ground.interfaces.motion_codec import read_odometry
from proving_ground.recording.reading import Bag, open_bag
from proving_ground.recording.types import from_bytes
from proving_ground.report.bag_diagnostics import DIAGNOSTICS, Diagnostics
from proving_ground.report.run_record import Event, RunRecord, Vector, in_order, missing_events
from proving_ground.scenarios.channels import (
    ESTIMATE_CHANNELS,
    MOTION,
    PER_WHEEL,
    SEAT,
    SINGLE,
    Points,
    channels,
    estimate_channels,
)
from proving_ground.scenarios.estimates import THIN_ESTIMATE
from proving_ground.scenarios.gaps import (
    RECORDING,
    Gap,
    Missing,
    beyond,
    during,
    estimate_gaps,
    gaps,
    missing_text,
)
from proving_ground.settings import SettingsError
from state_observer.vehicle.layout import CRAWL
from vehicle_dynamics.driving.snapshot import SNAPSHOT
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.suspension.strut import length_and_slope
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE, vehicle_file

Array = NDArray[np.float64]
Table = tuple[NDArray[np.int64], Array]  # times [ns], rows

TRUTH, ACCEL, ACTUATION = (topic.absolute for topic in (topics.TRUTH_ODOM, topics.TRUTH_ACCEL, topics.TRUTH_ACTUATION))
COLLISION, WHEEL_TRUTH = topics.COLLISION.absolute, topics.TRUTH_WHEELS.absolute
SAME_NS = 1_000_000
JOINTS, ESTIMATE = topics.JOINT_STATES.absolute, topics.ESTIMATE.absolute
TYPES = {
    topic.absolute: topic.type
    for topic in (
        topics.TRUTH_ODOM, topics.TRUTH_ACCEL, topics.TRUTH_ACTUATION, topics.COLLISION, topics.TRUTH_WHEELS,
        topics.JOINT_STATES, topics.ESTIMATE, topics.DIAGNOSTICS,
    )
}  # fmt: skip
ACCELERATIONS = (*(name for name in MOTION if "acceleration" in name), *SEAT)
FIELDS: dict[str, tuple[str, ...]] = {  # of SNAPSHOT, by the topic that has them; the last one wins
    ACTUATION: ("spin_rate", *joints.PEDALS, "engine_speed"),
    JOINTS: ("spring_compression",),
    WHEEL_TRUTH: (*joints.WHEEL_FIELDS, *joints.VEHICLE_FIELDS),
}
NS = 1e-9


class Recorded(NamedTuple):
    """A run from its bag, and the gaps in it."""

    record: RunRecord
    lacking: Missing


def channels_from_bag(path: Path, vehicle: str = DEFAULT_VEHICLE) -> dict[str, Array]:
    """Channels of proving_ground.scenarios.channels.CHANNELS that the bag has; time_s is 0 at its first truth."""
    return dict(record_from_bag(path, vehicle).channels)


def record_from_bag(path: Path, vehicle: str = DEFAULT_VEHICLE) -> RunRecord:
    """A record that is not judged and lacks what bags do not contain; faults of the bag are in `remarks`.

    path: of a bag, or of a run's folder with all parts of its recording; gaps are among `events`.
    vehicle: name in config/vehicles or a path, for its centre of mass, springs and steering.
    Raises SettingsError.
    """
    return recorded(path, vehicle).record


def recorded(path: Path, vehicle: str = DEFAULT_VEHICLE, *, observer_knows_start: bool = False) -> Recorded:
    """A bag as record_from_bag reads it, with its gaps; observer_knows_start: it should estimate from the start."""
    bag = open_bag(path)
    try:
        model = Hmmwv.from_yaml(vehicle_file(vehicle))
        return _Reader(bag).recorded(path.resolve().stem, model, observer_knows_start)
    finally:
        bag.close()


class _Reader:
    """All data needed from a bag, read once."""

    def __init__(self, bag: Bag) -> None:
        self._bag = bag
        self._rejected: dict[str, str] = {}
        self._rows: dict[str, list[tuple[int, tuple[float, ...]]]] = {topic: [] for topic in TYPES}
        self._arrived: list[int] = []  # log times of the truth
        self._diagnostics = Diagnostics()
        wanted = [topic for topic, kind in TYPES.items() if bag.topics.get(topic) == kind]
        if TRUTH not in wanted:
            raise SettingsError(f"{bag.name}: has no {TRUTH} of type {TYPES[TRUTH]}, so there is no run to report")
        for topic, log_ns, data in bag.messages(wanted):
            try:
                self._add(topic, log_ns, from_bytes(data, TYPES[topic]))
            except ValueError as error:
                self._rejected.setdefault(topic, str(error))

    def _add(self, topic: str, log_ns: int, message: Any) -> None:
        if topic == DIAGNOSTICS:
            self._diagnostics.add(log_ns, message)
            return
        row = _READERS[topic](message)
        if not all(map(math.isfinite, row)):
            raise ValueError("not finite")
        self._rows[topic].append((read_stamp(message.header.stamp), row))
        if topic == TRUTH:
            self._arrived.append(log_ns)

    def recorded(self, name: str, vehicle: Hmmwv, observer_knows_start: bool) -> Recorded:
        """The record from the data read."""
        if not self._rows[TRUTH]:
            raise SettingsError(f"{self._bag.name}: {TRUTH} has no usable message: {self._rejected.get(TRUTH, 'none')}")
        time_ns, _ = truth = self._table(TRUTH)
        start_ns = int(time_ns[0])
        base, centre = vehicle.base_in_chassis, np.array(vehicle.parameters.chassis.centre_of_mass_m)
        seconds: Array = np.asarray((time_ns - start_ns) * NS, np.float64)
        history, known = self._history(vehicle, truth)
        found = channels(seconds, history, Points(centre, base, np.array(vehicle.parameters.seat_m)))
        estimates = self._estimates(-base)
        if estimates is not None:
            of_estimates = estimate_channels(start_ns, seconds, history, base, estimates)
            found, known = found | of_estimates, known | set(of_estimates)
        stamps = [row[0] for row in self._rows[TRUTH]]
        order = np.argsort(self._arrived, kind="stable")
        arrivals, stamped = np.array(self._arrived)[order], np.array(stamps)[order]

        def when(log_ns: int) -> float:
            return float(np.interp(log_ns - arrivals[0], arrivals - arrivals[0], (stamped - start_ns) * NS))

        events, innovations = self._diagnostics.collected(when)
        silent = self._silent(time_ns) | {ESTIMATE: estimate_gaps(start_ns, seconds, estimates, observer_knows_start)}
        missing = gaps(seconds)
        gap_events, remarks = _reported(missing, silent)
        remarks += [
            *self._bag.remarks,
            *(f"{topic}: messages left out: {why}" for topic, why in self._rejected.items()),
        ]
        record = RunRecord(
            name=name,
            description=f"From the bag {self._bag.name}",
            kind="ros" if "vehicle" in self._diagnostics.nodes else "lock-step",
            channels={key: values for key, values in found.items() if key in known},
            start_ns=start_ns,
            estimates=estimates,
            innovations=innovations,
            centre_in_base_m=_vector(centre - base),
            sideslip_at_m=_vector(-base),
            events=in_order([*gap_events, *events]),
            remarks=tuple(remarks),
        )
        return Recorded(record, Missing(tuple(missing), _by_channel(silent)))

    def _silent(self, time_ns: NDArray[np.int64]) -> dict[str, list[Gap]]:
        """Gaps of topics that should have all instants of the truth, by topic."""
        length = float(time_ns[-1] - time_ns[0]) * NS
        found = {}
        for topic in (ACCEL, *FIELDS):
            if self._rows[topic]:
                own = (self._table(topic)[0] - time_ns[0]) * NS
                found[topic] = during(gaps(own, 0.0, length), length)
        return found

    def _history(self, vehicle: Hmmwv, truth: Table) -> tuple[NDArray[np.void], set[str]]:
        """Records of SNAPSHOT as far as known, and the names of the channels that can be made from them."""
        time_ns, rows = truth
        base = vehicle.base_in_chassis
        history = np.zeros(len(time_ns), SNAPSHOT)
        attitude, angular_velocity = Rotation.from_quat(rows[:, 3:7]), rows[:, 10:13]
        history["attitude"], history["angular_velocity"] = attitude.as_quat(), angular_velocity
        history["position"] = rows[:, 0:3] - attitude.apply(base)
        # base_link is fixed to the chassis: the velocities of their origins differ by the rotation.
        history["velocity"] = attitude.apply(rows[:, 7:10] - np.cross(angular_velocity, base))
        known = {*MOTION, *SEAT}
        if self._rows[ACCEL]:
            there = self._at(time_ns, ACCEL)
            angular_acceleration = history["angular_acceleration"] = there[:, 3:6]
            swing = np.cross(angular_acceleration, base) + np.cross(angular_velocity, np.cross(angular_velocity, base))
            history["acceleration"] = attitude.apply(there[:, 0:3] - swing)
        else:
            known -= set(ACCELERATIONS)
        if self._rows[ACTUATION]:
            there = self._at(time_ns, ACTUATION)
            history["spin_rate"] = there[:, 0:4]
            most = math.radians(vehicle.parameters.steering.max_pitman_angle_deg)
            history["steering"] = np.clip(there[:, 4] / most, -1.0, 1.0) if most > 0.0 else 0.0
            history["throttle"], history["brake"], history["engine_speed"] = there[:, 5], there[:, 6], there[:, 7]
        if self._rows[JOINTS]:
            history["spring_compression"] = _compression(vehicle, self._at(time_ns, JOINTS))
        if self._rows[WHEEL_TRUTH]:
            there = self._at(time_ns, WHEEL_TRUTH)
            for index, name in enumerate(joints.WHEEL_FIELDS):
                history[name] = there[:, 4 * index : 4 * index + 4]
            for index, name in enumerate(joints.VEHICLE_FIELDS):
                history[name] = there[:, 4 * len(joints.WHEEL_FIELDS) + index]
        if COLLISION in self._bag.topics:
            for stamp, (push,) in self._rows[COLLISION]:
                history["collision"][np.abs(time_ns - stamp) <= SAME_NS] = push
            known |= _channels_of(["collision"])
        for topic, fields in FIELDS.items():
            known |= _channels_of(fields) if self._rows[topic] else set()
        return history, known

    def _estimates(self, middle: Array) -> NDArray[np.void] | None:
        if not self._rows[ESTIMATE]:
            return None
        time_ns, rows = self._table(ESTIMATE)
        pose, twist = rows[:, 13:49].reshape(-1, 6, 6), rows[:, 49:85].reshape(-1, 6, 6)
        estimates = np.zeros(len(time_ns), THIN_ESTIMATE)
        estimates["time_ns"], estimates["position"], estimates["attitude"] = time_ns, rows[:, 0:3], rows[:, 3:7]
        estimates["velocity"], estimates["yaw_rate"] = rows[:, 7:10], rows[:, 12]
        estimates["position_variance"] = np.maximum(np.diagonal(pose, axis1=1, axis2=2)[:, :3], 0.0)
        estimates["planar"][:, 0, 0] = np.maximum(pose[:, 5, 5], 0.0)
        estimates["planar"][:, 1:, 1:] = twist[:, :2, :2]
        # Sideslip of that point, and its variance; errors of velocities and angular velocity are correlated.
        ahead, lateral, _ = (rows[:, 7:10] + np.cross(rows[:, 10:13], middle)).T
        speed = np.maximum(np.hypot(ahead, lateral), CRAWL)
        slope = np.array([0.0, 1.0, 0.0, -middle[2], 0.0, middle[0]])  # Jacobian of the lateral velocity by the twist
        variance = np.maximum(np.einsum("i,nij,j->n", slope, twist, slope), 0.0) / speed**2
        estimates["sideslip"] = np.where(speed > CRAWL, np.arctan2(lateral, np.abs(ahead)), 0.0)
        estimates["sideslip_variance"] = np.minimum(variance, math.pi**2)
        return estimates

    def _table(self, topic: str) -> Table:
        """Sorted by time, each time once."""
        times, first = np.unique(np.array([row[0] for row in self._rows[topic]], np.int64), return_index=True)
        return times, np.array([self._rows[topic][index][1] for index in first.tolist()])

    def _at(self, time_ns: NDArray[np.int64], topic: str) -> Array:
        """Rows of a topic at other times, by linear interpolation."""
        own, rows = self._table(topic)
        zero = time_ns[0]
        there, asked = (own - zero) * NS, (time_ns - zero) * NS
        return np.column_stack([np.interp(asked, there, column) for column in rows.T])


def _channels_of(fields: Sequence[str]) -> set[str]:
    """Names of the channels that can be computed from some fields of SNAPSHOT."""
    found = {name for name, (field, _) in SINGLE.items() if field in fields}
    return found | {
        f"{name}.{corner}" for name, (field, _) in PER_WHEEL.items() if field in fields for corner in CORNERS
    }


def _by_channel(silent: dict[str, list[Gap]]) -> dict[str, list[Gap]]:
    """Gaps of topics as gaps of the channels that come from them."""
    by_topic = {ACCEL: ACCELERATIONS, ESTIMATE: ESTIMATE_CHANNELS}
    by_topic |= {topic: tuple(_channels_of(fields)) for topic, fields in FIELDS.items()}
    return {name: silent[topic] for topic, names in by_topic.items() if topic in silent for name in names}


def _reported(missing: list[Gap], silent: dict[str, list[Gap]]) -> tuple[list[Event], list[str]]:
    """Gaps of the recording, and further gaps of topics, as events and remarks."""
    found = {RECORDING: missing} | {topic: beyond(own, missing) for topic, own in silent.items()}
    events = [event for source, missing in found.items() for event in missing_events(missing, source)]
    return events, [missing_text(missing, source) for source, missing in found.items() if missing]


def _compression(vehicle: Hmmwv, arm_angles: Array) -> Array:
    """Compression of the springs [m], from angles of the lower arms [rad]; n x 4."""
    found = np.zeros(arm_angles.shape)
    for k, corner in enumerate(vehicle.kernel.bodies.corners):
        square, free = corner["strut"]["spring_square"].copy(), float(corner["strut"]["spring_free"])
        cosine, sine = np.cos(arm_angles[:, k]), np.sin(arm_angles[:, k])
        found[:, k] = [free - length_and_slope(square, c, s)[0] for c, s in zip(cosine, sine, strict=True)]
    return found


def _odometry(message: Any) -> tuple[float, ...]:
    """Position, attitude, velocity, angular velocity, and both covariances where valid."""
    pose = read_odometry(message)
    covariances = (*message.pose.covariance.tolist(), *message.twist.covariance.tolist())
    return *pose.position, *pose.attitude, *pose.velocity, *pose.angular_velocity, *covariances


def _accel(message: Any) -> tuple[float, ...]:
    linear, angular = message.accel.linear, message.accel.angular
    return linear.x, linear.y, linear.z, angular.x, angular.y, angular.z


def _actuation(message: Any) -> tuple[float, ...]:
    """Wheel rates, pedals, engine speed."""
    rates, pedals = _named(message, joints.WHEELS, "velocity"), _named(message, joints.PEDALS, "position")
    return *rates, *pedals, *_named(message, (joints.ENGINE,), "velocity")


def _wheel_truth(message: Any) -> tuple[float, ...]:
    return _named(message, joints.TRUTH_WHEELS, "position")


def _collision(message: Any) -> tuple[float, ...]:
    return (message.wrench.force.x,)


def _arms(message: Any) -> tuple[float, ...]:
    return _named(message, joints.LOWER_ARMS, "position")


def _named(message: Any, names: Sequence[str], field: str) -> tuple[float, ...]:
    values = getattr(message, field)
    try:
        return tuple(float(values[message.name.index(name)]) for name in names)
    except (ValueError, IndexError):
        raise ValueError(f"has no {field} of {', '.join(names)}") from None


_READERS = {
    TRUTH: _odometry,
    ACCEL: _accel,
    ACTUATION: _actuation,
    JOINTS: _arms,
    ESTIMATE: _odometry,
    COLLISION: _collision,
    WHEEL_TRUTH: _wheel_truth,
}


def _vector(values: Array) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
