"""Maps for planning: obstacles around the vehicle, distances to them, and all that has been seen."""
