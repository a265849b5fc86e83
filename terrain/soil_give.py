"""Tyre and soil in series, vertically: the deflection of each over a time step.

The soil loads along a line through its present state while it is pressed deeper than ever at its position, and unloads
along its elastic slope. The tyre is a spring and damper. Both carry the same load at the end of the step, whatever the
stiffness: the step is implicit, on the branch that it ends on.
"""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.jit import inlined_part

LEAST_LEFT = 0.1  # share of the sinkage that a step keeps at least: the tangent is not valid further


class SoilSpring(NamedTuple):
    """Soil under a wheel as a spring: linear on either side of where it was pressed before."""

    depth: float  # sinkage at which the values below hold: the present one, or that of the last loading if deeper [m]
    deepest: float  # deepest sinkage of earlier loading [m]
    load: float  # at depth [N]
    pressing: float  # per sinkage beyond deepest [N/m]
    release: float  # per sinkage above it [N/m]
    damping: float  # per speed of sinking [N s/m]


class GivenWay(NamedTuple):
    """Load, sinkage and tyre deflection after a step."""

    load: float  # [N]
    bottom: float  # sinkage [m]
    squeeze: float  # of the tyre [m]


@inlined_part
def give_way(
    soil: SoilSpring, stiffness: float, damping: float, pushed: float, squeeze: float, sinking: float, step: float
) -> GivenWay:
    """Load and sinkage after a step [s] of a wheel that is pushed into the ground by `pushed` [m]; sinking in m/s.

    The tyre has a stiffness [N/m], a damping [N s/m] and a deflection `squeeze` [m]. A step of 0 changes nothing.
    """
    bottom = pushed - squeeze
    if soil.load <= 0.0:
        return _loose(pushed, squeeze, stiffness, damping, step)
    if step <= 0.0:
        load = soil.load - soil.release * (soil.depth - bottom)
        return GivenWay(max(load + soil.damping * sinking, 0.0) if load > 0.0 else 0.0, bottom, squeeze)
    held, damped = stiffness + damping / step, soil.damping / step
    # With b for the sinkage after the step, the soil's force on the left and the tyre's on the right:
    # load + pressing (b - depth) + damped (b - bottom) + soil.damping sinking
    #     = stiffness (pushed - b) + damping (pushed - b - squeeze) / step
    rest = held * pushed - damping / step * squeeze + damped * bottom - soil.damping * sinking
    after = (rest - soil.load + soil.pressing * soil.depth) / (held + damped + soil.pressing)
    if soil.deepest <= LEAST_LEFT * bottom:
        after = max(after, LEAST_LEFT * bottom)
    elif after < soil.deepest:
        top = soil.load
        if soil.depth > soil.deepest:  # as a power of the sinkage, which stays above 0, unlike a tangent
            top *= (soil.deepest / soil.depth) ** (soil.pressing * soil.depth / soil.load)
        after = (rest - top + soil.release * soil.deepest) / (held + damped + soil.release)
        after = min(after, soil.deepest)
        if top - soil.release * (soil.deepest - after) <= 0.0:
            return _loose(pushed, squeeze, stiffness, damping, step)
    after_squeeze = pushed - after
    load = held * after_squeeze - damping / step * squeeze
    if load <= 0.0:
        return _loose(pushed, squeeze, stiffness, damping, step)
    return GivenWay(load, after, after_squeeze)


@inlined_part
def _loose(pushed: float, squeeze: float, stiffness: float, damping: float, step: float) -> GivenWay:
    """No load: the tyre recovers as its damper allows."""
    relaxed = squeeze * damping / (damping + step * stiffness)
    return GivenWay(0.0, pushed - relaxed, relaxed)
