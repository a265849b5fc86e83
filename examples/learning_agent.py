"""An agent that learns to keep a lane: a cross-entropy search of the two gains of a lane keeper.

    python examples/learning_agent.py

In every generation some pairs of gains are tried on a road with a step of 2 m to the side, and the next generation is
drawn around the best of them. Simulations start afresh after reset(), and can be pickled to learn on several cores.
"""

import math
from dataclasses import replace

import numpy as np

from proving_ground import Command, Simulation, load_scenario, scenario_file

SPEED, SECONDS, LANE = 12.0, 6.0, 2.0  # [m/s], [s] of a trial, [m] to the left of the start
GENERATIONS, TRIALS, BEST = 6, 12, 3
FIRST, STD = np.array([0.3, 0.3]), np.array([0.8, 0.8])  # of the gains' logarithms
LEAST, MOST = math.log(0.01), math.log(20.0)


def make() -> Simulation:
    straight = load_scenario(scenario_file("lane_change"))
    start = replace(straight.start, speed_mps=SPEED)
    return Simulation(replace(straight, start=start, duration_s=SECONDS, criteria=()))


def cost(simulation: Simulation, gains: np.ndarray) -> float:
    """Mean square of the distance to the lane [m^2] and of the lateral acceleration, over a trial."""
    offset_gain, heading_gain = np.exp(gains)
    seen, total, steps = simulation.reset(), 0.0, 0
    while True:
        lateral_offset = LANE - float(seen.truth.position[1])
        curvature = (offset_gain * math.atan(lateral_offset / LANE) - heading_gain * seen.truth.heading) / SPEED
        seen, has_ended, info = simulation.step(Command(SPEED, min(max(curvature, -0.05), 0.05)), seconds=0.05)
        felt = SPEED * float(seen.truth.angular_velocity[2])  # [m/s^2]
        total, steps = total + lateral_offset**2 + 0.05 * felt**2, steps + 1
        if has_ended:
            return total / steps if not info["diverged"] else 1e3


def main() -> tuple[float, float]:
    """Cost of the first guess, and of the learned gains."""
    random, simulation = np.random.default_rng(1), make()
    middle, std = FIRST.copy(), STD.copy()
    before = cost(simulation, np.clip(middle, LEAST, MOST))
    for generation in range(GENERATIONS):
        tried = np.clip(middle + std * random.standard_normal((TRIALS, 2)), LEAST, MOST)
        costs = np.array([cost(simulation, gains) for gains in tried])
        best = tried[np.argsort(costs)[:BEST]]
        middle, std = best.mean(axis=0), best.std(axis=0) + 0.05
        offset_gain, heading_gain = np.exp(middle)
        print(f"generation {generation + 1}: best {costs.min():.4f}, gains {offset_gain:.2f} and {heading_gain:.2f}")
    after = cost(simulation, middle)
    print(f"cost {before:.4f} before, {after:.4f} after {GENERATIONS * TRIALS} trials: {1.0 - after / before:.0%} less")
    return before, after


if __name__ == "__main__":
    main()
