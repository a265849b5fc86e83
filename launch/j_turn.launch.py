"""The scenario j_turn over ROS: `ros2 launch proving_ground j_turn.launch.py rate:=1.0 cockpit:=true`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The nodes of the scenario `j_turn`."""
    return launch_description("j_turn")
