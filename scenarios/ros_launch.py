"""A BringUp as a description for ROS's own launch. Only launch files import this: launch is not on PyPI."""

from __future__ import annotations

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.substitutions import EnvironmentVariable
from launch_ros.actions import Node

from scenarios.bring_up import BringUp, LaunchArgument, bring_up
from scenarios.supervisor import RESPAWN_AFTER_S


def launch_description(name: str) -> LaunchDescription:
    """Arguments and nodes of the launch of that name; when the vehicle ends, the rest are shut down."""
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
    return [
        Node(
            package=spec.package,
            executable=spec.executable,
            name=spec.name,
            arguments=list(spec.arguments),
            parameters=[*map(str, spec.params_files), dict(spec.params)],
            output="screen",
            respawn=spec.respawn,
            respawn_delay=RESPAWN_AFTER_S,
            on_exit=None if spec.respawn else Shutdown(reason=f"node {spec.name} ended"),
        )
        for spec in description.nodes(given)
    ]
