"""A payload adds its mass, moves the centre of mass, and loads the wheels as statics say; none changes no bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.parameters import Cargo, VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle_mechanism import chassis_lump, vehicle_mechanism

ROAD = FlatGround()
PARKED = Pedals(brake=1.0)
MOST_KG = 1134.0


@pytest.fixture(scope="module")
def m998() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@pytest.mark.parametrize("payload_kg", [100.0, MOST_KG])
def test_chassis_with_payload_has_the_mass_centre_and_inertia_of_its_points(
    m998: VehicleParameters, payload_kg: float
) -> None:
    empty, loaded = (chassis_lump(item, steering_is_fixed=True) for item in (m998, m998.loaded(payload_kg)))
    # The box as many small masses.
    cells = (np.arange(24) + 0.5) / 24 - 0.5
    grid = np.stack(np.meshgrid(cells, cells, cells, indexing="ij"), axis=-1).reshape(-1, 3)
    points = np.array(m998.cargo.centre_m) + grid * m998.cargo.size_m
    mass = payload_kg / len(points)

    total = empty[0] + payload_kg
    centre = (empty[0] * empty[1] + mass * points.sum(axis=0)) / total

    def moved(arm: np.ndarray) -> np.ndarray:
        return (arm @ arm) * np.eye(3) - np.outer(arm, arm)

    inertia = empty[2] + empty[0] * moved(empty[1] - centre)
    offsets = points - centre
    inertia = inertia + mass * (np.sum(offsets**2) * np.eye(3) - offsets.T @ offsets)

    assert loaded[0] == pytest.approx(total, rel=1e-12)
    assert_allclose(loaded[1], centre, atol=1e-12)
    assert_allclose(loaded[2], inertia, rtol=1e-3, atol=1e-3 * inertia.max())  # cells of 1/24


@pytest.mark.parametrize("payload_kg", [0.0, 400.0, MOST_KG])
def test_wheel_loads_are_those_of_statics(m998: VehicleParameters, payload_kg: float) -> None:
    loaded = m998.loaded(payload_kg)
    car = Hmmwv(loaded)
    state = car.start(ROAD)
    seen = car.snapshot(state, PARKED, ROAD)

    free = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
    tree = EmbeddedSystem(vehicle_mechanism(loaded), independent=free)
    names = [tree.layout.mechanism.coordinate_names[index] for index in tree.independent]
    angles = dict(zip([f"{corner}.lower_arm" for corner in CORNERS], seen["arm_angle"], strict=True))
    coordinates = tree.close(np.array([angles.get(name, 0.0) for name in names]))
    bodies = tree.state(coordinates, np.zeros(8), np.zeros(6))
    mechanism = tree.layout.mechanism
    masses = np.array([mechanism.root_mass, *(body.mass for body in mechanism.bodies)])
    designs = np.array([mechanism.root_centre, *(body.centre for body in mechanism.bodies)])
    centres = np.einsum("bij,bj->bi", bodies.rotated, designs) + bodies.shifted
    world = Rotation.from_quat(seen["attitude"])
    centre = world.apply(masses @ centres / masses.sum())
    wheels = world.apply(seen["wheel_centre"])

    weight = masses.sum() * 9.81
    assert masses.sum() == pytest.approx(2573.138 + payload_kg, abs=1e-6)
    assert seen["load"].sum() == pytest.approx(weight, rel=1e-6)
    # Moments about the origin of the loads under the wheels and of the weight.
    assert seen["load"] @ wheels[:, 0] == pytest.approx(weight * centre[0], abs=2e-3 * weight)
    assert seen["load"] @ wheels[:, 1] == pytest.approx(weight * centre[1], abs=2e-3 * weight)


def test_gross_weight_is_on_the_axles_as_the_manual_has_it(m998: VehicleParameters) -> None:
    loads = Hmmwv(m998.loaded(MOST_KG)).snapshot(Hmmwv(m998.loaded(MOST_KG)).start(ROAD), PARKED, ROAD)["load"]

    assert loads[:2].sum() / loads.sum() == pytest.approx(0.435, abs=0.02)  # TM 55-2320-280-14 Table 2-2


def drive(parameters: VehicleParameters) -> np.ndarray:
    car = Hmmwv(parameters)
    state = car.start(ROAD, speed=4.0)
    for pedals in (Pedals(throttle=0.7, steering=0.2), Pedals(brake=0.4)):
        assert car.advance(state, pedals, ROAD, 500) == 500
    return state


def test_no_payload_is_the_same_vehicle_to_the_bit(m998: VehicleParameters, parameters: VehicleParameters) -> None:
    for vehicle in (m998, parameters):
        assert vehicle.loaded(0.0) == vehicle
        assert_array_equal(drive(vehicle.loaded(0.0)), drive(replace(vehicle, cargo=Cargo())))
        assert np.abs(drive(vehicle.loaded(300.0)) - drive(vehicle)).max() > 1e-3


@pytest.mark.parametrize("payload_kg", [-1.0, MOST_KG + 1.0, 1e9, float("nan"), float("inf")])
def test_a_payload_the_vehicle_cannot_have_is_rejected_in_one_line(m998: VehicleParameters, payload_kg: float) -> None:
    with pytest.raises(SettingsError) as caught:
        m998.loaded(payload_kg)

    words = str(caught.value)
    assert words.startswith("cargo")
    assert "mass_kg" in words
    assert "\n" not in words


def test_a_payload_too_heavy_for_the_springs_names_the_axle(parameters: VehicleParameters) -> None:
    with pytest.raises(SettingsError, match=r"^cargo: mass_kg 50000: front_suspension\.spring: carries"):
        parameters.loaded(50_000.0)  # this file has no limit of its own
