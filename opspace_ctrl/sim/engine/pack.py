"""From a model and settings to the workspace of a simulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dynamics import mass_matrix
from ...dynamics.layout import Workspace
from ...dynamics.pack import pack
from ...model import JointType, Model
from ..settings import SimulatorSettings
from . import layout as at
from .constraints import use_constraints
from .forward import choose_forward
from .integrators import address_of_integrator
from .rows import Contact, Loop, pack_rows

__all__ = ["pack_simulator"]

CREEP = 1e-8  # [rad/s, m/s]: what a joint that sticks may creep
STIFF = 1e7  # step times the slope of a stop, over the joint's own inertia
CORRECTION = 0.2  # share of a position error that a step takes away
PUSHES = 32  # wrenches at a time


def pack_simulator(
    model: Model,
    settings: SimulatorSettings,
    q: np.ndarray,
    contacts: Sequence[Contact] = (),
    loops: Sequence[Loop] = (),
) -> Workspace:
    """A workspace in which the robot can be simulated; q is a typical configuration."""
    work = pack(model)
    if contacts or loops:
        pack_rows(work, model, contacts, loops, settings.ground_normal)
        work.set_count(at.SWEEPS, settings.solver_sweeps)
        use_constraints(work)
    _joints(work, model, settings, q)
    _coordinates(work, model, settings)
    _scratch(work, model)
    work.set_count(at.PUSHES, PUSHES)
    work.zeros(at.PUSH, PUSHES, 8)
    work.zeros(at.LAST_PUSH, PUSHES, 8)
    scalars = np.zeros(8)
    scalars[at.HEIGHT] = settings.ground_height
    scalars[[at.STEP, at.CREEP, at.CORRECTION, at.MU]] = (
        settings.step,
        CREEP,
        CORRECTION,
        settings.ground_friction,
    )
    work.put(at.SCALARS, scalars)
    work.allocate()
    choose_forward(work, model, settings.forward_method)
    for slot, name in ((at.INTEGRATOR, settings.integrator), (at.SEMI_IMPLICIT, "semi_implicit")):
        work.set_count(slot, address_of_integrator(name))
    return work


def _joints(work: Workspace, model: Model, settings: SimulatorSettings, q: np.ndarray) -> None:
    coordinates = np.flatnonzero(~model.is_base_coordinate)
    friction = model.friction if settings.joint_friction else np.zeros(model.nv)
    limits = model.effort_limits if settings.effort_limits else np.full(len(coordinates), np.inf)
    work.set_count(at.JOINTS, len(coordinates))
    work.put(at.JOINT_COORDINATE, coordinates, int)
    work.put(at.EFFORT, limits)
    work.zeros(at.APPLIED, len(coordinates))
    work.put(at.ROTOR, model.armature)
    work.put(at.DAMPING, model.damping if settings.joint_damping else np.zeros(model.nv))
    work.put(at.FRICTION, friction)
    work.put(at.STIFF, STIFF / settings.step * np.diag(mass_matrix(model, q)))
    has_limits = settings.joint_limits and np.isfinite(model.position_limits).any()
    work.set_count(at.HAS_LOSSES, int(has_limits or friction.any()))


def _coordinates(work: Workspace, model: Model, settings: SimulatorSettings) -> None:
    """Which coordinates add, with their limits, and which joints move by an exponential."""
    single, manifold, limit = [], [], []
    limits = np.tile([-np.inf, np.inf], (model.nv, 1))
    if settings.joint_limits:
        limits[~model.is_base_coordinate] = model.position_limits
    for i in np.flatnonzero(~model.is_mimic):
        kind, k, c = model.joint_type[i], model.q_index[i], model.v_index[i]
        if kind in (JointType.PLANAR, JointType.FLOATING):
            manifold.append((kind, k, c))
        else:
            single.append((k, c))
            limit.append(limits[c])
    work.set_count(at.SINGLES, len(single))
    work.set_count(at.MANIFOLDS, len(manifold))
    work.put(at.SINGLE, single or [(0, 0)], int)
    work.put(at.MANIFOLD, manifold or [(0, 0, 0)], int)
    work.put(at.LIMIT, limit or [(-np.inf, np.inf)])
    work.zeros(at.STOP, max(len(single), 1))


def _scratch(work: Workspace, model: Model) -> None:
    for slot in (
        at.TAU,
        at.DRIVE,
        at.SLOPE,
        at.LEVEL,
        at.SLIDE,
        at.BRAKE,
        at.V_NEXT,
        at.V_START,
        at.SHIFT,
        at.FREE_V,
        at.NOTHING,
    ):
        work.zeros(slot, model.nv)
    for slot in (at.Q_NEXT, at.Q_START):
        work.zeros(slot, model.nq)
    for slot in (at.STAGE_V, at.STAGE_A):
        work.zeros(slot, 4, model.nv)
    work.zeros(at.BRAKED, 1)
    work.zeros(at.STATUS, 8)
