"""`python -m opspace_ctrl.compiled NAME ...`: compile kernels into the cache, beside the process that asked for it."""

import sys

from .jit import compile_missing, named

compile_missing([named(each) for each in sys.argv[1:]], wait=False)
