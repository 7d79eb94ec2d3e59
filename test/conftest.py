# SPDX-License-Identifier: Apache-2.0
"""One policy for all tests.

Generated ones take the same examples in every run; `HYPOTHESIS_PROFILE=search` looks for new ones. A slow machine is no
failure: neither a deadline nor the health check of slow generation. What commands print is not wrapped: the processes
of pytest-xdist set COLUMNS. Whoever starts the tests in the background may ignore SIGINT, as `nohup make test &` does,
and what they start would inherit that: a test that interrupts a process needs one that can be interrupted.
"""

import os
import signal

from hypothesis import HealthCheck, settings

_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _patient, derandomize=True, database=None)
settings.register_profile("search", _patient, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
os.environ.pop("COLUMNS", None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
