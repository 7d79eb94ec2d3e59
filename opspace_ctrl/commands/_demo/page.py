# SPDX-License-Identifier: Apache-2.0
"""A demo that is over, in the browser: the run plays again and again while somebody watches."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from .record import Record

__all__ = ["show_run"]


def show_run(record: Record, args: Any, stop: Any) -> None:
    """Print the address of a page that plays the run, until a signal comes.

    Args:
        record: The run.
        args: Where the page is, as `commands.view.add_page_arguments` has it.
        stop: The `Interruption`.
    """
    from ...control.settings import controller_settings
    from ...parameter_file import node_parameters
    from ...view.page import feed
    from ...view.recording import rows_of
    from ...view.replay import Replay
    from ...view.source import Subject
    from ..view import open_page

    model, parameters = record.model, record.scenario.parameters
    settings = controller_settings(node_parameters(parameters, "opspace_controller"))
    rows = rows_of(model, settings, record.time, record.q, record.torque)
    subject = Subject(model, settings, Replay(rows, is_repeated=True), is_live=False)
    with ExitStack() as stack:
        page = open_page([subject], f"the demo of {model.name}", args, stack)
        print("it plays the run again and again; Ctrl-C ends it", flush=True)
        feed(page, stop.wait)
