"""One module for each file format that maps are read from or written to."""
