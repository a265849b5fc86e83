"""Simulated sensors: measurements of the true motion, with errors and faults."""
