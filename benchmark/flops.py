"""Counts the floating-point operations of one evaluation of the vehicle's kernel.

`python -m benchmark.flops` runs the kernel as plain Python, not compiled, on numbers that count their operations.
Divisions, square roots, sines and cosines count as one.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from proving_ground.settings.share import share_file


def counted_flops() -> int:
    """Operations of one evaluation, from a run of this module without compilation."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run(
        [sys.executable, "-m", "benchmark.flops"], env=environment, check=True, capture_output=True, text=True
    )
    return int(json.loads(result.stdout))


class Counted(float):
    """A number that counts the operations it takes part in."""

    total = 0
    __array_ufunc__ = None  # numpy's own numbers leave the operation to us


def _count(name: str) -> None:
    plain = getattr(float, name)

    def counting(self: Counted, *others: Any) -> Any:
        value = plain(self, *(float(other) for other in others))
        Counted.total += 1
        return Counted(value)

    setattr(Counted, name, counting)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    _count(f"__{_name}__")


def _counted(value: Any) -> Any:
    """Records, arrays, tuples and floats, with all numbers counting."""
    if isinstance(value, np.void):
        return SimpleNamespace(**{name: _counted(value[name]) for name in value.dtype.names or ()})
    if isinstance(value, np.ndarray):
        if value.dtype.names:
            return [_counted(item) for item in value]
        return _Grid([Counted(item) for item in value.ravel()], value.shape)
    if isinstance(value, tuple):
        items = [_counted(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, float | np.floating):
        return Counted(value)
    return value


class _Grid:
    """An array of Python numbers, so that numpy does no arithmetic of its own."""

    def __init__(self, values: list[Any], shape: tuple[int, ...], start: int = 0) -> None:
        self.values, self.shape, self.start = values, shape, start

    def _start(self, key: Any) -> tuple[int, tuple[int, ...]]:
        keys = key if isinstance(key, tuple) else (key,)
        start, rest = self.start, self.shape
        for index in keys:
            rest = rest[1:]
            start += index * math.prod(rest)
        return start, rest

    def __getitem__(self, key: Any) -> Any:
        start, rest = self._start(key)
        return _Grid(self.values, rest, start) if rest else self.values[start]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            for start in range(self.start, self.start + math.prod(self.shape)):
                self.values[start] = Counted(value)
        else:
            self.values[self._start(key)[0]] = value

    def __len__(self) -> int:
        return self.shape[0]


def main() -> None:
    """Print the number of floating-point operations."""
    from vehicle_dynamics.embedded_vehicle import OUT_SIZE, forward_dynamics, vehicle_bodies, workspace
    from vehicle_dynamics.parameters import VehicleParameters
    from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion

    bodies = vehicle_bodies(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml")))
    random = np.random.default_rng(0)
    ends = np.zeros((4, 9))
    ends[:, :3] = bodies.corners["geometry"]["tie_inner"]
    motion = RigidMotion(
        tuple(random.normal(size=3)), random.uniform(-0.2, 0.2, 4), random.normal(size=4), random.normal(size=4)
    )
    loads = RigidLoads((0.0, 0.0, -9.81), np.zeros(4), np.zeros(4), random.normal(size=(4, 6)), np.zeros(6))
    arguments = (bodies, motion, ends, loads, workspace(), np.zeros(OUT_SIZE))
    counting = _counted(arguments)
    functions = {name: getattr(math, name) for name in ("cos", "sin", "sqrt")}
    for name, plain in functions.items():
        setattr(math, name, _counting_function(plain))
    Counted.total = 0
    forward_dynamics(*counting)
    print(json.dumps(Counted.total))


def _counting_function(plain: Any) -> Any:
    def counting(value: Any) -> Counted:
        Counted.total += 1
        return Counted(plain(value))

    return counting


if __name__ == "__main__":
    main() if os.environ.get("NUMBA_DISABLE_JIT") else print(counted_flops())
