"""Turns a folder of .msg, .srv and .action definitions into a wheel project. Runs in the virtual environment."""
