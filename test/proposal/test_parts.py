# SPDX-License-Identifier: Apache-2.0
"""The guesses one by one: limbs, shapes, soles, start poses, gains."""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin
import pytest
import scipy.linalg
from helpers.proposals import forearm
from helpers.support import load_quietly, pin_model, urdf_path

from opspace_ctrl import frame_jacobian, frame_pose, load_robot
from opspace_ctrl.proposal import gains, reach
from opspace_ctrl.proposal.limbs import find_limbs
from opspace_ctrl.proposal.propose import propose
from opspace_ctrl.proposal.shapes import collision_points
from opspace_ctrl.proposal.soles import find_sole
from opspace_ctrl.proposal.standing import StandingError, center_of_mass, stand


def limbs_of(name, base="fixed", **options):
    model = load_quietly(urdf_path(name), base, **options)
    return model, find_limbs(model)


@pytest.mark.parametrize(
    "name, base, expected",
    [
        ("ur5_robot", "fixed", [("hand", "tool0")]),
        ("kinova", "fixed", [("hand", "j2s6s200_end_effector")]),
        ("solo12", "floating", [("foot", f"{leg}_FOOT") for leg in ("FL", "FR", "HL", "HR")]),
        (
            "g1_29dof_rev_1_0",
            "floating",
            [
                ("foot", "left_ankle_roll_link"),
                ("foot", "right_ankle_roll_link"),
                ("hand", "left_rubber_hand"),
                ("hand", "right_rubber_hand"),
            ],
        ),
    ],
)
def test_tips_are_found_with_the_frames_that_people_use(name, base, expected):
    _, limbs = limbs_of(name, base)
    assert [(limb.kind, limb.frame) for limb in limbs] == expected


def test_a_limb_has_the_joints_beyond_the_last_branching():
    model, limbs = limbs_of("g1_29dof_rev_1_0", "floating")
    hand = next(limb for limb in limbs if limb.frame == "left_rubber_hand")
    names = [model.joint_names[j - 6] for j in hand.joints]
    assert len(names) == 7 and all(name.startswith("left_") for name in names)


def test_the_sole_of_g1_is_that_of_its_four_spheres():
    model, limbs = limbs_of("g1_29dof_rev_1_0", "floating")
    front, back, left, right, height = find_sole(model, limbs[0], None).reach
    # spheres of 5 mm at x = -0.05 and 0.12, y = +-0.03, z = -0.03; a tenth is left out
    assert height == pytest.approx(-0.035)
    assert front + back == pytest.approx(0.9 * (0.17 + 2 * 0.005), abs=1e-3)
    assert (front - back) / 2 == pytest.approx(0.035, abs=1e-3)
    assert left == pytest.approx(0.9 * (0.03 + 0.005), abs=1e-3)
    assert right == pytest.approx(left)


def test_the_sole_of_talos_is_read_from_its_mesh():
    path = urdf_path("talos_reduced")
    model = load_quietly(path, "floating")
    foot = next(limb for limb in find_limbs(model) if limb.kind == "foot")
    sole = find_sole(model, foot, path.parent)
    assert "collision" in sole.reason
    front, back, left, right, _ = sole.reach
    assert 0.15 < front + back < 0.25 and 0.08 < left + right < 0.15  # a foot of 21 by 13 cm


@pytest.mark.parametrize("form", ["binary", "ascii", "obj"])
def test_vertices_of_meshes_are_read(tmp_path, form):
    corners = np.array([[0.0, 0.0, -0.5], [1.0, 0.0, 0.0], [0.0, 2.0, 0.25]])
    path = tmp_path / ("mesh.obj" if form == "obj" else "mesh.stl")
    if form == "binary":
        facet = np.concatenate([[0.0, 0.0, 1.0], corners.ravel()]).astype("<f4").tobytes()
        path.write_bytes(b" " * 80 + (1).to_bytes(4, "little") + facet + b"\0\0")
    elif form == "ascii":
        rows = "\n".join(f"vertex {x} {y} {z}" for x, y, z in corners)
        path.write_text(f"solid a\nfacet normal 0 0 1\nouter loop\n{rows}\nendloop\nendfacet\n")
    else:
        path.write_text("\n".join(f"v {x} {y} {z}" for x, y, z in corners) + "\nf 1 2 3\n")
    link = ElementTree.fromstring(
        f"""<link name="a"><collision><origin xyz="0 0 1"/><geometry>
        <mesh filename="{path.name}" scale="1 1 2"/></geometry></collision></link>"""
    )
    found = collision_points(link, tmp_path)
    np.testing.assert_allclose(found, corners * [1, 1, 2] + [0, 0, 1])


@pytest.mark.parametrize("data", [b"", b"solid", b"\x00" * 90, b"vertex a b c\n"])
def test_a_broken_mesh_has_no_points(tmp_path, data):
    (tmp_path / "mesh.stl").write_bytes(data)
    link = ElementTree.fromstring(
        '<link name="a"><collision><geometry><mesh filename="mesh.stl"/></geometry></collision></link>'
    )
    assert collision_points(link, tmp_path).shape == (0, 3)


def test_arms_start_inside_their_ranges_away_from_singularities_and_mirrored():
    proposal = propose(urdf_path("baxter"))
    model, q = proposal.model, np.array(proposal.simulator["initial_positions"])
    limbs = find_limbs(model)
    lower, upper = model.position_limits.T
    assert (q > lower + 0.05 * (upper - lower)).all() and (q < upper - 0.05 * (upper - lower)).all()
    hands = [limb for limb in limbs if limb.kind == "hand"]
    for limb in hands:
        J = pin_jacobian(model, "baxter", q, limb.frame)[:, list(limb.joints)]
        values = np.linalg.svd(J, compute_uv=False)
        assert values[5] / values[0] > 0.05
    left, right = (frame_pose(model, q, limb.frame)[0] for limb in hands)
    np.testing.assert_allclose(left * [1, -1, 1], right, atol=0.05)


def pin_jacobian(model, name, q, frame):
    """Pinocchio's Jacobian in our order, for a fixed robot whose joints have one coordinate."""
    twin = pin_model(urdf_path(name).read_text())
    order = [twin.joints[twin.getJointId(joint)].idx_q for joint in model.joint_names]
    q_pin = np.zeros(twin.nq)
    q_pin[order] = q
    J = pin.computeFrameJacobian(
        twin, twin.createData(), q_pin, twin.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED
    )
    return J[:, order]


def test_standing_means_level_soles_below_the_centre_of_mass():
    model = load_robot("asimo")
    legs = [limb for limb in find_limbs(model) if limb.kind == "foot"]
    soles = [find_sole(model, leg, None) for leg in legs]
    q = stand(model, reach.rest_positions(model), legs, soles)
    twin = pin_model(model.source, "floating")
    data = twin.createData()
    order = [twin.joints[twin.getJointId(joint)].idx_q for joint in model.joint_names]
    q_pin = pin.neutral(twin)
    q_pin[order] = q[7:]
    com = pin.centerOfMass(twin, data, q_pin)
    np.testing.assert_allclose(center_of_mass(model, q), com, atol=1e-9)
    pin.framesForwardKinematics(twin, data, q_pin)
    feet = [data.oMf[twin.getFrameId(sole.frame)] for sole in soles]
    for foot in feet:
        np.testing.assert_allclose(foot.rotation[:, 2], [0, 0, 1], atol=2e-3)
    assert abs(feet[0].translation[2] - feet[1].translation[2]) < 1e-3
    middle = np.mean([foot.translation for foot in feet], axis=0)
    assert abs(com[1] - middle[1]) < 0.01 and abs(com[0] - middle[0]) < 0.05
    knees = [q[7 + model.joint_names.index(f"{side}_knee_pitch")] for side in ("left", "right")]
    assert min(knees) > 0.2


def test_what_cannot_stand_is_refused_by_name():
    with pytest.raises(StandingError, match="centre of mass"):
        propose(urdf_path("human"), "floating")  # its y axis is up


def test_effort_limits_bound_the_acceleration_as_inverse_dynamics_says():
    """Accelerate by what is promised along each axis: Pinocchio's torques stay inside, and one reaches its limit."""
    model, limbs = limbs_of("ur5_robot")
    q = reach.start_of_hands(model, limbs)
    linear, _ = gains.largest_accelerations(model, q, limbs[0], "pose")
    J = pin_jacobian(model, "ur5_robot", q, limbs[0].frame)
    twin = pin_model(urdf_path("ur5_robot").read_text())
    data = twin.createData()
    shares = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            a = np.linalg.solve(J, sign * linear * np.eye(6)[axis])
            tau = pin.rnea(twin, data, q, np.zeros(6), a)
            shares.append(np.abs(tau) / model.effort_limits)
    worst = np.max(shares)
    assert worst <= gains.EFFORT_SCALE + 1e-6
    assert worst > 0.6 * gains.EFFORT_SCALE  # the bound adds the size of gravity, whatever its sign


def test_a_slower_loop_is_softer():
    assert gains.loop_stiffness(500.0) < 0.6 * gains.loop_stiffness(1000.0)
    fast, slow = (propose(urdf_path("ur5_robot"), rate=rate).controller for rate in (1000.0, 250.0))
    assert slow["tool"]["stiffness"][0] < fast["tool"]["stiffness"][0]


@pytest.mark.parametrize("name", ["ur5_robot", "ur10_robot", "panda", "kinova"])
def test_an_arm_starts_above_the_plane_of_its_base_without_a_warning_of_numpy(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        proposal = propose(urdf_path(name))
    q = np.array(proposal.controller["posture"]["positions"])
    assert frame_pose(proposal.model, q, proposal.controller["tool"]["frame"])[0][2] > 0.1


def test_the_joint_that_limits_the_speed_is_named_and_reaches_its_limit():
    """Move along each axis at the speed that is promised: one joint, the one that is named, is at its limit."""
    model, limbs = limbs_of("ur5_robot")
    q = reach.start_of_hands(model, limbs)
    (linear, _), joint = gains.largest_speeds(model, q, limbs[0], "pose")
    J = frame_jacobian(model, q, limbs[0].frame)[:, list(limbs[0].joints)]
    limits = np.minimum(model.velocity_limits, gains.FASTEST)[: len(limbs[0].joints)]
    # the joint speeds of least norm as shares of their limits, by SciPy's least squares
    shares = [scipy.linalg.lstsq(J * limits, linear * e)[0] for e in np.eye(6)[:3]]
    assert np.abs(shares).max() == pytest.approx(1.0)
    assert np.abs(shares).max(axis=0).argmax() == joint
    notes = [
        note for note in propose(urdf_path("ur5_robot")).notes if note.taken.startswith("speed")
    ]
    assert re.search(r"40% of the .* m/s at which \w+_joint reaches its velocity", notes[0].reason)


def test_a_finger_of_one_joint_moves_at_the_speed_of_its_arc():
    """Its tip moves along one direction only: the others do not slow it down."""
    text = """<robot name="finger"><link name="palm"/><link name="tip"><inertial><origin xyz="0.05 0 0"/>
      <mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="tool"/><joint name="bend" type="revolute"><parent link="palm"/><child link="tip"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="2"/></joint>
      <joint name="end" type="fixed"><parent link="tip"/><child link="tool"/><origin xyz="0.1 0 0"/>
      </joint></robot>"""
    model = load_quietly(text)
    (limb,) = find_limbs(model)
    (linear, _), joint = gains.largest_speeds(model, np.array([0.001]), limb, "position")
    assert linear == pytest.approx(2.0 * 0.1) and joint == 0


def test_a_forearm_without_a_hand_is_turned_for_two_of_its_joints_do_not_move_its_elbow():
    """As on Unitree's H1: the frame of the last link lies on the axes of the last two joints."""
    model = load_quietly(forearm())
    (limb,) = find_limbs(model)
    assert len(limb.joints) == 4 and reach.task_rows(model, limb) == "orientation"
    values = propose(forearm()).controller["tool"]
    assert values["rows"] == "orientation" and "speed" not in values
    # no joint has to turn faster than its limit, 2 rad/s, for the worst axis
    assert 0.05 < values["angular_speed"] <= 1.5


def test_what_a_trial_softens_is_softened_once():
    full, half = (
        propose(urdf_path("go2"), "floating", softer=each).controller for each in (1.0, 0.5)
    )
    for task in ("com", "trunk"):
        ratio = half[task]["stiffness"][0] / full[task]["stiffness"][0]
        assert ratio == pytest.approx(0.5, abs=0.05), task
