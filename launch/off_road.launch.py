"""The scenario off_road over ROS: `ros2 launch proving_ground off_road.launch.py rate:=1.0 cockpit:=true`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The nodes of the scenario `off_road`."""
    return launch_description("off_road")
