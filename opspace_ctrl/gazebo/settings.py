# SPDX-License-Identifier: Apache-2.0
"""The settings of a Gazebo world, besides the robot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import GazeboError, listed, quoted
from ..model import Model
from .generation import GENERATIONS, Generation
from .names import sdf_name


@dataclass(frozen=True, eq=False)
class WorldSettings:
    """The world around a robot.

    Attributes:
        gazebo: a name of GENERATIONS.
        step: the world's step [s].
        real_time_factor: simulated over real time that the server aims at.
        start: q (nq,) the world begins with; None is the neutral configuration.
        world: name of the world.
        ground: whether there is a ground plane; None: where there is gravity.
        normal, height, friction: the plane's normal, its height along it [m], and its coefficient of friction.
        ros2_control: gz_ros2_control instead of one force topic a joint.
        namespace: of gz_ros2_control's nodes.
        joints: in the order of effort_controller/commands; empty: the model's. A joint that is left out gets no force.
        folder: where the meshes of relative paths and of packages beside the robot are looked for.
    """

    gazebo: str = "harmonic"
    step: float = 1e-3
    real_time_factor: float = 1.0
    start: np.ndarray | None = None
    world: str = "opspace"
    ground: bool | None = None
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    height: float = 0.0
    friction: float = 0.8
    ros2_control: bool = False
    namespace: str = ""
    joints: Sequence[str] = ()
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.gazebo not in GENERATIONS:
            raise GazeboError(
                f"no Gazebo generation {quoted(self.gazebo)}; known: {listed(GENERATIONS)}"
            )
        if sdf_name(self.world) != self.world or not self.world:
            raise GazeboError(
                f"the world's name {quoted(self.world)} is not made of letters, digits and _"
            )
        for name in ("step", "real_time_factor"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise GazeboError(f"{name} = {value} is not a positive number")

    @property
    def generation(self) -> Generation:
        """The names of this generation."""
        return GENERATIONS[self.gazebo]

    def start_of(self, model: Model) -> np.ndarray:
        """q (nq,) that the world begins with.

        Raises:
            ConfigurationError: it is no configuration of the model.
        """
        return model.neutral() if self.start is None else model.check_configuration(self.start)

    def commanded(self, model: Model) -> list[str]:
        """The joints in the order of effort_controller/commands.

        Raises:
            GazeboError: one of them is none of the model's, or is there twice.
        """
        joints = list(self.joints or model.joint_names)
        unknown = [name for name in joints if name not in model.joint_names]
        if unknown:
            raise GazeboError(
                f"joints: no joint {quoted(unknown[0])} in {model.name}; there are "
                f"{listed(model.joint_names)}"
            )
        if len(set(joints)) < len(joints):
            raise GazeboError(f"joints: {listed(joints)} has a joint twice")
        return joints

    def has_ground(self, model: Model) -> bool:
        """Is there a ground plane?"""
        return bool(model.gravity.any()) if self.ground is None else self.ground
