# SPDX-License-Identifier: Apache-2.0
"""The kinds of entries of a schedule: what each acts on and which numbers it takes. `docs/hil.md` prints this table.

Most are faults; those of ASKED are what a user asks of the controller, so that a run moves without a script.
"""

import math
from dataclasses import dataclass

SIDES = ("state", "command", "both")
POINTS = 7  # rows: a time and three numbers, or six


@dataclass(frozen=True)
class Value:
    """A number (or three) of a fault.

    Attributes:
        unit: As printed.
        minimum, maximum: Bounds, None where there is none.
        length: 1 for a number, 3 for a vector, POINTS for way points.
        neutral: The value that does nothing, taken when it is left out.
    """

    unit: str
    minimum: float | None = None
    maximum: float | None = None
    length: int = 1
    neutral: float = 0.0


@dataclass(frozen=True)
class Kind:
    """A kind of fault: its target and its values.

    Attributes:
        target: "side" (of the bus), "joints", "frame", "task" (of the controller) or "name" (of a method).
        text: What it does, in a line.
        values: By name; at least one must be given where there are any.
        duration: Where none is given [s]; way points have their own.
    """

    target: str
    text: str
    values: dict[str, Value]
    duration: float = math.inf


PROBABILITY = {"probability": Value("1", 0.0, 1.0)}
SENSOR = {
    "position": Value("rad or m"),
    "velocity": Value("rad/s or m/s"),
    "effort": Value("Nm or N"),
}
DEVIATIONS = {name: Value(value.unit, 0.0) for name, value in SENSOR.items()}

KINDS = {
    "latency": Kind("side", "every message arrives later, in order", {"delay": Value("s", 0.0)}),
    "jitter": Kind(
        "side",
        "every message arrives later by a random time, uniform up to the spread, in order",
        {"spread": Value("s", 0.0)},
    ),
    "drop": Kind("side", "a message is lost with this probability", PROBABILITY),
    "duplicate": Kind("side", "a message arrives twice with this probability", PROBABILITY),
    "reorder": Kind(
        "side", "a message is overtaken by the next one with this probability", PROBABILITY
    ),
    "loss": Kind("side", "communication is lost: no message gets through", {}),
    "noise": Kind(
        "joints", "white noise of this standard deviation on what the encoders measure", DEVIATIONS
    ),
    "quantisation": Kind("joints", "measured values are rounded to multiples of this", DEVIATIONS),
    "bias": Kind("joints", "a constant is added to what the encoders measure", SENSOR),
    "freeze": Kind("joints", "the encoders repeat what they measured when the fault began", {}),
    "torque_scale": Kind(
        "joints",
        "the drives apply the command times this factor",
        {"factor": Value("1", neutral=1.0)},
    ),
    "torque_offset": Kind("joints", "the drives add this effort", {"effort": Value("Nm or N")}),
    "dead_joint": Kind("joints", "the drives apply nothing", {}),
    "friction": Kind(
        "joints",
        "the joints have more friction than the model",
        {"viscous": Value("Nms/rad or Ns/m", 0.0), "coulomb": Value("Nm or N", 0.0)},
    ),
    "armature": Kind(
        "joints",
        "the drives' rotors have so much more inertia than in the model",
        {"added": Value("kg m^2 or kg", 0.0)},
    ),
    "mass": Kind(
        "frame",
        "the link's body is heavier or lighter than in the model: mass and inertia times the factor, "
        "and a point mass added at the frame's origin",
        {"factor": Value("1", 0.01, neutral=1.0), "added": Value("kg", 0.0)},
    ),
    "push": Kind(
        "frame",
        "a wrench acts at the frame's origin, world axes",
        {"force": Value("N", length=3), "torque": Value("Nm", length=3)},
    ),
    "target": Kind(
        "task",
        "the controller is asked to move a task's frame by this from where it was at the first command",
        {"by": Value("m", length=3), "turn": Value("rad", length=3)},
        duration=1.0,
    ),
    "trajectory": Kind(
        "task",
        "the controller is asked to move it through way points [time, x, y, z] or [time, x, y, z, rx, ry, rz], "
        "counted likewise",
        {"points": Value("s, m, rad", length=POINTS)},
    ),
    "method": Kind("name", "the controller is asked to compute with this method", {}, duration=0.1),
}

CHANNEL = tuple(name for name, kind in KINDS.items() if kind.target == "side")
SENSING = ("noise", "quantisation", "bias", "freeze")
ACTUATION = ("torque_scale", "torque_offset", "dead_joint")
ALTERED = ("friction", "armature", "mass")
ASKED = ("target", "trajectory", "method")
