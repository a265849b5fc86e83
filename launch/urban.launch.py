"""`ros2 launch proving_ground urban.launch.py`: the scenario urban over ROS; see docs/scenarios.md."""

from scenarios.ros_launch import launch_description


def generate_launch_description():
    return launch_description("urban")
