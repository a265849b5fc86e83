"""Joystick: the numbering and signs of ROS's joy node, from what the kernel reports of real pads."""

from __future__ import annotations

from pathlib import Path

import pytest
from evdev import AbsInfo, ecodes
from hypothesis import given
from hypothesis import strategies as st

from planner.joystick import Axis, JoystickSettings, axis_layout, button_order, find_pad, is_pad
from proving_ground.settings import SettingsError, build
from some_pads import HAT, TRIGGER, XBOX_BUTTONS, stick, xbox_axes

STICK = stick(fuzz=16, flat=128)
XBOX_AXES = xbox_axes(STICK)


def test_axes_are_numbered_by_code_with_hats_last() -> None:
    shuffled = [XBOX_AXES[index] for index in (7, 3, 0, 6, 5, 1, 2, 4)]

    layout = axis_layout(shuffled)

    assert [layout[code].index for code, _ in XBOX_AXES] == list(range(8))


def test_left_bumper_is_button_four_and_miscellaneous_ones_come_last() -> None:
    assert button_order(XBOX_BUTTONS).index(ecodes.BTN_TL) == 4
    assert button_order([ecodes.BTN_0, ecodes.BTN_A, ecodes.BTN_TRIGGER]) == [
        ecodes.BTN_TRIGGER,
        ecodes.BTN_A,
        ecodes.BTN_0,
    ]


@pytest.mark.parametrize(
    ("info", "raw", "expected"),
    [
        (STICK, -32768, 1.0),  # left and up are positive
        (STICK, 32767, -1.0),
        (STICK, 0, 0.0),
        (TRIGGER, 0, 1.0),  # released
        (TRIGGER, 255, -1.0),
        (HAT, -1, 1.0),
        (HAT, 0, 0.0),
        (HAT, 1, -1.0),
    ],
)
def test_signs_are_those_of_the_joy_node(info: AbsInfo, raw: int, expected: float) -> None:
    axis = Axis(0, info.min, info.max, is_hat=info is HAT)

    assert axis.value(raw, dead_zone=0.05) == pytest.approx(expected)


@given(raw=st.integers(-40000, 40000), dead_zone=st.floats(0.0, 0.9))
def test_axis_stays_within_one_and_starts_smoothly(raw: int, dead_zone: float) -> None:
    axis = Axis(0, -32768, 32767, is_hat=False)

    here, next_to_it = axis.value(raw, dead_zone), axis.value(raw + 1, dead_zone)

    assert -1.0 <= here <= 1.0
    assert 0.0 <= here - next_to_it < 1e-3


def test_motion_sensors_touch_pads_mice_and_keyboards_are_not_game_pads() -> None:
    pad = {ecodes.EV_ABS: XBOX_AXES, ecodes.EV_KEY: XBOX_BUTTONS}
    wheel = {ecodes.EV_ABS: [(ecodes.ABS_X, STICK)], ecodes.EV_KEY: [ecodes.BTN_TRIGGER, ecodes.BTN_THUMB]}
    touch = {ecodes.EV_ABS: XBOX_AXES, ecodes.EV_KEY: [ecodes.BTN_TOUCH, ecodes.BTN_LEFT]}
    mouse = {ecodes.EV_KEY: [ecodes.BTN_LEFT], ecodes.EV_REL: [ecodes.REL_X]}
    keyboard = {ecodes.EV_KEY: [ecodes.KEY_A]}

    assert is_pad(pad, [])
    assert is_pad(wheel, [])
    assert not is_pad(pad, [ecodes.INPUT_PROP_ACCELEROMETER])
    assert not any(is_pad(other, []) for other in (touch, mouse, keyboard))


def test_coalescing_longer_than_a_repeat_is_rejected() -> None:
    with pytest.raises(SettingsError, match=r"coalesce_s: must be at most one repeat period, got 0\.1"):
        build(JoystickSettings, {"coalesce_s": 0.1, "autorepeat_rate_hz": 20.0})


def test_vanished_and_invalid_devices_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "event0").touch()
    (tmp_path / "event1").symlink_to(tmp_path / "gone")

    pad, words = find_pad("", 0.05, tmp_path)

    assert pad is None
    assert words.startswith(f"no game pad or wheel found in {tmp_path}")


def test_unreadable_device_is_named_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "event3").touch()

    def reject(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("evdev.InputDevice", reject)  # root may read everything, so the kernel would not reject here

    assert find_pad("", 0.05, tmp_path)[1].startswith(f"no readable game pad; {tmp_path}/event3 needs `sudo usermod")
