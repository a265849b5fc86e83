"""Planar linkages, their sensors and their true motion (seed 001 Sections 4.1 to 4.5)."""
