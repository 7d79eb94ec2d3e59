# SPDX-License-Identifier: Apache-2.0
"""The five papers as data: every equation, the call that computes it, the test that proves it, and the errata."""

from .catalogue import Erratum, Line, Paper, find, papers, resolve
from .running import run_line

__all__ = ["Erratum", "Line", "Paper", "find", "papers", "resolve", "run_line"]
