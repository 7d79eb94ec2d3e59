# SPDX-License-Identifier: Apache-2.0
"""`ForgetfulGroup`: for what comes and goes while a node runs."""

import weakref
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

__all__ = ["ForgetfulGroup"]


class ForgetfulGroup(MutuallyExclusiveCallbackGroup):
    """A callback group that forgets what has been destroyed.

    rclpy's own keep a dead reference to every publisher, subscription and timer that was ever in them: memory that
    grows whenever a task gets its topics.
    """

    def add_entity(self, entity: Any) -> None:
        """Add a subscription, a timer, or an event of a publisher."""
        self.entities.add(weakref.ref(entity, self.entities.discard))
