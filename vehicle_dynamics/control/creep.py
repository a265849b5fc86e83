"""Speeds below walking pace with two pedals: the brake controls the speed, the throttle keeps the engine pulling on it.

Engine, converter and idle governor are slow, and small throttle has no effect; the brake is quick and has no dead band.
So the brake is the fast actuator, held around a small bias, and the throttle restores that bias slowly (mid-ranging
control). A vehicle that creeps at idle needs no throttle, and its brake stays above the bias. Drivers of a HMMWV press
both pedals as well, to crawl over obstacles.

A sliding brake is Coulomb friction, whose torque does not depend on speed: from brake pedal to speed the vehicle is an
integrator, and its gain (PedalAuthority) is what the controller must know of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from vehicle_dynamics.vehicle import PedalAuthority

STILL = 0.02  # [m/s]: below this speed the brake may stick, and the direction of its force is not known
MOST_RELEASED = 0.5  # of the bias: the integrator of the brake goes no further below zero
FILTER_S = 0.1  # time constant of the measured acceleration, which the tyres' carcass makes vibrate


@dataclass(frozen=True, kw_only=True)
class CreepSettings:
    """Settings of slow driving; gains of pedals follow from them and from the pedals' authority."""

    below_mps: float = setting(
        0.6, "Commanded speed below which both pedals are used; 0: never", unit="m/s", minimum=0.0, maximum=3.0
    )
    steady_mps2: float = setting(
        0.05,
        "Rate of the commanded speed above which it is a start or a stop, and not slow driving",
        unit="m/s^2",
        minimum=0.0,
        maximum=10.0,
    )
    acceleration_mps2: float = setting(
        0.5, "Rate at which the commanded speed is approached", unit="m/s^2", minimum=0.05, maximum=3.0
    )
    bandwidth_radps: float = setting(
        8.0, "Bandwidth of the speed control by the brake", unit="rad/s", minimum=0.5, maximum=20.0
    )
    damping: float = setting(0.5, "Share of the acceleration that the brake opposes", minimum=0.0, maximum=2.0)
    bias_mps2: float = setting(
        0.6, "Deceleration by the brake that the throttle works against", unit="m/s^2", minimum=0.0, maximum=2.0
    )
    throttle_gain: float = setting(
        1.7, "Acceleration by the throttle per deceleration that the brake is below its bias", minimum=0.0, maximum=10.0
    )
    throttle_integral_s: float = setting(
        1.0, "Integral time of the throttle: that of engine and converter", unit="s", minimum=0.1, maximum=10.0
    )
    release_s: float = setting(
        0.35, "Time constant at which the brake of a standing vehicle is released", unit="s", minimum=0.02, maximum=5.0
    )


class CreepController(Stateful):
    """Throttle and brake for a slow speed. All speeds are positive in the direction of the gear."""

    STATE = ("is_active", "reference", "brake", "throttle", "_before", "_acceleration")

    def __init__(self, settings: CreepSettings, authority: PedalAuthority) -> None:
        self.settings = settings
        self.authority = authority
        self.reset()

    def reset(self) -> None:
        """Reset to the initial state."""
        self.is_active = False
        self.reference = 0.0  # speed on the way to the commanded one [m/s]
        self.brake, self.throttle = 0.0, 0.0  # integrators, in pedal units
        self._before, self._acceleration = 0.0, 0.0  # [m/s], [m/s^2]

    def start(self, speed: float, acceleration: float, throttle: float, brake: float) -> None:
        """Continue from the present motion [m/s, m/s^2] and pedals: with the brake that would keep the speed."""
        self.is_active, self.reference = True, max(speed, 0.0)
        self.throttle = throttle
        self.brake = min(max(brake + acceleration / self.authority.brake, 0.0), brake)
        self._before, self._acceleration = speed, 0.0

    def pedals(self, period: float, speed: float, wanted: float, most_brake: float) -> tuple[float, float]:
        """Throttle and brake for the present and the commanded speed [m/s]; period [s] since the last call."""
        self._approach(period, speed, wanted)
        self._acceleration += ((speed - self._before) / period - self._acceleration) * period / (FILTER_S + period)
        self._before = speed
        brake = self._brake(period, speed, most_brake)
        throttle = self._throttle(period, speed, brake)
        return min(max(throttle, 0.0), 1.0), min(max(brake, 0.0), most_brake)

    def _approach(self, period: float, speed: float, wanted: float) -> None:
        """Advance the reference, but not far ahead of a vehicle that still stands."""
        s = self.settings
        step = s.acceleration_mps2 * period
        highest = max(self.reference, max(speed, 0.0) + s.acceleration_mps2 / s.bandwidth_radps)
        self.reference = min(self.reference + min(max(wanted - self.reference, -step), step), highest)

    def _brake(self, period: float, speed: float, most: float) -> float:
        """Brake pedal, not limited; below zero it is released and the throttle lacks."""
        s, error = self.settings, self.reference - speed
        gain = s.bandwidth_radps / self.authority.brake
        damping = s.damping * self._acceleration / self.authority.brake
        if speed < -STILL:  # rolling back: the brake pushes forward, and holds while the throttle rises
            self.brake = min(max(self.brake, 0.0) - gain * speed * s.bandwidth_radps * period, most)
            return self.brake - gain * speed + damping
        grown = self.brake - 0.25 * gain * s.bandwidth_radps * error * period  # critically damped
        if speed < STILL:
            grown -= max(grown, 0.0) * min(period / s.release_s, 1.0)
        self.brake = min(max(grown, -MOST_RELEASED * s.bias_mps2 / self.authority.brake), most)
        return self.brake - gain * error + damping

    def _throttle(self, period: float, speed: float, brake: float) -> float:
        """Throttle, not limited, that brings the brake back to its bias."""
        s = self.settings
        # Share of the brake's force that acts against the direction of the gear.
        against = min(max(speed / STILL, -1.0), 1.0) if brake > 0.0 else 1.0
        lacking = s.bias_mps2 - against * brake * self.authority.brake  # [m/s^2]
        proportional = s.throttle_gain * lacking / self.authority.throttle
        self.throttle = min(max(self.throttle + proportional * period / s.throttle_integral_s, 0.0), 1.0)
        return self.throttle + proportional
