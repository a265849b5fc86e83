"""The arc planner of ROAMS ([Cameron]): arcs fan out from the vehicle, the clear one ending closest to the goal wins.

An arc is checked by sweeping the footprint, a row of discs, over the distance field of the rolling map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.footprint import Array, Footprint
from planner.maps.grid import UNKNOWN, Cells, Floats, LocalGrid
from planner.maps.step_judge import GAP_CELLS
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel, part
from proving_ground.saving.stateful import Stateful

GRAVITY = 9.81
CLOSE_M = 0.1  # a vehicle already closer to an obstacle than allowed may lose this much more clearance on its way out
LEAST_M = 0.03  # but may not come closer than this, unless it already is
SIGHT_ROOM_M = 1.0  # margin kept when stopping before ground that was never seen
EDGE_POINTS = 5  # points across the bumper at which the ground must have been seen


class Field(NamedTuple):
    """The rolling map in the form that kernels use."""

    distance: Floats  # [m]
    heights: Floats  # [m]
    cells: Cells
    by_sight: bool  # unknown cells were never seen
    x: float  # centre of cell [0, 0] [m]
    y: float
    inverse: float  # one over the resolution [1/m]


class Body(NamedTuple):
    """The footprint in the form that kernels use."""

    discs: Array  # x of their centres in base_link [m]
    radius: float  # [m], half a cell larger to cover grid rounding
    wheelbase: float
    half_track: float
    front: float  # extent of the body in base_link [m]
    rear: float
    half_width: float


class Fan(NamedTuple):
    """Arcs and their evaluation, one row each; the arrays are reused at every plan."""

    curvature: Array  # [1/m], left positive
    direction: Array  # 1 forward, -1 reverse
    points: Array  # arcs x samples x (x, y, heading), world axes
    free: Array  # clear length [m]
    seen: Array  # length before the bumper reaches ground that was never seen [m]; infinite where all was seen
    fall: Array  # steepest descent along the free length, fall over run
    clearance: Array  # arcs x samples: least distance of the footprint from obstacles up to there [m]
    slope: Array  # arcs x samples: largest rise over run along the path up to there
    roll: Array  # likewise, lateral
    twist: Array  # likewise, half the height of one wheel over the plane of the other three [m]
    cost: Array  # [m]; infinite where blocked
    used: NDArray[np.int64]  # samples up to the one closest to the target


@dataclass(frozen=True)
class ArcChoice:
    """The arc chosen to drive and its properties."""

    index: int  # in the fan
    curvature: float  # [1/m]
    direction: int  # 1 forward, -1 reverse
    length: float  # worth driving [m]
    free: float  # clear [m]
    miss: float  # distance from its end to the target [m]
    clearance: float  # least along the arc [m]
    roll: float  # largest along the arc, rise over run
    twist: float  # [m]
    seen: float = math.inf  # length before ground that was never seen [m]; infinite if all was seen
    fall: float = 0.0  # steepest descent, fall over run


class Target(NamedTuple):
    """Point and heading that an arc should lead to."""

    x: float
    y: float
    heading: float = math.nan  # of the path there; NaN for any
    reference: float = 0.0  # x in base_link of the point that should get there [m]


class ArcPlanner(Stateful):
    """Sweeps the fan over a map and chooses an arc; keeps its last choice for hysteresis."""

    STATE = ("chosen",)  # the fan is swept again before every choice

    def __init__(self, settings: PlannerSettings, footprint: Footprint) -> None:
        self.settings = settings
        self.footprint = footprint
        s = settings
        discs, radius = footprint.discs(s.discs)
        self.body = Body(
            discs, radius + 0.5 * s.map_resolution_m, footprint.wheelbase, footprint.half_track, footprint.front,
            footprint.rear, footprint.half_width,
        )  # fmt: skip
        counts = (s.forward_arcs, s.reverse_arcs)
        curvature = np.concatenate([_evenly(count) * s.max_curvature_1pm for count in counts])
        direction = np.repeat([1.0, -1.0], counts)
        arcs, samples = len(curvature), math.ceil(s.arc_length_m / s.arc_step_m) + 1
        clearance, slope, roll, twist = (np.zeros((arcs, samples)) for _ in range(4))
        self.fan = Fan(
            curvature, direction, np.zeros((arcs, samples, 3)), np.zeros(arcs), np.full(arcs, np.inf), np.zeros(arcs),
            clearance, slope, roll, twist, np.full(arcs, np.inf), np.zeros(arcs, np.int64),
        )  # fmt: skip
        self.chosen = -1  # index of the arc being driven, for hysteresis

    def reset(self) -> None:
        """Forget the arc chosen last, which hysteresis favours."""
        self.chosen = -1

    @property
    def tipping(self) -> float:
        """Largest lateral acceleration that plans use, as a multiple of gravity."""
        return self.settings.rollover_share * self.footprint.tipping

    def sweep(self, pose: Pose, grid: LocalGrid) -> None:
        """Find how far each arc from a pose is clear."""
        s = self.settings
        down = -(pose.slope_x * math.cos(pose.heading) + pose.slope_y * math.sin(pose.heading))
        _sweep(
            self.field(grid), self.body, (pose.x, pose.y, pose.heading), down, s.arc_step_m, s.margin_m, self.tipping,
            self.fan,
        )  # fmt: skip

    @staticmethod
    def field(grid: LocalGrid) -> Field:
        """A rolling map in the form that kernels use."""
        window = grid.window
        half = 0.5 * window.resolution
        return Field(
            grid.distance, grid.heights, grid.cells, grid.by_sight, window.x + half, window.y + half,
            1.0 / window.resolution,
        )  # fmt: skip

    def choose(self, target: Target, curvature: float, in_reverse: bool = False, keep: bool = True) -> ArcChoice | None:
        """The best arc of the last sweep towards a target, None if all are blocked; curvature [1/m] is the present one.

        in_reverse: choose a reverse arc instead of a forward one. keep: stay with the last choice unless another is
        better by hysteresis_m.
        """
        s, fan = self.settings, self.fan
        weights = (s.clearance_m, s.clearance_weight, s.slope_weight, s.roll_weight, s.smooth_weight, s.heading_weight)
        wanted = -1.0 if in_reverse else 1.0
        _score(
            fan,
            (target.x, target.y, target.heading),
            target.reference,
            wanted,
            curvature,
            s.arc_step_m,
            s.least_arc_m,
            weights,
        )
        best = int(np.argmin(fan.cost))
        if not math.isfinite(fan.cost[best]):
            self.chosen = -1
            return None
        last = self.chosen
        if keep and last >= 0 and fan.direction[last] == wanted and fan.cost[last] <= fan.cost[best] + s.hysteresis_m:
            best = last
        self.chosen = best
        return self.described(best, target)

    def described(self, index: int, target: Target) -> ArcChoice:
        """The properties of one arc of the fan."""
        fan, sample = self.fan, int(self.fan.used[index])
        end = fan.points[index, sample]
        return ArcChoice(
            index=index,
            curvature=float(fan.curvature[index]),
            direction=int(fan.direction[index]),
            length=sample * self.settings.arc_step_m,
            free=float(fan.free[index]),
            seen=float(fan.seen[index]),
            fall=float(fan.fall[index]),
            miss=math.hypot(
                target.x - end[0] - target.reference * math.cos(end[2]),
                target.y - end[1] - target.reference * math.sin(end[2]),
            ),
            clearance=float(fan.clearance[index, sample]),
            roll=float(fan.roll[index, sample]),
            twist=float(fan.twist[index, sample]),
        )

    def speed(self, choice: ArcChoice, to_go: float) -> float:
        """Speed [m/s], forward positive, for an arc; the vehicle must stop at its free end or after to_go [m].

        It must also be able to stop before ground that was never seen, and is slower downhill to spare the brakes.
        """
        s = self.settings
        most = s.reverse_speed_mps if choice.direction < 0 else s.max_speed_mps - s.speed_reserve_mps
        most -= s.downhill_mps * max(choice.fall, 0.0)
        bend = abs(choice.curvature)
        if bend > 1e-6:
            side = min(s.lateral_mps2, GRAVITY * max(self.tipping - choice.roll, 0.0))
            most = min(most, math.sqrt(side / bend))
        most = min(most, s.least_speed_mps + s.clearance_gain_1ps * max(choice.clearance - s.margin_m, 0.0))
        most /= 1.0 + choice.twist / s.rough_m
        distance = min(choice.free - s.least_arc_m * 0.5, to_go, choice.seen - SIGHT_ROOM_M)
        stopping = math.sqrt(2.0 * s.deceleration_mps2 * max(distance, 0.0))
        return choice.direction * min(max(most, s.least_speed_mps), stopping)


def _evenly(count: int) -> Array:
    """Values from -1 to 1, denser around 0, where small differences matter most."""
    even = np.linspace(-1.0, 1.0, count)
    return np.asarray(0.5 * even + 0.5 * even * np.abs(even), np.float64)


@part
def _bilinear(field: Field, values: Floats, x: float, y: float) -> float:
    """Value of a grid interpolated between cell centres; NaN outside."""
    u, v = (x - field.x) * field.inverse, (y - field.y) * field.inverse
    rows, columns = values.shape
    if not (u >= 0.0 and v >= 0.0 and u < columns - 1.0 and v < rows - 1.0):
        return np.nan
    column, row = int(u), int(v)
    right, up = u - column, v - row
    near = values[row, column] * (1.0 - right) + values[row, column + 1] * right
    far = values[row + 1, column] * (1.0 - right) + values[row + 1, column + 1] * right
    return float(near * (1.0 - up) + far * up)


@part
def clearance_at(field: Field, body: Body, x: float, y: float, cosine: float, sine: float) -> float:
    """Distance [m] of the footprint from the nearest obstacle, negative inside; NaN where it leaves the map.

    base_link is at x, y [m] in the world, with this cosine and sine of its heading.
    """
    least = np.inf
    for k in range(len(body.discs)):
        least = min(least, _bilinear(field, field.distance, x + body.discs[k] * cosine, y + body.discs[k] * sine))
        if np.isnan(least):
            return np.nan
    return least - body.radius


@part
def allowed_clearance(begun: float, margin: float) -> float:
    """Least clearance [m] that an arc needs: the margin [m], or less where it begins closer (begun [m]), to leave."""
    if not begun < margin:
        return margin
    return max(begun - CLOSE_M, min(LEAST_M, begun - 0.01))


@part
def _lean(field: Field, body: Body, x: float, y: float, cosine: float, sine: float) -> tuple[float, float, float]:
    """Longitudinal and lateral rise over run, and twist [m], of the ground under four wheels; 0 where unknown."""
    front_x, front_y = x + body.wheelbase * cosine, y + body.wheelbase * sine
    left_x, left_y = -body.half_track * sine, body.half_track * cosine
    front_left = _bilinear(field, field.heights, front_x + left_x, front_y + left_y)
    front_right = _bilinear(field, field.heights, front_x - left_x, front_y - left_y)
    rear_left = _bilinear(field, field.heights, x + left_x, y + left_y)
    rear_right = _bilinear(field, field.heights, x - left_x, y - left_y)
    along = 0.5 * (front_left + front_right - rear_left - rear_right) / body.wheelbase
    across = 0.25 * (front_left + rear_left - front_right - rear_right) / body.half_track
    if np.isnan(along + across):
        return 0.0, 0.0, 0.0
    return along, across, 0.5 * abs(front_left - front_right - rear_left + rear_right)


@part
def _is_edge_seen(field: Field, body: Body, x: float, y: float, cosine: float, sine: float, edge: float) -> bool:
    """Whether the ground under a bumper, at edge [m] in base_link, was seen; gaps between rings count as seen."""
    rows, columns = field.cells.shape
    for k in range(EDGE_POINTS):
        lateral = body.half_width * (2.0 * k / (EDGE_POINTS - 1) - 1.0)
        column = math.floor((x + edge * cosine - lateral * sine - field.x) * field.inverse + 0.5)
        row = math.floor((y + edge * sine + lateral * cosine - field.y) * field.inverse + 0.5)
        if not (GAP_CELLS <= row < rows - GAP_CELLS and GAP_CELLS <= column < columns - GAP_CELLS):
            continue
        if field.cells[row, column] != UNKNOWN:
            continue
        is_known = False
        for i in range(row - GAP_CELLS, row + GAP_CELLS + 1):
            for j in range(column - GAP_CELLS, column + GAP_CELLS + 1):
                is_known = is_known or field.cells[i, j] != UNKNOWN
        if not is_known:
            return False
    return True


@kernel
def _sweep(
    field: Field, body: Body, sample_of: tuple[float, float, float], down: float, step: float, margin: float,
    tipping: float, fan: Fan,
) -> None:  # fmt: skip
    """Lay out every arc from a pose (x, y [m], heading) and follow it until it is no longer clear.

    down: fall of the vehicle's own plane ahead, over run.
    """
    x, y, heading = sample_of
    arcs, samples, _ = fan.points.shape
    begun = clearance_at(field, body, x, y, math.cos(heading), math.sin(heading))
    allowed = allowed_clearance(begun, margin)
    for arc in range(arcs):
        bend, along = fan.curvature[arc], step * fan.direction[arc]
        heading_change = bend * along
        # Step along the chord, whose direction is the mean heading of the step.
        chord = along * (math.sin(0.5 * heading_change) / (0.5 * heading_change) if abs(heading_change) > 1e-9 else 1.0)
        at_x, at_y, at_heading = x, y, heading
        least, slope, roll, twist, clear = np.inf, 0.0, 0.0, 0.0, 0
        is_clear, is_unseen, ahead = True, False, fan.direction[arc]
        edge = body.front if ahead > 0.0 else body.rear
        fan.seen[arc], fan.fall[arc] = np.inf, down * ahead
        for sample in range(samples):
            fan.points[arc, sample, 0], fan.points[arc, sample, 1] = at_x, at_y
            fan.points[arc, sample, 2] = at_heading
            if is_clear:
                cosine, sine = math.cos(at_heading), math.sin(at_heading)
                here = clearance_at(field, body, at_x, at_y, cosine, sine)
                pitch, lean, warp = _lean(field, body, at_x, at_y, cosine, sine)
                is_clear = here >= allowed and abs(lean) <= tipping  # NaN is not clear
                if is_clear:
                    least, clear = min(least, here), sample
                    slope, roll, twist = max(slope, abs(pitch)), max(roll, abs(lean)), max(twist, warp)
                    fan.clearance[arc, sample], fan.slope[arc, sample] = least, slope
                    fan.roll[arc, sample], fan.twist[arc, sample] = roll, twist
                    fan.fall[arc] = max(fan.fall[arc], -pitch * ahead)
                    if not is_unseen and field.by_sight:
                        is_unseen = not _is_edge_seen(field, body, at_x, at_y, cosine, sine, edge)
                        fan.seen[arc] = sample * step if is_unseen else np.inf
            at_x += chord * math.cos(at_heading + 0.5 * heading_change)
            at_y += chord * math.sin(at_heading + 0.5 * heading_change)
            at_heading += heading_change
        fan.free[arc] = clear * step


@kernel
def _score(
    fan: Fan, target: tuple[float, float, float], reference: float, direction: float, curvature: float, step: float,
    least: float, weights: tuple[float, float, float, float, float, float],
) -> None:  # fmt: skip
    """Cost [m] of every arc of a direction: distance of its best sample from the target, and cost of the path to it."""
    soft, for_clearance, for_slope, for_roll, for_change, for_heading = weights
    for arc in range(len(fan.cost)):
        fan.cost[arc] = np.inf
        if fan.direction[arc] != direction or fan.free[arc] < least:
            continue
        for sample in range(math.ceil(least / step), round(fan.free[arc] / step) + 1):
            x, y, heading = fan.points[arc, sample]
            x, y = x + reference * math.cos(heading), y + reference * math.sin(heading)
            cost = math.hypot(target[0] - x, target[1] - y)
            if not np.isnan(target[2]):
                off = abs(heading - target[2]) % (2.0 * math.pi)
                cost += for_heading * min(off, 2.0 * math.pi - off)
            cost += for_clearance * max(soft - fan.clearance[arc, sample], 0.0)
            cost += for_slope * fan.slope[arc, sample] + for_roll * fan.roll[arc, sample]
            if cost < fan.cost[arc]:
                fan.cost[arc] = cost
                fan.used[arc] = sample
        fan.cost[arc] += for_change * abs(fan.curvature[arc] - curvature)
