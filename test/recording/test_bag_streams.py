"""Pairs of messages, stamps and topics of bags that are read as samples."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.sensor_codec import fill_imu
from proving_ground.interfaces.synchronisers import PATIENCE_NS, PairSynchroniser
from proving_ground.recording.reading import open_bag
from proving_ground.recording.stream import Stream
from proving_ground.recording.topics import choose_topics
from proving_ground.recording.types import empty
from proving_ground.recording.writing import BagWriter
from some_samples import NOW_NS, imu


class Timed(NamedTuple):
    time_ns: int


def test_a_pair_is_complete_as_soon_as_its_second_comes() -> None:
    synchroniser: PairSynchroniser[Timed, Timed] = PairSynchroniser(10, has_second=True)
    assert synchroniser.first(100, Timed(100)) == []
    assert synchroniser.second(101, Timed(100)) == [(Timed(100), Timed(100))]


def test_a_first_whose_second_never_comes_goes_alone() -> None:
    synchroniser: PairSynchroniser[Timed, Timed] = PairSynchroniser(10, has_second=True)
    synchroniser.second(0, Timed(5))
    assert synchroniser.first(100, Timed(100)) == []
    late = 101 + PATIENCE_NS
    assert synchroniser.first(late, Timed(late)) == [(Timed(100), None)]
    assert synchroniser.complete() == [(Timed(late), None)]


def test_the_nearest_of_several_is_paired() -> None:
    synchroniser: PairSynchroniser[Timed, Timed] = PairSynchroniser(10, has_second=True)
    for time_ns in (90, 97, 105):
        synchroniser.second(0, Timed(time_ns))
    assert synchroniser.first(0, Timed(100)) == [(Timed(100), Timed(97))]


def test_without_seconds_nobody_waits() -> None:
    synchroniser: PairSynchroniser[Timed, Timed] = PairSynchroniser(10, has_second=False)
    assert synchroniser.first(0, Timed(100)) == [(Timed(100), None)]


def _imu_bag(path: Path, times: list[tuple[int, int]]) -> Stream:
    with BagWriter(path) as writer:
        for time_ns, log_ns in times:
            message = empty(types.IMU, "a")
            fill_imu(message, imu()._replace(time_ns=time_ns), has_attitude=False)
            writer.write("/imu/data_raw", message, log_ns)
    return Stream(open_bag(path), {"imu": "/imu/data_raw"})


def test_an_absurd_stamp_is_rejected_and_all_others_accepted(tmp_path: Path) -> None:
    times = [(NOW_NS + k, NOW_NS + k) for k in range(40)]
    times[20] = (NOW_NS + 3600 * 10**9, NOW_NS + 20)
    times[30] = (7, NOW_NS + 30)

    found = _imu_bag(tmp_path / "b", times)

    assert len(list(found)) == 38
    assert found.rejected == {"/imu/data_raw: absurd stamp": 2}


def test_a_permanent_time_jump_is_accepted(tmp_path: Path) -> None:
    before = [(NOW_NS + k, NOW_NS + k) for k in range(100)]
    after = [(NOW_NS - 3600 * 10**9 + k, NOW_NS + 100 + k) for k in range(60)]

    found = list(_imu_bag(tmp_path / "b", before + after))

    assert len(found) == 160 - 19
    assert found[-1].item.time_ns == after[-1][0]


def test_stamps_of_a_simulation_are_not_of_the_clock_of_arrival(tmp_path: Path) -> None:
    assert _imu_bag(tmp_path / "a", [(NOW_NS, NOW_NS + 5_000_000)]).is_one_clock
    assert not _imu_bag(tmp_path / "b", [(12_500_000_000, NOW_NS)]).is_one_clock


def test_topics_are_found_by_type_and_missing_ones_are_reported() -> None:
    there = {"/x/imu": types.IMU, "/ublox/fix": types.FIX, "/odom_twist": types.VELOCITY, "/js": types.JOINTS}
    said: list[str] = []

    chosen = choose_topics(there, {"wheels": "/js"}, said.append)

    assert chosen == {"imu": "/x/imu", "fix": "/ublox/fix", "wheels": "/js"}
    assert "velocity: the bag has no /gps/vel; of its type are /odom_twist, choose with --velocity" in said
    assert "truth: the bag has no /ground_truth/odom" in said


def test_a_topic_of_a_wrong_type_is_reported_and_not_used() -> None:
    said: list[str] = []
    assert choose_topics({"/gps/fix": types.IMU}, {"fix": "/gps/fix", "imu": "/nowhere"}, said.append) == {}
    assert "fix: /gps/fix is of type sensor_msgs/msg/Imu, not sensor_msgs/msg/NavSatFix; it is not used" in said
    assert "imu: the bag has no /nowhere" in said
