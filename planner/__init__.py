"""Drivers: what turns people's input, plans and scripts into commands for the vehicle."""
