"""The carcass of a tyre, which deflects under the force it transmits ([Sanjurjo], section 5.3.2.3)."""

from __future__ import annotations

import math

from proving_ground.kernels.jit import inlined


@inlined
def steady_to_dynamic(
    stiffness: float, damping: float, speed: float, per_slip: float, steady: float, before: float, elapsed: float
) -> tuple[float, float, float]:
    """Deflection [m], rate [m/s] and force [N] of a tyre's carcass after a time [s], from its deflection before [m].

    It tends to the steady force [N]. stiffness [N/m], damping [N s/m]; speed [m/s]: the denominator of
    the slip; per_slip: steady force over slip [N]. Where both are 0, the deflection stays.
    Analytic solution of Eqs. 5.36-5.39 of [Sanjurjo], with F / s for the slope of the force (Eq. 5.41).
    """
    divisor = speed * damping + per_slip
    if divisor <= 0.0:
        return before, 0.0, stiffness * before
    decay, push = speed * stiffness / divisor, steady * speed / divisor  # a_1, a_2
    exponent = decay * elapsed
    grown = -math.expm1(-exponent) / decay if exponent > 1e-12 else elapsed
    after = before * math.exp(-exponent) + push * grown
    rate = push - decay * after
    return after, rate, stiffness * after + damping * rate
