"""Pictures of sensor data: what is drawn where, and their texts when there is little to draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sensors import picture
from sensors.allan import allan_deviation
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.mounting import Mount
from sensors.samples import LIDAR_POINT, LidarScan
from terrain.obstacles import Box, Obstacles
from vehicle_dynamics.base_motion import BaseMotion

pytestmark = pytest.mark.filterwarnings("error")
Drawn = Callable[..., Any]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """The figure behind a picture."""
    figures: list[Any] = []
    to_png = picture._png

    def record(figure: Any) -> bytes:
        figures.append(figure)
        return to_png(figure)

    monkeypatch.setattr(picture, "_png", record)

    def draw(make: Callable[..., bytes], *arguments: Any) -> Any:
        assert make(*arguments).startswith(b"\x89PNG")
        return figures[-1]

    return draw


def words(axes: Any) -> str:
    legend = axes.get_legend()
    texts = [text.get_text() for text in (*axes.texts, *(legend.get_texts() if legend else ()))]
    return "; ".join([axes.get_title(), *texts])


@pytest.mark.parametrize("rpy", [(0.0, 0.0, 0.0), (180.0, 0.0, 45.0), (0.0, 10.0, -90.0)])
def test_a_wall_is_drawn_at_its_position_whatever_the_mount(
    rpy: tuple[float, float, float], drawn: Drawn, at_rest: BaseMotion
) -> None:
    # Its face is 10 m in front of base_link, from 1 m at the right to 3 m at the left; the unit sees no other side.
    wall = Box(x=10.5, y=1.0, length=1.0, width=4.0, height=8.0)
    settings = LidarSettings(
        kind="flash", rows=60, columns=360, horizontal_fov_deg=360.0, vertical_fov_deg=60.0, range_noise_m=0.0,
        weak_signal=0.0, own_body="absent", mount=Mount(xyz_m=(2.0, 1.0, 2.5), rpy_deg=rpy),
    )  # fmt: skip
    lidar = Lidar(settings, Scene.flat(-1e4, obstacles=Obstacles(boxes=(wall,))))
    (scan,) = lidar.update(0, at_rest)
    assert len(scan.points) > 100

    above = drawn(picture.lidar_picture, "a wall", scan, settings.mounting()).axes[0]

    dots = above.collections[0]
    ahead, left = dots.get_offsets().T
    height = np.asarray(dots.get_array())
    np.testing.assert_allclose(ahead, 10.0, atol=1e-4)
    assert -1.01 < left.min() < -0.7
    assert 2.7 < left.max() < 3.01
    assert -0.01 < height.min() < 0.5
    assert height.max() < 8.01
    assert [line.get_xydata().tolist() for line in above.lines] == [[[2.0, 1.0]]]


def test_a_scan_without_returns_is_drawn_empty(drawn: Drawn) -> None:
    scan = LidarScan(0, np.full((4, 8), np.nan, np.float32), np.empty(0, LIDAR_POINT))
    figure = drawn(picture.lidar_picture, "nothing", scan, LidarSettings().mounting())
    assert "0 returns of 32 rays" in words(figure.axes[0])


def test_fixes_are_drawn_with_the_claimed_ellipse(drawn: Drawn) -> None:
    errors = np.random.default_rng(1).normal(size=(500, 2)) * [2.0, 1.0]
    (axes,) = drawn(picture.gps_picture, "gps", errors, (2.0, 1.0)).axes

    assert "under open sky, at rest" in words(axes)
    ellipse = axes.lines[1].get_xydata()
    np.testing.assert_allclose(ellipse.max(axis=0), [2.0 * 2.448, 2.448], rtol=1e-3)  # chi-square of 2, 95 %


@pytest.mark.parametrize("std", [0.0, 1e-6])
def test_a_receiver_without_errors_has_no_ellipse_but_a_picture(std: float, drawn: Drawn) -> None:
    (axes,) = drawn(picture.gps_picture, "gps", np.full((10, 2), 1e-9), (std, std)).axes

    assert "claims no error: no ellipse" in words(axes)
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert low == -high
        assert high > 5e-4


def test_a_panel_without_noise_says_so(drawn: Drawn) -> None:
    readings = np.random.default_rng(1).normal(size=(1000, 3))
    curve = allan_deviation(readings, 100.0)
    curves = {"Gyroscopes [deg/s]": None, "Accelerometers [mg]": (curve, 1.0 / np.sqrt(100.0 * curve.tau))}

    quiet, noisy = drawn(picture.imu_picture, "imu", curves).axes

    assert "no noise: the reading never changes" in words(quiet)
    assert "as configured" in words(noisy)
