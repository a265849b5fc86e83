"""Nodes that record and replay bags, and what they need of rclpy."""
