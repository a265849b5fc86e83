"""A soil law from outside the suite: two files (law and soils) and the line of a scenario that names the soil."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings import SettingsError
from terrain.soil import bearing, plate_pressure
from terrain.soil_law import SOIL_LAWS, SoilLaw
from terrain.soils_file import load_soils, soil_table
from terrain.wheel_rig import WheelRig
from terrain.world_ground import SoilPlane
from terrain.worlds import build_world

FOLDER = Path(__file__).parent / "muskeg_soils"
SOILS = FOLDER / "soils.yaml"
SOIL = f"{SOILS}:petawawa"
SCENARIO = """
version: 1
description: Across a bog
duration_s: 6.0
world: {{field: {{soil: "{soil}"}}}}
vehicle: {{model: hmmwv_chrono}}  # reaches its speed in 6 s; the HMMWV as built has 3.4 m/s then, and 3.9 after 20 s
driver: {{straight: {{speed_mps: 4.0}}}}
"""
WORLD = "version: 1\ndescription: A bog\nbuild: {flat: {length_m: 40.0, soil: 'soils.yaml:petawawa'}}\n"


@pytest.fixture(scope="module", autouse=True)
def _package_on_the_path() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


@pytest.fixture(scope="module")
def law() -> SoilLaw:
    soft = load_soils(SOILS)["petawawa"].soft
    assert soft is not None
    return soft


def test_the_file_of_soils_names_the_law(law: SoilLaw) -> None:
    assert type(law).__name__ == "Muskeg"
    assert type(law).__name__ not in SOIL_LAWS


def test_a_soil_without_a_law_uses_bekker() -> None:
    assert SoilLaw.kind(None) is SoilLaw.kind("bekker")


@given(sinkage=st.floats(1e-4, 0.4), extra=st.floats(1e-4, 0.1), width=st.floats(0.05, 0.5))
@settings(deadline=None)
def test_pressure_rises_with_sinkage_as_the_exponent_says(
    law: SoilLaw, sinkage: float, extra: float, width: float
) -> None:
    record = law.record()
    here, little = bearing(record, sinkage, width), 1e-6 * sinkage
    more, less = (law.pressure(sinkage + change, width) for change in (little, -little))

    assert law.pressure(sinkage + extra, width) > law.pressure(sinkage, width)
    # Central differences of a square are exact up to rounding, which 1e-6 makes 1e-10 of the derivative.
    assert here.exponent == pytest.approx((more - less) / (2.0 * little) * sinkage / here.pressure, rel=1e-6)


@given(path=st.lists(st.floats(0.0, 0.3), min_size=2, max_size=6))
@settings(deadline=None, max_examples=30)
def test_loading_and_unloading_never_adds_energy(law: SoilLaw, path: list[float]) -> None:
    soil, deepest, work, sinkage = law.record(), 0.0, 0.0, 0.0
    for target in [*path, 0.0]:  # ends where it began
        for part in np.linspace(sinkage, target, 100)[1:].tolist():
            before = plate_pressure(soil, sinkage, deepest, 0.3)
            deepest = max(deepest, part)
            work += 0.5 * (before + plate_pressure(soil, part, deepest, 0.3)) * (part - sinkage)
            sinkage = part

    # The trapezoidal rule errs where a line ends at zero pressure, by less than one of a hundred parts.
    assert work >= -1e-3 * (1.0 + deepest * 1e5)


def test_rolling_costs_energy_whatever_the_slip(tyre: Any, law: SoilLaw) -> None:
    rig = WheelRig(tyre, law)
    for slip in (-0.5, -0.2, 0.0, 0.2, 0.5):
        rolling = rig.rolling(5000.0, slip=slip)
        spin = 1.0 / (rig.radius * (1.0 - slip))

        assert rolling.torque * spin > rolling.drawbar_pull * 1.0
        assert 0.02 < rolling.sinkage < 0.3


def test_a_vehicle_drives_on_it_in_lock_step(tmp_path: Path, law: SoilLaw) -> None:
    (tmp_path / "bog.yaml").write_text(SCENARIO.format(soil=SOIL))

    run = LockStep(load_scenario(tmp_path / "bog.yaml")).run()

    sinkage, load = run.history["sinkage"][-1], run.history["load"][-1]
    assert run.diverged_at is None
    assert run.channels["speed_mps"][-1] == pytest.approx(4.0, abs=0.3)
    # No point of the arc is pressed harder than the deepest one, and no patch is longer than the wheel.
    assert np.all((sinkage > 0.01) & (sinkage < 0.25))
    assert np.all(load < [law.pressure(depth, 0.3) * 0.3 * 0.9 for depth in sinkage])


def test_the_path_of_its_file_is_relative_to_the_scenario_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "soils.yaml").write_text(SOILS.read_text())
    (tmp_path / "bog.yaml").write_text(SCENARIO.format(soil="soils.yaml:petawawa"))

    run = compiled(load_scenario(tmp_path / "bog.yaml"))

    assert {run[name].settings.ground.soil for name in ("vehicle", "script")} == {f"{tmp_path}/soils.yaml:petawawa"}
    assert soil_table([run["vehicle"].settings.ground.soil])["kind"].tolist() == [1]


def test_compiled_kernels_accept_the_new_law() -> None:
    assert numba.typeof(SoilPlane(SOIL).kernel()) == numba.typeof(SoilPlane("dry_sand").kernel())


def test_a_world_may_name_soils_of_a_file_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "bog.yaml").write_text(WORLD)
    (tmp_path / "soils.yaml").write_text(SOILS.read_text())

    world = build_world(tmp_path / "bog.yaml")

    assert soil_table(world.soil_names)["kind"].tolist() == [1]


def test_a_world_may_not_name_soils_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "bog.yaml").write_text(WORLD.replace("soils.yaml", "../soils.yaml"))

    with pytest.raises(SettingsError, match="must be a name in the world's own folder"):
        build_world(tmp_path / "bog.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("muskeg:Muskeg", "muskeg:Musk"), r"soils.yaml:1: petawawa.soft: law: muskeg:Musk cannot be imported"),
        (("muskeg:Muskeg", "bekkr"), "petawawa.soft: law: unknown; did you mean bekker"),
        (("muskeg:Muskeg", "pathlib:Path"), "law: pathlib:Path must be a subclass of terrain.soil_law.SoilLaw"),
        (("muskeg:Muskeg", "terrain.soil_law:SoilLaw"), "law: terrain.soil_law:SoilLaw must define parameters"),
        (("peat_npm3: 762000.0", "peat_npm3: 1.0"), "petawawa.soft.peat_npm3: must be a number from 10000"),
        (("mat_npm3", "matt_npm3"), "did you mean mat_npm3"),
    ],
)
def test_an_error_in_a_file_of_soils_is_one_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    file = tmp_path / "soils.yaml"
    file.write_text(SOILS.read_text().replace(*change))

    with pytest.raises(SettingsError, match=message) as caught:
        load_soils(file)
    assert "\n" not in str(caught.value)


def test_unknown_soil_of_a_file_suggests_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean petawawa"):
        soil_table([f"{SOILS}:petawava"])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda soil, plate: plate.sinkage, "must return"),
        (lambda soil, plate: soil.no_such_parameter, "cannot be compiled"),
    ],
)
def test_a_law_whose_kernel_does_not_fit_is_rejected(law: SoilLaw, kernel: Any, message: str) -> None:
    class Broken(type(law)):  # type: ignore[misc]
        bearing_kernel = staticmethod(numba.njit(kernel))

    with pytest.raises(SettingsError, match=f"law Broken: .*{message}") as caught:
        Broken(**vars(law)).record()
    assert "\n" not in str(caught.value)
