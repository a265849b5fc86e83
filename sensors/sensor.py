"""Common to all sensors: settings of rate, mount and delivery, and the processing chain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from proving_ground.settings.units import NS_PER_S
from sensors.faults import FAULTS, Fault, FaultLine, channel_mask
from sensors.mounting import Mount, Mounting
from sensors.timing import Delivery, Sampler
from vehicle_dynamics.equipment import Equipment

Array = NDArray[np.float64]
Sample = TypeVar("Sample")

AnySettings = TypeVar("AnySettings", bound="SensorSettings")

NO_FAULT = "none"


def rate(default_hz: float, highest_hz: float = 1000.0) -> float:
    """A setting of a sampling rate."""
    words = "Samples per simulated second"
    value: float = setting(default_hz, words, unit="Hz", minimum=0.1, maximum=highest_hz, read_only=True)
    return value


def gravity() -> float:
    """A setting of the gravitational acceleration, for sensors that feel it."""
    words = "Gravitational acceleration; must equal the vehicle model's"
    value: float = setting(9.81, words, unit="m/s^2", minimum=0.0, maximum=30.0, read_only=True)
    return value


@dataclass(frozen=True, kw_only=True)
class SensorSettings:
    """Settings of every sensor; each kind has its own defaults for some of these."""

    renamed: ClassVar[dict[str, str]] = {"mount_xyz_m": "mount.xyz_m", "mount_rpy_deg": "mount.rpy_deg"}
    presets: ClassVar[str] = ""  # folder of config/ with presets of the kind
    channels: ClassVar[Sequence[str]] = ()  # names of the elements of a reading

    rate_hz: float = rate(100.0)
    mount: Mount = field(default_factory=Mount)
    latency_s: float = setting(
        0.0, "Delay from measuring a sample to publishing it", unit="s", minimum=0.0, maximum=10.0
    )
    latency_jitter_s: float = setting(
        0.0, "Largest random delay added to latency_s, uniform from 0", unit="s", minimum=0.0, maximum=10.0
    )
    dropout: float = setting(
        0.0, "Share of samples that are lost at random; of a LIDAR, whole scans", minimum=0.0, maximum=1.0
    )
    fault: str = setting(
        NO_FAULT,
        "Fault injected from now on, until set to none; value is fault_value. "
        + "; ".join(f"{kind}: {words}" for kind, words in FAULTS.items()),
        choices=(NO_FAULT, *FAULTS),
    )
    fault_value: float = setting(
        0.0, "Size of the fault, in the SI unit of its channel: offset of bias and spike, offset per second of drift, "
        "standard deviation of noise; a factor for scale, the lost share for drop, seconds for delay and reorder",
        minimum=-1e9, maximum=1e9,
    )  # fmt: skip
    fault_channel: str = setting(
        "",
        "Channels that the fault affects, by how their names begin (gyro: gyro_x, gyro_y, gyro_z); empty: all; "
        "a wrong one is rejected with a list of the sensor's channels",
    )

    def __post_init__(self) -> None:
        self.present_fault()

    def present_fault(self) -> tuple[Fault, ...]:
        """The fault of the settings, active at all times."""
        try:
            if self.fault == NO_FAULT:
                if self.fault_channel:  # reject a wrong channel even while there is no fault
                    channel_mask(self.fault_channel, self.channels)
                return ()
            fault = Fault(kind=self.fault, value=self.fault_value, channel=self.fault_channel, length_s=math.inf)
            fault.mask(self.channels)
            return (fault,)
        except ValueError as error:
            raise ValueError(f"fault_{error}") from None

    def mounting(self) -> Mounting:
        """The sensor's mount in the form that computations use."""
        return self.mount.mounting()

    def fitted(self: AnySettings, kind: str, equipment: Equipment) -> AnySettings:
        """Settings with empty values filled in from the vehicle's file for this kind of sensor."""
        return replace(self, mount=self.mount.fitted(equipment.position(kind)))


Settings = TypeVar("Settings", bound=SensorSettings)


class Sensor(Stateful, Generic[Settings, Sample]):
    """Sampling, faults and delivery around the measurement of a kind of sensor.

    A kind calls `is_due`, `distorted` and `send` in its `update`, and returns what `arrived`.
    """

    STATE: ClassVar[tuple[str, ...]] = ("_sampler", "_faults", "_delivery")

    def __init__(
        self, settings: Settings, *, seed: int = 0, name: str, faults: Iterable[Fault] = (), start_ns: int = 0
    ) -> None:
        """name: selects the random streams; faults: scripted ones; start_ns: start of the run, from which they count.

        Raises ValueError for a fault of an unknown channel.
        """
        self.name, self.seed, self.settings = name, seed, settings
        self.mounting = settings.mounting()
        self._start_ns, self._scripted = start_ns, tuple(faults)
        self._sampler = Sampler(settings.rate_hz)
        self._faults = FaultLine((), settings.channels, seed, name)
        self._delivery: Delivery[Sample] = Delivery(self._faults, seed, name)
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Change settings while running: delivery and the present fault; kinds add their errors."""
        self.settings = settings
        self._faults.set((*self._scripted, *settings.present_fault()))
        self._delivery.latency_s = settings.latency_s
        self._delivery.jitter_s = settings.latency_jitter_s
        self._delivery.dropout = settings.dropout

    def reset(self) -> None:
        """Return to the initial state, random generators included."""
        for part in (self._sampler, self._faults, self._delivery):
            part.reset()

    @property
    def lost(self) -> int:
        """Number of samples that never arrived."""
        return self._delivery.lost

    def faults_at(self, time_ns: int) -> tuple[Fault, ...]:
        """Faults active at a time, scripted or by settings."""
        return self._faults.faults_at(self.seconds(time_ns))

    def seconds(self, time_ns: int) -> float:
        """A time [ns since 1970] as seconds since the start of the run."""
        return (time_ns - self._start_ns) / NS_PER_S

    def is_due(self, time_ns: int) -> bool:
        """Whether to sample at this instant."""
        return self._sampler.is_due(time_ns)

    def distorted(self, time_ns: int, reading: Array) -> Array:
        """The reading with the faults active at a time."""
        return self._faults.distort(self.seconds(time_ns), reading)

    def send(self, time_ns: int, sample: Sample) -> None:
        """Send a sample; it arrives after its latency."""
        self._delivery.send(time_ns, self.seconds(time_ns), sample)

    def next_arrival_ns(self, now_ns: int) -> int:
        """Earliest time at which another sample can arrive; now_ns: the instant whose truth was processed last."""
        return self._delivery.next_ns(self._sampler.next_ns(now_ns))

    def arrived(self, now_ns: int) -> list[Sample]:
        """Samples that have arrived by now."""
        return self._delivery.arrived(now_ns)
