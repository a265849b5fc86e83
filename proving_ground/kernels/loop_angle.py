"""The one closed form behind every loop of the suspension: A cos x + B sin x = X."""

from __future__ import annotations

import math

from proving_ground.kernels.jit import inlined


@inlined
def solve_angle(a: float, b: float, x: float, branch: float) -> tuple[float, float, float]:
    """Cosine and sine of the angle with a cos + b sin = x, and the margin 1 - (x / r)^2 with r^2 = a^2 + b^2.

    branch is +1 or -1 and picks one of the two solutions, beta + branch * acos(x / r) with beta = atan2(b, a)
    ([Jain], Eq. 20 and section 5.3). A negative margin means that the loop cannot be closed; then the nearest
    configuration is returned (the two branches meet at margin 0).
    """
    r2 = a * a + b * b
    inverse = 1.0 / r2
    margin = 1.0 - x * x * inverse
    root = 0.0
    if margin > 0.0:
        root = branch * math.sqrt(margin * r2)
    else:
        x = math.copysign(math.sqrt(r2), x)
    # cos(beta + s acos(x/r)) expanded: no inverse trigonometric function is needed.
    return (a * x - b * root) * inverse, (b * x + a * root) * inverse, margin


def branch_at_zero(b: float) -> float:
    """The branch that contains the angle 0, given b there (then a = x); for set-up, not for kernels."""
    return -1.0 if b > 0.0 else 1.0
