"""The filters of [Sanjurjo] Section 3.4, as numba kernels under one interface."""
