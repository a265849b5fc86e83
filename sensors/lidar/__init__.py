"""LIDAR: rays cast on the world's triangles, and what a unit makes of them."""
