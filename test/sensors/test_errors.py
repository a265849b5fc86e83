"""Error models: statistics as configured, readings quantised and limited, nothing is redrawn."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from sensors.errors import ErrorModel, ErrorParameters, limited

Array = NDArray[np.float64]
Judge = Callable[..., bool]

MANY = 4000  # channels, each an independent realisation
S = 1_000_000_000  # [ns]
PERIOD = S // 100
ALL = ErrorParameters(
    noise=0.2, constant_bias=0.5, drifting_bias=0.3, drift_time_s=20.0, random_walk=0.1, scale=0.01,
    misalignment=0.002, resolution=0.01, limit=50.0,
)  # fmt: skip


def errors_after(parameters: ErrorParameters, times_s: list[float], true: float = 0.0) -> list[Array]:
    """Errors of many channels at times."""
    model = ErrorModel(parameters, MANY, 1, "sensor")
    truth = np.full(MANY, true)
    return [model.apply(round(time * S), truth) - truth for time in times_s]


def test_without_errors_the_truth_is_read() -> None:
    truth = np.array([1.0, -2.0, 3.3])
    assert_array_equal(ErrorModel(ErrorParameters(), 3, 1, "sensor").apply(0, truth), truth)


def test_noise_has_its_deviation_and_is_uncorrelated(has_deviation: Judge, has_correlation: Judge) -> None:
    first, second = errors_after(ErrorParameters(noise=0.2), [0.0, 0.01])

    assert has_deviation(first, 0.2)
    assert has_deviation(second, 0.2)
    assert has_correlation(first, second, 0.0)
    assert has_deviation(np.array([first.mean() * math.sqrt(MANY)]), 0.2)  # the mean is zero


def test_constant_bias_has_its_deviation_and_stays(has_deviation: Judge) -> None:
    first, later = errors_after(ErrorParameters(constant_bias=0.5), [0.0, 1000.0])

    assert has_deviation(first, 0.5)
    assert_array_equal(first, later)


@pytest.mark.parametrize("passed", [0.01, 7.0, 20.0, 60.0])
def test_drifting_bias_keeps_its_deviation_and_decorrelates_with_its_correlation_time(
    passed: float, has_deviation: Judge, has_correlation: Judge
) -> None:
    first, later = errors_after(ErrorParameters(drifting_bias=0.3, drift_time_s=20.0), [0.0, passed])

    assert has_deviation(first, 0.3)
    assert has_deviation(later, 0.3)
    assert has_correlation(first, later, math.exp(-passed / 20.0))


def test_drifting_bias_is_the_same_process_in_long_and_in_short_steps(has_correlation: Judge) -> None:
    short = errors_after(ErrorParameters(drifting_bias=0.3, drift_time_s=20.0), [0.1 * k for k in range(101)])

    assert has_correlation(short[0], short[-1], math.exp(-10.0 / 20.0))


def test_random_walk_grows_with_the_root_of_time(has_deviation: Judge) -> None:
    start, early, late = errors_after(ErrorParameters(random_walk=0.1), [0.0, 4.0, 100.0])

    assert not start.any()
    assert has_deviation(early, 0.1 * math.sqrt(4.0))
    assert has_deviation(late, 0.1 * math.sqrt(100.0))
    assert has_deviation(late - early, 0.1 * math.sqrt(96.0))  # increments are independent of the past


def test_scale_error_is_a_share_of_the_truth(has_deviation: Judge) -> None:
    (error,) = errors_after(ErrorParameters(scale=0.01), [0.0], true=30.0)
    assert has_deviation(error, 0.3)


def test_misalignment_mixes_axes_and_keeps_each_axis_itself(has_deviation: Judge) -> None:
    parameters, along_x = ErrorParameters(misalignment=0.002), np.array([10.0, 0.0, 0.0])
    read = np.array([ErrorModel(parameters, 3, seed, "sensor").apply(0, along_x) for seed in range(400)])

    assert_array_equal(read[:, 0], 10.0)
    assert has_deviation(read[:, 1:].ravel(), 0.02)


def test_the_reported_variance_is_the_actual_variance(has_deviation: Judge) -> None:
    parameters = dataclasses.replace(ALL, scale=0.0, resolution=0.5, limit=math.inf)
    model = ErrorModel(parameters, MANY, 1, "sensor")
    for time_s in (0.0, 3.0, 50.0):
        error = model.apply(round(time_s * S), np.zeros(MANY))
        assert has_deviation(error, math.sqrt(model.variance()))


@given(value=st.floats(-1e3, 1e3), resolution=st.floats(1e-3, 1.0), limit=st.floats(1.0, 100.0))
def test_readings_are_whole_steps_within_the_limit(value: float, resolution: float, limit: float) -> None:
    parameters = ErrorParameters(resolution=resolution, limit=limit)
    (read,) = ErrorModel(parameters, 1, 1, "sensor").apply(0, np.array([value])).tolist()

    assert abs(read) <= limit * (1.0 + 1e-12)
    assert read / resolution == pytest.approx(round(read / resolution), abs=1e-6)
    if abs(value) < limit - resolution:
        assert abs(read - value) <= 0.5 * resolution * (1.0 + 1e-9)


def test_steps_that_do_not_divide_the_limit_never_read_beyond_it() -> None:
    parameters = ErrorParameters(resolution=0.3, limit=1.0)  # rounding 1.0 up would give 1.2 for a step of 0.4
    read = ErrorModel(parameters, 1, 1, "sensor").apply(0, np.array([5.0]))

    assert read == pytest.approx(0.9)
    assert limited(np.array([1.0]), 1.0, 0.4) <= 1.0


@pytest.mark.parametrize(("value", "expected"), [(0.89, False), (0.9, True), (-7.0, True), (math.nan, False)])
def test_a_reading_at_its_limit_counts_as_clipped(value: float, expected: bool) -> None:
    model = ErrorModel(ErrorParameters(resolution=0.01, limit=0.9), 2, 1, "sensor")
    read = limited(np.array([0.0, value]), 0.9, 0.01)

    assert model.is_clipped(read) is expected


def test_a_sensor_without_limit_is_never_clipped() -> None:
    assert not ErrorModel(ErrorParameters(), 1, 1, "sensor").is_clipped(np.array([1e300]))


def test_many_readings_at_once_are_to_the_bit_those_one_by_one() -> None:
    truth = np.array([0.1, -9.81, 3.0])
    at_once, one_by_one = (ErrorModel(ALL, 3, 5, "sensor") for _ in range(2))

    block = at_once.apply_still(S, PERIOD, 500, truth)
    single = [one_by_one.apply(S + k * PERIOD, truth) for k in range(500)]

    assert_array_equal(block, single)
    # ... and both continue identically.
    assert_array_equal(at_once.apply(99 * S, truth), one_by_one.apply(99 * S, truth))
    assert_array_equal(at_once.apply_still(100 * S, PERIOD, 1, truth)[0], one_by_one.apply(100 * S, truth))
    assert at_once.variance() == pytest.approx(one_by_one.variance(), rel=1e-12)


@pytest.mark.parametrize(("count", "step"), [(0, 1), (1, 0)])
def test_many_readings_reject_invalid_counts_and_steps(count: int, step: int) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        ErrorModel(ALL, 3, 5, "sensor").apply_still(0, step, count, np.zeros(3))


def test_reset_repeats_to_the_bit() -> None:
    model = ErrorModel(ALL, 3, 5, "sensor")
    first = [model.apply(k * PERIOD, np.ones(3)) for k in range(50)]
    model.reset()

    assert_array_equal(first, [model.apply(k * PERIOD, np.ones(3)) for k in range(50)])


def test_changing_the_noise_scales_the_same_random_numbers() -> None:
    plain, louder = (ErrorModel(ErrorParameters(noise=0.1, constant_bias=1.0), 3, 5, "sensor") for _ in range(2))
    first = [plain.apply(k * PERIOD, np.zeros(3)) - plain.bias() for k in range(20)]
    for k in range(10):
        louder.apply(k * PERIOD, np.zeros(3))
    louder.parameters = dataclasses.replace(louder.parameters, noise=0.4)
    second = [louder.apply(k * PERIOD, np.zeros(3)) - louder.bias() for k in range(10, 20)]

    np.testing.assert_allclose(second, 4.0 * np.array(first[10:]), rtol=0.0, atol=1e-12)
    assert_array_equal(plain.bias(), louder.bias())


def test_variances_grow_with_the_reading_axis_by_axis(has_deviation: Judge) -> None:
    parameters = ErrorParameters(noise=0.01, scale=0.02, misalignment=0.03)
    true = np.array([1.0, 0.0, 3.0])
    models = [ErrorModel(parameters, 3, seed, "sensor") for seed in range(1000)]
    errors = np.array([model.apply(0, true) - true for model in models])

    reported = models[0].variances(true)

    assert_array_equal(reported, 0.01**2 + 0.02**2 * np.array([1.0, 0.0, 9.0]) + 0.03**2 * np.array([9.0, 10.0, 1.0]))
    for axis in range(3):
        assert has_deviation(errors[:, axis], math.sqrt(reported[axis]))


def test_only_three_axis_channels_have_misalignment_in_their_variance() -> None:
    model = ErrorModel(ErrorParameters(noise=0.1, misalignment=0.5), 2, 1, "sensor")
    np.testing.assert_allclose(model.variances(np.array([7.0, 8.0])), 0.01)


def test_steps_give_no_negative_zero() -> None:
    model = ErrorModel(ErrorParameters(resolution=0.1), 2, 1, "sensor")
    assert not np.signbit(model.apply(0, np.array([-0.01, -0.0]))).any()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"noise": -1.0}, "noise: must not be negative"),
        ({"scale": math.nan}, "scale: must not be negative"),
        ({"constant_bias": math.inf}, "constant_bias: must not be negative"),
        ({"drift_time_s": 0.0}, "must be above 0"),
        ({"limit": 0.0}, "must be above 0"),
        ({"limit": 0.1, "resolution": 0.2}, "must not be below resolution"),
    ],
)
def test_impossible_parameters_are_rejected_in_one_line(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ErrorParameters(**wrong)


def test_copy_of_a_model_continues_independently() -> None:
    model = ErrorModel(ALL, 3, 7, "imu")
    model.apply(S, np.zeros(3))
    twin = copy.deepcopy(model)
    for step in range(1, 50):
        assert_array_equal(twin.apply(S + step * PERIOD, np.zeros(3)), model.apply(S + step * PERIOD, np.zeros(3)))
    assert_array_equal(twin.bias(), model.bias())
    assert_array_equal(twin.apply_still(2 * S, PERIOD, 5, np.ones(3)), model.apply_still(2 * S, PERIOD, 5, np.ones(3)))
