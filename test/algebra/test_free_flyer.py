# SPDX-License-Identifier: Apache-2.0
"""Paper 004: free flyers from both ends, link by link, on any base."""

import numpy as np
import pytest
from helpers.massless_chains import HINGES, chain
from helpers.recursion_cases import FLOATING, Case, assert_near, model_of
from helpers.support import load_quietly

from opspace_ctrl import OperationalSpace, dynamics, osim
from opspace_ctrl.algebra.free_flyer import (
    LinkIntegrator,
    base_change,
    base_point_change,
    composite_mass_matrix,
    drift,
    dual_upsilon,
    fuse_hinges,
    hinge_coordinates,
    link_state,
    link_tree,
    reroot,
    run_on_nodes,
    step_links,
    two_filters,
    upsilon,
)
from opspace_ctrl.algebra.free_flyer.link_tree import moved
from opspace_ctrl.errors import MethodError

free = pytest.mark.parametrize("name", FLOATING)
single = pytest.mark.parametrize("name", [name for name in FLOATING if name != "forest"])


class Flyer(Case):
    """A case without external wrenches, and its links' own quantities."""

    def __init__(self, name):
        super().__init__(name)
        self.external = {}
        self.tree = link_tree(self.model, link_state(self.model, self.q, self.v), self.tau)
        self.filters = two_filters(self.tree)
        self.spatial = np.array(
            [
                _spatial(a, s, r)
                for a, s, r in zip(
                    self.links, link_state(self.model, self.q, self.v).velocity, self.tree.offset
                )
            ]
        )


def _spatial(classical, velocity, r):
    """Spatial acceleration at the base's origin from a link's classical one at its own."""
    angular, linear = classical[3:], classical[:3] - np.cross(velocity[:3], velocity[3:])
    return moved(np.append(angular, linear), r)


@free
def test_004_2_1_2_5_inverse_dynamics_with_hinges_of_one_to_six_freedoms(name):
    """004 section 2, algorithm 1 (2.1)-(2.5): alpha outward with a(k), f inward with b(k), T = H f."""
    case = Flyer(name)
    tree, f = case.tree, np.zeros_like(case.spatial)
    alpha = np.zeros((len(f) + 1, 6))
    for k in tree.order:
        beta = case.a[tree.coordinates[k]]
        alpha[k] = (
            case.spatial[k]
            if tree.parent[k] < 0
            else alpha[tree.parent[k]] + tree.H[k] @ beta + tree.a[k]
        )
    assert_near(alpha[:-1], case.spatial, case.tolerance)
    size = np.abs(tree.M).max() * np.abs(alpha).max()
    for k in reversed(tree.order):
        f[k] += tree.M[k] @ alpha[k] + tree.b[k]
        beta = 0.0 if tree.parent[k] < 0 else case.a[tree.coordinates[k]]
        assert_near(
            tree.H[k].T @ f[k] + tree.armature[k].diagonal() * beta, tree.T[k], case.tolerance, size
        )
        if tree.parent[k] >= 0:
            f[tree.parent[k]] += f[k]
    assert {h.shape[1] for h in tree.H} >= {1, 6}


@free
def test_004_2_6_2_13_filter_and_smoother_with_hinges_of_any_size(name):
    """004 algorithms 2 and 3 (2.6), (2.7), (2.12), (2.13); (3.1), (3.2) at the base: G = 1, taubar = 0, P+ = 0."""
    case = Flyer(name)
    tree, f = case.tree, case.filters
    alpha = np.zeros((len(f.alpha) + 1, 6))
    for k in tree.order:
        before = alpha[tree.parent[k]]
        beta = f.nu[k] - f.G[k].T @ before
        alpha[k] = before + tree.H[k] @ beta + tree.a[k]
        if tree.parent[k] < 0:
            assert_near(f.G[k], np.eye(6), case.tolerance)
            assert_near(f.P_plus[k], np.zeros((6, 6)), case.tolerance, np.abs(f.P[k]).max())
        else:
            assert_near(
                beta, case.a[tree.coordinates[k]], case.tolerance, max(1.0, np.abs(case.a).max())
            )
    assert_near(alpha[:-1], case.spatial, case.tolerance)


@free
def test_004_3_3_3_5_compiled_duals_are_those_of_the_paper(name):
    """004 algorithms 4 and 5, section 3.4 on trees: the compiled recursions, node by node, at the links."""
    case = Flyer(name)
    dynamics.forward_dynamics(case.model, case.q, case.v, case.tau, method="decoupled")
    tree = dynamics.tree_of(case.model)
    dual, last = tree.forward_methods["decoupled"].dual, tree.nodes.last
    size = np.abs(case.filters.P).max()
    assert_near(dual.S.reshape(-1, 6, 8)[last, :, :6], case.filters.S, case.tolerance, size)
    size = max(1.0, np.abs(case.filters.z_s).max(), np.abs(case.filters.z).max())
    assert_near(dual.z_s[last, :6], case.filters.z_s, case.tolerance, size)


@free
def test_004_lemma_3_1_the_force_between_links_from_both_sides(name):
    """004 (3.7), (3.11): f = P+ alpha+ + z+ = P (alpha - a) + z and -f = S+ (alpha+ - a_s) + z_s+ = S alpha + z_s."""
    case = Flyer(name)
    tree, f, alpha = case.tree, case.filters, case.spatial
    for k, p in enumerate(tree.parent):
        if p < 0:
            continue
        forces = [
            f.P_plus[k] @ alpha[p] + f.z_plus[k],
            f.P[k] @ (alpha[k] - tree.a[k]) + f.z[k],
            -(f.S_plus[k] @ (alpha[p] + tree.a[k]) + f.z_s_plus[k]),
            -(f.S[k] @ alpha[k] + f.z_s[k]),
        ]
        size = (
            np.abs(f.P[k]).max() * np.abs(alpha).max()
            + np.abs(f.S_plus[k]).max() * np.abs(alpha).max()
        )
        for found in forces[1:]:
            assert_near(found, forces[0], case.tolerance, size)


@free
def test_004_lemma_3_2_section_3_3_3_every_link_finds_its_own_acceleration(name):
    """004 (3.12), (3.13): alpha, alpha+ from (P + S)^-1, and hinge accelerations two ways.

    3.3.2, 3.3.3: a link needs no more than what the two filters bring it from either side.
    """
    case = Flyer(name)
    tree, f = case.tree, case.filters
    assert_near(f.alpha, case.spatial, case.tolerance)
    size = max(1.0, np.abs(case.a).max(), np.abs(f.alpha).max())
    for k, beta in enumerate(f.hinge_accelerations(tree)):
        if tree.parent[k] < 0:
            assert_near(beta, case.spatial[k], case.tolerance, size)
            continue
        assert_near(f.alpha_plus[k], case.spatial[tree.parent[k]], case.tolerance, size)
        assert_near(beta, case.a[tree.coordinates[k]], case.tolerance, size)
        assert_near(
            f.nu[k] - f.G[k].T @ f.alpha_plus[k], case.a[tree.coordinates[k]], case.tolerance, size
        )


@free
def test_004_lemma_4_1_and_algorithm_8_the_inertia_of_every_link(name):
    """004 (4.1)-(4.5), (4.10), (4.11): Lambda(k) = P + S = (J_k H^-1 J_k^T)^-1, also compiled for all links at once."""
    case = Flyer(name)
    compiled = osim.link_inertias(case.model, case.q)
    for k, link in enumerate(case.model.body_names):
        J = dynamics.frame_jacobian(case.model, case.q, link)
        expected = np.linalg.inv(J @ np.linalg.solve(case.H, J.T))
        turn = _at_link(case.tree.offset[k])
        found = turn.T @ (case.filters.P[k] + case.filters.S[k]) @ turn
        assert_near(found, expected, case.tolerance, np.abs(expected).max())
        assert_near(compiled[k], expected, case.tolerance, np.abs(expected).max())


def _at_link(r):
    """[w; v_O] from [v_p; w] for a link r away from the origin."""
    return np.roll(moved(np.eye(6), r), 3, axis=1)


@free
def test_004_4_7_upsilon_from_the_base(name):
    """004 (4.6), (4.7), (4.9): Y(k) = taubar* Y taubar + H* D^-1 H outward from Y(n) = P^-1(n), and Y^-1 = P + S."""
    case = Flyer(name)
    tree, f = case.tree, case.filters
    upsilon = np.zeros_like(f.P)
    for k in tree.order:
        D = tree.H[k].T @ f.P[k] @ tree.H[k] + tree.armature[k]
        left = np.eye(6) - f.G[k] @ tree.H[k].T
        own = tree.H[k] @ np.linalg.solve(D, tree.H[k].T)
        upsilon[k] = own if tree.parent[k] < 0 else left.T @ upsilon[tree.parent[k]] @ left + own
        if tree.parent[k] < 0:
            assert_near(upsilon[k], np.linalg.inv(f.P[k]), case.tolerance, np.abs(upsilon[k]).max())
        expected = np.linalg.inv(f.P[k] + f.S[k])
        assert_near(upsilon[k], expected, case.tolerance, np.abs(expected).max())


@single
def test_004_appendix_A_any_link_can_be_the_base(name):
    """004 (A.1)-(A.10): M_k = T* M T = H_k phi_k M phi_k* H_k* with hinges towards the old base reversed."""
    case = Flyer(name)
    for k in _some(case.model):
        T, turn = base_change(case.model, case.q, case.model.body_names[k]), np.eye(case.model.nv)
        turn[:6, :6] = _at_link(case.tree.offset[k])
        expected = T.T @ case.H @ T
        found = turn.T @ composite_mass_matrix(reroot(case.tree, k)) @ turn
        assert_near(found, expected, case.tolerance, np.abs(expected).max())
        back = np.linalg.inv(T)
        assert_near(back[6:], np.eye(case.model.nv)[6:], case.tolerance)


@single
def test_004_appendix_A_the_outward_operator_is_nilpotent_on_any_base(name):
    """004 (A.7), (A.8): E_phi_k of the reordered links is nilpotent, so that phi_k = (1 - E_phi_k)^-1 exists."""
    case = Flyer(name)
    n = len(case.model.parent)
    for k in _some(case.model):
        parent = reroot(case.tree, k).parent
        shift = np.zeros((n, n))
        shift[parent[parent >= 0], np.flatnonzero(parent >= 0)] = 1.0
        assert not np.linalg.matrix_power(shift, n).any()
        assert (parent < 0).sum() == 1


@single
def test_004_section_4_omega_and_lambda_do_not_depend_on_the_base(name):
    """004 section 4.1: all recursions with link k as base give the same accelerations, S, P + S and Omega."""
    case = Flyer(name)
    f = case.filters
    inertia = f.P + f.S
    for k in _some(case.model):
        other = two_filters(reroot(case.tree, k))
        assert_near(other.P[k], inertia[k], case.tolerance, np.abs(inertia[k]).max())
        assert_near(other.P + other.S, inertia, case.tolerance, np.abs(inertia).max())
        assert_near(other.alpha, f.alpha, case.tolerance)
    ends = [case.model.body_names[0], case.model.body_names[-1]]
    omega = OperationalSpace(case.model, ends).update(case.q).inertia_inv
    J = np.vstack([dynamics.frame_jacobian(case.model, case.q, end) for end in ends])
    for k in _some(case.model):
        T = base_change(case.model, case.q, case.model.body_names[k])
        response = np.linalg.solve(T.T @ case.H @ T, (J @ T).T)
        assert_near(
            J @ T @ response, omega, case.tolerance * np.linalg.cond(T), np.abs(omega).max()
        )


def _some(model):
    return sorted({0, 1, len(model.parent) // 2, len(model.parent) - 1})


def test_004_4_8_ground_based_arms_have_singular_inverse_inertias_near_the_base():
    """004 after (4.7): Y(k) of a fixed-base chain has rank k for the first five links."""
    case = Case("ur5 with armature")
    minus, _ = case.smoother.costate_covariance
    for k in range(5):
        assert np.linalg.matrix_rank(minus[k], 1e-9) == k + 1
    assert np.linalg.matrix_rank(minus[5], 1e-9) == 6


@pytest.mark.parametrize(("dt", "metres", "radians"), [(0.02, 1e-6, 1e-6), (0.01, 1e-7, 1e-7)])
def test_004_algorithm_7_links_that_integrate_themselves_drift_with_the_order_of_the_method(
    dt, metres, radians
):
    """004 algorithm 7: 6 N coordinates; the hinges come apart by the integration error only, and q is followed."""
    model = model_of("free_flyer")
    rng = np.random.default_rng(4)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    v = rng.uniform(-0.3, 0.3, model.nv)
    tau = np.append(np.zeros(6), rng.uniform(-0.05, 0.05, model.nv - 6))
    state = link_state(model, q, v)
    momentum = _momentum(model, state)
    assert max(drift(model, state)) < 1e-14
    for _ in range(round(0.2 / dt)):
        state = step_links(model, state, tau, dt)
    apart, turned = drift(model, state)
    assert 0.0 < apart < metres
    assert 0.0 < turned < radians
    np.testing.assert_allclose(_momentum(model, state), momentum, atol=1e-6)
    fine = 5e-4
    for _ in range(round(0.2 / fine)):
        middle = v + 0.5 * fine * dynamics.forward_dynamics(model, q, v, tau, method="decoupled")
        half = model.integrate(q, v, 0.5 * fine)
        q, v = (
            model.integrate(q, middle, fine),
            v + fine * dynamics.forward_dynamics(model, half, middle, tau),
        )
    np.testing.assert_allclose(state.position, link_state(model, q, v).position, atol=1e-6)


def _momentum(model, state):
    """Linear momentum of all links."""
    centers = np.einsum("nij,nj->ni", state.rotation, model.com)
    return model.mass @ (state.velocity[:, 3:] + np.cross(state.velocity[:, :3], centers))


def test_robots_that_do_not_float_are_refused_by_name():
    fixed, forest = model_of("fixed tree"), model_of("forest")
    rest = np.zeros(fixed.nv)
    with pytest.raises(MethodError, match="fixed base"):
        link_tree(fixed, link_state(fixed, fixed.neutral(), rest), rest)
    with pytest.raises(MethodError, match="fixed base"):
        base_change(fixed, fixed.neutral(), fixed.body_names[0])
    with pytest.raises(MethodError, match="several robots"):
        base_change(forest, forest.neutral(), forest.body_names[0])


@free
def test_004_4_9_upsilon_from_a_tip_inward_by_the_dual_inertias(name):
    """004 (4.9) with taubar_s: Y(parent) = taubar_s* Y(k) taubar_s + H* D_s^-1 H meets (4.7) at every link."""
    case = Flyer(name)
    tree, f = case.tree, case.filters
    outward = upsilon(tree, f)
    tips = [k for k in range(len(tree.parent)) if k not in tree.parent]
    for tip in tips[:3]:
        assert_near(f.P[tip], tree.M[tip], 1e-15)
        for k, found in dual_upsilon(tree, f, tip).items():
            room = case.tolerance * max(1.0, np.linalg.cond(f.P[k] + f.S[k]) * 1e-6)
            assert_near(found, outward[k], room, np.abs(outward[k]).max())


@single
def test_000_section_VIII_the_base_point_may_be_anywhere_on_the_root_link(name):
    """H' = T^T H T is the inertia for the velocity of another point: the same energy, and the same motion."""
    case = Flyer(name)
    point = np.array([0.3, -0.2, 0.5])
    T = base_point_change(case.model, point)
    moved_v = np.linalg.solve(T, case.v)
    linear, angular = case.v[:3], case.v[3:6]
    assert_near(moved_v[:3], linear + np.cross(angular, point), 1e-13)
    assert_near(moved_v[3:], case.v[3:], 1e-15)
    energy = 0.5 * moved_v @ (T.T @ case.H @ T) @ moved_v
    assert_near(energy, dynamics.kinetic_energy(case.model, case.q, case.v), 1e-11)


@pytest.mark.parametrize("hinge", list(HINGES))
def test_004_section_2_hinges_of_two_to_five_freedoms(hinge):
    """Joints in a row without mass between them are one hinge: D is d x d, accelerations are those of the chain."""
    model = load_quietly(chain([hinge, "universal"]), "floating")
    rng = np.random.default_rng(7)
    q = model.integrate(model.neutral(), rng.uniform(-0.4, 0.4, model.nv), 1.0)
    v, tau = rng.normal(size=(2, model.nv))
    tree = link_tree(model, link_state(model, q, v), tau)
    fused, kept = fuse_hinges(tree)
    sizes = [H.shape[1] for H in fused.H]
    assert sizes == [6, len(HINGES[hinge]), 2]
    found = two_filters(fused)
    a = dynamics.forward_dynamics(model, q, v, tau)
    for k, beta in enumerate(found.hinge_accelerations(fused)):
        if fused.parent[k] >= 0:
            assert_near(beta, a[fused.coordinates[k]], 1e-8, max(1.0, np.abs(a).max()))
            assert found.G[k].shape == (6, sizes[k])
    with pytest.raises(MethodError, match="not one"):
        spoiled = load_quietly(chain(["spherical", "universal"], branches=2), "floating")
        rest = np.zeros(spoiled.nv)
        fuse_hinges(link_tree(spoiled, link_state(spoiled, spoiled.neutral(), rest), rest))
    assert len(kept) == 3


@free
def test_004_section_3_3_2_one_node_a_link_and_messages_to_neighbours_alone(name):
    """004 3.3.2: accelerations by message passing; two messages a hinge, as many rounds as the longest path is long."""
    case = Flyer(name)
    alpha, traffic = run_on_nodes(case.tree)
    assert_near(alpha, case.filters.alpha, case.tolerance)
    hinges = int((case.tree.parent >= 0).sum())
    assert traffic.messages == 2 * hinges and traffic.numbers == 27 * traffic.messages
    assert traffic.rounds <= _diameter(case.tree.parent) + 1


def _diameter(parent):
    """Hinges on the longest path of a forest between two links."""
    depth = np.zeros(len(parent), int)
    for k, p in enumerate(parent):
        depth[k] = depth[p] + 1 if p >= 0 else 0
    return 2 * int(depth.max())


def test_004_section_3_3_2_a_chain_takes_as_many_rounds_as_links_and_both_ends_work_at_once():
    case = Flyer("floating chain")
    _, traffic = run_on_nodes(case.tree)
    assert traffic.rounds == len(case.tree.parent) - 1  # the two recursions pass each other
    assert traffic.busiest == 2


def test_004_algorithm_7_projection_holds_the_drift_of_the_hinges():
    """004 3.3.1: without projection the hinges come apart; with it they do not, and the motion is the same."""
    model = model_of("free_flyer")
    rng = np.random.default_rng(4)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    v = rng.uniform(-0.3, 0.3, model.nv)
    tau = np.append(np.zeros(6), rng.uniform(-0.05, 0.05, model.nv - 6))
    q_back, v_back = hinge_coordinates(model, link_state(model, q, v))
    assert_near(model.difference(q_back, q), np.zeros(model.nv), 1e-12)
    assert_near(v_back, v, 1e-12)
    held, free_links = LinkIntegrator(model, q, v, 0.05), link_state(model, q, v)
    for _ in range(12):
        held.step(tau)
        free_links = step_links(model, free_links, tau, 0.05)
    assert max(drift(model, held.links)) < 1e-13 < max(drift(model, free_links))
    assert max(held.worst) > 0.0
    assert np.abs(held.links.position - free_links.position).max() < 1e-4
