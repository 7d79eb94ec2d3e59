# SPDX-License-Identifier: Apache-2.0
"""The choice of the forward dynamics: contacts and closures by its own H^-1, and a change between two steps."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.beam import HELD, beam_carrier, closed_state
from helpers.plant_runs import hold_home, make_plant
from helpers.sim_cases import point_rows, standing
from helpers.urdf_text import joint, link, mimic, robot
from scipy.spatial.transform import Rotation

from opspace_ctrl import frame_jacobian, frame_pose, load_robot, load_urdf, mass_matrix
from opspace_ctrl.dynamics import forward_methods
from opspace_ctrl.errors import MethodError
from opspace_ctrl.sim.simulator import Simulator

EVERY = forward_methods(load_robot("asimo"))
MIMIC = """<robot name="gripper"><link name="palm"/>
  {fingers}<joint name="left" type="prismatic"><parent link="palm"/><child link="l"/><limit lower="0" upper="1"
    effort="9" velocity="9"/></joint>
  <joint name="right" type="prismatic"><parent link="palm"/><child link="r"/><axis xyz="-1 0 0"/><mimic joint="left"/>
    <limit lower="0" upper="1" effort="9" velocity="9"/></joint></robot>""".format(
    fingers="".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
        for name in "lr"
    )
)

FINGERS = robot(
    link("palm"),
    *(link(f"{side}_{part}") for side in ("left", "right") for part in ("middle", "end")),
    joint("left_base", "palm", "left_middle", axis="0 1 0"),
    joint("left_tip", "left_middle", "left_end", axis="0.1 1 0", extra=mimic("left_base", 0.7)),
    joint("right_base", "palm", "right_middle", xyz="0 0.2 0.3", axis="0 1 0.1"),
    joint("right_tip", "right_middle", "right_end", axis="0 1 0"),
)


def effective_inertia(sim, q):
    """H with what dampers, friction and stops added to it in the last step."""
    return mass_matrix(sim.model, q) + np.diag(sim._engine.tree.armature - sim.model.armature)


def relative_rows(sim, chain, q):
    """Rows of the closures, by finite differences of their own errors' velocities: linear in v."""
    return np.column_stack([chain.relative_velocity(q, column) for column in np.eye(sim.model.nv)])


@pytest.mark.parametrize("method", EVERY)
def test_the_delassus_matrix_of_contacts_is_that_of_dense_algebra(method):
    sim = standing(forward_method=method)
    for _ in range(3):
        q = sim.q.copy()
        sim.step(sim.hold())
    assert sim._engine.is_solved
    J = (
        point_rows(sim, q)[0].reshape(-1, 3, sim.model.nv).swapaxes(1, 2)
        @ sim._engine.ground_axes.T
    ).swapaxes(1, 2)
    J = J.reshape(-1, sim.model.nv)
    expected = J @ np.linalg.solve(effective_inertia(sim, q), J.T)
    found = sim._engine.space.Lambda_inv[: len(J), : len(J)]
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("rows", ["pose", "position"])
def test_the_delassus_matrix_of_closures_is_that_of_dense_algebra(method, rows):
    sim, chain = beam_carrier(rows, forward_method=method, joint_damping=True)
    closed_state(sim, chain)
    q = sim.q.copy()
    sim.step(np.sin(np.arange(14.0)))
    J = relative_rows(sim, chain, q)
    expected = J @ np.linalg.solve(effective_inertia(sim, q), J.T)
    m = len(J)
    np.testing.assert_allclose(
        sim._engine.space.Lambda_inv[:m, :m], expected, atol=1e-10 * np.abs(expected).max()
    )


def test_contacts_and_closures_of_mimic_joints_go_through_clusters():
    """A finger whose second joint follows the first touches the ground, and the finger beside it turns with it."""
    model = load_urdf(FINGERS, armature={"left_base": 0.02})
    q = np.array([0.4, 0.5, 0.2])
    position, _ = frame_pose(model, q, "left_end")
    left, right = (frame_jacobian(model, q, f"{side}_end") for side in ("left", "right"))
    axes = Rotation.from_quat(frame_pose(model, q, "right_end")[1]).as_matrix()
    ends = []
    for method in forward_methods(model):
        sim = Simulator(
            model,
            forward_method=method,
            initial_positions=q,
            contacts=("left_end",),
            closures=("left_end right_end orientation",),
            ground_height=float(position[2]),
        )
        sim.step(np.zeros(3))
        J = np.vstack([sim._engine.ground_axes @ left[:3], axes.T @ (left - right)[3:]])
        expected = J @ np.linalg.solve(effective_inertia(sim, q), J.T)
        found = sim._engine.space.Lambda_inv[:6, :6]
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
        free = Simulator(
            model,
            forward_method=method,
            initial_positions=q,
            contacts=("left_end",),
            ground_height=float(position[2]) - 0.01,
            ground_friction=0.1,
        )
        for _ in range(300):
            free.step([0.3, -0.2, 0.1])
        assert free.contact_forces()["left_end"][2] > 0.0
        ends.append(free.q.copy())
    assert len(ends) > 5 and np.abs(ends[0] - q).max() > 1e-3
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-8)


@pytest.mark.parametrize("integrator", ["semi_implicit", "explicit", "rkmk4"])
def test_a_landing_humanoid_that_switches_moves_as_one_that_does_not(integrator):
    same, switching = (standing(0.01, integrator=integrator) for _ in range(2))
    for k in range(12 * len(EVERY)):
        tau = 0.2 * np.sin(0.01 * k + np.arange(len(same.tau)))
        if k % 10 == 0:
            before = switching.save()
            switching.forward_method = EVERY[k // 10 % len(EVERY)]
            assert switching.forward_method == switching.settings.forward_method
            for name, value in switching.save().items():
                np.testing.assert_array_equal(value, before[name])
        same.step(tau)
        switching.step(tau)
    np.testing.assert_allclose(switching.q, same.q, atol=1e-9)
    np.testing.assert_allclose(switching.v, same.v, atol=1e-7)


def test_a_closed_chain_that_switches_moves_as_one_that_does_not():
    (same, chain), (switching, _) = beam_carrier(), beam_carrier()
    switching.reset(same.q, closed_state(same, chain))
    switching.prepare()
    for k in range(200):
        tau = 3.0 * np.sin(0.002 * k + np.arange(14))
        switching.forward_method = EVERY[k % len(EVERY)]
        same.step(tau)
        switching.step(tau)
    np.testing.assert_allclose(switching.q, same.q, atol=1e-9)
    for pair in HELD:
        np.testing.assert_allclose(
            switching.constraint_forces()[tuple(pair.split())],
            same.constraint_forces()[tuple(pair.split())],
            atol=1e-5,
        )


def test_friction_and_stops_at_the_end_of_a_runge_kutta_step_are_the_same_by_every_method():
    ends = []
    for method in forward_methods(load_robot("arm7")):
        sim = Simulator("arm7", forward_method=method, integrator="rkmk4")
        for k in range(300):
            sim.step(20.0 * np.sin(0.02 * k + np.arange(7)))
        ends.append(sim.q.copy())
    for q in ends[1:]:
        np.testing.assert_allclose(q, ends[0], atol=1e-9)


def test_a_switch_holds_for_the_robot_with_other_masses_too():
    fault = "{kind: mass, frame: tool, added: 0.5, start: 0.02, duration: 0.05}"
    ends = []
    for switches in (False, True):
        plant = make_plant(fault)
        names = forward_methods(plant.model)
        plant.prepare_forward_methods()
        for k in range(120):
            if switches and k % 7 == 0:
                plant.take_forward_method(names[k // 7 % len(names)])
                assert plant.simulator.forward_method == names[k // 7 % len(names)]
            for measurement in plant.measure():
                plant.command(hold_home(measurement))
            plant.step()
        ends.append(plant.simulator.q.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-10)


def test_a_refused_method_names_those_of_the_robot_and_changes_nothing():
    arm, gripper = Simulator("arm7"), Simulator(load_urdf(MIMIC))
    for sim, name in ((arm, "decoupled"), (arm, "magic"), (arm, 7), (gripper, "decoupled")):
        with pytest.raises(MethodError) as refusal:
            sim.forward_method = name
        assert ", ".join(forward_methods(sim.model)) in str(refusal.value)
        assert sim.forward_method == sim.settings.forward_method == "crba_ltdl"
        sim.step(np.zeros(len(sim.tau)))


def test_dart_has_no_choice():
    sim = Simulator("arm7", engine="dart")
    with pytest.raises(MethodError, match="native"):
        sim.forward_method = "aba"
