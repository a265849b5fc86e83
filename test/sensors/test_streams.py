"""Random numbers: each purpose has its own, the same in every run and on every machine."""

from __future__ import annotations

import numpy as np

from sensors.streams import stream


def test_the_same_names_give_the_same_numbers() -> None:
    assert (stream(7, "imu", "noise").normal(size=100) == stream(7, "imu", "noise").normal(size=100)).all()


def test_every_name_and_seed_gives_different_numbers() -> None:
    names = [("imu", "noise"), ("imu", "drift"), ("gps", "noise"), ("imunoise",), ("imu",)]
    numbers = {stream(seed, *words).integers(2**63) for seed in (7, 8) for words in names}

    assert len(numbers) == 2 * len(names)


def test_streams_of_neighbouring_seeds_and_names_are_not_correlated() -> None:
    count = 10_000
    streams = [stream(seed, name).normal(size=count) for seed in (1, 2) for name in ("a", "b")]

    found = np.corrcoef(streams) - np.eye(4)
    assert np.abs(found).max() < 3.9 / np.sqrt(count)  # six pairs, 99.9 %


def test_numbers_do_not_change_between_versions_and_machines() -> None:
    # Recorded once; another value would change every recorded run of every user.
    assert stream(1, "imu", "noise").integers(2**32) == 2_279_839_532
