# SPDX-License-Identifier: Apache-2.0
"""The demo on the terminal: a live panel while the robot moves, a summary at the end."""

from __future__ import annotations

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Column, Table

from .record import Record

__all__ = ["LiveView", "summary"]

RECENT = 500  # rows that the live figures are about


class LiveView:
    """A panel that is drawn anew on a terminal; in a pipe or a file, nothing until the summary."""

    def __init__(self, console: Console, delay_name: str):
        self._delay_name = delay_name
        self._live = (
            Live(console=console, refresh_per_second=5, transient=True)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> LiveView:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exception) -> None:
        if self._live:
            self._live.stop()

    def show(self, record: Record) -> None:
        """Draw the newest rows."""
        if self._live and len(record.time):
            self._live.update(self._panel(record.rows(slice(-RECENT, None))))

    def _panel(self, recent: Record) -> Panel:
        now = max(float(recent.time[-1]), 0.0)
        delay = f"{np.nanmedian(recent.delay):6.0f} us" if _any(recent.delay) else ""
        torque = f"{100.0 * np.abs(recent.share[-1]).max():6.0f} % of its limit"
        lines = {
            "method": recent.scenario.method_at(now),
            "rate": f"{recent.rate:6.0f} steps/s",
            self._delay_name: delay,
            "tracking error": f"{recent.error[-1]:6.2f} mm",
            "largest torque": torque,
            "": "PUSH" if recent.scenario.is_pushed(now) else "",
            f"{now:4.1f} s": ProgressBar(total=recent.scenario.seconds, completed=now, width=40),
        }
        table = Table.grid(padding=(0, 2))
        for label, value in lines.items():
            table.add_row(label, value)
        return Panel(table, title=recent.model.name, expand=False)


def summary(record: Record, delay_name: str) -> Group:
    """Two tables: how each method followed the same path and how it took over; the push, torque, rate and timing."""
    scenario = record.scenario
    methods = Table(
        "method",
        Column("largest error on the same path", justify="right"),
        Column("command changed by the switch", justify="right"),
        title=record.model.name,
    )
    residuals = ["", *(f"{residual:.1e}" for residual in record.residuals)]
    for k, name in enumerate(scenario.methods):
        error = record.lap(k).error.max(initial=0.0)
        residual = residuals[k] if k < len(residuals) else "not told"
        methods.add_row(name, f"{error:.3f} mm", residual)
    pushed = record.lap(len(scenario.methods)).error.max(initial=0.0)
    rest = Table("quantity", Column("value", justify="right"))
    force = float(np.linalg.norm(scenario.push))
    rest.add_row(f"largest tracking error, push of {force:.3g} N", f"{pushed:.1f} mm")
    rest.add_row(
        "largest torque, share of its limit", f"{100.0 * np.abs(record.share).max():.0f} %"
    )
    rest.add_row("steps a second", f"{record.rate:.0f}")
    if _any(record.delay):
        median, worst = np.nanpercentile(record.delay, [50.0, 99.0])
        rest.add_row(f"{delay_name}, median and 99 %", f"{median:.0f} us, {worst:.0f} us")
    return Group(methods, rest)


def _any(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).any())
