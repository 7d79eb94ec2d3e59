# SPDX-License-Identifier: Apache-2.0
"""load_mjcf: a robot in MuJoCo's format, through MuJoCo's own compiler, to the same Model as a URDF.

What is read is the compiled mjModel, so that defaults, includes, meshes and inertias from geometry are MuJoCo's
business. A body with several joints is a chain of links without mass, its joints in their order: exactly what MuJoCo
means by it. A ball joint is JointType.SPHERICAL. A free joint is a floating base. A joint that does not turn about its
body's origin gives its body a link of its own there. `ref` is turned into the joint's placement: q is MuJoCo's qpos,
but for the order of quaternions (x y z w here, w x y z there), v its qvel, but for the linear velocity of a free joint
(base axes here, the world's there).
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigurationError, MjcfError, MjcfWarning, SourceError, quoted
from .coordinates import armature_by_joint
from .elements import checked_name
from .joints import JointType
from .loader import checked_gravity, model_of
from .model import Model
from .rotations import from_axis_angle, from_quaternion
from .source import is_xml, naming, read_source
from .specs import JointSpec, LinkSpec, RobotSpec
from .validate import find_root
from .xml_safety import parse_xml

BASES = ("", "fixed", "floating")
FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
_TYPES = {BALL: JointType.SPHERICAL, SLIDE: JointType.PRISMATIC, HINGE: JointType.REVOLUTE}
_AT_A_JOINT = (0, 1)  # mjtTrn: joint, jointinparent
_Z = np.array([0.0, 0.0, 1.0])


def load_mjcf(
    path_or_xml: str | bytes | os.PathLike[str],
    base: str = "",
    gravity: Sequence[float] | None = None,
    armature: float | Mapping[str, float] | None = None,
    locked: Mapping[str, float] | None = None,
    strict: bool = False,
) -> Model:
    """Load a robot from MJCF; it needs the package mujoco.

    Frames are the bodies and the sites; joints, limits, armature, damping, friction and gravity are the file's. The
    effort limit of a joint is what its actuators can do at most, and its own actuatorfrcrange.

    Args:
        path_or_xml: MJCF text (without files beside it), or the path of an MJCF file.
        base: "": as the file says; "fixed": free joints are held where the file puts them; "floating": bodies without a
            joint on the world float.
        gravity: (3,) in world axes [m/s^2]; None: the file's.
        armature: instead of the file's: one number for every joint, or {joint: value} [kg m^2 or kg].
        locked: {joint: position}: frozen there and lumped [rad or m; a ball or free joint: its 4 or 7 coordinates].
        strict: make doubtful inertias an error instead of an InertiaWarning.

    Raises:
        SourceError: the text cannot be had, or mujoco is not installed.
        MjcfError: MuJoCo does not take it, or it is no MJCF.
        SingularInertiaError: a joint moves no inertia and has no armature.
        UnknownJointError, ConfigurationError, InertiaError: another argument, or an inertia, is wrong.
    """
    if base not in BASES:
        raise ConfigurationError(
            f"base {quoted(base)} is not one of {', '.join(map(repr, BASES))} (as the file says)"
        )
    with naming(path_or_xml):
        mj = _compiled(path_or_xml, read_source(path_or_xml, files="an MJCF file"))
    reader = _Reader(mj, base)
    robot = reader.robot()
    reader.warn_of_what_is_left_out(robot.name)
    return model_of(
        [robot],
        [find_root(robot)],
        [None],
        lambda joints: reader.armature | armature_by_joint(armature, joints),
        gravity=checked_gravity(_gravity(mj) if gravity is None else gravity),
        locked=locked,
        strict=strict,
        source="",
    )


def _compiled(source: str | bytes | os.PathLike[str], text: str) -> Any:
    """The mjModel; a file by its path, so that what it includes is found."""
    try:
        import mujoco
    except ImportError:
        raise SourceError("MJCF needs mujoco: pip install 'opspace_ctrl[mujoco]'") from None
    tag = parse_xml(text).tag
    if tag != "mujoco":
        raise MjcfError(
            f"the document is a <{tag[:40]}>, not MJCF (<mujoco>); load_urdf reads URDF"
        )
    try:
        if is_xml(source):
            return mujoco.MjModel.from_xml_string(text)
        return mujoco.MjModel.from_xml_path(os.fsdecode(source))
    except Exception as error:  # ValueError, and what else its compiler throws
        raise MjcfError(f"MuJoCo: {quoted(str(error).strip())}") from None


class _Reader:
    """Links and joints of an mjModel.

    Attributes:
        armature: of the joints that have some.
    """

    def __init__(self, mj: Any, base: str):
        self._mj, self._base = mj, base
        self.armature: dict[str, float] = {}
        self._links: list[LinkSpec] = []
        self._joints: list[JointSpec] = []
        self._body_names = [mj.body(i).name or f"body{i}" for i in range(mj.nbody)]
        self._link_names = set(self._body_names)
        self._joint_names = {self._joint_name(j) for j in range(mj.njnt)}
        self._efforts = _actuated(mj)

    def robot(self) -> RobotSpec:
        """The whole world, its free bodies on floating bases."""
        mj = self._mj
        self._links.append(self._link(0))
        for i in range(1, mj.nbody):
            self._add_body(i)
        for i in range(mj.nsite):
            if mj.site(i).name:
                self._add_site(i)
        name = bytes(mj.names).split(b"\0", 1)[0].decode(errors="replace")
        for each in [*(link.name for link in self._links), *(j.name for j in self._joints)]:
            checked_name(each, "a body, joint or site", MjcfError)
        name = checked_name(name, "the model", MjcfError)
        return RobotSpec(name or "mjcf", tuple(self._links), tuple(self._joints))

    def warn_of_what_is_left_out(self, name: str) -> None:
        """Say what of the file no Model has."""
        mj = self._mj
        free = np.isin(mj.dof_jntid, np.flatnonzero(mj.jnt_type == FREE))
        parts = {
            "equality constraints": mj.neq,
            "tendons": mj.ntendon,
            "joint springs": np.count_nonzero(mj.jnt_stiffness),
            "gravity compensation": np.count_nonzero(mj.body_gravcomp),
            "limits of ball joints": np.count_nonzero(mj.jnt_limited[mj.jnt_type == BALL]),
            "armature, damping and friction of free joints": _dragged(mj, free),
        }
        found = [what for what, count in parts.items() if count]
        if found:
            warnings.warn(
                f"{quoted(name)}: a model has no {', no '.join(found)}: left out",
                MjcfWarning,
                stacklevel=3,
            )

    def _add_body(self, i: int) -> None:
        mj = self._mj
        parent, body = self._body_names[mj.body_parentid[i]], self._body_names[i]
        first, count = mj.body_jntadr[i], mj.body_jntnum[i]
        joints = range(first, first + count)
        R, p = from_quaternion(_xyzw(mj.body_quat[i])), np.array(mj.body_pos[i])
        if count and mj.jnt_type[first] == FREE:
            joints = range(0)
            if self._base != "fixed":
                self._join(self._joint_name(first), JointType.FLOATING, parent, body, is_base=True)
                self._links.append(self._link(i))
                return
        elif self._base == "floating" and mj.body_parentid[i] == 0:
            self._free(body, count)
            self._links.append(self._link(i))
            return
        for j in joints:
            name, axis = self._joint_name(j), np.array(mj.jnt_axis[j])
            anchor = np.array(mj.jnt_pos[j]) if mj.jnt_type[j] != SLIDE else np.zeros(3)
            turn, shift = self._reference(j, axis)
            is_last = j == joints[-1] and not anchor.any()
            child = body if is_last else _unique(f"{body}/{name}", self._link_names)
            self._join(
                name,
                _TYPES[mj.jnt_type[j]],
                parent,
                child,
                R @ turn,
                p + R @ (anchor + shift),
                axis=axis if mj.jnt_type[j] != BALL else _Z,
                **self._properties(j),
            )
            if not is_last:
                self._links.append(LinkSpec(child, 0.0, np.zeros(3), np.zeros((3, 3))))
            parent, R, p = child, np.eye(3), -anchor
        self._links.append(self._link(i))
        if parent != body:
            self._join(
                _unique(f"{body}/fixed", self._joint_names), JointType.FIXED, parent, body, R, p
            )

    def _free(self, body: str, count: int) -> None:
        if count:
            raise MjcfError(
                f"base 'floating': body {quoted(body)} hangs on the world by a joint; "
                "bodies without one can float"
            )
        self._join(
            _unique(f"{body}/free", self._joint_names),
            JointType.FLOATING,
            self._body_names[0],
            body,
            is_base=True,
        )

    def _add_site(self, i: int) -> None:
        """A site is a link without mass, fixed to its body; one with the name of a body is told from it."""
        mj, name = self._mj, self._mj.site(i).name
        is_body = name in self._body_names
        link = _unique(f"{name}/site" if is_body else name, self._link_names)
        self._links.append(LinkSpec(link, 0.0, np.zeros(3), np.zeros((3, 3))))
        R = from_quaternion(_xyzw(mj.site_quat[i]))
        parent = self._body_names[mj.site_bodyid[i]]
        self._join(
            _unique(f"{link}/fixed", self._joint_names),
            JointType.FIXED,
            parent,
            link,
            R,
            np.array(mj.site_pos[i]),
        )

    def _join(
        self,
        name: str,
        kind: JointType,
        parent: str,
        child: str,
        R: NDArray[np.float64] | None = None,
        p: NDArray[np.float64] | None = None,
        axis: NDArray[np.float64] = _Z,
        **more: Any,
    ) -> None:
        """Add a joint, at its parent's origin unless R and p say otherwise; `more`: what else a JointSpec has."""
        R, p = np.eye(3) if R is None else R, np.zeros(3) if p is None else p
        self._joints.append(JointSpec(name, kind, parent, child, R, p, axis, **more))

    def _joint_name(self, j: int) -> str:
        return self._mj.joint(j).name or f"{self._body_names[self._mj.jnt_bodyid[j]]}/joint{j}"

    def _link(self, i: int) -> LinkSpec:
        mj = self._mj
        R = from_quaternion(_xyzw(mj.body_iquat[i]))
        inertia = R @ np.diag(mj.body_inertia[i]) @ R.T
        return LinkSpec(
            self._body_names[i], float(mj.body_mass[i]), np.array(mj.body_ipos[i]), inertia
        )

    def _reference(
        self, j: int, axis: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rotation and translation from where the file has the joint's body, which is at q = `ref`, back to q = 0."""
        mj, none = self._mj, (np.eye(3), np.zeros(3))
        if mj.jnt_type[j] == BALL:
            return none
        back = -float(mj.qpos0[mj.jnt_qposadr[j]])
        if mj.jnt_type[j] == SLIDE:
            return none[0], back * axis
        return from_axis_angle(axis, back), none[1]

    def _properties(self, j: int) -> dict[str, float]:
        """Limits and passive forces of a joint; its armature goes to `armature`."""
        mj, dof = self._mj, self._mj.jnt_dofadr[j]
        if mj.dof_armature[dof]:
            self.armature[self._joint_name(j)] = float(mj.dof_armature[dof])
        found = {"damping": float(mj.dof_damping[dof]), "friction": float(mj.dof_frictionloss[dof])}
        if mj.jnt_type[j] == BALL:
            return found
        if mj.jnt_limited[j]:
            found["lower"], found["upper"] = map(float, mj.jnt_range[j])
        own = _reach(mj.jnt_actfrcrange[j]) if mj.jnt_actfrclimited[j] else np.inf
        return {**found, "effort": min(own, self._efforts.get(j, np.inf))}


def _gravity(mj: Any) -> NDArray[np.float64]:
    """The file's gravity, unless a flag of it switches that off."""
    from mujoco import mjtDisableBit  # its numbers have changed between versions

    is_off = mj.opt.disableflags & int(mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if is_off else np.array(mj.opt.gravity)


def _unique(name: str, taken: set[str]) -> str:
    """The name, with as many dashes after it as it takes to be no other's; then it is taken."""
    while name in taken:
        name += "-"
    taken.add(name)
    return name


def _dragged(mj: Any, dofs: NDArray[np.bool_]) -> bool:
    """Does any of these coordinates have armature, damping or friction?"""
    return bool((mj.dof_armature + mj.dof_damping + mj.dof_frictionloss)[dofs].any())


def _actuated(mj: Any) -> dict[int, float]:
    """The largest effort of all actuators of a joint together, in both directions; infinite if one has no limit."""
    found: dict[int, float] = {}
    for a in range(mj.nu):
        if mj.actuator_trntype[a] in _AT_A_JOINT:
            limit = np.inf
            if mj.actuator_forcelimited[a]:
                limit = _reach(mj.actuator_forcerange[a])
            elif mj.actuator_ctrllimited[a] and not (
                mj.actuator_gaintype[a] or mj.actuator_biastype[a]
            ):
                limit = abs(mj.actuator_gainprm[a, 0]) * _reach(mj.actuator_ctrlrange[a])
            j = int(mj.actuator_trnid[a, 0])
            found[j] = found.get(j, 0.0) + abs(mj.actuator_gear[a, 0]) * limit
    return found


def _reach(limits: NDArray[np.float64]) -> float:
    """The largest size that a range allows in both directions; on one side of zero, the larger of its ends."""
    near, far = sorted(np.abs(limits))
    return float(near if limits[0] < 0.0 < limits[1] else far)


def _xyzw(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.roll(quaternion, -1)
