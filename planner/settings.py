"""All settings of planning, declared once: defaults, units, ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from proving_ground.settings import setting
from vehicle_dynamics.equipment import Equipment

AnySettings = TypeVar("AnySettings", bound="PlannerSettings")

PLANNERS = ("arcs", "dstar_lite")  # built in, by name
VEHICLE_ROOM_M = 6.0  # space that a vehicle at the end of an arc takes up on the rolling map


@dataclass(frozen=True, kw_only=True)
class PlannerSettings:
    """Settings of the obstacle map, the arcs, the global path and driving to a goal."""

    defaults: ClassVar[str] = "config/planner.yaml"

    planner: str = setting(
        "dstar_lite",
        "Planner to use: arcs = local planning only, dstar_lite = arcs along a path from a search of the whole map, "
        "or your own as module:Class",
        read_only=True,
    )
    replan_rate_hz: float = setting(
        10.0, "Plans made per simulated second", unit="Hz", minimum=1.0, maximum=100.0, read_only=True
    )
    delay_s: float = setting(
        0.2, "Delay from sensing to wheel response; plans start from the pose predicted for its end", unit="s",
        minimum=0.0, maximum=2.0,
    )  # fmt: skip

    # Obstacle map
    local_map_m: float = setting(
        48.0, "Side length of the square map around the vehicle that obstacles are entered in",
        unit="m", minimum=10.0, maximum=200.0, read_only=True,
    )  # fmt: skip
    map_resolution_m: float = setting(
        0.2, "Side length of the cells of the map around the vehicle",
        unit="m", minimum=0.05, maximum=1.0, read_only=True,
    )  # fmt: skip
    global_resolution_m: float = setting(
        0.4, "Cell size of the search for a path to the goal, a whole multiple of map_resolution_m", unit="m",
        minimum=0.05, maximum=5.0, read_only=True,
    )  # fmt: skip
    max_step_m: float = setting(
        0.1, "Height above which steps and kerbs are obstacles", unit="m", minimum=0.01, maximum=2.0
    )
    max_slope_deg: float = setting(
        25.0, "Slope above which ground is an obstacle", unit="deg", minimum=1.0, maximum=60.0
    )
    max_height_m: float = setting(
        0.5, "Height of things above the plane under the vehicle from which they are obstacles; at a distance it grows "
        "by the rise of a slope of max_slope_deg",
        unit="m", minimum=0.05, maximum=10.0,
    )  # fmt: skip

    # Arcs
    forward_arcs: int = setting(
        41, "Number of candidate arcs forward, odd so that one is straight", minimum=3, maximum=501, read_only=True
    )
    reverse_arcs: int = setting(
        21, "Number of candidate arcs in reverse, odd so that one is straight", minimum=3, maximum=501, read_only=True
    )
    arc_length_m: float = setting(
        12.0, "Length of a candidate arc", unit="m", minimum=2.0, maximum=50.0, read_only=True
    )
    arc_step_m: float = setting(
        0.25, "Distance between the points along an arc that are checked for obstacles",
        unit="m", minimum=0.05, maximum=1.0, read_only=True,
    )  # fmt: skip
    max_curvature_1pm: float = setting(
        0.0, "Largest curvature of a planned arc; 0: from the vehicle's file", unit="1/m", minimum=0.0, maximum=1.0,
        read_only=True,
    )  # fmt: skip
    discs: int = setting(
        6, "Number of discs along the vehicle that together cover its footprint", minimum=1, maximum=20, read_only=True
    )
    margin_m: float = setting(
        0.25, "Distance from the footprint that must be free of obstacles", unit="m", minimum=0.0, maximum=2.0
    )
    clearance_m: float = setting(
        1.2, "Lateral clearance below which an arc costs more; see clearance_weight",
        unit="m", minimum=0.0, maximum=10.0,
    )  # fmt: skip
    clearance_weight: float = setting(
        1.5, "Cost of an arc per metre that its clearance is below clearance_m, in metres to the goal",
        minimum=0.0, maximum=100.0,
    )  # fmt: skip
    slope_weight: float = setting(
        5.0, "Cost of an arc per unit of slope along it (rise over run), in metres of distance to the goal",
        unit="m", minimum=0.0, maximum=100.0,
    )  # fmt: skip
    roll_weight: float = setting(
        10.0, "Cost of an arc per unit of slope across it (rise over run), in metres of distance to the goal",
        unit="m", minimum=0.0, maximum=100.0,
    )  # fmt: skip
    smooth_weight: float = setting(
        4.0, "Cost of an arc per change of curvature [1/m] from the present one, in metres of distance to the goal",
        unit="m^2", minimum=0.0, maximum=100.0,
    )  # fmt: skip
    heading_weight: float = setting(
        1.0, "Cost of an arc per radian between its end and the path's direction, in metres of distance to the goal",
        unit="m/rad", minimum=0.0, maximum=100.0,
    )  # fmt: skip
    hysteresis_m: float = setting(
        0.2, "Cost by which another arc must be better before it replaces the present one, in metres of distance "
        "to the goal",
        unit="m", minimum=0.0, maximum=10.0,
    )  # fmt: skip
    least_arc_m: float = setting(
        1.0, "Free length of an arc below which it counts as blocked", unit="m", minimum=0.1, maximum=10.0
    )

    # Speed
    max_speed_mps: float = setting(5.0, "Largest planned forward speed", unit="m/s", minimum=0.5, maximum=15.0)
    speed_reserve_mps: float = setting(
        0.3, "Margin by which commanded speeds stay below max_speed_mps, because speed control overshoots",
        unit="m/s", minimum=0.0, maximum=2.0,
    )  # fmt: skip
    downhill_mps: float = setting(
        4.0, "Reduction of the planned speed per unit of downhill slope (fall over run), to leave the brakes a reserve",
        unit="m/s", minimum=0.0, maximum=20.0,
    )  # fmt: skip
    least_speed_mps: float = setting(
        0.8, "Lowest speed planned along an arc, except to stop", unit="m/s", minimum=0.1, maximum=5.0
    )
    manoeuvre_speed_mps: float = setting(
        2.0, "Forward speed of manoeuvres with reversing in a narrow space", unit="m/s", minimum=0.1, maximum=5.0
    )
    reverse_speed_mps: float = setting(1.5, "Largest speed in reverse", unit="m/s", minimum=0.1, maximum=5.0)
    acceleration_mps2: float = setting(
        1.0, "Largest rate at which the commanded speed increases", unit="m/s^2", minimum=0.1, maximum=5.0
    )
    deceleration_mps2: float = setting(
        1.2, "Deceleration with which plans expect the vehicle to brake", unit="m/s^2", minimum=0.1, maximum=5.0
    )
    lateral_mps2: float = setting(
        1.5, "Largest lateral acceleration, which limits speed in curves", unit="m/s^2", minimum=0.1, maximum=5.0
    )
    curvature_rate_1pms: float = setting(
        0.3, "Largest rate at which the commanded curvature changes; no faster than the vehicle's file says",
        unit="1/(m s)", minimum=0.01, maximum=5.0,
    )  # fmt: skip
    clearance_gain_1ps: float = setting(
        4.0,
        "Speed added to least_speed_mps per metre of lateral clearance beyond margin_m",
        unit="1/s",
        minimum=0.1,
        maximum=100.0,
    )
    rough_m: float = setting(
        0.15, "Unevenness of the ground at which the planned speed is halved: half the height of the ground under one "
        "wheel above the plane through the ground under the other three",
        unit="m", minimum=0.01, maximum=2.0,
    )  # fmt: skip
    rollover_share: float = setting(
        0.5, "Largest allowed roll, as a share of the roll at which the vehicle tips over", minimum=0.05, maximum=1.0
    )

    # Global path
    near_m: float = setting(
        4.0, "Distance from obstacles within which a path to the goal costs more", unit="m", minimum=0.0, maximum=20.0
    )
    near_cost: float = setting(
        10.0, "Extra cost of a path per metre of its length where it touches an obstacle; falls to 0 at near_m",
        minimum=0.0, maximum=50.0,
    )  # fmt: skip
    carrot_m: float = setting(
        9.0, "Distance along the path of the furthest point that arcs are steered to",
        unit="m", minimum=2.0, maximum=50.0,
    )  # fmt: skip

    # Driving to a goal
    arrival_m: float = setting(
        1.5, "Distance from the goal that counts as arrived", unit="m", minimum=0.1, maximum=20.0
    )
    waypoint_m: float = setting(
        3.0, "Distance from a waypoint that counts as passed", unit="m", minimum=0.1, maximum=20.0
    )
    stale_s: float = setting(
        0.5,
        "Age of the pose or map beyond which the vehicle makes an emergency stop",
        unit="s",
        minimum=0.05,
        maximum=10.0,
    )
    back_up_m: float = setting(
        6.0, "Longest distance driven in reverse in one attempt", unit="m", minimum=0.5, maximum=30.0
    )
    boxed_in_s: float = setting(
        90.0, "Time without progress after which the goal is given up", unit="s", minimum=1.0, maximum=3600.0
    )
    progress_m: float = setting(
        1.0, "Reduction of the distance to the goal that counts as progress", unit="m", minimum=0.1, maximum=50.0
    )

    def fitted(self: AnySettings, equipment: Equipment) -> AnySettings:
        """A copy in which unset values are filled in from the vehicle's file."""
        return replace(
            self,
            max_curvature_1pm=equipment.curvature(self.max_curvature_1pm),
            curvature_rate_1pms=equipment.curvature_rate(self.curvature_rate_1pms),
        )

    def __post_init__(self) -> None:
        for name in ("forward_arcs", "reverse_arcs"):
            if getattr(self, name) % 2 == 0:
                raise ValueError(f"{name}: must be odd, so that one goes straight on, got {getattr(self, name)}")
        cells = self.global_resolution_m / self.map_resolution_m
        if round(cells) < 1 or abs(cells - round(cells)) > 1e-6:
            raise ValueError(
                f"global_resolution_m: must be a whole number of map_resolution_m ({self.map_resolution_m:g}), "
                f"got {self.global_resolution_m:g}"
            )
        if self.arc_length_m + VEHICLE_ROOM_M > 0.5 * self.local_map_m:
            raise ValueError(f"local_map_m: too small for arcs of {self.arc_length_m:g} m, got {self.local_map_m:g}")
        if self.carrot_m > self.arc_length_m:
            raise ValueError(f"carrot_m: must be within arc_length_m ({self.arc_length_m:g}), got {self.carrot_m:g}")
        if self.speed_reserve_mps + self.least_speed_mps > self.max_speed_mps:
            raise ValueError(
                f"max_speed_mps: must be above speed_reserve_mps + least_speed_mps, got {self.max_speed_mps:g}"
            )
        if self.stale_s < 1.0 / self.replan_rate_hz:
            raise ValueError(f"stale_s: must be at least one planning period ({1.0 / self.replan_rate_hz:g})")
