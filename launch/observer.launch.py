"""The vehicle, its sensors and its observer: `ros2 launch proving_ground observer.launch.py gps:=rtk observer:=ins`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """Vehicle, terrain, sensor and observer nodes."""
    return launch_description("observer")
