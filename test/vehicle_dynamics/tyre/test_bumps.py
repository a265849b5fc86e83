"""A wheel over a bump shorter than it can follow, beside a tyre of radial springs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain.contact_plane import SAMPLES
from terrain.elevation_map import ElevationMap
from terrain.wheel import NO_DEFLECTION, UNLOADED_SOIL, ContactState, ContactStep, WheelMotionInWorld
from terrain.world_ground import WorldGround
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.contact import tyre_contact, tyre_record

Array = NDArray[np.float64]
Contact = Callable[[float, float, float, float], float]  # upward force [N] at x, z [m], moving with vx, vz [m/s]

# In nodes 1 cm apart: half a sine, 0.1 m high and 1 m long; half-rounds by their radius [m].
NODE_M = 0.01
NODES = np.arange(-4.0, 6.0, NODE_M)
BUMP = np.where((NODES > 0.0) & (NODES < 1.0), 0.1 * np.sin(np.pi * NODES), 0.0)
HALF_ROUNDS = {
    radius: np.sqrt(np.maximum(radius**2 - (NODES - radius) ** 2, 0.0)) for radius in (0.1016, 0.2032, 0.3048)
}
ANGLES = np.linspace(-1.4, 1.4, 561)  # of the radial springs [rad]


@pytest.fixture(scope="module")
def tyre(parameters: VehicleParameters) -> Any:
    return tyre_record(parameters)


def our_tyre(tyre: Any, bump: Array = BUMP) -> Contact:
    heights = np.tile(bump.astype(np.float32), (3, 1))
    ground = WorldGround(
        ElevationMap(heights=heights, resolution=NODE_M, origin_x=float(NODES[0]), origin_y=-NODE_M)
    ).kernel()
    before, span, scratch = ContactState(NO_DEFLECTION, UNLOADED_SOIL), ContactStep(1e-3, 0.0, True), np.zeros(SAMPLES)
    radius = float(tyre["radius"])

    def force(x: float, z: float, vx: float, vz: float) -> float:
        wheel = WheelMotionInWorld((x, 0.0, z), (0.0, 1.0, 0.0), (vx, 0.0, vz), (0.0, 0.0, 0.0), vx / radius)
        return float(tyre_contact(tyre, ground, wheel, before, span, scratch).load)

    return force


def radial_springs(tyre: Any, bump: Array = BUMP) -> Contact:
    """Springs from the hub outwards, each with a force of the root of its compression, and the tyre's damper.

    On level ground their sum is linear: integral of sqrt(d - r a^2 / 2) over the angle a is pi d / sqrt(2 r).
    """
    radius, stiffness, damping = float(tyre["radius"]), float(tyre["stiffness"]), float(tyre["damping"])
    density = stiffness * math.sqrt(2.0 * radius) / math.pi
    sine, cosine, step = np.sin(ANGLES), np.cos(ANGLES), ANGLES[1] - ANGLES[0]

    def force(x: float, z: float, vx: float, vz: float) -> float:
        def is_below(length: Array) -> Any:
            return np.interp(x + length * sine, NODES, bump) > z - length * cosine

        inside, outside = np.full_like(ANGLES, 0.2), np.full_like(ANGLES, radius)
        touches = is_below(outside)
        for _ in range(14):
            middle = 0.5 * (inside + outside)
            below = is_below(middle)
            inside, outside = np.where(below, inside, middle), np.where(below, middle, outside)
        pressed = density * step * np.sqrt(np.where(touches, radius - outside, 0.0))
        along, up = -float(pressed @ sine), float(pressed @ cosine)
        total = math.hypot(along, up)
        if total == 0.0:
            return 0.0
        return max(total - damping * (vx * along + vz * up) / total, 0.0)

    return force


class Peaks(NamedTuple):
    """Largest values over a bump."""

    load: float  # of the tyre [N]
    body: float  # acceleration of the body, upwards [m/s^2]


def peaks(contact: Contact, tyre: Any, speed: float) -> Peaks:
    """Peaks of a quarter of the HMMWV over a bump: 110 kg on the tyre, 552 kg on a spring and damper."""
    below, above, step = 110.0, 552.0, 4e-4
    start = float(tyre["radius"]) - 9.81 * (below + above) / float(tyre["stiffness"])
    x, lift, climb, body_lift, body_climb, most, hardest = -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    while x < 1.5:
        load = contact(x, start + lift, speed, climb)
        rate = climb - body_climb
        strut = 125e3 * (lift - body_lift) + (3.5e3 if rate > 0.0 else 6e3) * rate + 9.81 * above
        climb += step * ((load - strut) / below - 9.81)
        body_climb += step * (strut / above - 9.81)
        lift, body_lift, x = lift + step * climb, body_lift + step * body_climb, x + step * speed
        most, hardest = max(most, load), max(hardest, strut / above - 9.81)
    return Peaks(most, hardest)


def test_radial_springs_are_linear_on_level_ground(tyre: Any) -> None:
    for deflection in (0.015, 0.03, 0.045):
        load = radial_springs(tyre)(-2.0, float(tyre["radius"]) - deflection, 8.0, 0.0)
        assert load == pytest.approx(float(tyre["stiffness"]) * deflection, rel=0.02)


@pytest.mark.parametrize("speed", [4.0, 8.0, 12.0, 16.0])
def test_contact_plane_takes_nothing_off_the_peak_load_on_a_short_bump(tyre: Any, speed: float) -> None:
    ours, springs = (peaks(kind(tyre), tyre, speed).load for kind in (our_tyre, radial_springs))

    # Both envelop the bump. In the corner at its foot the plane tilts later and faster: at 4 m/s that is 16 % more.
    assert springs < ours < 1.2 * springs


@pytest.mark.parametrize("speed", [2.0, 8.0])
@pytest.mark.parametrize("radius", sorted(HALF_ROUNDS))
def test_contact_plane_takes_nothing_off_the_shock_of_half_rounds(tyre: Any, radius: float, speed: float) -> None:
    bump = HALF_ROUNDS[radius]
    ours, springs = (peaks(kind(tyre, bump), tyre, speed) for kind in (our_tyre, radial_springs))

    assert ours.load > springs.load
    assert ours.body > 0.95 * springs.body
