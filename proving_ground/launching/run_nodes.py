"""Nodes of compiled parts, and runs made from launch arguments instead of a scenario file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proving_ground.launching.node_spec import NodeSpec
from proving_ground.scenarios.parts import Compiled, free_running
from proving_ground.scenarios.scenario import VERSION, Scenario
from proving_ground.settings import changed_parameters
from proving_ground.settings.nested import build_nested
from proving_ground.settings.units import LONGEST_RUN_S

NO_SENSOR = "none"


def nodes_of(run: Mapping[str, Compiled], *, is_synchronous: bool = False) -> list[NodeSpec]:
    """One node for each part; parameters equal to a node's defaults are omitted."""
    nodes = []
    for name, item in (run if is_synchronous else free_running(run)).items():
        params = dict(changed_parameters(item.settings))
        if item.part.uses_sim_time and not (is_synchronous and item.part.takes_part):  # there time comes by messages
            params["use_sim_time"] = True
        part = item.part
        is_background = is_synchronous and item.is_background  # else it would be late, and its times of arrival
        nodes.append(NodeSpec(part.node, (), params, called=name, respawn=part.rejoins, is_background=is_background))
    return nodes


def scenario_from(values: Mapping[str, str], *, sensors: Mapping[str, str] | None = None, **more: Any) -> Scenario:
    """The run that launch arguments describe; sensors: presets by kind; raises SettingsError.

    Paths are relative to the working directory.
    """
    content: dict[str, Any] = {
        "version": VERSION,
        "description": "as a launch's arguments say",
        "duration_s": LONGEST_RUN_S,
        "world": {"named": {"name": values["world"]}} if values["world"] else {"flat": {}},
        "start": {"at_world": True},
        "vehicle": {"model": values["vehicle"], "fidelity": values["fidelity"]},
        "sensors": [{kind: {"preset": preset}} for kind, preset in (sensors or {}).items() if preset != NO_SENSOR],
        **more,
    }
    return build_nested(Scenario, content, "launch arguments").found_from(Path.cwd())
