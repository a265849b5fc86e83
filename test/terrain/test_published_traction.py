"""Published curves of traction: values computed by hand from the same equations for the HMMWV's wheel."""

from __future__ import annotations

import pytest

from terrain.published_traction import RigWheel, brixius, clay, clay_resistance, sand, sand_resistance

WIDTH, DIAMETER, LOAD = 0.3175, 37.0 * 0.0254, 6310.0


def wheel(ratio: float) -> RigWheel:
    return RigWheel(LOAD, WIDTH, DIAMETER, 0.26, 0.26 * ratio)


@pytest.mark.parametrize(
    ("index", "net", "resistance", "sinkage"),
    [(25.0, 0.20, 0.20, 0.060), (50.0, 0.38, 0.078, 0.030), (100.0, 0.48, 0.043, 0.015), (200.0, 0.55, 0.030, 0.008)],
)
def test_sand(index: float, net: float, resistance: float, sinkage: float) -> None:
    found = sand(wheel(0.2), index, 0.2)

    assert found.pull == pytest.approx(net, abs=0.006)
    assert sand_resistance(wheel(0.2), index) == pytest.approx(resistance, abs=0.002)
    assert found.sinkage == pytest.approx(sinkage, abs=0.001)


@pytest.mark.parametrize(
    ("index", "ratio", "net", "resistance", "by_brixius"),
    [(20.0, 0.2, 0.06, 0.23, 0.16), (30.0, 0.2, 0.27, 0.11, 0.32), (40.0, 0.12, 0.34, 0.08, 0.35),
     (60.0, 0.3, 0.64, 0.02, 0.61), (100.0, 0.2, 0.71, 0.02, 0.66)],
)  # fmt: skip
def test_clay(index: float, ratio: float, net: float, resistance: float, by_brixius: float) -> None:
    assert clay(wheel(ratio), index, 0.2).pull == pytest.approx(net, abs=0.006)
    assert clay_resistance(wheel(ratio), index) == pytest.approx(resistance, abs=0.006)
    assert brixius(wheel(ratio), index, 0.2).pull == pytest.approx(by_brixius, abs=0.006)
