"""A BringUp as a description for ROS's own launch. Only launch files import this: launch is not on PyPI."""

from __future__ import annotations

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable, Shutdown, TimerAction
from launch.events.process import ProcessExited
from launch.substitutions import EnvironmentVariable
from launch_ros.actions import Node

from proving_ground.launching.bring_up import BringUp, LaunchArgument, bring_up
from proving_ground.launching.node_spec import NodeSpec
from proving_ground.launching.supervisor import EXIT_BAD_SETTINGS, MOST_RESPAWNS, RESPAWN_AFTER_S
from proving_ground.ros_support.respawn import RESPAWN


def launch_description(name: str) -> LaunchDescription:
    """Arguments and nodes of the launch of that name; all end when one ends that is neither restarted nor a viewer."""
    description = bring_up(name)
    return LaunchDescription(
        [
            SetEnvironmentVariable(
                "ROS_AUTOMATIC_DISCOVERY_RANGE",
                EnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", default_value="LOCALHOST"),
            ),
            *(_declaration(argument) for argument in description.arguments),
            OpaqueFunction(function=_nodes, args=[description]),
        ]
    )


def _declaration(argument: LaunchArgument) -> DeclareLaunchArgument:
    return DeclareLaunchArgument(
        argument.name,
        default_value=argument.default,
        description=argument.description,
        choices=argument.choices or None,
    )


def _nodes(context: LaunchContext, description: BringUp) -> list[Node]:
    given = {argument.name: context.launch_configurations[argument.name] for argument in description.arguments}
    return [_node(spec) for spec in description.nodes(given)]


def _node(spec: NodeSpec, respawns: int = 0) -> Node:
    """Restart as the supervisor does: launch's own `respawn` cannot inform a node that it was restarted."""

    def on_exit(event: ProcessExited, context: LaunchContext) -> TimerAction | Shutdown | None:
        if context.is_shutdown:
            return None
        has_crashed = event.returncode not in (0, EXIT_BAD_SETTINGS)
        if spec.respawn and has_crashed and respawns < MOST_RESPAWNS:
            return TimerAction(period=RESPAWN_AFTER_S, actions=[_node(spec, respawns + 1)])
        if spec.is_optional:
            return None
        return Shutdown(reason=f"node {spec.name} ended")

    return Node(
        package=spec.package,
        executable=spec.executable,
        name=spec.name,
        arguments=list(spec.arguments),
        parameters=[*map(str, spec.params_files), dict(spec.params)],
        output="screen",
        additional_env={RESPAWN: "1"} if respawns else None,
        on_exit=on_exit,
    )
