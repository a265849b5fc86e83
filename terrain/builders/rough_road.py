"""Random roads by their spectrum: classes of ISO 8608, and ride courses by their root mean square.

Each is a sum of waves with fixed amplitudes and random phases, so every seed has the same spectrum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import same_setting, setting
from terrain.builders.courses import INCH
from terrain.builders.pads import Pad
from terrain.elevation_map import Array
from terrain.world import Site, World

Spectrum = Callable[[Array], Array]  # from wave numbers [1/m] to displacement densities [m^3]

CLASSES = "ABCDEFGH"
# ISO 8608: G_d [m^3] at n_0 [1/m], the geometric mean of class A; each class has four times that of the one before.
CLASS_A, REFERENCE_WAVE_NUMBER, STEP_OF_CLASSES = 16e-6, 0.1, 4.0
# Coherence of left and right, (1 + (Omega b / Omega_p)^2)^-p, by class; Project Chrono's fit, which ends at E.
COHERENCE = {"A": (8.5, 3.5), "B": (5.3, 2.2), "C": (3.0, 1.3), "D": (1.6, 0.8), "E": (0.8, 0.5)}
ROUGHEST_FIT = "E"
FADE_M = 10.0  # at both ends of the rough part
FOOT = 0.3048  # [m]


@dataclass(frozen=True, kw_only=True)
class RoughRoad(Pad):
    """A rough part with level ground before and behind; its first and last 10 m fade."""

    length_m: float = same_setting(Pad, "length_m", default=360.0)
    width_m: float = same_setting(Pad, "width_m", default=8.0)
    resolution_m: float = same_setting(Pad, "resolution_m", default=0.05)
    at_m: float = setting(30.0, "x where the rough part begins", unit="m", minimum=5.0, maximum=1e4)
    rough_length_m: float = setting(300.0, "Length of the rough part", unit="m", minimum=30.0, maximum=1e4)
    shortest_m: float = setting(0.35, "Wavelength of the shortest waves", unit="m", minimum=0.02, maximum=100.0)
    longest_m: float = setting(90.0, "Wavelength of the longest waves", unit="m", minimum=0.1, maximum=1000.0)

    def __post_init__(self) -> None:
        if self.at_m + self.rough_length_m > self.end_m:
            least = self.length_m + self.at_m + self.rough_length_m - self.end_m
            raise ValueError(f"length_m: must be at least {least:g}, got {self.length_m:g}")
        if self.shortest_m < 4.0 * self.resolution_m:
            raise ValueError(
                f"shortest_m: must be at least four cells ({4.0 * self.resolution_m:g}), got {self.shortest_m:g}"
            )
        if not self.shortest_m < self.longest_m <= self.rough_length_m:
            raise ValueError(
                f"longest_m: must be above shortest_m ({self.shortest_m:g}) and at most rough_length_m"
                f" ({self.rough_length_m:g}), got {self.longest_m:g}"
            )

    def _waves(self, random: np.random.Generator, spectrum: Spectrum) -> NDArray[np.complex128]:
        """Fourier coefficients of a profile of the rough part that has the spectrum between the two wavelengths."""
        count = self._count
        wave_numbers: Array = np.fft.rfftfreq(count, self.resolution_m).astype(np.float64)
        phases = random.uniform(0.0, 2.0 * math.pi, len(wave_numbers))
        inside = (wave_numbers >= 1.0 / self.longest_m - 1e-9) & (wave_numbers <= 1.0 / self.shortest_m)
        amplitudes = np.zeros(len(wave_numbers))
        # A wave of amplitude A has the mean square A^2/2, which is the density times the spacing of wave numbers.
        amplitudes[inside] = np.sqrt(2.0 * spectrum(wave_numbers[inside]) * wave_numbers[1])
        return np.asarray(0.5 * count * amplitudes * np.exp(1j * phases))

    def _profile(self, waves: NDArray[np.complex128]) -> Array:
        return np.asarray(np.fft.irfft(waves, self._count))

    @property
    def _count(self) -> int:
        return 2 * round(0.5 * self.rough_length_m / self.resolution_m)

    def _rough_world(self, site: Site, left: Array, right: Array, track: float) -> World:
        """Profiles at half the track [m] to the left and right; straight between them, and level beyond."""
        along = self.resolution_m * np.arange(self._count)
        from_ends = np.minimum(along, along[-1] - along)
        fade = 0.5 * (1.0 - np.cos(math.pi * np.clip(from_ends / FADE_M, 0.0, 1.0)))

        def height(x: Array, y: Array) -> Array:
            share = np.clip(0.5 + y / track, 0.0, 1.0)
            profile = fade * (share * left + (1.0 - share) * right)
            return np.asarray(np.interp(x - self.at_m, along, profile, left=0.0, right=0.0))

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class RandomRoad(RoughRoad):
    """A random road of a class of ISO 8608, with waviness 2; left and right differ more, the shorter the waves."""

    road_class: str = setting("C", "Class of roughness, A is the smoothest", choices=CLASSES)
    track_m: float = setting(1.82, "Distance of the left from the right profile", unit="m", minimum=0.2, maximum=10.0)
    same_sides: bool = setting(False, "Left and right profile are the same")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        roughness = CLASS_A * STEP_OF_CLASSES ** CLASSES.index(self.road_class)
        left, other = (
            self._waves(site.random, lambda n: roughness * (n / REFERENCE_WAVE_NUMBER) ** -2.0) for _ in "lr"
        )
        coherence = 1.0 if self.same_sides else self._coherence()
        right = coherence * left + np.sqrt(1.0 - coherence**2) * other
        return self._rough_world(site, self._profile(left), self._profile(right), self.track_m)

    def _coherence(self) -> Array:
        """Coherence of left and right at each wave number; classes beyond the fit have that of the roughest in it."""
        limit, exponent = COHERENCE.get(self.road_class, COHERENCE[ROUGHEST_FIT])
        angular = 2.0 * math.pi * np.fft.rfftfreq(self._count, self.resolution_m)
        return np.asarray((1.0 + (angular * self.track_m / limit) ** 2) ** -exponent)


@dataclass(frozen=True, kw_only=True)
class RmsCourse(RoughRoad):
    """A ride course by the root mean square of its heights about their trend; left and right are the same.

    The trend of ride courses is that of 60 ft: no wave is longer.
    """

    longest_m: float = same_setting(RoughRoad, "longest_m", default=60.0 * FOOT)
    rms_m: float = setting(
        INCH, "Root mean square of the heights; 0.0254 m is an inch", unit="m", minimum=0.001, maximum=0.3
    )
    slope: float = setting(
        2.5,
        "Power of the wave number by which the density falls; 2.1 to 3.6 on measured courses",
        minimum=0.0,
        maximum=6.0,
    )

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        profile = self._profile(self._waves(site.random, lambda n: n**-self.slope))
        profile *= self.rms_m / profile.std()
        return self._rough_world(site, profile, profile, 1.0)
