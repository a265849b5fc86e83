"""Friction, payload and tyre pressures that change during a run: physics, checkpoints, report, mistakes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.campaigns.overrides import Change, altered
from proving_ground.report.from_run import change_events
from proving_ground.report.run_record import Event
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.scenario import Scenario, load_scenario
from proving_ground.scenarios.simulation import Simulation
from proving_ground.settings import SettingsError
from proving_ground.settings.nested import build_nested
from proving_ground.settings.share import share_file
from terrain.own_friction import hard_friction
from vehicle_dynamics.pedals import Pedals

G = 9.81
CORNERS = ("front_left", "front_right", "rear_left", "rear_right")
STANDING: dict[str, Any] = {
    "version": 1,
    "description": "a vehicle that stands",
    "world": {"flat": {}},
    "vehicle": {"model": "hmmwv"},
    "duration_s": 6.0,
    "driver": {"program": {"time_s": [0.0], "brake": [0.0], "gear": "neutral"}},
}
BRAKING = STANDING | {
    "start": {"speed_mps": 20.0},
    "duration_s": 2.0,
    "driver": {"program": {"time_s": [0.0], "brake": [1.0], "gear": "neutral"}},
}
ALL_THREE = [
    {"what": "friction", "at_s": 0.3, "value": 0.4},
    {"what": "payload_kg", "at_s": 0.6, "value": 800.0},
    {"what": "tyre_pressure_pa", "at_s": 0.9, "value": 90000.0, "wheels": "rear"},
]


def scenario(base: dict[str, Any], *changes: dict[str, Any], **others: Any) -> Scenario:
    return build_nested(Scenario, {**base, **others, "changes": list(changes)}, "own")


def runs(base: dict[str, Any], *changes: dict[str, Any], **others: Any) -> Run:
    return LockStep(scenario(base, *changes, **others)).run()


def loads(run: Run, index: int = -1) -> Any:
    return np.array([run.channels[f"wheel_load_n.{corner}"][index] for corner in CORNERS])


@pytest.fixture(scope="module")
def standing() -> Run:
    return runs(STANDING)


def test_friction_that_drops_lengthens_braking_from_that_instant_on_only() -> None:
    dry = runs(BRAKING)
    icy = runs(BRAKING, {"what": "friction", "at_s": 1.0, "value": 0.2})

    assert icy.history[:101].tobytes() == dry.history[:101].tobytes()
    decelerations = [-float(run.channels["forward_acceleration_mps2"][110:190].mean()) for run in (dry, icy)]
    assert decelerations[0] > 5.0
    assert decelerations[1] == pytest.approx(0.2 * G, rel=0.25)  # sliding is less than the peak, drag is more


def test_friction_changes_for_the_vehicle_only() -> None:
    runner = LockStep(scenario(BRAKING, {"what": "friction", "value": 0.2}))
    runner.advance_to(10)

    assert runner.condition.friction == 0.2
    assert hard_friction(runner.ground) == 0.8  # what observer, planner and LIDAR share


def test_payload_raises_the_wheel_loads_to_those_of_statics(standing: Run) -> None:
    loaded = runs(STANDING, {"what": "payload_kg", "at_s": 0.5, "value": 1000.0}, duration_s=12.0)

    assert loaded.history[:51].tobytes() == standing.history[:51].tobytes()
    added = loads(loaded) - loads(standing, 0)
    assert added.sum() == pytest.approx(1000.0 * G, rel=1e-3)
    # Moments about the rear contact: the payload's centre is at x = -1.05 m of a chassis between axles at +-1.65 m.
    assert added[:2].sum() / added.sum() == pytest.approx((1.65 - 1.05) / 3.3, abs=0.02)
    assert loaded.channels["z_m"][-1] < standing.channels["z_m"][-1] - 0.03


def test_a_vehicle_that_starts_with_a_payload_rides_as_one_that_was_loaded() -> None:
    rolling = STANDING | {"start": {"speed_mps": 5.0}}  # standing tyres would hold some of the way down
    started = runs(rolling, vehicle={"model": "hmmwv", "payload_kg": 1000.0})
    loaded = runs(rolling, {"what": "payload_kg", "value": 1000.0})

    np.testing.assert_allclose(loads(loaded), loads(started), rtol=2e-3)
    assert loaded.channels["z_m"][-1] == pytest.approx(started.channels["z_m"][-1], abs=1e-3)
    assert np.ptp(started.channels["z_m"][:50]) < 2e-3  # it starts in equilibrium
    assert np.ptp(loaded.channels["z_m"][:50]) > 0.03


def test_payload_does_not_change_the_velocity_at_its_instant() -> None:
    coasting = BRAKING | {"driver": {"program": {"time_s": [0.0], "brake": [0.0], "gear": "neutral"}}}
    run = runs(coasting, {"what": "payload_kg", "at_s": 1.0, "value": 1000.0})

    speed = run.channels["speed_mps"]
    assert speed[101] == pytest.approx(speed[100], abs=0.01)


def inflating(folder: Path, rate_paps: float) -> dict[str, Any]:
    """The vehicle with another rate of its central tyre inflation; 0: at once."""
    text = share_file("config/vehicles/hmmwv.yaml").read_text()
    assert "rate_paps: 575.0" in text
    (folder / "own.yaml").write_text(text.replace("rate_paps: 575.0", f"rate_paps: {rate_paps}"))
    return {"model": str(folder / "own.yaml")}


def test_lower_pressure_lowers_the_vehicle_by_the_law_of_the_tyre_spring(standing: Run, tmp_path: Path) -> None:
    down = {"what": "tyre_pressure_pa", "at_s": 0.5, "value": 90000.0}
    soft = runs(STANDING, down, vehicle=inflating(tmp_path, 0.0))

    tyre = scenario(STANDING).vehicle.parameters().tyre
    law = tyre.inflation
    assert law is not None

    def deflection(load: float, pressure: float) -> float:
        stiffer = (pressure + law.carcass_pressure_pa) / (law.reference_pressure_pa + law.carcass_pressure_pa)
        return load / (tyre.stiffness_npm * stiffer)

    drops = [deflection(load, 90e3) - deflection(load, law.of_wheel(k)) for k, load in enumerate(loads(standing))]
    lowered = standing.channels["z_m"][-1] - soft.channels["z_m"][-1]  # base_link is under the rear axle
    assert lowered == pytest.approx(np.mean(drops[2:]), rel=0.05)
    np.testing.assert_allclose(loads(soft), loads(standing), rtol=1e-3)


def test_central_tyre_inflation_takes_its_time(tmp_path: Path) -> None:
    down = {"what": "tyre_pressure_pa", "at_s": 0.5, "value": 98000.0, "wheels": "front"}
    runner = LockStep(scenario(STANDING, down, vehicle=inflating(tmp_path, 20000.0)))

    runner.advance_to(151)  # one second of inflation, and the period that begins with the change

    assert runner.condition.pressures_pa[0] == pytest.approx(138e3 - 101 * 200.0)
    runner.advance_to(300)
    assert runner.condition.pressures_pa == (98e3, 98e3, None, None)


@pytest.mark.parametrize("tick", [15, 45, 75, 95])
def test_a_run_goes_on_from_a_checkpoint_across_changes_to_the_bit(tick: int) -> None:
    whole = LockStep(scenario(BRAKING, *ALL_THREE))
    whole.advance_to(tick)
    saved, fork = whole.save(), whole.fork()
    result = whole.run().history.tobytes()

    later = LockStep(scenario(BRAKING, *ALL_THREE))
    later.restore(saved)

    assert later.run().history.tobytes() == result
    assert fork.run().history.tobytes() == result
    whole.restore(saved)  # back, to the conditions of before
    assert whole.run().history.tobytes() == result


def test_changes_at_the_start_are_as_a_start_with_them_but_for_its_equilibrium() -> None:
    flat = runs(BRAKING, world={"flat": {"friction": 0.4}})
    changed = runs(BRAKING, {"what": "friction", "value": 0.4})

    assert changed.channels["x_m"][-1] == pytest.approx(flat.channels["x_m"][-1], abs=1e-3)


def test_a_simulation_changes_conditions_by_hand_as_the_timeline_does() -> None:
    expected = runs(BRAKING, *ALL_THREE).history
    with Simulation(scenario(BRAKING)) as simulation:
        simulation.reset()
        for change in ALL_THREE:
            seconds = change["at_s"] - simulation.time
            simulation.step(seconds=round(seconds, 2))
            simulation.change(change["what"], change["value"], change.get("wheels", "all"))
        simulation.step(seconds=0.4)
        fork = simulation.fork()
        for item in (simulation, fork):
            item.step(seconds=0.7)
            assert item.result().history.tobytes() == expected.tobytes()
        with pytest.raises(SettingsError, match=r"payload_kg: .* carries 0 to 1134 kg, got 5000"):
            simulation.change("payload_kg", 5000.0)


def test_a_single_track_vehicle_rejects_changes() -> None:
    simple = scenario(STANDING, vehicle={"fidelity": "single_track"})
    with Simulation(simple) as simulation:
        simulation.reset()
        simulation.step(Pedals())
        with pytest.raises(SettingsError, match=r"conditions: need vehicle\.fidelity multibody"):
            simulation.change("friction", 0.5)


def test_changes_are_in_the_events_of_the_run() -> None:
    late = {"what": "friction", "at_s": 9.0, "value": 0.9}

    assert change_events(scenario(BRAKING, *ALL_THREE, late)) == [
        Event(0.3, "change", "friction: 0.4"),
        Event(0.6, "change", "payload_kg: 800"),
        Event(0.9, "change", "tyre_pressure_pa of rear: 90000"),
    ]


def test_campaigns_vary_a_change_and_the_payload() -> None:
    base = scenario(BRAKING, *ALL_THREE)
    varied: Any = altered(base, {"changes.1.value": Change(5.0), "vehicle.payload_kg": Change(7.0)})

    assert varied.changes[1] == dataclasses.replace(base.changes[1], value=5.0)
    assert LockStep(varied, parameters=base.vehicle.parameters()).condition.payload_kg == 7.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("changes: [{what: ice, value: 1}]", "changes.0.what: must be one of friction, payload_kg, tyre_pressure_pa"),
        ("changes: [{what: friction}]", "changes.0.value: missing"),
        ("changes: [{what: friction, value: 5}]", "changes.0: value: of friction must be from 0 to 2, got 5"),
        ("changes: [{what: friction, value: 1, wheels: rear}]", "changes.0: wheels: only tyre_pressure_pa"),
        ("changes: [{what: payload_kg, value: 2000}]", "payload_kg: HMMWV carries 0 to 1134 kg, got 2000"),
        ("vehicle: {model: hmmwv, payload_kg: 2000}", "payload_kg: HMMWV carries 0 to 1134 kg, got 2000"),
        ("vehicle: {model: hmmwv_chrono}\nchanges: [{what: tyre_pressure_pa, value: 9e4}]", "has no tyre.inflation"),
        ("vehicle: {fidelity: single_track}\nchanges: [{what: friction, value: 1}]", "changes: need vehicle.fidelity"),
        ("vehicle: {fidelity: single_track, payload_kg: 9}", "vehicle: payload_kg: needs fidelity multibody"),
        ("world: {field: {soil: dry_sand}}\nchanges: [{what: friction, value: 1}]", "the world has soft soil only"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, text: str, reason: str) -> None:
    lines = ["version: 1", "description: own", "duration_s: 1.0", "driver: {straight: {}}"]
    lines += [] if "world:" in text else ["world: {flat: {}}"]
    lines += [] if "vehicle:" in text else ["vehicle: {model: hmmwv}"]
    path = tmp_path / "own.yaml"
    path.write_text("\n".join([*lines, text]))

    with pytest.raises(SettingsError) as caught:
        LockStep(load_scenario(path))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
