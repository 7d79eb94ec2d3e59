# SPDX-License-Identifier: Apache-2.0
"""MJCF through MuJoCo's compiler: inertia, bias, Jacobians and poses are MuJoCo's own; every method carries them."""

from __future__ import annotations

import sys
import warnings

import mujoco
import numpy as np
import pytest
from helpers.osim_cases import Dense
from oracles.reference import Reference, assert_close, derived_tolerance
from scipy.spatial.transform import Rotation

from opspace_ctrl import (
    OperationalSpace,
    bias_forces,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    load_mjcf,
    mass_matrix,
)
from opspace_ctrl.dynamics import forward_methods
from opspace_ctrl.errors import (
    ConfigurationError,
    GazeboError,
    MethodError,
    MjcfError,
    MjcfWarning,
    SingularInertiaError,
    SourceError,
    UrdfSyntaxError,
)
from opspace_ctrl.gazebo.robot import robot_sdf
from opspace_ctrl.model import JointType
from opspace_ctrl.osim import methods
from opspace_ctrl.sim.simulator import Simulator

ARM = """<mujoco model="arm"><compiler angle="radian"/><option gravity="0.3 -0.2 -9.7"/><worldbody>
  <geom type="plane" size="1 1 1"/>
  <body name="shoulder" pos="0.1 0 0.4" quat="0.9 0.1 0.3 0.2"><joint name="pan" axis="0 0.6 0.8"
      pos="0.02 -0.03 0.1" armature="0.2" damping="0.5" frictionloss="0.1" range="-1 2" ref="0.4"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.05"/>
    <site name="mark" pos="0.1 0.2 0.3" quat="1 2 3 4"/>
    <body name="upper" pos="0.3 0 0.1"><joint name="lift" type="slide" axis="1 0 1" ref="0.1" range="-0.2 0.5"/>
      <joint name="turn" axis="1 0 0" pos="0 0.1 0"/><joint name="tilt" axis="0 1 0" pos="0.05 0 0"/>
      <inertial mass="2" pos="0.1 0.02 0" fullinertia="0.03 0.04 0.05 0.001 0.002 0.003"/>
      <body name="mount" pos="0.2 0 0" quat="1 0 0 1"><geom type="box" size="0.02 0.03 0.04" pos="0 0 0.1"/>
        <body name="hand" pos="0 0 0.2"><joint name="wrist" axis="0 0 1"/>
          <geom type="sphere" size="0.06" pos="0.02 0 0"/>
          <site name="hand" pos="0 0 0.1"/></body></body></body></body></worldbody>
  <actuator><motor joint="pan" gear="5" forcerange="-2 2" ctrlrange="-9 9"/>
    <motor joint="pan" ctrlrange="-3 4" gear="2"/>
    <position joint="wrist" kp="10" forcerange="-7 7"/><motor joint="turn"/></actuator></mujoco>"""

LIMB = """<body name="{s}_upper_arm" pos="0 {y} 0.3"><joint name="{s}_shoulder" type="ball" pos="0 0 0.02"
    armature="0.01" damping="0.2"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
  <body name="{s}_lower_arm" pos="0.3 0 0"><joint name="{s}_elbow" axis="0 1 0" range="-120 0"/>
    <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03"/><site name="{s}_hand" pos="0.25 0 0"/></body></body>
  <body name="{s}_thigh" pos="0 {y} -0.2"><joint name="{s}_hip" type="ball"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.06"/>
  <body name="{s}_shin" pos="0 0 -0.4"><joint name="{s}_knee" axis="0 1 0" range="0 150"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
  <body name="{s}_foot" pos="0 0 -0.42"><joint name="{s}_ankle_y" axis="0 1 0"/>
    <joint name="{s}_ankle_x" axis="1 0 0"/>
    <geom type="box" size="0.1 0.05 0.02" pos="0.03 0 0"/><site name="{s}_sole"/></body></body></body>"""
HUMANOID = (
    """<mujoco model="humanoid"><worldbody><body name="pelvis" pos="0 0 1"><freejoint name="root"/>
  <geom type="box" size="0.1 0.15 0.1"/><body name="chest" pos="0 0 0.2"><joint name="waist" type="ball"/>
  <geom type="box" size="0.1 0.18 0.2" pos="0 0 0.2"/></body>"""
    + LIMB.format(s="left", y=0.15)
    + LIMB.format(s="right", y=-0.15)
    + "</body></worldbody></mujoco>"
)
FOREST = """<mujoco><worldbody>
  <body name="ball" pos="1 0 2"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
  <body name="pole"><joint name="ball_joint" type="ball"/>
    <geom type="capsule" fromto="0.1 0 0 0.4 0.1 0" size="0.05"/></body>
  <body name="crate" pos="0 1 1"><joint type="free"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
    <body><joint type="slide" axis="0 1 1"/><geom type="sphere" size="0.1" pos="0 0 0.3"/></body></body>
  </worldbody></mujoco>"""
TEXTS = {"arm": ARM, "humanoid": HUMANOID, "forest": FOREST}


class Peer:
    """MuJoCo's own results for the same file, in our coordinates."""

    def __init__(self, mj, model, q, v):
        self.mj, self.data = mj, mujoco.MjData(mj)
        qpos, self.T = q.copy(), np.eye(model.nv)  # qvel = T v
        rate = np.zeros(model.nv)  # dT/dt v
        for i, kind in enumerate(model.joint_type):
            at, w = model.q_index[i], model.v_index[i]
            if kind in (JointType.FLOATING, JointType.SPHERICAL):
                first = at + (3 if kind == JointType.FLOATING else 0)
                qpos[first : first + 4] = np.roll(q[first : first + 4], 1)
            if kind == JointType.FLOATING:
                R = Rotation.from_quat(q[at + 3 : at + 7]).as_matrix()
                self.T[w : w + 3, w : w + 3] = R
                rate[w : w + 3] = R @ np.cross(v[w + 3 : w + 6], v[w : w + 3])
        self.data.qpos[:], self.data.qvel[:] = qpos, self.T @ v
        mujoco.mj_forward(mj, self.data)
        full = np.zeros((mj.nv, mj.nv))
        for row, unit in zip(full, np.eye(mj.nv)):
            mujoco.mj_mulM(mj, self.data, row, unit)
        self.H = self.T.T @ full @ self.T
        self.h = self.T.T @ (self.data.qfrc_bias + full @ rate)

    def body(self, name):
        i, J = self.mj.body(name).id, np.zeros((6, self.mj.nv))
        mujoco.mj_jacBody(self.mj, self.data, J[:3], J[3:], i)
        return self.data.xpos[i], self.data.xmat[i].reshape(3, 3), J @ self.T

    def site(self, name):
        i, J = self.mj.site(name).id, np.zeros((6, self.mj.nv))
        mujoco.mj_jacSite(self.mj, self.data, J[:3], J[3:], i)
        return self.data.site_xpos[i], self.data.site_xmat[i].reshape(3, 3), J @ self.T


def random_mjcf(seed: int) -> str:
    """A tree of bodies with none to three joints each, a free or a held root, at odd places."""
    rng = np.random.default_rng(seed)

    def numbers(*x):
        return " ".join(f"{float(value):.6f}" for value in np.ravel(x))

    def joints():
        kinds = rng.choice(
            [["hinge", "slide"], ["slide", "slide"]][rng.integers(2)], rng.integers(0, 4)
        ).tolist()
        kinds += ["ball"] * (
            "hinge" not in kinds and rng.integers(2)
        )  # MuJoCo wants no hinge beside it
        return "".join(
            f'<joint type="{kind}" axis="{numbers(rng.normal(size=3))}" pos="{numbers(rng.uniform(-0.1, 0.1, 3))}" '
            f'armature="{0.1 * rng.integers(0, 2)}"/>'
            for kind in kinds
        )

    def body(depth):
        inside = "".join(body(depth + 1) for _ in range(rng.integers(0, 3) if depth < 4 else 0))
        return (
            f'<body pos="{numbers(rng.uniform(-0.4, 0.4, 3))}" quat="{numbers(rng.normal(size=4))}">{joints()}'
            f'<geom type="box" size="{numbers(rng.uniform(0.05, 0.2, 3))}" pos="{numbers(rng.uniform(-0.1, 0.1, 3))}" '
            f'quat="{numbers(rng.normal(size=4))}"/>{inside}</body>'
        )

    root = "<freejoint/>" if rng.integers(2) else '<joint axis="0 0 1"/>'
    limbs = "".join(body(0) for _ in range(2))
    return (
        f'<mujoco><worldbody><body name="root">{root}<geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0"/>{limbs}</body>'
        "</worldbody></mujoco>"
    )


def pair(text, seed=0):
    """Our model of a file and MuJoCo in a random state of it."""
    rng = np.random.default_rng(seed)
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    q, v = model.random_configuration(rng), rng.normal(size=model.nv)
    return model, Peer(mj, model, q, v), q, v


EVERY = [*TEXTS.values(), *map(random_mjcf, range(25))]


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_mass_matrix_bias_and_frames_are_those_of_mujoco(number):
    model, peer, q, v = pair(EVERY[number], number)
    assert (model.nq, model.nv) == (peer.mj.nq, peer.mj.nv)
    np.testing.assert_allclose(mass_matrix(model, q), peer.H, atol=1e-12 * np.abs(peer.H).max())
    np.testing.assert_allclose(
        bias_forces(model, q, v), peer.h, atol=1e-11 * max(1.0, np.abs(peer.h).max())
    )
    names = [peer.mj.body(i).name or f"body{i}" for i in range(peer.mj.nbody)]
    for i, name in enumerate(names):
        J = np.zeros((6, peer.mj.nv))
        mujoco.mj_jacBody(peer.mj, peer.data, J[:3], J[3:], i)
        position, quaternion = frame_pose(model, q, name)
        np.testing.assert_allclose(position, peer.data.xpos[i], atol=1e-12)
        R = Rotation.from_quat(quaternion).as_matrix()
        np.testing.assert_allclose(R, peer.data.xmat[i].reshape(3, 3), atol=1e-12)
        np.testing.assert_allclose(frame_jacobian(model, q, name), J @ peer.T, atol=1e-11)
    assert model.total_mass == pytest.approx(peer.mj.body_mass.sum(), rel=1e-12)


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_every_method_carries_ball_joints_and_several_joints_a_body(number):
    model, _, q, v = pair(EVERY[number], number)
    reference = Reference(model, q, v)
    H, tau = reference.mass_matrix(), np.random.default_rng(number).normal(size=model.nv)
    h, _ = reference.inverse_dynamics()
    assert_close(mass_matrix(model, q), H, reference.mass_matrix_scale())
    expected = np.linalg.solve(H, tau - h)
    for method in forward_methods(model):
        found = forward_dynamics(model, q, v, tau, method=method)
        assert_close(found, expected, np.abs(expected).max(), derived_tolerance(H))
    ends = [model.body_names[-1], (model.body_names[len(model.body_names) // 2], "orientation")]
    ospace = OperationalSpace(model, ends, "dense")
    dense = Dense(H, ospace.update(q).jacobian.copy())
    for method in methods(model):
        ospace.method = method
        found = ospace.update(q).inertia_inv
        assert_close(found, dense.inertia_inv, np.abs(dense.inertia_inv).max(), dense.tolerance)


def test_sites_and_bodies_are_frames_and_a_site_is_told_from_a_body_of_its_name():
    model, peer, q, _ = pair(ARM)
    assert {"world", "shoulder", "upper", "mount", "hand", "mark", "hand/site"} <= set(
        model.frame_names
    )
    for frame, site in (("mark", "mark"), ("hand/site", "hand")):
        position, R, J = peer.site(site)
        found, quaternion = frame_pose(model, q, frame)
        np.testing.assert_allclose(found, position, atol=1e-12)
        np.testing.assert_allclose(Rotation.from_quat(quaternion).as_matrix(), R, atol=1e-12)
        np.testing.assert_allclose(frame_jacobian(model, q, frame), J, atol=1e-12)


def test_limits_efforts_armature_damping_and_gravity_are_those_of_the_file():
    model = load_mjcf(ARM)
    assert model.joint_names == ("pan", "lift", "turn", "tilt", "wrist") and model.name == "arm"
    np.testing.assert_allclose(model.position_limits[:2], [[-1.0, 2.0], [-0.2, 0.5]])
    assert np.isinf(model.position_limits[2:]).all() and np.isinf(model.velocity_limits).all()
    np.testing.assert_allclose(model.effort_limits, [5 * 2 + 2 * 3, np.inf, np.inf, np.inf, 7])
    np.testing.assert_allclose(model.armature, [0.2, 0, 0, 0, 0])
    np.testing.assert_allclose(model.damping, [0.5, 0, 0, 0, 0])
    np.testing.assert_allclose(model.friction, [0.1, 0, 0, 0, 0])
    np.testing.assert_allclose(model.gravity, [0.3, -0.2, -9.7])
    off = ARM.replace("<worldbody>", '<option><flag gravity="disable"/></option><worldbody>')
    assert (
        not load_mjcf(off).gravity.any() and load_mjcf(off, gravity=(0, 0, -1)).gravity[2] == -1.0
    )
    other = load_mjcf(ARM, gravity=(0, 0, 0), armature={"turn": 0.7}, locked={"lift": 0.3})
    np.testing.assert_allclose(other.armature, [0.2, 0.7, 0, 0])
    assert not other.gravity.any() and other.joint_names == ("pan", "turn", "tilt", "wrist")
    q = np.array([0.2, 0.3, -0.4, 0.5, 0.6])
    np.testing.assert_allclose(
        frame_pose(other, np.delete(q, 1), "hand")[0], frame_pose(model, q, "hand")[0], atol=1e-12
    )


def test_a_base_can_be_held_or_freed():
    held = load_mjcf(HUMANOID, base="fixed")
    assert held.nv == load_mjcf(HUMANOID).nv - 6 and not held.is_base_coordinate.any()
    np.testing.assert_allclose(frame_pose(held, held.neutral(), "pelvis")[0], [0, 0, 1])
    stand = ARM.replace(
        '<body name="shoulder"',
        '<body name="stand"><geom type="sphere" size="0.1"/><body name="shoulder"',
    )
    stand = stand.replace("</body></worldbody>", "</body></body></worldbody>")
    free = load_mjcf(stand, base="floating")
    assert free.is_base_coordinate.sum() == 6 and "base_invariant" in methods(free)
    with pytest.raises(MjcfError, match="'shoulder' hangs on the world by a joint"):
        load_mjcf(ARM, base="floating")


def test_the_exponential_and_the_logarithm_of_a_ball_joint_are_inverse():
    model, rng = load_mjcf(HUMANOID), np.random.default_rng(3)
    q = model.random_configuration(rng)
    v = rng.uniform(-1.5, 1.5, model.nv)
    np.testing.assert_allclose(model.difference(q, model.integrate(q, v, 1.0)), v, atol=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rkmk4"])
def test_a_ball_joint_moves_in_the_simulator_as_in_mujoco(integrator):
    """Its Euler step is ours, to rounding; its RK4 is another of the fourth order."""
    text = HUMANOID.replace('<freejoint name="root"/>', "")
    theirs = "RK4" if integrator == "rkmk4" else "Euler"
    option = f'<option integrator="{theirs}" timestep="0.0005"><flag contact="disable" limit="disable"/></option>'
    mujoco_text = text.replace("<worldbody>", option + "<worldbody>")
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(mujoco_text)
    sim = Simulator(
        model,
        step=0.0005,
        integrator=integrator,
        joint_limits=False,
        effort_limits=False,
    )
    rng = np.random.default_rng(4)
    q, v = (
        model.integrate(model.neutral(), rng.uniform(-0.5, 0.5, model.nv)),
        rng.normal(size=model.nv),
    )
    sim.reset(q, v)
    data = Peer(mj, model, q, v).data
    for _ in range(400):
        sim.step(np.zeros(len(sim.tau)))
        mujoco.mj_step(mj, data)
    mujoco.mj_forward(mj, data)
    ours = Peer(mj, model, sim.q, sim.v).data
    tolerance = 1e-8 if integrator == "rkmk4" else 1e-11
    np.testing.assert_allclose(ours.xpos, data.xpos, atol=tolerance)
    np.testing.assert_allclose(ours.qvel, data.qvel, atol=20 * tolerance)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("<mujoco><worldbody></mujoco>", UrdfSyntaxError, "XML"),
        ("<mujoco><nonsense/></mujoco>", MjcfError, "nonsense"),
        ('<robot name="x"/>', MjcfError, "load_urdf"),
        ("no_such_file.xml", SourceError, "no_such_file"),
        (
            '<mujoco><worldbody><body name="b"><joint name="j"/><inertial mass="1" pos="0 0 0" diaginertia="0 0 0"/>'
            "</body></worldbody></mujoco>",
            (MjcfError, SingularInertiaError),
            "inertia",
        ),
    ],
)
def test_what_is_no_mjcf_is_refused_by_name(text, error, words):
    with pytest.raises(error, match=words):
        load_mjcf(text)


def test_engines_that_are_given_a_urdf_refuse_by_name():
    model = load_mjcf(ARM)
    with pytest.raises(MethodError, match="not from URDF"):
        Simulator(model, engine="dart")
    with pytest.raises(GazeboError, match="not from URDF"):
        robot_sdf(model, model.neutral())


def test_a_wrong_base_names_the_valid_ones():
    with pytest.raises(ConfigurationError, match="'fixed', 'floating'"):
        load_mjcf(ARM, base="hanging")


def test_what_a_model_does_not_have_is_warned_of():
    text = ARM.replace('name="wrist"', 'name="wrist" stiffness="3"').replace(
        "</mujoco>", '<equality><joint joint1="turn" joint2="tilt"/></equality></mujoco>'
    )
    with pytest.warns(MjcfWarning, match="no equality constraints, no joint springs"):
        load_mjcf(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_mjcf(ARM)


def test_without_mujoco_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(SourceError, match=r"pip install 'opspace_ctrl\[mujoco\]'"):
        load_mjcf(ARM)


def test_a_file_finds_what_it_includes(tmp_path):
    (tmp_path / "hand.xml").write_text(
        '<mujoco><body name="b"><joint/><geom type="sphere" size="0.1" pos="1 0 0"/></body></mujoco>'
    )
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco model="included"><worldbody><include file="hand.xml"/></worldbody></mujoco>'
    )
    assert load_mjcf(path).body_names == load_mjcf(str(path)).body_names == ("b",)


@pytest.mark.parametrize("name", ["a&#10;ok limits", "a\u202eb", "a\u2028b", "x" * 2000])
def test_a_name_that_could_write_on_a_terminal_is_refused(name):
    text = f'<mujoco><worldbody><body name="{name}"><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    with pytest.raises(MjcfError, match="printable") as caught:
        load_mjcf(text)
    assert str(caught.value).isprintable()
