"""Closed chains and grasps: loops over the trees of `dynamics/` ([Rodriguez1991] 5.3, 6).

A layer of its own above `osim/`: it needs the operational-space inertia, and both controller and simulator need it.
"""

from .closed_chain import ClosedChain, Closure
from .grasp import Grasp, GraspMotion, RigidObject
from .incremental import Contact, add_object

__all__ = ["ClosedChain", "Closure", "Contact", "Grasp", "GraspMotion", "RigidObject", "add_object"]
