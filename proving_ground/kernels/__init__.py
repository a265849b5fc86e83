"""Small compiled functions on scalars and three-vectors, and how kernels are compiled."""
