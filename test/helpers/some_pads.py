"""A game pad as the kernel describes it."""

from __future__ import annotations

from evdev import AbsInfo, ecodes

TRIGGER = AbsInfo(value=0, min=0, max=255, fuzz=0, flat=0, resolution=0)
HAT = AbsInfo(value=0, min=-1, max=1, fuzz=0, flat=0, resolution=0)
XBOX_BUTTONS = [
    ecodes.BTN_A,
    ecodes.BTN_B,
    ecodes.BTN_X,
    ecodes.BTN_Y,
    ecodes.BTN_TL,
    ecodes.BTN_TR,
    ecodes.BTN_SELECT,
    ecodes.BTN_START,
    ecodes.BTN_MODE,
    ecodes.BTN_THUMBL,
    ecodes.BTN_THUMBR,
]


def stick(fuzz: int, flat: int) -> AbsInfo:
    """A stick with a filter and a dead band in the kernel."""
    return AbsInfo(value=0, min=-32768, max=32767, fuzz=fuzz, flat=flat, resolution=0)


def xbox_axes(a_stick: AbsInfo) -> list[tuple[int, AbsInfo]]:
    """Axes of an Xbox pad whose two sticks are like the given one."""
    return [
        (ecodes.ABS_X, a_stick),
        (ecodes.ABS_Y, a_stick),
        (ecodes.ABS_Z, TRIGGER),
        (ecodes.ABS_RX, a_stick),
        (ecodes.ABS_RY, a_stick),
        (ecodes.ABS_RZ, TRIGGER),
        (ecodes.ABS_HAT0X, HAT),
        (ecodes.ABS_HAT0Y, HAT),
    ]
