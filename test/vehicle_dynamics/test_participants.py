"""Participants that must finish an instant before time goes on, and the instant from which a command acts."""

from __future__ import annotations

import pytest

from proving_ground.interfaces.synchrony import Report
from proving_ground.settings import SettingsError, build
from vehicle_dynamics.participants import Participants, SyncSettings
from vehicle_dynamics.standing import EndSettings, RunEnd

MS = 1_000_000


def test_command_of_the_planner_acts_in_the_instant_that_it_was_sent_in() -> None:
    participants = Participants(SyncSettings(nodes=("imu", "planner")))
    participants.on_report("imu", Report(10 * MS, 20 * MS, {}))
    participants.on_report("planner", Report(0, 0, {"cmd_vel": 0}))
    assert participants.awaited(10 * MS) == ["planner"]

    participants.on_report("planner", Report(10 * MS, 20 * MS, {"cmd_vel": 1}))
    assert participants.awaited(10 * MS) == ["planner"]  # its command has not arrived yet

    participants.on_command("cmd_vel", 10 * MS, "faster")
    assert participants.awaited(10 * MS) == []
    assert [item.message for item in participants.commands(10 * MS)] == ["faster"]
    assert participants.commands(10 * MS) == []


def test_driver_from_outside_is_waited_for_by_its_stamps() -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel"))
    assert participants.awaited(10 * MS) == ["cmd_vel"]

    participants.on_command("cmd_vel", 10 * MS, "first")
    assert participants.awaited(10 * MS) == []
    assert [item.message for item in participants.commands(10 * MS)] == ["first"]
    assert participants.awaited(20 * MS) == ["cmd_vel"]


def test_time_may_run_without_a_driver_and_waits_from_its_first_command_on() -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel", without_command="run"))
    assert participants.is_finished(10 * MS)
    assert participants.awaited(10 * MS) == []

    participants.on_command("cmd_vel", 20 * MS, "first")
    assert participants.is_finished(20 * MS)
    assert [item.message for item in participants.commands(20 * MS)] == ["first"]
    assert not participants.is_finished(30 * MS)
    assert participants.awaited(30 * MS) == ["cmd_vel"]


def test_time_cannot_run_without_answers_to_messages() -> None:
    with pytest.raises(SettingsError, match="without_command: must be wait if per_message_of is set"):
        build(SyncSettings, {"wait_for": "cmd_vel", "per_message_of": "lidar/scan", "without_command": "run"})


def test_command_acts_its_allowed_age_after_its_stamp_however_early_it_arrives() -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel", max_age_s=0.05))
    participants.on_command("cmd_vel", 100 * MS, "later")

    assert participants.awaited(150 * MS) == []
    assert participants.awaited(160 * MS) == ["cmd_vel"]
    assert participants.commands(140 * MS) == []
    assert [item.message for item in participants.commands(150 * MS)] == ["later"]


def test_driver_from_outside_is_waited_for_again_after_time_went_back() -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel"))
    participants.on_command("cmd_vel", 500 * MS, "before")

    participants.restart(10 * MS)
    assert participants.awaited(10 * MS) == ["cmd_vel"]

    participants.on_command("cmd_vel", 10 * MS, "after")
    assert participants.awaited(10 * MS) == []
    assert [item.message for item in participants.commands(10 * MS)] == ["after"]


def test_driver_from_outside_need_not_answer_an_instant_again_when_time_runs_on() -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel"))
    participants.on_command("cmd_vel", 500 * MS, "before")

    participants.restart(500 * MS)

    assert participants.awaited(500 * MS) == []
    assert participants.commands(500 * MS) == []


@pytest.mark.parametrize(
    ("stamp_ns", "words"), [(0, "has no stamps to wait for"), (31 * MS, "0.001 s after the present"), (30 * MS, "")]
)
def test_commands_with_stamps_of_another_clock_are_rejected_with_a_reason(stamp_ns: int, words: str) -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel"))

    complaint = participants.complaint("cmd_vel", stamp_ns, 30 * MS)

    assert words in complaint
    assert bool(complaint) == bool(words)


def test_commands_that_answer_by_count_need_no_stamps() -> None:
    participants = Participants(SyncSettings(wait_for="cmd_vel", per_message_of="lidar/scan"))

    assert participants.complaint("cmd_vel", 0, 30 * MS) == ""


def test_driver_without_stamps_answers_each_message_of_a_topic() -> None:
    participants = Participants(SyncSettings(nodes=("lidar",), wait_for="cmd_vel", per_message_of="lidar/scan"))
    participants.on_report("lidar", Report(100 * MS, 200 * MS, {"lidar/scan": 1}))
    assert participants.awaited(100 * MS) == ["cmd_vel"]

    participants.on_command("cmd_vel", 0, "answer")
    assert participants.awaited(190 * MS) == []
    assert [item.message for item in participants.commands(100 * MS)] == ["answer"]


def test_answers_to_messages_need_a_topic_of_commands() -> None:
    with pytest.raises(SettingsError, match="per_message_of: needs wait_for"):
        build(SyncSettings, {"per_message_of": "lidar/scan"})


def test_run_ends_with_its_duration() -> None:
    end = RunEnd(EndSettings(duration_s=1.0))

    assert not end.is_over(99)
    assert end.is_over(100)


@pytest.mark.parametrize(("with_drive", "ends"), [(True, True), (False, False)])
def test_run_ends_when_its_drive_is_over_and_the_vehicle_has_stood(with_drive: bool, ends: bool) -> None:
    end = RunEnd(EndSettings(with_drive=with_drive))
    end.record(5.0, 0.0, is_over=True)
    assert not end.is_over(500)

    end.record(6.0, 0.0, is_over=True)
    assert end.is_over(600) is ends
