"""Figures that campaigns can keep of a run, by name with unit; proving_ground.campaigns.figures computes them."""

from __future__ import annotations

FIGURE_NAMES: dict[str, str] = {
    "rollover_margin": "1 less the greatest load transfer |left - right| / all; 0: the wheels of one side lift off",
    "lane_margin_m": "Least clearance between the body and the outer edges of the two lanes of a lane change",
    "path_error_m": "Greatest lateral distance from the path of a lane change",
    "goal_distance_m": "Distance from the end of the run to the goal, for drivers with a goal",
    "arrival_s": "Time at which the vehicle first was within the planner's goal tolerance",
    "collisions": "Number of times that the body hit an obstacle",
    "kerb_strikes": "Number of times that a wheel began to climb a step",
    "distance_m": "Distance from the start to the end of the run along the initial heading; negative: rolled back",
    "deepest_sinkage_m": "Deepest sinkage of any wheel",
    "wheel_slip": "Mean longitudinal slip of the driven wheels while the engine drives, as a share",
    "position_rmse_m": "Observer's RMS position error in the plane, from 5 s on",
    "yaw_rmse_deg": "Likewise of the yaw",
    "speed_rmse_mps": "Likewise of the longitudinal speed",
    "sideslip_rmse_deg": "Likewise of the sideslip",
    "nees": "Mean normalised estimation error squared of x, y, yaw; a consistent covariance gives 3",
    "understeer_gradient_degpmps2": "Understeer gradient on a circle",
    "turning_radius_outer_front_wheel_m": "Turning radius of the outer front wheel at full lock",
    "turning_radius_rear_axle_m": "Turning radius of the middle of the rear axle at full lock",
    "speed_drift_mps": "Change of speed during the turn at full lock",
}
