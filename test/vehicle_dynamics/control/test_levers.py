"""Transfer range, locks and parking brake by command: what a vehicle allows, and when ranges change."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from proving_ground.interfaces import topics
from proving_ground.interfaces.motion_codec import fill_pedals
from proving_ground.recording.types import empty
from proving_ground.saving.codec import decoded, encoded
from proving_ground.saving.stateful import restored
from proving_ground.settings import SettingsError
from terrain.ground import FlatGround
from vehicle_dynamics.control.commands import receive_named_pedals, receive_twist
from vehicle_dynamics.control.drive_by_wire import ACCEPTED, Answer, DriveByWire, DriveByWireSettings, Verdict
from vehicle_dynamics.control.levers import LeverSettings, VehicleLevers
from vehicle_dynamics.drive.drive_parameters import Differential
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import KEEP, Pedals
from vehicle_dynamics.vehicle_choice import VehicleChoice
from vehicle_dynamics.vehicle_files import vehicle_file

PEDALS = ["steering", "throttle", "brake"]
H, H_L, L = 0, 1, 2  # ranges of the M998
SLOW, FAST = 1.0, 5.0  # [m/s], below and above the speed at which ranges change


@pytest.fixture(scope="module")
def lockable() -> VehicleParameters:
    """The M998 with a parking brake and differentials that can be locked."""
    built = VehicleParameters.from_yaml(vehicle_file("hmmwv"))
    lock = Differential(kind="lockable")
    driveline = replace(built.driveline, front=lock, rear=lock)
    return replace(built, driveline=driveline, brakes=replace(built.brakes, parking_torque_nm=2000.0))


@pytest.fixture(scope="module")
def m998(lockable: VehicleParameters) -> Hmmwv:
    return Hmmwv(lockable)


def wired(vehicle: Hmmwv, **levers: object) -> DriveByWire:
    return DriveByWire(vehicle, DriveByWireSettings(levers=LeverSettings(**levers)))  # type: ignore[arg-type]


def named(drive: DriveByWire, **levers: float) -> Answer:
    return receive_named_pedals(drive, 0.0, [*PEDALS, *levers], [0.0, 0.0, 0.0, *levers.values()])


def at_speed(vehicle: Hmmwv, drive: DriveByWire, speed: float = 0.0, now: float = 0.0) -> Pedals:
    """Pedals of drive-by-wire in a vehicle of that speed."""
    seen = vehicle.snapshot(vehicle.start(FlatGround()), Pedals(), FlatGround())
    seen["velocity"] = speed, 0.0, 0.0
    return drive.pedals(now, seen)


def levers(pedals: Pedals) -> tuple[float, ...]:
    return tuple(pedals[4:])


def test_levers_are_commanded_by_name_and_stay_when_they_are_not_named(m998: Hmmwv) -> None:
    drive = wired(m998)

    assert named(drive, transfer_range=2.0, locks=3.0, parking_brake=0.5) == ACCEPTED
    assert levers(at_speed(m998, drive)) == (L, 3, 0.5)
    assert named(drive) == ACCEPTED
    assert levers(at_speed(m998, drive)) == (L, 3, 0.5)
    assert named(drive, locks=0.0) == ACCEPTED
    assert levers(at_speed(m998, drive)) == (L, 0, 0.5)


def test_speed_commands_silence_and_rejection_leave_the_levers(m998: Hmmwv) -> None:
    drive = wired(m998)
    named(drive, transfer_range=2.0, locks=1.0, parking_brake=0.1)

    receive_twist(drive, 0.0, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert levers(at_speed(m998, drive)) == (L, 1, 0.1)
    assert levers(at_speed(m998, drive, now=9.0)) == (L, 1, 0.1)  # silence
    receive_twist(drive, 9.0, (math.nan, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert levers(at_speed(m998, drive, now=9.0)) == (L, 1, 0.1)
    drive.reset()
    assert levers(at_speed(m998, drive)) == (H, 0, 0.0)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"transfer_range": 3.0}, "transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got 3"),
        ({"transfer_range": 0.5}, "transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got 0.5"),
        ({"transfer_range": math.nan}, "transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got nan"),
        ({"locks": 4.0}, "locks: must be 0 (none), 1 (front), 2 (rear) or 3 (both), got 4"),
        ({"parking_brake": math.inf}, "parking_brake is inf"),
        ({"parking_brake": 3.0}, "parking_brake of 3 is absurd (beyond 2)"),
    ],
)
def test_bad_levers_are_rejected_with_what_this_vehicle_allows(
    m998: Hmmwv, given: dict[str, float], reason: str
) -> None:
    assert named(wired(m998), **given) == Answer(Verdict.REJECTED, reason)


def test_a_vehicle_without_levers_says_so(vehicle: Hmmwv) -> None:
    drive = wired(vehicle)
    none = VehicleLevers(ranges=("H",), reductions=(1.0,), lockable=0, has_parking_brake=False)
    assert VehicleLevers.of(vehicle.parameters) == none

    assert named(drive, transfer_range=0.0, locks=0.0, parking_brake=0.0) == ACCEPTED
    words = "transfer_range: must be 0 (H), this vehicle has no transfer case, got 1"
    assert named(drive, transfer_range=1.0) == Answer(Verdict.REJECTED, words)
    words = "locks: must be 0 (none), this vehicle has no lockable differentials, got 2"
    assert named(drive, locks=2.0) == Answer(Verdict.REJECTED, words)
    assert named(drive, parking_brake=1.0) == Answer(Verdict.LIMITED, "this vehicle has no parking brake")
    assert levers(at_speed(vehicle, drive)) == (0, 0, 0.0)


def test_a_range_of_another_reduction_waits_until_the_vehicle_is_slow(m998: Hmmwv) -> None:
    drive = wired(m998)
    waits = "range L waits until the vehicle is slower than 1.5 m/s"
    named(drive)
    at_speed(m998, drive, FAST)

    assert named(drive, transfer_range=2.0) == Answer(Verdict.LIMITED, waits)
    assert at_speed(m998, drive, FAST).transfer_range == H
    assert drive.status == f"driven by pedals; {waits}"
    assert at_speed(m998, drive, SLOW).transfer_range == L
    assert drive.status == "driven by pedals"
    at_speed(m998, drive, -FAST)
    assert named(drive, transfer_range=0.0).verdict is Verdict.LIMITED  # in reverse, and out of it
    assert at_speed(m998, drive, -FAST).transfer_range == L
    assert at_speed(m998, drive, 0.0).transfer_range == H


def test_a_range_of_the_same_reduction_changes_at_any_speed(m998: Hmmwv) -> None:
    drive = wired(m998)
    named(drive)
    at_speed(m998, drive, FAST)

    assert named(drive, transfer_range=1.0) == ACCEPTED
    assert at_speed(m998, drive, FAST).transfer_range == H_L


def test_a_waiting_change_can_be_taken_back(m998: Hmmwv) -> None:
    drive = wired(m998)
    at_speed(m998, drive, FAST)
    named(drive, transfer_range=2.0)

    assert named(drive, transfer_range=0.0) == ACCEPTED
    assert at_speed(m998, drive, SLOW).transfer_range == H


def test_settings_give_the_levers_at_the_start_even_of_a_rolling_one(m998: Hmmwv) -> None:
    drive = wired(m998, transfer_range="L", locks="rear", parking_brake=0.25)

    assert levers(at_speed(m998, drive, FAST)) == (L, 2, 0.25)
    drive.reset()
    assert levers(at_speed(m998, drive, FAST)) == (L, 2, 0.25)


def test_the_newest_of_command_and_changed_setting_counts(m998: Hmmwv) -> None:
    drive = wired(m998)
    named(drive, transfer_range=1.0, locks=1.0)

    drive.change_settings(DriveByWireSettings(max_speed_mps=3.0))  # does not touch the levers
    assert levers(at_speed(m998, drive)) == (H_L, 1, 0.0)
    drive.change_settings(DriveByWireSettings(levers=LeverSettings(transfer_range="L")))
    assert levers(at_speed(m998, drive)) == (L, 1, 0.0)
    named(drive, transfer_range=0.0)
    assert levers(at_speed(m998, drive)) == (H, 1, 0.0)
    drive.change_settings(DriveByWireSettings(levers=LeverSettings(transfer_range="2")))  # L by another name
    assert levers(at_speed(m998, drive)) == (L, 1, 0.0)


def test_a_changed_setting_waits_for_a_slow_vehicle_too(m998: Hmmwv) -> None:
    drive = wired(m998)
    at_speed(m998, drive, FAST)

    drive.change_settings(DriveByWireSettings(levers=LeverSettings(transfer_range="L", change_below_mps=3.0)))

    assert at_speed(m998, drive, FAST).transfer_range == H
    assert "range L waits until the vehicle is slower than 3 m/s" in drive.status
    assert at_speed(m998, drive, 2.0).transfer_range == L


@pytest.mark.parametrize(("text", "index"), [("", H), ("H", H), ("H/L", H_L), ("L", L), ("2", L)])
def test_a_range_is_known_by_name_or_number(lockable: VehicleParameters, text: str, index: int) -> None:
    assert VehicleLevers.of(lockable).range_index(text) == index


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"transfer_range": "LL"}, "levers.transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got 'LL'"),
        ({"transfer_range": "3"}, "levers.transfer_range: must be 0 (H), 1 (H/L) or 2 (L), got '3'"),
        ({"locks": "rear"}, "levers.locks: must be 0 (none), this vehicle has no lockable differentials, got 2"),
    ],
)
def test_settings_of_the_node_are_checked_against_its_vehicle(given: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingsError) as found:
        VehicleNodeSettings(vehicle=VehicleChoice(model="hmmwv"), levers=LeverSettings(**given))  # type: ignore[arg-type]

    assert str(found.value) == reason


def test_a_parking_brake_that_the_vehicle_lacks_is_rejected_in_settings(vehicle: Hmmwv) -> None:
    with pytest.raises(SettingsError, match=r"levers\.parking_brake: must be 0, this vehicle has none, got 1"):
        wired(vehicle, parking_brake=1.0)


def test_levers_are_part_of_a_checkpoint(m998: Hmmwv) -> None:
    drive, other = wired(m998), wired(m998)
    named(drive, locks=2.0, parking_brake=0.75)
    at_speed(m998, drive, FAST)
    named(drive, transfer_range=2.0)

    restored(other, decoded(encoded(drive)))

    for speed, transfer_range in ((FAST, H), (SLOW, L)):
        assert at_speed(m998, other, speed) == at_speed(m998, drive, speed)
        assert levers(at_speed(m998, other, speed)) == (transfer_range, 2, 0.75)


@pytest.mark.parametrize("levers", [(KEEP, KEEP, KEEP), (L, KEEP, KEEP), (H, 3, 0.5)])
def test_a_script_over_messages_commands_the_levers_that_it_commands_in_lock_step(
    m998: Hmmwv, levers: tuple[int, int, float]
) -> None:
    pedals, message = Pedals(0.1, 0.2, 0.3, -1, *levers), empty(topics.PEDALS.type)
    direct, sent = wired(m998, transfer_range="H/L"), wired(m998, transfer_range="H/L")

    fill_pedals(message, 0, pedals)
    answers = direct.receive(0.0, pedals), receive_named_pedals(sent, 0.0, message.name, message.position.tolist())

    assert answers == (ACCEPTED, ACCEPTED)
    assert len(message.name) == 7 - levers.count(KEEP)
    assert at_speed(m998, direct) == at_speed(m998, sent)


def test_kept_levers_of_a_command_are_the_first_range_without_drive_by_wire() -> None:
    command = Pedals(transfer_range=KEEP, locks=KEEP, parking_brake=KEEP)

    assert command.as_command() == command
    assert command.within_limits() == Pedals()


def test_low_range_gives_more_thrust_and_the_parking_brake_holds(m998: Hmmwv) -> None:
    """Levers reach the wheels: at full throttle from rest, and on a slope."""
    ground, slope = FlatGround(), FlatGround(slope_x=0.2)
    torque = {}
    for name, index in (("high", H), ("low", L)):
        state = m998.start(ground)
        pedals = Pedals(throttle=1.0, transfer_range=index)
        m998.advance(state, pedals, ground, 300)
        torque[name] = m998.snapshot(state, pedals, ground)["drive_torque"].sum()
    parked = m998.start(slope)
    m998.advance(parked, Pedals(selected=0, parking_brake=1.0), slope, 2000)

    assert torque["low"] > 1.5 * torque["high"]
    assert abs(parked[0] - m998.start(slope)[0]) < 0.1


STEEP = FlatGround(friction=1.0, slope_x=0.6)  # in H the vehicle rolls back


def climb(ride_in: Any, m998: Hmmwv, choice: str) -> Any:
    ride = ride_in(m998, STEEP)
    ride.drive = wired(m998, range_choice=choice)
    ride.run(8.0, lambda drive, now: drive.receive_motion(now, 2.0, 0.0))
    return ride


def test_automatic_choice_takes_the_low_range_where_the_high_one_rolls_back(ride_in: Any, m998: Hmmwv) -> None:
    kept, chosen = climb(ride_in, m998, "keep"), climb(ride_in, m998, "auto")

    assert {pedals.transfer_range for pedals in kept.log} == {H}
    assert [pedals.transfer_range for pedals in chosen.log][-1] == L
    assert chosen.speed > kept.speed + 0.5
    chosen.run(3.0, lambda drive, now: drive.receive_motion(now, 0.0, 0.0))
    assert chosen.pedals.transfer_range == L  # it stands on a steep slope


def test_automatic_choice_returns_to_the_commanded_range_when_standing_on_easy_ground(m998: Hmmwv) -> None:
    drive = wired(m998, range_choice="auto")
    for _ in range(150):  # stuck: full throttle is not enough
        drive._levers.choose(0.01, 1.0, 2.0, seen_at(m998, 0.2))
    assert at_speed(m998, drive).transfer_range == L
    for _ in range(150):
        drive._levers.choose(0.01, 0.0, 0.0, seen_at(m998, 0.0))
    assert at_speed(m998, drive).transfer_range == H


def test_a_usual_start_stays_in_the_high_range(ride_in: Any, m998: Hmmwv) -> None:
    car = ride_in(m998)
    car.drive = wired(m998, range_choice="auto")

    car.run(5.0, lambda drive, now: drive.receive_motion(now, 6.0, 0.0))

    assert {pedals.transfer_range for pedals in car.log} == {H}
    assert car.speed > 4.0


def seen_at(vehicle: Hmmwv, speed: float) -> Any:
    seen = vehicle.snapshot(vehicle.start(FlatGround()), Pedals(), FlatGround())
    seen["velocity"] = speed, 0.0, 0.0
    return seen


@pytest.mark.parametrize(("slope", "speed", "expected"), [(0.6, 2.0, 1.0), (0.6, 0.0, 0.0), (-0.6, 0.22, 0.22)])
def test_slopes_that_the_low_range_climbs_are_driven_by_speed(
    ride_in: Any, m998: Hmmwv, slope: float, speed: float, expected: float
) -> None:
    ride = ride_in(m998, FlatGround(friction=1.0, slope_x=slope))
    ride.drive = wired(m998, transfer_range="L")

    ride.run(8.0, lambda drive, now: drive.receive_motion(now, speed, 0.0))

    assert ride.speed >= expected - 0.02
    assert ride.speed <= max(speed, expected) + 0.02
    if not speed:
        ride.drive = wired(m998, transfer_range="H")
        ride.run(4.0, lambda drive, now: drive.receive_motion(now, 0.0, 0.0))
        assert abs(ride.speed) < 0.02  # the brakes hold it in any range
