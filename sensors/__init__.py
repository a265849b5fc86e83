"""Simulated sensors: what they would measure of the true motion, with errors and faults."""
