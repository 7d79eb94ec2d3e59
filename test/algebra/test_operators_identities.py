# SPDX-License-Identifier: Apache-2.0
"""The identities of papers 000, 003 and 004 (with their errata and with armature), checked as operator expressions.

Every parameter is named after the line of the checklist it covers.
"""

import numpy as np
import pytest
from helpers.operator_cases import (
    CASES,
    CHAINS,
    FLYERS,
    assert_identity,
    mass_matrix_of,
    model_of,
    operators_of,
)
from oracles.random_trees import random_model, random_motion
from oracles.reference import Reference, assert_close, derived_tolerance
from scipy.linalg import block_diag

from opspace_ctrl import bias_forces, forward_dynamics, inverse_dynamics
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate
from opspace_ctrl.model import JointType

INVERSE = "(I - H psi K)* D^-1 (I - H psi K)"
IDENTITIES = {
    "000 (20) J": "J = B* phi* H*",
    "000 (28) identity 1": "phi M phi* = r + Phi r + r Phi*",
    "000 (36) D": "D = H P H* + A",
    "000 (36) G": "G D = P H*",
    "000 (42) identity 2": "phi M phi* = P + Phi P + P Phi* + Phi P H* D^-1 H P Phi*",
    "000 (43) identity 3": "H phi M phi* H* + A = (I + H Phi G) D (I + H Phi G)*",
    "000 (44) identity 4": "(I - Psi G H) Phi = Psi",
    "000 (45) identity 5": "(I - H Psi G) (I + H Phi G) = I",
    "000 (45) identity 5, other side": "(I + H Phi G) (I - H Psi G) = I",
    "000 (46) identity 6": "(I - H Psi G)* D^-1 (I - H Psi G) (H phi M phi* H* + A) = I",
    "000 (56) link accelerations": "phi* H* (I - H Psi G)* = taubar* Psi* H* + H*",
    "003 (10) E_psi": "E_psi = E_phi - K H",
    "003 sec 4 K": "K = E_phi G",
    "003 (11) lemma 1": "H phi M phi* H* + A = (I + H phi K) D (I + H phi K)*",
    "003 (12) lemma 2": "(I + H phi K) (I - H psi K) = I",
    "003 (12) lemma 2, other side": "(I - H psi K) (I + H phi K) = I",
    "003 (13) lemma 3": f"(H phi M phi* H* + A) {INVERSE} = I",
    "003 (16) lemma 4": "(I - H psi K) H phi = H psi",
    "003 lemma 5": "psi^-1 = phi^-1 + K H",
    "003 (19) Omega(0)": f"J {INVERSE} J* = B* Omega B",
    "003 appendix": "M = P - E_phi P E_phi* + K D K*",
    "004 (2.5) phi": "phi (I - E_phi) = I",
    "004 (2.7) taubar": "taubar = I - G H",
    "004 (2.7) E_psi": "E_psi = E_phi taubar",
    "004 (2.7) P_plus": "P_plus = taubar P",
    "004 (2.7) P_plus, symmetric form": "P_plus = taubar P taubar* + G A G*",
    "004 (2.8) Riccati": "M = P - E_psi P E_psi* - K A K*",
    "004 (2.8) Riccati with P_plus": "M = P - E_phi P_plus E_phi*",
    "004 (2.9) psi": "psi (I - E_psi) = I",
    "004 (2.10a)": "(I + H phi K) D (I + H phi K)* = H phi M phi* H* + A",
    "004 (2.10b)": "(I + H phi K)^-1 = I - H psi K",
    "004 (2.10c)": f"(H phi M phi* H* + A)^-1 = {INVERSE}",
    "004 (4.4) Omega": f"phi* H* {INVERSE} H phi = psi* H* D^-1 H psi",
    "004 (4.4) Omega by name": "Omega = psi* H* D^-1 H psi",
    "004 (4.5) task": f"J {INVERSE} J* = B* psi* H* D^-1 H psi B",
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("line", IDENTITIES)
def test_identity_holds(line, case):
    assert_identity(case, IDENTITIES[line])


@pytest.mark.parametrize("case", CASES)
def test_000_22_newton_euler_factorization_is_the_joint_space_inertia(case):
    operators, H = operators_of(case), mass_matrix_of(case)
    found = evaluate("H phi M phi* H* + A", operators).dense()
    scale = Reference(operators.model, random_motion(operators.model, 11)[0]).mass_matrix_scale()
    assert_close(found, H, scale + 1e-3 * np.abs(H).max())


@pytest.mark.parametrize("case", CASES)
def test_004_4_5_003_19_operational_space_inertia_is_that_of_vector_algebra(case):
    operators, H = operators_of(case), mass_matrix_of(case)
    reference = Reference(operators.model, random_motion(operators.model, 11)[0])
    J = np.vstack([np.roll(reference.frame(name)[2], 3, axis=0) for name in operators.frames])
    Y = np.linalg.solve(np.linalg.cholesky(H), J.T)
    expected, found = Y.T @ Y, evaluate("B* Omega B", operators).dense()
    size = np.sqrt(np.diag(expected))
    assert_close(
        found, expected, np.outer(size, size) + 1e-3 * expected.max(), derived_tolerance(H)
    )


@pytest.mark.parametrize("case", CASES)
def test_upsilon_is_the_inverse_inertia_of_every_link_004_4_7_4_8(case):
    operators, H = operators_of(case), mass_matrix_of(case)
    Omega, Upsilon = operators.Omega.dense(), operators.Upsilon.dense()
    for k in range(0, len(Omega), 6):
        block = slice(k, k + 6)
        assert_close(
            Upsilon[block, block],
            Omega[block, block],
            np.abs(Omega[block, block]).max(),
            derived_tolerance(H),
        )
    off = Upsilon.copy()
    for k in range(0, len(Omega), 6):
        off[k : k + 6, k : k + 6] = 0.0
    assert not off.any()


@pytest.mark.parametrize("case", CHAINS)
def test_004_4_6_omega_decomposes_on_chains(case):
    assert_identity(case, "Omega = Upsilon + (psi - I)* Upsilon + Upsilon (psi - I)")


@pytest.mark.parametrize("case", CASES)
def test_004_4_6_omega_decomposes_on_trees_at_the_nearest_common_ancestor(case):
    """Omega(i, j) = psi*(g, i) Upsilon(g) psi(g, j); for i above j this is (4.6)."""
    operators, model = operators_of(case), model_of(case)
    Omega, Upsilon, psi = (getattr(operators, name).dense() for name in ("Omega", "Upsilon", "psi"))
    tolerance = derived_tolerance(mass_matrix_of(case))

    def block(matrix, i, j):
        return matrix[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]

    for i in range(len(model.parent)):
        for j in range(i):
            common = sorted(set(model.support(i)) & set(model.support(j)))
            expected = np.zeros((6, 6))
            if common:
                g = common[-1]
                expected = block(psi, g, i).T @ block(Upsilon, g, g) @ block(psi, g, j)
            scale = np.sqrt(np.abs(block(Omega, i, i)).max() * np.abs(block(Omega, j, j)).max())
            assert_close(block(Omega, i, j), expected, 10.0 * scale, tolerance)


@pytest.mark.parametrize("case", FLYERS)
def test_upsilon_of_a_free_base_is_the_inverse_articulated_inertia_004_sec_4(case):
    operators = operators_of(case)
    assert not operators.model.armature[:6].any()
    P, Upsilon = operators.quantities.P[0], operators.quantities.Upsilon[0]
    assert_close(
        P @ Upsilon, np.eye(6), np.abs(P) @ np.abs(Upsilon), derived_tolerance(mass_matrix_of(case))
    )


@pytest.mark.parametrize("case", [case for case in CHAINS if "floating" not in case])
def test_upsilon_is_singular_for_the_first_links_of_a_fixed_arm_004_sec_4(case):
    operators, dofs = operators_of(case), 0
    for k, Y in enumerate(operators.quantities.Upsilon):
        dofs += operators.quantities.dofs[k]
        size = np.sqrt(np.where(np.diag(Y) > 1e-12 * Y.max(), np.diag(Y), 1.0))
        values = np.linalg.svd(Y / np.outer(size, size), compute_uv=False)
        rank = int(np.sum(values > 1e-9))
        assert rank <= min(dofs, 6)
        assert rank == 6 or dofs < 8


@pytest.mark.parametrize("case", CASES)
def test_000_34_37_riccati_solution_is_symmetric_and_positive(case):
    quantities = operators_of(case).quantities
    for k, d in enumerate(quantities.dofs):
        P, D = quantities.P[k], quantities.D[k, :d, :d]
        assert np.array_equal(P, P.T)
        size = np.sqrt(np.diag(P))
        assert np.linalg.eigvalsh(P / np.outer(size, size))[0] > 0.0
        assert np.linalg.eigvalsh(D)[0] > 0.0
        assert_close(
            quantities.D[k, :d, :d] @ quantities.D_inverse[k, :d, :d], np.eye(d), 1.0, 1e-9
        )


@pytest.mark.parametrize("case", CASES)
def test_000_38_41_transitions_multiply_along_the_path(case):
    """psi(i, j) = psi(i, ..) ... psi(.., j); the blocks of Psi end in phi(j + 1, j)."""
    operators = operators_of(case)
    model, steps = operators.model, operators.quantities
    psi, Psi = operators.psi.dense(), operators.Psi.dense()
    for j in range(len(model.parent)):
        along, last, k = np.eye(6), None, j
        while True:
            block = slice(6 * k, 6 * k + 6), slice(6 * j, 6 * j + 6)
            assert_close(psi[block], along, np.abs(psi).max())
            assert_close(
                Psi[block], np.zeros((6, 6)) if last is None else last, np.abs(Psi).max(initial=1.0)
            )
            if model.parent[k] < 0:
                break
            last = steps.phi[j] if last is None else steps.phi[k] @ steps.taubar[k] @ last
            along = steps.phi[k] @ steps.taubar[k] @ along
            k = model.parent[k]


@pytest.mark.parametrize("case", CASES)
def test_003_lemma_1_lemma_2_innovations_and_whitening_filter_run_as_the_recursions_printed(case):
    """z(k) = sum phi z + K eps, y = H z + eps; and z(k) = sum psi z + K y, eps = y - H z; z = psi y is (10)."""
    operators = operators_of(case)
    model, steps = operators.model, operators.quantities
    eps = np.random.default_rng(7).normal(size=model.nv)
    y, again = np.zeros(model.nv), np.zeros(model.nv)
    z, z_hat = np.zeros((2, len(model.parent) + 1, 6))  # the last one is the world's, index -1
    for k in reversed(range(len(model.parent))):
        mine, d, p = steps.rows[k, : steps.dofs[k]], steps.dofs[k], model.parent[k]
        axes, gain = steps.axes[k, :, :d], steps.G[k, :, :d]
        y[mine] = axes.T @ z[k] + eps[mine]
        z[p] += steps.phi[k] @ (z[k] + gain @ eps[mine])
        again[mine] = y[mine] - axes.T @ z_hat[k]
        z_hat[p] += steps.psi[k] @ z_hat[k] + steps.phi[k] @ gain @ y[mine]
    scale = np.abs(operators.P.dense()).max() * 10.0 + np.abs(y).max()
    tolerance = derived_tolerance(mass_matrix_of(case))
    assert_close(evaluate("I + H phi K", operators) @ eps, y, scale, tolerance)
    assert_close(evaluate("I - H psi K", operators) @ y, again, scale, tolerance)
    assert_close(again, eps, scale, tolerance)


@pytest.mark.parametrize("case", CASES)
def test_000_X_A_square_root_factor_of_the_mass_matrix(case):
    """M = P P* with P = H phi M^(1/2)."""
    operators, H = operators_of(case), mass_matrix_of(case)
    values, vectors = np.linalg.eigh(operators.quantities.M)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    factor = evaluate("H phi", operators) @ block_diag(*roots)
    assert_close(factor @ factor.T + np.diag(operators.model.armature), H, np.abs(H).max())


@pytest.mark.parametrize("case", CASES)
def test_000_6_9_19_21_velocities_and_tip_velocities_by_an_outward_sweep(case):
    """Also 003 (1), J = B* phi* H*, applied without being formed."""
    operators = operators_of(case)
    q, v, _ = random_motion(operators.model, 11)
    reference = Reference(operators.model, q, v)
    V = (operators.phi.T @ (operators.H.T @ v)).reshape(-1, 6)
    assert_close(V[:, :3], reference.omega, np.abs(V).max())
    tip = (operators.J @ v).reshape(-1, 6)
    for name, found in zip(operators.frames, tip):
        expected = np.roll(reference.frame(name)[2] @ v, 3)
        assert_close(found, expected, np.abs(V).max())


@pytest.mark.parametrize("case", CASES)
def test_000_10_12_23_27_operator_and_recursive_inverse_dynamics_agree(case):
    """T = M vdot + C + J* f(0): the Lagrangian form equals Newton and Euler's; f(0) acts on the environment.

    003 (2)-(7) are the same equations, with and without bias terms.
    """
    operators = operators_of(case)
    model = operators.model
    q, v, vdot = random_motion(model, 11)
    a, b = operators.bias(v)
    C = evaluate("H phi", operators) @ (operators.M @ (operators.phi.T @ a) + b)
    torque, scale = Reference(model, q, v).inverse_dynamics()
    assert_close(C, torque, scale, 1e-11)
    assert_close(C, bias_forces(model, q, v), scale, 1e-11)
    f = np.random.default_rng(5).normal(size=operators.B.shape[1])
    T = evaluate("H phi M phi* H* + A", operators) @ vdot + C + operators.J.T @ f
    external = {
        name: -np.roll(wrench, 3) for name, wrench in zip(operators.frames, f.reshape(-1, 6))
    }
    _, scale = Reference(model, q, v).inverse_dynamics(vdot, external)
    assert_close(T, inverse_dynamics(model, q, v, vdot, external), scale, 1e-11)


def test_000_13_sliding_joints_redefine_H_and_a():
    """H*(k) = [0; h] and a(k) = [w+ x w; w+ x (v - v+) + w+ x h thetadot], + before the joint: as in the errata."""
    model = random_model(21, 12, types=("prismatic", "revolute"), shape="chain")
    q, v, _ = random_motion(model, 11)
    operators = SpatialOperators(model, q)
    numbers, sliding = operators.quantities, np.flatnonzero(model.joint_type == JointType.PRISMATIC)
    V = (operators.phi.T @ (operators.H.T @ v)).reshape(-1, 6)
    a = operators.bias(v, gravity=False)[0].reshape(-1, 6)
    assert len(sliding) > 2
    for k in sliding:
        h, before = (
            numbers.axes[k, 3:, 0],
            V[model.parent[k]] if model.parent[k] >= 0 else np.zeros(6),
        )
        assert not numbers.axes[k, :3].any() and np.isclose(h @ h, 1.0)
        linear = np.cross(before[:3], V[k, 3:] - before[3:]) + np.cross(
            before[:3], h * v[model.v_index[k]]
        )
        assert_close(
            a[k],
            np.concatenate([np.cross(before[:3], V[k, :3]), linear]),
            max(1.0, np.abs(a).max()),
        )


@pytest.mark.parametrize("case", CASES)
def test_000_25_tip_bias_acceleration_is_jdot_v(case):
    operators = operators_of(case)
    q, v, _ = random_motion(operators.model, 11)
    reference = Reference(operators.model, q, v)
    a, _ = operators.bias(v, gravity=False)
    alpha = operators.phi.T @ a
    for name, found in zip(operators.frames, (operators.B.T @ alpha).reshape(-1, 6)):
        R, x, _, bias = reference.frame(name)
        body = operators.model.frame_body[operators.model.frame_index(name)]
        omega = reference.omega[body] if body >= 0 else np.zeros(3)
        arm = x - reference.p[body] if body >= 0 else np.zeros(3)
        a0 = np.concatenate([np.zeros(3), np.cross(omega, np.cross(omega, arm))])
        assert_close(
            found + a0,
            np.roll(bias, 3),
            max(np.abs(alpha).max(), np.abs(bias).max()) + 1e-300,
            1e-11,
        )


@pytest.mark.parametrize("case", CASES)
def test_004_2_11_forward_dynamics_without_the_bias_torques_first(case):
    """vdot = (I - H psi K)* D^-1 [T - H psi (K T + P a + b)] - K* psi* a, the last term as in the errata."""
    operators = operators_of(case)
    model, (q, v, T) = operators.model, random_motion(model_of(case), 11)
    a, b = operators.bias(v)
    H, psi, K = operators.H, operators.psi, operators.K
    rest = T - H @ (psi @ (K @ T + operators.P @ a + b))
    found = evaluate("(I - H psi K)* D^-1", operators) @ rest - K.T @ (psi.T @ a)
    expected = forward_dynamics(model, q, v, T)
    M = mass_matrix_of(case)
    scale = np.abs(np.linalg.inv(M)) @ (np.abs(T) + np.abs(bias_forces(model, q, v)))
    assert_close(found, expected, scale.max(), derived_tolerance(M))
