"""Settings: what is accepted, what is refused, and in which words."""

from __future__ import annotations

import doctest
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proving_ground.settings.fields
from proving_ground.settings import SettingsError, build, declarations, setting


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


def test_whole_number_serves_as_float() -> None:
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
def test_bad_value_is_refused_in_words(name: str, value: object, words: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        build(Truck, {name: value})

    assert words in str(refusal.value)


def test_relation_between_settings_is_checked() -> None:
    with pytest.raises(SettingsError, match="mass_kg: must be at least 500 when loaded, got 200"):
        build(Truck, {"mass_kg": 200.0, "is_loaded": True})


@given(st.dictionaries(st.sampled_from(list(declarations(Truck))) | st.text(), st.from_type(object)))
def test_anything_is_either_built_or_refused_in_one_line(values: dict[str, object]) -> None:
    refusal = ""
    try:
        assert isinstance(build(Truck, values), Truck)
    except SettingsError as error:
        refusal = str(error)

    assert "\n" not in refusal
    assert len(refusal) < 400


def test_number_too_long_to_print_is_refused() -> None:
    with pytest.raises(SettingsError, match="got a huge number"):
        build(Truck, {"mass_kg": 10**5000})
