# SPDX-License-Identifier: Apache-2.0
"""`Forgetful`: a node whose publishers, subscriptions and timers come and go while it runs."""

import weakref
from functools import cached_property
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

__all__ = ["Forgetful", "ForgetfulGroup"]


class ForgetfulGroup(MutuallyExclusiveCallbackGroup):
    """A callback group that forgets what has been destroyed.

    rclpy's own keep a dead reference to every publisher, subscription and timer that was ever in them: memory that
    grows whenever a task gets its topics.
    """

    def add_entity(self, entity: Any) -> None:
        """Add a subscription, a timer, or an event of a publisher."""
        self.entities.add(weakref.ref(entity, self.entities.discard))


class Forgetful:
    """Mixed into a node, before rclpy's class: what names no group of its own is forgotten when it is destroyed."""

    @cached_property
    def default_callback_group(self) -> ForgetfulGroup:
        """Of all that names none."""
        return ForgetfulGroup()
