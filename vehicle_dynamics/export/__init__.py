"""The rigid-body model for other programs."""
