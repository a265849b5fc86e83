"""Drivers by name. A new one is a script and a line here, or in a package's metadata.

>>> DRIVER_KINDS["to_goal"].node, DRIVER_KINDS["circle"].settings.__name__
('planner', 'Circle')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.scripted import Circle, JTurn, LaneChange, Program, SineSteer, SineSweep, Straight
from planner.to_goal import ToGoal
from proving_ground.settings.registry import Registry

SCRIPT_NODE, PLANNER_NODE = "script", "planner"


@dataclass(frozen=True)
class DriverKind:
    """A kind of driver that a scenario can name: the keys below its name in the file, and the node that drives.

    The settings of a driver of SCRIPT_NODE also act: they have the method of scripted.Script.
    """

    name: str  # in the section `driver` of a scenario file
    settings: type[Any]  # a frozen dataclass
    node: str = SCRIPT_NODE  # that drives


DRIVER_KINDS: Registry[DriverKind] = Registry(
    "proving_ground.drivers",
    DriverKind("straight", Straight),
    DriverKind("lane_change", LaneChange),
    DriverKind("sine_steer", SineSteer),
    DriverKind("j_turn", JTurn),
    DriverKind("circle", Circle),
    DriverKind("sine_sweep", SineSweep),
    DriverKind("program", Program),
    DriverKind("to_goal", ToGoal, node=PLANNER_NODE),
)
