"""A scenario: its file, its parts, the lock-step run and what is judged of it."""
