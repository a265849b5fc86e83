"""`ros2 launch proving_ground low_cost_gps.launch.py`: the scenario low_cost_gps over ROS; see docs/scenarios.md."""

from scenarios.ros_launch import launch_description


def generate_launch_description():
    return launch_description("low_cost_gps")
