"""Turns a folder of .msg definitions into an installable wheel project. Runs in the virtual environment."""
