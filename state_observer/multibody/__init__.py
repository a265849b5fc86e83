"""Multibody formulations in mixed coordinates (seed 001 Section 3.3), as numba kernels."""
