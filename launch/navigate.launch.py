"""The vehicle drives to /goal_pose by itself: `ros2 launch proving_ground navigate.launch.py world:=urban`."""

from launch import LaunchDescription

from proving_ground.launching.ros_launch import launch_description


def generate_launch_description() -> LaunchDescription:
    """Vehicle, terrain and planner nodes, and a LIDAR if the planner uses one."""
    return launch_description("navigate")
