# SPDX-License-Identifier: Apache-2.0
"""The names that differ between the generations of Gazebo."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Generation:
    """One generation of Gazebo.

    Attributes:
        name: its release name.
        library: file of a system plugin, with a place for the system's name.
        systems: C++ namespace of the systems.
        messages: package of the message types.
        plugin_path: variable with the folders of other systems, beside Gazebo's own.
        control_library, control_system, hardware: of gz_ros2_control.
    """

    name: str
    library: str
    systems: str
    messages: str
    plugin_path: str
    control_library: str
    control_system: str
    hardware: str

    def plugin(self, system: str) -> tuple[str, str]:
        """(file name, class name) of a system such as "JointStatePublisher"."""
        words = "".join(
            f"-{letter.lower()}" if letter.isupper() else letter for letter in system
        ).lstrip("-")
        return self.library.format(words), f"{self.systems}::{system}"


GENERATIONS = {
    generation.name: generation
    for generation in (
        Generation(
            "fortress",
            "ignition-gazebo-{}-system",
            "ignition::gazebo::systems",
            "ignition.msgs",
            "IGN_GAZEBO_SYSTEM_PLUGIN_PATH",
            "ign_ros2_control-system",
            "ign_ros2_control::IgnitionROS2ControlPlugin",
            "ign_ros2_control/IgnitionSystem",
        ),
        Generation(
            "harmonic",
            "gz-sim-{}-system",
            "gz::sim::systems",
            "gz.msgs",
            "GZ_SIM_SYSTEM_PLUGIN_PATH",
            "gz_ros2_control-system",
            "gz_ros2_control::GazeboSimROS2ControlPlugin",
            "gz_ros2_control/GazeboSimSystem",
        ),
    )
}
