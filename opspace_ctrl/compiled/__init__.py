# SPDX-License-Identifier: Apache-2.0
"""The engine room: what kernels are written in, work on and are compiled by. Only this folder knows Numba's inside."""

COMPILERS = (
    "numba",
    "llvmlite",
)  # the distributions whose versions decide what machine code is made
