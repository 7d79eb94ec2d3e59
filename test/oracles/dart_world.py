# SPDX-License-Identifier: Apache-2.0
"""A robot in a DART world with a ground, as Gazebo has it: DART is Gazebo's default engine.

Nothing of the package but its URDF text enters.
"""

from __future__ import annotations

import dartpy as dart
import numpy as np

GROUND_FRICTION = 1.0
NO_MASS = 1e-12  # [kg], [kg m^2]: of links without inertia, for which DART would take 1 kg


class DartWorld:
    """A robot on its own, or floating above a ground whose top is z = 0.

    Attributes:
        joints: names in DART's order, which need not be that of any controller.
        step_size: [s].
        steps: made since the start.
    """

    def __init__(self, urdf, floating, step_size=0.001, gravity=(0.0, 0.0, -9.81)):
        loader = dart.utils.DartLoader()
        root = (
            dart.utils.DartLoader.RootJointType.FLOATING
            if floating
            else dart.utils.DartLoader.RootJointType.FIXED
        )
        options = dart.utils.DartLoader.Options()
        options.mDefaultRootJointType = root
        options.mDefaultInertia = dart.dynamics.Inertia(NO_MASS, np.zeros(3), NO_MASS * np.eye(3))
        loader.setOptions(options)
        self.robot = loader.parseSkeletonString(urdf, "")
        self.floating = floating
        self.step_size = step_size
        self.steps = 0
        self._world = dart.simulation.World()
        self._world.setGravity(gravity)
        self._world.setTimeStep(step_size)
        self._world.addSkeleton(self.robot)
        if floating:
            self._world.addSkeleton(_ground())
            for body in self.robot.getBodyNodes():
                _set_friction(body)
        self._first = 6 if floating else 0  # DART's free joint: rotation, then position
        self.joints = [
            self.robot.getDof(i).getName() for i in range(self._first, self.robot.getNumDofs())
        ]

    def place(self, positions, base_position=(0.0, 0.0, 0.0)):
        """Joint positions by name, the rest at zero, an upright base."""
        q = np.zeros(self.robot.getNumDofs())
        for name, position in positions.items():
            q[self._first + self.joints.index(name)] = position
        if self.floating:
            q[3:6] = base_position
        self.robot.setPositions(q)
        self.robot.setVelocities(np.zeros_like(q))

    def step(self, forces):
        """One step with a force by joint name; DART clears them after each."""
        tau = np.zeros(self.robot.getNumDofs())
        tau[self._first :] = [forces[name] for name in self.joints]
        low, high = self.robot.getForceLowerLimits(), self.robot.getForceUpperLimits()
        self.robot.setForces(np.clip(tau, low, high))
        self._world.step()
        self.steps += 1

    @property
    def stamp(self):
        """(seconds, nanoseconds) of the state, k steps after zero."""
        return divmod(self.steps * round(self.step_size * 1e9), 10**9)

    @property
    def positions(self):
        return self.robot.getPositions()[self._first :]

    @property
    def velocities(self):
        return self.robot.getVelocities()[self._first :]

    def base(self):
        """Position, quaternion xyzw, and linear and angular velocity in base axes of the root link."""
        body = self.robot.getRootBodyNode()
        pose = body.getWorldTransform()
        w, x, y, z = _wxyz(pose)
        frame = dart.dynamics.Frame.World()
        return (
            pose.translation(),
            np.array([x, y, z, w]),
            body.getLinearVelocity(frame, body),
            body.getAngularVelocity(frame, body),
        )


def _wxyz(pose):
    quaternion = pose.quaternion()
    return quaternion.w(), quaternion.x(), quaternion.y(), quaternion.z()


def _set_friction(body):
    for node in body.getShapeNodes():
        if node.hasDynamicsAspect():
            node.getDynamicsAspect().setFrictionCoeff(GROUND_FRICTION)


def _ground():
    ground = dart.dynamics.Skeleton("ground")
    joint, body = ground.createWeldJointAndBodyNodePair()
    node = body.createShapeNode(dart.dynamics.BoxShape([10.0, 10.0, 0.1]))
    node.createCollisionAspect()
    node.createDynamicsAspect()
    node.getDynamicsAspect().setFrictionCoeff(GROUND_FRICTION)
    top = np.eye(4)
    top[2, 3] = -0.05
    joint.setTransformFromParentBodyNode(dart.math.Isometry3(top))
    return ground
