"""Actuators: their lag, and faults that keep, slow or shift what the vehicle's pedals do."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving_ground.interfaces.faults import fault_from_words, fault_words
from proving_ground.saving.codec import decoded, encoded
from proving_ground.settings import SettingsError, build
from vehicle_dynamics.control.actuators import ACTUATOR_FAULTS, ACTUATORS, ActuatorFault, Actuators
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.parameters import ActuatorLags
from vehicle_dynamics.pedals import MOST_RANGES, REVERSE, Pedals

SHARE = st.floats(0.0, 1.0)
COMMAND = st.builds(
    Pedals,
    steering=st.floats(-1.0, 1.0),
    throttle=SHARE,
    brake=SHARE,
    selected=st.sampled_from([-1, 0, 1]),
    transfer_range=st.integers(0, MOST_RANGES - 1),
    locks=st.integers(0, 3),
    parking_brake=SHARE,
)
COMMANDS = st.lists(COMMAND, min_size=1, max_size=30)
LAGS = st.builds(ActuatorLags, throttle_lag_s=st.floats(0.0, 10.0), brake_lag_s=st.floats(0.0, 10.0))
PEDALS = ("throttle", "brake")
START_S, LENGTH_S = 0.25, 0.5
BEFORE, DURING, AFTER = slice(0, 25), slice(25, 75), slice(75, None)  # periods of a fault at that time


def fault(kind: str, actuator: str = "brake", value: float = 0.0, **others: float) -> ActuatorFault:
    times = {"start_s": START_S, "length_s": LENGTH_S, **others}
    return build(ActuatorFault, {"kind": kind, "actuator": actuator, "value": value, **times})


@st.composite
def faults(draw: Any) -> list[ActuatorFault]:
    """Some valid faults, which may overlap."""
    largest = {"stuck": 0.0, "slow": 5.0, "offset": 1.0}
    found = []
    for kind in draw(st.lists(st.sampled_from(tuple(ACTUATOR_FAULTS)), max_size=4)):
        value = draw(st.floats(-1.0 if kind == "offset" else 0.0, largest[kind]))
        start, length = draw(st.floats(0.0, 0.3)), draw(st.floats(0.0, 0.3))
        found.append(fault(kind, draw(st.sampled_from(ACTUATORS)), value, start_s=start, length_s=length))
    return found


def driven(actuators: Actuators, commands: list[Pedals], first: int = 0) -> list[Pedals]:
    return [actuators.moved((first + k) * PERIOD_S, command) for k, command in enumerate(commands)]


def brakes(commands: list[float], *of_it: ActuatorFault, lag_s: float = 0.0) -> list[float]:
    """Brake of the vehicle for brake commands of successive periods."""
    actuators = Actuators(ActuatorLags(brake_lag_s=lag_s), of_it)
    return [pedals.brake for pedals in driven(actuators, [Pedals(brake=value) for value in commands])]


RISING = [k / 100.0 for k in range(100)]


@given(commands=COMMANDS)
def test_without_lag_and_fault_the_very_command_is_passed_on(commands: list[Pedals]) -> None:
    given_on = driven(Actuators(), commands)

    assert all(moved is command for moved, command in zip(given_on, commands, strict=True))


def test_a_fault_that_is_not_active_changes_no_bit() -> None:
    asked = Pedals(steering=-0.0, throttle=-0.0, brake=0.3, selected=REVERSE)
    late = [fault(kind, name, start_s=5.0) for kind in ACTUATOR_FAULTS for name in ACTUATORS]

    assert Actuators(faults=late).moved(4.99, asked) is asked


@pytest.mark.parametrize("pedal", PEDALS)
@given(lag_s=st.floats(1e-3, 10.0), size=st.floats(0.01, 1.0), periods=st.integers(1, 300))
def test_a_step_is_followed_as_by_the_exact_first_order_lag(
    pedal: str, lag_s: float, size: float, periods: int
) -> None:
    actuators = Actuators(build(ActuatorLags, {f"{pedal}_lag_s": lag_s}))

    moved = driven(actuators, [Pedals()._replace(**{pedal: size})] * periods)

    # Only the rounding of one exp per period differs.
    assert getattr(moved[-1], pedal) == pytest.approx(size * -math.expm1(-periods * PERIOD_S / lag_s), rel=1e-9)
    (other,) = {"throttle", "brake"} - {pedal}
    assert getattr(moved[-1], other) == 0.0


@given(lags=LAGS, commands=COMMANDS, of_it=faults())
def test_pedals_stay_within_their_limits_whatever_fails(
    lags: ActuatorLags, commands: list[Pedals], of_it: list[ActuatorFault]
) -> None:
    for moved, command in zip(driven(Actuators(lags, of_it), commands), commands, strict=True):
        assert moved == moved.within_limits()
        assert moved.selected == command.selected


@pytest.mark.parametrize("lag_s", [0.0, 0.05])
def test_a_stuck_brake_stays_where_it_is_and_then_goes_on_from_there(lag_s: float) -> None:
    sound, stuck = brakes(RISING, lag_s=lag_s), brakes(RISING, fault("stuck"), lag_s=lag_s)

    assert stuck[BEFORE] == sound[BEFORE]
    assert set(stuck[DURING]) == {sound[24]}
    left = math.exp(-PERIOD_S / lag_s) if lag_s else 0.0
    assert stuck[75] == pytest.approx(RISING[75] + (stuck[74] - RISING[75]) * left)
    assert stuck[-1] == pytest.approx(sound[-1], abs=0.01)  # five time constants later


def test_an_actuator_that_is_stuck_from_the_start_stays_released() -> None:
    assert set(brakes(RISING, fault("stuck", start_s=0.0, length_s=1e6))) == {0.0}


@pytest.mark.parametrize("lag_s", [0.0, 0.05])
@given(value=st.floats(0.01, 5.0))
def test_a_slow_brake_has_so_much_more_of_a_lag(lag_s: float, value: float) -> None:
    slow = brakes([0.0] * 25 + [1.0] * 75, fault("slow", value=value), lag_s=lag_s)

    assert slow[74] == pytest.approx(-math.expm1(-LENGTH_S / (lag_s + value)), rel=1e-9)
    left = math.exp(-PERIOD_S / lag_s) if lag_s else 0.0
    assert slow[75] == pytest.approx(1.0 + (slow[74] - 1.0) * left)


@given(value=st.floats(-1.0, 1.0))
def test_an_offset_is_added_in_its_time_and_clamped_to_the_pedal(value: float) -> None:
    shifted = brakes(RISING, fault("offset", value=value))

    assert shifted[BEFORE] == RISING[BEFORE]
    assert shifted[DURING] == [min(max(command + value, 0.0), 1.0) for command in RISING[DURING]]
    assert shifted[AFTER] == RISING[AFTER]


def test_an_offset_is_not_fed_back_into_the_lag() -> None:
    sound, shifted = (brakes([0.5] * 100, *some, lag_s=0.1) for some in ([], [fault("offset", value=0.2)]))

    assert shifted[AFTER] == sound[AFTER]
    assert shifted[DURING] == pytest.approx([value + 0.2 for value in sound[DURING]])


def test_a_brake_sticks_with_the_offset_that_it_has() -> None:
    offset, stuck = fault("offset", value=0.3), fault("stuck", start_s=0.5, length_s=9.0)

    assert brakes([0.2] * 100, offset, stuck)[-1] == 0.5


def test_steering_can_be_shifted_over_its_whole_travel() -> None:
    actuators = Actuators(faults=[fault("offset", "steering", -2.0, start_s=0.0)])

    assert actuators.moved(0.0, Pedals(steering=1.0)).steering == -1.0


@pytest.mark.parametrize("name", ACTUATORS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_is_rejected_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}: must be a finite number, got {value}"):
        Actuators(faults=[fault("stuck", name, start_s=0.0)]).moved(0.0, Pedals()._replace(**{name: value}))


@given(lags=LAGS, before=COMMANDS, after=COMMANDS, of_it=faults())
def test_a_restored_actuator_goes_on_to_the_bit(
    lags: ActuatorLags, before: list[Pedals], after: list[Pedals], of_it: list[ActuatorFault]
) -> None:
    actuators, other = Actuators(lags, of_it), Actuators(lags, of_it)
    driven(actuators, before)

    other.restore_state(decoded(encoded(actuators.saved_state())))

    assert driven(other, after, len(before)) == driven(actuators, after, len(before))


@given(lags=LAGS, commands=COMMANDS, of_it=faults())
def test_reset_repeats_to_the_bit(lags: ActuatorLags, commands: list[Pedals], of_it: list[ActuatorFault]) -> None:
    actuators = Actuators(lags, of_it)
    first = driven(actuators, commands)

    actuators.reset()

    assert driven(actuators, commands) == first


@given(of_it=faults())
def test_faults_as_words_are_read_back_exactly(of_it: list[ActuatorFault]) -> None:
    assert [fault_from_words(ActuatorFault, fault_words(item)) for item in of_it] == of_it


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"actuator": "clutch"}, "actuator: must be one of steering, throttle, brake, got 'clutch'"),
        ({"kind": "bias"}, "kind: must be one of stuck, slow, offset, got 'bias'"),
        ({"kind": "stuck", "value": 0.3}, "value: stuck has none, the actuator stays where it is; got 0.3"),
        ({"kind": "slow", "value": -1.0}, "value: of slow must not be negative, got -1"),
        ({"value": 1.5}, "value: of offset must be within the travel of the brake, -1 to 1, got 1.5"),
        ({"value": math.nan}, "value: must be a number from -1e+09 to 1e+09, got nan"),
        ({"start_s": -1.0}, "start_s: must be a number from 0 to 1e+06 [s], got -1.0"),
    ],
)
def test_a_wrong_fault_is_rejected_with_what_is_allowed(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build(ActuatorFault, {"actuator": "brake", "kind": "offset", **values})
    assert str(caught.value) == reason
