# SPDX-License-Identifier: Apache-2.0
"""Dynamics of random trees, and of the trees where special cases hide, against dense algebra."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.urdf_text import joint, link, mimic, robot
from hypothesis import given, settings
from oracles.random_trees import SCALAR, SHAPES, WEIGHTS, random_model, random_motion, seeds, trees
from oracles.reference import Reference, assert_close, derived_tolerance
from scipy.spatial.transform import Rotation

from opspace_ctrl import dynamics, load_urdf
from opspace_ctrl.model import Model

many = settings(max_examples=60)
some = settings(many, max_examples=25)

MOVING = tuple(kind for kind in WEIGHTS if kind != "fixed")
CORNERS = {
    **{f"a single {kind} body": {"bodies": 1, "types": (kind,)} for kind in MOVING},
    "a single free body": {"bodies": 1, "types": ("fixed",), "base": "floating"},
    "nothing that moves": {"bodies": 3, "types": ("fixed",)},
    "a chain of 200": {"bodies": 200, "types": ("revolute", "prismatic"), "shape": "chain"},
    "a free chain of 60 multi-coordinate joints": {
        "bodies": 60,
        "types": ("planar", "floating"),
        "shape": "chain",
        "base": "floating",
    },
    "60 roots of every type on a fixed base": {"bodies": 60, "shape": "star"},
    "prismatic roots": {"bodies": 9, "types": ("prismatic",), "shape": "star"},
    "a free star of 60": {"bodies": 60, "shape": "star", "base": "floating"},
    "planar joints with children": {"bodies": 20, "types": ("planar", "revolute")},
    "floating joints with children": {"bodies": 20, "types": ("floating", "revolute")},
    "prismatic followers of revolute joints": {
        "bodies": 12,
        "types": ("revolute", "prismatic"),
        "mimic": 0.9,
    },
    "one leader in a forest": {
        "bodies": 6,
        "types": SCALAR,
        "mimic": 1.0,
        "forest": 3,
        "base": "any",
    },
    # n = 8 k nodes fill their registers to the last lane, where the world's column begins a new one
    **{f"{n} nodes": {"bodies": n, "types": SCALAR} for n in (7, 8, 9, 15, 16, 17)},
}


@dataclass
class Case:
    """A model at a random state."""

    model: Model
    seed: int

    def __post_init__(self):
        self.q, self.v, self.a = random_motion(self.model, self.seed)
        self.reference = Reference(self.model, self.q, self.v)
        rng = np.random.default_rng(self.seed)
        names = rng.choice(self.model.frame_names, 3)
        self.external = {str(name): rng.normal(0.0, 10.0, 6) for name in names}


def check_forces(c):
    H = dynamics.mass_matrix(c.model, c.q)
    np.testing.assert_array_equal(H, H.T)
    assert_close(H, c.reference.mass_matrix(), c.reference.mass_matrix_scale())
    h, size = c.reference.inverse_dynamics()
    assert_close(dynamics.bias_forces(c.model, c.q, c.v), h, size)
    tau, size = c.reference.inverse_dynamics(c.a, c.external)
    assert_close(dynamics.inverse_dynamics(c.model, c.q, c.v, c.a, c.external), tau, size)


def check_accelerations(c):
    H, (tau, size) = c.reference.mass_matrix(), c.reference.inverse_dynamics(c.a, c.external)
    for method in dynamics.forward_methods(c.model):
        found = dynamics.forward_dynamics(c.model, c.q, c.v, tau, c.external, method)
        assert_close(found, c.a, np.abs(c.a).max(initial=1.0), derived_tolerance(H))
        again, _ = c.reference.inverse_dynamics(found, c.external)
        # Algorithm 6 solves every link by itself, so that the errors of neighbours do not cancel in H qdd.
        tolerance = derived_tolerance(H) if method == "decoupled" else 1e-12
        assert_close(
            again,
            tau,
            size + np.abs(H).max(initial=0.0) * np.abs(found).max(initial=0.0),
            tolerance,
        )


def check_frames(c):
    for name in c.external:
        R, p, J, bias = c.reference.frame(name)
        position, quaternion = dynamics.frame_pose(c.model, c.q, name)
        reach = max(1.0, np.abs(p).max(), np.abs(J).max(initial=0.0))
        assert_close(position, p, reach)
        assert_close(Rotation.from_quat(quaternion).as_matrix(), R, 1.0)
        assert_close(dynamics.frame_jacobian(c.model, c.q, name), J, reach)
        size = max(1.0, np.abs(J).max(initial=0.0) * np.abs(c.v).sum())
        assert_close(dynamics.frame_velocity(c.model, c.q, c.v, name), J @ c.v, size)
        size = max(size, np.abs(bias).max(), np.abs(J).max(initial=0.0) * np.abs(c.a).sum())
        assert_close(
            dynamics.frame_acceleration(c.model, c.q, c.v, c.a, name), J @ c.a + bias, size
        )


def check_center_of_mass_and_energies(c):
    kinetic, potential = c.reference.energies(c.v)
    assert_close(dynamics.kinetic_energy(c.model, c.q, c.v), kinetic, kinetic)
    size = (
        c.model.mass.sum()
        * np.linalg.norm(c.model.gravity)
        * np.abs(c.reference.p).max(initial=1.0)
    )
    assert_close(dynamics.potential_energy(c.model, c.q), potential, size)
    if c.model.mass.any():
        p, J, bias = c.reference.center_of_mass()
        assert_close(
            dynamics.center_of_mass(c.model, c.q), p, np.abs(c.reference.p).max(initial=1.0)
        )
        assert_close(dynamics.center_of_mass_jacobian(c.model, c.q), J, np.abs(J).max(initial=1.0))
        size = np.abs(c.reference.acceleration).max(initial=1.0)
        assert_close(dynamics.center_of_mass_bias(c.model, c.q, c.v), bias, size)


@many
@given(trees(), seeds())
def test_mass_matrix_and_inverse_dynamics_equal_dense_algebra(model, seed):
    check_forces(Case(model, seed))


@many
@given(trees(), seeds())
def test_forward_dynamics_finds_the_acceleration_that_the_forces_came_from(model, seed):
    check_accelerations(Case(model, seed))


@some
@given(trees(), seeds())
def test_frames_equal_dense_algebra(model, seed):
    check_frames(Case(model, seed))


@some
@given(trees(), seeds())
def test_center_of_mass_and_energies_equal_dense_algebra(model, seed):
    check_center_of_mass_and_energies(Case(model, seed))


@pytest.mark.parametrize("arguments", CORNERS.values(), ids=CORNERS)
def test_everything_holds_for(arguments):
    c = Case(random_model(7, **arguments), 7)
    check_forces(c)
    check_accelerations(c)
    check_frames(c)
    check_center_of_mass_and_energies(c)


@many
@given(trees(), seeds())
def test_mass_matrix_is_zero_exactly_where_no_body_is_moved_by_both_coordinates(model, seed):
    c = Case(model, seed)
    moves = np.array([(np.abs(G_b) > 0).any(axis=0) for G_b in _support(c.reference)])
    predicted = (moves[:, :, None] & moves[:, None, :]).any(axis=0)
    H = dynamics.mass_matrix(model, c.q)
    assert (H[~predicted] == 0.0).all()
    # Of a planar or floating joint the first coordinate only: its own translations do not couple.
    is_first = np.isin(np.arange(model.nv), model.v_index)
    assert (H[np.outer(is_first, is_first) & predicted] != 0.0).all()


def _support(reference):
    """For each body the rows of G that move it."""
    for J in reference.J_free:
        yield reference.G * np.any(J != 0.0, axis=0)[:, None]


@some
@given(trees(max_bodies=15, forest=3, mimic=0.3, armature=False), seeds())
def test_robots_of_a_forest_do_not_feel_each_other(model, seed):
    q, v, tau = random_motion(model, seed)
    H, h = dynamics.mass_matrix(model, q), dynamics.bias_forces(model, q, v)
    method = dynamics.forward_methods(model)[-1]
    a = dynamics.forward_dynamics(model, q, v, tau, method=method)
    base = "floating" if model.is_base_coordinate.any() else "fixed"
    at_q = at_v = 0
    for text in model.source:
        alone = load_urdf(text, base, model.gravity)
        mine, mine_q = slice(at_v, at_v + alone.nv), slice(at_q, at_q + alone.nq)
        others = np.ones(model.nv, bool)
        others[mine] = False
        assert (H[mine, others] == 0.0).all()
        assert_close(H[mine, mine], dynamics.mass_matrix(alone, q[mine_q]), np.abs(H).max())
        assert_close(h[mine], dynamics.bias_forces(alone, q[mine_q], v[mine]), np.abs(h).max())
        found = dynamics.forward_dynamics(alone, q[mine_q], v[mine], tau[mine], method=method)
        assert_close(a[mine], found, np.abs(a).max(), derived_tolerance(H))
        at_v, at_q = at_v + alone.nv, at_q + alone.nq
    assert (at_v, at_q) == (model.nv, model.nq)


@some
@given(trees(forest=1, mimic=0.5, armature=False), seeds())
def test_mimic_joints_are_the_free_joints_seen_through_G(model, seed):
    q, v, a = random_motion(model, seed)
    base = "floating" if model.is_base_coordinate.any() else "fixed"
    free = load_urdf(re.sub("<mimic[^>]*>", "", model.source), base, model.gravity)
    G, q_free = Reference(model, q).G, np.zeros(free.nq)
    for body, (mine, leader) in enumerate(zip(free.q_index, model.q_index)):
        size = np.append(free.q_index, free.nq)[body + 1] - mine
        q_free[mine : mine + size] = (
            model.multiplier[body] * q[leader : leader + size] + model.offset[body]
        )
    H = G.T @ dynamics.mass_matrix(free, q_free) @ G
    assert_close(dynamics.mass_matrix(model, q), H, np.abs(H).max())
    tau = dynamics.inverse_dynamics(free, q_free, G @ v, G @ a)
    assert_close(dynamics.inverse_dynamics(model, q, v, a), G.T @ tau, np.abs(tau).max())
    C = G.T @ dynamics.coriolis_matrix(free, q_free, G @ v) @ G
    assert_close(dynamics.coriolis_matrix(model, q, v), C, np.abs(C).max(initial=1e-3))


@some
@given(trees(forest=1, mimic=0.0, armature=False), seeds())
def test_numbering_the_bodies_otherwise_only_permutes(model, seed):
    elements = re.findall("<link.*?</link>|<joint.*?</joint>", model.source)
    shuffled = robot(*np.random.default_rng(seed).permutation(elements))
    base = "floating" if model.is_base_coordinate.any() else "fixed"
    other = load_urdf(shuffled, base, model.gravity)
    q, v, tau = random_motion(model, seed)
    order = [model.body_joint_names.index(name) for name in other.body_joint_names]
    to_q, to_v = (
        np.concatenate([np.arange(index[b], np.append(index, n)[b + 1]) for b in order])
        for index, n in ((model.q_index, model.nq), (model.v_index, model.nv))
    )
    H = dynamics.mass_matrix(model, q)
    assert_close(dynamics.mass_matrix(other, q[to_q]), H[np.ix_(to_v, to_v)], np.abs(H).max())
    a = dynamics.forward_dynamics(model, q, v, tau)
    found = dynamics.forward_dynamics(other, q[to_q], v[to_v], tau[to_v])
    assert_close(found, a[to_v], np.abs(a).max(), derived_tolerance(H))


def test_a_prismatic_joint_can_follow_a_revolute_one_on_another_branch():
    """A rack of mass m driven by a pinion of inertia I: H = I + m r^2."""
    text = robot(
        link("base"),
        link("pinion", xyz="0 0 0", inertia='ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="0.7"'),
        link("rack", 3.0),
        joint("turn", "base", "pinion"),
        joint("slide", "base", "rack", "prismatic", axis="1 0 0", extra=mimic("turn", 0.2, 5.0)),
    )
    model = load_urdf(text)
    np.testing.assert_allclose(
        dynamics.mass_matrix(model, [0.3]), [[0.7 + 3.0 * 0.2**2]], rtol=1e-15
    )
    np.testing.assert_allclose(
        dynamics.frame_pose(model, [0.3], "rack")[0], [5.06, 0.0, 0.3], rtol=1e-15
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_seed_gives_the_same_tree(shape):
    one, two = (random_model(3, 12, mimic=0.3, shape=shape) for _ in range(2))
    assert one.source == two.source
    np.testing.assert_array_equal(one.armature, two.armature)
