"""Driving from the cockpit: the vehicle moves while a button is held, and stops otherwise."""

from __future__ import annotations

from proving_ground.cockpit.driving import PAD_HOLD_S, REPEAT_STOP_S, DrivePad
from proving_ground.cockpit.settings import CockpitSettings

SETTINGS = CockpitSettings(max_speed_mps=5.0, max_curvature_1pm=0.13)


def test_nothing_is_commanded_until_driving_is_switched_on() -> None:
    pad = DrivePad()
    pad.hold("ahead", now=0.0)
    assert pad.command(0.0, SETTINGS) is None


def test_vehicle_goes_ahead_while_held_and_stops_when_released() -> None:
    pad, now, speeds = DrivePad(), 0.0, []
    pad.switch(True, now)
    for step in range(120):
        now = 0.05 * step
        if now < 3.0 and step % 2 == 0:
            pad.hold("ahead", now)
            pad.hold("left", now)
        command = pad.command(now, SETTINGS)
        assert command is not None
        speeds.append(command.speed)
        if now == 2.5:
            assert command.yaw_rate > 0.1
    assert max(speeds) == SETTINGS.max_speed_mps
    released = round((3.0 + PAD_HOLD_S) / 0.05)
    assert speeds[released + 25] == 0.0  # 5 m/s at 6 m/s^2 takes 0.9 s


def test_switching_driving_off_sends_stops_for_a_moment_and_then_nothing() -> None:
    pad = DrivePad()
    pad.switch(True, 0.0)
    for step in range(20):
        pad.hold("ahead", 0.05 * step)
        pad.command(0.05 * step, SETTINGS)
    pad.switch(False, 1.0)
    first = pad.command(1.0, SETTINGS)
    assert first is not None
    assert first.is_stop
    assert first.speed == 0.0
    assert pad.command(1.0 + REPEAT_STOP_S + 0.01, SETTINGS) is None


def test_switching_driving_on_again_does_not_keep_what_was_held() -> None:
    pad = DrivePad()
    pad.switch(True, 0.0)
    pad.hold("ahead", 0.0, seconds=100.0)
    pad.switch(False, 0.1)
    pad.switch(True, 0.2)
    command = pad.command(0.25, SETTINGS)
    assert command is not None
    assert command.speed == 0.0
