"""`ros2 launch proving_ground lane_change.launch.py`: the scenario lane_change over ROS; see docs/scenarios.md."""

from scenarios.ros_launch import launch_description


def generate_launch_description():
    return launch_description("lane_change")
