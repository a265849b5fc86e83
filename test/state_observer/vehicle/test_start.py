"""Initial pose of observers, and their status until then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmark.observer_drives import START_NS, altered
from sensors.samples import GpsSample
from state_observer.kinds import VEHICLE
from state_observer.vehicle.drive import Drive
from state_observer.vehicle.health import ALIGNED, STARTING
from state_observer.vehicle.observer import InsObserver, VehicleObserver
from state_observer.vehicle.settings import VehicleObserverSettings
from state_observer.vehicle.track import errors, observe
from state_observer.vehicle.validation import Sample
from terrain.ruts import press, rut_depth
from terrain.world_ground import WorldGround
from terrain.worlds import load_world

NS = 1_000_000_000


def test_a_standing_vehicle_has_no_heading_and_waits(block_samples: list[Sample], observer: VehicleObserver) -> None:
    for sample in block_samples:
        if sample.time_ns > START_NS + 3 * NS:
            break
        observer.process(sample)
    assert observer.health().status == STARTING
    with pytest.raises(ValueError, match="has not started"):
        observer.forces()


def test_it_starts_within_a_second_of_moving_off_and_soon_aligns(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver
) -> None:
    track = observe(block_samples, observer)
    moves = float(np.argmax(block.velocity[:, 0] > 0.5)) * 0.01
    found = errors(track, block)
    assert found.seconds[0] < moves + 1.0
    assert np.abs(np.degrees(found.after(moves + 3.0).yaw)).max() < 1.5
    assert track.health.status == ALIGNED


def test_gyroscope_bias_is_found_at_standstill(block_samples: list[Sample], observer: VehicleObserver) -> None:
    track = observe(block_samples, observer)
    still = [sample.angular_velocity for sample in block_samples[:500] if hasattr(sample, "angular_velocity")]
    np.testing.assert_allclose(track.estimates["gyro_bias"][0], np.mean(still, axis=0), atol=5e-4)


def test_two_fixes_give_a_heading_when_the_receiver_has_no_velocity(
    block: Drive, settings: VehicleObserverSettings, rtk_samples: list[Sample]
) -> None:
    """[Sanjurjo] Section 5.5; RTK, because cheap fixes would have to be forty metres apart."""

    def mute(fix: Any) -> Any:
        return fix._replace(velocity=np.zeros(3), velocity_variance=np.full(3, 1e8))

    observer = VehicleObserver(settings)
    found = errors(observe(altered(rtk_samples, GpsSample, 0.0, 40.0, mute), observer), block)
    assert np.degrees(np.abs(found.yaw[0])) < 3.0
    assert np.degrees(found.after(10.0).yaw_rmse) < 1.0


@pytest.mark.parametrize("kind", ["errorEKF", "INS"])
def test_it_starts_while_driving(
    block: Drive, block_samples: list[Sample], observer: VehicleObserver, ins: InsObserver, kind: str
) -> None:
    chosen = observer if kind == "errorEKF" else ins
    found = errors(observe([s for s in block_samples if s.time_ns > START_NS + 10 * NS], chosen), block)
    assert found.seconds[0] < 10.6
    assert np.degrees(found.after(13.0).yaw_rmse) < 2.0
    assert found.after(13.0).horizontal_rmse < 1.2


def test_a_pose_can_be_given(block: Drive, block_samples: list[Sample], settings: Any) -> None:
    observer = VehicleObserver(settings)
    assert not observer.set_pose(0.0, 0.0, 0.0).is_accepted  # no time yet
    for sample in block_samples[:200]:
        observer.process(sample)
    x, y, _ = block.position[0].tolist()
    assert not observer.set_pose(x, float("nan"), 0.0).is_accepted
    assert observer.set_pose(x, y, float(block.yaw[0]), position_variance=0.01, heading_variance=1e-3).is_accepted
    np.testing.assert_allclose(observer.estimate()["position"][:2], [x, y], atol=1e-3)
    track = observe(block_samples[200:], observer)
    assert errors(track, block).horizontal_rmse < 0.5


def test_without_a_datum_the_first_fix_is_the_origin(
    block_samples: list[Sample], settings: VehicleObserverSettings
) -> None:
    observer = VehicleObserver(replace(settings, datum=None))
    track = observe(block_samples, observer)
    assert np.abs(track.estimates["position"][0, :2]).max() < 8.0  # a fix has an error of 1.3 m, and it waited


def test_an_estimate_at_a_later_time_does_not_change_the_filter(
    block_samples: list[Sample], observer: VehicleObserver
) -> None:
    for sample in block_samples[:2000]:
        observer.process(sample)
    before = observer.filter.filter_state.tobytes()
    now, ahead = observer.estimate(), observer.estimate(observer.filter.time_ns + 30_000_000)
    went = np.hypot(*(ahead["position"] - now["position"])[:2])
    assert went == pytest.approx(0.03 * np.hypot(*now["velocity"][:2]), rel=0.1)
    assert observer.filter.filter_state.tobytes() == before


def test_predicting_ahead_of_samples_gives_the_same_estimate_to_the_bit(
    block_samples: list[Sample], observer: VehicleObserver
) -> None:
    chosen = block_samples[:2000]
    end = chosen[-1].time_ns + 60_000_000
    for sample in chosen:
        observer.process(sample)
    observer.advance_to(end)
    plain = observer.filter.filter_state.tobytes()
    observer.reset()
    for sample in chosen:
        if observer.filter.time_ns and sample.time_ns > observer.filter.time_ns and sample.time_ns % 50_000_000 == 0:
            observer.advance_to(sample.time_ns + 20_000_000)
        observer.process(sample)
    observer.advance_to(end)
    assert observer.filter.filter_state.tobytes() == plain


def test_reset_restores_ground_without_ruts() -> None:
    ground = WorldGround.of(load_world("off_road"))
    observer = VehicleObserver(VEHICLE.load(), ground=ground)
    ruts = ground.kernel().ruts
    press(ruts, 1.0, 2.0, 0.05)
    assert rut_depth(ruts, 1.0, 2.0) > 0.0
    observer.reset()
    assert rut_depth(ruts, 1.0, 2.0) == 0.0
