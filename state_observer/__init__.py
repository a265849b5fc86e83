"""State observers: Kalman filters on multibody models, tried on planar linkages."""
