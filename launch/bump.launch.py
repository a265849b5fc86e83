"""`ros2 launch proving_ground bump.launch.py`: the scenario bump over ROS; see docs/scenarios.md."""

from scenarios.ros_launch import launch_description


def generate_launch_description():
    return launch_description("bump")
