"""Drive with a game pad: `ros2 launch proving_ground teleop.launch.py pad:=xbox stamped:=true`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The joystick and teleop nodes."""
    return launch_description("teleop")
