"""One module for each kind of file that a map can come from or go to."""
