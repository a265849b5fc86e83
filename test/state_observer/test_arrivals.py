"""Arrival statistics of the observer node, and conversion of messages to samples. No ROS."""

from __future__ import annotations

from types import SimpleNamespace as Message
from typing import Any

import numpy as np

from proving_ground.interfaces.joints import DRIVE
from proving_ground.interfaces.joints import WHEELS as WHEEL_NAMES
from proving_ground.interfaces.sample_synchroniser import ROLES, SampleSynchroniser
from proving_ground.interfaces.synchronisers import PairSynchroniser
from sensors.samples import EncoderSample, ImuSample
from state_observer.arrivals import Arrivals, RecentCounts

MS = 1_000_000
BEGIN_NS = 1_767_225_600_000 * MS
IMU, WHEELS, ACTUATION = "imu", "wheels", "actuation"
ALL = {role: topic.name for role, topic in ROLES.items()}


def header(time_ns: int) -> Any:
    return Message(stamp=Message(sec=time_ns // 10**9, nanosec=time_ns % 10**9))


def imu(time_ns: int) -> Any:
    return Message(
        header=header(time_ns),
        angular_velocity_covariance=np.zeros(9), linear_acceleration_covariance=np.zeros(9),
        orientation_covariance=np.full(9, -1.0), orientation=Message(x=0.0, y=0.0, z=0.0, w=1.0),
        angular_velocity=Message(x=0.0, y=0.0, z=0.0), linear_acceleration=Message(x=0.0, y=0.0, z=9.8),
    )  # fmt: skip


def joints(time_ns: int, names: tuple[str, ...], value: float = 0.0) -> Any:
    values = [value] * len(names)
    return Message(header=header(time_ns), name=list(names), position=values, velocity=values, effort=values)


def test_wheels_wait_for_their_actuation_and_get_its_steering() -> None:
    samples = SampleSynchroniser(ALL, holds_imu=True)
    assert samples.process(WHEELS, joints(BEGIN_NS, WHEEL_NAMES, 1.0), 0) == []
    (found,) = samples.process(ACTUATION, joints(BEGIN_NS, DRIVE, 0.3), MS)
    assert isinstance(found, EncoderSample)
    assert (found.wheel_angle[0], found.steering) == (1.0, 0.3)


def test_wheels_without_required_actuation_give_no_sample() -> None:
    samples = SampleSynchroniser(ALL, holds_imu=True)
    samples.process(WHEELS, joints(BEGIN_NS, WHEEL_NAMES), 0)
    found = [item for k in range(30) for item in samples.process(IMU, imu(BEGIN_NS + 10 * k * MS), 10 * k * MS)]
    assert not any(isinstance(item, EncoderSample) for item in found)
    assert samples.rejected == {f"{ALL[WHEELS]}: no actuation near its time": 1}


def test_wheels_alone_give_a_sample_at_once_if_they_suffice() -> None:
    samples = SampleSynchroniser({role: topic for role, topic in ALL.items() if role != ACTUATION}, holds_imu=True)
    (found,) = samples.process(WHEELS, joints(BEGIN_NS, WHEEL_NAMES), 0)
    assert isinstance(found, EncoderSample)


def test_an_imu_sample_from_the_future_does_not_delay_or_repeat_others() -> None:
    samples = SampleSynchroniser({role: topic for role, topic in ALL.items() if role != ACTUATION}, holds_imu=True)
    sent = [BEGIN_NS + 3_600_000 * MS, *(BEGIN_NS + 10 * k * MS for k in range(1, 21))]
    found = []
    for time_ns in sent:
        found += samples.process(IMU, imu(time_ns), 0)
        found += samples.process(WHEELS, joints(time_ns, WHEEL_NAMES), 0) if time_ns < BEGIN_NS + 10**12 else []
    times = [item.time_ns for item in found if isinstance(item, ImuSample)]
    assert len(times) == len(set(times))
    assert set(sent[1:]) <= set(times)


def test_an_invalid_message_is_counted() -> None:
    samples = SampleSynchroniser(ALL, holds_imu=True)
    assert samples.process(WHEELS, joints(BEGIN_NS, ("a", "b")), 0) == []
    assert samples.rejected == {f"{ALL[WHEELS]}: has no front_left_wheel": 1}


def test_a_first_sample_from_the_future_does_not_delay_others() -> None:
    synchroniser: PairSynchroniser[Any, Any] = PairSynchroniser(5 * MS, has_second=True)
    synchroniser.first(0, Message(time_ns=10**15))
    synchroniser.first(1, Message(time_ns=10 * MS))
    ((first, second),) = synchroniser.second(2, Message(time_ns=10 * MS))
    assert second is not None
    assert first.time_ns == second.time_ns == 10 * MS


def test_topics_that_never_come_or_stop_are_reported_while_others_go_on() -> None:
    arrivals = Arrivals(["imu", "fix", "velocity"], 100.0)
    assert arrivals.missing(102.0) == []
    for k in range(500):
        arrivals.record("imu", 100.0 + 0.01 * k, 0.0)
        if k < 200 and k % 20 == 0:
            arrivals.record("fix", 100.0 + 0.01 * k, 0.0)
    assert arrivals.missing(105.0) == ["fix: silent", "velocity: none has come"]
    assert arrivals.missing(115.0) == ["velocity: none has come"]  # all are silent: left to another clock


def test_delay_is_known_for_equal_clocks_and_latency_always() -> None:
    arrivals = Arrivals(["imu", "fix"], 100.0)
    for k in range(10):
        arrivals.record("imu", 100.0 + k, 0.02)
        arrivals.record("fix", 100.0 + k, 1e9)
        arrivals.expect(k, 100.0 + k)
        arrivals.published(k, 100.0 + k + (0.5 if k == 3 else 0.0))
    assert arrivals.figures() == {
        "delay_ms imu": "20.00", "delay_ms fix": "unknown", "latency_ms": "50.00", "latency_max_ms": "500.00",
    }  # fmt: skip
    assert arrivals.figures()["latency_ms"] == "unknown"  # no estimate since


def test_a_rejection_counts_as_recent_for_five_seconds() -> None:
    recent = RecentCounts()
    assert recent.update({"imu: not finite": 3}, 10.0) == ["imu: not finite"]
    assert recent.update({"imu: not finite": 3}, 14.0) == ["imu: not finite"]
    assert recent.update({"imu: not finite": 3, "gps: no fix": 1}, 16.0) == ["gps: no fix"]
    assert recent.update({"imu: not finite": 4}, 22.0) == ["imu: not finite"]
