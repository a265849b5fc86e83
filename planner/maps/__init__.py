"""Maps for planning: what stands around the vehicle, how far away it is, and what has been seen so far."""
