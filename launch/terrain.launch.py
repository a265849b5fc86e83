"""A world alone: `ros2 launch proving_ground terrain.launch.py world:=urban`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The terrain node."""
    return launch_description("terrain")
