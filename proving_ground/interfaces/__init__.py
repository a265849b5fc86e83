"""The contract between nodes: topics, joint names, message codecs and time synchronisation, without rclpy."""
