"""The cockpit as a node."""
