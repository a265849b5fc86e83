"""Faults of the LIDAR, its seeds, invalid inputs, jumps in time, and changes while it runs."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from ideal_lidar import EXACT, PERIOD_NS, START_NS, TICK_NS, at, driven, ideal, ring_around, standing, wall_at
from sensors.faults import Fault
from sensors.lidar.lidar import Lidar
from sensors.samples import LidarScan

NOISY = ideal(range_noise_m=0.02, weak_signal=0.3)


def noisy_scans(faults: Iterable[Fault] = (), name: str = "lidar", seed: int = 5) -> list[LidarScan]:
    lidar = Lidar(NOISY, ring_around(30.0), seed=seed, name=name, faults=faults, start_ns=START_NS)
    return driven(lidar, standing, 1.05)


def test_the_same_seed_gives_the_same_scans_to_the_bit_and_another_does_not() -> None:
    one, two, other = noisy_scans(), noisy_scans(), noisy_scans(seed=6)
    assert [scan.points.tobytes() for scan in one] == [scan.points.tobytes() for scan in two]
    assert one[0].ranges.tobytes() != other[0].ranges.tobytes()
    assert one[0].ranges.tobytes() != noisy_scans(name="lidar_rear")[0].ranges.tobytes()
    assert one[0].ranges.tobytes() != one[1].ranges.tobytes()


def test_reset_repeats_the_same_scans() -> None:
    lidar = Lidar(NOISY, ring_around(30.0), seed=5)
    before = driven(lidar, standing, 0.35)
    lidar.reset()
    after = driven(lidar, standing, 0.35)
    assert [scan.points.tobytes() for scan in before] == [scan.points.tobytes() for scan in after]


def test_another_sensor_in_the_same_scene_changes_nothing() -> None:
    scene = ring_around(30.0)
    one, other = Lidar(NOISY, scene, seed=5), Lidar(NOISY, scene, seed=5, name="lidar_rear")
    scans: list[LidarScan] = []
    for tick in range(106):
        other.update(START_NS + tick * TICK_NS, at())
        scans += one.update(START_NS + tick * TICK_NS, at())
    assert [scan.points.tobytes() for scan in scans] == [scan.points.tobytes() for scan in noisy_scans()]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="nan", start_s=0.25, length_s=0.3),
        Fault(kind="bias", start_s=0.25, length_s=0.3, value=1.0),
        Fault(kind="noise", start_s=0.25, length_s=0.3, value=1.0),
        Fault(kind="freeze", start_s=0.25, length_s=0.3),
        Fault(kind="outage", start_s=0.25, length_s=0.3),
        Fault(kind="scale", start_s=0.25, length_s=0.3, value=0.0),
    ],
    ids=lambda fault: fault.kind,
)
def test_faults_affect_the_scans_of_their_time_and_no_others_to_the_bit(fault: Fault) -> None:
    sound = {scan.time_ns: scan for scan in noisy_scans()}
    broken = {scan.time_ns: scan for scan in noisy_scans([fault])}

    hit = [time_ns for time_ns in sound if fault.is_on((time_ns - START_NS) * 1e-9)]
    assert [round((time_ns - START_NS) * 1e-9, 3) for time_ns in hit] == [0.3, 0.4, 0.5]
    for time_ns in set(sound) - set(hit):
        assert broken[time_ns].points.tobytes() == sound[time_ns].points.tobytes()
    if fault.kind == "outage":
        assert not set(hit) & set(broken)
        return
    before = sound[START_NS + 2 * PERIOD_NS]
    for time_ns in hit:
        scan, true = broken[time_ns], sound[time_ns]
        assert len(scan.points) == np.isfinite(scan.ranges).sum()
        returned = np.isfinite(true.ranges)
        if fault.kind == "nan":
            assert np.isnan(scan.ranges).all()
        elif fault.kind == "bias":
            np.testing.assert_allclose(scan.ranges[returned], true.ranges[returned] + 1.0, atol=1e-5)
        elif fault.kind == "noise":
            # 99.9 % interval of a deviation from about 1000 samples.
            deviation = (scan.ranges[returned] - true.ranges[returned]).std()
            assert abs(deviation - 1.0) < 3.29 / math.sqrt(2 * returned.sum())
        elif fault.kind == "freeze":
            assert scan.ranges.tobytes() == before.ranges.tobytes()
            assert scan.points.tobytes() == before.points.tobytes(), "intensities too"
        else:
            assert (scan.ranges[returned] == -np.inf).all(), "0 m is too near"
            assert (scan.ranges[~returned] == np.inf).all(), "rays without return stay without"


@pytest.mark.parametrize("deskew", [False, True])
def test_a_frozen_scanner_repeats_its_cloud_whatever_the_vehicle_does(deskew: bool) -> None:
    settings = ideal(deskew=deskew, range_noise_m=0.02, weak_signal=0.3)
    freeze = Fault(kind="freeze", start_s=0.2)
    lidar = Lidar(settings, wall_at(50.0), faults=[freeze], start_ns=START_NS)

    scans = driven(lidar, lambda t: ((30.0 * t * t, 0.0, 2.0), 2.0 * t * t), 0.65)

    assert len({scan.time_ns for scan in scans}) == len(scans) == 6
    assert scans[0].points.tobytes() != scans[1].points.tobytes()
    assert {scan.points.tobytes() for scan in scans[2:]} == {scans[1].points.tobytes()}
    assert {scan.ranges.tobytes() for scan in scans[2:]} == {scans[1].ranges.tobytes()}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_rays_without_return_stay_without_when_ranges_are_scaled(value: float) -> None:
    lidar = Lidar(ideal(), wall_at(50.0), faults=[Fault(kind="scale", value=value)], start_ns=START_NS)
    scan = driven(lidar, standing)[0]

    assert set(np.unique(scan.ranges)) == {-np.inf, np.inf}
    assert len(scan.points) == 0


def test_a_delayed_scan_keeps_its_stamp() -> None:
    lidar = Lidar(NOISY, ring_around(30.0), faults=[Fault(kind="delay", value=0.05)], start_ns=START_NS)
    arrivals = {}
    for tick in range(40):
        for scan in lidar.update(START_NS + tick * TICK_NS, at()):
            arrivals[scan.time_ns - START_NS] = tick * TICK_NS
    assert arrivals == {0: 150_000_000, PERIOD_NS: 250_000_000, 2 * PERIOD_NS: 350_000_000}


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_truth_that_is_not_finite_is_rejected_without_effect(bad: float) -> None:
    def scans(with_bad: bool) -> list[bytes]:
        lidar = Lidar(NOISY, ring_around(30.0), seed=5)
        found = []
        for tick in range(30):
            if with_bad and tick % 7 == 0:
                broken = at(x=bad) if tick else at()._replace(attitude=(bad, 0.0, 0.0, 1.0))
                with pytest.raises(ValueError, match=r"base motion: \w+ must be finite"):
                    lidar.update(START_NS + tick * TICK_NS - 1, broken)
            found += lidar.update(START_NS + tick * TICK_NS, at(x=0.1 * tick))
        return [scan.points.tobytes() for scan in found]

    assert scans(with_bad=True) == scans(with_bad=False)


@pytest.mark.parametrize("jump_ns", [-5_000_000_000, 3_600_000_000_000], ids=["back", "ahead"])
def test_sweeps_restart_after_a_jump_in_time(jump_ns: int) -> None:
    lidar = Lidar(ideal(), ring_around(30.0))
    for tick in range(15):
        lidar.update(START_NS + tick * TICK_NS, at())
    scans: list[LidarScan] = []
    for tick in range(15, 40):
        scans += lidar.update(START_NS + jump_ns + tick * TICK_NS, at())
    assert [scan.time_ns - START_NS - jump_ns for scan in scans] == [2 * PERIOD_NS]
    assert np.isfinite(scans[0].ranges).all()


def test_settings_can_change_while_running() -> None:
    lidar = Lidar(ideal(), ring_around(30.0))
    before = driven(lidar, standing, 0.1)
    lidar.change(ideal(max_range_m=32.0, fault="bias", fault_value=1.0))
    after = [scan for tick in range(11, 31) for scan in lidar.update(START_NS + tick * TICK_NS, at())]
    assert np.isfinite(before[0].ranges[1]).all()
    level = after[-1].ranges[1]
    assert np.isinf(level[45])  # a corner of the square, 42 m away
    assert level[180] == pytest.approx(31.0, abs=EXACT)
