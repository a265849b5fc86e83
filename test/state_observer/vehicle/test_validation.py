"""Accepted and rejected input (fault_cases.md rows 3, 4 and 12)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmark.observer_drives import START_NS, altered
from proving_ground.settings.units import NS_PER_S
from sensors.samples import EncoderSample, GpsSample
from state_observer.vehicle.layout import POSITION
from state_observer.vehicle.observer import BasicObserver, InsObserver, VehicleObserver
from state_observer.vehicle.settings import VehicleObserverSettings
from state_observer.vehicle.validation import LEAST_STD, Rejection, Sample, pose_variances
from terrain.ground import FlatGround


@pytest.fixture(scope="module")
def samples(block_samples: list[Sample]) -> list[Sample]:
    """8 s: standstill, start, driving."""
    return [sample for sample in block_samples if sample.time_ns < START_NS + 8 * NS_PER_S]


def fed(observer: BasicObserver, samples: list[Sample]) -> bytes:
    observer.reset()
    for sample in samples:
        observer.process(sample)
    return bytes(observer.filter.filter_state.tobytes())


# Encoders.

ABSURD: dict[str, Callable[[Any], Any]] = {
    "engine at 20000 rad/s": lambda s: s._replace(engine_speed=2e4),
    "engine at 1e150 rad/s": lambda s: s._replace(engine_speed=1e150),
    "engine backward": lambda s: s._replace(engine_speed=-500.0),
    "negative throttle": lambda s: s._replace(throttle=-1e9),
    "throttle of 7": lambda s: s._replace(throttle=7.0),
    "negative brake pressure": lambda s: s._replace(brake_pressure=-1e9),
    "wheels at 400 rad/s": lambda s: s._replace(wheel_rate=np.full(4, 400.0)),
    "wheel angle of 1e100": lambda s: s._replace(wheel_angle=s.wheel_angle + 1e100),
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_encoders_are_rejected_and_leave_no_trace(
    samples: list[Sample], observer: VehicleObserver, name: str
) -> None:
    without = fed(observer, altered(samples, EncoderSample, 6.0, 7.0))

    assert fed(observer, altered(samples, EncoderSample, 6.0, 7.0, ABSURD[name])) == without

    assert observer.health().rejected == {"encoders: out of range": 100}


def test_a_wheel_that_moves_too_far_at_once_is_rejected(samples: list[Sample], observer: VehicleObserver) -> None:
    without = fed(observer, altered(samples, EncoderSample, 6.0, 6.01))

    far = altered(samples, EncoderSample, 6.0, 6.01, lambda s: s._replace(wheel_angle=s.wheel_angle + 1e6))

    assert fed(observer, far) == without
    assert observer.health().rejected == {"encoders: wheels turned too far": 1}


def test_reset_counters_cost_one_sample_and_move_nothing(samples: list[Sample], observer: VehicleObserver) -> None:
    fed(observer, samples)
    usual = observer.estimate()["position"].copy()

    fed(observer, altered(samples, EncoderSample, 6.0, 9.0, lambda s: s._replace(wheel_angle=s.wheel_angle - 1e4)))

    assert observer.health().rejected == {"encoders: wheels turned too far": 1}
    assert observer.health().restarts == 0
    assert np.abs(observer.estimate()["position"] - usual)[:2].max() < 0.1


# Fixes.


def test_an_impossible_velocity_is_rejected(samples: list[Sample], observer: VehicleObserver) -> None:
    lied = altered(samples, GpsSample, 0.0, 8.0, lambda s: s._replace(velocity=np.array([1e7, 0.0, 0.0])))

    fed(observer, lied)

    assert set(observer.health().rejected) == {"gps: out of range"}


# Poses.


@pytest.fixture(params=["vehicle", "ins"])
def driven(request: pytest.FixtureRequest, samples: list[Sample]) -> BasicObserver:
    """Both observers in turn, running."""
    name = "observer" if request.param == "vehicle" else "ins"
    found: BasicObserver = request.getfixturevalue(name)
    fed(found, samples)
    return found


@pytest.mark.parametrize(
    ("pose", "variances", "words"),
    [
        ((1e9, 0.0, 0.0), (0.25, 0.07), "far from the datum"),
        ((0.0, -1e300, 0.0), (0.25, 0.07), "far from the datum"),
        ((math.nan, 0.0, 0.0), (0.25, 0.07), "not finite"),
        ((0.0, 0.0, math.inf), (0.25, 0.07), "not finite"),
        ((0.0, 0.0, 0.0), (-0.25, 0.07), "negative"),
        ((0.0, 0.0, 0.0), (math.nan, 0.07), "not finite"),
        ((0.0, 0.0, 0.0), (1e9, 0.07), "too large"),
    ],
)
def test_an_invalid_pose_is_rejected_without_effect(
    driven: BasicObserver, pose: tuple[float, float, float], variances: tuple[float, float], words: str
) -> None:
    before = driven.filter.filter_state.tobytes()

    verdict = driven.set_pose(*pose, position_variance=variances[0], heading_variance=variances[1])

    assert not verdict.is_accepted
    assert words in verdict.reason
    assert driven.filter.filter_state.tobytes() == before


def test_where_the_model_cannot_stand_nothing_starts_and_a_warning_says_so(
    samples: list[Sample], settings: VehicleObserverSettings
) -> None:
    observer = VehicleObserver(settings, ground=FlatGround(slope_x=20.0))  # a wall

    fed(observer, samples)  # fixes that would start it

    assert not observer.is_running
    assert any(words.startswith("start: the vehicle finds no balance") for words in observer.health().warnings)
    before = observer.filter.filter_state.tobytes()
    verdict = observer.set_pose(1.0, 0.0, 0.0)
    assert not verdict.is_accepted
    assert verdict.reason.startswith("pose: the vehicle finds no balance")
    assert observer.filter.filter_state.tobytes() == before


def test_a_pose_with_zero_variance_gets_a_small_one(driven: BasicObserver) -> None:
    assert driven.set_pose(5.0, 6.0, 0.1, position_variance=0.0, heading_variance=0.0).is_accepted

    covariance = driven.filter.filter_state["covariance"][0]
    assert covariance[POSITION, POSITION] == pytest.approx(LEAST_STD**2)


def test_headings_beyond_a_full_turn_are_wrapped(ins: InsObserver, samples: list[Sample]) -> None:
    fed(ins, samples)
    assert ins.set_pose(5.0, 6.0, 1.0 + 1e3 * math.tau).is_accepted
    x, y, z, w = ins.estimate()["attitude"]
    assert math.atan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z)) == pytest.approx(1.0, abs=1e-6)


def covariance(**values: float) -> Any:
    positions = {"x": 0, "xy": 1, "yx": 6, "y": 7, "z": 14, "yaw": 35}
    found = np.zeros(36)
    for name, value in values.items():
        found[positions[name]] = value
    return found


def test_zero_covariances_mean_unknown_each_by_itself() -> None:
    assert pose_variances(covariance()) == (0.25, 0.07)
    assert pose_variances(covariance(x=4.0, y=9.0)) == (9.0, 0.07)
    assert pose_variances(covariance(yaw=0.01)) == (0.25, 0.01)


@pytest.mark.parametrize(
    "bad",
    [
        covariance(x=-1.0, y=1.0, yaw=0.1),
        covariance(x=1.0, y=1.0, yaw=-0.1),
        covariance(x=math.nan, y=1.0, yaw=0.1),
        covariance(x=1.0, y=1.0, z=math.inf, yaw=0.1),
        covariance(x=1.0, y=1.0, xy=2.0, yx=2.0, yaw=0.1),
        covariance(x=1.0, y=1.0, xy=0.5, yaw=0.1),
        np.zeros(35),
    ],
)
def test_invalid_covariances_are_rejected(bad: Any) -> None:
    assert isinstance(pose_variances(bad), Rejection)
