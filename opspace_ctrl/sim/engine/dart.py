# SPDX-License-Identifier: Apache-2.0
"""The same robot in DART (dartpy), the physics engine that Gazebo uses by default; an optional extra."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import MethodError
from ...model import JointType
from ...model.rotations import quaternion_log
from ..joint_index import floating_bases, velocity_limits
from .foreign import ForeignSimulator

NO_MASS = 1e-12  # [kg], [kg m^2]: of links without inertia, for which DART would take 1 kg


class DartSimulator(ForeignSimulator):
    """See `Simulator`: semi-implicit Euler with implicit damping, stops and friction by DART's own solver.

    One robot of revolute and prismatic joints, on a fixed or floating base, without contacts, closures and armature:
    what DART would do otherwise than the native engine is refused, not approximated.

    Raises:
        MethodError: dartpy is not installed, or the robot or the settings need what this engine does not carry.
    """

    __slots__ = ("_dart", "_dofs", "_forces", "_is_floating", "_skeleton", "_world")

    def _lacking(self) -> tuple[tuple[str, Any], ...]:
        model, settings = self.model, self.settings
        moving = np.setdiff1d(np.arange(len(model.joint_type)), floating_bases(model))
        is_carried = np.isin(model.joint_type[moving], (JointType.REVOLUTE, JointType.PRISMATIC))
        return (
            ("a forest", isinstance(model.source, tuple)),
            ("a robot that is not from URDF", not model.source),
            ("mimic joints", model.is_mimic.any()),
            ("planar, spherical or floating joints", not is_carried.all()),
            ("armature", model.armature.any()),
            ("contacts", settings.contacts),
            ("closures", settings.closures),
            (f"integrator {settings.integrator}", settings.integrator != "semi_implicit"),
        )

    def _make(self) -> None:
        self._dart = _import_dartpy()
        self._is_floating = bool(floating_bases(self.model))
        self._world, self._skeleton = self._make_world()
        self._dofs = np.array(
            [
                self._skeleton.getJoint(name).getIndexInSkeleton(0)
                for name in self.model.joint_names
            ],
            int,
        )
        self._forces = np.zeros(self.model.nv)

    def _make_world(self):
        dart, model, settings = self._dart, self.model, self.settings
        loader, options = dart.utils.DartLoader(), dart.utils.DartLoaderOptions()
        root = dart.utils.DartLoaderRootJointType
        options.mDefaultRootJointType = root.FLOATING if self._is_floating else root.FIXED
        options.mDefaultInertia = dart.dynamics.Inertia(NO_MASS, np.zeros(3), NO_MASS * np.eye(3))
        loader.setOptions(options)
        skeleton = loader.parseSkeletonString(model.source, "")
        if skeleton is None:
            raise MethodError(f"dart cannot read the URDF of {model.name}")
        self._compare(skeleton)
        skeleton.disableSelfCollisionCheck()
        for body in skeleton.getBodyNodes():
            body.setCollidable(False)
        fastest = velocity_limits(model, settings.velocity_limits)
        for name, speed in zip(model.joint_names, fastest):
            joint = skeleton.getJoint(name)
            joint.setLimitEnforcement(settings.joint_limits or settings.velocity_limits)
            if not settings.joint_limits:
                joint.setPositionLowerLimit(0, -np.inf)
                joint.setPositionUpperLimit(0, np.inf)
            joint.setVelocityLowerLimit(0, -float(speed))
            joint.setVelocityUpperLimit(0, float(speed))
            joint.setForceLowerLimit(0, -np.inf)
            joint.setForceUpperLimit(0, np.inf)
            at = model.v_index[model.body_joint_names.index(name)]
            joint.setCoulombFriction(
                0, float(model.friction[at]) if settings.joint_friction else 0.0
            )
            joint.setDampingCoefficient(
                0, float(model.damping[at]) if settings.joint_damping else 0.0
            )
        world = dart.simulation.World()
        world.setGravity(model.gravity)
        world.setTimeStep(settings.step)
        world.addSkeleton(skeleton)
        return world, skeleton

    def _compare(self, skeleton) -> None:
        """DART reads the URDF by itself: refuse a model that was changed since."""
        free = {joint.getName() for joint in skeleton.getJoints() if joint.getNumDofs()}
        extra = sorted(free - set(self.model.joint_names) - {skeleton.getRootJoint().getName()})
        mass = skeleton.getMass()
        if extra or abs(mass - self.model.total_mass) > 1e-9 * mass:
            raise MethodError(
                f"engine 'dart' reads the URDF of {self.model.name} itself and cannot carry "
                f"{'the locked joint ' + extra[0] if extra else 'changed masses'}; engine 'native' can"
            )

    def _advance(self, wrenches: Mapping[int, np.ndarray]) -> None:
        self._forces[self._dofs] = self._efforts
        self._skeleton.setForces(self._forces)
        for frame, wrench in wrenches.items():
            body = self._skeleton.getBodyNode(self.model.frame_names[frame])
            body.addExtForce(wrench[:3], np.zeros(3), False, True)
            body.addExtTorque(wrench[3:], False)
        self._world.step(True)

    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        q[len(q) - len(self._joint) :] = self._skeleton.getPositions()[self._dofs]
        v[self._joint] = self._skeleton.getVelocities()[self._dofs]
        if self._is_floating:
            body = self._skeleton.getBodyNode(0)
            pose = body.getWorldTransform()
            q[:3], quaternion = pose.translation(), pose.quaternion()
            q[3:7] = quaternion.x(), quaternion.y(), quaternion.z(), quaternion.w()
            v[:6] = np.roll(body.getSpatialVelocity(), 3)  # DART: angular first
        return q, v

    def _write(self, q: np.ndarray, v: np.ndarray) -> None:
        positions, velocities = np.zeros(len(self._forces)), np.zeros(len(self._forces))
        positions[self._dofs] = q[len(q) - len(self._joint) :]
        velocities[self._dofs] = v[self._joint]
        if self._is_floating:
            positions[:3], positions[3:6] = quaternion_log(q[3:7]), q[:3]
        self._write_exactly(np.array([positions, velocities]))
        if self._is_floating:
            self._skeleton.getRootJoint().setRelativeSpatialVelocity(np.roll(v[:6], 3))

    def _read_exactly(self) -> np.ndarray:
        return np.array([self._skeleton.getPositions(), self._skeleton.getVelocities()])

    def _write_exactly(self, physics: np.ndarray) -> None:
        self._skeleton.setPositions(physics[0])
        self._skeleton.setVelocities(physics[1])


def _import_dartpy():
    try:
        import dartpy
    except ImportError as error:
        raise MethodError(
            f"engine 'dart' needs the package dartpy ({error}); engine 'native' needs nothing"
        ) from None
    return dartpy
