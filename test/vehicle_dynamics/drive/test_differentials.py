"""Kinds of differential against independent solutions: Lagrange multipliers, projected Gauss-Seidel, fine steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from vehicle_dynamics.drive.drive_parameters import Differential, Driveline, TransferRange
from vehicle_dynamics.drive.driveline import FRONT, REAR, ShaftLoad, driveline_constants, wheel_torques

Array = NDArray[np.float64]

WHEEL = 7.9  # [kg m^2]
STEP = 1e-3  # [s]
BEVEL = 0.190781
DRIVE_SHAFT, AXLE_SHAFT, BOX = 0.05, 0.06, 0.3  # [kg m^2]
LEFT_RIGHT, FRONT_REAR = [1, 0, 3, 2], [2, 3, 0, 1]  # wheels after swapping sides or axles
# Rates of axles, and of the drive shaft, in the wheels' rates.
AXLES = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
SHAFT = 0.25 * np.ones(4) / BEVEL
# Differences of output speeds: across the front, across the rear, and between the axles' mean speeds.
ACROSS = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0], [0.5, 0.5, -0.5, -0.5]])
OPEN, LOCKED, TORSEN = Differential(), Differential(kind="locked"), Differential(kind="torque_biasing", bias_ratio=4.0)
LOCKABLE = Differential(kind="lockable")


@dataclass(frozen=True)
class Case:
    """A moment of a drive."""

    torque: float  # on the drive shaft [N m]
    extra: float  # inertia [kg m^2]
    rates: Array
    others: Array

    def swapped(self, order: list[int]) -> Case:
        return Case(self.torque, self.extra, self.rates[order], self.others[order])


def drawn(seed: int, slip_std: float = 3.0) -> Case:
    random = np.random.default_rng(seed)
    return Case(
        400.0 * random.normal(),
        2.0 * random.uniform(),
        20.0 * random.normal() + slip_std * random.normal(size=4),
        800.0 * random.normal(size=4),
    )


def driveline(front: Differential, rear: Differential, centre: Differential = OPEN) -> Driveline:
    return Driveline(
        bevel_ratio=BEVEL,
        front=front,
        rear=rear,
        ranges=(TransferRange(name="H", centre=centre),),
        drive_shaft_inertia_kgm2=DRIVE_SHAFT,
        axle_shaft_inertia_kgm2=AXLE_SHAFT,
        differential_inertia_kgm2=BOX,
    )


def torques_of(line: Driveline, case: Case, locks: int = 0, step: float = STEP) -> Array:
    shaft = ShaftLoad(case.torque, case.extra, locks, 0)
    constants = driveline_constants(line)
    return np.array(wheel_torques(constants, shaft, WHEEL, tuple(case.rates), tuple(case.others), step))


def mass_matrix(extra: float) -> Array:
    """Mass matrix of wheels, boxes, propeller shafts and drive shaft in the wheels' rates."""
    mass = WHEEL * np.eye(4) + (DRIVE_SHAFT + extra) * np.outer(SHAFT, SHAFT)
    for axle in AXLES:
        mass += (BOX + AXLE_SHAFT / BEVEL**2) * np.outer(axle, axle)
    return mass


def rates_after(case: Case, torques: Array, step: float = STEP) -> Array:
    return case.rates + step * (torques + case.others) / WHEEL


def by_multipliers(case: Case, held: list[int], step: float = STEP) -> Array:
    """Rates after a step with some speed differences made zero by constraint forces (a KKT system)."""
    mass, rows = mass_matrix(case.extra), ACROSS[held]
    count = len(held)
    system = np.block([[mass / step, rows.T], [rows, np.zeros((count, count))]])
    right = np.concatenate([mass @ case.rates / step + SHAFT * case.torque + case.others, np.zeros(count)])
    return np.linalg.solve(system, right)[:4]


def kinds_of(*held: int) -> list[Differential]:
    return [LOCKED if index in held else OPEN for index in range(3)]


@pytest.mark.parametrize("held", [[], [0], [1], [2], [0, 1], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("seed", range(8))
def test_locked_differentials_are_constraints_of_lagranges_equations(held: list[int], seed: int) -> None:
    case, (front, rear, centre) = drawn(seed), kinds_of(*held)

    after = rates_after(case, torques_of(driveline(front, rear, centre), case))

    assert_allclose(after, by_multipliers(case, held), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("locks", "held"), [(0, []), (FRONT, [0]), (REAR, [1]), (FRONT | REAR, [0, 1])])
def test_lockable_differentials_are_open_or_locked_by_command(locks: int, held: list[int]) -> None:
    case, (front, rear, _) = drawn(3), kinds_of(*held)

    commanded = torques_of(driveline(LOCKABLE, LOCKABLE), case, locks)

    assert_allclose(commanded, torques_of(driveline(front, rear), case), rtol=0.0, atol=0.0)


@pytest.mark.parametrize("kind", [OPEN, TORSEN, LOCKED])
def test_a_lock_command_changes_only_lockable_differentials(kind: Differential) -> None:
    case, line = drawn(5), driveline(kind, kind)

    assert_allclose(torques_of(line, case, FRONT | REAR), torques_of(line, case, 0), rtol=0.0, atol=0.0)


def coulomb(case: Case, share: float, preload: float, step: float = STEP) -> Array:
    """Rates after a step with friction in both axles, by bisection on each axle's friction torque.

    The mass matrix couples the wheels of an axle through their sum only, and friction is a pair of opposite torques: so
    the torque through each axle is that of open differentials, and each axle is a problem of one unknown.
    """
    mass = mass_matrix(case.extra)
    opened = case.rates + step * np.linalg.solve(mass, SHAFT * case.torque + case.others)
    through = WHEEL * (opened - case.rates) / step - case.others
    rates = opened.copy()
    for axle in range(2):
        limit = share * abs(through[2 * axle] + through[2 * axle + 1]) + preload
        low, high = -limit, limit
        for _ in range(200):
            friction = 0.5 * (low + high)
            change = step * np.linalg.solve(mass, 0.5 * friction * ACROSS[axle])
            if ACROSS[axle] @ (opened + change) > 0.0:  # the left wheel is still faster: brake it more
                high = friction
            else:
                low = friction
        rates += change
    return rates


@pytest.mark.parametrize("preload", [0.0, 60.0])
@pytest.mark.parametrize("seed", range(12))
def test_torque_biasing_axles_solve_coulomb_friction(seed: int, preload: float) -> None:
    case = drawn(seed, slip_std=0.3)  # both sticking and slipping axles
    biasing = Differential(kind="torque_biasing", bias_ratio=4.0, preload_nm=preload)

    after = rates_after(case, torques_of(driveline(biasing, biasing), case))

    assert_allclose(after, coulomb(case, 0.6, preload), atol=1e-9)


def test_a_run_of_coarse_steps_follows_fine_regularised_friction() -> None:
    """Right wheels on ice: the axle sticks, breaks away, and sticks again when the torque fades."""
    line = driveline(TORSEN, TORSEN)
    load = np.array([-700.0, -20.0, -700.0, -20.0])  # grip times rate over a small rate: smooth friction of the ground

    def ground(rates: Array) -> Array:
        return load * np.tanh(rates / 0.5)

    def torque_at(time: float) -> float:
        return 240.0 * np.sin(np.pi * time)  # [N m], up and down within a second

    mass = mass_matrix(0.0)
    fine, step = np.zeros(4), 2e-5
    for count in range(round(1.0 / step)):
        pushed = SHAFT * torque_at(count * step) + ground(fine)
        opened = np.linalg.solve(mass, pushed)
        through = WHEEL * opened - ground(fine)
        for axle in range(2):
            limit = 0.6 * abs(through[2 * axle : 2 * axle + 2].sum())
            pushed = pushed - 0.5 * limit * np.tanh(ACROSS[axle] @ fine / 0.02) * ACROSS[axle]
        fine = fine + step * np.linalg.solve(mass, pushed)

    coarse, widest = np.zeros(4), 0.0
    for count in range(1000):
        case = Case(torque_at(count * STEP), 0.0, coarse, ground(coarse))
        coarse = rates_after(case, torques_of(line, case))
        widest = max(widest, coarse[1] - coarse[0])

    assert widest > 1.0  # it did slip
    # Regularised friction creeps by up to 0.02 rad/s where the other sticks; first-order steps add 1e-3 of the rates.
    assert_allclose(coarse, fine, atol=0.02 * (1.0 + np.abs(fine).max()))


@pytest.mark.parametrize("torque", [300.0, -300.0])
def test_a_biasing_axle_sticks_below_its_limit_and_slips_beyond_with_its_ratio(torque: float) -> None:
    line = driveline(TORSEN, OPEN)
    given = 0.25 * torque / BEVEL  # on each wheel while all are held
    straight = np.full(4, 5.0)

    # Below: the ground's torques differ by half of what the axle carries, which friction bears.
    held = -np.array([1.5 * given, 0.5 * given, given, given])
    torques = torques_of(line, Case(torque, 0.0, straight, held))
    assert_allclose(torques, -held, rtol=1e-9)
    assert_allclose(rates_after(Case(torque, 0.0, straight, held), torques), straight, rtol=1e-12)

    # Beyond: the right wheel can take nothing, so it runs away with a quarter of the left wheel's torque.
    slipping = -np.array([2.0 * given, 0.0, given, given])
    case = Case(torque, 0.0, straight, slipping)
    torques = torques_of(line, case)
    after = rates_after(case, torques)
    assert torques[0] == pytest.approx(4.0 * torques[1], rel=1e-12)
    assert np.sign(after[1] - after[0]) == np.sign(torque)


@pytest.mark.parametrize("bias", [1.0, 1.5, 4.0, 20.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_slower_output_gets_no_more_than_the_bias_ratio(bias: float, seed: int) -> None:
    case = drawn(seed)
    kind = Differential(kind="torque_biasing", bias_ratio=bias)

    torques = torques_of(driveline(kind, kind), case)
    after = rates_after(case, torques)

    for left, right in ((0, 1), (2, 3)):
        slow, fast = (left, right) if abs(after[left]) < abs(after[right]) else (right, left)
        larger, smaller = sorted((abs(torques[left]), abs(torques[right])), reverse=True)
        assert larger <= bias * smaller * (1.0 + 1e-9)
        if abs(after[left] - after[right]) > 1e-9:
            driving = torques[left] + torques[right] > 0.0
            ahead, behind = (left, right) if after[left] > after[right] else (right, left)
            helped, starved = (behind, ahead) if driving else (ahead, behind)
            assert torques[helped] == pytest.approx(bias * torques[starved], rel=1e-9)
            assert {slow, fast} == {ahead, behind}


@pytest.mark.parametrize("seed", range(6))
def test_a_biasing_centre_keeps_its_ratio_between_the_propeller_shafts(seed: int) -> None:
    case = drawn(seed, slip_std=8.0)
    torques = torques_of(driveline(OPEN, OPEN, TORSEN), case)
    accelerations = (torques + case.others) / WHEEL
    after = case.rates + STEP * accelerations

    # What each propeller shaft takes from the centre: its axle's wheels, box and shaft.
    taken = [
        torques[2 * axle : 2 * axle + 2].sum() + (BOX + AXLE_SHAFT / BEVEL**2) * AXLES[axle] @ accelerations
        for axle in range(2)
    ]
    assert sum(taken) == pytest.approx((case.torque - (DRIVE_SHAFT + case.extra) * SHAFT @ accelerations) / BEVEL)
    difference = ACROSS[2] @ after
    assert abs(taken[0] - taken[1]) <= 0.6 * abs(sum(taken)) * (1.0 + 1e-9)
    if abs(difference) > 1e-9:
        assert abs(taken[0] - taken[1]) == pytest.approx(0.6 * abs(sum(taken)))
        assert (taken[0] - taken[1]) * difference < 0.0  # the slower axle gets more


KINDS = [OPEN, TORSEN, Differential(kind="torque_biasing", bias_ratio=2.0, preload_nm=80.0), LOCKED]


def test_friction_only_takes_power_over_random_drives() -> None:
    random = np.random.default_rng(7)
    taken = 0.0
    for seed in range(3000):
        front, rear, centre = (KINDS[index] for index in random.integers(4, size=3))
        case = drawn(seed, slip_std=float(10.0 ** random.uniform(-3.0, 1.5)))
        torques = torques_of(driveline(front, rear, centre), case)
        after = rates_after(case, torques)
        # Power of the friction between outputs, at the speeds after the step, where it is solved.
        across = [torques[0] - torques[1], torques[2] - torques[3]]
        for axle in range(2):
            power = 0.5 * across[axle] * (ACROSS[axle] @ after)
            assert power <= 1e-6
            taken -= power
    assert taken > 1e3  # [W]: some of them slip


@pytest.mark.parametrize("seed", range(20))
def test_no_kind_changes_the_total_torque_or_the_drive_shafts_acceleration(seed: int) -> None:
    case = drawn(seed)
    random = np.random.default_rng(100 + seed)
    shaft = SHAFT @ np.linalg.solve(mass_matrix(case.extra), SHAFT * case.torque + case.others)

    for _ in range(5):
        front, rear, centre = (KINDS[index] for index in random.integers(4, size=3))
        torques = torques_of(driveline(front, rear, centre), case)

        accelerations = (torques + case.others) / WHEEL
        # Angular momentum in terms of the wheels' speed: the differences of outputs take no part in it.
        assert SHAFT @ accelerations == pytest.approx(shaft, rel=1e-9, abs=1e-9)
        inertia = (DRIVE_SHAFT + case.extra) / (4.0 * BEVEL**2) + 0.5 * (BOX + AXLE_SHAFT / BEVEL**2)
        given = case.torque / BEVEL - inertia * accelerations.sum()
        assert torques.sum() == pytest.approx(given, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("order", [LEFT_RIGHT, FRONT_REAR])
@pytest.mark.parametrize("seed", range(6))
def test_sides_and_axles_can_be_exchanged(order: list[int], seed: int) -> None:
    case = drawn(seed)
    for kind in KINDS:
        line = driveline(kind, kind, kind)

        swapped = torques_of(line, case.swapped(order))

        assert_allclose(swapped, torques_of(line, case)[order], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize(
    ("axle", "expected"), [(OPEN, 0.1), (TORSEN, 0.25), (LOCKED, 0.45)], ids=["open", "Torsen 4", "spool"]
)
def test_pull_on_split_friction_is_that_of_statics(axle: Differential, expected: float) -> None:
    """Right wheels on a road of 0.8, left ones on 0.1, centre locked: share of the weight, mobility facts 2.2."""
    radius, load = 0.45, 6300.0
    grip = np.array([0.1, 0.8, 0.1, 0.8]) * load * radius  # [N m]
    line = driveline(axle, axle, LOCKED)
    rates, integral = np.zeros(4), 0.0
    # The vehicle is held on a dynamometer, and the engine governed to 10 rad/s of the wheels' mean.
    for _ in range(20_000):
        error = 10.0 - rates.mean()
        integral += STEP * error
        ground = -grip * np.tanh(rates / 0.5)
        case = Case(30.0 * error + 60.0 * integral, 0.0, rates, ground)
        rates = rates_after(case, torques_of(line, case))

    assert rates.mean() == pytest.approx(10.0, abs=1e-3)
    assert -ground.sum() / radius / (4.0 * load) == pytest.approx(expected, rel=1e-3)
