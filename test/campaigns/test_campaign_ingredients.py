"""Files that a campaign is made of: a change of any is noticed and reported by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from proving_ground.campaigns.kit import Kit, load_kit, prepared
from proving_ground.campaigns.plan import Job
from proving_ground.campaigns.store import changed_files
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_directory
from terrain.soils_file import soil_table
from written_campaigns import BASE, CAMPAIGN, write

INGREDIENTS = {  # by their files: the key by which the campaign chooses them, and what they are called
    "heavy.yaml": ("vehicle.model", "vehicle heavy.yaml"),
    "town.yaml": ("world.named.name", "world town.yaml"),
    "road.csv": ("world.named.name", "world's road.csv"),
    "rock.obj": ("world.named.name", "world's rock.obj"),
    "sharp.yaml": ("observer.settings", "observer's sharp.yaml"),
    "believed.yaml": ("observer.settings", "observer's vehicle believed.yaml"),
    "planner_for_a_test.py": ("driver.to_goal.planner.planner", "planner planner_for_a_test:Own"),
}
WORDS = {
    "vehicle.model": "[hmmwv, heavy.yaml]",
    "world.named.name": "[flat, town.yaml]",
    "observer.settings": "[sharp.yaml]",
    "driver.to_goal.planner.planner": "[arcs, 'planner_for_a_test:Own']",
}

PAD = """version: 1
description: a pad
build: {flat: {soil: 'SOIL'}}
boxes: [{x_m: 30.0, y_m: 5.0, length_m: 1.0, width_m: 1.0, height_m: 1.0}]
"""


def with_files(folder: Path) -> tuple[str, str]:
    """A campaign and its base that name files of all kinds, which are written."""
    config = share_directory() / "config"
    for name in ("heavy.yaml", "believed.yaml"):
        (folder / name).write_text((config / "vehicles/hmmwv.yaml").read_text())
    (folder / "town.yaml").write_text(
        "version: 1\ndescription: a road\nbuild: {survey: {file: road.csv, resolution_m: 5.0}}\n"
        "meshes: [{file: rock.obj, x_m: 5, y_m: 5}]\n"
    )
    points = [f"{x},{y},{0.1 * x}" for x in range(0, 50, 10) for y in range(0, 50, 10)]
    (folder / "road.csv").write_text("\n".join(["x_m,y_m,z_m", *points]) + "\n")
    (folder / "rock.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    observer = (config / "observers/vehicle.yaml").read_text()
    assert 'vehicle: ""' in observer
    (folder / "sharp.yaml").write_text(observer.replace('vehicle: ""', "vehicle: believed.yaml"))
    (folder / "planner_for_a_test.py").write_text("class Own: pass\n")
    base = (
        BASE.replace("flat: {friction: 0.8}", "named: {name: flat}") + "  - encoders: {}\nobserver: {kind: vehicle}\n"
    )
    base = base.replace("straight: {speed_mps: 5.0}", "to_goal: {goal: {x_m: 5.0, y_m: 0.0}}")
    vary = [f"  - {{key: {key}, choice: {{words: {words}}}}}" for key, words in WORDS.items()]
    campaign = "\n".join([CAMPAIGN.split("vary:")[0].replace("SAMPLING", "random") + "vary:", *vary])
    return campaign + "\n", base


def test_a_kit_changes_its_name_with_any_file_that_it_is_made_of(tmp_path: Path) -> None:
    def digest(**texts: str) -> str:
        kit: Kit = load_kit(write(tmp_path, **texts))
        return kit.digest

    before = digest()
    assert digest() == before
    assert digest(base=BASE.replace("1.0", "1.5")) != before
    assert digest(campaign=CAMPAIGN.replace("0.9", "0.8")) != before


@pytest.mark.parametrize("name", INGREDIENTS)
def test_a_changed_file_that_one_of_the_choices_names_is_reported_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    path = write(tmp_path, *with_files(tmp_path))
    before = load_kit(path).hashes
    with (tmp_path / name).open("a") as file:
        file.write("\n")
    assert changed_files(before, load_kit(path).hashes) == [INGREDIENTS[name][1]]


def test_files_that_the_base_alone_names_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    _, base = with_files(tmp_path)
    base = base.replace("name: flat", "name: town.yaml").replace("{kind: vehicle}", "{settings: sharp.yaml}")
    base = base.replace("to_goal: {", "to_goal: {planner: {planner: 'planner_for_a_test:Own'}, ")
    base = base.replace("fidelity: single_track", "fidelity: single_track, model: heavy.yaml")
    campaign = CAMPAIGN.split("vary:")[0] + "vary: [{key: duration_s, constant: 2.0}]\n"
    hashes = load_kit(write(tmp_path, campaign, base)).hashes
    own = {"campaign", "base", "vehicle", "world"}
    chosen = {"vehicle heavy.yaml", "world town.yaml"}
    assert set(hashes) == own | {what for _, what in INGREDIENTS.values()} - chosen


@pytest.mark.parametrize(
    ("world", "key", "words", "whose"),
    [
        ("field: {soil: 'soils.yaml:bog'}", "duration_s", "", "soils"),
        ("field: {soil: clay}", "world.field.soil", "[clay, 'soils.yaml:bog']", "soils"),
        ("named: {name: pad.yaml}", "duration_s", "", "world's"),
        ("named: {name: firm.yaml}", "world_parameters.build.flat.soil", "[clay, 'soils.yaml:bog']", "world's"),
    ],
)
def test_a_changed_file_of_soils_is_reported_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: str, key: str, words: str, whose: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    soils = tmp_path / "soils.yaml"
    soils.write_text("bog: {hard: {friction: 0.3, source: a test}}\n")
    for file, soil in (("pad.yaml", "soils.yaml:bog"), ("firm.yaml", "clay")):
        (tmp_path / file).write_text(PAD.replace("SOIL", soil))
    chosen = f"choice: {{words: {words}}}" if words else "constant: 1.0"
    campaign = CAMPAIGN.split("vary:")[0] + f"vary: [{{key: {key}, {chosen}}}]\n"
    path = write(tmp_path, campaign, BASE.replace("flat: {friction: 0.8}", world))
    kit = load_kit(path)
    ready = prepared(kit, Job(0, ("soils.yaml:bog" if words else 1.0,), seed=0))
    field = ready.scenario.world.field
    used = ready.world.soil_names if ready.world else (field.soil,) if field else ()
    assert soil_table(used)["friction"].tolist() == [0.3]
    assert ready.world is None or len(ready.world.obstacles.boxes) == 1

    soils.write_text(soils.read_text().replace("0.3", "0.4"))

    assert changed_files(kit.hashes, load_kit(path).hashes) == [f"{whose} soils.yaml"]


def test_a_missing_planner_is_left_to_the_runs_to_report(tmp_path: Path) -> None:
    campaign, base = with_files(tmp_path)
    assert not [what for what in load_kit(write(tmp_path, campaign, base)).hashes if what.startswith("planner")]


def test_a_missing_chosen_file_is_reported_in_one_line(tmp_path: Path) -> None:
    campaign, base = with_files(tmp_path)
    (tmp_path / "road.csv").unlink()
    with pytest.raises(SettingsError, match=r"town\.yaml: .*road\.csv") as caught:
        load_kit(write(tmp_path, campaign, base))
    assert "\n" not in str(caught.value)
