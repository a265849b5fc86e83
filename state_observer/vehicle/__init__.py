"""Observers of the driving vehicle: errorEKF around its own multibody model, and a strapdown INS as the baseline."""
