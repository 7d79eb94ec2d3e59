# SPDX-License-Identifier: Apache-2.0
"""Every operator is the matrix that the papers define, forwards and backwards, on vectors and on matrices."""

import numpy as np
import pinocchio as pin
import pytest
import scipy.sparse.linalg
from helpers.operator_cases import CASES, Dense, mass_matrix_of, model_of, operators_of, tips
from helpers.support import load_pair, load_quietly, robots, urdf_path
from hypothesis import given, settings
from oracles.random_trees import random_model, random_motion, seeds, trees
from oracles.reference import Reference, assert_close, derived_tolerance

from opspace_ctrl import load_robot, mass_matrix
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate
from opspace_ctrl.algebra.operators.symbols import ARTICULATED, SYMBOLS
from opspace_ctrl.errors import ConfigurationError, DimensionError, MethodError, UnknownFrameError

RIGID = [name for name in SYMBOLS if name not in ARTICULATED]


@pytest.fixture(params=CASES, scope="module")
def case(request):
    return request.param


@pytest.fixture(scope="module")
def dense(case):
    model = model_of(case)
    return Dense(model, random_motion(model, 11)[0], tips(model))


@pytest.mark.parametrize("name", SYMBOLS)
def test_000_1_2_14_18_34_41_operator_and_adjoint_are_the_matrix_of_the_definition(
    case, dense, name
):
    """000 (1), (2), (13)-(18), (28)-(31), (34)-(41); 003 (8)-(10); 004 (2.5)-(2.9), (4.3), (4.4), (4.7)."""
    operator, matrix = getattr(operators_of(case), name), getattr(dense, name)
    tolerance = derived_tolerance(mass_matrix_of(case)) if name in ARTICULATED else 1e-12
    scale = max(np.abs(matrix).max(initial=0.0), 1.0)
    rng = np.random.default_rng(3)
    x, X = rng.normal(size=matrix.shape[1]), rng.normal(size=(matrix.shape[1], 3))
    y, Y = rng.normal(size=matrix.shape[0]), rng.normal(size=(matrix.shape[0], 3))
    size = scale * np.sqrt(max(matrix.shape)) * 10.0
    assert (
        isinstance(operator, scipy.sparse.linalg.LinearOperator) and operator.shape == matrix.shape
    )
    assert_close(operator.dense(), matrix, scale, tolerance)
    assert_close(operator @ x, matrix @ x, size, tolerance)
    assert_close(operator @ X, matrix @ X, size, tolerance)
    assert_close(operator.T @ y, matrix.T @ y, size, tolerance)
    assert_close(operator.H @ Y, matrix.T @ Y, size, tolerance)
    assert_close(operator.rmatvec(y), matrix.T @ y, size, tolerance)


def test_000_3_5_transition_matrices_are_a_semigroup(case):
    operators = operators_of(case)
    i, j, k = (int(b) for b in np.random.default_rng(4).integers(0, len(operators.model.parent), 3))
    phi = operators.transition
    assert np.array_equal(phi(i, i), np.eye(6))
    assert_close(phi(i, j) @ phi(j, i), np.eye(6), 10.0)
    assert_close(phi(i, k) @ phi(k, j), phi(i, j), 10.0)
    for b, parent in enumerate(operators.model.parent):
        expected = phi(parent, b) if parent >= 0 else np.zeros((6, 6))
        assert_close(operators.quantities.phi[b], expected, 10.0)


def test_000_section_II_17_41_numbering_from_the_tip_makes_phi_and_psi_block_lower_triangular(case):
    """Causal operators are lower triangular, their adjoints upper (003 sec 2); H and M stay block diagonal."""
    operators = operators_of(case)
    papers, N = operators.tip_to_base, len(operators.model.parent)
    below = np.kron(np.tril(np.ones((N, N))), np.ones((6, 6))) > 0
    strictly = np.kron(np.tril(np.ones((N, N)), -1), np.ones((6, 6))) > 0
    for name, pattern in (
        ("phi", below),
        ("psi", below),
        ("Phi", strictly),
        ("Psi", strictly),
        ("E_phi", strictly),
    ):
        matrix = papers(getattr(operators, name)).dense()
        assert not matrix[~pattern].any()
        assert not papers(getattr(operators, name).T).dense()[~pattern.T].any()
    assert papers.number(N - 1) == 1 and papers.number(0) == N
    own = operators.quantities.M[papers.bodies]
    assert np.array_equal(papers(operators.M).dense(), scipy.linalg.block_diag(*own))
    axes = [
        operators.quantities.axes[k, :, : operators.quantities.dofs[k]].T for k in papers.bodies
    ]
    assert np.array_equal(papers(operators.H).dense(), scipy.linalg.block_diag(*axes))


def test_numbering_of_a_chain_reverses_its_joints_000_sec_II():
    model = load_robot("arm7")
    operators = SpatialOperators(model, random_motion(model, 1)[0])
    factor = operators.tip_to_base(evaluate("I + H phi K", operators)).dense()
    assert_close(factor, np.tril(factor), 1.0)
    assert_close(np.diag(factor), np.ones(7), 1.0)
    assert_close(factor, evaluate("I + H phi K", operators).dense()[::-1, ::-1], 1.0)


def test_000_30_33_composite_rigid_body_elements(case):
    """m(k, k) = H(k) r(k) H*(k), and x = phi(i, k) r(k) H*(k) gives the column above it."""
    operators, H = operators_of(case), mass_matrix_of(case)
    quantities, model = operators.quantities, operators.model
    found = np.diag(model.armature)
    for k in range(len(model.parent)):
        x = quantities.r[k] @ quantities.axes[k, :, : quantities.dofs[k]]
        mine = quantities.rows[k, : quantities.dofs[k]]
        found[np.ix_(mine, mine)] += quantities.axes[k, :, : quantities.dofs[k]].T @ x
        for i in model.support(k)[-2::-1]:
            rows = quantities.rows[i, : quantities.dofs[i]]
            found[np.ix_(rows, mine)] = (
                quantities.axes[i, :, : quantities.dofs[i]].T @ operators.transition(i, k) @ x
            )
            found[np.ix_(mine, rows)] = found[np.ix_(rows, mine)].T
    assert_close(found, H, np.abs(H).max())


@settings(max_examples=25)
@given(trees(max_bodies=14), seeds())
def test_newton_euler_factorization_on_any_tree_with_mimic_joints_000_22(model, seed):
    q = random_motion(model, seed)[0]
    operators, H = SpatialOperators(model, q), mass_matrix(model, q)
    assert_close(
        evaluate("H phi M phi* H* + A", operators).dense(), H, np.abs(H).max(initial=1e-300)
    )


@settings(max_examples=25)
@given(trees(max_bodies=14, mimic=0.0), seeds())
def test_inverse_factorization_on_any_tree_000_46(model, seed):
    q, torque, _ = random_motion(model, seed)
    H = mass_matrix(model, q)
    found = evaluate("(I - H Psi G)* D^-1 (I - H Psi G)", model, q) @ torque
    expected = np.linalg.solve(H, torque)
    scale = (np.abs(np.linalg.inv(H)) @ np.abs(torque)).max(initial=1e-300)
    assert_close(found, expected, scale, derived_tolerance(H))


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "pr2"])
def test_mimic_joints_of_real_robots_are_carried_by_the_articulated_operators(name, base):
    """000 identities 5 and 6, (39), (56) and 004 (4.6) where D, G and psi are those of clusters."""
    model = load_quietly(urdf_path(name), base)
    check_clusters(model, 1)


@settings(max_examples=25)
@given(trees(max_bodies=14, mimic=0.5, near=True), seeds())
def test_mimic_joints_of_any_tree_are_carried_by_the_articulated_operators(model, seed):
    check_clusters(model, seed)


def check_clusters(model, seed):
    q, v, torque = random_motion(model, seed)
    frames = [name for name, body in zip(model.frame_names, model.frame_body) if body >= 0][-2:]
    operators = SpatialOperators(model, q, frames)
    H, tolerance = mass_matrix(model, q), derived_tolerance(mass_matrix(model, q))
    for text, expected in (
        ("H phi M phi* H* + A", H),
        ("(I + H phi K) D (I + H phi K)*", H),
        ("(I - H Psi G)* D^-1 (I - H Psi G)", np.linalg.inv(H)),
        ("H P H* + A", evaluate("D", operators).dense()),
        ("P - G D G*", operators.P_plus.dense()),
        ("E_phi taubar", operators.E_psi.dense()),
        ("J (H phi M phi* H* + A)^-1 J*", evaluate("B* Omega B", operators).dense()),
    ):
        found = evaluate(text, operators).dense()
        sizes = [expected, operators.P.dense()] if text.startswith("P") else [expected]
        assert_close(found, expected, max(np.abs(x).max(initial=1e-9) for x in sizes), tolerance)
    a, b = operators.bias(v)
    C = operators.H @ (operators.phi @ (operators.M @ (operators.phi.T @ a) + b))
    expected, size = Reference(model, q, v).inverse_dynamics()
    assert_close(C, expected, max(size, 1.0))
    for k, name in enumerate(model.body_names):
        own = SpatialOperators(model, q, [name])
        J = own.J.dense()
        moved = own.B.dense()[6 * k : 6 * k + 6]
        expected = J @ np.linalg.solve(H, J.T)
        found = moved.T @ operators.quantities.Upsilon[k] @ moved
        assert_close(found, expected, max(np.abs(expected).max(), 1e-9), tolerance)


def test_mimic_joints_with_others_between_are_refused_by_name_where_the_riccati_recursion_is_needed():
    model = random_model(3, 8, mimic=0.5, types=("revolute",))
    operators = SpatialOperators(model, model.neutral(), [model.frame_names[-1]])
    H = mass_matrix(model, model.neutral())
    assert_close(evaluate("H phi M phi* H* + A", operators).dense(), H, np.abs(H).max())
    for name in RIGID:
        assert getattr(operators, name).dense().shape == getattr(operators, name).shape
    for name in ARTICULATED:
        with pytest.raises(MethodError, match="mimic joints with other joints between them"):
            getattr(operators, name)
    with pytest.raises(MethodError, match="mimic joints with other joints between them"):
        evaluate("H psi", operators)


def test_sums_products_and_numbers_compose():
    model = load_robot("arm7")
    operators = SpatialOperators(model, random_motion(model, 2)[0])
    P, phi, H = operators.P, operators.phi, operators.H
    combined = -(2.0 * P - P * 0.5) @ phi + P.T @ operators.identity("body")
    expected = -1.5 * P.dense() @ phi.dense() + P.dense()
    assert_close(combined.dense(), expected, np.abs(expected).max())
    assert_close(combined.T.dense(), expected.T, np.abs(expected).max())
    assert str(H @ (phi - P)) == "H (phi - P)"
    foreign = scipy.sparse.linalg.aslinearoperator(np.eye(42))
    assert_close((phi @ foreign) @ np.ones(42), phi @ np.ones(42), 10.0)
    assert_close((phi + foreign) @ np.ones(42), phi @ np.ones(42) + 1.0, 10.0)


def test_scipy_solvers_take_the_operators():
    model = load_robot("asimo")
    q, torque, _ = random_motion(model, 3)
    H = evaluate("H phi M phi* H* + A", model, q)
    inverse = H.inverse()
    found, info = scipy.sparse.linalg.cg(H, torque, M=inverse, rtol=1e-12, maxiter=5)
    assert info == 0
    assert_close(found, inverse @ torque, np.abs(found).max(), 1e-8)


def test_a_vector_is_not_changed_by_applying_an_operator(case):
    operators = operators_of(case)
    for name in SYMBOLS:
        operator = getattr(operators, name)
        x = np.ones((operator.shape[1], 2))
        operator @ x, (operator + operator) @ x, (2.0 * operator) @ x
        assert np.all(x == 1.0)


def test_wrong_arguments_are_named():
    model = load_robot("arm7")
    one, other = (SpatialOperators(model, model.neutral()) for _ in range(2))
    with pytest.raises(ConfigurationError):
        SpatialOperators(model, np.zeros(3))
    with pytest.raises(UnknownFrameError, match="hend"):
        SpatialOperators(model, model.neutral(), ["hend"])
    with pytest.raises(AttributeError, match="Upsilon"):
        _ = one.Lambda
    with pytest.raises(DimensionError, match="body space"):
        one.phi @ one.D
    with pytest.raises(DimensionError, match="cannot be added"):
        one.phi + one.D
    with pytest.raises(DimensionError, match="other SpatialOperators"):
        one.H @ other.phi
    with pytest.raises(ValueError):
        one.phi @ np.ones(7)
    with pytest.raises(TypeError):
        one.phi @ (1j * np.ones(42))


def test_a_robot_without_moving_bodies_has_empty_operators():
    model = random_model(1, bodies=2, types=("fixed",))
    operators = SpatialOperators(model, np.zeros(0), ["l1"])
    assert model.nv == 0
    for name in SYMBOLS:
        operator = getattr(operators, name)
        assert operator.dense().shape == operator.shape


@pytest.mark.parametrize("armature", [None, 0.02])
@pytest.mark.parametrize("name", robots())
def test_factorizations_of_every_robot_of_the_wheel_000_22_46_003_lemma_3(name, armature):
    """H phi M phi* H* + A is the inertia that Pinocchio computes, and its inverse undoes it."""
    model, twin = load_pair(name, "floating" if armature else "fixed", armature=armature)
    q, x, _ = random_motion(model, 8)
    pin.crba(twin.model, twin.data, twin.q(q))
    upper = np.triu(twin.data.M)
    H = twin.G.T @ (upper + np.triu(upper, 1).T) @ twin.G
    operator = evaluate("H phi M phi* H* + A", model, q)
    size = np.sqrt(np.diag(H))
    assert_close(operator.dense(), H, np.outer(size, size) + 1e-6 * H.max(initial=0.0))
    found, expected = operator.inverse() @ x, np.linalg.solve(H, x)
    assert_close(found, expected, np.abs(np.linalg.inv(H)) @ np.abs(x), derived_tolerance(H))
