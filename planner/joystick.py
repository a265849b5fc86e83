"""A game pad or wheel of the Linux input layer as the axes and buttons of sensor_msgs/Joy.

The numbering and signs are those of ROS's joy node: axes by rising event code, then two per hat; left and up are +1,
so a trigger reads +1 at rest and -1 when pressed; buttons by rising code from BTN_JOYSTICK, the BTN_MISC range last.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import evdev
from evdev import ecodes

from proving_ground.settings import setting

DEVICES = Path("/dev/input")

_HATS = range(ecodes.ABS_HAT0X, ecodes.ABS_HAT3Y + 1)
_PAD_BUTTONS = range(ecodes.BTN_JOYSTICK, ecodes.BTN_DIGI)  # joysticks, game pads, wheels use some of these
_KEY_END = ecodes.KEY_MAX + 1


@dataclass(frozen=True, kw_only=True)
class JoystickSettings:
    """Choice of the joystick device and rates of its messages."""

    device: str = setting(
        "", "Path of the joystick (/dev/input/event7), or part of its name; empty: the first one found", read_only=True
    )
    dead_zone: float = setting(
        0.05, "Deflection around the centre of an axis, as a share of its range, that reads 0", minimum=0.0, maximum=0.9
    )
    autorepeat_rate_hz: float = setting(
        20.0, "Rate at which /joy is repeated while no axis or button changes", unit="Hz", minimum=1.0, maximum=200.0
    )
    coalesce_s: float = setting(
        0.001, "Time within which changes of axes are combined into one message", unit="s", minimum=0.0, maximum=0.1
    )
    search_period_s: float = setting(
        1.0, "Time between searches for a joystick while none is connected", unit="s", minimum=0.1, maximum=60.0
    )

    def __post_init__(self) -> None:
        if self.coalesce_s * self.autorepeat_rate_hz > 1.0:
            raise ValueError(f"coalesce_s: must be at most one repeat period, got {self.coalesce_s:g}")


@dataclass(frozen=True)
class Axis:
    """One axis of the device: its raw range and its index in the message."""

    index: int
    minimum: int
    maximum: int
    is_hat: bool

    def value(self, raw: int, dead_zone: float) -> float:
        """Raw value as [-1, 1], left and up positive, with a dead zone that starts smoothly."""
        if self.is_hat:
            return float((raw < 0) - (raw > 0))
        centred = 1.0 - 2.0 * (raw - self.minimum) / (self.maximum - self.minimum)
        centred = min(max(centred, -1.0), 1.0)
        beyond = max(abs(centred) - dead_zone, 0.0) / (1.0 - dead_zone)
        return beyond if centred > 0.0 else -beyond if beyond else 0.0


class Pad:
    """An opened device and the present state of its axes and buttons."""

    def __init__(self, device: evdev.InputDevice[str], dead_zone: float) -> None:
        self.device = device
        self.dead_zone = dead_zone
        capabilities = device.capabilities()
        self._axes = axis_layout(capabilities.get(ecodes.EV_ABS, []))
        self._buttons = {code: index for index, code in enumerate(button_order(capabilities[ecodes.EV_KEY]))}
        self.axes = [0.0] * len(self._axes)
        self.buttons = [0] * len(self._buttons)
        self.read_all()

    @property
    def label(self) -> str:
        """Name and path of the device, for display."""
        return f"{self.device.name} ({self.device.path})"

    def read_all(self) -> None:
        """Ask the kernel for the whole state, as at the start or after it dropped events."""
        for code, axis in self._axes.items():
            self.axes[axis.index] = axis.value(self.device.absinfo(code).value, self.dead_zone)
        pressed = set(self.device.active_keys())
        for code, index in self._buttons.items():
            self.buttons[index] = int(code in pressed)

    def take_events(self) -> tuple[bool, bool]:
        """Apply pending events; returns whether an axis and whether a button changed. Raises OSError when unplugged."""
        axis_changed = button_changed = False
        for event in self.device.read():
            if event.type == ecodes.EV_ABS and event.code in self._axes:
                axis = self._axes[event.code]
                value = axis.value(event.value, self.dead_zone)
                axis_changed |= value != self.axes[axis.index]
                self.axes[axis.index] = value
            elif event.type == ecodes.EV_KEY and event.code in self._buttons:
                self.buttons[self._buttons[event.code]] = int(event.value != 0)
                button_changed = True
            elif event.type == ecodes.EV_SYN and event.code == ecodes.SYN_DROPPED:
                self.read_all()
                button_changed = True
        return axis_changed, button_changed


def find_pad(wanted: str, dead_zone: float, folder: Path = DEVICES) -> tuple[Pad | None, str]:
    """The first matching device, opened, and a message for the user: what was found, or why not.

    wanted: path, or part of the name; empty: any. folder: of the devices.
    """
    found, unreadable = [], []
    for path in sorted(folder.glob("event*"), key=_event_number):
        try:
            pad = _open_pad(str(path), dead_zone)
        except PermissionError:
            unreadable.append(path)
            continue
        except OSError:  # unplugged meanwhile
            continue
        if pad is not None and (wanted in (str(path), "") or wanted.lower() in pad.device.name.lower()):
            return pad, f"using {pad.label}: {len(pad.axes)} axes, {len(pad.buttons)} buttons"
        if pad is not None:
            found.append(pad.device.name)
            pad.device.close()
    if found:
        return None, f"no game pad matches device '{wanted}'; connected: {', '.join(found)}"
    if unreadable:
        return None, f"no readable game pad; {unreadable[0]} needs `sudo usermod -aG input $USER` and a new login"
    return None, f"no game pad or wheel found in {folder}; plug one in at any time, or drive with the keyboard node"


def _open_pad(path: str, dead_zone: float) -> Pad | None:
    """The device if it is a pad; raises OSError when it is not readable."""
    device = evdev.InputDevice(path)
    try:
        if is_pad(device.capabilities(), device.input_props()):
            return Pad(device, dead_zone)
    except OSError:
        device.close()
        raise
    device.close()
    return None


def is_pad(capabilities: dict[int, list[object]], properties: list[int]) -> bool:
    """Whether a device is a game pad, joystick or wheel, and not the motion sensor or touch pad inside one."""
    keys = [code for code in capabilities.get(ecodes.EV_KEY, []) if isinstance(code, int)]
    has_pad_button = any(code in _PAD_BUTTONS for code in keys)
    is_pointer = ecodes.BTN_TOUCH in keys or ecodes.INPUT_PROP_ACCELEROMETER in properties
    return has_pad_button and not is_pointer and ecodes.EV_ABS in capabilities


def read_pad(
    pad: Pad,
    settings: Callable[[], JoystickSettings],
    is_running: Callable[[], bool],
    publish: Callable[[list[float], list[int]], None],
    clock: Callable[[], float],
) -> None:
    """Publish the state at once, on every change and at the repeat rate, until unplugged (OSError) or stopped."""
    publish(pad.axes, pad.buttons)
    next_publish = clock() + 1.0 / settings().autorepeat_rate_hz
    while is_running():
        wait = min(max(next_publish - clock(), 0.0), 0.1)  # wakes often enough to notice a stop
        ready, _, _ = select.select([pad.device.fd], [], [], wait)
        present = settings()
        if ready:
            pad.dead_zone = present.dead_zone
            axis_changed, button_changed = pad.take_events()
            if button_changed:
                next_publish = clock()
            elif axis_changed:
                next_publish = min(next_publish, clock() + present.coalesce_s)
        if clock() >= next_publish:
            publish(pad.axes, pad.buttons)
            next_publish = clock() + 1.0 / present.autorepeat_rate_hz


def axis_layout(absolute: list[tuple[int, evdev.AbsInfo]]) -> dict[int, Axis]:
    """Axes by event code, numbered by rising code, hats last; axes without a range are left out."""
    ordered = sorted(absolute, key=lambda item: (item[0] in _HATS, item[0]))
    usable = [(code, info) for code, info in ordered if info.max > info.min and code < ecodes.ABS_MT_SLOT]
    return {code: Axis(index, info.min, info.max, code in _HATS) for index, (code, info) in enumerate(usable)}


def button_order(keys: list[int]) -> list[int]:
    """Button codes in the order of their indices."""
    upper = sorted(code for code in keys if ecodes.BTN_JOYSTICK <= code < _KEY_END)
    return upper + sorted(code for code in keys if ecodes.BTN_MISC <= code < ecodes.BTN_JOYSTICK)


def _event_number(path: Path) -> int:
    digits = path.name.removeprefix("event")
    return int(digits) if digits.isdecimal() else 0
