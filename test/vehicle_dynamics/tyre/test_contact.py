"""A tyre on the ground: load, free rolling, relaxation, sticking and sliding, camber, slopes, the air."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from terrain.contact_plane import SAMPLES
from terrain.ground import FlatGround, Ground, ground_at
from terrain.wheel import UNLOADED_SOIL, ContactState, ContactStep, Deflection, WheelContact, WheelMotionInWorld
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.contact import tyre_contact, tyre_record
from vehicle_dynamics.tyre.tmeasy import force_over_slip, tyre_at

FLAT = FlatGround().kernel()
REST = Deflection(0.0, 0.0)
LEFT = (0.0, 1.0, 0.0)
STILL = (0.0, 0.0, 0.0)
SUNK = 0.0158  # [m] of deflection at the reference's front load


@pytest.fixture(scope="module")
def tyre(parameters: VehicleParameters) -> Any:
    return tyre_record(parameters)


def wheel(
    tyre: Any, velocity: tuple[float, float, float] = STILL, spin: float = 0.0, axis: Any = LEFT, sunk: float = SUNK
) -> WheelMotionInWorld:
    return WheelMotionInWorld((1.0, 2.0, float(tyre["radius"]) - sunk), axis, velocity, STILL, spin)


def contact_of(
    tyre: Any, ground: Ground, motion: WheelMotionInWorld, deflection: Deflection, step: float
) -> WheelContact:
    before, span = ContactState(deflection, UNLOADED_SOIL), ContactStep(step, 0.0, True)
    found: WheelContact = tyre_contact(tyre, ground, motion, before, span, np.zeros(SAMPLES))
    return found


def rolling_radius(tyre: Any) -> float:
    return float(tyre["radius"]) - SUNK / 3.0


def settled(tyre: Any, motion: WheelMotionInWorld, ground: Ground = FLAT, seconds: float = 5.0) -> WheelContact:
    deflection, contact = REST, None
    for _ in range(round(seconds / 1e-3)):
        contact = contact_of(tyre, ground, motion, deflection, 1e-3)
        deflection = contact.deflection
    assert contact is not None
    return contact


def test_standing_wheel_carries_its_load_and_nothing_else(tyre: Any) -> None:
    contact = settled(tyre, wheel(tyre))

    assert contact.load == pytest.approx(6495.0, rel=1e-3)  # the reference's front wheel load at this deflection
    assert_allclose(contact.force, [0.0, 0.0, contact.load], atol=1e-9)
    assert_allclose(contact.moment, 0.0, atol=1e-9)


def test_freely_rolling_wheel_has_rolling_resistance_only(tyre: Any) -> None:
    contact = settled(tyre, wheel(tyre, (10.0, 0.0, 0.0), 10.0 / rolling_radius(tyre)))

    assert_allclose(contact.force[:2], 0.0, atol=1e-6)
    assert_allclose(contact.moment, [0.0, -0.015 * contact.load * tyre["radius"], 0.0], atol=1e-6)


@pytest.mark.parametrize("slip", [-0.3, -0.05, 0.02, 0.1, 0.5])
def test_driven_wheel_reaches_the_steady_force(tyre: Any, slip: float) -> None:
    spin = 20.0
    radius = rolling_radius(tyre)
    contact = settled(tyre, wheel(tyre, (radius * spin * (1.0 - slip), 0.0, 0.0), spin))

    curve = tyre_at(tyre["slip"], contact.load, 0.8).longitudinal
    assert contact.slip_along == pytest.approx(slip, rel=1e-9)
    assert contact.force[0] == pytest.approx(math.copysign(force_over_slip(curve, abs(slip)), slip), rel=1e-6)


@pytest.mark.parametrize("angle", [-0.2, 0.05, 0.4])
def test_slipping_sideways_wheel_is_pushed_back_and_aligned(tyre: Any, angle: float) -> None:
    speed, radius = 10.0, rolling_radius(tyre)
    contact = settled(tyre, wheel(tyre, (speed, speed * math.tan(angle), 0.0), speed / radius))

    curve = tyre_at(tyre["slip"], contact.load, 0.8).lateral
    expected = -math.copysign(force_over_slip(curve, abs(math.tan(angle))), angle)
    assert contact.force[1] == pytest.approx(expected, rel=1e-6)
    if abs(angle) < 0.3:
        assert contact.moment[2] * contact.force[1] < 0.0  # the trail turns the wheel into its motion


def test_side_force_builds_up_over_a_length_not_over_a_time(tyre: Any) -> None:
    def length_to_63_percent(speed: float) -> float:
        motion = wheel(tyre, (speed, 0.02 * speed, 0.0), speed / rolling_radius(tyre))
        final = settled(tyre, motion, seconds=20.0 / speed).force[1]
        deflection, step = REST, 1e-4
        for count in range(1, 100000):
            contact = contact_of(tyre, FLAT, motion, deflection, step)
            deflection = contact.deflection
            if contact.force[1] / final > 1.0 - math.exp(-1.0):
                return speed * count * step
        raise AssertionError("never")

    # c y_e = F: the relaxation length is the slope over the carcass stiffness, 0.5 m, less the effect of damping.
    slow, fast = length_to_63_percent(2.0), length_to_63_percent(4.0)
    assert slow == pytest.approx(0.5, rel=0.15)
    assert fast == pytest.approx(slow, rel=0.3)


def test_locked_wheel_slides_with_the_sliding_force(tyre: Any) -> None:
    contact = settled(tyre, wheel(tyre, (3.0, 0.0, 0.0), 0.0))

    slide = tyre_at(tyre["slip"], contact.load, 0.8).longitudinal.slide
    assert contact.force[0] == pytest.approx(-slide, rel=1e-6)


def test_standing_wheel_sticks_like_a_spring_until_it_slides(tyre: Any) -> None:
    deflection, forces = REST, []
    for _ in range(15000):  # pushed to the left at 30 mm/s
        contact = contact_of(tyre, FLAT, wheel(tyre, (0.0, 0.03, 0.0)), deflection, 1e-3)
        deflection = contact.deflection
        forces.append(contact.force[1])

    loaded = tyre_at(tyre["slip"], contact.load, 0.8).lateral
    assert forces[300] == pytest.approx(-100000.0 * 0.03 * 0.3, rel=0.1)  # stiffness times displacement
    # At this speed it does not really slide: it holds nearly the largest force, and that of sliding when fast.
    assert loaded.slide < -forces[-1] < loaded.most
    slow, fast = (settled(tyre, wheel(tyre, (0.0, speed, 0.0)), seconds=30.0) for speed in (0.01, 1.0))
    assert slow.force[1] == pytest.approx(-loaded.most, rel=0.02)
    assert fast.force[1] == pytest.approx(-loaded.slide, rel=1e-6)
    for _ in range(5000):  # and held where it is, it does not creep
        held = contact_of(tyre, FLAT, wheel(tyre), deflection, 1e-3)
        deflection = held.deflection
    assert held.force[1] == pytest.approx(100000.0 * contact.deflection.across, rel=1e-9)


def test_step_in_one_or_in_many_parts_is_the_same(tyre: Any) -> None:
    motion = wheel(tyre, (10.0, 0.5, 0.0), 22.0)
    whole = contact_of(tyre, FLAT, motion, REST, 1e-2)
    deflection = REST
    for _ in range(100):
        part = contact_of(tyre, FLAT, motion, deflection, 1e-4)
        deflection = part.deflection

    assert_allclose(deflection, whole.deflection, rtol=1e-12)
    assert_allclose(part.force, whole.force, rtol=1e-12)


def test_forces_dissipate_the_energy_of_a_sliding_wheel(tyre: Any) -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        velocity = (float(5.0 * random.normal()), float(5.0 * random.normal()), 0.0)
        motion = wheel(tyre, velocity, float(10.0 * random.normal()))
        contact = settled(tyre, motion, seconds=0.5)
        power = np.dot(contact.force, velocity) + contact.moment[1] * motion.spin
        assert power <= 1e-6


def test_slope_rotates_the_contact(tyre: Any) -> None:
    slope = 0.3
    ground = FlatGround(slope_x=slope).kernel()
    point = ground_at(ground, 1.0, 2.0)
    normal = np.array(point.normal)
    centre = np.array([1.0, 2.0, point.height]) + normal * (tyre["radius"] - SUNK)
    under = ground_at(ground, centre[0], centre[1])
    assert (centre[2] - under.height) * under.normal[2] == pytest.approx(tyre["radius"] - SUNK)

    contact = settled(tyre, WheelMotionInWorld(tuple(centre), LEFT, STILL, STILL, 0.0), ground)

    assert_allclose(np.array(contact.force) / contact.load, normal, atol=1e-12)


def test_cambered_wheel_has_a_righting_moment(tyre: Any) -> None:
    axis = (0.0, math.cos(0.1), math.sin(0.1))  # top leans to the right
    contact = settled(tyre, wheel(tyre, axis=axis, sunk=SUNK))

    assert contact.load > 0.0
    assert contact.moment[0] < 0.0


@pytest.mark.parametrize(
    "motion",
    [
        WheelMotionInWorld((0.0, 0.0, 3.0), LEFT, (5.0, 1.0, 0.0), STILL, 10.0),  # in the air
        WheelMotionInWorld((0.0, 0.0, 0.45), LEFT, (5.0, 1.0, 20.0), STILL, 10.0),  # leaving fast: no pull
        WheelMotionInWorld((0.0, 0.0, 0.2), (0.0, 0.0, 1.0), STILL, STILL, 10.0),  # on its side
        WheelMotionInWorld((0.0, 0.0, -5.0), LEFT, STILL, STILL, 10.0),  # far below
    ],
)
def test_no_contact_no_force(tyre: Any, motion: WheelMotionInWorld) -> None:
    contact = contact_of(tyre, FLAT, motion, Deflection(0.01, 0.01), 1e-3)

    assert contact.force == contact.moment == (0.0, 0.0, 0.0)
    assert contact.deflection == REST


def test_bump_has_the_slope_of_its_height() -> None:
    ground = FlatGround(bump_start_m=2.0, bump_length_m=1.5, bump_height_m=0.1).kernel()
    for x in (1.9, 2.1, 2.75, 3.2, 3.6):
        step = 1e-6
        rise = (ground_at(ground, x + step, 0.0).height - ground_at(ground, x - step, 0.0).height) / (2.0 * step)
        normal = ground_at(ground, x, 0.0).normal
        assert -normal[0] / normal[2] == pytest.approx(rise, abs=1e-8)
    assert ground_at(ground, 2.75, 0.0).height == pytest.approx(0.1)


@pytest.mark.parametrize("bad", [{"friction": -0.1}, {"friction": math.nan}, {"bump_length_m": 0.0}])
def test_bad_ground_is_rejected(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"friction|bump_length_m|finite"):
        FlatGround(**bad)
