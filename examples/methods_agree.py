# SPDX-License-Identifier: Apache-2.0
"""The same operational-space inertia by eight algorithms of six papers, on a humanoid with three tasks."""

import numpy as np

from opspace_ctrl import CenterOfMass, OperationalSpace, load_robot
from opspace_ctrl.osim import methods


def main() -> dict[str, float]:
    """{method: largest difference from the dense one, relative}."""
    model = load_robot("asimo")
    tasks = ["left_hand", ("right_foot", "position"), CenterOfMass()]
    ospace = OperationalSpace(model, tasks, method="dense")
    q = model.random_configuration(np.random.default_rng(0))
    reference = ospace.update(q).inertia_inv.copy()
    found = {}
    for name in methods(model):
        ospace.method = name
        difference = np.abs(ospace.update(q).inertia_inv - reference).max()
        found[name] = float(difference / np.abs(reference).max())
        print(f"{name:16s} differs from dense by {found[name]:.1e}")
    return found


if __name__ == "__main__":
    main()
