"""One policy for all tests.

Generated ones take the same examples in every run; `HYPOTHESIS_PROFILE=search` looks for new ones. What commands print
is not wrapped: the processes of pytest-xdist set COLUMNS.
"""
import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
os.environ.pop("COLUMNS", None)
