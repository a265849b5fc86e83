"""Acceptance tests of the HMMWV's mobility: grades, acceleration, traction, handling, ride."""
