# SPDX-License-Identifier: Apache-2.0
"""Every public function of dynamics/ and every forward method on a few small robots, for tests that compare two runs.

python dynamics_results.py OUT.npz
"""

from __future__ import annotations

import sys

import numpy as np

from opspace_ctrl import Model, dynamics, load_robot, load_urdf
from opspace_ctrl.algebra.closure import ClosedChain, Closure
from opspace_ctrl.algebra.recursions.delayed import TwoSweep

_LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.02 -0.05"/><mass value="{1}"/>'
    '<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial></link>'
)
_JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>'
    '<origin xyz="0.3 -0.1 0.2" rpy="0.4 -0.3 0.9"/><axis xyz="{4}"/>{5}</joint>'
)


def _tree(name: str, joints: list[tuple], base: str, armature: float) -> Model:
    """A robot of joints (kind, parent, axis, what else): joint k moves link k."""
    text = _LINK.format("l0", 2.0)
    for k, (kind, parent, axis, more) in enumerate(joints, 1):
        text += _LINK.format(f"l{k}", 0.5 + 0.3 * k)
        text += _JOINT.format(f"j{k}", kind, f"l{parent}", f"l{k}", axis, more)
    return load_urdf(f'<robot name="{name}">{text}</robot>', base=base, armature=armature)


def models() -> dict[str, Model]:
    """An arm, a robot with mimic joints on two branches, one with planar and floating joints, and a free flyer."""
    limit = '<limit effort="10" velocity="2" lower="-3" upper="3"/>'
    mimic = '<mimic joint="j1" multiplier="-0.7" offset="0.2"/>' + limit
    hand = [
        ("revolute", 0, "0 0 1", limit),
        ("continuous", 1, "0.6 0.8 0", ""),
        ("revolute", 2, "1 0 0", mimic),
        ("prismatic", 1, "0 1 0", limit),
        ("revolute", 4, "0 0.6 0.8", mimic),
        ("revolute", 0, "0 1 0", limit),
    ]
    cart = [
        ("planar", 0, "0 0 1", ""),
        ("revolute", 1, "0 1 0", limit),
        ("floating", 2, "0 0 1", ""),
        ("prismatic", 3, "1 0 0", limit),
        ("continuous", 1, "0.6 0 0.8", ""),
    ]
    flyer = [
        ("continuous", 0, "0 0 1", ""),
        ("revolute", 1, "0.6 0.8 0", limit),
        ("revolute", 1, "0.6 0 0.8", limit),
    ]
    return {
        "arm7": load_robot("arm7"),
        "mimic": _tree("mimic", hand, "fixed", 0.05),
        "planar": _tree("planar", cart, "fixed", 0.0),
        "flyer": _tree("flyer", flyer, "floating", 0.0),
    }


def _motion(model: Model) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(model.nv)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    return (q, *rng.normal(size=(2, model.nv)))


def results_of(model: Model) -> dict[str, np.ndarray]:
    """All results by name."""
    q, v, a = _motion(model)
    frame = model.frame_names[-1]
    push = {frame: np.arange(1.0, 7.0), model.frame_names[0]: np.ones(6)}
    found = {
        "mass_matrix": dynamics.mass_matrix(model, q),
        "bias_forces": dynamics.bias_forces(model, q, v),
        "gravity_forces": dynamics.gravity_forces(model, q),
        "inverse_dynamics": dynamics.inverse_dynamics(model, q, v, a),
        "inverse_dynamics, pushed": dynamics.inverse_dynamics(
            model, q, v, a, push, damping=True, friction=True
        ),
        "coriolis_matrix": dynamics.coriolis_matrix(model, q, v),
        "kinetic_energy": dynamics.kinetic_energy(model, q, v),
        "potential_energy": dynamics.potential_energy(model, q),
        "frame_pose": np.concatenate(dynamics.frame_pose(model, q, frame)),
        "frame_jacobian": dynamics.frame_jacobian(model, q, frame),
        "frame_velocity": dynamics.frame_velocity(model, q, v, frame),
        "frame_acceleration": dynamics.frame_acceleration(model, q, v, a, frame),
        "center_of_mass": dynamics.center_of_mass(model, q),
        "center_of_mass_jacobian": dynamics.center_of_mass_jacobian(model, q),
        "center_of_mass_bias": dynamics.center_of_mass_bias(model, q, v),
        "far angles": dynamics.mass_matrix(model, model.integrate(q, np.full(model.nv, 3e5), 1.0)),
        "lists": dynamics.bias_forces(model, q.tolist(), v.tolist()),
    }
    for method in dynamics.forward_methods(model):
        found[method] = dynamics.forward_dynamics(model, q, v, a, method=method)
        found[f"{method}, pushed"] = dynamics.forward_dynamics(model, q, v, a, push, method)
        if method not in ("crba_ltdl", "algorithm1"):
            links = dynamics.link_accelerations(model, q, v, a, push, method)
            found[f"links by {method}"] = links
    if not model.is_mimic.any():
        sweeps = TwoSweep(model)
        sweeps.step(q, v, a)
        found["delayed"] = sweeps.step(q, 0.9 * v, a, push)
        held = Closure(model.body_names[-2], model.frame_names[0], "position")
        chain = ClosedChain(model, [held])
        found["closed chain"] = chain.forward(q, v, a, external=push)
        found["closed velocity"] = chain.close_velocity(q, v)
    return {name: np.asarray(value) for name, value in found.items()}


def results() -> dict[str, np.ndarray]:
    """Of all models, by "model: result"."""
    return {
        f"{name}: {key}": value
        for name, model in models().items()
        for key, value in results_of(model).items()
    }


if __name__ == "__main__":
    np.savez(sys.argv[1], **results())
