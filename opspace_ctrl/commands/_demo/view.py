"""The demo on the terminal: a live panel while the robot moves, a summary at the end."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Column, Table

from .record import Record
from .scenario import SECONDS

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
            f"{now:4.1f} s": ProgressBar(total=SECONDS, completed=now, width=40),
        }
        table = Table.grid(padding=(0, 2))
        for label, value in lines.items():
            table.add_row(label, value)
        return Panel(table, title=recent.model.name, expand=False)


def summary(record: Record, delay_name: str) -> Table:
    """A table: tracking by each method and through the push, torque, rate and timing."""
    title = f"{record.model.name}: {SECONDS:g} s"
    table = Table("quantity", Column("value", justify="right"), title=title)
    for name in dict.fromkeys(record.scenario.methods):
        turn = record.of_method(name)
        if len(turn.time):
            table.add_row(f"largest tracking error, {name}", f"{turn.error.max():.3f} mm")
    pushed = record.rows(record.near_push)
    if len(pushed.time):
        force = float(np.linalg.norm(record.scenario.push))
        table.add_row(
            f"largest tracking error, push of {force:g} N", f"{pushed.error.max():.1f} mm"
        )
    table.add_row(
        "largest torque, share of its limit", f"{100.0 * np.abs(record.share).max():.0f} %"
    )
    table.add_row("steps a second", f"{record.rate:.0f}")
    if _any(record.delay):
        median, worst = np.nanpercentile(record.delay, [50.0, 99.0])
        table.add_row(f"{delay_name}, median and 99 %", f"{median:.0f} us, {worst:.0f} us")
    return table


def _any(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).any())
