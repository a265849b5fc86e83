"""The one closed form behind every loop of the suspension: A cos x + B sin x = X."""

from __future__ import annotations

import math

from vehicle_dynamics.jit import kernel


@kernel
def solve_angle(a: float, b: float, x: float, branch: float) -> tuple[float, float, float]:
    """Cosine and sine of the angle with a cos + b sin = x, and the margin 1 - (x / r)^2 with r^2 = a^2 + b^2.

    branch is +1 or -1 and picks one of the two solutions, beta + branch * acos(x / r) with beta = atan2(b, a)
    (seed 000, Eq. 20 and section 5.3). A negative margin means that the loop cannot be closed; then the nearest
    configuration is returned (the two branches meet at margin 0).
    """
    r2 = a * a + b * b
    margin = 1.0 - x * x / r2
    root = branch * math.sqrt(max(margin * r2, 0.0))
    # cos(beta + s acos(x/r)) expanded: no inverse trigonometric function is needed.
    cosine, sine = (a * x - b * root) / r2, (b * x + a * root) / r2
    length = math.sqrt(cosine * cosine + sine * sine)
    return cosine / length, sine / length, margin


@kernel
def branch_at_zero(b: float) -> float:
    """The branch that contains the angle 0, given b there (then a = x)."""
    return -1.0 if b > 0.0 else 1.0
