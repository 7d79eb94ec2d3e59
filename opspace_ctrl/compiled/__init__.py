"""The engine room: what kernels are written in, work on, and are compiled by. Nothing else here knows Numba's inside."""
