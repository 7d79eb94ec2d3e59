"""MuJoCo's control tick from Python, on a model converted from ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mujoco
import numpy as np
from scipy.linalg.lapack import dposv
from scipy.spatial.transform import Rotation

from ..dynamics import mass_matrix
from ..model import JointType, Model
from .peers import Field, PeerAbsent
from .robots import Case
from .states import State
from .timing import Contestant

__all__ = ["contestants", "converted", "tick"]

_JOINT = {
    JointType.REVOLUTE: mujoco.mjtJoint.mjJNT_HINGE,
    JointType.PRISMATIC: mujoco.mjtJoint.mjJNT_SLIDE,
    JointType.FLOATING: mujoco.mjtJoint.mjJNT_FREE,
}


def contestants(case: Case, states: Sequence[State]) -> Field:
    """The tick.

    Raises:
        PeerAbsent: MuJoCo refuses the robot.
    """
    twin = converted(case.model, case.frames)
    inputs = [_to_mujoco(case.model, state) for state in states]

    def ours(tau, k: int) -> tuple[np.ndarray]:
        return (_from_mujoco(case.model, states[k], tau),)

    return {"tick": {"MuJoCo": Contestant(tick(twin), inputs, ours)}}


def converted(model: Model, frames: Sequence[str]) -> mujoco.MjModel:
    """Convert our model: the same bodies and joints in the same order, without geometry; one site a task frame.

    Raises:
        PeerAbsent: A joint that MuJoCo does not have, or an inertia that it refuses.
    """
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    bodies: list[mujoco.MjsBody] = []
    for i, parent in enumerate(model.parent):
        kind = JointType(model.joint_type[i])
        if kind not in _JOINT or (kind is JointType.FLOATING and parent >= 0):
            raise PeerAbsent(f"no {kind.name.lower()} joint for {model.body_names[i]!r} there")
        body = (bodies[parent] if parent >= 0 else spec.worldbody).add_body(
            name=_body_name(model, i),
            pos=model.placement_translation[i],
            quat=_wxyz(model.placement_rotation[i]),
            explicitinertial=True,
            mass=model.mass[i],
            ipos=model.com[i],
            fullinertia=model.inertia[i][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
        )
        joint = body.add_joint(type=_JOINT[kind], name=model.body_joint_names[i])
        if kind is not JointType.FLOATING:
            joint.axis = model.axis[i]
            joint.armature = model.armature[model.v_index[i]]
        bodies.append(body)
    for k, name in enumerate(frames):
        frame = model.frame_index(name)
        bodies[model.frame_body[frame]].add_site(name=_site(k), pos=model.frame_translation[frame])
    try:
        return spec.compile()
    except ValueError as error:
        raise PeerAbsent(f"refused there: {' '.join(str(error).split())}") from None


def tick(model: mujoco.MjModel) -> Callable[..., np.ndarray]:
    """tau = J^T F + N^T tau0 + h. N is never formed: J and tau0 pass half of L^T D L together.

    The stages are called one by one: mj_fwdPosition in place of the first four does more than they do.
    """
    data, m = mujoco.MjData(model), 6 * model.nsite
    rows = np.zeros((m + 1, model.nv))  # J, then tau0
    half, h, root = np.empty_like(rows), np.empty(model.nv), np.empty(model.nv)
    # sites are numbered as their bodies are
    jacobians = [
        (rows[6 * k : 6 * k + 3], rows[6 * k + 3 : 6 * k + 6], model.site(_site(k)).id)
        for k in range(model.nsite)
    ]
    qpos, qvel, inverse, last, weights = (
        data.qpos,
        data.qvel,
        data.qLDiagInv,
        rows[m],
        np.ones(m + 1),
    )
    kinematics, com_position, com_velocity = (
        mujoco.mj_kinematics,
        mujoco.mj_comPos,
        mujoco.mj_comVel,
    )
    inertia, factor, half_solve = mujoco.mj_makeM, mujoco.mj_factorM, mujoco.mj_solveM2
    newton_euler, jacobian = mujoco.mj_rne, mujoco.mj_jacSite

    def call(q, v, force, tau0):
        qpos[:] = q
        qvel[:] = v
        last[:] = tau0
        kinematics(model, data)
        com_position(model, data)
        inertia(model, data)
        factor(model, data)
        com_velocity(model, data)
        newton_euler(model, data, 0, h)
        for linear, angular, site in jacobians:
            jacobian(model, data, linear, angular, site)
        np.sqrt(inverse, out=root)
        half_solve(model, data, half, rows, root)
        A = half @ half.T  # Lambda^-1, bordered by J H^-1 tau0
        np.subtract(force, dposv(A[:m, :m], A[:m, m])[1], out=weights[:m])
        tau = weights @ rows
        tau += h
        return tau

    return call


def _body_name(model: Model, i: int) -> str:
    """Ours, but for the one that MuJoCo keeps to itself."""
    name = model.body_names[i]
    return "" if name == "world" else name


def _to_mujoco(model: Model, state: State) -> tuple[np.ndarray, ...]:
    """The state in MuJoCo's coordinates: quaternions w first, linear velocity of the base in world axes."""
    q, v, tau0 = state.q.copy(), state.v.copy(), state.tau0.copy()
    for i in np.flatnonzero(model.joint_type == JointType.FLOATING):
        at, first = model.q_index[i] + 3, model.v_index[i]
        R = Rotation.from_quat(state.q[at : at + 4]).as_matrix()
        q[at : at + 4] = state.q[[at + 3, at, at + 1, at + 2]]
        for vector in (v, tau0):
            vector[first : first + 3] = R @ vector[first : first + 3]
    return q, v, state.force, tau0


def _from_mujoco(model: Model, state: State, tau: np.ndarray) -> np.ndarray:
    """tau in our coordinates.

    MuJoCo's h belongs to an acceleration whose linear part is d/dt of the velocity in world axes; in body
    axes that is dv/dt + w x v, so that h differs by H (w x v, 0, ...).
    """
    tau, turning = tau.copy(), np.zeros(model.nv)
    for i in np.flatnonzero(model.joint_type == JointType.FLOATING):
        at, first = model.q_index[i] + 3, model.v_index[i]
        linear, angular = slice(first, first + 3), slice(first + 3, first + 6)
        tau[linear] = Rotation.from_quat(state.q[at : at + 4]).as_matrix().T @ tau[linear]
        turning[linear] = np.cross(state.v[angular], state.v[linear])
    return tau + mass_matrix(model, state.q) @ turning


def _site(task: int) -> str:
    return f"task {task}"


def _wxyz(R: np.ndarray) -> np.ndarray:
    return Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]]
