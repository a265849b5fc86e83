"""Plant noise: Van Loan against closed forms and a numerical integral."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad_vec
from scipy.linalg import expm

from state_observer.filters.noise import acceleration_psd, double_integrator, shaped_acceleration, van_loan


@given(psd=st.floats(1e-3, 1e3), step=st.floats(1e-4, 0.1), size=st.integers(1, 3))
def test_white_acceleration_noise_has_the_covariance_of_eq_3_128(psd: float, step: float, size: int) -> None:
    transition, noise = van_loan(double_integrator(size), acceleration_psd(psd, size), step)

    one = np.eye(size)
    blocks = [[step**3 / 3.0 * one, step**2 / 2.0 * one], [step**2 / 2.0 * one, step * one]]
    assert_allclose(noise, psd * np.block(blocks), rtol=1e-9, atol=1e-18)
    assert_allclose(transition, np.block([[one, step * one], [0.0 * one, one]]), rtol=1e-12, atol=1e-15)


def test_coloured_noise_is_the_integral_of_eq_3_127() -> None:
    dynamics, psd = shaped_acceleration(1, psd=2.0, correlation_time=0.05)
    step = 0.02

    transition, noise = van_loan(dynamics, psd, step)

    integral, _ = quad_vec(lambda t: expm(dynamics * t) @ psd @ expm(dynamics * t).T, 0.0, step, epsabs=1e-16)
    assert_allclose(noise, integral, rtol=1e-8, atol=1e-16)
    assert_allclose(transition, expm(dynamics * step), rtol=1e-12)


def test_a_force_that_lasts_forever_is_a_random_walk() -> None:
    dynamics, psd = shaped_acceleration(1, psd=3.0, correlation_time=np.inf)
    _, noise = van_loan(dynamics, psd, 0.1)

    assert_allclose(noise[2, 2], 3.0 * 0.1, rtol=1e-12)
    assert_allclose(noise[0, 0], 3.0 * 0.1**5 / 20.0, rtol=1e-9)
