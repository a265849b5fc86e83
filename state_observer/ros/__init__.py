"""The observer node."""
