"""The terrain node."""
