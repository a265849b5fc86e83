"""Conditions of a run: what a timeline, requests and parameters make of friction, payload and tyre pressures."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.saving.codec import decoded, encoded
from proving_ground.settings import SettingsError, build
from proving_ground.settings.share import share_file
from terrain.ground import FlatGround
from terrain.own_friction import OwnFriction, hard_friction
from terrain.spawned import ReplaceableGround
from terrain.world_ground import SoilPlane
from vehicle_dynamics.conditions import (
    FRICTION,
    PAYLOAD,
    PRESSURE,
    WHEELS,
    Condition,
    ConditionChange,
    Conditions,
    ConditionSettings,
    change_from_words,
    check_changes,
)
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_choice import VehicleChoice

UNTOUCHED = (None,) * 4
PERIODS = 300
times = st.integers(0, PERIODS).map(lambda period: period / 100)


@pytest.fixture(scope="module")
def m998() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@st.composite
def some_changes(draw: Any) -> ConditionChange:
    what = draw(st.sampled_from([FRICTION, PAYLOAD, PRESSURE]))
    value = draw(st.floats(*{FRICTION: (0.0, 2.0), PAYLOAD: (0.0, 1000.0), PRESSURE: (30e3, 600e3)}[what]))
    wheels = draw(st.sampled_from(WHEELS)) if what == PRESSURE else "all"
    return ConditionChange(what=what, at_s=draw(times), value=value, wheels=wheels)


def inflating(parameters: VehicleParameters, rate_paps: float) -> VehicleParameters:
    law = parameters.tyre.inflation
    assert law is not None
    return replace(parameters, tyre=replace(parameters.tyre, inflation=replace(law, rate_paps=rate_paps)))


def lived(conditions: Conditions, first: int, last: int) -> list[Condition]:
    found = []
    for period in range(first, last):
        conditions.advance(period / 100)
        found.append(conditions.present)
    return found


@given(some_changes())
def test_a_change_as_words_is_read_back_exactly(change: ConditionChange) -> None:
    assert change_from_words(change.words) == change


@given(st.lists(some_changes(), max_size=6))
def test_the_latest_change_of_each_condition_holds(changes: list[ConditionChange]) -> None:
    conditions = Conditions(changes)

    for period, present in enumerate(lived(conditions, 0, PERIODS)):
        past = sorted((item for item in changes if item.at_s <= period / 100), key=lambda item: item.at_s)
        assert present == Condition().after(past)


INFLATING = inflating(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")), 20e3)


@given(st.lists(some_changes(), max_size=6), st.integers(0, PERIODS))
def test_conditions_go_on_from_their_state_to_the_bit(changes: list[ConditionChange], period: int) -> None:
    whole, later = (Conditions(changes, parameters=INFLATING) for _ in range(2))
    lived(whole, 0, period)

    later.restore_state(decoded(encoded(whole.saved_state())))

    assert lived(later, period, PERIODS) == lived(whole, period, PERIODS)


@given(st.lists(some_changes(), max_size=6), st.integers(0, PERIODS))
def test_reset_restores_the_start_and_past_changes_stay_past(changes: list[ConditionChange], period: int) -> None:
    start = Condition(friction=0.5)
    conditions = Conditions(changes, start=start)
    lived(conditions, 0, period + 1)
    conditions.reset()

    assert conditions.present == start
    assert lived(conditions, period + 1, PERIODS + 2)[-1] == Condition(friction=0.5).after(
        sorted((item for item in changes if item.at_s > period / 100), key=lambda item: item.at_s)
    )
    conditions.restart_time()
    conditions.reset()
    everything = sorted(changes, key=lambda item: item.at_s)
    assert lived(conditions, 0, PERIODS + 1)[-1] == Condition(friction=0.5).after(everything)


@pytest.mark.parametrize("value", [60e3, 400e3])
def test_central_tyre_inflation_keeps_its_rate_and_stops_at_the_set_point(
    m998: VehicleParameters, value: float
) -> None:
    down = ConditionChange(what=PRESSURE, at_s=0.5, value=value, wheels="front_left")
    conditions = Conditions([down], parameters=inflating(m998, 50e3))

    found = [present.pressures_pa for present in lived(conditions, 0, 800)]

    assert found[:50] == [UNTOUCHED] * 50
    assert {pressures[1:] for pressures in found} == {(None,) * 3}
    pressures = [138e3, *(float(pressures[0] or 0.0) for pressures in found[50:])]
    steps = [abs(later - earlier) for earlier, later in pairwise(pressures)]
    moving = round(abs(value - 138e3) / 500.0)
    assert steps[: moving - 1] == pytest.approx([500.0] * (moving - 1))  # 50 kPa/s for 10 ms
    assert pressures[moving + 1 :] == [value] * (len(pressures) - moving - 1)
    conditions.reset()
    assert conditions.present == Condition()  # a reset does not wait for a compressor


def test_parameters_that_are_set_outdo_the_timeline_and_survive_a_reset() -> None:
    conditions = Conditions([ConditionChange(what=FRICTION, at_s=0.0, value=0.3)])
    conditions.advance(0.0)

    conditions.set_start(Condition(payload_kg=100.0))
    assert conditions.advance(0.01)
    assert conditions.present == Condition(friction=0.3, payload_kg=100.0)
    conditions.set_start(Condition(friction=0.6, payload_kg=100.0))
    assert conditions.advance(0.02)
    assert conditions.present.friction == 0.6
    conditions.reset()
    assert conditions.present == Condition(friction=0.6, payload_kg=100.0)


def test_settings_give_the_conditions_of_the_start() -> None:
    settings = VehicleNodeSettings(
        vehicle=VehicleChoice(model="hmmwv", payload_kg=300.0),
        conditions=ConditionSettings(friction=0.0, tyre_pressure_pa=(100e3, 120e3)),
    )

    assert settings.start_condition() == Condition(0.0, 300.0, (100e3, 100e3, 120e3, 120e3))
    assert VehicleNodeSettings().start_condition() == Condition()


def test_another_friction_is_of_this_ground_alone() -> None:
    shared = FlatGround(friction=0.8)
    below = ReplaceableGround(shared)
    ground = OwnFriction(below)
    assert ground.kernel() is below.kernel()

    ground.set_friction(0.2)

    assert hard_friction(ground) == 0.2
    assert hard_friction(shared) == 0.8
    assert ground.kernel() is ground.kernel()
    below.replace(FlatGround(friction=0.5))  # another world
    assert hard_friction(ground) == 0.2
    ground.set_friction(None)
    assert hard_friction(ground) == 0.5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"what": "mass", "value": 1.0}, "what: must be one of friction, payload_kg, tyre_pressure_pa, got 'mass'"),
        ({"what": FRICTION, "value": 3.0}, "value: of friction must be from 0 to 2, got 3"),
        ({"what": PAYLOAD, "value": 2e5}, "value: of payload_kg must be from 0 to 100000 kg, got 200000"),
        ({"what": PRESSURE, "value": 2.0}, "value: of tyre_pressure_pa must be from 30000 to 600000 Pa, got 2"),
        ({"what": PAYLOAD, "value": 1.0, "wheels": "rear"}, "wheels: only tyre_pressure_pa is of single wheels"),
        ({"what": PRESSURE, "value": 9e4, "wheels": "left"}, "wheels: must be one of all, front, rear, front_left"),
    ],
)
def test_mistakes_are_one_line(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError, match="^" + reason):
        build(ConditionChange, change)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("friction", "'friction' is not a change; write WHAT AT_S VALUE"),
        ("friction now 0.3", "has text in place of a number; write WHAT AT_S VALUE"),
        ("friction 1 9", "'friction 1 9': value: of friction must be from 0 to 2, got 9"),
    ],
)
def test_mistakes_in_a_script_are_one_line(words: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build(VehicleNodeSettings, {"change_script": [words]})
    assert str(caught.value).startswith("change_script: ")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"conditions.friction": -0.5}, "conditions.friction: must be -1 or not negative, got -0.5"),
        ({"conditions.tyre_pressure_pa": [9e4] * 3}, "conditions.tyre_pressure_pa: must have 0, 1, 2 or 4 values"),
        ({"vehicle.fidelity": "single_track", "conditions.friction": 0.5}, "conditions: need vehicle.fidelity multi"),
        ({"vehicle.fidelity": "single_track", "vehicle.payload_kg": 5.0}, "vehicle.payload_kg: needs fidelity multi"),
    ],
)
def test_mistakes_in_parameters_are_one_line(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build(VehicleNodeSettings, values)
    assert str(caught.value).startswith(reason)


def test_what_vehicle_and_world_cannot_have_is_one_line(m998: VehicleParameters) -> None:
    hmmwv = VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))
    rows = [
        (ConditionChange(what=PAYLOAD, value=1200.0), m998, FlatGround(), "carries 0 to 1134 kg, got 1200"),
        (ConditionChange(what=PRESSURE, value=9e4), hmmwv, FlatGround(), "file of .* has no tyre.inflation"),
        (ConditionChange(what=FRICTION, value=0.5), hmmwv, SoilPlane("dry_sand"), "the world has soft soil only"),
    ]
    for change, parameters, ground, reason in rows:
        with pytest.raises(SettingsError, match=f"^{change.what}: .*{reason}"):
            check_changes([change], parameters, ground)
