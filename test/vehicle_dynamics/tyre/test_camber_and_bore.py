"""Camber thrust and bore torque on hard ground: off by default, within friction, symmetric, dissipative, calm."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from proving_ground.settings.share import share_file
from terrain.contact_plane import SAMPLES
from terrain.ground import FlatGround
from terrain.wheel import UNLOADED_SOIL, ContactState, ContactStep, Deflection, WheelContact, WheelMotionInWorld
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.tyre.contact import tyre_contact, tyre_record
from vehicle_dynamics.tyre.tmeasy import tyre_at

Array = NDArray[np.float64]

FILE = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
FLAT = FlatGround()
FRICTION = 0.8
SUNK = 0.0158  # [m]
MIRROR = np.array([1.0, -1.0, 1.0])
ROOM = np.zeros(SAMPLES)


def with_tyre(**changes: Any) -> VehicleParameters:
    return dataclasses.replace(FILE, tyre=dataclasses.replace(FILE.tyre, **changes))


def record(**changes: Any) -> Any:
    return tyre_record(with_tyre(**changes))


PLAIN, CAMBER, BORE = record(), record(camber_stiffness=0.5), record(bore_torque=1.0)
BOTH = record(camber_stiffness=0.5, bore_torque=1.0)


class Draw(NamedTuple):
    """A random motion of a wheel and its carcass."""

    centre: Array
    axis: Array
    velocity: Array
    angular_velocity: Array
    spin: float
    along: float
    across: float

    def mirrored(self) -> Draw:
        """The same on the other side: vectors across change sign, and axial vectors all but across."""
        return Draw(
            self.centre * MIRROR, -self.axis * MIRROR, self.velocity * MIRROR, -self.angular_velocity * MIRROR,
            self.spin, self.along, -self.across,
        )  # fmt: skip

    def contact(self, tyre: Any, step: float = 1e-3) -> WheelContact:
        centre, axis, velocity, angular_velocity = (vector.tolist() for vector in self[:4])
        wheel = WheelMotionInWorld(tuple(centre), tuple(axis), tuple(velocity), tuple(angular_velocity), self.spin)
        before = ContactState(Deflection(self.along, self.across), UNLOADED_SOIL)
        found: WheelContact = tyre_contact(tyre, FLAT.kernel(), wheel, before, ContactStep(step, 0.0, True), ROOM)
        return found


def draws(count: int, seed: int) -> list[Draw]:
    random, found = np.random.default_rng(seed), []
    for _ in range(count):
        lean, speed = random.uniform(-0.6, 0.6), 10.0 ** random.uniform(-3.0, 1.3)
        axis = np.array([0.0, math.cos(lean), math.sin(lean)])
        height = (float(PLAIN["radius"]) - random.uniform(0.002, 0.08)) * math.cos(lean)
        velocity = speed * random.normal(size=3) * [1.0, 0.3, 0.001]
        found.append(
            Draw(
                np.array([0.0, 0.0, height]), axis, velocity, random.normal(size=3) * 10.0 ** random.uniform(-3.0, 0.5),
                float(velocity[0] / 0.46 * random.uniform(0.7, 1.3)), *random.normal(size=2) * 0.01,
            )
        )  # fmt: skip
    return found


def rotated(rate: float, spin: float = 0.0, lean: float = 0.0, side_speed: float = 0.0) -> Draw:
    """A wheel that rolls without longitudinal slip and rotates about the vertical at a rate [rad/s]."""
    axis = np.array([0.0, math.cos(lean), math.sin(lean)])
    height = (float(PLAIN["radius"]) - SUNK) * math.cos(lean)
    ahead = (float(PLAIN["radius"]) - SUNK / 3.0) * spin
    return Draw(
        np.array([0.0, 0.0, height]),
        axis,
        np.array([ahead, side_speed, 0.0]),
        np.array([0.0, 0.0, rate]),
        spin,
        0.0,
        0.0,
    )


def bore_torque(draw: Draw, share: float = 1.0) -> float:
    """Part of the contact's moment about the vertical that the bore torque adds."""
    return draw.contact(record(bore_torque=share)).moment[2] - draw.contact(PLAIN).moment[2]


def bore_limit(load: float) -> float:
    tyre = tyre_at(PLAIN["slip"], load, FRICTION)
    patch = 2.0 * math.sqrt(float(PLAIN["radius"]) * SUNK)
    return (patch + float(PLAIN["width"])) / 6.0 * max(tyre.longitudinal.most, tyre.lateral.most)


def test_file_without_the_parameters_has_neither() -> None:
    assert FILE.tyre.camber_stiffness == FILE.tyre.bore_torque == 0.0
    assert rotated(1.0).contact(PLAIN).moment[2] == 0.0


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_drive_without_the_parameters_is_what_it_was_to_the_bit(method: str) -> None:
    # Parameters so small that the terms are computed, and round to nothing, give the same motion as none at all.
    def drive(parameters: VehicleParameters) -> str:
        car = Hmmwv(parameters, method=method)
        state, digest = car.start(FLAT, speed=8.0), hashlib.sha256()
        for count in range(100):
            pedals = Pedals(steering=0.4 * math.sin(0.1 * count), throttle=0.4 if count < 60 else 0.0)
            car.advance(state, pedals, FLAT, 20)
            digest.update((state + 0.0).tobytes())  # -0 is 0
        return digest.hexdigest()

    assert drive(with_tyre(camber_stiffness=1e-300, bore_torque=1e-300)) == drive(FILE)


def test_leaning_wheel_that_rolls_is_pushed_to_the_side_it_leans_to() -> None:
    load = rotated(0.0).contact(PLAIN).load
    for lean in (0.02, -0.02):  # positive: to the right
        contact = rotated(0.0, spin=20.0, lean=lean).contact(CAMBER, step=10.0)

        assert contact.force_across == pytest.approx(-0.5 * load * lean, rel=0.02)  # camber stiffness, load, angle


def test_leaning_wheel_that_stands_is_not_pushed() -> None:
    assert rotated(0.0, lean=0.1).contact(CAMBER, step=10.0).force_across == pytest.approx(0.0, abs=1e-6)


def test_camber_thrust_stays_within_the_friction_ellipse() -> None:
    strong = record(camber_stiffness=3.0)
    for draw in draws(500, seed=1):
        contact = draw.contact(strong, step=1.0)
        tyre = tyre_at(strong["slip"], contact.load, FRICTION)
        along, across = contact.force_along, contact.force_across
        force = math.hypot(along, across)
        # TMeasy's ellipse: F^2 = (F_x^M cos phi)^2 + (F_y^M sin phi)^2 in the direction phi of the force.
        assert force * force <= 1.000001 * math.hypot(tyre.longitudinal.most * along, tyre.lateral.most * across)


@pytest.mark.parametrize("tyre", [PLAIN, CAMBER, BORE, BOTH], ids=["plain", "camber", "bore", "both"])
def test_left_and_right_are_mirror_images(tyre: Any) -> None:
    for draw in draws(200, seed=2):
        left, right = draw.contact(tyre), draw.mirrored().contact(tyre)

        assert_allclose(right.force, np.array(left.force) * MIRROR, rtol=1e-12, atol=1e-9)
        assert_allclose(right.moment, -np.array(left.moment) * MIRROR, rtol=1e-12, atol=1e-9)


def test_bore_torque_opposes_turning_and_is_within_its_limit() -> None:
    for draw in draws(500, seed=3):
        plain, contact = draw.contact(PLAIN), draw.contact(BORE)
        added = np.array(contact.moment) - plain.moment
        # Power on spindle and spin together; the forces are those without bore torque.
        power = added @ (draw.angular_velocity + draw.spin * draw.axis)
        assert contact.force == plain.force
        assert power <= 1e-9
    for rate in (0.01, 0.3, 5.0, 1e3):
        assert 0.0 < -bore_torque(rotated(rate)) <= bore_limit(rotated(rate).contact(PLAIN).load)


def test_standing_wheel_turned_fast_has_nearly_the_largest_bore_torque() -> None:
    load = rotated(0.0).contact(PLAIN).load
    torques = [-bore_torque(rotated(rate)) for rate in (0.0, 0.05, 0.1, 0.2, 0.4)]

    assert torques[0] == 0.0
    assert max(torques) > 0.85 * bore_limit(load)
    assert bore_torque(rotated(0.1), share=0.5) == pytest.approx(0.5 * bore_torque(rotated(0.1)))


def test_bore_torque_fades_as_the_wheel_rolls_or_slides() -> None:
    rolling = [-bore_torque(rotated(0.3, spin=spin)) for spin in (0.0, 0.5, 2.0, 10.0, 40.0)]
    sliding = [-bore_torque(rotated(0.3, side_speed=speed)) for speed in (0.0, 0.1, 1.0, 5.0)]

    assert rolling == sorted(rolling, reverse=True)
    assert rolling[-1] < 0.05 * rolling[0]
    assert sliding == sorted(sliding, reverse=True)
    assert sliding[-1] < 0.05 * sliding[0]


def test_bore_torque_stops_even_a_wheel_alone_without_chatter() -> None:
    inertia = FILE.wheel.inertia_kgm2[0]  # nothing else turns with it
    rate, rates = 3.0, []
    for _ in range(1000):  # steps of 1 ms
        rate += 1e-3 * bore_torque(rotated(rate)) / inertia
        rates.append(rate)

    assert min(rates) >= 0.0
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 1e-6


def test_spin_does_the_work_of_the_camber_thrust() -> None:
    # Only lateral forces are left: no trail, no rolling resistance, no longitudinal slip.
    bare = record(camber_stiffness=1.0, rolling_resistance=0.0, trail_over_length=(0.0, 0.0))
    random, gained = np.random.default_rng(4), []
    for _ in range(300):
        spin, lean = float(random.normal() * 10.0 ** random.uniform(-2.0, 1.5)), float(random.uniform(-0.5, 0.5))
        wheel = rotated(0.0, spin, lean, side_speed=0.05 * spin * float(random.normal()))
        contact = wheel.contact(bare, step=100.0)  # steady
        gained.append(np.dot(contact.force, wheel.velocity))
        power = gained[-1] + np.dot(contact.moment, wheel.axis) * wheel.spin
        assert power <= 1e-6

    assert max(gained) > 1.0  # the thrust itself does work on some


def test_steering_at_a_standstill_is_calm() -> None:
    car, still = Hmmwv(with_tyre(bore_torque=1.0)), Pedals(brake=1.0, steering=0.5)
    state = car.start(FLAT)
    assert car.advance(state, still, FLAT, 3000) == 3000
    yaw_rates = []
    for _ in range(1000):
        car.advance(state, still, FLAT, 1)
        yaw_rates.append(float(state[20]))

    assert np.abs(yaw_rates).max() < 1e-4  # [rad/s]
    assert np.count_nonzero(np.diff(np.sign(yaw_rates))) < 20  # a slow oscillation at most
