"""Running nodes have the same settings as the cores in lock-step, read back from the nodes."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python

from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import load_scenario, scenario_file
from proving_ground.settings import as_parameters
from vehicle_dynamics.standing import EndSettings

START_WAIT_S = 180.0  # includes compilation with a cold cache


@pytest.mark.parametrize("name", ["urban", "lane_change", "off_road", "low_cost_gps"])
def test_nodes_of_a_launch_hold_the_settings_that_lock_step_is_made_from(graph: Any, name: str) -> None:
    run = compiled(load_scenario(scenario_file(name)))
    wanted = {part: as_parameters(item.settings) for part, item in run.items()}
    scenario = load_scenario(scenario_file(name))
    end = EndSettings(duration_s=scenario.duration_s, with_drive="planner" in run)
    waiting = replace(run["vehicle"].settings, start_paused=True, real_time_factor=0.5, end=end)
    wanted["vehicle"] = as_parameters(waiting)

    command = [sys.executable, "-m", "proving_ground", "launch", name, "record:=false", "rate:=0.5"]
    graph.start_command(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    for part, parameters in wanted.items():
        client = graph.node.create_client(GetParameters, f"/{part}/get_parameters")
        graph.wait_until(client.service_is_ready, f"node {part}", START_WAIT_S)
        answer = graph.call(client, GetParameters.Request(names=list(parameters)))
        held = dict(zip(parameters, map(_value, answer.values), strict=True))
        assert held == {key: _listed(value) for key, value in parameters.items()}, part


def _value(message: Any) -> Any:
    value = parameter_value_to_python(message)
    return _listed(value)


def _listed(value: Any) -> Any:
    """Arrays of ROS as lists."""
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else value
