# SPDX-License-Identifier: Apache-2.0
"""Pinocchio from Python: a careful user's tick, the fastest one we could write, and its single algorithms.

Each function below prepares buffers and views once and returns what is timed. Fields of Data that are read
through kept views (nle, constraint_chol) stay where they are between calls.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pinocchio as pin
from scipy.linalg import block_diag
from scipy.linalg.lapack import dposv, dtrtrs
from scipy.spatial.transform import Rotation

from ..dynamics import frame_pose
from ..model import JointType
from .agreement import explicit_parts
from .peers import Field, PeerAbsent
from .robots import Case
from .states import State
from .timing import Contestant

WORLD_ALIGNED = pin.LOCAL_WORLD_ALIGNED


def contestants(case: Case, states: Sequence[State]) -> Field:
    """Everything Pinocchio is asked for.

    Raises:
        PeerAbsent: A joint type that is not compared.
    """
    twin = Twin(case)
    ticks = [(twin.q(s.q), twin.v(s.v), s.force, twin.v(s.tau0)) for s in states]
    motions = [(q, v, tau0) for q, v, _, tau0 in ticks]

    def vector(x, k: int) -> tuple[np.ndarray]:
        del k
        return (x[twin.order],)

    def explicit(found, k: int) -> tuple[np.ndarray, ...]:
        del k
        Lambda, Jbar, N, tau = found
        return explicit_parts(
            Lambda, Jbar[twin.order], N[np.ix_(twin.order, twin.order)], tau[twin.order]
        )

    def in_world_axes(D, k: int) -> tuple[np.ndarray]:
        turn = block_diag(
            *[R for frame in case.frames for R in 2 * [_rotation(case, states[k], frame)]]
        )
        return (turn @ D @ turn.T,)

    algorithm = [(twin.model, twin.data, *motion) for motion in motions]
    return {
        "tick": {
            "Pinocchio smart": Contestant(smart_tick(twin), ticks, vector),
            "Pinocchio best": Contestant(best_tick(twin), ticks, vector),
        },
        "explicit": {"Pinocchio": Contestant(explicit_set(twin), ticks, explicit)},
        "inertia_inv": {
            "Pinocchio": Contestant(delassus(twin), [(q,) for q, *_ in ticks], in_world_axes)
        },
        "forward": {"Pinocchio": Contestant(forward_dynamics(twin), motions, vector)},
        "inverse": {"Pinocchio": Contestant(pin.rnea, algorithm, vector)},
    }


class Twin:
    """Pinocchio's own reading of the same URDF, and the maps from our coordinates to its own.

    Pinocchio sorts siblings by name and writes a continuous joint as (cos, sin).

    Attributes:
        model, data: Pinocchio's.
        order: (nv,) Pinocchio's number of each of our velocity coordinates.
        joints: For each task frame the joint it hangs on, and its placement there.
        m: Rows of all tasks.
    """

    def __init__(self, case: Case) -> None:
        self.ours = case.model
        if JointType.PLANAR in self.ours.joint_type:
            raise PeerAbsent("planar joints are not compared")
        source, names = str(self.ours.source), self.ours.body_joint_names
        free_flyer = (pin.JointModelFreeFlyer(),) if case.is_floating else ()
        full = pin.buildModelFromXML(source, *free_flyer)
        frozen = [i for i, name in enumerate(full.names) if i > 0 and name not in names]
        # they are locked at zero; reducing by none fails where a link and a joint share a name
        if frozen:
            full = pin.buildReducedModel(full, frozen, pin.neutral(full))
        self.model = full
        self.model.gravity.linear = self.ours.gravity.copy()
        self.order = np.zeros(self.ours.nv, dtype=int)
        for body, joint in self._pairs():
            first = self.ours.v_index[body]
            self.order[first : first + joint.nv] = joint.idx_v + np.arange(joint.nv)
        armature = np.zeros(self.model.nv)
        armature[self.order] = self.ours.armature
        self.model.armature = armature
        self.data = self.model.createData()
        frames = [
            self.model.frames[self.model.getFrameId(name, pin.FrameType.BODY)]
            for name in case.frames
        ]
        self.joints = [(frame.parentJoint, frame.placement) for frame in frames]
        self.m = 6 * len(frames)

    def _pairs(self) -> Iterator[tuple[int, pin.JointModel]]:
        for body, name in enumerate(self.ours.body_joint_names):
            yield body, self.model.joints[self.model.getJointId(name)]

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our configuration in Pinocchio's coordinates."""
        found = pin.neutral(self.model)
        for body, joint in self._pairs():
            at = self.ours.q_index[body]
            if joint.nq == 2:
                found[joint.idx_q : joint.idx_q + 2] = np.cos(q[at]), np.sin(q[at])
            else:
                found[joint.idx_q : joint.idx_q + joint.nq] = q[at : at + joint.nq]
        return found

    def v(self, v: np.ndarray) -> np.ndarray:
        """Our velocity, acceleration or force in Pinocchio's coordinates."""
        found = np.empty_like(v)
        found[self.order] = v
        return found

    def constraints(
        self,
    ) -> tuple[pin.StdVec_RigidConstraintModel, pin.StdVec_RigidConstraintData]:
        """The task frames as rigid constraints in world axes, in containers that are taken without a copy."""
        models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for joint, placement in self.joints:
            model = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_6D, self.model, joint, placement, WORLD_ALIGNED
            )
            models.append(model)
            datas.append(model.createData())
        return models, datas


def smart_tick(twin: Twin) -> Callable[..., np.ndarray]:
    """The tick of a careful user: H = U D U^T by the sparse Cholesky, a small dense solve, N never formed."""
    model, data, m = twin.model, twin.data, twin.m
    rows = np.zeros((m + 1, model.nv))  # J, then tau0
    J, blocks = rows[:m], _blocks(rows, twin)

    def call(q, v, force, tau0):
        pin.crba(model, data, q)
        pin.cholesky.decompose(model, data)
        h = pin.nonLinearEffects(model, data, q, v)
        pin.computeJointJacobians(model, data, q)
        for block, joint, placement in blocks:
            block[:] = pin.getFrameJacobian(model, data, joint, placement, WORLD_ALIGNED)
        rows[m] = tau0
        Y = dtrtrs(data.U, rows.T, unitdiag=1)[0]
        A = (Y[:, :m] / data.D[:, None]).T @ Y  # Lambda^-1, and J H^-1 tau0 in the last column
        return J.T @ (force - np.linalg.solve(A[:, :m], A[:, m])) + tau0 + h

    return call


def best_tick(twin: Twin) -> Callable[..., np.ndarray]:
    """The fastest we found: one call factors H bordered by J and leaves h, one solves for Lambda J H^-1 tau0.

    Not faster: crba in Convention.WORLD with ContactCholeskyDecomposition; LAPACK (dtrtrs, dposv) on the
    factor of `pin.cholesky`; `constraintDynamics` at rest without gravity, followed by rnea.
    """
    model, data, m = twin.model, twin.data, twin.m
    models, datas = twin.constraints()
    pin.initConstraintDynamics(model, data, models, datas)
    factor, h, right = data.constraint_chol, data.nle, np.zeros(m + model.nv)
    lower = right[m:]
    dynamics, jacobian, subtract = pin.constraintDynamics, pin.getConstraintsJacobian, np.subtract

    def call(q, v, force, tau0):
        dynamics(model, data, q, v, tau0, models, datas)
        lower[:] = tau0
        x = factor.solve(right)[:m]
        tau = jacobian(model, data, models, datas).T @ subtract(force, x, x)
        tau += tau0
        tau += h
        return tau

    return call


def explicit_set(twin: Twin) -> Callable[..., tuple[np.ndarray, ...]]:
    """Lambda, Jbar, N and tau, with H^-1 by `computeMinverse`."""
    model, data, m = twin.model, twin.data, twin.m
    J, one, identity = np.zeros((m, model.nv)), np.eye(m, order="F"), np.eye(model.nv)
    blocks = _blocks(J, twin)

    def call(q, v, force, tau0):
        H_inverse = pin.computeMinverse(model, data, q)
        h = pin.nonLinearEffects(model, data, q, v)
        pin.computeJointJacobians(model, data, q)
        for block, joint, placement in blocks:
            block[:] = pin.getFrameJacobian(model, data, joint, placement, WORLD_ALIGNED)
        Y = H_inverse @ J.T
        Lambda = dposv(J @ Y, one)[1]
        Jbar = Y @ Lambda
        N = Jbar @ J
        np.subtract(identity, N, out=N)
        return Lambda, Jbar, N, J.T @ force + N.T @ tau0 + h

    return call


def delassus(twin: Twin) -> Callable[..., np.ndarray]:
    """Lambda^-1 by `computeDelassusMatrix`, which always answers in the axes of the frames."""
    model, data = twin.model, twin.data
    models, datas = twin.constraints()
    return lambda q: pin.computeDelassusMatrix(model, data, q, models, datas)


def forward_dynamics(twin: Twin) -> Callable[..., np.ndarray]:
    """`aba`, in world axes: a tenth faster than by default."""
    model, data, world = twin.model, twin.data, pin.Convention.WORLD
    return lambda q, v, tau: pin.aba(model, data, q, v, tau, world)


def _blocks(rows: np.ndarray, twin: Twin) -> list[tuple]:
    """Six rows of J for each task frame, with its joint and placement."""
    return [(rows[6 * k : 6 * k + 6], *hung) for k, hung in enumerate(twin.joints)]


def _rotation(case: Case, state: State, frame: str) -> np.ndarray:
    """World axes from those of a frame."""
    return Rotation.from_quat(frame_pose(case.model, state.q, frame)[1]).as_matrix()
