"""The engine room: what kernels are written in, work on and are compiled by. Only this folder knows Numba's inside."""
