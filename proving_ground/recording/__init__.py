"""Recordings as rosbag2 bags, written and read without ROS."""
