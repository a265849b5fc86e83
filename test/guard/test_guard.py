"""Guard against accidental changes: motion of every shipped scenario, commands, parameters, topics, bags.

`guard.json` holds what was found when behaviour last changed on purpose. To record it again, for a change that is
meant: `GUARD_RECORD=1 .venv/bin/python -m pytest test/guard`, then read the diff.

Scenarios are run as they are shipped, most of them with the default vehicle (chapter `scenarios`), and those that take
seconds with the reference simulation's vehicle too (chapter `scenarios_chrono`, and the bag of sensor_drive). `urban`
and `low_cost_gps` take most of the time and are run with the default vehicle only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from node_settings import settings_type

from proving_ground.cli import main as cli
from proving_ground.interfaces import topics
from proving_ground.interfaces.topic import Topic
from proving_ground.interfaces.topics import SERVICES, TOPICS
from proving_ground.launching.node_process import node_modules
from proving_ground.recording.recording import Recording
from proving_ground.recording.writing import BagWriter
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.metrics import judge, load_reference
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file, scenario_files
from proving_ground.settings import declarations

HERE = Path(__file__).parent
KNOWN_FILE = HERE / "guard.json"
KNOWN: dict[str, Any] = json.loads(KNOWN_FILE.read_text()) if KNOWN_FILE.exists() else {}
BY_VARIABLE = (
    topics.CMD_VEL, topics.IMU_RAW, topics.FIX, topics.GPS_VELOCITY, topics.WHEELS, topics.ACTUATION,
)  # fmt: skip
REFERENCE_VEHICLE = "hmmwv_chrono"
AS_SHIPPED_ONLY = {
    "urban", "low_cost_gps",  # long
    "acceleration", "lane_change_reference",  # drive the reference simulation's vehicle as shipped
    "hill_climb",  # needs a low range
    "ride",  # the reference simulation's springs are too stiff for it
}  # fmt: skip
RECORDS = bool(os.environ.get("GUARD_RECORD"))


def check(chapter: str, key: str, found: Any) -> None:
    """Compare with what is known, or record it."""
    if RECORDS:
        known = json.loads(KNOWN_FILE.read_text()) if KNOWN_FILE.exists() else {}
        known.setdefault(chapter, {})[key] = found
        KNOWN_FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    else:
        assert found == KNOWN[chapter][key]


def fingerprint(run: Run) -> str:
    """Hash of all states and estimates, to the bit."""
    digest = hashlib.sha256(run.history.tobytes())
    if run.estimates is not None:
        digest.update(run.estimates.tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.slow  # all scenarios to their end: a minute together
@pytest.mark.parametrize("name", sorted(scenario_files()))
def test_a_shipped_scenario_passes_and_its_motion_is_the_known_one(name: str) -> None:
    check("scenarios", name, _summary(load_scenario(scenario_file(name))))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(scenario_files()) - AS_SHIPPED_ONLY))
def test_with_the_reference_vehicle_a_scenario_passes_and_its_motion_is_the_known_one(name: str) -> None:
    check("scenarios_chrono", name, _summary(_with_reference_vehicle(load_scenario(scenario_file(name)))))


def _with_reference_vehicle(scenario: Scenario) -> Scenario:
    return replace(scenario, vehicle=replace(scenario.vehicle, model=REFERENCE_VEHICLE))


def _summary(scenario: Scenario) -> dict[str, Any]:
    """Motion and verdict of a run, which must be sound."""
    run = LockStep(scenario).run()

    findings = judge(scenario.criteria, run.channels, load_reference(scenario))
    end = {key: round(float(run.channels[key][-1]), 4) for key in ("x_m", "y_m", "speed_mps")}
    summary = {"hash": fingerprint(run), "passed": all(item.passed for item in findings), **end}
    assert run.diverged_at is None
    assert summary["passed"]
    assert all(np.isfinite(values).all() for values in run.channels.values())
    return summary


def test_commands_and_their_options_are_the_known_ones() -> None:
    check("lists", "commands", _options(cli._parser()))


def _options(parser: argparse.ArgumentParser) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= {name: _options(sub) for name, sub in action.choices.items()}
        elif action.option_strings or action.dest != "help":
            found["/".join(action.option_strings) or action.dest] = "option" if action.option_strings else "argument"
    return found


@pytest.mark.parametrize("name", sorted(node_modules()))
def test_parameters_of_a_node_are_the_known_ones(name: str) -> None:
    check("parameters", name, _parameters(settings_type(name)))


def _parameters(settings: Any) -> dict[str, Any]:
    return {item.name: _plain(item.default) for item in declarations(settings).values()}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def test_topics_and_services_of_the_table_are_the_known_ones() -> None:
    """The known lists were read from the nodes' sources; names that the sources had in variables are left out."""
    published = [f"{_short(topic)} {topic.name} {topic.qos.name.upper()}" for topic in TOPICS if topic.publishers]
    received = [f"{_short(topic)} {topic.name}" for topic in TOPICS if topic.listeners and topic not in BY_VARIABLE]
    served = [f"{service.type.rpartition('/')[2]} {service.name}" for service in SERVICES]

    for key, found in (("advertise", published), ("listen", received), ("create_service", served)):
        check("topics", key, sorted(line for line in found if "~" not in line))


def _short(topic: Topic) -> str:
    """Name of a type as the nodes' sources had it when the lists were made."""
    if topic is topics.CMD_VEL:
        return "kind"
    name = topic.type.rpartition("/")[2]
    return {"Imu": "ImuMessage"}.get(name, name)


@pytest.mark.parametrize(
    ("key", "name", "fitted"),
    [("bag", "sensor_drive", _with_reference_vehicle), ("bag_low_cost_gps", "low_cost_gps", lambda scenario: scenario)],
)
def test_a_bag_of_lock_step_has_the_known_topics(
    tmp_path: Path, key: str, name: str, fitted: Callable[[Scenario], Scenario]
) -> None:
    from rosbags.highlevel import AnyReader

    scenario = fitted(load_scenario(scenario_file(name)))
    with BagWriter(tmp_path / "bag") as writer:
        recording = Recording(writer)
        runner = LockStep(scenario, listener=recording.sample)
        recording.watch(runner, scenario.start.time_ns())
        runner.advance_to(200)
        recording.finish()

    with AnyReader([tmp_path / "bag"]) as reader:
        found = {
            item.topic: {"type": item.msgtype, "count": item.msgcount, "hash": _hash_of(reader, item)}
            for item in sorted(reader.connections, key=lambda item: item.topic)
        }
    check("lists", key, found)


def _hash_of(reader: Any, connection: Any) -> str:
    digest = hashlib.sha256()
    for _, time_ns, raw in reader.messages([connection]):
        digest.update(time_ns.to_bytes(8, "little") + bytes(raw))
    return digest.hexdigest()[:16]
