"""Settings: accepted values, rejected values, and error messages."""

from __future__ import annotations

import doctest
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import proving_ground.settings.fields
from proving_ground.settings import (
    SettingsError,
    as_parameters,
    build,
    changed_parameters,
    declarations,
    setting,
)
from proving_ground.settings.nested import load_settings
from proving_ground.settings.ros_params_file import check_params_file


@dataclass(frozen=True, kw_only=True)
class Truck:
    mass_kg: float = setting(2573.0, "Mass", unit="kg", minimum=100.0, maximum=1e5)
    gears: int = setting(4, "Forward gears", minimum=1, maximum=12)
    name: str = setting("hmmwv", "Name")
    soil: str = setting("clay", "Ground", choices=("clay", "sand"))
    is_loaded: bool = setting(False, "Carries a load")
    lever_arm_m: tuple[float, ...] = setting((0.0, 0.0, 1.0), "Antenna", unit="m")

    def __post_init__(self) -> None:
        if self.is_loaded and self.mass_kg < 500.0:
            raise ValueError(f"mass_kg: must be at least 500 when loaded, got {self.mass_kg:g}")


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(proving_ground.settings.fields).failed == 0


def test_defaults_need_no_values() -> None:
    assert build(Truck, {}) == Truck()


def test_whole_number_is_accepted_as_float() -> None:
    assert build(Truck, {"mass_kg": 3000}).mass_kg == 3000.0
    assert build(Truck, {"lever_arm_m": [1, 2.5, 0]}).lever_arm_m == (1.0, 2.5, 0.0)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mass_kg", 5, "mass_kg: must be a number from 100 to 100000 [kg], got 5"),
        ("mass_kg", float("nan"), "got nan"),
        ("mass_kg", True, "got True"),
        ("mass_kg", "heavy", "got 'heavy'"),
        ("mass_kg", None, "got None"),
        ("gears", 2.0, "gears: must be a whole number from 1 to 12, got 2.0"),
        ("soil", "snow", "soil: must be one of clay, sand, got 'snow'"),
        ("is_loaded", 1, "is_loaded: must be true or false, got 1"),
        ("lever_arm_m", 1.0, "lever_arm_m: must be a list, each item a finite number [m], got 1.0"),
        ("lever_arm_m", [1.0, float("inf")], "got [1.0, inf]"),
        ("mas_kg", 1.0, "mas_kg: unknown; did you mean mass_kg?"),
    ],
)
def test_bad_value_is_rejected_with_a_message(name: str, value: object, words: str) -> None:
    with pytest.raises(SettingsError) as rejection:
        build(Truck, {name: value})

    assert words in str(rejection.value)


def test_relation_between_settings_is_checked() -> None:
    with pytest.raises(SettingsError, match="mass_kg: must be at least 500 when loaded, got 200"):
        build(Truck, {"mass_kg": 200.0, "is_loaded": True})


@settings(suppress_health_check=[HealthCheck.too_slow])  # drawing any object takes long on a busy machine
@given(st.dictionaries(st.sampled_from(list(declarations(Truck))) | st.text(), st.from_type(object)))
def test_anything_is_either_built_or_rejected_in_one_line(values: dict[str, object]) -> None:
    rejection = ""
    try:
        assert isinstance(build(Truck, values), Truck)
    except SettingsError as error:
        rejection = str(error)

    assert "\n" not in rejection
    assert len(rejection) < 400


def test_number_too_long_to_print_is_rejected() -> None:
    with pytest.raises(SettingsError, match="got a huge number"):
        build(Truck, {"mass_kg": 10**5000})


# Nested settings


@dataclass(frozen=True, kw_only=True)
class Mount:
    height_m: float = setting(1.5, "Height above ground", unit="m", minimum=0.0, maximum=5.0)
    tilt_deg: float = setting(0.0, "Downward tilt", unit="deg", minimum=-90.0, maximum=90.0)

    def __post_init__(self) -> None:
        if self.height_m < 0.5 and self.tilt_deg > 0.0:
            raise ValueError(f"tilt_deg: must be 0 below 0.5 m, got {self.tilt_deg:g}")


@dataclass(frozen=True, kw_only=True)
class Lidar:
    renamed: ClassVar[dict[str, str]] = {"height_m": "mount.height_m"}

    rate_hz: float = setting(10.0, "Turns per second", unit="Hz", minimum=1.0, maximum=20.0)
    mount: Mount = field(default_factory=lambda: Mount(height_m=2.0))


def test_nested_settings_have_dotted_names_and_the_defaults_of_their_owner() -> None:
    known = declarations(Lidar)

    assert list(known) == ["rate_hz", "mount.height_m", "mount.tilt_deg"]
    assert known["mount.height_m"].default == 2.0


@pytest.mark.parametrize("values", [{"mount.tilt_deg": 5}, {"mount": {"tilt_deg": 5}}])
def test_nested_settings_are_built_from_dotted_names_or_mappings(values: dict[str, object]) -> None:
    assert build(Lidar, values) == Lidar(mount=Mount(height_m=2.0, tilt_deg=5.0))


@given(rate=st.floats(1.0, 20.0), height=st.floats(0.5, 5.0), tilt=st.floats(-90.0, 90.0))
def test_parameters_lead_back_to_the_settings(rate: float, height: float, tilt: float) -> None:
    lidar = Lidar(rate_hz=rate, mount=Mount(height_m=height, tilt_deg=tilt))

    assert build(Lidar, as_parameters(lidar)) == lidar
    assert build(Lidar, changed_parameters(lidar)) == lidar


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mount.height_m": 9}, r"mount.height_m: must be a number from 0 to 5 \[m\], got 9"),
        ({"mount.hight_m": 1}, r"mount.hight_m: unknown; did you mean mount.height_m\?"),
        ({"mount.height_m": 0.1, "mount.tilt_deg": 3}, r"mount.tilt_deg: must be 0 below 0.5 m, got 3"),
        ({"height_m": 1}, r"^height_m: is called mount.height_m now$"),
    ],
)
def test_a_bad_nested_value_is_named_with_its_full_name(values: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        build(Lidar, values)


def test_a_former_name_in_a_file_is_answered_with_the_current_one(tmp_path: Path) -> None:
    file = tmp_path / "lidar.yaml"
    file.write_text("rate_hz: 5.0\nheight_m: 1.0\n")

    with pytest.raises(SettingsError, match=r"lidar.yaml:2: height_m: is called mount.height_m now"):
        load_settings(file, Lidar)


@pytest.mark.parametrize("text", ["mount: {height_m: 1.0}", "mount.height_m: 1.0"])
def test_a_ros_parameter_file_may_nest_or_use_dots(tmp_path: Path, text: str) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(f"/lidar:\n  ros__parameters:\n    {text}\n")

    assert check_params_file(file, "/lidar", Lidar).given["mount.height_m"].value == 1.0


def test_a_bad_nested_value_in_a_ros_parameter_file_is_located_once(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text("/lidar:\n  ros__parameters:\n    mount:\n      height_m: 7.0\n")

    with pytest.raises(SettingsError) as caught:
        check_params_file(file, "/lidar", Lidar)
    assert str(caught.value) == f"{file}:4: mount.height_m: must be a number from 0 to 5 [m], got 7.0"
