# SPDX-License-Identifier: Apache-2.0
"""The same robot in MuJoCo; an optional extra."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import MethodError, listed
from ..joint_index import velocity_limits
from .foreign import ForeignSimulator

try:
    import mujoco

    from .mujoco_model import Coordinates, compiled, uncarried, written
except ImportError as error:
    raise MethodError(
        f"engine 'mujoco' needs the package mujoco ({error}): pip install 'opspace_ctrl[mujoco]'; "
        "engine 'native' needs nothing"
    ) from None


HARDEST = 0.9999  # impedance of a constraint: the most that MuJoCo takes
SETTLING = 8  # rounds of `_brake`; from then on joints are only caught
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


class MujocoSimulator(ForeignSimulator):
    """See `Simulator`: MuJoCo's own dynamics, integrators and constraint solver.

    semi_implicit is MuJoCo's Euler, explicit the same without implicit damping, rkmk4 its RK4, of order four too. A
    floating base moves by its velocity in world axes. Stops and dry friction are MuJoCo's soft constraints, as hard as
    it takes them; velocity limits, which it does not have, are impulses in the step. Trees and forests of revolute,
    prismatic, spherical and free joints with armature, without contacts and closures: what is left out is refused, not
    approximated.

    Raises:
        MethodError: mujoco is not installed, or the robot or the settings need what this engine does not carry.
    """

    __slots__ = ("_coordinates", "_data", "_fastest", "_frame", "_share", "_twin")

    def _lacking(self) -> tuple[tuple[str, Any], ...]:
        joints = uncarried(self.model)
        return (
            (f"mimic, planar or placed floating joints: {listed(joints)}", joints),
            ("contacts", self.settings.contacts),
            ("closures", self.settings.closures),
            ("integrator algorithm7", self.settings.integrator == "algorithm7"),
        )

    def _make(self) -> None:
        model, settings = self.model, self.settings
        spec, bodies = written(model)
        # a body without mass at every frame: MuJoCo lets a wrench act at a body's centre of mass
        frames = [
            (bodies[body] if body >= 0 else spec.worldbody).add_body(
                pos=place, explicitinertial=True, ipos=np.zeros(3)
            )
            for body, place in zip(model.frame_body, model.frame_translation)
        ]
        self._twin = twin = compiled(model, spec)
        self._frame = np.array([frame.id for frame in frames], int)
        self._data = mujoco.MjData(twin)
        self._coordinates = Coordinates(model)
        self._fastest = velocity_limits(model, settings.velocity_limits)
        is_fourth_order = settings.integrator == "rkmk4"
        self._share = 0.5 if is_fourth_order else 1.0  # of an impulse's velocity, in the step's way
        self._set_options(
            mujoco.mjtIntegrator.mjINT_RK4 if is_fourth_order else mujoco.mjtIntegrator.mjINT_EULER
        )

    def _set_options(self, integrator) -> None:
        model, settings, twin = self.model, self.settings, self._twin
        twin.opt.timestep, twin.opt.integrator = settings.step, integrator
        twin.opt.tolerance = 0.0  # of the solver: as far as it gets
        if settings.integrator == "explicit":
            twin.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        if settings.joint_damping:
            twin.dof_damping[:] = model.damping
        if settings.joint_friction:
            twin.dof_frictionloss[:] = model.friction
        if settings.joint_limits:
            single = np.isin(
                twin.jnt_type, (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
            )
            limits = np.full((model.nv, 2), (-np.inf, np.inf))
            limits[self._joint] = model.position_limits
            twin.jnt_range[single] = limits[twin.jnt_dofadr[single]]
            twin.jnt_limited[single] = np.isfinite(twin.jnt_range[single]).any(1)
        # the shortest time constant that is stable, critically damped
        twin.jnt_solref[:] = twin.dof_solref[:] = 2.0 * settings.step, 1.0
        twin.jnt_solimp[:, :2] = twin.dof_solimp[:, :2] = HARDEST
        mujoco.mj_setConst(twin, self._data)

    def _advance(self, wrenches: Mapping[int, np.ndarray]) -> None:
        twin, data = self._twin, self._data
        data.qfrc_applied[self._joint] = self._efforts
        data.xfrc_applied[:] = 0.0
        for frame, wrench in wrenches.items():
            data.xfrc_applied[self._frame[frame]] = wrench
        # not mj_step, which resets a motion that leaves the range and writes a file about it
        mujoco.mj_forward(twin, data)
        if twin.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            mujoco.mj_RungeKutta(twin, data, 4)
        else:
            mujoco.mj_Euler(twin, data)
        self._brake()

    def _brake(self) -> None:
        """Keep joints within their velocity limits, by impulses H dv = S^T p, which only brake."""
        data, joint, fastest = self._data, self._joint, self._fastest
        start = data.qvel.copy()
        side, impulse = np.zeros((2, len(joint)))  # side 1 or -1: held at that limit
        for r in range(SETTLING + len(joint)):
            speed = data.qvel[joint]
            is_fast = (np.abs(speed) > fastest) & (side == 0.0)
            is_pulled = (side * impulse > 0.0) & (r < SETTLING)
            if not (is_fast | is_pulled).any():
                break
            side[is_fast], side[is_pulled] = np.sign(speed[is_fast]), 0.0
            held = np.flatnonzero(side)
            rows, target = joint[held], side[held] * fastest[held]
            response = np.linalg.solve(self._inertia(), np.eye(len(start))[:, rows])
            impulse[:] = 0.0
            impulse[held] = np.linalg.solve(response[rows], target - start[rows])
            data.qvel[:] = start + response @ impulse[held]
            data.qvel[rows] = target  # to the last bit
        if side.any():
            shift = self._share * (data.qvel - start)
            mujoco.mj_integratePos(self._twin, data.qpos, shift, self.settings.step)

    def _inertia(self) -> np.ndarray:
        """H (nv, nv) of the last step, in MuJoCo's coordinates, with the damping that is implicit in it."""
        H = np.empty((self._twin.nv, self._twin.nv))
        for row, unit in zip(H, np.eye(len(H))):
            mujoco.mj_mulM(self._twin, self._data, row, unit)
        if self.settings.integrator == "semi_implicit":
            H[np.diag_indices_from(H)] += self.settings.step * self._twin.dof_damping
        return H

    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        q = self._coordinates.q(self._data.qpos)
        return q, self._coordinates.v(q, self._data.qvel)

    def _write(self, q: np.ndarray, v: np.ndarray) -> None:
        mujoco.mj_resetData(self._twin, self._data)
        self._data.qpos[:] = self._coordinates.qpos(q)
        self._data.qvel[:] = self._coordinates.qvel(q, v)

    def _read_exactly(self) -> np.ndarray:
        physics = np.empty(mujoco.mj_stateSize(self._twin, STATE))
        mujoco.mj_getState(self._twin, self._data, physics, STATE)
        return physics

    def _write_exactly(self, physics: np.ndarray) -> None:
        mujoco.mj_setState(self._twin, self._data, physics, STATE)
