"""Files as written by common tools."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

Tags = dict[int, Any]
GEO_KEYS = 34735
DOUBLE, SHORT, TEXT = 12, 3, 2


@pytest.fixture
def write_tiff(tmp_path: Path) -> Callable[[Tags], Path]:
    """Writes a TIFF of 3 x 4 float heights with some tags."""

    def write(tags: Tags) -> Path:
        table = TiffImagePlugin.ImageFileDirectory_v2()
        for tag, value in tags.items():
            table[tag] = value
            table.tagtype[tag] = TEXT if isinstance(value, str) else SHORT if tag == GEO_KEYS else DOUBLE
        path = tmp_path / "made.tif"
        Image.fromarray(np.arange(12, dtype=np.float32).reshape(3, 4)).save(path, tiffinfo=table)
        return path

    return write


@pytest.fixture
def write_int16_tiff(tmp_path: Path) -> Callable[[Any], Path]:
    """Writes signed 16-bit heights, as in most elevation models; Pillow cannot write them."""

    def write(heights: Any) -> Path:
        rows, columns = heights.shape
        data = heights.astype("<i2").tobytes()
        entries = [(256, columns), (257, rows), (258, 16), (259, 1), (262, 1), (273, 8), (277, 1), (278, rows)]
        entries += [(279, len(data)), (339, 2)]
        table = b"".join(struct.pack("<HHII", tag, 4 if tag in (273, 279) else 3, 1, value) for tag, value in entries)
        path = tmp_path / "signed.tif"
        start = struct.pack("<2sHI", b"II", 42, 8 + len(data))
        path.write_bytes(start + data + struct.pack("<H", len(entries)) + table + struct.pack("<I", 0))
        return path

    return write
