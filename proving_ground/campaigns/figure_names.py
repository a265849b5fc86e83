"""Figures that campaigns can keep of a run, by name with unit; proving_ground.campaigns.figures computes them."""

from __future__ import annotations

FIGURE_NAMES: dict[str, str] = {
    "rollover_margin": "1 less the greatest load transfer |left - right| / all; 0: the wheels of a side are in the air",
    "lane_margin_m": "Least room between the body and the outer edges of the two lanes of a lane change",
    "path_error_m": "Greatest lateral distance from the path of a lane change",
    "goal_distance_m": "From the end of the run to the goal of a driver that finds its own way",
    "arrival_s": "When it was first as near to the goal as its planner wants",
    "collisions": "Times that the body began to touch an obstacle",
    "kerb_strikes": "Times that a wheel began to climb a step",
    "distance_m": "From the start to the end of the run, along the heading at the start; negative: rolled back",
    "deepest_sinkage_m": "Of any wheel",
    "wheel_slip": "Mean of the driven wheels' slip along while the engine pushes, share",
    "position_rmse_m": "Of the observer in the plane, from 5 s on",
    "yaw_rmse_deg": "The same of its yaw",
    "speed_rmse_mps": "The same of its speed ahead",
    "sideslip_rmse_deg": "The same of its sideslip",
    "nees": "Mean normalised error squared of x, y, yaw; 3 is what an honest covariance gives",
    "understeer_gradient_degpmps2": "On a circle",
    "turning_radius_outer_front_wheel_m": "At full lock",
    "turning_radius_rear_axle_m": "At full lock",
    "speed_drift_mps": "At full lock",
}
