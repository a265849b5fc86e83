"""`proving-ground rig`: soils with their strength, a wheel beside published curves, and one line for every error."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proving_ground.cli.main import main
from terrain.soils_file import load_soils


def test_all_soils_are_listed_with_law_and_strength(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rig", "soils"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(load_soils())
    (clay,) = (line for line in lines if line.startswith("clay "))
    assert clay.split()[1:5] == ["cone_index", "47", "0.0", "26.9"]


@pytest.mark.parametrize(
    ("soil", "source"), [("dry_sand", "sand, WES"), ("clay", "Brixius"), ("snow", "CRREL"), ("chrono_mid", "sand, WES")]
)
def test_a_wheel_is_drawn_beside_published_curves(
    soil: str, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "wheel.png"

    assert main(["rig", "wheel", "--soil", soil, "--out", str(target)]) == 0

    printed = capsys.readouterr().out
    assert source in printed
    assert "towed: resistance 0." in printed
    image = Image.open(io.BytesIO(target.read_bytes()))
    assert image.width > 800
    assert len(np.unique(np.asarray(image.convert("L")))) > 20  # the picture is not blank


def test_pressure_and_load_change_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*words: str) -> str:
        assert main(["rig", "wheel", "--soil", "dry_sand", "--out", str(tmp_path / "a.png"), *words]) == 0
        return capsys.readouterr().out

    soft, heavy = printed("--pressure", "90"), printed("--load", "9000")
    assert "90 kPa" in soft
    assert "under 9000 N" in heavy
    assert soft != heavy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--soil", "dry_snad"], "soil dry_snad: unknown; did you mean dry_sand?"),
        (["--soil", "ice"], "--soil ice: is hard"),
        (["--pressure", "5"], "--pressure 5: pressure_pa: must be"),
        (["--pressure", "nan"], "--pressure: must be above 0"),
        (["--load", "-1"], "--load: must be above 0"),
        (["--out", "a.pdf"], "--out a.pdf: must end in .png"),
        (["--vehicle", "tank"], "tank"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rig", "wheel", *arguments]) == 2

    assert message in (lines := capsys.readouterr().err.strip())
    assert "\n" not in lines
