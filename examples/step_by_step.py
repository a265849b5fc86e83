"""The lock-step simulation driven from Python, without ROS: a slalom round cones 20 m apart.

    python examples/step_by_step.py

Every step commands speed and curvature, and returns the data of sensors and observer. It is repeatable to
the bit, and many times faster than real time.
"""

import math
import time

from planner.scripted import Program
from proving_ground import Command, Observation, Scenario, Simulation
from proving_ground.scenarios.choices import ObserverChoice
from proving_ground.scenarios.scenario import Driver, World
from proving_ground.settings.nested import load_preset
from sensors.encoders import EncoderSettings
from sensors.gps import GpsSettings
from sensors.imu import ImuSettings
from sensors.rig import SensorChoice
from terrain.ground import FlatGround

SCENARIO = Scenario(
    version=1,
    description="A plane to drive on by hand",
    world=World(flat=FlatGround(friction=0.8)),
    driver=Driver(program=Program()),  # would drive if we did not
    duration_s=25.0,
    sensors=(
        SensorChoice(imu=load_preset(ImuSettings, "industrial_mems")),
        SensorChoice(gps=load_preset(GpsSettings, "rtk")),
        SensorChoice(encoders=load_preset(EncoderSettings, "quadrature")),
    ),
    observer=ObserverChoice(kind="vehicle"),
)
SPEED, CONES, AMPLITUDE, AHEAD = 6.0, 20.0, 1.8, 6.0  # [m/s]; [m]: cone spacing, lateral amplitude, look-ahead


def slalom(seen: Observation) -> Command:
    """Towards a point of the slalom ahead (pure pursuit), by the estimate once there is one."""
    x, y = (seen.estimate["position"] if seen.estimate is not None else seen.truth.position)[:2]
    goal = AMPLITUDE * math.sin(math.pi * (x + AHEAD) / CONES) if x + AHEAD > CONES else 0.0
    bearing = math.remainder(math.atan2(goal - y, AHEAD) - seen.truth.heading, math.tau)
    return Command(SPEED, 2.0 * math.sin(bearing) / AHEAD)


simulation = Simulation(SCENARIO, seed=7)
seen, has_ended, widest, begun = simulation.reset(), False, 0.0, time.process_time()
while not has_ended:
    seen, has_ended, info = simulation.step(slalom(seen), seconds=0.05)
    widest = max(widest, abs(float(seen.truth.position[1])))
factor = seen.time / (time.process_time() - begun)
off = math.dist(seen.estimate["position"][:2], seen.truth.position[:2])
print(f"{seen.truth.position[0] // CONES:.0f} cones passed, up to {widest:.2f} m to the side of their line;", end=" ")
print(f"{', '.join(seen.sensors)} received; the estimate is {100 * off:.1f} cm off; {factor:.0f} times real time")
