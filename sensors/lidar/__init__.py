"""LIDAR: ray casting on the world's triangles, and measurement errors."""
