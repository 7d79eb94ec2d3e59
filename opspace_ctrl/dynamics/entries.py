"""The compiled calls behind the public functions: check, take, compute, copy out. Nothing here allocates."""

from __future__ import annotations

from numba.types import int64, void

from ..jit import entry, kernel
from ..vector import floats_of, vector
from . import aba, coriolis, crba, energy, frames, kinematics, ltl, rnea
from . import layout as at
from .layout import count, floats
from .result import result
from .state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration

_Q = int64(vector, int64)
_QV = int64(vector, vector, int64)
_QVX = int64(vector, vector, vector, int64)
_QV_RESULT = int64(vector, vector, result, int64)
_QVX_RESULT = int64(vector, vector, vector, result, int64)
_FRAME_OUT = void(int64, vector, int64)
_OUT = void(vector, int64)


@kernel
def place(w, q):
    """Take q: poses, subspaces and inertias. False, and nothing touched, if q is no configuration."""
    if not is_configuration(w, q):
        return False
    take_configuration(w, q)
    kinematics.kinematics(w)
    return True


@kernel
def move(w, q, v):
    """Take q and v: also velocities, accelerations and body forces of the motion with dv/dt = 0."""
    if not (is_usable(w, v, count(w, at.NV)) and place(w, q)):
        return False
    copy(floats_of(v), floats(w, at.V), count(w, at.NV))
    rnea.motion(w)
    return True


@entry(_Q)
def at_configuration(q, w):
    """Poses, subspaces and inertias at q."""
    return OK if place(w, q) else REFUSED


@entry(_QV)
def at_motion(q, v, w):
    """Everything of `at_configuration`, and velocities, accelerations and forces of the motion with dv/dt = 0."""
    return OK if move(w, q, v) else REFUSED


@entry(_Q)
def mass_matrix(q, w):
    """H into DENSE."""
    if not place(w, q):
        return REFUSED
    crba.mass_matrix(w)
    crba.dense_mass_matrix(w)
    return OK


@entry(_QV_RESULT)
def bias_forces(q, v, out, w):
    """h(q, v)."""
    if not move(w, q, v):
        return REFUSED
    rnea.joint_forces(w, floats_of(out))
    return OK


@entry(_QVX_RESULT)
def inverse_dynamics(q, v, a, out, w):
    """tau = H a + h - sum J^T f for the wrenches in EXTERNAL."""
    nv = count(w, at.NV)
    if not (is_usable(w, v, nv) and is_usable(w, a, nv) and place(w, q)):
        return REFUSED
    copy(floats_of(v), floats(w, at.V), count(w, at.NV))
    copy(floats_of(a), floats(w, at.A), nv)
    rnea.joint_rates(w)
    rnea.rate_derivatives(w)
    rnea.velocities(w)
    rnea.accelerations(w, True)
    rnea.body_forces(w)
    rnea.subtract_external(w)
    rnea.joint_forces(w, floats_of(out))
    rnea.add_armature(w, floats_of(out))
    return OK


@entry(_QVX_RESULT)
def forward_aba(q, v, tau, out, w):
    """Accelerations by the articulated-body algorithm."""
    if not (is_usable(w, tau, count(w, at.NV)) and move(w, q, v)):
        return REFUSED
    rnea.subtract_external(w)
    aba.aba(w, floats_of(tau), floats_of(out))
    return OK


@entry(_QVX_RESULT)
def forward_crba(q, v, tau, out, w):
    """Accelerations through H and its LTDL factors: H qdd = tau + sum J^T f - h."""
    nv = count(w, at.NV)
    if not (is_usable(w, tau, nv) and move(w, q, v)):
        return REFUSED
    rnea.subtract_external(w)
    given, found, x, dinv = floats_of(tau), floats_of(out), floats(w, at.W), floats(w, at.DINV)
    rnea.joint_forces(w, found)
    for i in range(nv):
        x[i] = given[i] - found[i]
    crba.mass_matrix(w)
    ltl.ltdl(w)
    for i in range(nv):
        found[i] = x[i] * dinv[i]
    ltl.solve_unit(w, found)
    return OK


@entry(_QV)
def coriolis_matrix(q, v, w):
    """C into DENSE."""
    if not move(w, q, v):
        return REFUSED
    crba.composite_inertias(w)
    coriolis.coriolis_matrix(w)
    return OK


@entry(_QVX)
def energies(q, v, out, w):
    """Kinetic and potential energy."""
    if not move(w, q, v):
        return REFUSED
    found = floats_of(out)
    found[0], found[1] = energy.kinetic_energy(w), energy.potential_energy(w)
    return OK


@entry(_FRAME_OUT)
def frame_pose(f, out, w):
    """Orientation (9) and position (3) of frame f, after `at_configuration`."""
    frames.frame_pose(w, f, floats_of(out))


@entry(void(int64, int64))
def frame_jacobian(f, w):
    """J of frame f into DENSE, after `at_configuration`."""
    frames.frame_jacobian(w, f)


@entry(_FRAME_OUT)
def frame_motion(f, out, w):
    """Velocity and acceleration of frame f, after `at_motion`."""
    frames.frame_motion(w, f, floats_of(out))


@entry(_FRAME_OUT)
def add_external(f, wrench, w):
    """Add a wrench at frame f to EXTERNAL, after `at_configuration`."""
    frames.add_external(w, f, floats_of(wrench))


@entry(_OUT)
def center_of_mass(out, w):
    """Position and mass, and the Jacobian into DENSE, after `at_configuration`."""
    frames.center_of_mass(w, floats_of(out))
    crba.composite_inertias(w)
    frames.center_of_mass_jacobian(w, floats_of(out)[3])


@entry(_OUT)
def center_of_mass_motion(out, w):
    """Velocity and acceleration (out[0:6]) for the mass in out[6], after `at_motion`."""
    frames.center_of_mass_motion(w, floats_of(out)[6], floats_of(out))
