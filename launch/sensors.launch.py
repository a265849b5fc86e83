"""The vehicle with its sensors: `ros2 launch proving_ground sensors.launch.py world:=urban gps:=rtk lidar:=none`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """Vehicle, terrain and sensor nodes."""
    return launch_description("sensors")
