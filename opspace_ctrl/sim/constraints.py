"""Contacts and closures in the step."""
from __future__ import annotations

from ..jit import kernel


@kernel
def place_constraints(w):
    """Where contacts and closures are."""


@kernel
def constrain(w, is_factored):
    """V_NEXT after their impulses."""


@kernel
def correct_positions(w, shift):
    """Add to a displacement what brings contacts and closures back."""
