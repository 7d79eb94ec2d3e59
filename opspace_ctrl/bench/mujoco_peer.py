# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's control tick from Python, on a model converted from ours."""

from collections.abc import Callable, Sequence

import mujoco
import numpy as np
from scipy.linalg.lapack import dposv

from ..dynamics import mass_matrix
from ..errors import MethodError
from ..model import JointType, Model
from ..sim.engine.mujoco_model import Coordinates, compiled, uncarried, written
from .peers import Field, PeerAbsent
from .robots import Case
from .states import State
from .timing import Contestant


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
    lacking = uncarried(model)
    if lacking:
        raise PeerAbsent(f"no joint like {lacking[0]!r} there")
    spec, bodies = written(model)
    for k, name in enumerate(frames):
        frame = model.frame_index(name)
        bodies[model.frame_body[frame]].add_site(name=_site(k), pos=model.frame_translation[frame])
    try:
        return compiled(model, spec)
    except MethodError as error:
        raise PeerAbsent(str(error)) from None


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


def _to_mujoco(model: Model, state: State) -> tuple[np.ndarray, ...]:
    """The state in MuJoCo's coordinates."""
    there, q = Coordinates(model), state.q
    return there.qpos(q), there.qvel(q, state.v), state.force, there.qvel(q, state.tau0)


def _from_mujoco(model: Model, state: State, tau: np.ndarray) -> np.ndarray:
    """tau in our coordinates.

    MuJoCo's h belongs to an acceleration whose linear part is d/dt of the velocity in world axes; in body
    axes that is dv/dt + w x v, so that h differs by H (w x v, 0, ...).
    """
    turning = np.zeros(model.nv)
    for first in model.v_index[model.joint_type == JointType.FLOATING]:
        linear, angular = slice(first, first + 3), slice(first + 3, first + 6)
        turning[linear] = np.cross(state.v[angular], state.v[linear])
    return Coordinates(model).v(state.q, tau) + mass_matrix(model, state.q) @ turning


def _site(task: int) -> str:
    return f"task {task}"
