# SPDX-License-Identifier: Apache-2.0
"""`TaskTopics`: topics that come and go with the tasks of a controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from ..errors import SettingsError, in_one_line

__all__ = ["TaskTopics"]

Made = TypeVar("Made")


class TaskTopics(Generic[Made]):
    """What is made for each task, and unmade when there is no such task any more.

    Attributes:
        made: By the name of the task.
    """

    def __init__(self, make: Callable[[str], Made], unmake: Callable[[Made], None]):
        """Nothing is made before `follow`."""
        self._make, self._unmake = make, unmake
        self.made: dict[str, Made] = {}

    def add(self, names: Iterable[str]) -> None:
        """Make what tasks of these names need.

        Raises:
            SettingsError: The middleware refuses a topic; all is as before then.
        """
        before = list(self.made)
        try:
            for name in names:
                if name not in self.made:
                    self.made[name] = self._make(name)
        except Exception as error:  # too long, or not permitted: rclpy raises whatever it likes
            self.keep(before)
            raise SettingsError(
                f"{name}: it cannot have its topics: {in_one_line(error)}"
            ) from error

    def keep(self, names: Iterable[str]) -> None:
        """Unmake what is for tasks of other names."""
        for name in self.made.keys() - set(names):
            self._unmake(self.made.pop(name))
