"""Wheels and soils for contact tests; an alarm for tests of files that could block for ever."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from proving_ground.settings.share import share_file
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.contact import tyre_record


@pytest.fixture(scope="session")
def vehicle_parameters() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))


@pytest.fixture
def tyre(vehicle_parameters: VehicleParameters) -> Any:
    """The HMMWV's tyre as its own record, without rolling resistance: only the soil's is measured."""
    record = tyre_record(vehicle_parameters).copy()
    record["rolling_resistance"] = 0.0
    return record


@pytest.fixture
def alarm() -> Callable[[float], AbstractContextManager[None]]:
    """Ends a wait after this many seconds that would otherwise block for ever; not a performance test."""

    @contextmanager
    def ringing_after(seconds: float) -> Iterator[None]:
        def ring(*_: object) -> None:
            raise TimeoutError(f"still waiting after {seconds:g} s")

        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)

    return ringing_after
