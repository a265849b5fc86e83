"""One module for each kind of world; each is settings with a `build`."""
