"""How long until a controller can tick: in new processes, with an empty cache and with a filled one."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from ..errors import OpspaceError

__all__ = ["StartUpError", "start_up"]

# Everything a controller needs: auto's choice, the tick, every result; then every other method to switch to.
_SCRIPT = """
import json, time
start = time.perf_counter()
import opspace_ctrl
imported = time.perf_counter()
import numpy as np
model = opspace_ctrl.load_robot("asimo")
space = opspace_ctrl.OperationalSpace(model, ["left_hand", "right_hand", "left_foot", "right_foot"])
q, zero = model.random_configuration(np.random.default_rng(0)), np.zeros(model.nv)
space.control(q, zero, np.zeros(space.m), zero)
space.update(q, zero)
space.jacobian, space.inertia, space.jbar, space.null_space, space.bias_forces, space.bias_acceleration
space.torque(np.zeros(space.m), zero)
ready = time.perf_counter()
space.prepare()
done = time.perf_counter()
print(json.dumps({"import": imported - start, "controller": ready - imported, "other_methods": done - ready,
                  "total": done - start, "processor": time.process_time()}))
"""
LATER = 3


class StartUpError(OpspaceError):
    """A new process could not build a controller."""


def start_up(tell: Callable[[str], None] = lambda text: None) -> dict[str, dict[str, float]]:
    """Seconds for `import`, the `controller`, the `other_methods`, their `total`, and `processor` time.

    Args:
        tell: Hears what comes next.

    Returns:
        first: With an empty cache of compiled kernels.
        later: With the cache this left behind, the least of three.
    """
    with tempfile.TemporaryDirectory(prefix="opspace_bench_") as cache:
        tell("start with an empty cache: everything is compiled")
        first = _run(cache)
        later = []
        for _ in range(LATER):
            tell("start from the cache")
            later.append(_run(cache))
    return {"first": first, "later": {key: min(run[key] for run in later) for key in first}}


def _run(cache: str) -> dict[str, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise StartUpError(f"a new process failed: {reason}")
    return json.loads(done.stdout.splitlines()[-1])
