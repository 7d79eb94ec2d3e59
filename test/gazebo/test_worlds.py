# SPDX-License-Identifier: Apache-2.0
"""The SDF that `opspace gazebo` writes, read by libsdformat (in Drake's wheel) and compared with our own model."""

import re
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import yaml
from helpers.support import load_quietly, urdf_path
from oracles.drake_twin import DrakeTwin

from opspace_ctrl import bias_forces, frame_pose, load_robot, load_urdf, mass_matrix
from opspace_ctrl.errors import ConfigurationError, GazeboError
from opspace_ctrl.gazebo import GENERATIONS, WorldSettings, gazebo_files
from opspace_ctrl.gazebo.inertia import physical
from opspace_ctrl.gazebo.meshes import find_mesh
from opspace_ctrl.gazebo.names import unique_names
from opspace_ctrl.model.rotations import from_quaternion
from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE, check_bridge
from opspace_ctrl.parameters import checked

SHIPPED = ("arm7", "asimo", "free_flyer")
WHEEL = (
    ("ur5_robot", "fixed"),
    ("xarm7", "fixed"),
    ("solo12", "floating"),
    ("talos_reduced", "floating"),
)
ROBOTS = [(name, "") for name in SHIPPED] + list(WHEEL)


def load(name, base):
    return load_quietly(urdf_path(name), base) if base else load_robot(name)


def files_of(model, folder=Path("somewhere"), **settings):
    return gazebo_files(model, WorldSettings(**settings), folder)[0]


def random_start(model, seed=3):
    return model.random_configuration(np.random.default_rng(seed))


@pytest.fixture(scope="module", params=ROBOTS, ids=lambda case: case[0])
def twin(request):
    """A robot begun at a random configuration, and Drake's reading of its SDF."""
    name, base = request.param
    model = load(name, base)
    start = random_start(model)
    return DrakeTwin(model, files_of(model, start=start)["model.sdf"], start)


def test_mass_matrix_and_gravity_forces_of_the_sdf_are_the_models(twin):
    model = twin.ours
    rng = np.random.default_rng(5)
    for _ in range(5):
        q = model.random_configuration(rng)
        H, g = mass_matrix(model, q), bias_forces(model, q, np.zeros(model.nv))
        assert np.abs(twin.mass_matrix(q) - H).max() <= 1e-10 * np.abs(H).max()
        assert np.abs(twin.gravity_forces(q) - g).max() <= 1e-10 * max(np.abs(g).max(), 1.0)


def test_every_frame_begins_where_the_model_puts_it(twin):
    model = twin.ours
    twin.put(twin.start)
    for name in model.frame_names:
        position, quaternion = frame_pose(model, twin.start, name)
        p, R = twin.frame_pose(name)
        assert np.allclose(p, position, rtol=0.0, atol=1e-12)
        assert np.allclose(R, from_quaternion(quaternion), rtol=0.0, atol=1e-12)


def test_joint_limits_and_damping_of_the_sdf_are_the_models(twin):
    model, first = twin.ours, 6 if twin.floating else 0
    efforts = {
        twin.plant.get_joint_actuator(index).joint().name(): twin.plant.get_joint_actuator(
            index
        ).effort_limit()
        for index in twin.plant.GetJointActuatorIndices()
    }
    for k, name in enumerate(model.joint_names):
        joint, offset = twin.joint(name), twin.start[twin._bases() + k]
        limits = np.array([joint.position_lower_limit(), joint.position_upper_limit()])
        assert np.allclose(limits + offset, model.position_limits[k], rtol=0.0, atol=1e-12)
        assert joint.velocity_upper_limit() == model.velocity_limits[k]
        assert joint.velocity_lower_limit() == -model.velocity_limits[k]
        assert joint.default_damping() == model.damping[first + k]
        assert efforts.get(name, 0.0) == model.effort_limits[k]


@pytest.mark.parametrize("name", SHIPPED)
def test_friction_and_damping_are_written_as_the_model_has_them(name):
    model = load_robot(name)
    sdf = ET.fromstring(files_of(model)["model.sdf"])
    first = model.nv - len(model.joint_names)
    for k, joint in enumerate(model.joint_names):
        dynamics = sdf.find(f".//joint[@name='{joint}']/axis/dynamics")
        assert float(dynamics.findtext("friction")) == model.friction[first + k]
        assert float(dynamics.findtext("damping")) == model.damping[first + k]


def canonical(element):
    return ET.canonicalize(ET.tostring(element, encoding="unicode"), strip_text=True)


@pytest.mark.parametrize("gazebo", GENERATIONS)
@pytest.mark.parametrize("name", SHIPPED)
def test_the_world_holds_the_same_model_the_step_and_the_gravity(name, gazebo):
    model = load_robot(name)
    files = files_of(model, gazebo=gazebo, step=2e-3, start=random_start(model))
    world = ET.fromstring(files["world.sdf"]).find("world")
    assert float(world.findtext("physics/max_step_size")) == 2e-3
    assert np.array_equal(np.array(world.findtext("gravity").split(), float), model.gravity)
    inside = world.find(f"model[@name='{model.name}']")
    alone = ET.fromstring(files["model.sdf"]).find("model")
    assert canonical(inside) == canonical(alone)
    assert (world.find("model[@name='ground_plane']") is not None) == bool(model.gravity.any())


@pytest.mark.parametrize("name", SHIPPED)
def test_drake_reads_the_world_too(name):
    model = load_robot(name)
    start = random_start(model)
    twin = DrakeTwin(model, files_of(model, start=start)["world.sdf"], start)
    H = mass_matrix(model, start)
    assert np.abs(twin.mass_matrix(start) - H).max() <= 1e-10 * np.abs(H).max()


def systems(files):
    return [
        (plugin.get("filename"), plugin.get("name"), plugin.findtext("joint_name"))
        for plugin in ET.fromstring(files["world.sdf"]).iter("plugin")
    ]


def test_systems_have_the_names_of_their_generation():
    model = load_robot("free_flyer")
    fortress, harmonic = (
        systems(files_of(model, gazebo=name)) for name in ("fortress", "harmonic")
    )
    assert (
        "ignition-gazebo-joint-state-publisher-system",
        "ignition::gazebo::systems::JointStatePublisher",
        None,
    ) in fortress
    assert (
        "gz-sim-odometry-publisher-system",
        "gz::sim::systems::OdometryPublisher",
        None,
    ) in harmonic
    assert (
        "gz-sim-apply-joint-force-system",
        "gz::sim::systems::ApplyJointForce",
        model.joint_names[0],
    ) in harmonic
    assert (
        "gz-sim-scene-broadcaster-system",
        "gz::sim::systems::SceneBroadcaster",
        None,
    ) in harmonic
    assert len(fortress) == len(harmonic)


@pytest.mark.parametrize("name", SHIPPED)
def test_there_is_one_force_system_a_joint_and_odometry_only_for_a_floating_base(name):
    model = load_robot(name)
    found = systems(files_of(model))
    assert [joint for *_, joint in found if joint] == list(model.joint_names)
    assert sum("Odometry" in system for _, system, _ in found) == bool(
        model.is_base_coordinate.any()
    )


def test_odometry_is_published_every_step_in_three_dimensions():
    files = files_of(load_robot("asimo"), step=3e-3)
    plugin = next(
        plugin
        for plugin in ET.fromstring(files["model.sdf"]).iter("plugin")
        if "Odom" in plugin.get("name")
    )
    assert plugin.findtext("dimensions") == "3"
    assert plugin.findtext("robot_base_frame") == "torso"
    period = int(1e9 / float(plugin.findtext("odom_publish_frequency")))
    assert period <= 3_000_000  # [ns], compared with the step as the system does


@pytest.mark.parametrize("gazebo, prefix", [("fortress", "ignition.msgs"), ("harmonic", "gz.msgs")])
def test_bridged_topics_fit_the_world(gazebo, prefix):
    model = load_robot("asimo")
    files = files_of(model, gazebo=gazebo, world="hall")
    entries = {
        entry["gz_topic_name"]: entry for entry in yaml.safe_load(files["ros_gz_bridge.yaml"])
    }
    assert set(entries) == {
        "/clock",
        "/world/hall/model/asimo/joint_state",
        "/model/asimo/odometry",
    } | {f"/model/asimo/joint/{joint}/cmd_force" for joint in model.joint_names}
    for topic, entry in entries.items():
        assert entry["gz_type_name"].startswith(prefix)
        assert entry["direction"] == ("ROS_TO_GZ" if topic.endswith("cmd_force") else "GZ_TO_ROS")
        assert re.fullmatch(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", entry["ros_topic_name"])
        # namespaces work
        assert entry["ros_topic_name"] == "/clock" or not entry["ros_topic_name"].startswith("/")


@pytest.mark.parametrize("name", SHIPPED)
def test_the_bridge_nodes_file_is_valid_for_its_parameter_table(name):
    model = load_robot(name)
    start = random_start(model)
    content = yaml.safe_load(files_of(model, start=start, step=2e-3)["bridge_node.yaml"])
    values = checked(BRIDGE_TABLE, content["/**"]["ros__parameters"])
    assert values["joints"] == values["gazebo_joints"] == list(model.joint_names)
    assert values["offsets"] == [float(x) for x in start[model.nq - len(model.joint_names) :]]
    assert values["floating"] == bool(model.is_base_coordinate.any())
    assert values["effort_limits"] == [float(x) for x in model.effort_limits]


MIMIC = """<robot name="gripper">
  <link name="palm"><inertial><mass value="1"/>
    <inertia ixx="1e-2" iyy="1e-2" izz="1e-2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><origin xyz="0 0.1 0.2"/><mass value="0.2"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><origin xyz="0 -0.1 0.2"/><mass value="0.3"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="left" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.1" effort="20" velocity="1"/></joint>
  <joint name="right" type="{right}"><parent link="left"/><child link="right"/><axis xyz="0 -1 0"/>
    <origin xyz="{origin}"/><limit lower="-0.1" upper="0.2" effort="20" velocity="1"/>{mimic}</joint>
</robot>"""


def test_a_mimic_follower_is_fixed_where_it_begins_and_said_so():
    model = load_urdf(
        MIMIC.format(
            right="prismatic",
            origin="0 0 0",
            mimic='<mimic joint="left" multiplier="2" offset="0.01"/>',
        )
    )
    start = np.array([0.04])
    files, notes = gazebo_files(model, WorldSettings(start=start), Path("out"))
    assert notes == ("joint right mimics another: it stands still at 0.09 in Gazebo",)
    welded = load_urdf(MIMIC.format(right="fixed", origin="0 -0.09 0", mimic=""))
    twin = DrakeTwin(welded, files["model.sdf"], start)
    H = mass_matrix(welded, start)
    assert np.allclose(twin.mass_matrix(start), H, rtol=1e-12)
    assert yaml.safe_load(files["bridge_node.yaml"])["/**"]["ros__parameters"]["joints"] == ["left"]


@pytest.mark.parametrize("follower", ["", '<dynamics damping="0.7" friction="0.2"/>'])
def test_a_leader_has_its_own_damping_and_friction_not_its_followers(follower):
    own = '<dynamics damping="0.3" friction="0.1"/>'
    xml = MIMIC.format(
        right="prismatic", origin="0 0 0", mimic=f'<mimic joint="left"/>{follower}'
    ).replace('velocity="1"/></joint>', f'velocity="1"/>{own}</joint>', 1)
    sdf = ET.fromstring(files_of(load_urdf(xml))["model.sdf"])
    dynamics = sdf.find(".//joint[@name='left']/axis/dynamics")
    assert (float(dynamics.findtext("damping")), float(dynamics.findtext("friction"))) == (0.3, 0.1)


def test_a_link_named_like_a_joint_gives_way():
    joints, links = unique_names(["left", "world", "a::b"], ["left", "left_link", "__model__"])
    assert joints == {"left": "left", "world": "world_", "a::b": "a_b"}
    assert links == {"left": "left_link", "left_link": "left_link_link", "__model__": "__model___"}


def test_continuous_joints_are_revolute_without_limits():
    xml = MIMIC.format(right="continuous", origin="0 0 0", mimic="")
    sdf = ET.fromstring(files_of(load_urdf(xml), start=[0.0, 2.0])["model.sdf"])
    joint = sdf.find(".//joint[@name='right']")
    assert joint.get("type") == "revolute"  # Gazebo's DART plugin makes other words fixed joints
    assert joint.find("axis/limit/lower") is None
    assert float(joint.findtext("axis/limit/effort")) == 20.0


@pytest.mark.parametrize(
    "mass, moments, valid",
    [
        (1.0, (0.1, 0.2, 0.25), True),
        (1.0, (0.1, 0.2, 0.31), False),
        (0.0, (0.0, 0.0, 0.0), False),
        (2.0, (0.0, 0.0, 0.0), False),
        (1.0, (0.3, 0.2, 0.1), True),
    ],
)
def test_inertias_are_made_possible_and_possible_ones_are_kept(mass, moments, valid):
    rotation = from_quaternion(np.array([0.1, 0.5, -0.3, np.sqrt(1 - 0.35)]))
    inertia = rotation @ np.diag(moments) @ rotation.T
    real_mass, real, changed = physical(mass, inertia)
    principal = np.linalg.eigvalsh(real)
    assert changed is not valid
    assert real_mass > 0.0 and principal[0] > 0.0 and principal[2] < principal[0] + principal[1]
    if valid:
        assert real_mass == mass and np.allclose(real, inertia, rtol=1e-8)


def test_a_massless_base_link_and_an_impossible_inertia_are_read_without_complaint():
    model = load_quietly(urdf_path("panda"))
    notes = gazebo_files(model, WorldSettings(), Path("out"))[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DrakeTwin(model, files_of(model)["model.sdf"], model.neutral())
    assert all(isinstance(note, str) for note in notes)


def test_what_gazebo_cannot_have_is_refused_by_name():
    planar = MIMIC.format(right="planar", origin="0 0 0", mimic="")
    with pytest.raises(GazeboError, match="'right' is planar"):
        files_of(load_urdf(planar))
    with pytest.raises(GazeboError, match="armature"):
        files_of(load_robot("arm7", armature=0.1))
    with pytest.raises(GazeboError, match="forest"):
        files_of(load_urdf([load_robot("arm7").source] * 2, prefixes=["a_", "b_"]))
    with pytest.raises(GazeboError, match="fortress, harmonic"):
        WorldSettings(gazebo="classic")
    with pytest.raises(GazeboError, match="step = 0.0"):
        WorldSettings(step=0.0)
    with pytest.raises(ConfigurationError):
        files_of(load_robot("arm7"), start=np.zeros(3))


def test_ros2_control_variant_names_hardware_controllers_and_start(tmp_path):
    model = load_robot("asimo")
    start = random_start(model)
    files = files_of(model, tmp_path, ros2_control=True, start=start, step=2e-3)
    control = ET.fromstring(files["robot.urdf"]).find("ros2_control")
    assert control.findtext("hardware/plugin") == "gz_ros2_control/GazeboSimSystem"
    value = "state_interface[@name='position']/param[@name='initial_value']"
    initial = {
        joint.get("name"): float(joint.findtext(value)) for joint in control.findall("joint")
    }
    assert initial == dict(zip(model.joint_names, start[7:]))
    assert all(
        joint.find("command_interface").get("name") == "effort"
        for joint in control.findall("joint")
    )
    parameters = yaml.safe_load(files["controllers.yaml"])
    manager = parameters["/**/controller_manager"]["ros__parameters"]
    assert manager["update_rate"] == 500
    assert (
        manager["effort_controller"]["type"]
        == "forward_command_controller/ForwardCommandController"
    )
    assert parameters["/**/effort_controller"]["ros__parameters"] == {
        "joints": list(model.joint_names),
        "interface_name": "effort",
    }
    plugin = next(
        plugin
        for plugin in ET.fromstring(files["model.sdf"]).iter("plugin")
        if plugin.get("filename") == "gz_ros2_control-system"
    )
    assert plugin.findtext("parameters") == str(tmp_path / "controllers.yaml")
    # the mean of OdometryPublisher is not for a controller, so our bridge relays the odometry, and nothing else
    relayed = checked(
        BRIDGE_TABLE, yaml.safe_load(files["bridge_node.yaml"])["/**"]["ros__parameters"]
    )
    assert relayed["floating"] and not relayed["joints"] and check_bridge(relayed) == []
    assert [entry["ros_topic_name"] for entry in yaml.safe_load(files["ros_gz_bridge.yaml"])] == [
        "/clock",
        "gazebo/odom",
    ]
    assert "bridge_node.yaml" not in files_of(load_robot("arm7"), tmp_path, ros2_control=True)


def test_ros2_control_variant_has_the_urdfs_joint_zeros_and_the_base_where_it_starts(tmp_path):
    model = load_robot("asimo")
    start = random_start(model)
    zero = start.copy()
    zero[7:] = 0.0
    twin = DrakeTwin(
        model, files_of(model, tmp_path, ros2_control=True, start=start)["model.sdf"], zero
    )
    assert np.allclose(twin.mass_matrix(start), mass_matrix(model, start), rtol=0.0, atol=1e-9)
    pose = twin.plant.EvalBodyPoseInWorld(
        twin.plant.CreateDefaultContext(), twin.plant.GetBodyByName("torso")
    )
    assert np.allclose(pose.translation(), start[:3], rtol=0.0, atol=1e-12)


def test_meshes_are_found_by_package_file_and_relative_path(tmp_path, monkeypatch):
    mesh = tmp_path / "my_robot" / "meshes" / "arm.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_text("solid")
    urdf_folder = tmp_path / "my_robot" / "urdf"
    urdf_folder.mkdir()
    assert find_mesh("package://my_robot/meshes/arm.stl", urdf_folder) == mesh
    assert find_mesh(mesh.as_uri()) == mesh
    assert find_mesh("../meshes/arm.stl", urdf_folder) == mesh
    assert find_mesh("package://my_robot/meshes/leg.stl", urdf_folder) is None
    assert find_mesh("http://somewhere/arm.stl", urdf_folder) is None
    assert find_mesh("package://my_robot/meshes/arm.stl") is None
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path))
    assert find_mesh("package://my_robot/meshes/arm.stl") == mesh


def test_shapes_keep_their_place_on_the_lumped_body_and_missing_meshes_are_named():
    path = urdf_path("panda")
    model = load_quietly(path)
    here, notes = gazebo_files(model, WorldSettings(folder=path.parent), Path("out"))
    assert not [note for note in notes if "mesh" in note]
    count = len(re.findall("<mesh ", str(model.source)))
    assert here["model.sdf"].count("<mesh>") == count > 0
    nowhere, notes = gazebo_files(model, WorldSettings(), Path("out"))
    assert len([note for note in notes if "was not found" in note]) > 0
    assert "<mesh>" not in nowhere["model.sdf"]
