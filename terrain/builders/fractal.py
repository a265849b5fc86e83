"""Random fields on a grid: self-similar noise, and points with a minimum spacing."""

from __future__ import annotations

import numpy as np

from terrain.elevation_map import Array


def fractal_field(
    random: np.random.Generator,
    shape: tuple[int, int],
    resolution: float,
    *,
    longest: float,
    shortest: float,
    hurst: float,
) -> Array:
    """A random surface of mean 0 and standard deviation 1, by spectral synthesis (Voss 1985).

    shape: rows and columns; resolution: their distance [m]; longest, shortest: limits of the wavelengths [m].
    Waves have amplitudes that fall with frequency f as f^-(hurst + 1): a
    Hurst exponent near 1 gives smooth hills, one near 0 rough ground. The field is periodic.
    """
    rows, columns = shape
    along = np.fft.rfftfreq(columns, resolution)
    across = np.fft.fftfreq(rows, resolution)[:, None]
    frequency = np.hypot(along, across)
    frequency[0, 0] = 1.0  # the mean, which is removed below
    amplitude = frequency ** -(hurst + 1.0)
    # Smooth band edges: sharp ones would ring.
    amplitude *= np.exp(-((frequency * shortest) ** 2)) * -np.expm1(-((frequency * longest) ** 4))
    amplitude[0, 0] = 0.0
    spectrum = np.fft.rfft2(random.standard_normal(shape)) * amplitude
    field = np.fft.irfft2(spectrum, shape)
    deviation = field.std()
    return np.asarray(field / deviation if deviation > 0.0 else field)


def scattered(
    random: np.random.Generator, count: int, low: Array, high: Array, spacing: float, weight: Array | None = None
) -> Array:
    """Up to `count` points (n x 2 [m]) in the rectangle from low to high (x, y [m]), no two closer than spacing [m].

    A weight (rows and columns over the rectangle, 0 to 1) makes points likelier where it is high.
    """
    chosen: list[Array] = []
    size = max(spacing, 1e-6)
    taken: dict[tuple[int, int], list[Array]] = {}
    tries = 30 * count
    for position, chance in zip(random.uniform(low, high, (tries, 2)), random.random(tries), strict=True):
        if len(chosen) == count:
            break
        if weight is not None:
            column, row = ((position - low) / (high - low) * weight.shape[::-1]).astype(int)
            if chance > weight[row, column]:
                continue
        cell = (int(position[0] // size), int(position[1] // size))
        around = [taken.get((cell[0] + i, cell[1] + j), []) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        if all(np.hypot(*(position - other)) >= spacing for others in around for other in others):
            taken.setdefault(cell, []).append(position)
            chosen.append(position)
    return np.array(chosen).reshape(-1, 2)
