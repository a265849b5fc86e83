"""The QoS profiles of the suite, declared once; ros_support.qos and recording.types convert them."""

from __future__ import annotations

from typing import Final, NamedTuple


class Profile(NamedTuple):
    """Quality of service of a topic; all profiles keep the last `depth` messages."""

    name: str
    depth: int
    is_reliable: bool
    is_latched: bool = False  # transient local: a late subscriber gets the last messages

    @property
    def words(self) -> str:
        """The profile as text, for the page of topics."""
        parts = ["reliable" if self.is_reliable else "best effort", "transient local" if self.is_latched else ""]
        return ", ".join([*filter(None, parts), f"depth {self.depth}"])


SENSOR: Final = Profile("sensor", 5, is_reliable=False)  # to listen to sensors of others, which may be best effort
SAMPLES: Final = Profile("samples", 50, is_reliable=True)  # of our sensors: received by subscribers of either kind
CLOUDS: Final = Profile("clouds", 5, is_reliable=True)  # a megabyte each
TRUTH: Final = Profile("truth", 256, is_reliable=True)  # more instants than anybody may lag behind
REPORTS: Final = Profile("reports", 256, is_reliable=True)  # not latched: that acknowledges each
RELIABLE: Final = Profile("reliable", 10, is_reliable=True)  # commands and state
LATCHED: Final = Profile("latched", 1, is_reliable=True, is_latched=True)  # maps, robot description, tf_static
TF: Final = Profile("tf", 100, is_reliable=True)
CLOCK: Final = Profile("clock", 1, is_reliable=False)

PROFILES: Final = (SENSOR, SAMPLES, CLOUDS, TRUTH, REPORTS, RELIABLE, LATCHED, TF, CLOCK)
