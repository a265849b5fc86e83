"""World files and builders."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.kernels.jit import kernel
from proving_ground.settings import SettingsError
from some_leaves import assert_loaded_or_rejected_in_one_line, many, with_another_leaf
from terrain.builders.off_road import CLEAR_OF_TREES_M
from terrain.elevation_map import ElevationMap
from terrain.ground import Ground, height_at
from terrain.map_files import save_map
from terrain.map_messages import MapSettings
from terrain.soils_file import load_soils
from terrain.world import World
from terrain.world_ground import WorldGround
from terrain.worlds import Build, build_world, load_world, load_world_file, world_file, world_files

SMALL = {
    "flat": "{length_m: 60.0, width_m: 10.0}",
    "bump": "{length_m: 60.0, width_m: 10.0}",
    "step": "{length_m: 60.0, width_m: 10.0}",
    "ramp": "{length_m: 100.0, width_m: 10.0}",
    "washboard": "{length_m: 60.0, width_m: 10.0, waves: 20}",
    "urban": "{blocks_x: 2, blocks_y: 1, resolution_m: 0.2}",
    "off_road": "{size_m: 80.0, trees: 20}",
    "fault": "{length_scale: 0.01, height_scale: 0.01}",
}
ROCK = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"  # 1 m along each axis
Make = Callable[..., World]


def write_world(path: Path, builder: str, more: str = "") -> Path:
    path.write_text(f"version: 1\ndescription: a test\nbuild: {builder}\n{more}")
    return path


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Builds a world from a builder's name and settings, and more lines of the file."""

    def build(kind: str, text: str, more: str = "") -> World:
        path = tmp_path / "made.yaml"
        path.write_text(f"version: 1\ndescription: a test\nbuild:\n  {kind}: {text}\n{more}")
        return build_world(path)

    return build


def same_to_the_bit(one: World, other: World) -> bool:
    arrays = [
        (one.ground.heights, other.ground.heights),
        (one.obstacles.to_arrays().boxes, other.obstacles.to_arrays().boxes),
        (one.obstacles.to_arrays().cylinders, other.obstacles.to_arrays().cylinders),
    ]
    if one.ground.soils is not None and other.ground.soils is not None:
        arrays.append((one.ground.soils, other.ground.soils))
    return all(a.tobytes() == b.tobytes() for a, b in arrays)


@pytest.mark.parametrize("name", sorted(world_files()))
def test_every_world_of_the_suite_can_be_driven(name: str) -> None:
    world = load_world(name)

    assert set(world.soil_names) <= set(load_soils())
    positions = [world.start] + ([world.goal] if world.goal else [])
    for position in positions:
        assert world.ground.covers(position.x, position.y)
        assert world.obstacles.distance(position.x, position.y) > 3.0  # [m]: room for the vehicle
        slope = np.hypot(*world.ground.slope_at(position.x, position.y))
        assert slope < np.tan(np.radians(12.0))  # the vehicle stands without sliding


def test_the_worlds_of_the_papers_are_there() -> None:
    assert {"flat", "bump", "kerb", "ramp", "washboard", "urban", "off_road", "fault", "survey"} <= set(world_files())


@pytest.mark.parametrize("kind", sorted(SMALL))
def test_the_same_seed_gives_the_same_world_to_the_bit(make: Make, kind: str) -> None:
    assert same_to_the_bit(make(kind, SMALL[kind], "seed: 5\n"), make(kind, SMALL[kind], "seed: 5\n"))


@pytest.mark.parametrize("kind", ["urban", "off_road"])
def test_another_seed_gives_another_world(make: Make, kind: str) -> None:
    assert not same_to_the_bit(make(kind, SMALL[kind], "seed: 5\n"), make(kind, SMALL[kind], "seed: 6\n"))


def test_kerbs_have_the_given_height_and_are_one_cell_wide(make: Make) -> None:
    town = make("urban", "{blocks_x: 1, blocks_y: 1, resolution_m: 0.1, kerb_m: 0.15, lane_m: 4.0, lanes: 2}")

    across_the_road = town.ground.height_at(30.0, np.array([-6.0, -4.11, -3.99, 0.0, 3.99, 4.11, 6.0]))
    # Kerbs stand at y = +-4: half the road.
    assert_allclose(across_the_road, [0.15, 0.15, 0.0, 0.0, 0.0, 0.15, 0.15], atol=1e-6)


def test_houses_stand_on_their_blocks_and_posts_in_the_road(make: Make) -> None:
    town = make("urban", "{resolution_m: 0.2, posts: 10}", "seed: 4\n")

    for house in town.obstacles.boxes:
        corners = house.corners()
        assert_allclose(town.ground.height_at(corners[:, 0], corners[:, 1]), 0.15, atol=1e-6)
    posts = [item for item in town.obstacles.cylinders if item.height < 2.0]
    assert len(posts) == 10
    for post in posts:
        assert town.ground.height_at(post.x, post.y) == 0.0


@pytest.mark.parametrize("angle", [0.0, 30.0])
def test_a_step_rises_at_its_edge(make: Make, angle: float) -> None:
    world = make("step", f"{{at_m: 20.0, step_height_m: 0.2, resolution_m: 0.05, angle_deg: {angle}, length_m: 60.0}}")

    assert world.ground.height_at(19.95, 0.0) == 0.0
    assert world.ground.height_at(20.2, 0.0) == pytest.approx(0.2)
    # At an angle, the left side (y > 0) meets the edge earlier.
    assert (world.ground.height_at(19.0, 5.0) > 0.1) == (angle > 0.0)


def test_a_ramp_has_the_given_slope(make: Make) -> None:
    world = make("ramp", "{at_m: 20.0, slope_deg: 20.0, slope_length_m: 10.0, top_length_m: 5.0}")

    along, across = world.ground.slope_at([25.0, 32.0, 40.0], [0.0, 0.0, 0.0])
    assert_allclose(np.degrees(np.arctan(along)), [20.0, 0.0, -20.0], atol=1e-3)
    assert_allclose(across, 0.0)


def test_a_bump_under_one_side_leaves_the_other_level(make: Make) -> None:
    world = make("bump", "{at_m: 20.0, bump_length_m: 2.0, bump_height_m: 0.1, side: left, length_m: 60.0}")

    assert_allclose(world.ground.height_at([21.0, 21.0], [0.9, -0.9]), [0.1, 0.0], atol=1e-6)


def test_a_washboard_has_its_waves(make: Make) -> None:
    world = make("washboard", "{at_m: 10.0, wave_length_m: 1.0, wave_height_m: 0.04, waves: 20, resolution_m: 0.05}")

    profile = world.ground.height_at(np.arange(5.0, 35.0, 0.05), 0.0)
    crests = np.count_nonzero((profile[1:-1] > profile[:-2]) & (profile[1:-1] >= profile[2:]))
    assert crests == 20
    assert profile.max() == pytest.approx(0.04, abs=1e-6)


def test_hills_are_no_steeper_than_given(make: Make) -> None:
    world = make("off_road", "{size_m: 100.0, hills_m: 30.0, rough_m: 0.0, steepest_deg: 15.0, trees: 0}")

    steepest = np.hypot(*np.gradient(world.ground.heights.astype(float), world.ground.resolution)).max()
    assert np.degrees(np.arctan(steepest)) == pytest.approx(15.0, abs=0.1)


def test_soils_have_their_shares_and_trees_keep_their_distance(make: Make) -> None:
    world = make("off_road", "{size_m: 150.0, soil_shares: [0.5, 0.3, 0.2], trees: 60, tree_spacing_m: 6.0}")

    assert world.ground.soils is not None
    shares = np.bincount(world.ground.soils.ravel()) / world.ground.soils.size
    assert_allclose(shares, [0.5, 0.3, 0.2], atol=0.001)
    trees = world.obstacles.to_arrays().cylinders
    apart = np.hypot(trees[:, None, 0] - trees[:, 0], trees[:, None, 1] - trees[:, 1]) + np.eye(len(trees)) * 1e3
    assert apart.min() >= 6.0
    assert (np.hypot(trees[:, 0] - world.start.x, trees[:, 1] - world.start.y) > CLEAR_OF_TREES_M).all()
    assert_allclose(trees[:, 2] + 0.5, world.ground.height_at(trees[:, 0], trees[:, 1]))  # rooted half a metre deep


def test_the_fault_is_the_real_one(make: Make) -> None:
    world = make("fault", "{length_scale: 0.05, height_scale: 0.1, resolution_m: 5.0}")

    assert world.georeference is not None
    assert world.georeference.latitude_deg == pytest.approx(36.59, abs=0.01)
    assert float(np.ptp(world.ground.heights)) == pytest.approx(84.0, abs=3.0)  # 840 m in nature


def test_a_map_file_becomes_a_world_around_its_middle(make: Make, tmp_path: Path) -> None:
    ground = ElevationMap(heights=np.ones((21, 31)), resolution=2.0, origin_x=5e5, origin_y=4e6)
    save_map(ground, tmp_path / "hill.npz")

    world = make("file", "{file: hill.npz, soil: clay}", "origin: {latitude_deg: 43.0, longitude_deg: -8.0}\n")

    assert world.ground.x_limits == (-30.0, 30.0)
    assert world.soil_names == ("clay",)
    assert world.georeference is not None
    assert world.georeference.latitude_deg == 43.0


@pytest.mark.parametrize("name", ["../hill.npz", "/etc/hill.npz", "a/../../hill.npz", "..", "", "a\\..\\b.npz"])
@pytest.mark.parametrize("kind", ["file", "survey"])
def test_a_world_cannot_name_files_outside_its_folder(make: Make, kind: str, name: str) -> None:
    with pytest.raises(SettingsError, match="must be a name in the world's own folder"):
        make(kind, f"{{file: '{name}'}}")


def test_obstacles_of_the_file_stand_on_the_ground(make: Make, tmp_path: Path) -> None:
    (tmp_path / "rock.obj").write_text(ROCK)
    more = (
        "boxes: [{x_m: 32.0, y_m: 0.0, length_m: 2.0, width_m: 1.0, height_m: 1.5, yaw_deg: 90.0}]\n"
        "cylinders: [{x_m: 0.0, y_m: 3.0, radius_m: 0.2, height_m: 1.0, lift_m: 0.5}]\n"
        "meshes: [{file: rock.obj, x_m: 5.0, y_m: -3.0}]\n"
        "start: {x_m: 1.0, y_m: 2.0, heading_deg: 90.0}\n"
    )

    world = make("ramp", "{at_m: 20.0, slope_deg: 10.0, slope_length_m: 10.0}", more)

    top = 10.0 * np.tan(np.radians(10.0))
    assert world.obstacles.boxes[0].base == pytest.approx(top, abs=1e-5)
    assert world.obstacles.cylinders[0].base == 0.5
    assert world.obstacles.meshes[0].box().height == 1.0
    assert world.start.heading == pytest.approx(np.pi / 2.0)
    assert world.top_at(32.0, 0.0) == pytest.approx(top + 1.5, abs=1e-5)
    assert world.top_at(50.0, 0.0) == world.ground.height_at(50.0, 0.0)


@pytest.mark.parametrize("builder", ["{file: {file: hill.npz}}", "{survey: {file: hill.npz}}"])
def test_a_link_cannot_lead_out_of_the_worlds_folder(tmp_path: Path, builder: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "mine").mkdir()
    save_map(ElevationMap(heights=np.ones((5, 5)), resolution=2.0), tmp_path / "elsewhere/hill.npz")
    (tmp_path / "mine/hill.npz").symlink_to("../elsewhere/hill.npz")

    with pytest.raises(SettingsError, match=r"'hill\.npz': is a link that leads out of the world's own folder"):
        build_world(write_world(tmp_path / "mine/made.yaml", builder))


def test_symlink_loops_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "hill.npz").symlink_to("hill.npz")

    with pytest.raises(SettingsError, match=r"hill\.npz': Too many levels of symbolic links"):
        build_world(write_world(tmp_path / "made.yaml", "{file: {file: hill.npz}}"))


def test_a_link_within_the_folder_and_links_to_a_whole_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "source/maps").mkdir(parents=True)
    save_map(ElevationMap(heights=np.ones((5, 5)), resolution=2.0), tmp_path / "source/maps/hill.npz")
    (tmp_path / "source/hill.npz").symlink_to("maps/hill.npz")
    write_world(tmp_path / "source/made.yaml", "{file: {file: hill.npz}}")
    # As `colcon build --symlink-install` does: each file a link to the source tree.
    (tmp_path / "share").mkdir()
    for name in ("made.yaml", "hill.npz"):
        (tmp_path / "share" / name).symlink_to(tmp_path / "source" / name)

    assert build_world(tmp_path / "share/made.yaml").ground.shape == (5, 5)


@pytest.mark.parametrize(
    ("builder", "more"),
    [
        ("{file: {file: pipe.npz}}", ""),
        ("{survey: {file: pipe.npz}}", ""),
        ("{flat: {}}", "meshes: [{file: pipe.obj, x_m: 5.0, y_m: 5.0}]\n"),
    ],
)
def test_a_pipe_named_in_a_world_is_rejected_before_it_can_block(
    tmp_path: Path, builder: str, more: str, alarm: Callable[[float], AbstractContextManager[None]]
) -> None:
    for name in ("pipe.npz", "pipe.obj"):
        os.mkfifo(tmp_path / name)

    with alarm(10.0), pytest.raises(SettingsError, match="is a pipe or device, not a file"):
        build_world(write_world(tmp_path / "made.yaml", builder, more))


BOX = "{x_m: 4.0, y_m: 1.0, length_m: 6.0, width_m: 4.0, height_m: 2.0}"


@pytest.mark.parametrize(
    ("builder", "more", "words"),
    [
        ("{flat: {soil: dry_snad}}", "", "made.yaml: soil dry_snad: unknown; did you mean dry_sand?"),
        ("{urban: {block_soil: mud, resolution_m: 0.5}}", "", "made.yaml: soil mud: unknown; "),
        ("{off_road: {soils: [clay, x], soil_shares: [0.5, 0.5], size_m: 40.0, trees: 0}}", "", "soil x: unknown"),
        (
            "{flat: {}}", "start: {x_m: 100000.0, y_m: 0.0}",
            "made.yaml: start: x 100000, y 0 m is off the map, which has x -20 to 100, y -15 to 15 m",
        ),
        ("{flat: {}}", "goal: {x_m: 0.0, y_m: -15.1}", "made.yaml: goal: x 0, y -15.1 m is off the map"),
        ("{flat: {}}", f"boxes: [{BOX}]\nstart: {{x_m: 2.0, y_m: 0.0}}",
         "made.yaml: start: x 2, y 0 m is inside the box at x 4, y 1 m"),
        ("{flat: {}}", "cylinders: [{x_m: 0.0, y_m: 0.2, radius_m: 0.5, height_m: 1.0}]",
         "start: x 0, y 0 m is inside the cylinder at x 0, y 0.2 m"),
        ("{flat: {}}", "meshes: [{file: rock.obj, x_m: 89.7, y_m: -0.3}]",
         "goal: x 90, y 0 m is inside the mesh rock.obj at x 89.7, y -0.3 m"),
    ],
)  # fmt: skip
def test_an_undrivable_world_is_rejected(tmp_path: Path, builder: str, more: str, words: str) -> None:
    (tmp_path / "rock.obj").write_text(ROCK)

    with pytest.raises(SettingsError) as rejection:
        build_world(write_world(tmp_path / "made.yaml", builder, more + "\n"))

    assert words in str(rejection.value)
    assert "\n" not in str(rejection.value)


def test_a_start_under_a_bridge_or_over_a_cellar_is_fine(make: Make) -> None:
    more = f"boxes: [{BOX.replace('}', ', lift_m: 4.0}')}, {BOX.replace('}', ', lift_m: -3.0}')}]\n"

    assert make("flat", "{}", more + "start: {x_m: 4.0, y_m: 1.0}\n").start.x == 4.0


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("{}", "off_road, survey, file, fault, got none"),
        ("{flat: {}, bump: {}}", "got flat, bump"),
        ("{flt: {}}", "made.yaml:3: build.flt: unknown; did you mean flat?"),
        ("{flat: {length_m: 1e9}}", "made.yaml:3: build.flat.length_m: must be a number from 40 to 10000 [m]"),
        ("{flat: {length_m: .nan}}", "build.flat.length_m: must be a number"),
        ("{flat: {length_m: 10000, width_m: 10000, resolution_m: 0.01}}", "nodes are too many (limit 100000000)"),
        ("{urban: {lowest_m: 20, highest_m: 10}}", "build.urban: highest_m: must not be below lowest_m (20), got 10"),
        ("{off_road: {soils: [clay]}}", "soil_shares: must be as many as soils (1), got 3"),
        ("{off_road: {soils: [clay, snow], soil_shares: [0.5, 0.2]}}", "soil_shares: must add up to 1, got 0.7"),
        ("{file: {file: none.npz}}", "none.npz': No such file or directory"),
        ("{file: {}}", "build.file.file: missing"),
        ("{survey: {file: none.csv, interpolation: cubic}}", "must be one of smooth, linear, got 'cubic'"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(tmp_path: Path, build: str, words: str) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(f"version: 1\ndescription: a test\nbuild: {build}\n")

    with pytest.raises(SettingsError) as rejection:
        build_world(path)

    assert words in str(rejection.value)
    assert "\n" not in str(rejection.value)


def test_an_unknown_world_suggests_the_nearest() -> None:
    with pytest.raises(SettingsError, match="world urbn: unknown; did you mean urban"):
        world_file("urbn")


@many(200)
@given(data=st.data())
def test_a_file_with_an_arbitrary_leaf_is_loaded_or_rejected(data: st.DataObject, tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(sorted(world_files())))
    path = tmp_path / "made.yaml"
    path.write_text(with_another_leaf(data, world_file(name)))

    assert_loaded_or_rejected_in_one_line(lambda: load_world_file(path))


def test_a_world_and_its_files_can_be_copied_elsewhere(tmp_path: Path) -> None:
    for name in ("survey.yaml", "bent_road.csv"):
        shutil.copy(world_file("survey").with_name(name), tmp_path / name)

    assert same_to_the_bit(build_world(tmp_path / "survey.yaml"), load_world("survey"))


def test_the_room_page_names_every_builder_and_its_settings() -> None:
    page = (Path(__file__).parents[2] / "terrain/README.md").read_text()

    kinds = [item.name for item in fields(Build)]
    assert [kind for kind in kinds if f"`{kind}`" not in page] == []
    import typing

    for hint in typing.get_type_hints(Build).values():
        builder = next(kind for kind in typing.get_args(hint) if kind is not type(None))
        assert [item.name for item in fields(builder) if f"`{item.name}`" not in page] == []


def test_the_room_page_shows_how_every_parameter_of_the_map_is_set() -> None:
    page = (Path(__file__).parents[2] / "terrain/README.md").read_text()

    assert [item.name for item in fields(MapSettings) if f"| `{item.name}` |" not in page] == []
    command = re.search(r"proving-ground (node terrain --ros-args .*?) +#", page)
    assert command is not None
    named = re.findall(r"-p (\w+):=", command.group(1))
    assert set(named) <= {"world", *(item.name for item in fields(MapSettings))}
    assert set(named) - {"world"} != set()  # more than the launch accepts


def test_the_vehicles_kernels_and_the_map_agree(make: Make) -> None:
    world = make("off_road", SMALL["off_road"], "seed: 5\n")
    ground = WorldGround(world.ground).kernel()

    for x, y in np.random.default_rng(1).uniform(-50.0, 50.0, (200, 2)).tolist():  # some beyond the edge
        assert _kernel_height(ground, x, y) == pytest.approx(float(world.ground.height_at(x, y)), abs=1e-9)


@kernel
def _kernel_height(ground: Ground, x: float, y: float) -> float:
    return height_at(ground, x, y)
