# SPDX-License-Identifier: Apache-2.0
"""What a controller loads: the control path alone."""

import subprocess
import sys

SCRIPT = """
import sys
import numpy as np
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model import load_robot
from opspace_ctrl.parameter_file import node_parameters

parameters = node_parameters(shipped_path("config", "arm7.yaml"), "opspace_controller")
model = load_robot("arm7")
controller = Controller.from_settings(model, controller_settings(parameters))
q, v = model.neutral(), np.zeros(model.nv)
controller.activate(q, v, 0.0)
assert np.isfinite(controller.tick(q, v, 0.001)).all()
leaves = "opspace_ctrl.algebra", "opspace_ctrl.bench"
print([name for name in sys.modules if name.startswith(leaves)])
"""


def test_a_controller_that_ticks_has_loaded_neither_algebra_nor_bench():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
