"""Makes and updates `.venv`: see README.md in this folder. Standard library only."""
