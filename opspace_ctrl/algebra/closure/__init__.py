"""Closed chains and grasps: loops over the trees of `dynamics/` ([Rodriguez1991] 5.3, 6).

Above `osim/`: it needs the operational-space inertia. The simulator closes open loops by it before it starts.
"""

from .closed_chain import ClosedChain, Closure
from .grasp import Grasp, GraspMotion, RigidObject
from .incremental import Contact, add_object

__all__ = ["ClosedChain", "Closure", "Contact", "Grasp", "GraspMotion", "RigidObject", "add_object"]
