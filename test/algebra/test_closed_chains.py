# SPDX-License-Identifier: Apache-2.0
"""Closed chains (003 5.3) against dense saddle-point systems."""

import tracemalloc

import numpy as np
import pytest
from helpers.recursion_cases import assert_near
from helpers.support import load_quietly, urdf_path
from helpers.urdf_text import joint, link, robot
from oracles.random_trees import random_model
from oracles.reference import derived_tolerance

from opspace_ctrl import OperationalSpace, dynamics, load_robot, load_urdf
from opspace_ctrl.algebra.closure import ClosedChain, Closure
from opspace_ctrl.errors import ConfigurationError, IllPosedError, MethodError, UnknownFrameError

ARM = ("revolute", "continuous", "prismatic")


def two_arms(armature=True):
    """Two random arms on bases of their own, and the frames at their tips."""
    return (
        random_model(11, 8, types=ARM, shape="chain", forest=2, armature=armature),
        "r0_l8",
        "r1_l8",
    )


def two_robots():
    """Two real arms side by side."""
    text = urdf_path("ur5_robot").read_text(), urdf_path("xarm7").read_text()
    model = load_quietly(list(text), ["fixed", "fixed"], prefixes=["a_", "b_"], armature=0.1)
    return model, model.body_names[5], model.body_names[-1]


def one_tree(base="fixed"):
    """Two branches of one robot, which share inertia."""
    model = random_model(17, 24, types=ARM, base=base)
    ends = [b for b in range(len(model.parent)) if not model.children(b)]
    deep = sorted(ends, key=lambda b: -len(model.support(b)))[:2]
    return (model, *(model.body_names[b] for b in deep))


def free_flyer():
    return load_robot("free_flyer", gravity=(0.0, 0.0, -9.81)), "left_tool", "right_tool"


SYSTEMS = {
    "two arms": two_arms,
    "two arms without armature": lambda: two_arms(False),
    "two real arms": two_robots,
    "one tree": one_tree,
    "one floating tree": lambda: one_tree("floating"),
    "free flyer": free_flyer,
}


class Loop:
    """A system in a random state, with its saddle-point equations."""

    def __init__(self, name, rows="position", seed=3):
        self.model, self.first, self.second = SYSTEMS[name]()
        self.chain = ClosedChain(self.model, [Closure(self.first, self.second, rows)])
        rng = np.random.default_rng(seed)
        self.q = self.model.integrate(
            self.model.neutral(), rng.uniform(-1.0, 1.0, self.model.nv), 1.0
        )
        self.v, self.tau = rng.normal(size=(2, self.model.nv))
        self.external = {
            self.first: rng.normal(size=6),
            self.model.body_names[1]: rng.normal(size=6),
        }
        self.selection = Closure(self.first, self.second, rows).selection()
        self.H = dynamics.mass_matrix(self.model, self.q)
        self.J = self.selection @ (self.jacobian(self.first) - self.jacobian(self.second))
        self.omega = self.J @ np.linalg.solve(self.H, self.J.T)
        condition = np.linalg.cond(self.omega)
        self.tolerance = derived_tolerance(self.H) * max(1.0, 1e-2 * condition)

    def jacobian(self, frame):
        return dynamics.frame_jacobian(self.model, self.q, frame)

    def bias(self):
        rest = np.zeros(self.model.nv)
        first, second = (
            dynamics.frame_acceleration(self.model, self.q, self.v, rest, frame)
            for frame in (self.first, self.second)
        )
        return self.selection @ (first - second)

    def saddle_point(self, wanted=0.0):
        """Accelerations and forces of H a - J^T f = tau - h, J a = wanted - Jdot v."""
        m, nv = self.J.shape
        h = dynamics.inverse_dynamics(self.model, self.q, self.v, np.zeros(nv), self.external)
        matrix = np.block([[self.H, -self.J.T], [self.J, np.zeros((m, m))]])
        found = np.linalg.solve(matrix, np.concatenate([self.tau - h, wanted - self.bias()]))
        return found[:nv], found[nv:]


@pytest.mark.parametrize("rows", ["position", "pose", "orientation"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_003_21_26_closed_chain_forward_dynamics_solves_the_saddle_point_equations(name, rows):
    """003 (21)-(26), at a point (3 rows), rigidly (6), or in orientation only; shared bases included."""
    loop = Loop(name, rows)
    a, f = loop.saddle_point()
    found = loop.chain.forward(loop.q, loop.v, loop.tau, external=loop.external)
    assert_near(found, a, loop.tolerance)
    assert_near(loop.chain.force, f, loop.tolerance)
    assert_near(loop.chain.wrenches[0], loop.selection.T @ f, loop.tolerance)
    assert_near(
        loop.J @ found + loop.bias(),
        np.zeros(len(f)),
        loop.tolerance,
        max(1.0, np.abs(found).max()),
    )


@pytest.mark.parametrize("name", ["two arms", "two arms without armature", "two real arms"])
def test_003_25_arms_on_bases_of_their_own_add_their_inverse_inertias(name):
    """003 (26): Lambda_c^-1 = Lambda_1^-1 + Lambda_2^-1, f = Lambda_c (alpha_2f - alpha_1f)."""
    loop = Loop(name, "pose")
    first, second = (
        OperationalSpace(loop.model, [f], method="efpa").update(loop.q).inertia_inv.copy()
        for f in (loop.first, loop.second)
    )
    loop.chain.forward(loop.q, loop.v, loop.tau)
    assert_near(loop.chain.effective_inertia_inv, first + second, loop.tolerance)
    free = dynamics.link_accelerations(
        loop.model, loop.q, loop.v, loop.tau, frames=(loop.second, loop.first)
    )
    assert_near(
        loop.chain.force, np.linalg.solve(first + second, free[0] - free[1]), loop.tolerance
    )


@pytest.mark.parametrize("name", ["one tree", "one floating tree", "free flyer"])
def test_arms_of_one_robot_also_need_the_cross_terms(name):
    """control-law.md: Omega_11 + Omega_22 - Omega_12 - Omega_21; without the last two it is wrong."""
    loop = Loop(name, "pose")
    omega = OperationalSpace(loop.model, [loop.first, loop.second]).update(loop.q).inertia_inv
    one, two, cross = omega[:6, :6], omega[6:, 6:], omega[:6, 6:]
    loop.chain.forward(loop.q, loop.v, loop.tau)
    found = loop.chain.effective_inertia_inv
    assert_near(found, one + two - cross - cross.T, loop.tolerance)
    assert np.abs(cross + cross.T).max() > 1e-6 * np.abs(found).max()  # far beyond the tolerance


@pytest.mark.parametrize("name", ["two arms", "one floating tree"])
def test_a_wanted_relative_acceleration_is_reached(name):
    loop = Loop(name)
    wanted = np.array([1.0, -2.0, 0.5])
    a, f = loop.saddle_point(wanted)
    assert_near(
        loop.chain.forward(loop.q, loop.v, loop.tau, None, wanted, loop.external), a, loop.tolerance
    )
    assert_near(loop.chain.force, f, loop.tolerance)


@pytest.mark.parametrize("name", SYSTEMS)
def test_closing_the_velocity_changes_it_by_the_least_kinetic_energy(name):
    loop = Loop(name)
    found = loop.chain.close_velocity(loop.q, loop.v)
    assert_near(
        loop.chain.relative_velocity(loop.q, found),
        np.zeros(3),
        loop.tolerance,
        np.abs(loop.v).max(),
    )
    assert_near(
        loop.chain.relative_velocity(loop.q, loop.v),
        loop.J @ loop.v,
        1e-12,
        np.abs(loop.J).max() * 10,
    )
    change = found - loop.v
    kept = np.eye(len(loop.v)) - np.linalg.pinv(loop.J) @ loop.J
    assert_near(
        kept.T @ loop.H @ change,
        np.zeros(len(change)),
        1e-9,
        max(1.0, np.abs(loop.H @ change).max()),
    )


def test_a_loop_can_be_assembled_and_stays_closed_while_it_moves():
    """Two arms of the free flyer hold hands: RK4 with a critically damped correction of drift."""
    model, first, second = free_flyer()
    start = model.integrate(
        model.neutral(), np.random.default_rng(0).uniform(-0.3, 0.3, model.nv), 1.0
    )
    chain = ClosedChain(model, [Closure(first, second, "position")])
    q = chain.assemble(start)
    assert np.abs(chain.error(q)).max() < 1e-12
    v = chain.close_velocity(q, np.random.default_rng(1).uniform(-0.2, 0.2, model.nv))
    energy = [_energy(model, q, v)]
    tau, rate, dt = np.zeros(model.nv), 20.0, 1e-3
    for _ in range(200):
        wanted = -2.0 * rate * chain.relative_velocity(q, v) - rate**2 * chain.error(q)
        middle = chain.forward(q, v, tau, wanted=wanted)
        half = v + 0.5 * dt * middle
        q, v = (
            model.integrate(q, half, dt),
            v + dt * chain.forward(model.integrate(q, v, 0.5 * dt), half, tau, wanted=wanted),
        )
        energy.append(_energy(model, q, v))
    assert np.abs(chain.error(q)).max() < 1e-6
    assert np.ptp(energy) < 1e-4 * dynamics.kinetic_energy(model, q, v)


def _energy(model, q, v):
    return dynamics.kinetic_energy(model, q, v) + dynamics.potential_energy(model, q)


def test_a_frame_can_be_held_to_the_world():
    model = load_robot("arm7")
    tip = model.frame_names[-1]
    loop_free = ClosedChain(model, [(tip, model.frame_names[0])])
    q = model.integrate(model.neutral(), np.full(model.nv, 0.4), 1.0)
    v, tau = 0.1 * np.arange(1.0, model.nv + 1), np.ones(model.nv)
    found = loop_free.forward(q, v, tau)
    assert_near(dynamics.frame_acceleration(model, q, v, found, tip), np.zeros(6), 1e-9)


def four_bar(rows):
    """A planar four-bar linkage cut at the middle of its coupler: its 6 rows cannot be independent."""
    parts = [
        link("base"),
        *(link(f"l{i}") for i in range(1, 5)),
        '<link name="p"/><link name="s"/>',
    ]
    parts += [
        joint("a", "base", "l1", xyz="0 0 0"),
        joint("b", "l1", "l2", xyz="0.5 0 0"),
        joint("c", "base", "l3", xyz="1 0 0"),
        joint("d", "l3", "l4", xyz="-0.4 0.2 0"),
        joint("e", "l2", "p", "fixed", "0.3 0 0"),
        joint("f", "l4", "s", "fixed", "0.2 0.1 0"),
    ]
    return ClosedChain(load_urdf(robot(*parts)), [Closure("p", "s", rows)])


def test_003_section_6_ill_posed_loops_are_refused_by_name():
    """003 section 6: contact forces are unique only if the inverse effective inertia has full rank."""
    state = np.full(4, 0.3), np.zeros(4), np.zeros(4)
    with pytest.raises(IllPosedError, match=r"p held to s.*rank 3 of 6"):
        four_bar("pose").forward(*state)
    with pytest.raises(IllPosedError, match="rank 2 of 3"):
        four_bar("position").forward(*state)
    chain = four_bar(np.eye(6)[[0, 1, 5]])
    found = chain.forward(*state)
    J = np.eye(6)[[0, 1, 5]] @ (
        dynamics.frame_jacobian(chain.model, state[0], "p")
        - dynamics.frame_jacobian(chain.model, state[0], "s")
    )
    assert_near(J @ found, np.zeros(3), 1e-11, max(1.0, np.abs(found).max()))


def test_a_loop_that_cannot_be_closed_is_refused_by_name():
    """An arm of half a metre cannot reach a point ten metres away."""
    parts = [
        link("base"),
        link("l1"),
        link("l2"),
        '<link name="tip"/><link name="far"/>',
        joint("a", "base", "l1", axis="0 1 0"),
        joint("b", "l1", "l2", axis="1 0 0"),
        joint("c", "l2", "tip", "fixed", "0.1 0.1 0.2"),
        joint("d", "base", "far", "fixed", "10 3 0"),
    ]
    chain = ClosedChain(load_urdf(robot(*parts)), [Closure("tip", "far", np.eye(6)[:2])])
    with pytest.raises(IllPosedError):
        chain.assemble(np.array([0.3, 0.2]))


def test_bad_closures_are_refused_by_name():
    model, first, second = two_arms()
    with pytest.raises(UnknownFrameError, match="nowhere"):
        ClosedChain(model, [(first, "nowhere")])
    with pytest.raises(ConfigurationError, match="at least one closure"):
        ClosedChain(model, [])
    with pytest.raises(ConfigurationError, match="rows 'twist' unknown"):
        ClosedChain(model, [Closure(first, second, "twist")])
    with pytest.raises(MethodError, match="mimic"):
        ClosedChain(random_model(3, 8, mimic=0.5, types=("revolute",)), [("l1", "l2")])
    with pytest.raises(ConfigurationError, match="rotation matrix"):
        Closure(first, second, rotation=np.ones((3, 3)))
    chain = ClosedChain(model, [(first, second)])
    q, v = model.neutral(), np.zeros(model.nv)
    with pytest.raises(ConfigurationError, match="out"):
        chain.forward(q, v, v, np.empty(2))
    with pytest.raises(ConfigurationError, match="wanted must be 6 finite numbers"):
        chain.forward(q, v, v, wanted=np.zeros(2))
    with pytest.raises(ConfigurationError, match="tau"):
        chain.forward(q, v, v[1:])


def test_a_step_of_a_closed_chain_allocates_nothing():
    loop = Loop("two arms")
    out, wanted = np.empty(loop.model.nv), np.zeros(3)
    forward = loop.chain.forward
    for _ in range(3):
        forward(loop.q, loop.v, loop.tau, out, wanted)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        forward(loop.q, loop.v, loop.tau, out, wanted)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 1000
    assert peak - before < 2000
