"""Benchmarks. Each module has `run(say) -> dict`: figures beside figures to compare with, from one run.

A module may have `show(figures) -> str` for a readable report (default: a plain table), and `draw(path)` for a picture.
"""

# Name on the command line -> module. Kept by hand: programs read the JSON under these names.
BENCHMARKS = {
    "campaign": "benchmark.campaign",
    "cold_start": "benchmark.cold_start",
    "dynamics": "benchmark.dynamics",
    "lidar": "benchmark.lidar",
    "node": "benchmark.vehicle_node",
    "observers": "benchmark.observers",
    "planner": "benchmark.planner",
    "planner_lidar": "benchmark.planner_lidar",
    "quarter_car": "benchmark.quarter_car",
    "sensors": "benchmark.sensor_nodes",
    "system": "benchmark.system",
    "teleop": "benchmark.teleop",
    "terrain": "benchmark.terrain",
    "vehicle": "benchmark.vehicle",
    "vehicle_observer": "benchmark.observer",
}

# Checks against a requirement: run by name, not by `all`; their figures are not times, and not in the README.
# Those of mobility are made where the validation page makes them, in a layer above this one.
CHECKS = {"mobility": "proving_ground.validation.mobility.bench", "parity": "benchmark.parity"}
