"""The joystick node with a virtual pad of the kernel (uinput), where this machine has one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from evdev import UInput, ecodes
from geometry_msgs.msg import TwistStamped
from sensor_msgs.msg import Joy

from some_pads import XBOX_BUTTONS, stick, xbox_axes

UINPUT = "/dev/uinput"
needs_uinput = pytest.mark.skipif(
    not os.access(UINPUT, os.W_OK),
    reason=f"{UINPUT} is missing or not writable: this kernel has no uinput module, which no package can add",
)

CAPABILITIES = {ecodes.EV_KEY: XBOX_BUTTONS[:6], ecodes.EV_ABS: xbox_axes(stick(fuzz=0, flat=0))}


def plug_in() -> UInput:
    return UInput(CAPABILITIES, name="Virtual Test Pad")


def move(pad: UInput, kind: int, code: int, value: int) -> None:
    pad.write(kind, code, value)
    pad.syn()


def axis(messages: list[Any], index: int) -> Callable[[float], bool]:
    return lambda value: bool(messages) and messages[-1].axes[index] == pytest.approx(value, abs=1e-3)


def test_without_a_pad_it_says_so_once_and_waits(graph: Any) -> None:
    process = graph.start("joystick", "--ros-args", "-p", "device:=No Such Pad", "-p", "search_period_s:=0.1")
    findings = graph.collect(DiagnosticArray, "/diagnostics")

    graph.wait_until(lambda: len(findings) >= 2, "two reports")

    assert process.is_running()
    assert process.output.count("no game pad") == 1
    assert findings[-1].status[0].level == b"\x01"


@needs_uinput
def test_axes_and_buttons_follow_the_pad(graph: Any) -> None:
    with plug_in() as pad:
        graph.start("joystick", "--ros-args", "-p", "device:=Virtual Test Pad", "-p", "search_period_s:=0.1")
        messages = graph.collect(Joy, "/joy")
        graph.wait_until(lambda: messages, "/joy")
        assert list(messages[-1].axes) == pytest.approx([0, 0, 1, 0, 0, 1, 0, 0], abs=1e-3)

        move(pad, ecodes.EV_ABS, ecodes.ABS_Y, -32768)
        graph.wait_until(lambda: axis(messages, 1)(1.0), "stick forward reads +1")
        move(pad, ecodes.EV_ABS, ecodes.ABS_RZ, 255)
        graph.wait_until(lambda: axis(messages, 5)(-1.0), "pressed trigger reads -1")
        move(pad, ecodes.EV_ABS, ecodes.ABS_HAT0X, -1)
        graph.wait_until(lambda: axis(messages, 6)(1.0), "hat left reads +1")
        move(pad, ecodes.EV_KEY, ecodes.BTN_TL, 1)
        graph.wait_until(lambda: list(messages[-1].buttons) == [0, 0, 0, 0, 1, 0], "button 4")

        count = len(messages)
        graph.wait_until(lambda: len(messages) > count + 20, "autorepeat while nothing changes")


@needs_uinput
def test_unplugging_stops_the_vehicle_and_plugging_in_again_goes_on(graph: Any) -> None:
    process = graph.start("joystick", "--ros-args", "-p", "device:=Virtual Test Pad", "-p", "search_period_s:=0.1")
    graph.start("teleop")
    commands = graph.collect(TwistStamped, "/cmd_vel")

    for number in (1, 2):
        pad = plug_in()
        graph.wait_until(lambda n=number: process.output.count("using Virtual Test Pad") == n, "the pad to be found")
        move(pad, ecodes.EV_KEY, ecodes.BTN_TL, 1)
        move(pad, ecodes.EV_ABS, ecodes.ABS_Y, -32768)
        graph.wait_until(lambda: commands and commands[-1].twist.linear.x > 1.0, "driving")

        pad.close()
        graph.wait_until(lambda: commands[-1].twist.linear.x == 0.0, "stop after the pad is gone", seconds=2.0)
        graph.wait_until(lambda n=number: process.output.count("was unplugged") == n, "a line that says so")
