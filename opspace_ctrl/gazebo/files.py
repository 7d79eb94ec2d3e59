# SPDX-License-Identifier: Apache-2.0
"""All the files of a robot in Gazebo."""

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import yaml

from ..errors import GazeboError, listed
from ..model import Model
from . import bridge, ros2_control
from .robot import RobotSdf, robot_sdf
from .settings import WorldSettings
from .world import add_force_systems, add_odometry, world_sdf
from .xml import SDF_VERSION, add, document, xml_text

WORLD_FILE, URDF_FILE, TOPICS_FILE = "world.sdf", "robot.urdf", "ros_gz_bridge.yaml"
MODEL_FILE, CONFIG_FILE = "model.sdf", "model.config"
# The second with ros2_control, and then the first for a floating base alone.
BRIDGE_FILE, CONTROLLERS_FILE = "bridge_node.yaml", "controllers.yaml"
NAMES = (
    WORLD_FILE,
    URDF_FILE,
    TOPICS_FILE,
    MODEL_FILE,
    CONFIG_FILE,
    BRIDGE_FILE,
    CONTROLLERS_FILE,
)  # all that are ever written
FIRST_LINE = "# written by `opspace gazebo`\n"  # of YAML files


def gazebo_files(
    model: Model, settings: WorldSettings, folder: Path
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files that Gazebo and the bridges read, to be written into `folder`.

    world.sdf: all that the server needs. model.sdf, model.config: the robot alone, for a world of your own. robot.urdf:
    what robot_description says. ros_gz_bridge.yaml, bridge_node.yaml (or controllers.yaml): what connects it with ROS.

    Args:
        model: the robot.
        settings: the world.
        folder: where they will lie; gz_ros2_control wants the full path of its parameters.

    Returns:
        {name: text} and sentences on what Gazebo cannot have as the model says.

    Raises:
        GazeboError: the robot cannot be expressed in Gazebo.
        ConfigurationError: the start is no configuration of the model.
    """
    start = settings.start_of(model)
    floating = bool(model.is_base_coordinate.any())
    joints = model.nq - len(model.joint_names)  # where their coordinates begin; all have one
    placed = start.copy()
    if settings.ros2_control:  # it sets the start itself, and its joint zeros are the URDF's
        placed[joints:] = 0.0
    robot = robot_sdf(model, placed, settings.folder)
    files = {URDF_FILE: str(model.source)}
    if floating:
        add_odometry(robot, settings)
    if settings.ros2_control:
        files |= _with_ros2_control(model, robot, settings, start[joints:], folder)
    else:
        add_force_systems(robot, settings.generation)
    if floating or not settings.ros2_control:
        parameters = bridge.bridge_node_parameters(model, robot, settings, floating)
        files[BRIDGE_FILE] = FIRST_LINE + bridge.parameter_file(parameters)
    files[TOPICS_FILE] = FIRST_LINE + bridge.topic_file(
        bridge.bridged_topics(robot, settings, floating)
    )
    files[WORLD_FILE] = document(world_sdf(model, robot, settings))
    files[MODEL_FILE] = document(robot.element)
    files[CONFIG_FILE] = _model_config(robot.name)
    return files, robot.notes


def _with_ros2_control(
    model: Model, robot: RobotSdf, settings: WorldSettings, positions: np.ndarray, folder: Path
) -> dict[str, str]:
    """The system inside Gazebo, the controllers, and the URDF that names the hardware."""
    renamed = [joint for joint, name in robot.joints.items() if joint != name]
    if renamed:
        raise GazeboError(
            f"gz_ros2_control wants Gazebo's own joint names; SDF cannot name {listed(renamed)}"
        )
    generation = settings.generation
    parameters = (folder / CONTROLLERS_FILE).resolve()
    ros2_control.add_system(
        robot.element,
        generation.control_library,
        generation.control_system,
        str(parameters),
        settings.namespace,
    )
    start = {joint: float(position) for joint, position in zip(robot.joints, positions)}
    written = ros2_control.controllers(settings.commanded(model), round(1.0 / settings.step))
    return {
        CONTROLLERS_FILE: FIRST_LINE + yaml.safe_dump(written, sort_keys=False, width=120),
        URDF_FILE: ros2_control.urdf_with_hardware(str(model.source), generation.hardware, start),
    }


def _model_config(name: str) -> str:
    config = Element("model")
    add(config, "name", name)
    add(config, "sdf", MODEL_FILE, version=SDF_VERSION)
    add(config, "description", "written by `opspace gazebo`")
    return xml_text(config)
