"""Random numbers: one stream per sensor and purpose, independent of everything else in a scenario."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """The random stream of a purpose, as in stream(7, "gps", "noise"); each combination has its own.

    >>> bool(stream(7, "gps", "noise").normal() == stream(7, "gps", "noise").normal())
    True
    """
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    words = np.frombuffer(digest, "<u4").tolist()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words])))
