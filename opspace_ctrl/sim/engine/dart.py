"""The same robot in DART (dartpy), the physics engine that Gazebo uses by default; an optional extra."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...dynamics import bias_forces, mass_matrix
from ...errors import MethodError, SimulationError
from ...model import JointType, Model
from ...model.configuration import check_vector
from ...model.rotations import quaternion_log
from ..joint_index import floating_bases, velocity_limits
from ..settings import SimulatorSettings
from ..simulator import Simulator

__all__ = ["DartSimulator"]

NO_MASS = 1e-12  # [kg], [kg m^2]: of links without inertia, for which DART would take 1 kg
HOLD_RATE = 0.1  # share of the way back to the held position in a step


class DartSimulator(Simulator):
    """See `Simulator`: semi-implicit Euler with implicit damping, stops and friction by DART's own solver.

    One robot of revolute and prismatic joints, on a fixed or floating base, without contacts, closures and armature:
    what DART would do otherwise than the native engine is refused, not approximated.

    Raises:
        MethodError: dartpy is not installed, or the robot or the settings need what this engine does not carry.
    """

    def _check(self) -> None:
        _check(self.model, self.settings)

    def _build(self) -> None:
        model, settings = self.model, self.settings
        self._dart = _import_dartpy()
        self._is_floating = bool(floating_bases(model))
        self._world, self._skeleton = self._make_world()
        self._joint = np.flatnonzero(~model.is_base_coordinate)
        self._limit = (
            model.effort_limits if settings.effort_limits else np.full(len(self._joint), np.inf)
        )
        offset = 6 if self._is_floating else 0
        self._dofs = np.array(
            [self._skeleton.getJoint(name).getIndexInSkeleton(0) for name in model.joint_names], int
        )
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._q_before, self._v_before = self._q.copy(), self._v.copy()
        self._forces, self._efforts = (
            np.zeros(len(self._joint) + offset),
            np.zeros(len(self._joint)),
        )
        self._hold, self._held, self._is_holding = np.zeros(len(self._joint)), self._q.copy(), False
        self._pushes: dict[int, tuple[np.ndarray, float]] = {}
        self._pushed: dict[int, np.ndarray] = {}
        self.q, self.v, self.tau = self._q.view(), self._v.view(), self._efforts.view()
        for view in (self.q, self.v, self.tau, self._hold):
            view.setflags(write=False)

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

    # ---- the motion ----

    def step(self, tau) -> None:
        """See `Simulator.step`."""
        self._is_holding = tau is self._hold
        tau = check_vector(tau, len(self._joint), "tau")
        np.clip(tau, -self._limit, self._limit, out=self._efforts)
        self._forces[self._dofs] = self._efforts
        self._skeleton.setForces(self._forces)
        for frame, (wrench, _) in self._pushes.items():
            body = self._skeleton.getBodyNode(self.model.frame_names[frame])
            body.addExtForce(wrench[:3], np.zeros(3), False, True)
            body.addExtTorque(wrench[3:], False)
        self._world.step(True)
        self._read_state()
        self._pushed = {frame: wrench for frame, (wrench, _) in self._pushes.items()}
        self._pushes = {
            f: (wrench, left - 1.0) for f, (wrench, left) in self._pushes.items() if left > 1.0
        }
        self._count += 1

    def _read_state(self) -> None:
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            self._write_state(self._q.copy(), self._v.copy())
            raise SimulationError(
                f"{self.model.name}: the motion leaves the range of numbers at {self.time:g} s"
            )
        self._q_before[:], self._v_before[:] = self._q, self._v
        self._q[len(self._q) - len(self._joint) :], self._v[self._joint] = (
            q[self._dofs],
            v[self._dofs],
        )
        if self._is_floating:
            body = self._skeleton.getBodyNode(0)
            pose = body.getWorldTransform()
            self._q[:3], quaternion = pose.translation(), pose.quaternion()
            self._q[3:7] = quaternion.x(), quaternion.y(), quaternion.z(), quaternion.w()
            self._v[:6] = np.roll(body.getSpatialVelocity(), 3)  # DART: angular first

    def _write_state(self, q: np.ndarray, v: np.ndarray) -> None:
        self._q[:], self._v[:] = q, v
        positions, velocities = np.zeros(len(self._forces)), np.zeros(len(self._forces))
        positions[self._dofs], velocities[self._dofs] = (
            q[len(q) - len(self._joint) :],
            v[self._joint],
        )
        if self._is_floating:
            positions[:3], positions[3:6] = quaternion_log(q[3:7]), q[:3]
        self._skeleton.setPositions(positions)
        self._skeleton.setVelocities(velocities)
        if self._is_floating:
            self._skeleton.getRootJoint().setRelativeSpatialVelocity(np.roll(v[:6], 3))

    def hold(self) -> np.ndarray:
        """See `Simulator.hold`; friction is left to help."""
        if not self._is_holding:
            self._held[:] = self._q
        joints, base, dt = (
            self._joint,
            np.flatnonzero(self.model.is_base_coordinate),
            self.settings.step,
        )
        back = self.model.difference(self._q, self._held)
        H, h = mass_matrix(self.model, self._q), bias_forces(self.model, self._q, self._v)
        a = (HOLD_RATE * back / dt - self._v) / dt
        if len(base):
            a[base] = np.linalg.solve(
                H[np.ix_(base, base)], -h[base] - H[np.ix_(base, joints)] @ a[joints]
            )
        damping = self.model.damping if self.settings.joint_damping else 0.0
        tau = H @ a + h + damping * (self._v + dt * a)
        self._hold.setflags(write=True)
        np.clip(tau[joints], -self._limit, self._limit, out=self._hold)
        self._hold.setflags(write=False)
        return self._hold

    def _push(self, frame: int, wrench: np.ndarray, steps: float) -> None:
        self._pushes[frame] = wrench, steps

    # ---- the state ----

    def _reset(self, q: np.ndarray, v: np.ndarray) -> None:
        self._write_state(q, v)
        self._q_before[:], self._v_before[:] = q, v
        self._pushes, self._pushed, self._is_holding = {}, {}, False
        self._efforts[:] = 0.0

    def save(self) -> Mapping[str, np.ndarray]:
        """See `Simulator.save`."""
        table = np.array(
            [[frame, left, *wrench] for frame, (wrench, left) in self._pushes.items()]
        ).reshape(-1, 8)
        return {
            "count": np.array(self._count),
            "q": self._q.copy(),
            "v": self._v.copy(),
            "pushes": table,
            "positions": self._skeleton.getPositions(),
            "velocities": self._skeleton.getVelocities(),
            "tau": self._efforts.copy(),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Simulator.restore`."""
        wanted = {
            "q": self._q.shape,
            "v": self._v.shape,
            "tau": self._efforts.shape,
            "positions": self._forces.shape,
            "velocities": self._forces.shape,
        }
        names = {*wanted, "count", "pushes"}
        if (
            not isinstance(state, Mapping)
            or not names <= set(state)
            or wanted != {name: np.shape(state[name]) for name in wanted}
        ):
            raise SimulationError(f"{self.model.name}: not a state that this simulator has saved")
        self._reset(state["q"], state["v"])
        # as DART itself holds them, to the last bit
        self._skeleton.setPositions(state["positions"])
        self._skeleton.setVelocities(state["velocities"])
        self._pushes = {int(row[0]): (row[2:].copy(), float(row[1])) for row in state["pushes"]}
        self._efforts[:], self._count = state["tau"], int(state["count"])

    # ---- forces ----

    def contact_forces(self) -> dict[str, np.ndarray]:
        """None: this engine has no contacts."""
        return {}

    def constraint_forces(self) -> dict[tuple[str, str], np.ndarray]:
        """None: this engine has no closures."""
        return {}

    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        return self._q_before, self._v_before

    def _outside(self) -> list[tuple[str, np.ndarray]]:
        return [(self.model.frame_names[frame], wrench) for frame, wrench in self._pushed.items()]


def _import_dartpy():
    try:
        import dartpy
    except ImportError as error:
        raise MethodError(
            f"engine 'dart' needs the package dartpy ({error}); engine 'native' needs nothing"
        ) from None
    return dartpy


def _check(model: Model, settings: SimulatorSettings) -> None:
    """Refuse by name what this engine would simulate otherwise than the native one."""
    moving = np.setdiff1d(np.arange(len(model.joint_type)), floating_bases(model))
    lacking = [
        what
        for what, asked in (
            ("a forest", isinstance(model.source, tuple)),
            ("a robot that is not from URDF", not model.source),
            ("mimic joints", model.is_mimic.any()),
            (
                "planar, spherical or floating joints",
                not np.isin(
                    model.joint_type[moving], (JointType.REVOLUTE, JointType.PRISMATIC)
                ).all(),
            ),
            ("armature", model.armature.any()),
            ("contacts", len(settings.contacts)),
            ("closures", len(settings.closures)),
            (f"integrator {settings.integrator}", settings.integrator != "semi_implicit"),
        )
        if asked
    ]
    if lacking:
        raise MethodError(
            f"engine 'dart' cannot carry {', '.join(lacking)} ({model.name}); engine 'native' can"
        )
