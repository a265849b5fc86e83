"""Starting nodes as processes or by ros2 launch, watching them, and judging a run over ROS."""
