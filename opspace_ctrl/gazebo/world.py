# SPDX-License-Identifier: Apache-2.0
"""The SDF world: physics, systems, light, ground and the robot."""

from copy import deepcopy
from xml.etree.ElementTree import Element

import numpy as np

from ..model import Model
from .generation import Generation
from .robot import RobotSdf
from .settings import WorldSettings
from .xml import Content, add, add_pose

SUN: Content = {
    "pose": "0 0 10 0 0 0",
    "cast_shadows": True,
    "diffuse": "0.9 0.9 0.9 1",
    "specular": "0.2 0.2 0.2 1",
    "direction": "-0.4 0.2 -0.9",
}
GREY: Content = {"ambient": "0.8 0.8 0.8 1", "diffuse": "0.8 0.8 0.8 1"}


def world_sdf(model: Model, robot: RobotSdf, settings: WorldSettings) -> Element:
    """The <world> with the robot in it; the server loads nothing besides the systems named here."""
    world = Element("world", {"name": settings.world})
    pace = {"max_step_size": settings.step, "real_time_factor": settings.real_time_factor}
    add(
        world, "physics", {tag: [value] for tag, value in pace.items()}, name="physics", type="dart"
    )
    for system in ("Physics", "UserCommands", "SceneBroadcaster"):
        _add_plugin(world, settings.generation, system)
    add(world, "gravity", model.gravity)
    add(world, "light", SUN, name="sun", type="directional")
    if settings.has_ground(model):
        _add_ground(world, settings)
    world.append(deepcopy(robot.element))
    return world


def add_force_systems(robot: RobotSdf, generation: Generation) -> None:
    """Joint states out, and one force topic a joint in."""
    _add_plugin(robot.element, generation, "JointStatePublisher")
    for name in robot.joints.values():
        _add_plugin(robot.element, generation, "ApplyJointForce", {"joint_name": name})


def add_odometry(robot: RobotSdf, settings: WorldSettings) -> None:
    """The pose of a floating base in every step, in three dimensions."""
    content: dict[str, Content] = {
        "odom_frame": "odom",
        "robot_base_frame": robot.base_link,
        "dimensions": 3,
        # twice the rate of the steps: a period that is rounded up would leave out every other step
        "odom_publish_frequency": [2.0 / settings.step],
    }
    _add_plugin(robot.element, settings.generation, "OdometryPublisher", content)


def _add_plugin(
    parent: Element, generation: Generation, system: str, content: Content = None
) -> None:
    filename, name = generation.plugin(system)
    add(parent, "plugin", content, filename=filename, name=name)


def _add_ground(world: Element, settings: WorldSettings) -> None:
    normal = np.array(settings.normal) / np.linalg.norm(settings.normal)
    ground = add(world, "model", name="ground_plane")
    add(ground, "static", True)
    add_pose(ground, np.eye(3), settings.height * normal)
    link = add(ground, "link", name="ground")
    geometry: Content = {"plane": {"normal": normal, "size": "100 100"}}
    # a contact has the lower friction of its two shapes, and the robot's is 1
    rough: Content = {"friction": {"ode": {"mu": [settings.friction], "mu2": [settings.friction]}}}
    add(link, "collision", {"geometry": geometry, "surface": rough}, name="collision")
    add(link, "visual", {"geometry": geometry, "material": GREY}, name="visual")
