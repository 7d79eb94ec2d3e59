# SPDX-License-Identifier: Apache-2.0
"""One Model in several threads: each thread has a workspace of its own, from its first call on."""

import subprocess
import sys

import pytest

# In a process of its own: where threads share memory they should not, it dies without a word.
PROGRAM = """
import sys, threading
import numpy as np
from opspace_ctrl import forward_dynamics, load_robot

sys.setswitchinterval(1e-6)
method, robot = sys.argv[1], sys.argv[2]
first = load_robot(robot)
q = first.random_configuration(np.random.default_rng(1))
rng = np.random.default_rng(2)
v, tau = rng.normal(size=first.nv), rng.normal(size=first.nv)
expected = forward_dynamics(first, q, v, tau, method=method)
for _ in range(10):
    model, start, found = load_robot(robot), threading.Barrier(3), []

    def run():
        start.wait()  # the first call of all three, at the same time
        for _ in range(20):
            found.append(forward_dynamics(model, q, v, tau, method=method))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 60
    for each in found:
        np.testing.assert_array_equal(each, expected)
"""


@pytest.mark.parametrize(
    "method, robot", [("decoupled", "free_flyer"), ("decoupled", "asimo"), ("aba", "arm7")]
)
def test_the_first_calls_of_three_threads_give_what_one_gives(method, robot):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, method, robot], capture_output=True, text=True, timeout=3600
    )
    assert done.returncode == 0, done.stderr[-2000:]
