# SPDX-License-Identifier: Apache-2.0
"""The transform from the world to the root link of a floating base, where tf2_ros is installed."""

from geometry_msgs.msg import TransformStamped

from ..control.safety.fields import Gates
from .messages import stamp_of

__all__ = ["BaseTransform", "has_tf2"]


def has_tf2() -> bool:
    """Is tf2_ros installed?"""
    try:
        import tf2_ros  # noqa: F401
    except ImportError:
        return False
    return True


class BaseTransform:
    """Publishes odometry as a transform; each stamp once."""

    def __init__(self, node, root: str):
        """Root: the link that moves."""
        from tf2_ros import TransformBroadcaster

        self._broadcaster = TransformBroadcaster(node)
        self._message = TransformStamped(child_frame_id=root)
        self._sent = 0

    def publish(self, gate: Gates, world: str) -> None:
        """The newest odometry; world: the frame it is in."""
        stamp = gate.base_stamp
        if stamp in (0, self._sent):
            return
        message, pose = self._message, gate.pose.tolist()
        message.header.stamp, message.header.frame_id = stamp_of(stamp), world
        place, turn = message.transform.translation, message.transform.rotation
        place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose
        self._broadcaster.sendTransform(message)
        self._sent = stamp
