"""Absorbed power and ISO 2631-1: responses beside published ones, and figures of known series."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.scenarios.channels import SEAT, seat_channels
from proving_ground.scenarios.vibration import (
    ABSORBED,
    HORIZONTAL,
    SHOCK,
    VERTICAL,
    Filter,
    absorbed_power,
    crest_factor,
    peak_acceleration,
    root_mean_square,
    total_of,
    vibration_dose,
    weighted,
)

STEP_S = 0.01


def sine(hertz: float, rms: float = 1.0, seconds: float = 60.0, step_s: float = STEP_S) -> np.ndarray:
    return np.sqrt(2.0) * rms * np.sin(2.0 * np.pi * hertz * np.arange(0.0, seconds, step_s))


def test_absorbed_power_has_the_published_response() -> None:
    found = np.abs(ABSORBED.response(np.array([1, 2, 3, 4, 5, 6, 8, 10, 20])))

    # Project Chrono's ChAbsorbedPowerVertical, from its coefficients at 1 ms.
    expected = [0.0881, 0.1953, 0.3314, 0.4429, 0.4426, 0.3829, 0.2813, 0.2221, 0.1125]
    assert_allclose(found, expected, atol=1e-4)


# ISO 2631-1, Table 3: thousandths of W_k and W_d at third octaves.
TABLE = [
    (
        VERTICAL,
        {0.5: 418, 1.0: 482, 2.0: 531, 4.0: 967, 5.0: 1039, 6.3: 1054, 8.0: 1036, 10.0: 988, 16.0: 768, 31.5: 405},
    ),
    (HORIZONTAL, {0.5: 853, 0.8: 992, 1.0: 1011, 1.25: 1008, 1.6: 968, 2.0: 890, 4.0: 512, 8.0: 253, 16.0: 125}),
]


@pytest.mark.parametrize(("filter_", "thousandths"), TABLE)
def test_weightings_are_those_of_the_standard(filter_: Filter, thousandths: dict[float, int]) -> None:
    found = 1e3 * np.abs(filter_.response(np.array(list(thousandths))))

    assert_allclose(found, list(thousandths.values()), atol=1.0)


@pytest.mark.parametrize("step_s", [0.01, 0.002])
@pytest.mark.parametrize(("hertz", "watts"), [(5.0, 2.1), (20.0, 0.1125**2 / 0.3048**2)])
def test_a_sine_is_absorbed_alike_at_every_rate(hertz: float, watts: float, step_s: float) -> None:
    power = absorbed_power(sine(hertz, step_s=step_s), step_s)

    settled = power[round(20.0 / step_s) : round(50.0 / step_s)]
    assert settled.mean() == pytest.approx(watts, rel=0.01)


def test_six_watts_are_at_the_published_level() -> None:
    power = absorbed_power(sine(5.0, 1.69), STEP_S)

    assert power[2000:5000].mean() == pytest.approx(6.0, rel=0.01)


def test_the_total_joins_axes_as_the_standard_does() -> None:
    acceleration = np.column_stack([sine(1.0, 0.3), sine(1.0, 0.4), sine(5.0, 0.5)])

    total = root_mean_square(total_of(weighted(acceleration, STEP_S))[2000:5000])

    expected = np.sqrt((1.4 * 1.011 * 0.3) ** 2 + (1.4 * 1.011 * 0.4) ** 2 + (1.039 * 0.5) ** 2)
    assert total == pytest.approx(expected, rel=2e-3)


def test_doses_and_crests_of_a_sine_are_known() -> None:
    whole = sine(5.0, seconds=16.0)

    assert crest_factor(whole) == pytest.approx(np.sqrt(2.0), rel=1e-3)
    assert vibration_dose(whole, STEP_S) == pytest.approx((1.5 * 16.0) ** 0.25, rel=1e-3)  # mean of sin^4 is 3/8
    assert crest_factor(np.zeros(10)) == 0.0


def test_a_shock_keeps_what_is_slow_and_loses_what_is_fast() -> None:
    assert np.abs(SHOCK.response(np.array([30.0]))) == pytest.approx(np.sqrt(0.5))
    fast = SHOCK.filtered(sine(120.0, step_s=0.002), 0.002)
    assert np.abs(fast[10_000:20_000]).max() < 0.006  # 4^-4 of it
    whole_periods = np.concatenate([np.zeros(1000), sine(5.0, step_s=0.002)])
    assert peak_acceleration(whole_periods, 0.002) == pytest.approx(np.sqrt(2.0), rel=0.05)


def test_a_filter_forgets_and_does_not_foresee() -> None:
    pulse = np.zeros(6000)
    pulse[3000] = 1.0

    power = absorbed_power(pulse, STEP_S)

    assert power[:2900].max() < 1e-4 * power.max()
    assert power[4500:].max() < 1e-6 * power.max()


def test_seat_channels_bridge_a_gap_and_shorten_a_long_one() -> None:
    time = np.arange(0.0, 60.0, STEP_S)
    acceleration = np.column_stack([np.zeros_like(time), np.zeros_like(time), sine(5.0)])
    there = np.ones(len(time), bool)
    there[3000:3005] = False
    later = np.where(time > 40.0, time + 1e9, time)  # a clock that jumped

    found = seat_channels(later[there], acceleration[there])

    assert set(found) == set(SEAT)
    power = found["seat_absorbed_power_w"]
    assert np.isfinite(power).all()
    assert power[1500:2900].mean() == pytest.approx(2.11, rel=0.01)
    assert power[-1200:].mean() == pytest.approx(2.11, rel=0.05)
