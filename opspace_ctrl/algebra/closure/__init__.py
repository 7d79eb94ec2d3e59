# SPDX-License-Identifier: Apache-2.0
"""Closed chains and grasps: loops over the trees of `dynamics/` ([Rodriguez1991] 5.3, 6).

Above `osim/`: it needs the operational-space inertia. The simulator closes open loops by it before it starts.
"""

from .by_arms import forward_by_arms
from .closed_chain import ClosedChain, Closure
from .grasp import Grasp, GraspMotion, RigidObject
from .grasp_control import grasp_torque, squeeze
from .grasp_loop import GraspController, squeezing
from .incremental import Contact, add_mechanism, add_object

__all__ = [
    "ClosedChain",
    "Closure",
    "Contact",
    "Grasp",
    "GraspController",
    "GraspMotion",
    "RigidObject",
    "add_mechanism",
    "add_object",
    "forward_by_arms",
    "grasp_torque",
    "squeeze",
    "squeezing",
]
