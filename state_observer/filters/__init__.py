"""The filters of seed 001 Section 3.4, as numba kernels under one interface."""
