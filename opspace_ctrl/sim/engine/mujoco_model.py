# SPDX-License-Identifier: Apache-2.0
"""Our model in MuJoCo: the same bodies and joints in the same order, and the same state in MuJoCo's coordinates."""

import mujoco
import numpy as np

from ...errors import MethodError
from ...model import JointType, Model
from ...model.joints import QUATERNION
from ...model.rotations import from_quaternion, to_quaternion

WXYZ = [3, 0, 1, 2]  # MuJoCo's quaternion from ours

_JOINT = {
    JointType.REVOLUTE: mujoco.mjtJoint.mjJNT_HINGE,
    JointType.PRISMATIC: mujoco.mjtJoint.mjJNT_SLIDE,
    JointType.FLOATING: mujoco.mjtJoint.mjJNT_FREE,
    JointType.SPHERICAL: mujoco.mjtJoint.mjJNT_BALL,
}


class Coordinates:
    """The one place that knows how a state of ours is written in MuJoCo.

    There quaternions are w first, and the linear velocity of a free joint is in world axes; ours is in base axes.
    """

    def __init__(self, model: Model):
        self._order = np.arange(model.nq)
        for i, kind in enumerate(model.joint_type):
            if kind in QUATERNION:
                at = model.q_index[i] + QUATERNION[kind]
                self._order[at : at + 4] = at + np.array(WXYZ)
        self._bases = [
            (slice(model.q_index[i] + 3, model.q_index[i] + 7), slice(first, first + 3))
            for i in np.flatnonzero(model.joint_type == JointType.FLOATING)
            for first in [model.v_index[i]]
        ]

    def qpos(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's positions (nq,)."""
        return q[self._order]

    def q(self, qpos: np.ndarray) -> np.ndarray:
        """Our positions (nq,)."""
        q = np.empty_like(qpos)
        q[self._order] = qpos
        return q

    def qvel(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """MuJoCo's velocities, or forces (nv,), from ours at our q."""
        qvel = v.copy()
        for turn, linear in self._bases:
            qvel[linear] = from_quaternion(q[turn]) @ v[linear]
        return qvel

    def v(self, q: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Our velocities, or forces (nv,), from MuJoCo's at our q."""
        v = qvel.copy()
        for turn, linear in self._bases:
            v[linear] = from_quaternion(q[turn]).T @ qvel[linear]
        return v


def uncarried(model: Model) -> list[str]:
    """Names of the joints that MuJoCo does not have as we have them.

    They are mimic joints (soft constraints there), planar ones, and floating ones that are not placed at the world's
    origin.
    """
    return [
        name
        for i, name in enumerate(model.body_joint_names)
        if model.is_mimic[i]
        or model.joint_type[i] not in _JOINT
        or (model.joint_type[i] == JointType.FLOATING and not _is_free(model, i))
    ]


def _is_free(model: Model, i: int) -> bool:
    is_at_origin = (
        not model.placement_translation[i].any()
        and (model.placement_rotation[i] == np.eye(3)).all()
    )
    return bool(model.parent[i] < 0 and is_at_origin)


def written(model: Model) -> tuple[mujoco.MjSpec, list[mujoco.MjsBody]]:
    """The robot as a description for MuJoCo, without geometry, and its bodies (N); it needs `uncarried` to be empty."""
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    bodies: list[mujoco.MjsBody] = []
    for i, parent in enumerate(model.parent):
        name = model.body_names[i]
        body = (bodies[parent] if parent >= 0 else spec.worldbody).add_body(
            name="" if name == "world" else name,  # MuJoCo keeps that one to itself
            pos=model.placement_translation[i],
            quat=to_quaternion(model.placement_rotation[i])[WXYZ],
            explicitinertial=True,
            mass=model.mass[i],
            ipos=model.com[i],
            fullinertia=model.inertia[i][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
        )
        joint = body.add_joint(
            type=_JOINT[JointType(model.joint_type[i])], name=model.body_joint_names[i]
        )
        if model.joint_type[i] not in QUATERNION:
            joint.axis = model.axis[i]
        bodies.append(body)
    return spec, bodies


def compiled(model: Model, spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The description with armature, made ready.

    Raises:
        MethodError: MuJoCo refuses an inertia; in its words.
    """
    try:
        twin = spec.compile()
    except ValueError as error:
        raise MethodError(
            f"MuJoCo refuses {model.name}: {' '.join(str(error).split())}; engine 'native' carries it"
        ) from None
    twin.dof_armature[:] = model.armature
    return twin
