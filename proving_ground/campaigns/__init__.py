"""Campaigns: one scenario many times with values that vary, on this machine or on a Dask cluster."""
