"""The vehicle, driven with a game pad: `ros2 launch proving_ground drive.launch.py pad:=xbox`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The vehicle, joystick and teleop nodes."""
    return launch_description("drive")
