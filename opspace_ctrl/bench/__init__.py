"""Timings: what the package costs, beside its peers."""
