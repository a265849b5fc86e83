"""Multibody formulations in mixed coordinates ([Sanjurjo] Section 3.3), as numba kernels."""
