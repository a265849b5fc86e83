"""`ros2 launch proving_ground off_road.launch.py`: the scenario off_road over ROS; see docs/scenarios.md."""

from scenarios.ros_launch import launch_description


def generate_launch_description():
    return launch_description("off_road")
