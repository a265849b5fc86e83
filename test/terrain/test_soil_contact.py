"""A wheel on soft soil against Bekker's closed forms, and properties that hold for any soil."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import beta

from terrain.bekker import BekkerPlain
from terrain.ruts import clear_ruts, fresh_ruts, rut_depth
from terrain.soil_contact import RIGID_STIFFNESS
from terrain.soils_file import load_soils
from terrain.wheel import Deflection, SoilState
from terrain.wheel_rig import WheelRig

SOFT = {name: soil.soft for name, soil in load_soils().items() if soil.soft is not None}
# Wong, Theory of Ground Vehicles, Table 2.3: dry sand of the Land Locomotion Laboratory, and clayey soil of Thailand.
SAND = BekkerPlain(
    cohesive_modulus=990.0, frictional_modulus=1528430.0, exponent=1.1, cohesion_pa=1040.0, friction_deg=28.0,
    shear_modulus_m=0.015, elastic_pa_per_m=5e7, damping_pa_s_per_m=3e4, unit_weight_npm3=15700.0, source="Wong",
)  # fmt: skip
CLAY = replace(
    SAND, cohesive_modulus=13190.0, frictional_modulus=692150.0, exponent=0.5, cohesion_pa=4140.0, friction_deg=13.0,
    shear_modulus_m=0.006, elastic_pa_per_m=2e7, unit_weight_npm3=17500.0,
)  # fmt: skip
# Bekker's wheel: no shear, no rebound behind it.
PLAIN = replace(
    SAND, cohesive_modulus=0.0, exponent=1.0, frictional_modulus=2e7, friction_deg=0.0, cohesion_pa=0.0,
    elastic_pa_per_m=1e12, unit_weight_npm3=0.0, has_tyre=False, damping_pa_s_per_m=0.0,
)  # fmt: skip


@pytest.mark.parametrize("load", [1000.0, 3000.0, 6000.0])
@pytest.mark.parametrize(("modulus", "exponent"), [(2e7, 1.0), (1e8, 1.0), (2e7, 1.1)])
def test_narrow_contact_agrees_with_bekker(tyre: Any, load: float, modulus: float, exponent: float) -> None:
    rig = WheelRig(tyre, replace(PLAIN, frictional_modulus=modulus, exponent=exponent))

    rolling = rig.rolling(load, slip=0.0)

    # Bekker 1969: parabola for the arc, no contact behind the axle.
    n, b, d = exponent, rig.width, 2.0 * rig.radius
    sinkage = (3.0 * load / (b * (3.0 - n) * modulus * math.sqrt(d))) ** (2.0 / (2.0 * n + 1.0))
    resistance = b * modulus * rolling.sinkage ** (n + 1.0) / (n + 1.0)
    assert rolling.sinkage == pytest.approx(sinkage, rel=0.02)
    assert -rolling.drawbar_pull == pytest.approx(resistance, rel=0.02)
    assert rolling.torque == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("exponent", [0.5, 0.8, 1.5])
def test_narrow_contact_agrees_with_the_full_integral_beyond_bekkers_series(tyre: Any, exponent: float) -> None:
    load, modulus = 3000.0, 5e6
    rig = WheelRig(tyre, replace(PLAIN, frictional_modulus=modulus, exponent=exponent))

    rolling = rig.rolling(load, slip=0.0)

    # W = b k z^n sqrt(D z) times the integral of (1 - u^2)^n from 0 to 1, for which Bekker has 1 - n / 3.
    integral = 0.5 * beta(0.5, exponent + 1.0)
    whole = rig.width * modulus * rolling.sinkage**exponent * math.sqrt(2.0 * rig.radius * rolling.sinkage) * integral
    assert whole == pytest.approx(load, rel=0.02)


@pytest.mark.parametrize("name", sorted(SOFT))
def test_doubling_the_samples_changes_less_than_one_percent(tyre: Any, name: str) -> None:
    soil = replace(SOFT[name], has_tyre=False)
    finer = tyre.copy()
    finer["arc_samples"] *= 2
    finer["strip_samples"] *= 2
    coarse, fine = (WheelRig(item, soil).rolling(5000.0, slip=0.2) for item in (tyre, finer))

    assert coarse.sinkage == pytest.approx(fine.sinkage, rel=0.01)
    assert coarse.drawbar_pull == pytest.approx(fine.drawbar_pull, rel=0.01, abs=0.002 * 5000.0)


def test_pull_rises_with_slip_as_janosis_curve(tyre: Any) -> None:
    rig = WheelRig(tyre, replace(SAND, has_tyre=False))
    slips = np.linspace(0.0, 0.8, 17)

    pulls = np.array([rig.rolling(5000.0, slip=float(slip)).drawbar_pull for slip in slips])

    assert np.all(np.diff(pulls[:8]) > 0.0)  # rises ...
    assert np.all(np.diff(pulls, 2)[:6] < 0.0)  # ... ever more slowly
    assert pulls[-1] < 5000.0 * math.tan(math.radians(28.0)) + 1040.0 * 0.3 * 0.6  # below what Coulomb allows


def test_sand_grips_by_friction_and_clay_by_cohesion(tyre: Any) -> None:
    def torque(soil: BekkerPlain, load: float) -> float:
        return WheelRig(tyre, replace(soil, has_tyre=False, unit_weight_npm3=0.0)).rolling(load, slip=0.3).torque

    # Twice the load doubles the friction; cohesion grows with the patch alone.
    assert torque(SAND, 6000.0) / torque(SAND, 3000.0) == pytest.approx(2.0, rel=0.03)
    assert torque(CLAY, 6000.0) / torque(CLAY, 3000.0) < 1.95
    firm = replace(CLAY, friction_deg=0.0)
    assert torque(firm, 6000.0) / torque(firm, 3000.0) < 1.8


@pytest.mark.parametrize("slip", [-0.3, 0.0, 0.3])
def test_side_slip_causes_an_opposing_force(tyre: Any, slip: float) -> None:
    rig = WheelRig(tyre, replace(SAND, has_tyre=False))
    left, right = (rig.rolling(5000.0, slip=slip, side_slip=side) for side in (0.1, -0.1))

    assert left.side_force > 0.0  # side_slip is positive to the right
    assert right.side_force == pytest.approx(-left.side_force)
    assert left.drawbar_pull == pytest.approx(right.drawbar_pull)


@pytest.mark.parametrize("name", sorted(SOFT))
def test_standing_wheel_is_pushed_straight_up(tyre: Any, name: str) -> None:
    contact = WheelRig(tyre, SOFT[name]).contact(height=0.4, elapsed=0.0)

    assert contact.load > 0.0
    assert np.abs(contact.force[:2]).max() < 1e-9 * contact.load
    assert np.abs(contact.moment).max() < 1e-9 * contact.load


@pytest.mark.parametrize("name", sorted(SOFT))
def test_held_wheel_sticks_like_a_spring(tyre: Any, name: str) -> None:
    rig = WheelRig(tyre, SOFT[name])
    deflection, soil_state = Deflection(0.0, 0.0), SoilState(rig.radius - 0.42, 0.0, 0.0, 0.0)
    for _ in range(100):  # pulled ahead by 0.1 mm while it cannot spin
        contact = rig.contact(height=0.42, speed=0.001, soil_state=soil_state, before=deflection, elapsed=1e-3)
        deflection = contact.deflection

    held = rig.contact(height=0.42, soil_state=soil_state, before=deflection, elapsed=1e-3)
    # Not quite as far as it was pulled: the carcass damper takes 5 N, a tenth of what snow can hold.
    assert deflection.along == pytest.approx(-1e-4, rel=0.1)
    assert held.force_along == pytest.approx(1e5 * deflection.along, rel=0.01)  # the carcass' stiffness


def test_rolling_over_soil_costs_energy_whatever_the_slip(tyre: Any) -> None:
    for soil in SOFT.values():
        rig = WheelRig(tyre, replace(soil, has_tyre=False))
        for slip in (-0.5, -0.1, 0.0, 0.1, 0.5):
            rolling = rig.rolling(4000.0, slip=slip, speed=1.0)
            spin = 1.0 / (rig.radius * (1.0 - slip))
            # What the axle puts in, less what the wheel pulls, is dissipated in the soil.
            assert rolling.torque * spin - rolling.drawbar_pull * 1.0 > 0.0


def test_second_wheel_in_the_rut_sinks_less_and_rolls_more_easily(tyre: Any) -> None:
    ruts = fresh_ruts(2**12, 0.1)
    rig = WheelRig(tyre, replace(SAND, has_tyre=False), ruts)
    first = rig.rolling(5000.0, slip=0.0)
    squeeze = 5000.0 / (RIGID_STIFFNESS * float(tyre["stiffness"]))
    height, soil_state = rig.radius - first.sinkage - squeeze, SoilState(first.sinkage, 1.0, squeeze, 0.0)
    for x in np.arange(0.0, 4.0, 0.01):  # rolls by and leaves a rut
        found = rig.contact(
            height=height, speed=1.0, spin=1.0 / rig.radius, x=float(x), soil_state=soil_state, step=0.01
        )
        soil_state = found.soil_state

    assert rut_depth(ruts, 2.0, 0.0) == pytest.approx(first.sinkage, rel=1e-3)
    second = rig.rolling(5000.0, slip=0.0)
    assert first.sinkage < second.sinkage < 1.5 * first.sinkage  # a little deeper, measured from the old surface
    assert second.drawbar_pull > first.drawbar_pull  # less resistance
    clear_ruts(ruts)
    assert rut_depth(ruts, 2.0, 0.0) == 0.0


def test_stiff_soil_under_a_tyre_is_a_tyre_on_hard_ground(tyre: Any) -> None:
    squeeze = 0.0158
    height = float(tyre["radius"]) - squeeze
    soil_state = SoilState(0.0, 0.0, squeeze, 0.0)
    sinkages = []
    for modulus in (1e7, 1e9, 1e11):
        rig = WheelRig(tyre, replace(PLAIN, frictional_modulus=modulus, has_tyre=True))
        for _ in range(40):  # until tyre and soil forces are equal
            contact = rig.contact(height=height, soil_state=soil_state, elapsed=0.0, step=1e6)
            soil_state = SoilState(0.0, 0.0, contact.soil_state.squeeze, 0.0)
        sinkages.append(contact.sinkage)

    assert sinkages[0] > 10.0 * sinkages[1] > 50.0 * sinkages[2]
    assert contact.load == pytest.approx(float(tyre["stiffness"]) * squeeze, rel=1e-2)
