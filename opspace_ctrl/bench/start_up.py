# SPDX-License-Identifier: Apache-2.0
"""The time until a controller has all it needs: in new processes, with an empty cache and with a filled one."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from ..errors import OpspaceError

# Everything a controller needs: auto's choice and a tick by it; every other method, and a tick by each; then every
# result of an operational space of its own. What helpers did is processor time too: they have ended by then.
_SCRIPT = """
import json, os, time
start = time.perf_counter()
import opspace_ctrl
for name in opspace_ctrl.__all__:  # they are imported when they are used
    getattr(opspace_ctrl, name)
imported = time.perf_counter()
import numpy as np
model = opspace_ctrl.load_robot("asimo")
frames = ["left_hand", "right_hand", "left_foot", "right_foot"]
controller = opspace_ctrl.Controller(model, [opspace_ctrl.PoseTask(frame) for frame in frames])
q, zero = model.random_configuration(np.random.default_rng(0)), np.zeros(model.nv)
controller.activate(q, zero, 0.0)
controller.tick(q, zero, 0.0)
ready = time.perf_counter()
controller.prepare()
for name in controller.methods():
    controller.method = name
    controller.tick(q, zero, 0.0)
switched = time.perf_counter()
space = opspace_ctrl.OperationalSpace(model, frames)
space.control(q, zero, np.zeros(space.m), zero)
space.update(q, zero)
space.jacobian, space.inertia, space.jbar, space.null_space, space.bias_forces, space.bias_acceleration
space.torque(np.zeros(space.m), zero)
space.prepare()
done = time.perf_counter()
print(json.dumps({"import": imported - start, "controller": ready - imported, "other_methods": switched - ready,
                  "results": done - switched, "total": done - start, "processor": sum(os.times()[:4])}))
"""
LATER = 3


class StartUpError(OpspaceError):
    """A new process could not build a controller."""


def start_up(tell: Callable[[str], None] = lambda text: None) -> dict[str, dict[str, float]]:
    """Seconds for `import` (of all public names), `controller`, `other_methods`, `results`, `total`; `processor` time.

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
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (package, os.environ.get("PYTHONPATH")))
    )
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise StartUpError(f"a new process failed: {reason}")
    return json.loads(done.stdout.splitlines()[-1])
