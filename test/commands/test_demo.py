# SPDX-License-Identifier: Apache-2.0
"""`opspace demo` in one process; over ROS it is tested with the other live nodes."""

from __future__ import annotations

import os
import signal
import time

from opspace_ctrl import Controller
from opspace_ctrl.cli import main


def test_a_signal_while_kernels_compile_ends_it_at_once(monkeypatch, capsys):
    def compile_for_an_hour(controller):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(3600.0)

    monkeypatch.setattr(Controller, "prepare", compile_for_an_hour)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["demo", "--no-ros"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert "next:" not in capsys.readouterr().out
