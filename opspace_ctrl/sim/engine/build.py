# SPDX-License-Identifier: Apache-2.0
"""From a model and settings to an `Engine`: the robot, its contacts and closures, and how the step is made."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiled.jit import prepare
from ...compiled.workspace import Workspace
from ...dynamics import mass_matrix
from ...dynamics.build import RobotTree
from ...dynamics.fields import Tree
from ...dynamics.forward import forward_method
from ...dynamics.forward_method import ForwardMethod
from ...model import Model
from ...model.joints import NV
from ...osim.build import TaskSpace
from ...osim.fields import Space
from ...osim.tasks import FRAME, RELATIVE, ROWS, Block
from ..joint_index import velocity_limits
from ..settings import SimulatorSettings
from . import constraints, entries, integrators
from .fields import Engine
from .inverse import INVERSES
from .rows import Contact, Loop, ground_axes

CREEP = 1e-8  # [rad/s, m/s]: what a joint that sticks may creep
STIFF = 1e7  # dt times the slope of a stop, over the joint's own inertia
CORRECTION = 0.2  # share of a position error that a step takes away
PUSHES = 32  # wrenches at a time


def build_engine(
    model: Model,
    settings: SimulatorSettings,
    q: np.ndarray,
    contacts: Sequence[Contact] = (),
    loops: Sequence[Loop] = (),
) -> Engine:
    """An engine for the robot, its state zero; q is a typical configuration.

    Raises:
        MethodError: The forward dynamics cannot carry the robot.
    """
    is_constrained = bool(contacts or loops)
    method = forward_method(model, settings.forward_method)
    chosen = _chosen_stages(settings, is_constrained)
    layers: list[type[Workspace]] = [Tree, Space] if is_constrained else [Tree]
    stages = [stage for layer in layers for stage in layer.stages.values()]
    prepare([*stages, *_method_stages(method), *chosen.values(), entries.step, entries.hold])
    tree = RobotTree(model)
    engine = Engine(
        tree=tree,
        nv=model.nv,
        nq=model.nq,
        pushes=PUSHES,
        dt=settings.step,
        creep=CREEP,
        correction=CORRECTION,
        max_sweeps=settings.solver_sweeps,
        mu=settings.ground_friction,
        ground_height=settings.ground_height,
        ground_axes=ground_axes(settings.ground_normal),
        **_joints(model, settings, q),
        **_coordinates(model, settings),
        **_rows(model, contacts, loops),
        **chosen,
    )
    if engine.rows:
        engine.space = _space(tree, contacts, loops, engine.ground_axes)
    ForwardChoice(engine, method).apply(engine)
    words = engine.words("state")
    engine.state_words = len(words)
    engine.lend("state_now", words)
    engine.lend("state_kept", np.zeros_like(words))
    return engine


class ForwardChoice:
    """A forward dynamics for an engine, with its memory and its H^-1: ready to be put in between two steps."""

    def __init__(self, engine: Engine, method: type[ForwardMethod]):
        prepare(_method_stages(method))
        self._parts = {
            "forward": method.for_tree(engine.tree),
            "inverse": INVERSES[method.leaves](),
            "has_factors": int(method.leaves != ""),
            "has_motion": int(method.leaves_motion),
        }

    def apply(self, engine: Engine) -> None:
        """Let the next step be made with it."""
        for name, value in self._parts.items():
            setattr(engine, name, value)


def _method_stages(method: type[ForwardMethod]) -> list:
    """The stages of a forward dynamics, and those that apply H^-1 by the factors that it leaves."""
    return [*method.stages.values(), *INVERSES[method.leaves].stages.values()]


def _chosen_stages(settings: SimulatorSettings, is_constrained: bool) -> dict[str, Any]:
    """The stage in each call field; without contacts and closures there is only the integrator."""
    chosen = {"integrator": integrators.STAGES.get(settings.integrator, integrators.after_links)}
    if is_constrained:
        chosen |= {"semi_implicit": integrators.semi_implicit, **constraints.STAGES}
    return chosen


def _joints(model: Model, settings: SimulatorSettings, q: np.ndarray) -> dict[str, Any]:
    """The fields of `joints`: efforts, rotors, damping, friction, and how stiff a stop is."""
    coordinates = np.flatnonzero(~model.is_base_coordinate)
    friction = model.friction if settings.joint_friction else np.zeros(model.nv)
    has_limits = np.isfinite(_limits(model, settings)).any()
    return {
        "joints": len(coordinates),
        "joint_coordinate": coordinates,
        "effort_limit": model.effort_limits if settings.effort_limits else np.inf,
        "rotor": model.armature,
        "damping": model.damping if settings.joint_damping else 0.0,
        "friction": friction,
        "stop_slope": STIFF / settings.step * np.diag(mass_matrix(model, q)),
        "has_losses": int(has_limits or friction.any()),
    }


def _limits(model: Model, settings: SimulatorSettings) -> np.ndarray:
    """Lower and upper position and the largest velocity (nv, 3) of every coordinate, infinite where there is none."""
    limits = np.tile([-np.inf, np.inf, np.inf], (model.nv, 1))
    joints = ~model.is_base_coordinate
    if settings.joint_limits:
        limits[joints, :2] = model.position_limits
    limits[joints, 2] = velocity_limits(model, settings.velocity_limits)
    return limits


def _coordinates(model: Model, settings: SimulatorSettings) -> dict[str, Any]:
    """Coordinates that are integrated by adding, with limits, and joints on manifolds: by exponentials."""
    limits = _limits(model, settings)
    own = np.flatnonzero(~model.is_mimic)
    is_manifold = np.array(NV)[model.joint_type[own]] > 1
    singles, manifolds = own[~is_manifold], own[is_manifold]
    return {
        "singles": len(singles),
        "single_q": model.q_index[singles],
        "single_v": model.v_index[singles],
        "lower_limit": limits[model.v_index[singles], 0],
        "upper_limit": limits[model.v_index[singles], 1],
        "speed_limit": limits[model.v_index[singles], 2],
        "manifolds": len(manifolds),
        "manifold_kind": model.joint_type[manifolds],
        "manifold_q": model.q_index[manifolds],
        "manifold_v": model.v_index[manifolds],
    }


def _rows(model: Model, contacts: Sequence[Contact], loops: Sequence[Loop]) -> dict[str, Any]:
    """The numbers of points, closures and rows, and for each closure its frames, kind and first row."""
    points = sum(len(contact.points) for contact in contacts)
    sizes = [loop.size for loop in loops]
    kinds = list(ROWS)
    return {
        "points": points,
        "closures": len(loops),
        "closure_rows": sum(sizes),
        "rows": 3 * points + sum(sizes),
        "closure_first": [model.frame_index(loop.first) for loop in loops],
        "closure_second": [model.frame_index(loop.second) for loop in loops],
        "closure_row": 3 * points + np.cumsum([0, *sizes])[: len(loops)],
        "closure_kind": [kinds.index(loop.rows) for loop in loops],
    }


def _space(
    tree: RobotTree, contacts: Sequence[Contact], loops: Sequence[Loop], axes: np.ndarray
) -> TaskSpace:
    """The operational space of the points, three rows each along the ground's axes, and of the closures."""
    model = tree.nodes.model
    select = np.hstack([axes, np.zeros((3, 3))])
    blocks: list[Block] = []
    points: list[np.ndarray] = []
    for contact in contacts:
        f = model.frame_index(contact.frame)
        axes_of_node = tree.nodes.axes[model.frame_body[f]]
        for point in contact.points:
            blocks.append(Block(FRAME, f, -1, select, 3 * len(blocks)))
            local = model.frame_translation[f] + model.frame_rotation[f] @ point
            points.append(axes_of_node.T @ local)
    row = 3 * len(points)
    for loop in loops:
        first, second = model.frame_index(loop.first), model.frame_index(loop.second)
        blocks.append(Block(RELATIVE, first, second, ROWS[loop.rows], row))
        row += loop.size
    space = TaskSpace(tree, blocks)
    for b, point in enumerate(points):  # not at the frame's origin, as for a task
        space.point[b] = point
    return space
