"""Soils: plates under loading, unloading and reloading; bearing capacity; shear; the file of soils."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proving_ground.settings import SettingsError
from terrain.bekker import BekkerPlain, bearing_factors
from terrain.soil import bearing, mobilised, plate_pressure, residual_depth
from terrain.soils_file import load_soils, soil_table

SAND = BekkerPlain(
    cohesive_modulus=990.0,
    frictional_modulus=1_528_430.0,
    exponent=1.1,
    cohesion_pa=1040.0,
    friction_deg=28.0,
    shear_modulus_m=0.015,
    elastic_pa_per_m=5e7,
    damping_pa_s_per_m=0.0,
    source="test",
)


def test_plate_sinks_as_bekker_says() -> None:
    for sinkage in (1e-4, 0.01, 0.1):
        expected = (990.0 / 0.3 + 1_528_430.0) * sinkage**1.1
        assert SAND.pressure(sinkage, 0.3) == pytest.approx(expected, rel=1e-14)


def test_wheel_in_the_air_has_no_soil_force() -> None:
    assert SAND.pressure(-0.01, 0.3) == 0.0


@given(deepest=st.floats(1e-4, 0.3), share=st.floats(0.0, 1.0))
@settings(deadline=None)
def test_unloading_and_reloading_follow_a_steeper_line(deepest: float, share: float) -> None:
    top = SAND.pressure(deepest, 0.3)
    sinkage = deepest - share * top / SAND.elastic_pa_per_m

    assert SAND.pressure(sinkage, 0.3, deepest) == pytest.approx((1.0 - share) * top, rel=1e-6, abs=1e-3)
    assert SAND.pressure(deepest + 0.01, 0.3, deepest) == SAND.pressure(deepest + 0.01, 0.3)
    assert 0.0 <= residual_depth(bearing(SAND.record(), deepest, 0.3), deepest) < deepest


@given(path=st.lists(st.floats(0.0, 0.3), min_size=2, max_size=8))
@settings(deadline=None)
def test_loading_and_unloading_never_adds_energy(path: list[float]) -> None:
    soil, deepest, work, sinkage = SAND.record(), 0.0, 0.0, 0.0
    for target in [*path, 0.0]:  # ends where it began
        for part in np.linspace(sinkage, target, 400)[1:]:
            before = plate_pressure(soil, sinkage, max(deepest, sinkage), 0.3)
            deepest = max(deepest, float(part))
            after = plate_pressure(soil, float(part), deepest, 0.3)
            work += 0.5 * (before + after) * (float(part) - sinkage)
            sinkage = float(part)

    assert work >= -1e-3 * (1.0 + deepest * 1e5)


def test_bearing_factors_are_terzaghis() -> None:
    # Terzaghi 1943, general shear, rough base, as tabulated in every textbook.
    for degrees, n_c, n_q in ((0, 5.7, 1.0), (10, 9.6, 2.7), (20, 17.7, 7.4), (30, 37.2, 22.5), (40, 95.7, 81.3)):
        found = bearing_factors(math.radians(degrees))
        assert found[:2] == pytest.approx((n_c, n_q), rel=0.01)


def test_weak_soil_carries_no_more_than_its_bearing_capacity() -> None:
    bounded = replace(SAND, unit_weight_npm3=15_700.0)
    n_c, n_q, n_gamma = bearing_factors(math.radians(28.0))
    capacity = 1040.0 * n_c + 15_700.0 * 0.3 * n_q + 0.5 * 15_700.0 * 0.3 * n_gamma

    assert SAND.pressure(0.3, 0.3) > capacity
    assert bounded.pressure(0.3, 0.3) == pytest.approx(capacity)


def test_shear_rises_as_janosi_and_hanamoto_say() -> None:
    assert mobilised(SAND.record(), 0.0).share == 0.0
    assert mobilised(SAND.record(), 0.015).share == pytest.approx(1.0 - math.exp(-1.0))
    assert mobilised(SAND.record(), 1.0).share == pytest.approx(1.0)


def test_file_of_soils_is_valid_and_cites_its_sources() -> None:
    soils = load_soils()

    assert {"hard", "dry_sand", "clay", "snow", "lete_sand"} <= set(soils)
    assert all((soil.hard or soil.soft).source for soil in soils.values())  # type: ignore[union-attr]


def test_unknown_soil_suggests_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean dry_sand"):
        soil_table(["dry_snad"])
