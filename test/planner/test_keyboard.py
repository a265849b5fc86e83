"""Keyboard driver: a key counts while it repeats, and never latches."""

from __future__ import annotations

import pytest

from planner.drive_command import DriveCommand
from planner.keyboard import ARROWS, KeyboardDriver, KeyboardSettings

SETTINGS = KeyboardSettings(max_curvature_1pm=0.13)
REPEAT_S = 0.05


def hold(driver: KeyboardDriver, key: str, seconds: float, start: float = 0.0) -> DriveCommand:
    command = driver.command(start)
    for tick in range(1, round(seconds / REPEAT_S) + 1):
        driver.press(start + tick * REPEAT_S, key)
        command = driver.command(start + tick * REPEAT_S)
    return command


def test_rests_without_keys() -> None:
    assert KeyboardDriver(SETTINGS).command(0.0).stop_reason == "no key held"


@pytest.mark.parametrize(("key", "sign"), [("w", 1), ("W", 1), ("s", -1), ("\x1b[A", 1), ("\x1b[B", -1)])
def test_held_key_drives_at_the_top_speed(key: str, sign: int) -> None:
    assert hold(KeyboardDriver(SETTINGS), key, 3.0).speed == pytest.approx(sign * SETTINGS.max_speed_mps)


def test_released_key_stops() -> None:
    driver = KeyboardDriver(SETTINGS)
    hold(driver, "w", 3.0)

    commands = [driver.command(3.0 + 0.05 * tick) for tick in range(40)]

    assert commands[10].speed > 0.0  # within hold_s: the terminal may repeat late
    assert commands[-1].is_stop


def test_left_steers_left_and_straightens() -> None:
    driver = KeyboardDriver(SETTINGS)

    assert hold(driver, "a", 1.0).steering == pytest.approx(1.0)
    assert hold(driver, "w", 2.0, start=1.0).steering == pytest.approx(0.0)


def test_standing_vehicle_keeps_its_steering_angle() -> None:
    driver = KeyboardDriver(SETTINGS)
    hold(driver, "a", 1.0)

    command = [driver.command(1.0 + 0.05 * tick) for tick in range(60)][-1]

    assert command.is_stop
    assert command.steering == pytest.approx(1.0)


def test_opposite_key_takes_over_at_once() -> None:
    driver = KeyboardDriver(SETTINGS)
    before = hold(driver, "a", 0.5).steering

    driver.press(0.55, "d")

    assert driver.command(0.55).steering < before


def test_space_stops_at_once() -> None:
    driver = KeyboardDriver(SETTINGS)
    hold(driver, "w", 2.0)

    driver.press(2.01, " ")

    assert driver.command(2.01).is_stop


def test_speed_keys_stay_within_bounds() -> None:
    driver = KeyboardDriver(SETTINGS)
    for _ in range(100):
        driver.press(0.0, "e")
    assert driver.top_speed == SETTINGS.top_speed_mps
    for _ in range(100):
        driver.press(0.0, "c")
    assert driver.top_speed == pytest.approx(0.1)


def test_other_keys_are_ignored() -> None:
    driver = KeyboardDriver(SETTINGS)
    for key in ("x", "\x1b[H", "\ufffd", "\n", *(arrow[:2] for arrow in ARROWS)):
        driver.press(0.0, key)
    assert driver.command(0.0).is_stop


def test_steering_key_keeps_the_drive_key_that_the_terminal_stopped_repeating() -> None:
    driver = KeyboardDriver(SETTINGS)
    hold(driver, "w", 2.0)

    command = hold(driver, "a", 3.0, start=2.0)

    assert command.speed == pytest.approx(SETTINGS.max_speed_mps)
    assert command.yaw_rate > 0.0


def test_released_throttle_brakes_at_once() -> None:
    driver = KeyboardDriver(KeyboardSettings(output="pedals"))
    held = hold(driver, "w", 1.0)

    released = driver.command(1.0 + SETTINGS.hold_s + 0.01)

    assert (held.throttle, held.brake) == (SETTINGS.pedal, 0.0)
    assert (released.throttle, released.brake) == (0.0, SETTINGS.stop_brake)


def test_lower_bound_set_while_driving_takes_effect() -> None:
    driver = KeyboardDriver(SETTINGS)
    hold(driver, "w", 3.0)

    driver.settings = KeyboardSettings(max_speed_mps=1.0, top_speed_mps=1.0)

    assert hold(driver, "w", 2.0, start=3.0).speed == pytest.approx(1.0)
