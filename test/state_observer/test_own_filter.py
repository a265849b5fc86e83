"""A filter from outside the suite: two files (filter and tuning), named in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from state_observer.filters.linkage_filter import LinkageFilter, filter_named
from state_observer.filters.observer import LinkageObserver
from state_observer.filters.registry import FILTERS
from state_observer.filters.tuning import Tuning, load_tuning
from state_observer.linkages.mechanism import Mechanism
from state_observer.study.cases import Bench
from state_observer.study.parameters import Case

FOLDER = Path(__file__).parent / "steady_filter"
OWN = "steady:Steady"


@pytest.fixture(scope="module", autouse=True)
def _package_on_the_path() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


@pytest.fixture(scope="module")
def tuning() -> Tuning:
    return load_tuning(FOLDER / "filters.yaml")


def observer(linkage: str, tuning: Tuning, off: float) -> LinkageObserver:
    """An observer whose initial angles are off by `off` [rad]."""
    model = Mechanism.named(linkage, gravity=-10.0)
    return LinkageObserver(
        OWN, model, "encoder", plant_psd=tuning.plant_psd(linkage, "low", "encoder", OWN),
        start_angles=model.start_angles + off, variances=tuning.variances(linkage, "encoder", OWN), tuning=tuning,
    )  # fmt: skip


@pytest.mark.parametrize("linkage", ["four_bar", "five_bar"])
def test_it_finds_the_linkage_from_a_wrong_start(bench: Bench, linkage: str, tuning: Tuning) -> None:
    readings = bench.readings(Case(linkage, "encoder", "low", 200, "DEKF"))[:1000]

    run = observer(linkage, tuning, off=0.2).run(readings)

    assert run.is_sound
    error = run.angles - readings
    assert np.abs(error[0]).min() > 0.15
    # One reading is off by 0.0175 rad, an average of the last 2 / 0.1 of them by a quarter of that.
    assert np.sqrt(np.mean(error[-300:] ** 2)) < 1.3 * 0.0175


@pytest.mark.parametrize("linkage", ["four_bar", "five_bar"])
def test_single_steps_agree_with_a_run(bench: Bench, linkage: str, tuning: Tuning) -> None:
    readings = bench.readings(Case(linkage, "encoder", "low", 100, "DEKF"))[:20]
    single = observer(linkage, tuning, off=0.0)

    run = observer(linkage, tuning, off=0.0).run(readings)

    for row, angles in zip(readings, run.angles, strict=True):
        single.predict()
        if np.all(np.isfinite(row)):
            single.correct(row)
        assert_allclose(single.state.angles, angles, atol=1e-14)


def test_every_listed_filter_can_be_loaded() -> None:
    found = [filter_named(name) for name in FILTERS]

    assert len({type(item) for item in found}) == len(FILTERS)
    assert all(isinstance(item, LinkageFilter) for item in found)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("DEFK", "did you mean DEKF"),
        ("steady:Stead", "cannot be imported: AttributeError"),
        ("pathlib:Path", "must be a subclass of state_observer.filters.linkage_filter.LinkageFilter"),
    ],
)
def test_a_missing_filter_gets_one_clear_line(four_bar: Mechanism, name: str, words: str) -> None:
    with pytest.raises(SettingsError, match=f"^filter .*{words}") as caught:
        LinkageObserver(name, four_bar, "encoder", plant_psd=0.1)
    assert "\n" not in str(caught.value)


def test_an_unknown_filter_in_a_tuning_file_is_rejected_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "filters.yaml"
    file.write_text((FOLDER / "filters.yaml").read_text().replace("DEKF], psd: 0.5", "DEFK], psd: 0.5"))

    with pytest.raises(SettingsError, match=r"filters.yaml:5: plant_noise.1: filters: DEFK: .*did you mean DEKF"):
        load_tuning(file)
