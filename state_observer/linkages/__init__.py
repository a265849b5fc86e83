"""Planar linkages, their sensors and their true motion ([Sanjurjo] Sections 4.1 to 4.5)."""
