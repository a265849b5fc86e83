"""Drivers: turn human input, plans and scripts into commands for the vehicle."""
