"""The pages of concepts, topics and validation match the code."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from proving_ground.cli.validate import add_parser
from proving_ground.interfaces.message_types import message_class
from proving_ground.interfaces.page import PAGES, filled, main
from proving_ground.interfaces.simulation_services import NODE
from proving_ground.interfaces.topics import ACTIONS, EVERY_NODE, EVERY_SENSOR, SERVICES, TOPICS
from proving_ground.launching.node_process import node_modules
from proving_ground.settings import SettingsError
from proving_ground.validation.page import PARTS, validate
from proving_ground.validation.parts import Bound, Chapter, Part, Row

ROOT = Path(__file__).parents[2]
TOPICS_PAGE = (ROOT / "docs/topics.md").read_text()
LITERAL = re.compile("|".join(rf'"/?{re.escape(item.name.strip("/"))}"' for item in (*TOPICS, *SERVICES)))
CODE = ("planner", "proving_ground", "sensors", "state_observer", "terrain", "vehicle_dynamics")
WORDS = {'"map"', '"plan"', '"tf"', '"joy"', '"clock"', '"cmd_vel"', '"diagnostics"'}  # also have other meanings


@pytest.mark.parametrize("page", PAGES)
def test_tables_of_a_page_are_those_of_the_topic_table(page: str) -> None:
    text = (ROOT / page).read_text()

    assert "<!-- topics: " in text
    assert filled(text) == text


def test_a_page_that_differs_is_named_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.setattr("proving_ground.interfaces.page.ROOT", tmp_path)
    page = tmp_path / "docs/topics.md"
    page.write_text(TOPICS_PAGE.replace("`ground_truth/odom`", "`truth/odom`"))

    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0
    assert page.read_text() == TOPICS_PAGE


def test_no_source_but_the_topic_table_names_a_topic() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for room in CODE
        for path in (ROOT / room).rglob("*.py")
        if path.name != "topics.py" or path.parent.name != "interfaces"
        for name in LITERAL.findall(path.read_text())
        if name not in WORDS
    }

    assert found == set()


@pytest.mark.parametrize("line", re.findall(r"^ros2 (?:service|action) .*$", TOPICS_PAGE, re.MULTILINE))
def test_a_command_of_the_page_fits_the_table_and_its_type(line: str) -> None:
    name, kind, *given = (word for word in shlex.split(line)[3:] if not word.startswith("--"))
    made: Any = message_class(kind)

    assert (name, kind) in [(f"/{row.name}", row.type) for row in (*SERVICES, *ACTIONS)]
    fill(made.Goal() if hasattr(made, "Goal") else made.Request(), yaml.safe_load(given[0]) if given else {})


def fill(message: Any, values: dict[str, Any]) -> None:
    """Set fields as `ros2 service call` does; unknown names and wrong types fail."""
    for name, value in values.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        else:
            assert type(getattr(message, name)) is type(value)


def test_nodes_of_the_table_exist() -> None:
    named = {node for topic in TOPICS for node in (*topic.publishers, *topic.listeners)} | {
        service.node for service in (*SERVICES, *ACTIONS)
    }

    assert named - {EVERY_NODE, EVERY_SENSOR, NODE} <= set(node_modules())  # NODE is in the vehicle's process


def test_names_of_the_table_are_different_and_types_are_installed() -> None:
    rows = (*TOPICS, *SERVICES, *ACTIONS)
    names = [item.name for item in rows]

    assert len(set(names)) == len(names)
    assert [item.name for item in rows if message_class(item.type) is None] == []


@pytest.mark.parametrize("page", ["concepts.md", "topics.md", "scenarios.md", "validation.md"])
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()

    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)]
    assert [target for target in targets if target and not (ROOT / "docs" / target).exists()] == []


# Validation


def test_validation_writes_a_page_with_tables_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(tmp_path, is_full=False, only=["lane_change", "straight"]) == 0

    page = (tmp_path / "validation.md").read_text()
    assert "| yaw_rate_radps: peak over the reference's | 1.03" in page
    assert "| speed after 1 s | 3.25" in page  # outside its bounds, known, and stated
    assert "**outside**: the carcass winds up" in page
    assert (tmp_path / "validation/lane_change.png").read_bytes().startswith(b"\x89PNG")
    assert "lane_change: ok" in capsys.readouterr().out


def test_a_figure_outside_its_bounds_is_marked_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    off = Row("way", 3.0, "1 m", Bound(0.9, 1.1), "m")
    not_there = Row("speed", float("nan"), "", Bound(most=1.0))
    rows = [off, not_there, off._replace(known="a reason")]
    monkeypatch.setitem(PARTS, "gps", Chapter("Made", lambda say: Part("up", rows)))

    assert validate(tmp_path, is_full=False, only=["gps"]) == 1

    page = (tmp_path / "validation.md").read_text()
    assert "| way | 3 m | 1 m | 0.9 to 1.1 **outside** |" in page
    assert "| speed | nan | - | at most 1 **outside** |" in page
    assert "**outside**: a reason |" in page


def test_an_unknown_part_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--only lane_chang: .*lane_change"):
        validate(tmp_path, is_full=False, only=["lane_chang"])


def test_the_page_of_validation_has_all_chapters_and_no_figure_outside_without_a_reason() -> None:
    page = (ROOT / "docs/validation.md").read_text()

    chapters = re.findall("^## (.*)$", page, re.MULTILINE)
    assert chapters == [*(chapter.title for chapter in PARTS.values()), "Made with"]  # `proving-ground validate --full`
    outside = [line for line in page.splitlines() if "**outside** |" in line]
    assert outside == []


def test_validate_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    options = parser.parse_args(["validate", "--only", "list"])

    assert options.run(options) == 0

    assert "vehicle_observer (with --full)" in capsys.readouterr().out
