# SPDX-License-Identifier: Apache-2.0
"""The programs we are timed against, each given its best effort from Python."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from ..errors import OpspaceError
from .failure import noted
from .robots import Case
from .states import State
from .timing import Contestant

# What to import: the name we print, and our module about it.
PEERS = {"pinocchio": ("Pinocchio", "pinocchio_peer"), "mujoco": ("MuJoCo", "mujoco_peer")}


class PeerAbsent(OpspaceError):
    """A peer is not installed, or cannot carry the robot."""


Field = dict[str, dict[str, Contestant]]


class Peers(NamedTuple):
    """The peers' contestants by quantity and name; why a peer is absent, and with what it failed, by its name."""

    field: Field
    absent: dict[str, str]
    failed: dict[str, str]


def peer_contestants(case: Case, states: Sequence[State]) -> Peers:
    """Every peer that can carry the robot, called once at every state before it is offered.

    Whatever a peer raises is caught: it is not ours to judge, and must not cost the others their figures.
    """
    field: Field = {}
    absent: dict[str, str] = {}
    failed: dict[str, str] = {}
    for package, (name, module) in PEERS.items():
        with noted(failed, name):
            try:
                if find_spec(package) is None:
                    raise PeerAbsent("not installed: pip install 'opspace_ctrl[bench]'")
                _check_case(case)
                offered = import_module(f".{module}", __package__).contestants(case, states)
            except PeerAbsent as reason:
                absent[name] = str(reason)
                continue
            _try(offered)
            for quantity, contestants in offered.items():
                field.setdefault(quantity, {}).update(contestants)
    return Peers(field, absent, failed)


def _try(offered: Field) -> None:
    for contestants in offered.values():
        for contestant in contestants.values():
            for k, arguments in enumerate(contestant.inputs):
                contestant.ours(contestant.call(*arguments), k)


def _check_case(case: Case) -> None:
    """Raise PeerAbsent where it would not be the same work."""
    if case.model.is_mimic.any():
        raise PeerAbsent("mimic joints are independent there: not the same work")
    if not isinstance(case.model.source, str):
        raise PeerAbsent("one robot at a time is compared")
    if any(len(task.selection()) < 6 or task.relative_to for task in case.tasks):
        raise PeerAbsent("only tasks with all six rows are compared")
