"""`ros2 launch proving_ground j_turn.launch.py`: the scenario j_turn over ROS; see docs/scenarios.md."""

from scenarios.ros_launch import launch_description


def generate_launch_description():
    return launch_description("j_turn")
