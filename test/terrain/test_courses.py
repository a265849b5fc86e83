"""Builders of courses: their shapes, their spectra, and limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from terrain.builders.rough_road import CLASSES, FADE_M
from terrain.world import World
from terrain.worlds import build_world

Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Builds a world from a builder's name and settings, and a seed."""

    def build(kind: str, text: str = "{}", seed: int = 1) -> World:
        path = tmp_path / "made.yaml"
        path.write_text(f"version: 1\ndescription: a test\nseed: {seed}\nbuild: {{{kind}: {text}}}\n")
        return build_world(path)

    return build


def rough_part(world: World, y: float = 0.91, begin: float = 30.0, length: float = 300.0) -> np.ndarray:
    """Heights along the rough part without its fading ends, 0.05 m apart."""
    return np.asarray(world.ground.height_at(np.arange(begin + FADE_M, begin + length - FADE_M, 0.05), y))


def test_a_half_round_is_half_a_circle(make: Make) -> None:
    world = make("half_round", "{at_m: 30.0, radius_m: 0.3}")

    angle = np.linspace(0.6, np.pi - 0.6, 9)  # where a cell is not as steep as a wall
    heights = world.ground.height_at(30.3 - 0.3 * np.cos(angle), 2.0)
    assert_allclose(heights, 0.3 * np.sin(angle), atol=2e-3)
    assert_allclose(world.ground.height_at([29.99, 30.61], 0.0), 0.0, atol=1e-6)


@pytest.mark.parametrize(("angle", "shift"), [(0.0, 0.0), (45.0, 3.0)])
def test_a_ditch_has_its_depth_and_slopes(make: Make, angle: float, shift: float) -> None:
    world = make("v_ditch", f"{{at_m: 30.0, depth_m: 0.8, side_deg: 40.0, angle_deg: {angle}}}")

    half = 0.8 / np.tan(np.radians(40.0)) / np.cos(np.radians(angle))  # along x
    x = 30.0 + half * np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    for y in (0.0, 3.0):  # at an angle, the left side meets the ditch earlier
        assert_allclose(world.ground.height_at(x - y * shift / 3.0, y), [0.0, -0.4, -0.8, -0.4, 0.0], atol=0.03)


def test_a_trench_is_as_deep_as_wide_walls_allow(make: Make) -> None:
    world = make("trench", "{at_m: 30.0, gap_m: 0.5, depth_m: 0.7}")

    assert_allclose(
        world.ground.height_at([29.99, 30.06, 30.25, 30.44, 30.51], 1.0), [0, -0.7, -0.7, -0.7, 0], atol=1e-6
    )


@pytest.mark.parametrize("percent", [40.0, -30.0])
def test_a_side_slope_leans_and_is_level_before_and_behind(make: Make, percent: float) -> None:
    world = make("side_slope", f"{{slope_percent: {percent}}}")

    _, across = world.ground.slope_at([0.0, 25.0, 50.0, 90.0], [0.0, 0.0, 0.0, 0.0])
    assert_allclose(across, 0.01 * percent * np.array([0.0, 0.5, 1.0, 0.0]), atol=1e-4)
    assert_allclose(world.ground.height_at([0.0, 25.0, 50.0], 0.0), 0.0, atol=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("inches", [1.0, 3.0])
def test_a_ride_course_has_its_roughness(make: Make, seed: int, inches: float) -> None:
    world = make("rms_course", f"{{rms_m: {0.0254 * inches}}}", seed)

    # The whole part has it to rounding; without the fading ends, some of its waves are not whole.
    assert rough_part(world).std() == pytest.approx(0.0254 * inches, rel=0.1)
    assert_allclose(rough_part(world, 0.9), rough_part(world, -0.9))
    assert_allclose(world.ground.height_at([0.0, 29.9, 335.0], 0.0), 0.0)


@pytest.mark.parametrize("letter", CLASSES)
def test_a_road_of_iso_8608_has_the_density_of_its_class(make: Make, letter: str) -> None:
    world = make("iso_8608", f"{{road_class: {letter}, length_m: 1060.0, rough_length_m: 1000.0}}")

    for y in (0.91, -0.91):
        profile = rough_part(world, y, length=1000.0)
        spectrum = np.abs(np.fft.rfft(profile * np.hanning(len(profile)))) ** 2
        density = 2.0 * 0.05 * spectrum / (len(profile) * 0.375)  # 0.375: mean square of the window
        wave_number = np.fft.rfftfreq(len(profile), 0.05)
        for low, high in ((0.05, 0.2), (0.2, 0.8), (0.8, 2.0)):
            band = (wave_number > low) & (wave_number < high)
            expected = 16e-6 * 4.0 ** CLASSES.index(letter) * (wave_number[band] / 0.1) ** -2.0
            assert np.mean(density[band] / expected) == pytest.approx(1.0, abs=0.2)
        assert density[(wave_number > 3.2)].max() < 1e-3 * density.max()  # nothing below the shortest wave


def test_long_waves_of_both_sides_are_alike_and_short_ones_are_not(make: Make) -> None:
    world = make("iso_8608", "{road_class: C, length_m: 1060.0, rough_length_m: 1000.0}")
    left, right = (np.fft.rfft(rough_part(world, y, length=1000.0)) for y in (0.91, -0.91))
    wave_number = np.fft.rfftfreq(19600, 0.05)

    def coherence(low: float, high: float) -> float:
        band = (wave_number > low) & (wave_number < high)
        cross = np.abs(np.vdot(left[band], right[band]))
        return float(cross / np.linalg.norm(left[band]) / np.linalg.norm(right[band]))

    assert coherence(0.01, 0.05) > 0.9
    assert coherence(1.0, 2.0) < 0.3


def test_both_sides_can_be_the_same(make: Make) -> None:
    world = make("iso_8608", "{same_sides: true}")

    assert_allclose(rough_part(world, 0.91), rough_part(world, -0.91))


@pytest.mark.parametrize("kind", ["rms_course", "iso_8608"])
def test_another_seed_gives_another_course(make: Make, kind: str) -> None:
    assert make(kind, seed=1).ground.heights.tobytes() == make(kind, seed=1).ground.heights.tobytes()
    assert make(kind, seed=1).ground.heights.tobytes() != make(kind, seed=2).ground.heights.tobytes()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("half_round: {radius_m: 0.03}", "radius_m: must be at least four cells (0.04), got 0.03"),
        ("trench: {gap_m: 0.1}", "gap_m: must be at least three cells (0.15), got 0.1"),
        ("side_slope: {length_m: 60.0}", "length_m: must be at least 100, got 60"),
        ("v_ditch: {side_deg: 90.0}", "side_deg: must be a number from 5 to 70 [deg], got 90"),
        ("rms_course: {rough_length_m: 400.0}", "length_m: must be at least 450, got 360"),
        ("rms_course: {rms_m: .nan}", "rms_m: must be a number from 0.001 to 0.3 [m], got nan"),
        ("iso_8608: {road_class: I}", "road_class: must be one of A, B, C, D, E, F, G, H, got 'I'"),
        ("iso_8608: {shortest_m: 0.1}", "shortest_m: must be at least four cells (0.2), got 0.1"),
        ("iso_8608: {longest_m: 0.3}", "longest_m: must be above shortest_m (0.35) and at most rough_length_m (300)"),
    ],
)  # fmt: skip
def test_limits_are_one_line(tmp_path: Path, build: str, words: str) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(f"version: 1\ndescription: a test\nbuild: {{{build}}}\n")

    with pytest.raises(SettingsError) as rejection:
        build_world(path)

    assert words in str(rejection.value)
    assert "\n" not in str(rejection.value)
