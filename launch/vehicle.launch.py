"""The vehicle alone: `ros2 launch proving_ground vehicle.launch.py fidelity:=multibody real_time_factor:=1.0`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The vehicle node."""
    return launch_description("vehicle")
