"""Parameters of a live node: described, validated, set atomically; bad ones are rejected and the node lives on."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import TwistStamped
from hypothesis import HealthCheck, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters, SetParametersAtomically

from planner.teleop import TeleopSettings
from proving_ground.settings import declarations

DECLARED = declarations(TeleopSettings)
NUMERIC = sorted(name for name, item in DECLARED.items() if item.kind is float and not item.read_only)


def double(name: str, value: float) -> Parameter:
    return Parameter(name=name, value=ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value))


class Live:
    """A running teleop node and clients of its parameter services."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.process = graph.start("teleop")
        self._set = graph.node.create_client(SetParameters, "/teleop/set_parameters")
        self._set_all = graph.node.create_client(SetParametersAtomically, "/teleop/set_parameters_atomically")
        self._get = graph.node.create_client(GetParameters, "/teleop/get_parameters")
        self._describe = graph.node.create_client(DescribeParameters, "/teleop/describe_parameters")

    def set(self, *parameters: Parameter) -> list[Any]:
        return list(self._graph.call(self._set, SetParameters.Request(parameters=parameters)).results)

    def set_all(self, *parameters: Parameter) -> Any:
        return self._graph.call(self._set_all, SetParametersAtomically.Request(parameters=parameters)).result

    def get(self, *names: str) -> list[Any]:
        return list(self._graph.call(self._get, GetParameters.Request(names=names)).values)

    def describe(self, name: str) -> Any:
        return self._graph.call(self._describe, DescribeParameters.Request(names=[name])).descriptors[0]


def test_parameters_describe_themselves(graph: Any) -> None:
    descriptor = Live(graph).describe("joy_timeout_s")

    assert descriptor.description == "Time without a /joy message after which the vehicle is stopped"
    assert descriptor.additional_constraints == "must be a number from 0.05 to 2 [s]"
    assert (descriptor.floating_point_range[0].from_value, descriptor.floating_point_range[0].to_value) == (0.05, 2.0)


def test_good_value_takes_effect_and_whole_numbers_serve_as_floats(graph: Any) -> None:
    live = Live(graph)
    whole = Parameter(
        name="turbo_speed_mps", value=ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=9)
    )

    assert all(result.successful for result in live.set(double("expo", 0.9), whole))

    assert [value.double_value for value in live.get("expo", "turbo_speed_mps")] == [0.9, 9.0]


def test_set_is_atomic_and_relations_hold(graph: Any) -> None:
    live = Live(graph)

    rejected = live.set_all(double("expo", 0.9), double("max_speed_mps", 9.0))
    accepted = live.set_all(double("max_speed_mps", 9.0), double("turbo_speed_mps", 12.0))

    assert rejected.reason == "turbo_speed_mps: must be at least max_speed_mps (9), got 8"
    assert accepted.successful
    values = [value.double_value for value in live.get("expo", "max_speed_mps", "turbo_speed_mps")]
    assert values == [DECLARED["expo"].default, 9.0, 12.0]


def test_read_only_and_unknown_ones_are_rejected_with_reason(graph: Any) -> None:
    live = Live(graph)

    results = live.set(double("publish_rate_hz", 50.0), double("exp0", 0.5), double("", 1.0))

    assert results[0].reason == "publish_rate_hz: can only be set when the node starts"
    assert results[1].reason.startswith("exp0: unknown; did you mean expo?")
    assert not results[2].successful


BAD_VALUES = st.one_of(
    st.floats(min_value=1e3).map(lambda value: ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)),
    st.sampled_from([math.nan, math.inf, -math.inf, -1.001, -1e300]).map(
        lambda value: ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
    ),
    st.integers(1000, 2**63 - 1).map(
        lambda value: ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=value)
    ),
    st.booleans().map(lambda value: ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value)),
    st.text(max_size=20).map(lambda value: ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)),
    st.lists(st.floats(), max_size=4).map(
        lambda value: ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY, double_array_value=value)
    ),
    st.lists(st.text(max_size=5), max_size=4).map(
        lambda value: ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=value)
    ),
    st.just(ParameterValue(type=ParameterType.PARAMETER_NOT_SET)),
    st.integers(10, 255).map(lambda kind: ParameterValue(type=kind)),  # an unknown type
)


def test_a_thousand_bad_parameter_sets_are_rejected_and_the_node_lives_on(graph: Any) -> None:
    live = Live(graph)
    before = live.get(*NUMERIC)

    @seed(2)
    @given(
        bad=st.tuples(st.sampled_from(NUMERIC), BAD_VALUES),
        good=st.lists(st.sampled_from(NUMERIC), max_size=3, unique=True),
        together=st.booleans(),
    )
    @hypothesis_settings(max_examples=1000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def reject(bad: tuple[str, ParameterValue], good: list[str], together: bool) -> None:
        name, value = bad
        request = [double(other, float(DECLARED[other].default)) for other in good if other != name]
        request.append(Parameter(name=name, value=value))
        result = live.set_all(*request) if together else live.set(*request)[-1]

        assert not result.successful
        assert result.reason.count("\n") == 0
        is_known_type = value.type < 10
        expected = f"{name}: must be {DECLARED[name].allowed()}, got " if is_known_type else "malformed request: "
        assert result.reason.startswith(expected)

    reject()

    assert live.get(*NUMERIC) == before
    assert live.process.is_running()
    assert "Traceback" not in live.process.output
    commands = graph.collect(TwistStamped, "/cmd_vel")
    graph.wait_until(lambda: commands, "commands after a thousand rejections")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("teleop:\n  ros__parameters:\n    expo: 7\n", ":3: expo: must be a number from 0 to 1, got 7"),
        ("teleop:\n  ros__parameters:\n    expo: [1\n", ":4: not valid YAML: "),
        ("teleop:\n  ros__parameters:\n    max_speed: 1.0\n", ":3: max_speed: unknown; did you mean max_speed_mps?"),
        ("\x00\x01", "not valid YAML"),
    ],
)
def test_node_does_not_start_on_a_bad_file_and_says_why_in_one_line(
    graph: Any, tmp_path: Path, content: str, words: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(content)

    process = graph.start("teleop", "--ros-args", "--params-file", str(path))

    assert process.wait() == 2
    assert process.output.startswith(f"teleop: {path}")
    assert words in process.output
    assert process.output.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "expo:=2"], "teleop: command line: expo: must be a number from 0 to 1, got 2"),
        (["-p", "expo:=[1"], "teleop: command line: expo: not a valid value: [1"),
        (["-p", "use_sim_time:=5"], "teleop: command line: use_sim_time: must be true or false, got 5"),
        (
            ["-p", "qos_overrides./cmd_vel.publisher.reliability:=foo"],
            "teleop: command line: qos_overrides./cmd_vel.publisher.reliability: "
            "must be one of reliable, best_effort, system_default, got 'foo'",
        ),
        (["--nonsense"], "teleop: command line: unknown ROS arguments ['--nonsense']"),
    ],
)
def test_node_does_not_start_on_a_bad_command_line(graph: Any, arguments: list[str], words: str) -> None:
    process = graph.start("teleop", "--ros-args", *arguments)

    assert process.wait() == 2
    assert process.output == words + "\n"


def test_arguments_that_are_not_for_ros_are_rejected_and_help_is_given(graph: Any) -> None:
    rejected, helped = graph.start("teleop", "--params-file", "x.yaml"), graph.start("teleop", "--help")

    assert rejected.wait() == 2
    assert rejected.output == "teleop: --params-file: unknown; arguments for ROS come after --ros-args\n"
    assert helped.wait() == 0
    assert (
        "Time without a /joy message after which the vehicle is stopped; a number from 0.05 to 2 [s]" in helped.output
    )


@pytest.mark.parametrize("domain", ["300", "abc", "-1"])
def test_bad_domain_is_reported_in_one_line(graph: Any, monkeypatch: pytest.MonkeyPatch, domain: str) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)

    process = graph.start("teleop")

    assert process.wait() == 2
    assert process.output == f"teleop: ROS_DOMAIN_ID: must be a whole number from 0 to 232, got {domain!r}\n"


def test_file_for_other_nodes_only_is_named(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "typo.yaml"
    path.write_text("telop:\n  ros__parameters:\n    expo: 0.2\n")

    process = graph.start("teleop", "--ros-args", "--params-file", str(path))

    graph.wait_until(lambda: f"{path} is ignored: it is for telop, not for /teleop" in process.output, "a warning")


def test_node_that_rejects_its_settings_leaves_no_thread_of_dds_behind(graph: Any) -> None:
    """Such threads may crash when the process ends."""
    code = (
        "import glob\nfrom terrain.ros.terrain_node import main\nprint(main())\n"
        "print([name for file in glob.glob('/proc/self/task/*/comm') if 'dds.udp' in (name := open(file).read())])"
    )
    process = graph.start_command([sys.executable, "-c", code, "--ros-args", "-p", "world:=twon"])

    assert process.wait() == 0
    assert process.output.splitlines()[-2:] == ["2", "[]"]
