# SPDX-License-Identifier: Apache-2.0
"""A proposal as commented files: parameters of controller and simulator, and the effort controller of ros2_control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

import yaml

from .result import Proposal

__all__ = ["file_names", "written"]

WIDTH = 116
COMMENTS = {
    "robot": "the same file on your robot, or empty: the topic robot_description",
    "locked_joints": "held where locked_positions says, by controllers of their own",
    "joints": "the order in which efforts are sent: that of the effort controller",
    "method": "opspace bench compares them on this robot",
    "stiffness": "[1/s^2]; damping is critical unless it is given",
    "integral": "[1/s] takes up what friction and wrong masses hold back",
    "speed": "[m/s] of the motion to a new target",
    "acceleration": "[m/s^2]",
    "angular_speed": "[rad/s]",
    "angular_acceleration": "[rad/s^2]",
    "error_clip": "[m] a larger error pulls no harder",
    "error_clip_angle": "[rad]",
    "integral_clip": "[m] so much that the integral overcomes the joints' friction",
    "integral_clip_angle": "[rad] likewise",
    "effort_scale": "share of the URDF's effort limits that is used",
    "safe_command": "while a gate is closed",
    "last_command": "what stays when the controller leaves",
    "state_timeout": "[s]",
    "ramp": "[s] a standing robot needs its feedback soon",
    "compensation.friction": "the URDF's joint friction",
    "friction": "of the contact: the share of the normal force that it holds",
    "mode": "a step for each command, so that a busy machine only makes it slower ...",
    "pace": "... and no faster than real time",
    "positions": "[rad or m]",
    "step": "[s]",
    "rate": "[Hz]",
    "contacts": "what stands on the ground; the simulator's: frame, or frame front back left right height [m]",
}


def file_names(stem: str) -> tuple[str, str]:
    """Names of the parameter file and of the controllers file."""
    return f"{stem}.yaml", f"{stem}_controllers.yaml"


def written(proposal: Proposal, stem: str, rate: float, verdict: str) -> dict[str, str]:
    """{file name: text}.

    Args:
        proposal: What to write.
        stem: Name of the files.
        rate: Of the control loop [Hz].
        verdict: What a trial found, for the head.
    """
    names = file_names(stem)
    head = [
        f"# {proposal.model.name}: a first configuration, by `opspace init`. Change what you know better.",
        *_comment(f"Tried in the simulator with 2 ms of delay: {verdict}."),
        "#",
        "# First power-on of hardware: `mode: gravity`. The robot must float; only then take tasks (docs/safety.md).",
        "#",
        "# What was guessed, and why:",
    ]
    for note in proposal.notes:
        what = f"{note.subject}: {note.taken}" if note.taken else note.subject
        head += _comment(f"{what} ({note.reason})", "#   ")
    for warning in proposal.warnings:
        head += _comment(f"LOOK AT THIS: {warning}", "#   ")
    lines = [*head, "/**/opspace_controller:   # in any namespace", "  ros__parameters:"]
    lines += _lines(proposal.controller, "    ")
    lines += ["", "/**/opspace_simulator:", "  ros__parameters:"]
    lines += _lines(proposal.simulator, "    ")
    joints = _text(list(proposal.model.joint_names))
    controllers = [
        f"# ros2_control of {proposal.model.name}: joint states out, efforts in, in the order of {names[0]}.",
        "/**/controller_manager:   # in any namespace",
        "  ros__parameters:",
        f"    update_rate: {round(rate)}  # [Hz]",
        "    joint_state_broadcaster:",
        "      type: joint_state_broadcaster/JointStateBroadcaster",
        "    effort_controller:",
        "      type: forward_command_controller/ForwardCommandController",
        "",
        "/**/effort_controller:",
        "  ros__parameters:",
        *_item("joints", joints, "    ", ""),
        "    interface_name: effort",
    ]
    return {name: "\n".join(text) + "\n" for name, text in zip(names, (lines, controllers))}


def _lines(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    """The lines of a mapping, one a value; a comment stands where its word comes first."""
    yield from _mapping(values, indent, set())


def _mapping(
    values: Mapping[str, Any], indent: str, told: set[str], parent: str = ""
) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _mapping(value, indent + "  ", told, name)
            continue
        own = f"{parent}.{name}"
        word = own if own in COMMENTS else name
        comment = "" if word in told else COMMENTS.get(word, "")
        told.add(word)
        yield from _item(name, _text(value), indent, comment)


def _item(name: str, text: str, indent: str, comment: str) -> Iterator[str]:
    """One value; a long list is wrapped, its comment above it."""
    line = f"{indent}{name}: {text}"
    if len(line) + len(comment) + 4 <= WIDTH:
        yield f"{line}{f'  # {comment}' if comment else ''}"
        return
    if comment:
        yield f"{indent}# {comment}"
    if not text.startswith("["):
        yield line
        return
    more = indent + " " * (len(name) + 3)
    yield from wrap(
        line,
        WIDTH,
        subsequent_indent=more,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def _text(value: Any) -> str:
    """A value as YAML in one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**9, allow_unicode=True)
    return text.removesuffix("\n...\n").strip()


def _comment(text: str, begin: str = "# ") -> list[str]:
    return wrap(" ".join(text.split()), WIDTH, initial_indent=begin, subsequent_indent=begin + "  ")
