"""The scenario lane_change over ROS: `ros2 launch proving_ground lane_change.launch.py rate:=1.0 cockpit:=true`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The nodes of the scenario `lane_change`."""
    return launch_description("lane_change")
