"""What tyres do on soft soil beyond Bekker: flatten, dig, push soil aside, and stand on what lies below."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from terrain.bekker import Bekker
from terrain.cone_index import SAND, ConeIndex
from terrain.snow import Snow
from terrain.soils_file import load_soils
from terrain.wheel import NO_DEFLECTION, SoilState
from terrain.wheel_rig import WheelRig
from vehicle_dynamics.tyre.contact import tread_factors

LOAD = 6300.0  # [N]
SOFT = {name: soil.soft for name, soil in load_soils().items() if soil.soft is not None and soil.soft.flattens_tyre}
LOOSE = SOFT["loose_sand"]


def sand(index: float) -> ConeIndex:
    return ConeIndex(texture=SAND, cone_index_psi=index, source="test")


@pytest.mark.parametrize("name", sorted(SOFT))
def test_wheel_without_torque_is_towed_and_without_slip_does_not_pull(tyre: Any, name: str) -> None:
    rig = WheelRig(tyre, SOFT[name])
    towed = rig.towed(LOAD)

    assert towed.torque == pytest.approx(0.0, abs=5.0)
    assert towed.drawbar_pull < 0.0
    assert rig.rolling(LOAD, 0.0).drawbar_pull < 0.0


@pytest.mark.parametrize("index", [25.0, 50.0, 100.0])
def test_sinkage_with_slip_follows_lyasko(tyre: Any, index: float) -> None:
    rig = WheelRig(tyre, sand(index))
    free = rig.rolling(LOAD, 0.0).sinkage

    for slip in (0.2, 0.4, 0.6):
        # His is the ratio for the same pressure; the longer arc carries a little more.
        expected = (1.0 + slip) / (1.0 - 0.5 * slip)
        assert rig.rolling(LOAD, slip).sinkage / free == pytest.approx(expected, rel=0.2)


class Spinning:
    """A wheel under a load, driven at a spin, that moves forward at a given speed and up and down as forces make it."""

    def __init__(self, rig: WheelRig, tyre: Any) -> None:
        self.rig, self.climb, self.spent = rig, 0.0, 0.0
        sinkage, squeeze = rig.rolling(LOAD, 0.0).sinkage, LOAD / float(tyre["stiffness"])
        self.height = self._first = rig.radius - sinkage - squeeze
        self.state, self.deflection = SoilState(sinkage, 1.0, squeeze, 0.0), NO_DEFLECTION
        self.loads: list[float] = []

    @property
    def sunk(self) -> float:
        """How much lower than at first [m]."""
        return self._first - self.height

    def run(self, seconds: float, speed: float, spin: float, step: float = 5e-4) -> None:
        """Spent grows by the work of axle and tow, less what the wheel's own fall gave [J]."""
        for _ in range(round(seconds / step)):
            contact = self.rig.contact(
                height=self.height, speed=speed, climb=self.climb, spin=spin, soil_state=self.state,
                before=self.deflection, elapsed=step, step=step,
            )  # fmt: skip
            self.spent += step * (-contact.moment[1] * spin - contact.force[0] * speed)
            self.climb = (self.climb + step * (contact.force[2] - LOAD) / 650.0) * math.exp(-8.0 * step)
            self.height += step * self.climb
            self.spent -= step * self.climb * LOAD
            self.state, self.deflection = contact.soil_state, contact.deflection
            self.loads.append(contact.load)


def test_a_wheel_that_spins_in_place_digs_and_rolls_out_again(tyre: Any) -> None:
    wheel = Spinning(WheelRig(tyre, LOOSE), tyre)

    wheel.run(0.2, 0.0, 0.0)
    assert abs(wheel.sunk) < 0.005
    depths = []
    for _ in range(4):
        wheel.run(0.25, 0.0, 8.0)
        depths.append(wheel.sunk)
    assert all(after > before for before, after in itertools.pairwise(depths))
    assert depths[-1] > 0.08

    wheel.run(3.0, 1.0, 1.0 / wheel.rig.radius)
    assert abs(wheel.sunk) < 0.01  # as before, on fresh soil


@pytest.mark.parametrize("name", sorted(SOFT))
def test_spinning_and_rolling_in_turn_never_gains_energy(tyre: Any, name: str) -> None:
    wheel = Spinning(WheelRig(tyre, SOFT[name]), tyre)
    rolls = 1.0 / wheel.rig.radius
    wheel.run(1.0, 1.0, rolls)
    # What the carcass of the tyre holds comes back.
    held = 0.5 * (0.8 * LOAD) ** 2 / float(tyre["carcass_stiffness"][0])
    most = wheel.spent
    for _ in range(3):
        begun = wheel.spent
        for slip in (0.5, 0.0, -0.3, 0.8, 0.0):
            wheel.run(0.3, 1.0, rolls / (1.0 - slip) if slip >= 0.0 else rolls * (1.0 + slip))
            most = max(most, wheel.spent)
            assert wheel.spent > most - held
        wheel.run(0.3, -1.0, -rolls)
        wheel.run(0.3, 1.0, rolls)
        assert wheel.spent > begun


@pytest.mark.parametrize("name", sorted(SOFT))
def test_load_changes_smoothly_while_the_wheel_spins_up(tyre: Any, name: str) -> None:
    wheel = Spinning(WheelRig(tyre, SOFT[name]), tyre)
    wheel.run(0.5, 1.0, 1.0 / wheel.rig.radius)
    wheel.loads.clear()
    for slip in np.linspace(0.0, 0.8, 40):
        wheel.run(0.02, 1.0, 1.0 / wheel.rig.radius / (1.0 - slip), step=1e-3)

    assert np.abs(np.diff(wheel.loads)).mean() < 40.0  # [N] per millisecond
    assert np.mean(wheel.loads) == pytest.approx(LOAD, rel=0.3)  # shear carries a part in deep soil


@pytest.mark.parametrize("slip", [0.0, 0.6])
def test_firm_ground_below_is_never_passed(tyre: Any, slip: float) -> None:
    on_firm = replace(LOOSE, firm_depth_m=0.05)

    assert WheelRig(tyre, on_firm).rolling(LOAD, slip).sinkage < 0.054  # the middle of its flat bottom presses less
    assert WheelRig(tyre, LOOSE).rolling(LOAD, slip).sinkage > 0.056
    plate = on_firm.as_bekker()  # type: ignore[attr-defined]
    assert plate.pressure(0.049, 0.3) > 5.0 * Bekker.pressure(replace(plate, firm_depth_m=0.0), 0.049, 0.3)


def test_snow_is_compressed_to_packed_snow_and_no_further(tyre: Any) -> None:
    for depth in (0.1, 0.2, 0.4):
        snow = Snow(depth_m=depth, density_kgpm3=200.0, source="test")
        assert WheelRig(tyre, snow).rolling(LOAD, 0.3).sinkage < depth * (1.0 - 200.0 / 500.0)


def test_tyre_is_flat_on_firm_soil_and_round_on_weak_soil(tyre: Any) -> None:
    def ratio(index: float) -> float:
        """Sinkage with a tyre that flattens over that of a round rim."""
        soil = sand(index)
        round_rim = replace(soil, flattens_tyre=False)
        return WheelRig(tyre, soil).rolling(LOAD, 0.0).sinkage / WheelRig(tyre, round_rim).rolling(LOAD, 0.0).sinkage

    assert ratio(300.0) < ratio(100.0) < ratio(50.0) < ratio(15.0) < 1.0
    assert ratio(15.0) > 0.85


def test_softer_tyre_pulls_more_and_sinks_less(tyre: Any) -> None:
    softer = tyre.copy()
    softer["stiffness"] *= 0.6
    hard, soft = (WheelRig(t, sand(50.0)).rolling(LOAD, 0.2) for t in (tyre, softer))

    assert soft.drawbar_pull > hard.drawbar_pull
    assert soft.sinkage < hard.sinkage


def test_lugs_raise_the_pull_and_rubber_lowers_it(tyre: Any, vehicle_parameters: Any) -> None:
    smooth = vehicle_parameters.tyre
    lugged = replace(smooth, lug_height_m=0.017)
    assert tread_factors(smooth) == (1.0, 1.0)
    # Bekker's side walls of lugs of 17 mm on 317 mm: 11 and 5 %.
    assert tread_factors(lugged) == pytest.approx((1.107, 1.052), abs=0.001)
    assert tread_factors(replace(lugged, rubber_share=0.45))[1] < 1.0

    def pull(factor: float) -> float:
        record = tyre.copy()
        record["lug_friction"] = factor
        return WheelRig(record, sand(50.0)).rolling(LOAD, 0.2).drawbar_pull

    assert pull(0.9) < pull(1.0) < pull(1.1)


def test_firm_clay_pulls_no_more_than_rubber_on_it(tyre: Any) -> None:
    slippery = tyre.copy()
    slippery["rubber_friction"] = 0.5
    stiff = SOFT["heavy_clay"]

    assert WheelRig(slippery, stiff).rolling(LOAD, 0.5).drawbar_pull < 0.5 * LOAD
    assert WheelRig(tyre, stiff).rolling(LOAD, 0.5).drawbar_pull > 0.6 * LOAD


def test_sides_of_a_sunk_wheel_push_soil_aside(tyre: Any) -> None:
    class Slick(Bekker):
        """Sand that does not resist a wheel's sides."""

        def side_resistance(self) -> tuple[float, float]:
            """As SoilLaw's: none."""
            return 0.0, 0.0

    without = Slick(**asdict(sand(25.0).as_bekker()))
    for slip, sign in ((0.2, 1.0), (-0.2, -1.0)):
        side, bare = (WheelRig(tyre, soil).rolling(LOAD, 0.0, slip).side_force for soil in (sand(25.0), without))
        assert sign * side > 1.03 * sign * bare > 0.0


def test_soil_is_pushed_ahead_of_a_deep_wheel_only(tyre: Any) -> None:
    def share(index: float) -> float:
        """Resistance to what is pushed ahead, over the load."""
        soil = sand(index).as_bekker()
        pushed, not_pushed = (
            WheelRig(tyre, s).rolling(LOAD, 0.0).drawbar_pull for s in (soil, replace(soil, bow_share=0.0))
        )
        return (not_pushed - pushed) / LOAD

    assert share(200.0) == 0.0
    assert 0.0 < share(50.0) < 0.03 < share(25.0) < 0.3
