"""Heightmaps as greyscale PNG: black is the lowest height, white the highest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from proving_ground.settings.files import whole_file
from terrain.elevation_map import ElevationMap
from terrain.formats.images import height_image, pixels
from terrain.limits import file_error
from terrain.raw_grid import RawGrid

WHITE_OF_16_BITS = 65535


def load_heightmap_png(path: Path, *, low: float, high: float, resolution: float) -> RawGrid:
    """Read a greyscale image of 8 or 16 bits; low, high: heights of black and white [m]; resolution: of pixels [m]."""
    with height_image(path, "PNG") as image:
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError(f"height of white must be above that of black, got {high:g} and {low:g}")
        white = 255 if image.mode == "L" else WHITE_OF_16_BITS
        heights = (low + (high - low) / white * pixels(image).astype(np.float64)).astype(np.float32)
        return RawGrid(heights=heights, resolution=resolution)


def save_heightmap_png(ground: ElevationMap, path: Path) -> tuple[float, float]:
    """Write 16 bits of grey; returns the heights [m] of black and white, which the file cannot store."""
    low, high = float(ground.heights.min()), float(ground.heights.max())
    if low == high:
        high = low + 1.0
    grey = np.rint((ground.heights[::-1].astype(np.float64) - low) * (WHITE_OF_16_BITS / (high - low)))
    with whole_file(path) as file:
        try:
            Image.fromarray(grey.astype(np.uint16)).save(file, "PNG")
        except ValueError as error:
            raise file_error(path, error) from None
    return low, high
