"""Soils by cone index and moisture: consistent numbers, and the indices of published soils."""

from __future__ import annotations

import math

import pytest

from terrain.cone_index import MOISTURE, PSI_PA, SAND, ConeIndex, bekker_of, cone_index_of, mean_cone_index
from terrain.soils_file import load_soils


def soil(texture: str, index: float) -> ConeIndex:
    return ConeIndex(texture=texture, cone_index_psi=index, source="test")


@pytest.mark.parametrize(
    ("cohesive", "frictional", "exponent", "psi"),
    [
        (990.0, 1_528_430.0, 1.1, 17.0),  # dry sand of the Land Locomotion Laboratory
        (5_270.0, 1_515_040.0, 0.7, 52.0),  # its sandy loam
        (13_190.0, 692_150.0, 0.5, 83.0),  # clayey soil, Thailand
        (102_000.0, 5_301_000.0, 0.79, 328.0),  # LETE sand
        (12_700.0, 1_555_950.0, 0.13, 290.0),  # heavy clay, WES
    ],
)
def test_cone_index_of_published_moduli(cohesive: float, frictional: float, exponent: float, psi: float) -> None:
    # Computed by others from the same form (Janosi's differs by its factors): within rounding of the moduli.
    assert mean_cone_index(cohesive, frictional, exponent) / PSI_PA == pytest.approx(psi, rel=0.03)


@pytest.mark.parametrize("index", [10.0, 17.0, 25.0, 50.0, 100.0, 200.0, 400.0])
def test_sand_has_the_cone_index_that_was_given(index: float) -> None:
    numbers = soil(SAND, index).as_bekker()

    assert cone_index_of(numbers) == pytest.approx(index, rel=1e-6)


def test_density_friction_and_moduli_of_sand_rise_together() -> None:
    sands = [soil(SAND, index).as_bekker() for index in (17.0, 50.0, 100.0, 200.0, 330.0)]

    for name in ("friction_deg", "unit_weight_npm3", "frictional_modulus", "elastic_pa_per_m"):
        values = [getattr(sand, name) for sand in sands]
        assert values == sorted(set(values)), name
    assert (sands[0].friction_deg, sands[-1].friction_deg) == (28.0, 39.0)


@pytest.mark.parametrize(
    ("texture", "percent", "psi"),
    [
        ("loamy_sand", 20.0, 40.0),
        ("silt", 30.0, 42.0),
        ("loam", 20.0, 139.0),
        ("clay", 25.0, 145.0),
        ("organic", 40.0, 152.0),
    ],
)
def test_strength_over_moisture_is_that_of_sullivan_and_anderson(texture: str, percent: float, psi: float) -> None:
    found = ConeIndex(texture=texture, moisture_percent=percent, source="test")

    assert found.index_psi() == pytest.approx(psi, rel=0.02)


@pytest.mark.parametrize("texture", sorted(MOISTURE))
def test_fine_grained_soil_is_cohesive_and_weaker_when_wet(texture: str) -> None:
    dry, wet = (ConeIndex(texture=texture, moisture_percent=p, source="test").as_bekker() for p in (30.0, 38.0))

    assert dry.cohesion_pa > wet.cohesion_pa > 0.0
    assert dry.frictional_modulus > wet.frictional_modulus
    assert dry.friction_deg == wet.friction_deg == 0.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"texture": SAND}, "exactly one of cone_index_psi and moisture_percent"),
        ({"texture": "clay", "cone_index_psi": 20.0, "moisture_percent": 30.0}, "exactly one of"),
        ({"texture": SAND, "moisture_percent": 5.0}, "must be 0 for sand"),
        ({"texture": "loamy_sand", "moisture_percent": 90.0}, "must be 2 to 750 psi"),
    ],
)
def test_mistakes_are_one_line(values: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConeIndex(**values, source="test")  # type: ignore[arg-type]


def test_soils_of_the_suite_state_their_strength_or_are_snow() -> None:
    soft = {name: soil.soft for name, soil in load_soils().items() if soil.soft is not None}

    assert {name for name, law in soft.items() if math.isnan(cone_index_of(law))} == {"snow"}
    assert all(bekker_of(law) is not None for name, law in soft.items() if name != "snow")
