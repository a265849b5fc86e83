"""The scenario low_cost_gps over ROS: `ros2 launch proving_ground low_cost_gps.launch.py rate:=1.0 cockpit:=true`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """The nodes of the scenario `low_cost_gps`."""
    return launch_description("low_cost_gps")
