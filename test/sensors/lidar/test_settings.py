"""Settings and presets of LIDARs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proving_ground.settings import SettingsError, build
from proving_ground.settings.nested import load_preset, preset_names
from sensors.lidar.settings import LidarSettings


def test_there_are_presets_of_16_32_and_64_beams_and_a_flash() -> None:
    assert preset_names(LidarSettings.presets) == ["flash", "spinning_16", "spinning_32", "spinning_64"]


@pytest.mark.parametrize(
    ("name", "beams", "lowest", "highest"),
    [("spinning_16", 16, -15.0, 15.0), ("spinning_32", 32, -30.67, 10.67), ("spinning_64", 64, -24.33, 2.0)],
)
def test_a_spinning_preset_has_the_angles_of_its_data_sheet(
    name: str, beams: int, lowest: float, highest: float
) -> None:
    settings = load_preset(LidarSettings, name)
    assert settings.rings == len(settings.elevations()) == beams
    np.testing.assert_allclose(
        np.degrees([settings.elevations()[0], settings.elevations()[-1]]), [lowest, highest], atol=0.01
    )
    assert settings.rate_hz == 10.0


def test_the_flash_preset_is_a_raster() -> None:
    settings = load_preset(LidarSettings, "flash")
    assert (len(settings.elevations()), len(settings.azimuths())) == (32, 128)


BOX = [0.0, -1.0, 0.0, 3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"elevations_deg": [3.0, 1.0]}, "elevations_deg: must be one or more, rising"),
        ({"elevations_deg": []}, "elevations_deg: must be one or more, rising"),
        ({"min_range_m": 5.0, "max_range_m": 5.0}, "max_range_m: must be above min_range_m"),
        ({"kind": "flash", "rows": 10_000, "columns": 1000}, "more than"),
        ({"body_boxes_m": [0.0, 1.0]}, "6 numbers"),
        ({"body_boxes_m": [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]}, "least corner first"),
        (
            {"mount.xyz_m": [1.0, 0.0, 1.0], "body_boxes_m": [0.0, -1.0, 0.0, 3.0, 1.0, 2.0]},
            "mount.xyz_m: .* inside the own body",
        ),
        ({"max_range_m": float("nan")}, "max_range_m"),
        ({"kind": "rotating"}, "kind"),
        ({"fault": "bias", "fault_channel": "intensity"}, "fault_channel"),
    ],
)
def test_bad_settings_are_rejected_in_one_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as rejection:
        build(LidarSettings, values)
    assert "\n" not in str(rejection.value)
