"""ENU, ECEF and geodetic coordinates: ours agree with pymap3d's and with the equations of [Sanjurjo]."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from pymap3d import enu2ecef, enu2geodetic, geodetic2enu

from proving_ground.interfaces.geodesy import FLATTENING, SEMI_MAJOR, SEMI_MINOR
from proving_ground.settings.share import share_file
from sensors.gps.geodesy import DEFAULT_DATUM, LocalFrame
from terrain.georeference import Georeference
from terrain.worlds import load_world

Array = NDArray[np.float64]
ROUNDING_M = 1e-7  # coordinates of 6e6 m in double precision, after some sums
FERROL = Georeference(latitude_deg=43.4936, longitude_deg=-8.2478, altitude_m=60.0)
PRINTED_WGS84 = (6_378_137.0, 6_356_752.314_25)  # a and b of [Sanjurjo], Table 5.2 [m]
PRINTED_ETRS89 = (6_378_137.0, 6_356_752.314_14)


def sanjurjo_ecef(latitude_deg: float, longitude_deg: float, height: float) -> Array:
    """[Sanjurjo], Eq. 5.1."""
    phi, lam = math.radians(latitude_deg), math.radians(longitude_deg)
    a, b = PRINTED_WGS84
    e2 = 1.0 - b**2 / a**2
    across = a / math.sqrt(1.0 + (1.0 - e2) * math.tan(phi) ** 2) + height * math.cos(phi)
    along = a * (1.0 - e2) * math.sin(phi) / math.sqrt(1.0 - e2 * math.sin(phi) ** 2) + height * math.sin(phi)
    return np.array([across * math.cos(lam), across * math.sin(lam), along])


def seed_enu(position: Array, origin: tuple[float, float, float]) -> Array:
    """[Sanjurjo], Eqs. 5.2 and 5.3; phi and lambda are the origin's, which the text does not say."""
    phi, lam = math.radians(origin[0]), math.radians(origin[1])
    sin, cos = math.sin, math.cos
    psi = np.array(
        [
            [-sin(lam), cos(lam), 0.0],
            [cos(lam) * sin(-phi), sin(lam) * sin(-phi), cos(-phi)],
            [cos(lam) * cos(-phi), sin(lam) * cos(-phi), -sin(-phi)],
        ]
    )
    return np.asarray(psi @ (position - sanjurjo_ecef(*origin)))


def test_equations_of_the_paper_agree_with_ours() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        origin = (random.uniform(-89.0, 89.0), random.uniform(-180.0, 180.0), random.uniform(-100.0, 4000.0))
        frame = LocalFrame(Georeference(latitude_deg=origin[0], longitude_deg=origin[1], altitude_m=origin[2]))
        east_north_up = random.uniform(-5000.0, 5000.0, 3)
        position = frame.geodetic_from_enu([east_north_up])[0]

        assert_allclose(sanjurjo_ecef(*position), frame.ecef_from_enu([east_north_up])[0], atol=2e-5)  # b of ten digits
        assert_allclose(seed_enu(sanjurjo_ecef(*position), origin), east_north_up, atol=ROUNDING_M)


def test_flattening_in_sanjurjos_table_is_relative_to_a_not_to_b() -> None:
    a, b = PRINTED_WGS84

    assert (a - b) / a == pytest.approx(1.0 / 298.257223563, rel=1e-9)
    assert (a - b) / b == pytest.approx(1.0 / 297.257223563, rel=1e-9)  # as the table's heading would give
    assert pytest.approx((a - b) / a, rel=1e-9) == FLATTENING
    assert pytest.approx(PRINTED_WGS84, abs=1e-5) == (SEMI_MAJOR, SEMI_MINOR)
    assert PRINTED_WGS84[1] - PRINTED_ETRS89[1] == pytest.approx(1e-4, rel=0.2)  # "about 0.1 mm"


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    latitude=st.floats(-90.0, 90.0),
    longitude=st.floats(-180.0, 180.0),
    position=st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5), st.floats(-1e3, 1e4)),
)
def test_one_position_and_arrays_agree_with_pymap3d(
    latitude: float, longitude: float, position: tuple[float, float, float]
) -> None:
    frame = LocalFrame(Georeference(latitude_deg=latitude, longitude_deg=longitude, altitude_m=100.0))

    # Compared in metres: near a pole a degree of longitude is short.
    assert_allclose(frame.enu_from_geodetic([frame.geodetic(*position)])[0], position, atol=ROUNDING_M)
    assert_allclose(frame.geodetic(*position)[::2], frame.geodetic_from_enu([position])[0][::2], atol=1e-7, rtol=0.0)
    theirs = enu2geodetic(*position, latitude, longitude, 100.0)
    assert_allclose(frame.geodetic(*position)[::2], theirs[::2], atol=1e-7, rtol=0.0)
    assert_allclose(frame.enu(*theirs), geodetic2enu(*theirs, latitude, longitude, 100.0), atol=ROUNDING_M)
    assert_allclose(
        frame.ecef_from_enu([position])[0], enu2ecef(*position, latitude, longitude, 100.0), atol=ROUNDING_M
    )


def test_coordinates_survive_a_round_trip() -> None:
    frame = LocalFrame(FERROL)
    positions = np.random.default_rng(2).uniform(-2e4, 2e4, (500, 3))

    assert_allclose(frame.enu_from_geodetic(frame.geodetic_from_enu(positions)), positions, atol=ROUNDING_M)
    assert_allclose(frame.enu_from_ecef(frame.ecef_from_enu(positions)), positions, atol=ROUNDING_M)


def test_east_raises_the_longitude_north_the_latitude_and_up_the_altitude() -> None:
    frame = LocalFrame(FERROL)
    here, east, north, up = (
        frame.geodetic(*position) for position in ((0, 0, 0), (100.0, 0, 0), (0, 100.0, 0), (0, 0, 100.0))
    )

    assert here == pytest.approx((43.4936, -8.2478, 60.0), abs=1e-8)
    # 100 m on a sphere of the Earth's size, within the flattening of a third of a percent.
    assert north.latitude_deg - 43.4936 == pytest.approx(math.degrees(100.0 / 6.371e6), rel=4e-3)
    east_by_sphere = math.degrees(100.0 / (6.371e6 * math.cos(math.radians(43.4936))))
    assert east.longitude_deg + 8.2478 == pytest.approx(east_by_sphere, rel=4e-3)
    assert up == pytest.approx((43.4936, -8.2478, 160.0), abs=1e-8)


def test_sanjurjos_example_is_near_the_default_datum() -> None:
    example = (43.0 + 29.61417292 / 60.0, -(8.0 + 14.86569421 / 60.0), 0.0)

    assert np.abs(LocalFrame().enu_from_geodetic([example])[0]).max() < 10.0


@pytest.mark.parametrize("latitude", [-90.0, 0.0, 90.0])
@pytest.mark.parametrize("longitude", [-180.0, 0.0, 179.9999, 350.0])
def test_poles_and_date_line_are_not_special(latitude: float, longitude: float) -> None:
    frame = LocalFrame(Georeference(latitude_deg=latitude, longitude_deg=longitude))
    position = frame.geodetic(500.0, 300.0, 2.0)

    assert -90.0 <= position.latitude_deg <= 90.0
    assert -180.0 <= position.longitude_deg <= 180.0
    assert_allclose(frame.enu_from_geodetic([position])[0], [500.0, 300.0, 2.0], atol=ROUNDING_M)


@pytest.mark.parametrize("distance", [1e7, 1e9, 1e15])
def test_positions_far_beyond_the_earth_stay_finite(distance: float) -> None:
    assert np.isfinite(LocalFrame().geodetic(distance, -distance, distance)).all()


def test_nan_stays_nan() -> None:
    assert np.isnan(LocalFrame().geodetic(math.nan, 0.0, 0.0)).all()


def test_a_world_without_a_location_gets_the_default_datum_and_a_remark() -> None:
    frame = LocalFrame(None)

    assert frame.origin == DEFAULT_DATUM
    assert "43.4936 N, -8.2478 E" in frame.remark


def test_a_world_with_projected_coordinates_only_gets_the_default_datum_its_own_altitude_and_a_remark() -> None:
    frame = LocalFrame(Georeference(crs="EPSG:32629", easting_m=5e5, northing_m=4.8e6, altitude_m=12.0))

    assert frame.origin == (*DEFAULT_DATUM[:2], 12.0)
    assert "EPSG:32629" in frame.remark
    assert len(LocalFrame(Georeference(crs="PROJCS" * 1000)).remark) < 200


def test_a_world_with_latitude_and_longitude_needs_no_remark() -> None:
    frame = LocalFrame(FERROL)

    assert frame.origin == (43.4936, -8.2478, 60.0)
    assert frame.remark == ""


def test_points_of_a_survey_lie_on_the_ground_of_its_world() -> None:
    with share_file("config/worlds/bent_road.csv").open() as file:
        points = list(csv.reader(line for line in file if not line.startswith("#")))[1:]
    world = load_world("survey")

    positions = LocalFrame(world.georeference).enu_from_geodetic(np.array(points, float))

    off = positions[:, 2] - world.ground.height_at(positions[:, 0], positions[:, 1])
    assert np.median(np.abs(off)) < 0.02  # the points' own noise is 1 cm
