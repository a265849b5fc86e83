"""The roll angle of a bicycle from cheap sensors (seed 001 Section 3.2): a small worked example."""
