"""The SDF world: physics, systems, light, ground and the robot."""

from __future__ import annotations

from copy import deepcopy
from xml.etree.ElementTree import Element

import numpy as np

from ..model import Model
from .generation import Generation
from .robot import RobotSdf
from .settings import WorldSettings
from .xml import add, add_pose

__all__ = ["add_force_systems", "add_odometry", "world_sdf"]


def world_sdf(model: Model, robot: RobotSdf, settings: WorldSettings) -> Element:
    """The <world> with the robot in it; the server loads nothing besides the systems named here."""
    world = Element("world", {"name": settings.world})
    physics = add(world, "physics", name="physics", type="dart")
    add(physics, "max_step_size", [settings.step])
    add(physics, "real_time_factor", [settings.real_time_factor])
    for system in ("Physics", "UserCommands", "SceneBroadcaster"):
        _add_plugin(world, settings.generation, system)
    add(world, "gravity", model.gravity)
    _add_light(world)
    if settings.has_ground(model):
        _add_ground(world, settings)
    world.append(deepcopy(robot.element))
    return world


def add_force_systems(robot: RobotSdf, generation: Generation) -> None:
    """Joint states out, and one force topic a joint in."""
    _add_plugin(robot.element, generation, "JointStatePublisher")
    for name in robot.joints.values():
        add(_add_plugin(robot.element, generation, "ApplyJointForce"), "joint_name", name)


def add_odometry(robot: RobotSdf, settings: WorldSettings) -> None:
    """The pose of a floating base in every step, in three dimensions."""
    plugin = _add_plugin(robot.element, settings.generation, "OdometryPublisher")
    add(plugin, "odom_frame", "odom")
    add(plugin, "robot_base_frame", robot.base_link)
    add(plugin, "dimensions", 3)
    # Twice the rate of the steps: a period that is rounded up would leave out every other step.
    add(plugin, "odom_publish_frequency", [2.0 / settings.step])


def _add_plugin(parent: Element, generation: Generation, system: str) -> Element:
    filename, name = generation.plugin(system)
    return add(parent, "plugin", filename=filename, name=name)


def _add_light(world: Element) -> None:
    light = add(world, "light", name="sun", type="directional")
    add(light, "pose", "0 0 10 0 0 0")
    add(light, "cast_shadows", True)
    add(light, "diffuse", "0.9 0.9 0.9 1")
    add(light, "specular", "0.2 0.2 0.2 1")
    add(light, "direction", "-0.4 0.2 -0.9")


def _add_ground(world: Element, settings: WorldSettings) -> None:
    normal = np.array(settings.normal) / np.linalg.norm(settings.normal)
    ground = add(world, "model", name="ground_plane")
    add(ground, "static", True)
    add_pose(ground, np.eye(3), settings.height * normal)
    link = add(ground, "link", name="ground")
    for tag in ("collision", "visual"):
        shape = add(link, tag, name=tag)
        plane = add(add(shape, "geometry"), "plane")
        add(plane, "normal", normal)
        add(plane, "size", "100 100")
        if tag == "visual":
            material = add(shape, "material")
            for key in ("ambient", "diffuse"):
                add(material, key, "0.8 0.8 0.8 1")
        else:  # a contact has the lower friction of its two shapes, and the robot's is 1
            friction = add(add(add(shape, "surface"), "friction"), "ode")
            for key in ("mu", "mu2"):
                add(friction, key, [settings.friction])
