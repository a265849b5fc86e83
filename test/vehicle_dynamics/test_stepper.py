"""Stepper: whole ticks, exact rates, reset while time continues, divergence; pace on the machine's clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from proving_ground.settings import SettingsError, build
from proving_ground.settings.dates import date_ns
from proving_ground.settings.units import NS_PER_S
from terrain.ground import FlatGround
from vehicle_dynamics.base_motion import base_motion
from vehicle_dynamics.driving.snapshot import SNAPSHOT
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.simulation_loop import PAUSED_CLOCK_S, SimulationLoop
from vehicle_dynamics.stepper import (
    CONTROL_NS,
    MOST_DEBT_NS,
    Instant,
    Pacer,
    Schedule,
    Stepper,
    steps_per_control,
)

MS = 1_000_000


class Cart:
    """A vehicle on rails: its state is x; it diverges at a given x."""

    step_s = 0.001
    breaks_at = float("inf")
    shows_nan = False

    def start(self, ground: Any, x: float = 0.0, **position: float) -> Any:
        return np.array([x])

    def advance(self, state: Any, pedals: Pedals, ground: Any, steps: int) -> int:
        for count in range(steps):
            if state[0] >= self.breaks_at:
                return count
            state[0] += 0.001 * pedals.throttle
        return steps

    def adapt(self, payload_kg: Any, pressures_pa: Any) -> None: ...

    def snapshot(self, state: Any, pedals: Pedals, ground: Any) -> Any:
        seen = np.zeros((), SNAPSHOT)
        seen["position"][0] = np.nan if self.shows_nan else state[0]
        return seen[()].copy()


class Foot:
    """Full throttle; counts its calls."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.resets = 0

    def pedals(self, now: float, seen: Any) -> Pedals:
        self.asked.append(now)
        return Pedals(throttle=1.0)

    def reset(self) -> None:
        self.resets += 1


RATES = {"clock": 100.0, "odom": 100.0, "tf": 50.0, "slow": 4.0, "never": 0.0}


def cart_simulation(cart: Cart | None = None, rates: dict[str, float] = RATES, start_ns: int = 0) -> Any:
    foot = Foot()
    vehicle: Any = cart or Cart()
    simulation = Stepper(
        vehicle, FlatGround(), foot, Schedule(0.001, rates), start={"x": 5.0, "y": 0.0}, start_ns=start_ns
    )
    return simulation, foot


def test_time_is_whole_and_rates_are_exact() -> None:
    start = date_ns("start_date", "2026-01-01T00:00:00Z")
    simulation, foot = cart_simulation(start_ns=start)

    instants = [simulation.move() for _ in range(1000)]

    assert [item.time_ns for item in instants] == [start + 10 * MS * (count + 1) for count in range(1000)]
    counts = {name: sum(name in item.due for item in instants) for name in RATES}
    assert counts == {"clock": 1000, "odom": 1000, "tf": 500, "slow": 40, "never": 0}
    assert foot.asked == [count / 100 for count in range(1000)]


def test_driver_acts_every_period_also_when_more_is_published() -> None:
    simulation, foot = cart_simulation(rates={"clock": 100.0, "odom": 500.0})

    instants = [simulation.move() for _ in range(50)]

    assert [item.time_ns for item in instants] == [2 * MS * (count + 1) for count in range(50)]
    assert len(foot.asked) == 10
    assert sum("clock" in item.due for item in instants) == 10


def test_reset_returns_the_vehicle_to_the_start_while_time_continues() -> None:
    simulation, foot = cart_simulation()
    for _ in range(7):
        simulation.move()
    before = simulation.time_ns

    simulation.reset()
    after = simulation.move()

    assert after.time_ns == before + CONTROL_NS
    assert after.has_jumped
    assert not simulation.move().has_jumped
    assert float(after.seen["position"][0]) == pytest.approx(5.0 + 0.01)
    assert foot.resets == 1


def test_collisions_are_counted_once_each_and_cleared_by_a_reset() -> None:
    class Bumping(Cart):
        def snapshot(self, state: Any, pedals: Pedals, ground: Any) -> Any:
            seen = super().snapshot(state, pedals, ground)
            seen["collision"] = 100.0 if round(100.0 * float(state[0])) % 4 >= 2 else 0.0
            return seen

    simulation, _ = cart_simulation(Bumping())
    for _ in range(12):  # touching, free, touching ...
        simulation.move()

    assert simulation.collisions == 3
    assert "hit an obstacle at" in simulation.last_collision
    simulation.reset()
    assert simulation.collisions == 0


def test_step_is_one_period_from_any_tick() -> None:
    simulation, _ = cart_simulation(rates={"clock": 100.0, "odom": 500.0})
    simulation.move()
    assert simulation.time_ns == 2 * MS

    instants = simulation.step()

    assert simulation.time_ns == 2 * MS + CONTROL_NS
    assert len(instants) == 5


def test_diverged_vehicle_is_not_published_until_reset() -> None:
    cart = Cart()
    cart.breaks_at = 5.025
    simulation, foot = cart_simulation(cart)

    instants = [simulation.move() for _ in range(6)]

    assert [item.seen is None for item in instants] == [False, False, True, True, True, True]
    assert [item.time_ns for item in instants] == [CONTROL_NS * (count + 1) for count in range(6)]
    assert simulation.word == "diverged"
    assert "diverged at 0.025 s near x 5.0" in simulation.diverged
    assert len(foot.asked) == 3

    simulation.reset()
    assert simulation.word == "running"
    assert simulation.move().seen is not None


def test_snapshot_that_is_not_finite_counts_as_divergence() -> None:
    cart = Cart()
    simulation, _ = cart_simulation(cart)
    cart.shows_nan = True

    assert simulation.move().seen is None
    assert simulation.word == "diverged"
    assert np.isfinite(simulation.seen["position"]).all()


@pytest.mark.parametrize(("rate", "near"), [(30.0, "29.4118 and 30.303"), (600.0, "500 and 1000")])
def test_rate_that_is_not_whole_ticks_is_rejected_with_the_nearest_ones(rate: float, near: str) -> None:
    with pytest.raises(SettingsError, match=f"tf_rate_hz: .* near are {near} Hz, got {rate:g}"):
        build(VehicleNodeSettings, {"tf_rate_hz": rate})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"vehicle.step_s": 0.003}, "vehicle.step_s: must fit into 0.01 s"),
        ({"start.date": "yesterday"}, "start.date: must be like"),
        ({"start.date": "2026-01-01"}, "start.date: must have a time zone"),
        ({"start.date": "1969-01-01T00:00:00Z"}, "start.date: must be from 1970"),
        ({"frames.odom": "map"}, "frames.odom: must be another frame than map"),
        ({"frames.map": ""}, "frames.map: must be the name of a frame"),
        ({"frames.map": "lidar_link"}, "frames.map: must be the name of no frame of the vehicle"),
        ({"frames.prefix": "/truck/"}, "frames.prefix: must not begin with '/'"),
        ({"frame_prefix": "truck/"}, "frame_prefix: is called frames.prefix now"),
        ({"start_x_m": 1.0}, "start_x_m: is called start.x_m now"),
        ({"friction": 0.5}, "friction: is called ground.friction now"),
        ({"vehicle.fidelity": "high"}, "vehicle.fidelity: must be one of multibody, single_track"),
        ({"real_time_factor": -1.0}, "real_time_factor: must be a number from 0 to 100"),
        ({"command_timeout_s": float("nan")}, "command_timeout_s: must be a number"),
    ],
)
def test_bad_settings_are_rejected_in_one_line(values: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        build(VehicleNodeSettings, values)

    assert "\n" not in str(caught.value)


@given(st.sampled_from([0.0001, 0.0002, 0.00025, 0.0005, 0.001, 0.002, 0.0025, 0.005]))
def test_steps_fill_a_period(step_s: float) -> None:
    assert steps_per_control(step_s) * round(step_s * NS_PER_S) == CONTROL_NS


def test_pacer_is_linear() -> None:
    pacer = Pacer(2.0)
    pacer.restart(1000 * MS, 0)

    assert pacer.early_ns(1000 * MS, 10 * MS) == 5 * MS
    assert pacer.early_ns(1007 * MS, 10 * MS) == -2 * MS  # late, and caught up later
    assert pacer.early_ns(1007 * MS, 20 * MS) == 3 * MS


def test_pacer_skips_excessive_lateness() -> None:
    pacer = Pacer(1.0)
    pacer.restart(0, 0)
    late = MOST_DEBT_NS + 10 * MS

    assert pacer.early_ns(late, 0) == -late
    assert pacer.given_up_ns == late
    assert pacer.early_ns(late, 10 * MS) == 10 * MS


def test_free_pacer_never_waits() -> None:
    assert Pacer(0.0).early_ns(0, 10**15) == 0


@pytest.fixture
def loops() -> Iterator[Any]:
    started: list[SimulationLoop] = []

    def make(factor: float, cart: Cart | None = None) -> tuple[SimulationLoop, list[Instant]]:
        instants: list[Instant] = []
        simulation, _ = cart_simulation(cart)
        loop = SimulationLoop(simulation, Pacer(factor), instants.append)
        started.append(loop)
        return loop, instants

    yield make
    for loop in started:
        loop.stop()


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_loop_publishes_each_instant_once_in_order(loops: Any) -> None:
    loop, instants = loops(0.0)

    loop.start()
    wait_until(lambda: len(instants) > 500)
    loop.stop()

    assert [item.time_ns for item in instants] == [CONTROL_NS * count for count in range(len(instants))]
    assert instants[0].due == {"clock", "odom", "tf", "slow"}


def test_loop_keeps_pace(loops: Any) -> None:
    loop, instants = loops(4.0)

    began = time.monotonic()
    loop.start()
    wait_until(lambda: len(instants) > 100)  # a simulated second
    elapsed = time.monotonic() - began

    assert elapsed > 0.24  # never ahead; a busy machine may be late


def test_paused_loop_publishes_the_time_and_can_be_stepped(loops: Any) -> None:
    loop, instants = loops(1.0)
    loop.start()
    loop.ask(lambda: loop.pause(True))
    count, stands_at = len(instants), loop.simulation.time_ns

    wait_until(lambda: len(instants) >= count + 3)
    assert {item.time_ns for item in instants[count:]} == {stands_at}
    assert {item.due for item in instants[count:]} == {frozenset({"clock"})}
    assert loop.ask(loop.step) is True
    assert loop.simulation.time_ns == stands_at + CONTROL_NS

    loop.ask(lambda: loop.pause(False))
    wait_until(lambda: loop.simulation.time_ns > stands_at + 5 * CONTROL_NS)
    assert loop.ask(loop.step) is False


def test_pause_leaves_no_debt(loops: Any) -> None:
    loop, _ = loops(1.0)
    loop.start()
    loop.ask(lambda: loop.pause(True))
    time.sleep(3 * PAUSED_CLOCK_S)

    stands_at, began = loop.simulation.seconds, time.monotonic()
    loop.ask(lambda: loop.pause(False))
    wait_until(lambda: loop.simulation.seconds > stands_at + 0.05)

    assert loop.pacer.given_up_ns == 0
    assert loop.simulation.seconds - stands_at < time.monotonic() - began + 0.02  # it does not catch up


def test_slow_loop_ends_before_its_next_period(loops: Any) -> None:
    loop, _ = loops(0.001)  # a period takes ten seconds
    loop.start()

    loop.stop()

    assert loop.simulation.tick == 0


def test_failing_loop_reports_it_and_ends() -> None:
    failed = threading.Event()
    simulation, _ = cart_simulation()

    def publish(instant: Instant) -> None:
        raise RuntimeError("no network")

    loop = SimulationLoop(simulation, Pacer(1.0), publish, failed.set)
    loop.start()

    assert failed.wait(5.0)
    assert str(loop.failure) == "no network"
    loop.stop()


def test_base_motion_agrees_with_differences_of_its_position(parameters: VehicleParameters) -> None:
    hmmwv, ground, pedals = Hmmwv(parameters, step_s=0.0001), FlatGround(), Pedals(steering=0.5, throttle=0.6)
    state = hmmwv.start(ground, speed=8.0)
    x, y, z = hmmwv.base_in_chassis.tolist()
    hmmwv.advance(state, pedals, ground, 10000)
    motions = []
    for _ in range(3):
        motions.append(base_motion(hmmwv.snapshot(state, pedals, ground), (x, y, z)))
        hmmwv.advance(state, pedals, ground, 5)
    step = 5 * 0.0001

    attitude = Rotation.from_quat(motions[1].attitude)
    velocity = (np.array(motions[2].position) - motions[0].position) / (2.0 * step)
    world = [Rotation.from_quat(item.attitude).apply(item.velocity) for item in motions]
    acceleration = (world[2] - world[0]) / (2.0 * step)
    rotation = (Rotation.from_quat(motions[0].attitude).inv() * Rotation.from_quat(motions[2].attitude)).as_rotvec()

    np.testing.assert_allclose(attitude.inv().apply(velocity), motions[1].velocity, atol=1e-3)
    np.testing.assert_allclose(attitude.inv().apply(acceleration), motions[1].acceleration, atol=0.05)
    np.testing.assert_allclose(rotation / (2.0 * step), motions[1].angular_velocity, atol=1e-3)
