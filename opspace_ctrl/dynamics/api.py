"""The public functions of rigid-body dynamics: a model and plain arrays in, a new array out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ConfigurationError, SingularInertiaError, quoted
from ..model import Model
from ..model.configuration import check_vector
from ..model.rotations import to_quaternion
from . import entries
from . import layout as at
from .layout import Workspace
from .pack import pack
from .state import OK, TOO_LARGE

__all__ = [
    "bias_forces",
    "center_of_mass",
    "center_of_mass_bias",
    "center_of_mass_jacobian",
    "coriolis_matrix",
    "frame_acceleration",
    "frame_jacobian",
    "frame_pose",
    "frame_velocity",
    "gravity_forces",
    "inverse_dynamics",
    "joint_losses",
    "kinetic_energy",
    "mass_matrix",
    "potential_energy",
    "workspace",
]

Wrenches = Mapping[str, np.ndarray]
_RNEA = entries.inverse_dynamics


class _Workspaces(threading.local):
    """One workspace a model and thread: kernels write into it, so it is never shared."""

    def __init__(self):
        # a model and its workspace, read at once: every look in here costs 40 ns
        self.latest = (None, None)
        self.all = WeakKeyDictionary()


_workspaces = _Workspaces()


def workspace(model: Model) -> Workspace:
    """This thread's workspace for `model`, built when first asked for."""
    of, work = _workspaces.latest
    if of is not model:
        if model not in _workspaces.all:
            _workspaces.all[model] = pack(model)
        work = _workspaces.all[model]
        _workspaces.latest = model, work
    return work


def bound(model: Model, entry) -> Callable:
    """A compiled entry without its last argument, a workspace of `model` that all threads use.

    A call holds the interpreter's lock from end to end, so none sees what another has left in there.
    """
    if Workspace not in model._compiled:
        model._compiled.setdefault(Workspace, pack(model))  # of two threads the first counts
    return entry.bound(model._compiled[Workspace])


def run(model: Model, entry, inputs: tuple, names: str, *rest) -> Workspace:
    """Call a compiled entry on the inputs; what it refuses is converted and checked in words."""
    work = workspace(model)
    if entry.call(*inputs, *rest, work.address) != OK:
        if entry.call(*checked(model, inputs, names), *rest, work.address) != OK:
            raise ConfigurationError(f"{model.name}: {TOO_LARGE}")
    return work


def checked(model: Model, inputs: tuple, names: str) -> list[np.ndarray]:
    """q and further vectors (nv,), converted to arrays; errors name them."""
    found = [model.check_configuration(inputs[0])]
    return found + [model.check_velocity(x, name) for x, name in zip(inputs[1:], names.split())]


def result_of(model: Model, work: Workspace, entry, inputs: tuple, names: str) -> np.ndarray:
    """The vector that a compiled entry returns for the inputs, or for the same converted and checked in words."""
    found = entry.call(*inputs, work.address)
    if found is None:
        found = entry.call(*checked(model, inputs, names), work.address)
        if found is None:
            raise ConfigurationError(f"{model.name}: {TOO_LARGE}")
    return found


@contextmanager
def external_wrenches(model: Model, work: Workspace, q, wrenches: Wrenches):
    """The wrenches at their frames, in a workspace of the model while the context lasts."""
    if not isinstance(wrenches, Mapping):
        raise ConfigurationError(f"external = {quoted(wrenches)} is not {{frame: wrench}}")
    checked = {
        model.frame_index(frame): check_vector(
            wrench, 6, f"external wrench (force, torque) at {frame!r}"
        )
        for frame, wrench in wrenches.items()
    }
    if entries.at_configuration.call(model.check_configuration(q), work.address) != OK:
        raise ConfigurationError(f"{model.name}: {TOO_LARGE}")
    for frame, wrench in checked.items():
        entries.add_external.call(frame, wrench, work.address)
    work.set_count(at.HAS_EXTERNAL, 1)
    try:
        yield
    finally:
        work[at.EXTERNAL][...] = 0.0
        work.set_count(at.HAS_EXTERNAL, 0)


def dynamics_of(
    model: Model, work: Workspace, entry, q, v, x, name: str, external: Wrenches | None
) -> np.ndarray:
    """Inverse or forward dynamics of x, by all means: with wrenches, or with arguments to be converted or refused."""
    with external_wrenches(model, work, q, external or {}):
        return result_of(model, work, entry, (q, v, x), f"v {name}")


def mass_matrix(model: Model, q) -> np.ndarray:
    """Joint-space inertia H (nv, nv), armature included, by the composite-rigid-body algorithm."""
    return run(model, entries.mass_matrix, (q,), "")[at.DENSE][: model.nv].copy()


def bias_forces(model: Model, q, v) -> np.ndarray:
    """h (nv,): Coriolis, centrifugal and gravity forces, C of [Featherstone2010] (1)."""
    return result_of(model, workspace(model), entries.bias_forces, (q, v), "v")


def gravity_forces(model: Model, q) -> np.ndarray:
    """h at rest (nv,): the joint forces that hold the robot against gravity."""
    return bias_forces(model, q, np.zeros(model.nv))


def inverse_dynamics(
    model: Model,
    q,
    v,
    a,
    external: Wrenches | None = None,
    damping: bool = False,
    friction: bool = False,
) -> np.ndarray:
    """tau (nv,) = H a + h - sum J^T f, for wrenches f on the robot at named frames (force, torque; world axes).

    Args:
        damping, friction: Also what the joints' viscous damping and Coulomb friction take.
    """
    if not (external or damping or friction):  # these lines are all that happens in a loop
        try:
            function = model._compiled[_RNEA]
        except KeyError:  # the first time
            function = model._compiled[_RNEA] = bound(model, _RNEA)
        tau = function(q, v, a)
        if tau is not None:
            return tau
    tau = dynamics_of(model, workspace(model), _RNEA, q, v, a, "a", external)
    if damping or friction:
        tau += joint_losses(model, model.check_velocity(v), damping, friction)
    return tau


def joint_losses(
    model: Model, v: np.ndarray, damping: bool = True, friction: bool = True
) -> np.ndarray:
    """Forces (nv,) that the joints' own damping and Coulomb friction hold against the motion."""
    loss = np.zeros(model.nv)
    if damping:
        loss += model.damping * v
    if friction:
        loss += model.friction * np.sign(v)
    return loss


def coriolis_matrix(model: Model, q, v) -> np.ndarray:
    """C (nv, nv) with C v = h - gravity and dH/dt = C + C^T along the motion."""
    return run(model, entries.coriolis_matrix, (q, v), "v")[at.DENSE][: model.nv].copy()


def _energies(model: Model, q, v) -> np.ndarray:
    out = np.empty(2)
    run(model, entries.energies, (q, v), "v", out)
    return out


def kinetic_energy(model: Model, q, v) -> float:
    """1/2 v^T H v [J]."""
    return float(_energies(model, q, v)[0])


def potential_energy(model: Model, q) -> float:
    """Energy in the gravity field [J], zero at the world's origin."""
    return float(_energies(model, q, np.zeros(model.nv))[1])


def frame_pose(model: Model, q, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """World position (3,) and quaternion xyzw (4,) of a frame."""
    f, out = model.frame_index(frame), np.empty(12)
    work = run(model, entries.at_configuration, (q,), "")
    entries.frame_pose.call(f, out, work.address)
    return out[9:].copy(), to_quaternion(out[:9].reshape(3, 3))


def frame_jacobian(model: Model, q, frame: str) -> np.ndarray:
    """J (6, nv): velocity of the frame's origin and angular velocity, world axes, from v."""
    f = model.frame_index(frame)
    work = run(model, entries.at_configuration, (q,), "")
    entries.frame_jacobian.call(f, work.address)
    return work[at.DENSE][:6].copy()


def _frame_motion(model: Model, q, v, frame: str) -> np.ndarray:
    f, out = model.frame_index(frame), np.empty(12)
    work = run(model, entries.at_motion, (q, v), "v")
    entries.frame_motion.call(f, out, work.address)
    return out


def frame_velocity(model: Model, q, v, frame: str) -> np.ndarray:
    """Velocity (6,) of a frame, linear first, world axes."""
    return _frame_motion(model, q, v, frame)[:6].copy()


def frame_acceleration(model: Model, q, v, a, frame: str) -> np.ndarray:
    """Classical acceleration (6,) of a frame's origin, J a + Jdot v; with a = 0 this is Jdot v."""
    a = model.check_velocity(a, "a")
    return _frame_motion(model, q, v, frame)[6:] + frame_jacobian(model, q, frame) @ a


def _moving_mass(model: Model) -> float:
    mass = float(model.mass.sum())
    if mass == 0.0:
        raise SingularInertiaError(f"{model.name}: no mass moves, so there is no centre of it")
    return mass


def center_of_mass(model: Model, q) -> np.ndarray:
    """World position (3,) of the centre of the moving mass; SingularInertiaError, here and below, if there is none."""
    _moving_mass(model)
    out = np.empty(4)
    entries.center_of_mass.call(out, run(model, entries.at_configuration, (q,), "").address)
    return out[:3].copy()


def center_of_mass_jacobian(model: Model, q) -> np.ndarray:
    """J (3, nv) of the centre of mass."""
    _moving_mass(model)
    work = run(model, entries.at_configuration, (q,), "")
    entries.center_of_mass.call(np.empty(4), work.address)
    return work[at.DENSE][:3].copy()


def center_of_mass_bias(model: Model, q, v) -> np.ndarray:
    """Jdot v (3,) of the centre of mass."""
    out = np.empty(7)
    out[6] = _moving_mass(model)
    entries.center_of_mass_motion.call(out, run(model, entries.at_motion, (q, v), "v").address)
    return out[3:6].copy()
