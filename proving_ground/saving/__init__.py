"""The state of a run's parts: named by each class, and written to bytes and read back to the bit."""
