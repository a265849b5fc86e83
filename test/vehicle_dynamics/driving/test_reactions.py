"""Reactions of drive and brake torques on chassis and uprights, as an independent tree of bodies has them.

The vehicle flies, weightless and without drag. Nothing outside acts on it, so drive and brakes change neither its
momentum nor, without an engine, its energy except downwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from vehicle_dynamics.drive.drive_parameters import Differential
from vehicle_dynamics.driving.handle import handle, observe
from vehicle_dynamics.driving.model import driving_workspace
from vehicle_dynamics.driving.snapshot import SNAPSHOT
from vehicle_dynamics.driving.state import ENGINE_SPEED
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.multibody.embedding import EmbeddedSystem
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.parameters import Aerodynamics, Suspension, VehicleParameters
from vehicle_dynamics.pedals import DRIVE, NEUTRAL, Pedals
from vehicle_dynamics.rigid_steps import SEMI_IMPLICIT_EULER
from vehicle_dynamics.suspension.strut import spring_energy
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism
from vehicle_dynamics.vehicle_state import ATTITUDE, SPIN, SPIN_RATE, THETA, THETA_RATE, VELOCITY

Array = NDArray[np.float64]

GROUND = FlatGround()
HIGH = 1e3  # [m] above it
RATES = slice(15, 29)
COASTING = Pedals(selected=NEUTRAL)
DRIVING = Pedals(throttle=0.8, selected=DRIVE)
BRAKING = Pedals(brake=0.7, selected=NEUTRAL)
HUBS = {"hmmwv_chrono": 0.0, "hmmwv": 1.92}


class Flying:
    """A vehicle in the air, as Hmmwv and as a tree of bodies."""

    def __init__(self, parameters: VehicleParameters, **options: str) -> None:
        parameters = replace(parameters, aerodynamics=Aerodynamics())
        self.parameters = parameters
        self.car = Hmmwv(parameters, **options)
        self.start = self.car.start(GROUND, speed=5.0)  # with weight, so that springs are compressed
        self.start[2] = HIGH
        self.car.kernel = self.car.kernel._replace(gravity=0.0)
        free = tuple(f"{corner}.{part}" for corner in CORNERS for part in ("lower_arm", "wheel"))
        self.tree = EmbeddedSystem(vehicle_mechanism(parameters), independent=free)
        names = [self.tree.layout.mechanism.coordinate_names[index] for index in self.tree.independent]
        self.order = [names.index(f"{corner}.{part}") for part in ("lower_arm", "wheel") for corner in CORNERS]

    def somewhere(self, seed: int) -> Array:
        """A state with arms and wheels moving and the chassis rotating."""
        random = np.random.default_rng(seed)
        state = self.start.copy()
        state[ATTITUDE] = Rotation.random(rng=random).as_quat()
        state[THETA] += random.uniform(-0.05, 0.05, 4)
        state[SPIN] = random.uniform(-3.0, 3.0, 4)
        state[RATES] = random.normal(size=14) * np.repeat([3.0, 0.3, 0.5, 10.0], [3, 3, 4, 4])
        state[ENGINE_SPEED] = 150.0
        return state

    def bodies(self, state: Array, rates: Array | None = None) -> TreeState:
        """The tree in a state; with other rates (world velocity, angular velocity, arms, wheels) when given."""
        rates = state[RATES] if rates is None else rates
        coordinates = self.tree.close(self._in_order(state[THETA], state[SPIN]))
        root = np.concatenate([rates[3:6], Rotation.from_quat(state[ATTITUDE]).inv().apply(rates[:3])])
        return self.tree.state(coordinates, self._in_order(rates[6:10], rates[10:]), root)

    def momentum(self, state: Array, rates: Array | None = None) -> Array:
        """Angular momentum about the world's origin, and momentum; world axes."""
        bodies, world = self.bodies(state, rates), Rotation.from_quat(state[ATTITUDE])
        total = np.einsum("bij,bj->i", bodies.inertias(), bodies.velocity)
        linear = world.apply(total[3:])
        arm = state[:3] - [0.0, 0.0, HIGH]  # about a point near the vehicle
        return np.concatenate([world.apply(total[:3]) + np.cross(arm, linear), linear])

    def engine_reaction(self, state: Array, pedals: Pedals) -> float:
        """Moment about x on the chassis [N m]: the crankshaft's angular momentum changes, and is not in the bodies."""
        after, engine = state.copy(), self.parameters.powertrain.converter
        assert self.car.advance(after, pedals, GROUND, 1) == 1
        acceleration = (after[ENGINE_SPEED] - state[ENGINE_SPEED]) / self.car.step_s
        return float(-engine.crankshaft_direction * engine.engine_inertia_kgm2 * acceleration)

    def accelerations(self, state: Array, pedals: Pedals) -> Array:
        """Accelerations of the state's rates (14): a semi-implicit step is linear in them."""
        after = state.copy()
        assert self.car.advance(after, pedals, GROUND, 1) == 1
        found: Array = (after[RATES] - state[RATES]) / self.car.step_s
        return found

    def torques(self, state: Array, pedals: Pedals) -> tuple[Array, Array]:
        """Drive and brake torques on the wheels."""
        seen = self.car.snapshot(state, pedals, GROUND)
        return seen["drive_torque"].copy(), seen["brake_torque"].copy()

    def _in_order(self, arms: Array, wheels: Array) -> Array:
        values = np.empty(8)
        values[self.order] = np.concatenate([arms, wheels])
        return values


@pytest.fixture(scope="module", params=sorted(HUBS))
def flying(request: pytest.FixtureRequest) -> Flying:
    return Flying(VehicleParameters.from_yaml(share_file(f"config/vehicles/{request.param}.yaml")))


def shares_of(flying: Flying) -> tuple[float, float]:
    """Share of drive and of brake torque that reaches the chassis, by [mobility facts, 2.5]."""
    line = flying.parameters.driveline
    by_shaft = 1.0 / line.hub_ratio if line.hub_ratio else -1.0
    return by_shaft, by_shaft if flying.parameters.brakes.position == "inboard" else 0.0


@pytest.mark.parametrize("pedals", [DRIVING, BRAKING, Pedals(throttle=0.5, brake=0.5)], ids=["drive", "brake", "both"])
@pytest.mark.parametrize("seed", range(3))
def test_chassis_upright_and_wheel_get_torques_that_add_up_to_zero(flying: Flying, pedals: Pedals, seed: int) -> None:
    state = flying.somewhere(seed)
    work, seen = driving_workspace(flying.car.kernel), np.empty(1, SNAPSHOT)
    assert observe(handle(flying.car.kernel, work, SEMI_IMPLICIT_EULER), GROUND.kernel(), pedals, state, seen)
    drive, brake = seen[0]["drive_torque"], seen[0]["brake_torque"]
    by_drive, by_brake = shares_of(flying)

    axes = seen[0]["wheel_axis"]
    on_wheels = work.spin_torque + np.einsum("ij,ij->i", work.wheel_force[:, :3], axes)
    on_uprights = -work.spin_torque
    chassis = axes.T @ (by_drive * drive + by_brake * brake)
    reaction = flying.engine_reaction(state, pedals)

    assert np.abs(drive).max() + np.abs(brake).max() > 100.0
    assert_allclose(on_wheels, drive + brake, atol=1e-9)
    assert_allclose(on_uprights, -(1.0 + by_drive) * drive - (1.0 + by_brake) * brake, atol=1e-9)
    # The engine's acceleration in a snapshot is a difference over 1 ns: good to 1e-4 N m.
    assert_allclose(work.chassis_force[:3], chassis + np.array([reaction, 0.0, 0.0]), atol=1e-3 if reaction else 1e-9)
    total = chassis + axes.T @ (on_wheels + on_uprights)
    assert_allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize("pedals", [DRIVING, BRAKING], ids=["drive", "brake"])
@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_those_of_the_tree_of_bodies_under_these_torques(
    flying: Flying, pedals: Pedals, seed: int
) -> None:
    state = flying.somewhere(seed)
    change = flying.accelerations(state, pedals) - flying.accelerations(state, COASTING)
    (drive, brake), (drag, _) = flying.torques(state, pedals), flying.torques(state, COASTING)
    by_drive, by_brake = shares_of(flying)

    bodies = flying.bodies(state)
    forces, none = np.zeros((33, 6)), np.zeros(flying.tree.layout.count)
    forces[0, 0] = flying.engine_reaction(state, pedals) - flying.engine_reaction(state, COASTING)
    for index, corner in enumerate(CORNERS):
        wheel, spindle = (flying.tree.layout.body[f"{corner}.{part}"] for part in ("wheel", "spindle"))
        axis = bodies.rotated[spindle] @ [0.0, 1.0, 0.0]
        driven = drive[index] - drag[index]
        forces[0, :3] += (by_drive * driven + by_brake * brake[index]) * axis
        forces[spindle, :3] -= ((1.0 + by_drive) * driven + (1.0 + by_brake) * brake[index]) * axis
        forces[wheel, :3] += (driven + brake[index]) * axis
    loaded, unloaded = (
        flying.tree.forward_dynamics(bodies, push, none, root_is_held=False) for push in (forces, 0.0 * forces)
    )
    root = loaded.root - unloaded.root
    expected = np.concatenate(
        [
            Rotation.from_quat(state[ATTITUDE]).apply(root[3:]),
            root[:3],
            (loaded.independent - unloaded.independent)[flying.order],
        ]
    )

    # Rates after a step are rounded to 1e-15 of 20 rad/s, over a step of 1 ms.
    assert_allclose(change, expected, atol=1e-8 * np.abs(expected).max())
    assert np.abs(expected).max() > 10.0


@pytest.mark.parametrize("pedals", [DRIVING, BRAKING, Pedals(parking_brake=1.0)], ids=["drive", "brake", "parking"])
@pytest.mark.parametrize("seed", range(3))
def test_torques_of_drive_and_brakes_change_no_momentum(flying: Flying, pedals: Pedals, seed: int) -> None:
    state = flying.somewhere(seed)
    change = flying.accelerations(state, pedals) - flying.accelerations(state, COASTING)

    wheels = flying.momentum(state, np.concatenate([np.zeros(10), change[10:]]))
    gained = flying.momentum(state, change)
    engine = flying.engine_reaction(state, pedals) - flying.engine_reaction(state, COASTING)
    gained[:3] -= Rotation.from_quat(state[ATTITUDE]).apply([engine, 0.0, 0.0])

    assert np.abs(change[10:]).max() > 10.0  # [rad/s^2]: wheels do change their spin
    assert_allclose(gained, 0.0, atol=1e-8 * (1.0 + np.abs(wheels).max()))


@pytest.mark.parametrize("name", sorted(HUBS))
@pytest.mark.parametrize("pedals", [DRIVING, BRAKING], ids=["drive", "brake"])
def test_a_second_in_the_air_keeps_the_momentum(name: str, pedals: Pedals) -> None:
    parameters = VehicleParameters.from_yaml(share_file(f"config/vehicles/{name}.yaml"))
    # The crankshaft's momentum is not in the bodies, nor is its gyroscopic moment in the model: leave it out.
    converter = replace(parameters.powertrain.converter, crankshaft_direction=0)
    parameters = replace(parameters, powertrain=replace(parameters.powertrain, converter=converter))
    flying = Flying(parameters, method="rk4")
    state = flying.start.copy()
    state[VELOCITY] = 0.0
    state[SPIN_RATE] = 20.0
    before = flying.momentum(state)

    assert flying.car.advance(state, pedals, GROUND, 1_000) == 1_000

    assert np.abs(state[SPIN_RATE] - 20.0).min() > 5.0
    # Wheels spin about axes fixed to uprights that move: fourth-order steps leave 1e-6 of the momentum exchanged.
    assert_allclose(flying.momentum(state), before, atol=1e-4 * np.abs(before).max())


KINDS = [
    Differential(),
    Differential(kind="torque_biasing", bias_ratio=4.0, preload_nm=50.0),
    Differential(kind="locked"),
]


def stored(flying: Flying, state: Array) -> float:
    """Kinetic energy of the bodies and of the driveline's inertias, energy of springs, bushings and bars [J]."""
    bodies = flying.bodies(state)
    kinetic = 0.5 * np.einsum("bi,bij,bj->", bodies.velocity, bodies.inertias(), bodies.velocity)
    line, spins = flying.parameters.driveline, state[SPIN_RATE]
    for axle in (spins[:2].mean(), spins[2:].mean()):
        kinetic += 0.5 * line.differential_inertia_kgm2 * axle**2
        kinetic += 0.5 * line.axle_shaft_inertia_kgm2 * (axle / line.bevel_ratio) ** 2
    kinetic += 0.5 * line.drive_shaft_inertia_kgm2 * (spins.mean() / line.bevel_ratio) ** 2
    struts = flying.car.kernel.bodies.corners["strut"]
    elastic = sum(
        spring_energy(strut, np.cos(theta), np.sin(theta)) for strut, theta in zip(struts, state[THETA], strict=True)
    )
    for axle, suspension in enumerate((flying.parameters.front_suspension, flying.parameters.rear_suspension)):
        left, right = state[THETA][2 * axle : 2 * axle + 2]
        elastic += 0.5 * suspension.bushing_nmprad * (left**2 + right**2)
        elastic += 0.5 * suspension.antiroll_nmprad * (left - right) ** 2
    return float(kinetic + elastic)


@pytest.mark.parametrize("pedals", [COASTING, BRAKING], ids=["coasting", "braking"])
@pytest.mark.parametrize("kind", KINDS, ids=[item.kind for item in KINDS])
def test_without_an_engine_energy_never_rises_in_the_air(kind: Differential, pedals: Pedals) -> None:
    parameters = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    line = parameters.driveline
    ranges = tuple(replace(item, centre=kind) for item in line.ranges)
    flying = Flying(replace(parameters, driveline=replace(line, front=kind, rear=kind, ranges=ranges)), method="rk4")
    state = flying.somewhere(2)
    state[SPIN_RATE] = 30.0, 12.0, -8.0, 20.0
    state[THETA_RATE] = 0.5, -0.4, 0.3, 0.2
    energies = [stored(flying, state)]
    for _ in range(20):
        assert flying.car.advance(state, pedals, GROUND, 50) == 50
        energies.append(stored(flying, state))

    gains = np.diff(energies)
    assert energies[-1] < energies[0] - 100.0
    # Held brakes store some joules in their stiction; the driveline leaves out what moving uprights do to a spin.
    assert gains.max() < 1e-3 * (energies[0] - energies[-1])


def undamped(suspension: Suspension) -> Suspension:
    rates = ("compression_nspm", "rebound_nspm", "outer_compression_nspm", "outer_rebound_nspm")
    damper = replace(suspension.damper, **dict.fromkeys(rates, 0.0), speed_mps=(), force_n=())
    return replace(suspension, damper=damper, bushing_nmprad=20_000.0)


def test_without_dampers_springs_bars_and_bushings_keep_the_energy() -> None:
    parameters = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    axles = {name: undamped(getattr(parameters, name)) for name in ("front_suspension", "rear_suspension")}
    flying = Flying(replace(parameters, **axles), method="rk4")
    state = flying.start.copy()
    state[RATES] = 0.0
    state[THETA] = 0.08, 0.02, -0.05, 0.1
    energies, bushings = [], []
    for _ in range(50):
        assert flying.car.advance(state, COASTING, GROUND, 10) == 10
        energies.append(stored(flying, state))
        bushings.append(0.5 * 20_000.0 * float(np.sum(state[THETA] ** 2)))

    assert np.ptp(bushings) > 100.0  # [J] come and go
    assert np.ptp(energies) < 0.01 * np.ptp(bushings)  # kinks of the stops' tables cost RK4 some accuracy


@pytest.mark.parametrize(("centre", "equal"), [("locked", [0, 1, 2, 3]), ("open", [])])
@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_spools_make_the_wheels_speeds_equal_and_keep_them_so(centre: str, equal: list[int], method: str) -> None:
    parameters = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    line, kind = parameters.driveline, Differential(kind=centre)
    ranges = (replace(line.ranges[0], centre=kind),)
    flying = Flying(replace(parameters, driveline=replace(line, front=kind, rear=kind, ranges=ranges)), method=method)
    state = flying.start.copy()
    state[SPIN_RATE] = 10.0, 11.0, 12.0, 9.0

    assert flying.car.advance(state, DRIVING, GROUND, 50) == 50

    if equal:
        # A spin's acceleration is taken as torque over inertia: the uprights' own rotation leaves that much.
        assert np.ptp(state[SPIN_RATE]) < 0.01
    else:
        assert np.ptp(state[SPIN_RATE]) > 2.0


@pytest.mark.parametrize(("locks", "equal"), [(0, ()), (1, (0,)), (2, (1,)), (3, (0, 1))])
def test_lock_commands_of_the_pedals_reach_the_axles(locks: int, equal: tuple[int, ...]) -> None:
    parameters = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))
    lockable = Differential(kind="lockable")
    flying = Flying(replace(parameters, driveline=replace(parameters.driveline, front=lockable, rear=lockable)))
    state = flying.start.copy()
    state[SPIN_RATE] = 10.0, 12.0, 11.0, 9.0

    assert flying.car.advance(state, Pedals(selected=NEUTRAL, locks=locks), GROUND, 50) == 50

    differences = np.abs(state[SPIN_RATE][::2] - state[SPIN_RATE][1::2])
    assert [axle for axle in range(2) if differences[axle] < 0.01] == list(equal)


def test_locked_ranges_of_the_transfer_case_tie_the_axles_together() -> None:
    flying = Flying(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")))
    differences = []
    for index in range(3):  # H, H/L, L
        state = flying.start.copy()
        state[SPIN_RATE] = 12.0, 12.0, 9.0, 9.0
        assert flying.car.advance(state, Pedals(selected=NEUTRAL, transfer_range=index), GROUND, 50) == 50
        differences.append(abs(state[SPIN_RATE][:2].sum() - state[SPIN_RATE][2:].sum()))

    assert differences[0] > 4.0
    assert max(differences[1:]) < 0.01
