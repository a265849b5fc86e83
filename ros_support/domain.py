"""A ROS domain of one's own, for tests and benchmarks that must not meet other nodes on this machine."""

from __future__ import annotations

import contextlib
import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

DOMAINS = range(1, 102)  # above 101 the ports of Fast DDS run into those that Linux hands out by itself


@contextlib.contextmanager
def private_domain() -> Iterator[dict[str, str]]:
    """Environment variables of a domain that no other user of this function has, on this machine only."""
    folder = Path(tempfile.gettempdir()) / "proving_ground_domains"
    folder.mkdir(mode=0o777, exist_ok=True)
    for number in reversed(DOMAINS):  # people pick low ones
        with contextlib.ExitStack() as stack:
            try:
                lock = stack.enter_context((folder / str(number)).open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # taken by another process, or another user's file
                continue
            yield {
                "ROS_DOMAIN_ID": str(number),
                "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
                # Shared memory of a killed process would linger; sockets do not.
                "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
            }
            return
    raise RuntimeError(f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use")
