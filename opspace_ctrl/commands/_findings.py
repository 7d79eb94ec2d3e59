# SPDX-License-Identifier: Apache-2.0
"""The findings of `opspace check`, and the tables that show them."""

from dataclasses import dataclass, field

from rich.table import Column, Table

from ..errors import Mistakes
from ._console import new_table, right

__all__ = ["Findings"]


@dataclass
class Findings:
    """One line a finding: (verdict, subject, text).

    Attributes:
        subject: What is being looked at, for an error that ends the look.
        torques: (joint, command, limit, saturated, unit) of the first tick.
    """

    lines: list[tuple[str, str, str]] = field(default_factory=list)
    subject: str = ""
    torques: list[tuple[str, float, float, bool, str]] = field(default_factory=list)

    def good(self, subject: str, text: str) -> None:
        """Nothing is wrong."""
        self.lines.append(("ok", subject, text))

    def warn(self, subject: str, text: str) -> None:
        """Doubtful, but it would run."""
        self.lines.append(("warning", subject, text))

    def fail(self, subject: str, text: str) -> None:
        """It must not go to a robot."""
        self.lines.append(("FAIL", subject, text))

    def fail_all(self, subject: str, mistakes: Mistakes) -> bool:
        """Each of the mistakes; were there any?"""
        for each in mistakes.found:
            self.fail(subject, str(each))
        return bool(mistakes.found)

    def count(self, verdict: str) -> int:
        """Count the lines with this verdict."""
        return sum(line[0] == verdict for line in self.lines)

    def table(self) -> Table:
        """All findings."""
        table = new_table(
            *(Column(title, overflow="fold") for title in ("verdict", "of", "finding"))
        )
        for verdict, subject, text in self.lines:
            table.add_row(
                verdict, subject, text, style={"FAIL": "bold red", "warning": "yellow"}.get(verdict)
            )
        return table

    def torque_table(self) -> Table:
        """The first command, joint by joint in its order."""
        numbers = map(right, ("command", "limit", "share"))
        table = new_table("joint", *numbers, title="first command", title_justify="center")
        for joint, torque, limit, saturated, unit in self.torques:
            table.add_row(
                joint,
                f"{torque:.3f} {unit}",
                f"{limit:.4g} {unit}",
                f"{100.0 * abs(torque) / limit:.0f} %",
                style="bold red" if saturated else None,
            )
        return table
