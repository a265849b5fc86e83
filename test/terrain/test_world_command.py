"""`proving-ground world`: lists, pictures, exports, and one line for every error."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

from proving_ground.cli.main import main
from terrain.map_files import load_map
from terrain.worlds import load_world, world_files

SMALL = """version: 1
description: a small town
build:
  urban: {blocks_x: 1, blocks_y: 1, block_m: 40.0, resolution_m: 0.5, block_soil: clay}
"""


@pytest.fixture
def town(tmp_path: Path) -> str:
    path = tmp_path / "town.yaml"
    path.write_text(SMALL)
    return str(path)


@pytest.mark.parametrize("arguments", [["world"], ["world", "list"], ["world", "show"]])
def test_without_a_name_all_worlds_are_listed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0

    listed = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted(world_files())


@pytest.mark.parametrize("name", ["survey", "kerb"])
def test_a_world_is_drawn(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "show", name, "--out", str(tmp_path / "a.png")]) == 0

    image = Image.open(io.BytesIO((tmp_path / "a.png").read_bytes()))
    assert image.width > 800
    assert len(np.unique(np.asarray(image.convert("L")))) > 20  # the picture is not blank
    assert "soils: hard" in capsys.readouterr().out


def test_a_picture_shows_soils_houses_posts_and_survey(town: str, tmp_path: Path) -> None:
    assert main(["world", "show", town, "--out", str(tmp_path / "a.png")]) == 0


@pytest.mark.parametrize("kind", ["obj", "stl", "ply"])
def test_ground_and_obstacles_are_written_as_one_mesh(kind: str, town: str, tmp_path: Path) -> None:
    out = tmp_path / f"town.{kind}"

    assert main(["world", "export", town, "--format", kind, "--out", str(out)]) == 0

    mesh, world = trimesh.load_mesh(out, process=False), load_world(town)
    assert len(mesh.faces) == len(world.mesh().faces)
    highest = max(box.base + box.height for box in world.obstacles.boxes)
    assert mesh.bounds[1][2] == pytest.approx(highest, abs=1e-4)


@pytest.mark.parametrize("suffix", ["npz", "asc", "tif"])
def test_the_ground_is_written_by_file_extension(suffix: str, town: str, tmp_path: Path) -> None:
    out = tmp_path / f"town.{suffix}"

    assert main(["world", "export", town, "--out", str(out), "--resolution", "1.0"]) == 0

    assert load_map(out).resolution == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "urbn"], "proving-ground world: world urbn: unknown; did you mean urban?"),
        (["show", "flat", "--out", "a.gif"], "--out a.gif: must end in .png"),
        (["show", "flat", "--out", "no/such/a.png"], "cannot be written: No such file"),
        (["show", "no/such.yaml"], "no/such.yaml: No such file or directory"),
        (["export", "flat"], "export: say where to write with --out FILE"),
        (["export", "flat", "--out", "a.step"], "--format step: unknown; Known: obj"),
        (["export", "flat", "--out", "no/such/a.npz"], "cannot be written: No such file"),
        (["export", "flat", "--out", "a.npz", "--resolution", "nan"], "--resolution: resolution: must be from 0.001"),
    ],
)
def test_errors_get_one_line_and_status_two(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["world", *arguments]) == 2

    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
