"""The sensor nodes, their messages, and the ground truth that they hear."""
