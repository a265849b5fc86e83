"""The sensor nodes, their messages, and their ground truth input."""
