# SPDX-License-Identifier: Apache-2.0
"""The public functions of rigid-body dynamics: a model and plain arrays in, a new array out."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy import empty
from numpy.typing import ArrayLike, NDArray

from ..compiled.jit import MISFIT, prepare
from ..errors import ConfigurationError, SingularInertiaError, quoted
from ..model import Model, check_model
from ..model.configuration import check_vector
from ..model.rotations import to_quaternion
from . import entries
from .build import RobotTree
from .state import OK, REFUSED, TOO_LARGE

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
    "tree_of",
]

Wrenches: TypeAlias = Mapping[str, ArrayLike]
# One of `entries`: it takes vectors, what it writes, and the tree's address, and says OK or REFUSED.
Entry: TypeAlias = Callable[..., int]
_NO_WRENCHES: AbstractContextManager[None] = nullcontext()


class _Trees(threading.local):
    """One tree a model and thread: kernels write into it, so it is never shared."""

    def __init__(self) -> None:
        # a model and its tree, read at once: every look in here costs 40 ns
        self.latest: tuple[object, RobotTree]
        self.latest = object(), None  # type: ignore[assignment]  # no model is this: that tree is never taken
        self.all: WeakKeyDictionary[Model, RobotTree] = WeakKeyDictionary()


_trees = _Trees()
_ready: set[Entry] = set()  # entries that are compiled


def tree_of(model: Model) -> RobotTree:
    """This thread's tree of `model`, built when first asked for.

    Raises:
        ConfigurationError: It is no Model.
    """
    of, tree = _trees.latest
    if of is not model:
        check_model(model)
        if model not in _trees.all:
            prepare([entries.inverse_dynamics, entries.forward_dynamics])
            _trees.all[model] = RobotTree(model)
        tree = _trees.all[model]
        _trees.latest = model, tree
    return tree


def call(entry: Entry, *arguments: object) -> int:
    """Call an entry, compiled first if it is not yet."""
    if entry not in _ready:
        prepare([entry])
        _ready.add(entry)
    return entry(*arguments)


def run(
    model: Model,
    entry: Entry,
    inputs: tuple[ArrayLike, ...],
    names: str,
    *rest: object,
    tree: RobotTree | None = None,
) -> RobotTree:
    """Call an entry on q and further vectors (nv,); what it refuses is converted and checked in words.

    Args:
        inputs: The vectors, as the user gave them.
        names: Of those after q, for messages.
        rest: What else the entry takes, before the address of the tree.
        tree: Where it works; this thread's tree of the model if not given.

    Returns:
        The tree that the entry has worked on.
    """
    tree = tree or tree_of(model)
    try:
        status = call(entry, *inputs, *rest, tree.address)
    except MISFIT:  # a list, a strided view ...: not what the entry is compiled for
        status = REFUSED
    if status != OK:
        checked = [model.check_configuration(inputs[0])]
        checked += [model.check_velocity(x, name) for x, name in zip(inputs[1:], names.split())]
        if entry(*checked, *rest, tree.address) != OK:
            raise ConfigurationError(f"{model.name}: {TOO_LARGE}")
    return tree


def result_of(
    model: Model,
    entry: Entry,
    inputs: tuple[ArrayLike, ...],
    names: str,
    *rest: object,
    tree: RobotTree | None = None,
) -> NDArray[np.float64]:
    """The vector (nv,) that an entry writes for the inputs; see `run`."""
    tree = tree or tree_of(model)
    out = empty(model.nv)
    run(model, entry, inputs, names, out, *rest, tree=tree)
    return out


def external_wrenches(
    model: Model, q: ArrayLike, wrenches: Wrenches | None, tree: RobotTree | None = None
) -> AbstractContextManager[None]:
    """A context in which the wrenches, if there are any, act at their frames in a tree of the model (see `run`)."""
    return _NO_WRENCHES if wrenches is None else _wrenches_at(model, q, wrenches, tree)


@contextmanager
def _wrenches_at(
    model: Model, q: ArrayLike, wrenches: Wrenches, tree: RobotTree | None
) -> Iterator[None]:
    if not isinstance(wrenches, Mapping):
        raise ConfigurationError(f"external = {quoted(wrenches)} is not {{frame: wrench}}")
    checked = {
        model.frame_index(frame): check_vector(
            wrench, 6, f"external wrench (force, torque) at {frame!r}"
        )
        for frame, wrench in wrenches.items()
    }
    tree = run(model, entries.at_configuration, (q,), "", tree=tree)
    try:
        for frame, wrench in checked.items():
            call(entries.add_external, frame, wrench, tree.address)
        tree.has_external = 1
        yield
    finally:
        tree.external = 0.0
        tree.has_external = 0


def mass_matrix(model: Model, q: ArrayLike) -> NDArray[np.float64]:
    """Joint-space inertia H (nv, nv), armature included, by the composite-rigid-body algorithm."""
    return run(model, entries.mass_matrix, (q,), "").dense[: model.nv].copy()


def bias_forces(model: Model, q: ArrayLike, v: ArrayLike) -> NDArray[np.float64]:
    """h (nv,): Coriolis, centrifugal and gravity forces, C of [Featherstone2010] (1)."""
    return result_of(model, entries.bias_forces, (q, v), "v")


def gravity_forces(model: Model, q: ArrayLike) -> NDArray[np.float64]:
    """h at rest (nv,): the joint forces that hold the robot against gravity."""
    return bias_forces(model, q, np.zeros(model.nv))


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external: Wrenches | None = None,
    damping: bool = False,
    friction: bool = False,
) -> NDArray[np.float64]:
    """tau (nv,) = H a + h - sum J^T f, for wrenches f on the robot at named frames (force, torque; world axes).

    Args:
        damping, friction: Also what the joints' viscous damping and Coulomb friction take.
    """
    if external is None and not (damping or friction):  # these lines are all that happens in a loop
        of, tree = _trees.latest
        if of is not model:
            tree = tree_of(model)
        tau: NDArray[np.float64] = empty(model.nv)
        try:
            if entries.inverse_dynamics(q, v, a, tau, tree.address) == OK:
                return tau
        except MISFIT:
            pass
    with external_wrenches(model, q, external):
        tau = result_of(model, entries.inverse_dynamics, (q, v, a), "v a")
    if damping or friction:
        tau += joint_losses(model, model.check_velocity(v), damping, friction)
    return tau


def joint_losses(
    model: Model, v: NDArray[np.float64], damping: bool = True, friction: bool = True
) -> NDArray[np.float64]:
    """Forces (nv,) that the joints' own damping and Coulomb friction hold against the motion."""
    loss = np.zeros(model.nv)
    if damping:
        loss += model.damping * v
    if friction:
        loss += model.friction * np.sign(v)
    return loss


def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> NDArray[np.float64]:
    """C (nv, nv) with C v = h - gravity and dH/dt = C + C^T along the motion."""
    return run(model, entries.coriolis_matrix, (q, v), "v").dense[: model.nv].copy()


def _energies(model: Model, q: ArrayLike, v: ArrayLike) -> NDArray[np.float64]:
    out = empty(2)
    run(model, entries.energies, (q, v), "v", out)
    return out


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> float:
    """1/2 v^T H v [J]."""
    return float(_energies(model, q, v)[0])


def potential_energy(model: Model, q: ArrayLike) -> float:
    """Energy in the gravity field [J], zero at the world's origin."""
    return float(_energies(model, q, np.zeros(model.nv))[1])


def frame_pose(
    model: Model, q: ArrayLike, frame: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """World position (3,) and quaternion xyzw (4,) of a frame."""
    tree, out = run(model, entries.at_configuration, (q,), ""), empty(12)
    call(entries.frame_pose, model.frame_index(frame), out, tree.address)
    return out[9:].copy(), to_quaternion(out[:9].reshape(3, 3))


def frame_jacobian(model: Model, q: ArrayLike, frame: str) -> NDArray[np.float64]:
    """J (6, nv): velocity of the frame's origin and angular velocity, world axes, from v."""
    tree = run(model, entries.at_configuration, (q,), "")
    call(entries.frame_jacobian, model.frame_index(frame), tree.address)
    return tree.dense[:6].copy()


def _frame_motion(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> NDArray[np.float64]:
    tree, out = run(model, entries.at_motion, (q, v), "v"), empty(12)
    call(entries.frame_motion, model.frame_index(frame), out, tree.address)
    return out


def frame_velocity(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> NDArray[np.float64]:
    """Velocity (6,) of a frame, linear first, world axes."""
    return _frame_motion(model, q, v, frame)[:6].copy()


def frame_acceleration(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str
) -> NDArray[np.float64]:
    """Classical acceleration (6,) of a frame's origin, J a + Jdot v; with a = 0 this is Jdot v."""
    a = model.check_velocity(a, "a")
    Jdot_v, J = _frame_motion(model, q, v, frame)[6:], frame_jacobian(model, q, frame)
    acceleration: NDArray[np.float64] = Jdot_v + J @ a
    return acceleration


def _moving_mass(model: Model) -> float:
    mass = float(model.mass.sum())
    if mass == 0.0:
        raise SingularInertiaError(f"{model.name}: no mass moves, so there is no centre of it")
    return mass


def center_of_mass(model: Model, q: ArrayLike) -> NDArray[np.float64]:
    """World position (3,) of the centre of the moving mass; SingularInertiaError, here and below, if there is none."""
    _moving_mass(model)
    out = empty(4)
    call(entries.center_of_mass, out, run(model, entries.at_configuration, (q,), "").address)
    return out[:3].copy()


def center_of_mass_jacobian(model: Model, q: ArrayLike) -> NDArray[np.float64]:
    """J (3, nv) of the centre of mass."""
    _moving_mass(model)
    tree = run(model, entries.at_configuration, (q,), "")
    call(entries.center_of_mass, empty(4), tree.address)
    return tree.dense[:3].copy()


def center_of_mass_bias(model: Model, q: ArrayLike, v: ArrayLike) -> NDArray[np.float64]:
    """Jdot v (3,) of the centre of mass."""
    out = empty(7)
    out[6] = _moving_mass(model)
    call(entries.center_of_mass_motion, out, run(model, entries.at_motion, (q, v), "v").address)
    return out[3:6].copy()
