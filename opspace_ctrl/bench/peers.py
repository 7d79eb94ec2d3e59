"""The programs we are timed against, each given its best effort from Python."""
from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from ..errors import OpspaceError
from .robots import Case
from .states import State
from .timing import Contestant

__all__ = ["PeerAbsent", "peer_contestants"]

# What to import: the name we print, and our module about it.
PEERS = {"pinocchio": ("Pinocchio", "pinocchio_peer"), "mujoco": ("MuJoCo", "mujoco_peer")}


class PeerAbsent(OpspaceError):
    """A peer is not installed, or cannot carry the robot."""


Field = dict[str, dict[str, Contestant]]


def peer_contestants(case: Case, states: Sequence[State]) -> tuple[Field, dict[str, str]]:
    """The peers' contestants by quantity and name; and why a peer is absent, by its name."""
    field: Field = {}
    absent: dict[str, str] = {}
    for package, (name, module) in PEERS.items():
        try:
            if find_spec(package) is None:
                raise PeerAbsent("not installed: pip install 'opspace_ctrl[bench]'")
            _check_case(case)
            offered = import_module(f".{module}", __package__).contestants(case, states)
        except PeerAbsent as reason:
            absent[name] = str(reason)
            continue
        for quantity, contestants in offered.items():
            field.setdefault(quantity, {}).update(contestants)
    return field, absent


def _check_case(case: Case) -> None:
    """Raise PeerAbsent where it would not be the same work."""
    if case.model.is_mimic.any():
        raise PeerAbsent("mimic joints are independent there: not the same work")
    if not isinstance(case.model.source, str):
        raise PeerAbsent("one robot at a time is compared")
    if any(len(task.selection()) < 6 or task.relative_to for task in case.tasks):
        raise PeerAbsent("only tasks with all six rows are compared")
