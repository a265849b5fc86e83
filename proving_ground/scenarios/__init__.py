"""A scenario: its file, its parts, the lock-step run and its criteria."""
