"""A private ROS domain, for tests and benchmarks that must not meet other nodes on this machine."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

DOMAINS = range(1, 102)  # above 101 the ports of Fast DDS run into Linux's ephemeral range


@contextlib.contextmanager
def private_domain() -> Iterator[dict[str, str]]:
    """Environment variables of a domain that no other user of this function has, on this machine only."""
    for number in reversed(DOMAINS):  # users pick low ones
        # An abstract socket is a lock without a file, valid for all users and released with its process.
        with socket.socket(socket.AF_UNIX) as lock:
            try:
                lock.bind(f"\0proving_ground_domain_{number}")
            except OSError:  # in use
                continue
            yield {
                "ROS_DOMAIN_ID": str(number),
                "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
                # Shared memory of a killed process would linger; sockets do not.
                "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
            }
            return
    raise RuntimeError(f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use")
