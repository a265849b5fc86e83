"""The node that drives a scenario's script."""
