"""The kinds of faults: what each acts on and which numbers it takes. `docs/hil.md` prints this table."""

from __future__ import annotations

from dataclasses import dataclass

SIDES = ("state", "command", "both")


@dataclass(frozen=True)
class Value:
    """A number (or three) of a fault.

    Attributes:
        unit: As printed.
        minimum, maximum: Bounds, None where there is none.
        length: 1 for a number, 3 for a vector.
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
        target: "side" (of the bus), "joints" or "frame".
        text: What it does, in a line.
        values: By name; at least one must be given where there are any.
    """

    target: str
    text: str
    values: dict[str, Value]


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
}

CHANNEL = tuple(name for name, kind in KINDS.items() if kind.target == "side")
SENSING = ("noise", "quantisation", "bias", "freeze")
ACTUATION = ("torque_scale", "torque_offset", "dead_joint")
ALTERED = ("friction", "mass")
